// The accesses view: what each program of a recorded launch reads and writes of each array.

const MOST_CELLS = 40000;

// For one array, per cell: who reads, who writes, and by which access.
function touchesOf(array, number, wanted) {
  const size = extent(array.shape);
  const each = Math.ceil(size / MOST_CELLS);
  const cells = Math.ceil(size / each);
  const readers = Array.from({ length: cells }, () => []);
  const writers = Array.from({ length: cells }, () => []);
  model.run.accesses.forEach((access, at) => {
    if (access.array !== number || !wanted.has(at)) return;
    for (const { program, runs } of access.touched) {
      for (const [start, count, step] of runs) {
        for (let k = 0; k < count; k += 1) {
          const list = (access.write ? writers : readers)[Math.floor((start + k * step) / each)];
          if (list[list.length - 1] !== program) list.push(program);
        }
      }
    }
  });
  return { each, cells, readers, writers };
}

const programName = (at) => `(${model.run.programs[at].join(", ")})`;

function listed(programs) {
  const unique = [...new Set(programs)];
  const shown = unique.slice(0, 6).map(programName).join(" ");
  return unique.length > 6 ? `${shown} and ${unique.length - 6} more` : shown;
}

// Where the cells of an array stand: those of the last two axes make a panel; the panels, numbered by
// the axes before, stand beside one another with a gap. A long axis alone goes on in rows.
function standing(array, cells, each) {
  const rank = array.shape.length;
  const [high, wide] = rank > 1 ? array.shape.slice(-2) : [1, cells];
  const panels = each === 1 ? extent(array.shape.slice(0, -2)) : 1;
  if (rank < 2 || each > 1 || panels > 16) {
    const columns = rank > 1 && each === 1 ? wide : 64;
    return { rows: Math.ceil(cells / columns), columns: Math.min(columns, cells), cellAt: (at) => (at < cells ? at : -1) };
  }
  const columns = panels * (wide + 1) - 1;
  const cellAt = (at) => {
    const [row, across] = [Math.floor(at / columns), at % columns];
    const [panel, column] = [Math.floor(across / (wide + 1)), across % (wide + 1)];
    return column === wide ? -1 : (panel * high + row) * wide + column;
  };
  return { rows: high, columns, cellAt };
}

function arrayCard(array, number, state) {
  let touched = touchesOf(array, number, state.wanted);
  const now = (list) => list.includes(state.program);
  const { rows, columns, cellAt } = standing(array, touched.cells, touched.each);
  const most = Math.max(5, Math.min(22, Math.floor(640 / columns), Math.floor(480 / rows)));
  const fill = (cell, colours) => {
    const [read, write] = [now(touched.readers[cell]), now(touched.writers[cell])];
    if (write) return colours.dark ? "#b3541e" : "#f5a25d";
    if (read) return colours.dark ? "#2f6fb0" : "#8dbdf0";
    const any = touched.writers[cell].length ? touched.writers[cell] : touched.readers[cell];
    return any.length ? hueFaint(any[0], colours.dark) : colours.paper;
  };
  const mark = (cell) => {
    if (new Set(touched.writers[cell]).size > 1) return "clash";
    return touched.readers[cell].length || touched.writers[cell].length ? "" : "never";
  };
  const said = (cell) => {
    const first = cell * touched.each;
    const last = Math.min(first + touched.each, extent(array.shape)) - 1;
    const name = `${array.name}${spoken(first, array.shape)}${last > first ? ` to ${spoken(last, array.shape)}` : ""}`;
    const parts = [];
    if (touched.readers[cell].length) parts.push(`read by ${listed(touched.readers[cell])}`);
    if (touched.writers[cell].length) parts.push(`written by ${listed(touched.writers[cell])}`);
    return `${name}: ${parts.join("; ") || "never touched"}`;
  };
  const label = (cell) => (now(touched.readers[cell]) ? "r" : "") + (now(touched.writers[cell]) ? "w" : "");
  const real = (then, otherwise) => (at, colours) => (cellAt(at) < 0 ? otherwise(colours) : then(cellAt(at), colours));
  const picture = makeGrid({
    rows, columns, most,
    fill: real(fill, ({ paper }) => paper), mark: real(mark, () => ""),
    label: real(label, () => ""), said: real(said, () => ""),
  }, `${array.name}, ${array.shape.join(" by ")} elements of ${array.element}`);
  const draw = () => drawGrid(picture);
  redraws.push(draw);
  state.draws.push(draw);
  state.counts.push(() => { touched = touchesOf(array, number, state.wanted); });
  return element(
    "article", { className: "card" },
    element("h3", { textContent: `${array.name}: ${array.shape.join(" × ")} of ${array.element}` }),
    element("p", { className: "facts", textContent: arrayFacts(array, touched.each) }), picture.frame,
  );
}

