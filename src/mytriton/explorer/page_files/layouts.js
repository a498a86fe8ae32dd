// The layouts view: which warp, lane and register holds which element, and how values move.

const xor = (bases, number) => bases.reduce((sum, base, bit) => ((number >> bit) & 1 ? sum ^ base : sum), 0);
const extent = (shape) => shape.reduce((size, n) => size * n, 1);
const coordinates = (index, shape) => {
  const found = [];
  for (const n of [...shape].reverse()) {
    found.unshift(index % n);
    index = Math.floor(index / n);
  }
  return found;
};
const spoken = (index, shape) => `(${coordinates(index, shape).join(", ")})`;

// For each element the locations that hold it, lowest thread first.
function holdersOf(layout) {
  if (layout.holders) return layout.holders;
  layout.holders = Array.from({ length: extent(layout.shape) }, () => []);
  const lanes = 1 << layout.lane.length;
  for (let warp = 0; warp < 1 << layout.warp.length; warp += 1) {
    for (let lane = 0; lane < lanes; lane += 1) {
      const thread = xor(layout.lane, lane) ^ xor(layout.warp, warp);
      for (let register = 0; register < 1 << layout.register.length; register += 1) {
        layout.holders[thread ^ xor(layout.register, register)].push({ warp, lane, register });
      }
    }
  }
  return layout.holders;
}

const BY = ["warp", "lane", "register"];
let colourBy = "warp";

function describeHolder(layout, index) {
  const held = holdersOf(layout)[index];
  if (!held.length) return `element ${spoken(index, layout.shape)}: held by nobody`;
  const { warp, lane, register } = held[0];
  const copies = held.length > 1 ? `, and ${held.length - 1} copies` : "";
  return `element ${spoken(index, layout.shape)}: warp ${warp}, lane ${lane}, register ${register}${copies}`;
}

// Blocks of more than two axes stand as rows of their last.
function gridOf(layout, lit, chosen) {
  const last = layout.shape[layout.shape.length - 1];
  const columns = layout.shape.length > 1 && last > 1 ? last : Math.min(32, extent(layout.shape));
  const holders = holdersOf(layout);
  return {
    rows: Math.ceil(extent(layout.shape) / columns), columns, count: extent(layout.shape), lit, chosen,
    fill: (cell, { rule }) => (holders[cell].length ? hueFill(holders[cell][0][colourBy], 1 << layout[colourBy].length) : rule),
    label: (cell) => (holders[cell].length ? holders[cell][0][colourBy] + (holders[cell].length > 1 ? "+" : "") : ""),
    said: (cell) => describeHolder(layout, cell),
  };
}

function layoutPicture(layout, title, chosen, room = 900) {
  let same = new Set();
  const grid = gridOf(layout, (cell) => same.has(cell) && "same", (cell) => {
    const [first] = cell === null ? [] : holdersOf(layout)[cell];
    same = new Set();
    holdersOf(layout).forEach((held, at) => {
      if (first && held.some(({ warp, lane }) => warp === first.warp && lane === first.lane)) same.add(at);
    });
    drawGrid(state);
    chosen?.(cell);
  });
  grid.most = Math.max(5, Math.min(26, Math.floor(room / grid.columns)));
  const state = makeGrid(grid, `${title}: ${layout.shape.join(" by ")} elements over ${1 << layout.warp.length} warps`);
  redraws.push(() => drawGrid(state));
  return state;
}

function bases(layout) {
  return BY.map((name) => `${name} (${layout[name].join(" ")})`).join(", ");
}

function elementForm(layout, state) {
  const inputs = layout.shape.map((n, axis) => element("input", { type: "number", min: 0, max: n - 1, value: 0, ariaLabel: `axis ${axis}` }));
  const form = element("form", { className: "find" }, "Who holds element (", ...inputs.flatMap((input, at) => (at ? [", ", input] : [input])), ")?");
  form.addEventListener("input", () => {
    const index = inputs.reduce((sum, input, axis) => sum * layout.shape[axis] + Number(input.value), 0);
    if (index < extent(layout.shape)) state.choose(index);
  });
  form.addEventListener("submit", (event) => event.preventDefault());
  return form;
}

function placeLink(place, text) {
  const line = place >= 0 ? frameLine(model.places[place][0]) : undefined;
  if (line === undefined) return element("span", { textContent: text });
  const link = element("a", { href: `#${nameOf(python, line)}`, textContent: text });
  link.addEventListener("click", (event) => {
    event.preventDefault();
    showView("code");
    pin(python, line);
  });
  return link;
}

const lineOf = (place) => (place >= 0 ? `line ${model.places[place][0].line}` : "");

function layoutCard(layout, number) {
  const state = layoutPicture(layout, `Layout ${number}`);
  const values = element("ul", { className: "values" });
  for (const value of layout.values) {
    const item = element("li", {}, element("code", { textContent: value.text }), " ", placeLink(value.place, lineOf(value.place)));
    values.append(item);
  }
  return element(
    "article", { className: "card", id: `layout-${number}` },
    element("h3", { textContent: `Layout ${number}: ${layout.shape.join(" × ")}` }),
    element("p", { className: "bases", textContent: bases(layout) }),
    elementForm(layout, state), state.frame,
    layout.values.length ? element("details", {}, element("summary", { textContent: `${layout.values.length} values are held so` }), values) : "",
    element("details", {}, element("summary", { textContent: "As text" }), element("pre", { textContent: layout.picture, tabIndex: 0 })),
  );
}

// -- moves

const WORD = 4;
const BANKS = 32;

