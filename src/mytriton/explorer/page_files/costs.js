// The costs view: what the machine code takes, the roofs, and why each access is as it is.

const SVG = "http://www.w3.org/2000/svg";
const svg = (tag, attributes = {}, ...children) => {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, value);
  made.append(...children);
  return made;
};

const UNITS = ["", "k", "M", "G", "T", "P"];
function short(number, unit) {
  let at = 0;
  while (number >= 1000 && at < UNITS.length - 1) {
    number /= 1000;
    at += 1;
  }
  const digits = number >= 100 || Number.isInteger(number) ? Math.round(number) : number.toPrecision(3);
  return `${digits} ${UNITS[at]}${UNITS[at] && unit.length > 4 ? " " : ""}${unit}`.trim();
}

function seconds(time) {
  const [scale, unit] = [[1, "s"], [1e-3, "ms"], [1e-6, "µs"], [1e-9, "ns"]].find(([s]) => time >= s) ?? [1e-9, "ns"];
  return `${(time / scale).toPrecision(3)} ${unit}`;
}

// -- machine code

function codeCard(code) {
  const facts = element("dl", { className: "facts" });
  const add = (name, ...value) => facts.append(element("div", {}, element("dt", { textContent: name }), element("dd", {}, ...value)));
  add("instructions", String(code.instructions));
  if (code.registers) add("registers a thread", String(code.registers));
  if (code.occupancy) add("threads a program", String(code.threads));
  if (code.occupancy) add("shared memory", `${code.shared} bytes`);
  add(code.occupancy ? "spills" : "on the stack", ...stackWords(code));
  const card = element("article", { className: "card" }, element("h3", { textContent: code.machine }), facts);
  if (code.occupancy) card.append(occupancyOf(code.occupancy));
  return card;
}

function stackWords(code) {
  const what = code.occupancy ? "accesses to local memory" : "instructions touch the stack frame";
  if (!code.stack.length) return ["none"];
  const column = columnNamed.get(code.column);
  const byLine = new Map();
  for (const at of code.stack) {
    const place = column.places[at - 1];
    const name = place >= 0 ? lineOf(place) : "no kernel line";
    if (!byLine.has(name)) byLine.set(name, []);
    byLine.get(name).push(at);
  }
  const list = element("ul", { className: "plain" });
  for (const [name, lines] of [...byLine].sort((a, b) => b[1].length - a[1].length)) {
    const link = element("a", { href: `#${code.column}:${lines[0]}`, textContent: `${lines.length} from ${name}` });
    link.addEventListener("click", (event) => {
      event.preventDefault();
      showView("code");
      pin(column, lines[0] - 1);
    });
    list.append(element("li", {}, link));
  }
  return [`${code.stack.length} ${what}`, element("details", {}, element("summary", { textContent: "by kernel line" }), list)];
}

function occupancyOf({ blocks, warps, most_warps, limits, limited_by }) {
  const share = most_warps ? Math.round((100 * warps) / most_warps) : 0;
  const meter = element("meter", { min: 0, max: most_warps, value: warps, ariaLabel: "occupancy" });
  const rows = Object.entries(limits).map(([name, room]) => element("li", { className: limited_by.includes(name) ? "least" : "", textContent: `${name}: room for ${room} programs${limited_by.includes(name) ? ", the limit" : ""}` }));
  return element(
    "div", { className: "occupancy" },
    element("p", {}, element("strong", { textContent: `Occupancy ${share} %` }), ` (${warps} of ${most_warps} warps, ${blocks} programs on a multiprocessor) `, meter),
    element("ul", { className: "plain" }, ...rows),
  );
}

// -- the roofs

const [WIDE, HIGH] = [560, 280];
const [LEFT, BOTTOM, TOP, RIGHT] = [56, 40, 14, 16];

function roofline(totals, roofs) {
  const intensity = totals.operations / Math.max(totals.distinct, 1);
  const low = Math.log10(Math.min(0.05, intensity / 3));
  const high = Math.log10(Math.max(1000, intensity * 3));
  const peaks = roofs.map(({ flops }) => flops);
  const least = Math.log10(Math.min(...roofs.map(({ bandwidth }) => bandwidth)) * 10 ** low) - 0.2;
  const most = Math.log10(Math.max(...peaks)) + 0.4;
  const x = (value) => LEFT + ((Math.log10(value) - low) / (high - low)) * (WIDE - LEFT - RIGHT);
  const y = (value) => HIGH - BOTTOM - ((Math.log10(value) - least) / (most - least)) * (HIGH - BOTTOM - TOP);
  const picture = svg("svg", { viewBox: `0 0 ${WIDE} ${HIGH}`, class: "roofline", role: "img", "aria-label": `Operations a byte: ${intensity.toPrecision(3)}` });
  for (let power = Math.ceil(low); power <= high; power += 1) {
    picture.append(svg("line", { x1: x(10 ** power), x2: x(10 ** power), y1: TOP, y2: HIGH - BOTTOM, class: "tick" }), svg("text", { x: x(10 ** power), y: HIGH - BOTTOM + 16, class: "axis" }, String(10 ** power)));
  }
  for (let power = Math.ceil(least); power <= most; power += 1) {
    picture.append(svg("line", { x1: LEFT, x2: WIDE - RIGHT, y1: y(10 ** power), y2: y(10 ** power), class: "tick" }), svg("text", { x: LEFT - 6, y: y(10 ** power) + 4, class: "axis end" }, short(10 ** power, "")));
  }
  picture.append(svg("text", { x: (LEFT + WIDE) / 2, y: HIGH - 6, class: "axis" }, "operations a byte"));
  roofs.forEach((roof, at) => {
    const knee = roof.flops / roof.bandwidth;
    const points = [[10 ** low, roof.bandwidth * 10 ** low], [knee, roof.flops], [10 ** high, roof.flops]];
    picture.append(svg("polyline", { points: points.map(([a, b]) => `${x(a)},${y(b)}`).join(" "), class: `roof roof-${at}` }));
    picture.append(svg("text", { x: WIDE - RIGHT, y: y(roof.flops) - 6, class: "axis end" }, `${roof.machine}: ${short(roof.flops, "op/s")}`));
    picture.append(svg("circle", { cx: x(intensity), cy: y(Math.min(roof.flops, roof.bandwidth * intensity)), r: 5, class: `spot spot-${at}` }));
  });
  picture.append(svg("line", { x1: x(intensity), x2: x(intensity), y1: TOP, y2: HIGH - BOTTOM, class: "kernel" }));
  return picture;
}