function hueFaint(number, dark) {
  return `hsl(${(number * 137.508) % 360} ${dark ? 25 : 45}% ${dark ? 24 : 90}%)`;
}

function arrayFacts(array, each) {
  const facts = [];
  const size = extent(array.shape);
  if (array.untouched === size) facts.push("nothing is touched");
  else if (array.untouched) facts.push(`${array.untouched} of ${size} elements are never touched, the first is ${spoken(array.first_untouched, array.shape)}`);
  else facts.push("every element is touched");
  if (array.overlapping) facts.push(`${array.overlapping} elements are stored to by several programs, the first is ${spoken(array.first_overlapping, array.shape)}`);
  if (array.outside) facts.push(`${array.outside} touches are between its elements`);
  if (each > 1) facts.push(`a cell is ${each} elements`);
  return `${facts.join("; ")}.`;
}

function accessChoice(state) {
  const list = element("fieldset", { className: "choice" }, element("legend", { textContent: "Accesses" }));
  model.run.accesses.forEach((access, at) => {
    const input = element("input", { type: "checkbox", checked: true });
    input.addEventListener("change", () => {
      if (input.checked) state.wanted.add(at);
      else state.wanted.delete(at);
      state.counts.forEach((count) => count());
      state.draws.forEach((draw) => draw());
    });
    const verb = access.write ? "writes" : "reads";
    list.append(element("label", {}, input, ` ${verb} ${model.run.arrays[access.array].name} `, element("code", { textContent: access.text })), " ", placeLink(access.place, lineOf(access.place)), element("br"));
  });
  return list;
}

function programChoice(state) {
  const last = model.run.programs.length - 1;
  const slider = element("input", { type: "range", min: 0, max: last, value: 0, ariaLabel: "Program" });
  const name = element("output", { textContent: programName(0) });
  const go = (to) => {
    state.program = Math.min(Math.max(to, 0), last);
    slider.value = state.program;
    name.textContent = programName(state.program);
    state.draws.forEach((draw) => draw());
  };
  slider.addEventListener("input", () => go(Number(slider.value)));
  const button = (text, label, step) => {
    const made = element("button", { type: "button", textContent: text, ariaLabel: label });
    made.addEventListener("click", () => go(state.program + step));
    return made;
  };
  return element("div", { className: "programs" }, element("strong", { textContent: "Program" }), button("‹", "The program before", -1), slider, button("›", "The next program", 1), name);
}

function makeAccesses() {
  const view = element("div", { className: "scroll" });
  if (!model.run) {
    view.append(element("p", { className: "empty" }, `No launch was recorded: ${model.not_recorded}. To explain a launch: `, element("code", { textContent: "mytriton explain file.py::kernel --run 'main()'" }), ", or ", element("code", { textContent: "kernel.explain(x, out, n, grid=(4,))" }), "."));
    return view;
  }
  const state = { program: 0, wanted: new Set(model.run.accesses.keys()), draws: [], counts: [] };
  const { grid, programs, complete } = model.run;
  const all = extent(grid);
  const ran = programs.length === all ? `all ${all} programs` : `the first ${programs.length} of ${all} programs`;
  view.append(
    element("p", { className: "lead" }, `A launch over the grid (${grid.join(", ")}), recorded by the interpreter: ${ran}. `, complete ? "" : element("strong", { textContent: "It touched more than is kept here. " }), "What the chosen program reads is ", element("b", { className: "reads", textContent: "r" }), ", what it writes ", element("b", { className: "writes", textContent: "w" }), "; what others touch is faint, / was never touched, ✕ was stored to by several programs."),
    programChoice(state), accessChoice(state), element("h2", { textContent: "Arrays" }), element("div", { className: "cards" }, ...model.run.arrays.map((array, number) => arrayCard(array, number, state))),
  );
  return view;
}