function moveCard(move, number) {
  const [source, target] = [model.layouts[move.source], model.layouts[move.target]];
  let memory = null;
  const follow = (other) => (cell) => {
    if (other().chosen !== cell) other().choose(cell, false);
    memory?.show(cell);
  };
  const from = layoutPicture(source, "From", follow(() => to), 560);
  const to = layoutPicture(target, "To", follow(() => from), 560);
  const card = element(
    "article", { className: "card move" },
    element("h3", {}, `${number + 1}. ${move.value}: layout ${move.source} → layout ${move.target} `, placeLink(move.place, lineOf(move.place))),
    element("p", { textContent: `${move.kind}: ${move.words}.` }),
    element("div", { className: "pair" }, figure("before", from.frame), figure("after", to.frame)),
  );
  if (move.kind === "shared") {
    memory = memoryPicture(move, source, target);
    card.append(memory.node);
  }
  return card;
}

const figure = (words, ...inside) => element("figure", {}, element("figcaption", { textContent: words }), ...inside);

// Shared memory as words in their banks. A phase is the lanes that are served at once.
function memoryPicture(move, source, target) {
  const count = extent(source.shape);
  const words = new Map();
  for (let index = 0; index < count; index += 1) {
    const word = Math.floor((xor(move.offsets, index) * move.width) / WORD);
    if (!words.has(word)) words.set(word, []);
    words.get(word).push(index);
  }
  const rows = Math.ceil((Math.max(...words.keys()) + 1) / BANKS);
  const sides = { writing: source, reading: target };
  let [side, phase, chosen] = ["writing", 0, null];
  const vectorOf = (name) => move.vectors[name === "writing" ? 0 : 1];
  const lanesOf = (name) => Math.min(32, 128 / (move.width * vectorOf(name)));
  const served = () => {
    const [vector, lanes] = [vectorOf(side), lanesOf(side)];
    const layout = sides[side];
    const found = new Set();
    for (let lane = phase * lanes; lane < (phase + 1) * lanes; lane += 1) {
      const start = xor(move.offsets, xor(layout.lane, lane)) & -vector;
      for (let byte = 0; byte < move.width * vector; byte += WORD) found.add(Math.floor((start * move.width + byte) / WORD));
    }
    return found;
  };
  let lit = served();
  const inWord = (word) => (words.get(word) ?? []).map((index) => spoken(index, source.shape)).join(" and ");
  const state = makeGrid({
    rows, columns: BANKS, most: 24,
    lit: (cell) => lit.has(cell) && "served",
    fill: (cell, { rule, paper }) => {
      if (words.get(cell)?.includes(chosen)) return theme().accent;
      return words.has(cell) ? (lit.has(cell) ? hueFill(cell % BANKS, 32) : rule) : paper;
    },
    label: (cell) => (lit.has(cell) ? cell % BANKS : ""),
    said: (cell) => `bank ${cell % BANKS}, row ${Math.floor(cell / BANKS)}: ${words.has(cell) ? `element ${inWord(cell)}` : "unused"}`,
  }, `Shared memory: ${rows} rows of ${BANKS} banks`);
  redraws.push(() => drawGrid(state));
  const select = element("select", { ariaLabel: "which accesses are outlined" });
  for (const name of Object.keys(sides)) {
    const lanes = lanesOf(name);
    for (let at = 0; at < 32 / lanes; at += 1) select.append(element("option", { value: `${name} ${at}`, textContent: `${name}, lanes ${at * lanes} to ${(at + 1) * lanes - 1}` }));
  }
  select.addEventListener("change", () => {
    [side, phase] = [select.value.split(" ")[0], Number(select.value.split(" ")[1])];
    lit = served();
    drawGrid(state);
  });
  const [write, read] = move.conflicts.map((most) => (most === 1 ? "no bank conflict" : `${most} words of one bank at once`));
  const node = element(
    "div", { className: "memory" },
    element("p", { textContent: `Shared memory, ${BANKS} banks of ${WORD} bytes across: ${write} when it is written (${move.vectors[0] * move.width} bytes a lane), ${read} when it is read (${move.vectors[1] * move.width} bytes a lane).` }),
    element("label", {}, "Outlined: ", select), state.frame,
  );
  return { node, show: (index) => { chosen = index; drawGrid(state); } };
}

// The largest blocks first.
function byNumberOfElements() {
  const order = [...model.layouts.keys()].sort((a, b) => extent(model.layouts[b].shape) - extent(model.layouts[a].shape));
  return order.map((number) => layoutCard(model.layouts[number], number));
}

function makeLayouts() {
  const view = element("div", { className: "scroll" });
  if (!model.layouts.length) {
    view.append(element("p", { className: "empty", textContent: "There is no CUDA text, or its values are all scalars." }));
    return view;
  }
  const choice = element("fieldset", { className: "by" }, element("legend", { textContent: "Colour and number the cells by" }));
  for (const name of BY) {
    const input = element("input", { type: "radio", name: "by", value: name, checked: name === colourBy });
    input.addEventListener("change", () => {
      colourBy = name;
      redrawAll();
    });
    choice.append(element("label", {}, input, ` ${name}`));
  }
  view.append(
    element("p", { className: "lead", textContent: "A block's elements are spread over the registers of the lanes of the warps of a program. Point at an element to see who holds it; what the same thread holds is outlined, + says that others hold copies." }),
    choice, element("h2", { textContent: "Layouts" }), element("div", { className: "cards" }, ...byNumberOfElements()),
  );
  if (model.moves.length) {
    view.append(element("h2", { textContent: "Moves, in the order of the CUDA text" }), element("div", { className: "cards" }, ...model.moves.map(moveCard)));
  }
  return view;
}