function roofCard({ totals, roofs }) {
  const intensity = totals.operations / Math.max(totals.distinct, 1);
  const ran = totals.programs === totals.grid ? `${totals.grid} programs` : `${totals.programs} of ${totals.grid} programs`;
  const list = element("ul", { className: "plain" });
  for (const roof of roofs) {
    const [memory, arithmetic] = [totals.distinct / roof.bandwidth, totals.operations / roof.flops];
    const bound = memory >= arithmetic ? "memory" : "arithmetic";
    list.append(element("li", {}, element("strong", { textContent: roof.machine }), ` (${roof.words}: ${short(roof.bandwidth, "B/s")}, ${short(roof.flops, "op/s")}): at best ${seconds(Math.max(memory, arithmetic))}, bound by ${bound}`));
  }
  return element(
    "article", { className: "card wide" }, element("h3", { textContent: "Under the roof" }),
    element("p", { textContent: `${ran} asked for ${short(totals.bytes, "B")}, ${short(totals.distinct, "B")} of them distinct, and took ${short(totals.operations, "operations")} on floats${totals.products ? ` (${Math.round((100 * totals.products) / totals.operations)} % in products)` : ""}: ${intensity.toPrecision(3)} operations a byte.` }),
    totals.operations && totals.distinct ? roofline(totals, roofs) : "", list,
  );
}

// -- accesses

const percent = (part, of) => (of ? `${Math.round((100 * part) / of)} %` : "");

function accessRow(access) {
  const sum = (name) => access.measured.reduce((total, one) => total + one[name], 0);
  const [lanes, off, sectors, wanted] = ["lanes", "off", "sectors", "wanted"].map(sum);
  const what = element("td", {}, element("code", { textContent: `${access.kind} ${access.arguments.join(", ") || "?"}` }), element("br"), `${access.shape.length ? `${access.shape.join(" × ")} of ` : ""}${access.element}`);
  const kind = element("td", {}, element("span", { className: `class ${access.access_class.split(" ")[0]}`, textContent: access.access_class }), element("br"), access.steps.length ? `steps ${access.steps.join(", ")}` : "");
  const reasons = element("ul", { className: "plain" }, ...access.reasons.map((reason) => element("li", { textContent: reason })));
  return element(
    "tr", {},
    element("th", { scope: "row" }, placeLink(access.place, lineOf(access.place) || "—")), what, kind,
    element("td", { textContent: access.cpu.join(", ") || "—" }),
    element("td", { textContent: access.vector_bytes ? `${access.vector_bytes} B` : "—" }),
    element("td", { textContent: sectors ? percent(wanted, sectors) : "—" }),
    element("td", { textContent: lanes ? percent(off, lanes) : "—" }),
    element("td", { textContent: lanes ? short(sum("bytes"), "B") : "—" }),
    element("td", { className: "why" }, access.reasons.length ? reasons : "as good as it gets"),
  );
}

const HEADS = [
  ["Line", ""], ["Access", ""], ["Addresses", "how neighbouring elements of the block lie in memory"],
  ["CPU", "the classes of this access in the CPU target's loops"],
  ["GPU, a thread", "bytes that a thread moves at once"],
  ["Coalesced", "32-byte sectors that are needed, of those that the warps ask for, in the recorded launch"],
  ["Masked off", "lanes, in the recorded launch"], ["Bytes", "asked for, in the recorded launch"], ["Why, and what to do", ""],
];

function accessTable(accesses) {
  const head = element("tr", {}, ...HEADS.map(([text, title]) => element("th", { scope: "col", textContent: text, title })));
  const table = element("table", { className: "accesses" }, element("caption", { textContent: "Every access to memory" }), element("thead", {}, head), element("tbody", {}, ...accesses.map(accessRow)));
  return element("div", { className: "tablescroll", tabIndex: 0, role: "region", ariaLabel: "Every access to memory" }, table);
}

function makeCosts() {
  const view = element("div", { className: "scroll" });
  const { performance } = model;
  view.append(element("p", { className: "lead", textContent: "Registers, spills and instructions are read from the machine code; bytes, operations and sectors were counted in a recorded launch; peaks of a GPU are NVIDIA's, those of this machine measured when the page was made." }));
  const code = element("div", { className: "stack" }, ...performance.code.map(codeCard));
  const cards = element("div", { className: "cards" }, code);
  if (performance.totals) cards.append(roofCard(performance));
  view.append(element("h2", { textContent: "Machine code" }), cards, element("h2", { textContent: "Memory" }), accessTable(performance.accesses));
  return view;
}
