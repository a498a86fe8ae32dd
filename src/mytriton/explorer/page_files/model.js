// The document, and which of its lines are kin.
//
// A column is {name, title, about, language, lines, places, origins, madeFrom, marks, notes, error}.
// Python is a column too: its lines are those of the sources, and `at` says for each which source
// and line it is. A line is named by its column and its index from 0.

const model = JSON.parse(document.getElementById("document").textContent);

function pythonColumn() {
  const column = {
    name: "python", title: "Python", about: "the kernel and its helpers", language: "python",
    lines: [], places: [], origins: [], made_from: null, marks: [], notes: [], error: null, at: [],
  };
  model.sources.forEach((source, number) => {
    source.lines.forEach((text, line) => {
      column.lines.push(text);
      column.at.push({ source: number, line: source.first + line });
    });
  });
  return column;
}

const python = pythonColumn();
const columns = [python, ...model.columns];
const columnNamed = new Map(columns.map((column) => [column.name, column]));

// The index in the Python column of a frame's line.
const pythonLine = new Map(python.at.map((at, index) => [`${at.source}:${at.line}`, index]));
const frameLine = (frame) => pythonLine.get(`${frame.source}:${frame.line}`);

// For each Python line the places that it is the innermost frame of, and those it is a caller in.
const innermost = python.lines.map(() => new Set());
const calling = python.lines.map(() => new Set());
model.places.forEach((frames, place) => {
  frames.forEach((frame, depth) => {
    const line = frameLine(frame);
    if (line !== undefined) (depth ? calling : innermost)[line].add(place);
  });
});

// For each column the lines of each place, and those made from each line of another column.
for (const column of columns) {
  column.byPlace = new Map();
  column.places.forEach((place, line) => {
    if (place < 0) return;
    if (!column.byPlace.has(place)) column.byPlace.set(place, []);
    column.byPlace.get(place).push(line);
  });
  column.byOrigin = new Map();
  column.origins.forEach((origin, line) => {
    if (!origin) return;
    if (!column.byOrigin.has(origin - 1)) column.byOrigin.set(origin - 1, []);
    column.byOrigin.get(origin - 1).push(line);
  });
}

// What is kin to a line: for each column's name a map from line to "near", "kin" or "via".
function kinOf(column, line) {
  const found = new Map(columns.map(({ name }) => [name, new Map()]));
  const places = column === python ? innermost[line] : placesOf(column, line);
  const callers = column === python ? calling[line] : new Set();
  for (const other of columns) {
    const lines = found.get(other.name);
    for (const place of callers) other.byPlace.get(place)?.forEach((at) => lines.set(at, "via"));
    for (const place of places) other.byPlace.get(place)?.forEach((at) => lines.set(at, "kin"));
  }
  for (const place of column === python ? [] : places) {
    model.places[place].forEach((frame, depth) => {
      const at = frameLine(frame);
      if (at !== undefined) found.get("python").set(at, depth ? "via" : "kin");
    });
  }
  addMadeFrom(column, line, found);
  addMadeOf(column, line, found);
  found.get(column.name).set(line, "near");
  return found;
}

function placesOf(column, line) {
  const place = column.places[line];
  return place >= 0 ? new Set([place]) : new Set();
}

function addMadeFrom(column, line, found) {
  const origin = column.origins[line];
  if (!origin) return;
  found.get(column.made_from).set(origin - 1, "near");
  addMadeFrom(columnNamed.get(column.made_from), origin - 1, found);
}

function addMadeOf(column, line, found) {
  for (const other of columns) {
    if (other.made_from !== column.name) continue;
    for (const at of other.byOrigin.get(line) ?? []) {
      found.get(other.name).set(at, "near");
      addMadeOf(other, at, found);
    }
  }
}

// A line's name in the page's address: `cuda:113`, counted from 1; of Python `python:0.45`, source
// and line of its file.
function nameOf(column, line) {
  if (column !== python) return `${column.name}:${line + 1}`;
  return `python:${python.at[line].source}.${python.at[line].line}`;
}

function lineNamed(name) {
  const [, columnName, place] = /^(\w+):([\d.]+)$/.exec(name) ?? [];
  const column = columnNamed.get(columnName);
  if (!column) return null;
  const line = column === python ? pythonLine.get(place.replace(".", ":")) : Number(place) - 1;
  return column.lines[line] === undefined ? null : { column, line };
}

// A hue for each kernel line that has a place, far from that of its neighbours.
const hues = new Map();
function hueOf(column, line) {
  const place = column === python ? null : column.places[line];
  const at = place === null ? line : place >= 0 ? frameLine(model.places[place][0]) : undefined;
  if (at === undefined || !innermost[at].size) return null;
  if (!hues.has(at)) hues.set(at, (hues.size * 137.5) % 360);
  return hues.get(at);
}
python.lines.forEach((_, line) => hueOf(python, line));
