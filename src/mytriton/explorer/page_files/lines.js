// The rows of a column. They are made when the column is first shown, in blocks that the browser
// skips while they are off the screen.

const BLOCK = 30;
const SIGNS = { new: ["+", "new"], operands: ["~", "other operands"], moved: ["↕", "moved"], gone: ["−", "gone"] };

const element = (tag, properties = {}, ...children) => {
  const made = Object.assign(document.createElement(tag), properties);
  made.append(...children);
  return made;
};

function makeRows(column) {
  const fragment = document.createDocumentFragment();
  column.rows = [];
  let block = null;
  column.lines.forEach((text, line) => {
    const begins = column === python && startsSource(line);
    if (begins) fragment.append(sourceHead(python.at[line].source));
    if (begins || line % BLOCK === 0 || !block) {
      block = element("div", { className: "block" });
      fragment.append(block);
    }
    const row = makeRow(column, text, line);
    column.rows.push(row);
    block.append(row);
  });
  for (const made of fragment.querySelectorAll(".block")) {
    made.style.setProperty("--lines", made.childElementCount);
  }
  return fragment;
}

const startsSource = (line) => line === 0 || python.at[line].source !== python.at[line - 1].source;

function sourceHead(number) {
  const source = model.sources[number];
  const file = element("bdi");
  appendText(file, source.file);
  const name = element("bdi", { className: "function" });
  appendText(name, source.function);
  return element("div", { className: "source" }, name, " in ", file);
}

function makeRow(column, text, line) {
  const mark = column.marks[line] ?? "";
  const row = element("div", { className: mark ? `line ${mark}` : "line" });
  row.dataset.line = line;
  const hue = hueOf(column, line);
  if (hue !== null) row.style.setProperty("--hue", hue);
  else row.classList.add("placeless");
  const number = column === python ? python.at[line].line : line + 1;
  row.append(element("a", { className: "number", href: `#${nameOf(column, line)}`, tabIndex: -1, textContent: number }));
  if (column.marks.length) {
    const [sign, words] = SIGNS[mark] ?? ["", ""];
    row.append(element("span", { className: "mark", textContent: sign, title: words }));
  }
  row.append(coloured(text, column.language));
  return row;
}
