// The code view: panes beside one another, the light under the pointer, pins, keys and search.

const panes = document.getElementById("panes");
const status = document.getElementById("status");
const shown = new Set();
let lit = [];
let pinned = null;

// -- panes

function paneOf(column) {
  if (column.pane) return column.pane;
  const head = element("header", {}, element("h2", { textContent: column.title }), element("p", { textContent: column.about }));
  head.append(element("span", { className: "count", textContent: column.error ? "" : `${column.lines.length} lines` }));
  const body = element("div", { className: "lines", tabIndex: 0 });
  body.setAttribute("role", "group");
  body.setAttribute("aria-label", `${column.title}, ${column.lines.length} lines`);
  column.pane = element("section", { className: "pane" }, head);
  column.pane.setAttribute("aria-label", column.title);
  column.pane.dataset.column = column.name;
  const notes = notesOf(column);
  if (notes) column.pane.append(notes);
  if (column.error) body.append(errorOf(column));
  else body.append(makeRows(column));
  column.body = body;
  column.ruler = element("div", { className: "ruler", ariaHidden: "true" });
  column.pane.append(element("div", { className: "body" }, body, column.ruler));
  return column.pane;
}

function errorOf(column) {
  const text = element("pre");
  appendText(text, column.error);
  return element("div", { className: "error" }, element("strong", { textContent: "Not here: " }), text);
}

function notesOf(column) {
  if (!column.notes.length && !column.marks.length) return null;
  const list = element("ul", { className: "notes" });
  list.setAttribute("aria-label", "What the pass did");
  for (const note of column.notes) {
    const item = element("li");
    const button = element("button", { type: "button", title: note.detail });
    appendText(button, note.count > 1 ? `${note.text} × ${note.count}` : note.text);
    button.addEventListener("click", () => {
      const line = note.places.length ? frameLine(model.places[note.places[0]][0]) : undefined;
      if (line !== undefined) pin(python, line);
    });
    button.disabled = !note.places.length;
    item.append(button);
    list.append(item);
  }
  const changed = column.marks.filter((mark) => mark).length;
  list.append(element("li", { className: "sum", textContent: changed ? `${changed} lines changed` : "nothing changed" }));
  return list;
}

function showColumns(names) {
  shown.clear();
  names.filter((name) => columnNamed.has(name)).forEach((name) => shown.add(name));
  if (!shown.size) shown.add("python");
  panes.replaceChildren(...columns.filter((column) => shown.has(column.name)).map(paneOf));
  for (const button of document.querySelectorAll("#choices button")) {
    button.setAttribute("aria-pressed", String(shown.has(button.dataset.column)));
  }
  relight();
}

// -- light

function light(column, line) {
  dim();
  if (line === null) return;
  const kin = kinOf(column, line);
  for (const name of shown) {
    const other = columnNamed.get(name);
    if (!other.rows) continue;
    for (const [at, kind] of kin.get(name)) {
      other.rows[at].classList.add("lit", kind);
      lit.push(other.rows[at]);
    }
    drawRuler(other, kin.get(name));
  }
  describe(column, line, kin);
}

function dim() {
  for (const row of lit) row.classList.remove("lit", "near", "kin", "via");
  lit = [];
}

function relight() {
  if (pinned) light(pinned.column, pinned.line);
  else dim();
}

function drawRuler(column, lines) {
  const total = column.lines.length || 1;
  const ticks = [];
  let last = -1;
  for (const at of [...lines.keys()].sort((a, b) => a - b)) {
    const place = Math.round((at / total) * 400);
    if (place === last) continue;
    last = place;
    const tick = element("i");
    tick.style.top = `${(100 * at) / total}%`;
    ticks.push(tick);
  }
  column.ruler.replaceChildren(...ticks);
}

function describe(column, line, kin) {
  const counts = columns.filter(({ name }) => shown.has(name) && name !== column.name && kin.get(name).size)
    .map((other) => `${kin.get(other.name).size} in ${other.title}`);
  const words = element("span", { className: "where" });
  appendText(words, whereOf(column, line));
  status.replaceChildren(words, element("span", { className: "counts", textContent: counts.join(" · ") }));
}

function whereOf(column, line) {
  if (column === python) {
    const at = python.at[line];
    return `${model.sources[at.source].file}:${at.line}`;
  }
  const place = column.places[line];
  const own = `${column.title}, line ${line + 1}`;
  if (!(place >= 0)) return `${own}: from no line of the kernel`;
  const frames = model.places[place].map((frame) => `line ${frame.line} in ${frame.function}`);
  return `${own}: ${frames.join(", called from ")}`;
}

// -- pins

function pin(column, line, move = true) {
  unpin(false);
  if (!shown.has(column.name)) showColumns([...shown, column.name]);
  pinned = { column, line };
  column.rows[line].classList.add("pinned");
  column.rows[line].setAttribute("aria-current", "true");
  light(column, line);
  document.getElementById("spoken").textContent = status.textContent;
  if (move) bringKin(column, line);
  writeAddress();
}

function unpin(write = true) {
  if (!pinned) return;
  const row = pinned.column.rows[pinned.line];
  row.classList.remove("pinned");
  row.removeAttribute("aria-current");
  pinned = null;
  if (write) {
    dim();
    writeAddress();
  }
}

