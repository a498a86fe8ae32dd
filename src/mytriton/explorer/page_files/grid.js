// Pictures of cells on a canvas: elements of a block, words of shared memory, elements of an array.
//
// A grid is {rows, columns, fill(cell), label(cell), lit(cell), said(cell)}. The cell under the
// pointer, or reached by the arrow keys, is told to `chosen`.

const theme = () => {
  const dark = getComputedStyle(document.documentElement).colorScheme.includes("dark");
  const of = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();
  return { dark, ink: of("--ink"), soft: of("--soft"), rule: of("--rule"), paper: of("--raised"), accent: of("--accent"), bad: of("--bad") };
};

// A fill that ink can be read on, by number among so many.
function hueFill(number, of) {
  const { dark } = theme();
  const hue = of <= 8 ? (number * 360) / of + 20 : (number * 137.508) % 360;
  return `hsl(${hue} ${dark ? 45 : 70}% ${dark ? 30 : 80}%)`;
}

function makeGrid(grid, label) {
  const canvas = element("canvas", { tabIndex: 0, className: "grid" });
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", label);
  const said = element("output", { className: "said" });
  const frame = element("div", { className: "gridframe" }, element("div", { className: "gridscroll" }, canvas), said);
  const state = { canvas, grid, chosen: null, frame, size: 0 };
  const choose = (cell, tell = true) => {
    state.chosen = cell;
    said.textContent = cell === null ? "" : grid.said(cell);
    drawGrid(state);
    if (tell) grid.chosen?.(cell);
  };
  state.choose = choose;
  canvas.addEventListener("pointermove", (event) => {
    const box = canvas.getBoundingClientRect();
    const column = Math.floor((event.clientX - box.left) / state.size);
    const row = Math.floor((event.clientY - box.top) / state.size);
    const inside = column >= 0 && row >= 0 && column < grid.columns && row < grid.rows;
    const cell = inside ? row * grid.columns + column : null;
    if (cell !== null && cell !== state.chosen && cell < (grid.count ?? Infinity)) choose(cell);
  });
  canvas.addEventListener("keydown", (event) => {
    const steps = { ArrowRight: 1, ArrowLeft: -1, ArrowDown: grid.columns, ArrowUp: -grid.columns };
    if (!(event.key in steps)) return;
    event.preventDefault();
    const last = Math.min(grid.rows * grid.columns, grid.count ?? Infinity) - 1;
    choose(state.chosen === null ? 0 : Math.min(Math.max(state.chosen + steps[event.key], 0), last));
  });
  drawGrid(state);
  return state;
}

function cellSize({ rows, columns }, most = 30) {
  const room = Math.min(innerWidth - 80, 1100);
  return Math.max(4, Math.min(most, Math.floor(room / columns), Math.floor(24000 / Math.max(rows, 1))));
}

function drawGrid(state) {
  const { canvas, grid } = state;
  const size = cellSize(grid, grid.most);
  const scale = Math.min(devicePixelRatio || 1, 4096 / Math.max(grid.columns * size, grid.rows * size, 1));
  if (state.size !== size || canvas.style.width === "") {
    state.size = size;
    canvas.width = Math.ceil(grid.columns * size * scale);
    canvas.height = Math.ceil(grid.rows * size * scale);
    canvas.style.width = `${grid.columns * size}px`;
    canvas.style.height = `${grid.rows * size}px`;
  }
  const pen = canvas.getContext("2d");
  pen.setTransform(scale, 0, 0, scale, 0, 0);
  pen.clearRect(0, 0, grid.columns * size, grid.rows * size);
  const colours = theme();
  const gap = size > 7 ? 1 : 0;
  pen.font = `${Math.min(11, size * 0.42)}px ui-monospace, monospace`;
  pen.textAlign = "center";
  pen.textBaseline = "middle";
  const count = Math.min(grid.rows * grid.columns, grid.count ?? Infinity);
  for (let cell = 0; cell < count; cell += 1) {
    const x = (cell % grid.columns) * size;
    const y = Math.floor(cell / grid.columns) * size;
    pen.fillStyle = grid.fill(cell, colours);
    pen.fillRect(x, y, size - gap, size - gap);
    const mark = grid.mark?.(cell);
    if (mark) drawMark(pen, mark, x, y, size - gap, colours);
    if (size >= 17) {
      pen.fillStyle = colours.ink;
      pen.fillText(grid.label(cell), x + (size - gap) / 2, y + (size - gap) / 2 + 0.5);
    }
  }
  outline(pen, grid, state.chosen, size, colours);
}

function drawMark(pen, mark, x, y, size, colours) {
  pen.strokeStyle = mark === "clash" ? colours.bad : colours.soft;
  pen.lineWidth = mark === "clash" ? 2 : 1;
  pen.beginPath();
  pen.moveTo(x + 1, y + size - 1);
  pen.lineTo(x + size - 1, y + 1);
  if (mark === "clash") {
    pen.moveTo(x + 1, y + 1);
    pen.lineTo(x + size - 1, y + size - 1);
  }
  pen.stroke();
}

function outline(pen, grid, chosen, size, colours) {
  pen.lineWidth = Math.max(1.5, size / 12);
  const count = Math.min(grid.rows * grid.columns, grid.count ?? Infinity);
  for (let cell = 0; cell < count; cell += 1) {
    const kind = cell === chosen ? "chosen" : grid.lit?.(cell);
    if (!kind) continue;
    pen.strokeStyle = kind === "chosen" ? colours.accent : colours.ink;
    const x = (cell % grid.columns) * size;
    const y = Math.floor(cell / grid.columns) * size;
    pen.strokeRect(x + 1, y + 1, size - 3, size - 3);
  }
}

const redraws = [];
const redrawAll = () => redraws.forEach((draw) => draw());
addEventListener("resize", redrawAll);
matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redrawAll);