// Scrolls the other panes to the first of a line's kin, and the line's own so that it is seen.
function bringKin(column, line) {
  const kin = kinOf(column, line);
  for (const name of shown) {
    const other = columnNamed.get(name);
    if (!other.rows) continue;
    const lines = [...kin.get(name)];
    const best = lines.filter(([, kind]) => kind === "near").concat(lines.filter(([, kind]) => kind === "kin"), lines);
    if (name === column.name) reveal(other, line);
    else if (best.length) reveal(other, Math.min(...best.filter(([, kind]) => kind === best[0][1]).map(([at]) => at)));
  }
}

function reveal(column, line) {
  const row = column.rows[line];
  const body = column.body;
  // Blocks off the screen have a guessed height until they are laid out, so the row is found twice.
  for (let round = 0; round < 2; round += 1) {
    const top = row.getBoundingClientRect().top - body.getBoundingClientRect().top;
    if (top < 24 || top > body.clientHeight - 48) body.scrollTop += top - body.clientHeight / 3;
  }
}

// The next line of kin, in each column, from where it stands.
function step(direction) {
  if (!pinned) return;
  const kin = kinOf(pinned.column, pinned.line);
  for (const name of shown) {
    const column = columnNamed.get(name);
    if (!column.rows || name === pinned.column.name) continue;
    const lines = [...kin.get(name).keys()].sort((a, b) => a - b);
    if (!lines.length) continue;
    const now = lines.indexOf(column.cursor ?? lines[0]);
    column.cursor = lines[(Math.max(now, 0) + direction + lines.length) % lines.length];
    reveal(column, column.cursor);
  }
}

// -- the pointer and the keys

function rowUnder(event) {
  const row = event.target.closest?.(".line");
  const pane = event.target.closest?.(".pane");
  return row && pane ? { column: columnNamed.get(pane.dataset.column), line: Number(row.dataset.line) } : null;
}

panes.addEventListener("pointerover", (event) => {
  const found = rowUnder(event);
  if (found && !pinned) light(found.column, found.line);
});
panes.addEventListener("pointerleave", () => {
  if (!pinned) dim();
});
panes.addEventListener("click", (event) => {
  const found = rowUnder(event);
  if (!found || String(getSelection())) return;
  event.preventDefault();
  const same = pinned && pinned.column === found.column && pinned.line === found.line;
  if (same) unpin();
  else pin(found.column, found.line);
});

panes.addEventListener("keydown", (event) => {
  const body = event.target.closest(".lines");
  const column = body && columnNamed.get(body.closest(".pane").dataset.column);
  if (!column?.rows || event.ctrlKey || event.metaKey || event.altKey) return;
  const now = column.at_ ?? -1;
  const moves = { ArrowDown: now + 1, ArrowUp: now - 1, Home: 0, End: column.rows.length - 1 };
  if (event.key in moves) {
    column.at_ = Math.min(Math.max(moves[event.key], 0), column.rows.length - 1);
    reveal(column, column.at_);
    unpin(false);
    light(column, column.at_);
  } else if (event.key === "Enter" && now >= 0) pin(column, now);
  else return;
  event.preventDefault();
});

// -- search

const search = document.getElementById("search");
const hits = { found: [], at: -1 };

function runSearch() {
  for (const { column, line } of hits.found) column.rows?.[line].classList.remove("hit", "here");
  const wanted = search.value.toLowerCase();
  hits.found = [];
  hits.at = -1;
  for (const name of wanted ? shown : []) {
    const column = columnNamed.get(name);
    column.lines.forEach((text, line) => {
      if (column.rows && text.toLowerCase().includes(wanted)) hits.found.push({ column, line });
    });
  }
  for (const { column, line } of hits.found) column.rows[line].classList.add("hit");
  document.getElementById("hits").textContent = wanted ? `${hits.found.length} lines` : "";
  markWords(wanted);
}

// The words themselves, where the browser can mark a range of text.
function markWords(wanted) {
  if (!globalThis.CSS?.highlights) return;
  const ranges = [];
  for (const { column, line } of hits.found.slice(0, 2000)) {
    const walker = document.createTreeWalker(column.rows[line].querySelector("code"), NodeFilter.SHOW_TEXT);
    while (walker.nextNode()) {
      const at = walker.currentNode.data.toLowerCase().indexOf(wanted);
      if (at < 0) continue;
      const range = new Range();
      range.setStart(walker.currentNode, at);
      range.setEnd(walker.currentNode, at + wanted.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("search", new Highlight(...ranges));
}

function nextHit(direction) {
  if (!hits.found.length) return;
  hits.found[hits.at]?.column.rows[hits.found[hits.at].line].classList.remove("here");
  hits.at = (hits.at + direction + hits.found.length) % hits.found.length;
  const { column, line } = hits.found[hits.at];
  column.rows[line].classList.add("here");
  reveal(column, line);
  document.getElementById("hits").textContent = `${hits.at + 1} of ${hits.found.length}`;
}

search.addEventListener("input", runSearch);
search.addEventListener("keydown", (event) => {
  if (event.key === "Enter") nextHit(event.shiftKey ? -1 : 1);
  if (event.key === "Escape") {
    search.value = "";
    runSearch();
    search.blur();
  }
});
