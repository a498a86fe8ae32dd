// The page around the views: which columns are shown, the theme, keys, and the page's address.

const FIRST = ["python", "order", "cuda", "sass", "llvm", "asm"];

document.getElementById("choices").addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.column;
  if (!name) return;
  const wanted = new Set(shown);
  if (wanted.has(name)) wanted.delete(name);
  else wanted.add(name);
  showColumns([...wanted]);
  runSearch();
  writeAddress();
});

// -- views, made when they are first shown

const MAKERS = { costs: makeCosts, accesses: makeAccesses, layouts: makeLayouts };

function showView(name) {
  for (const button of document.querySelectorAll("#views button")) {
    if (button.dataset.view === name) button.setAttribute("aria-current", "page");
    else button.removeAttribute("aria-current");
  }
  for (const view of document.querySelectorAll(".view")) view.hidden = view.id !== name;
  document.body.dataset.view = name;
  const view = document.getElementById(name);
  if (MAKERS[name] && !view.childElementCount) view.append(MAKERS[name]());
  writeAddress();
}

const shownView = () => document.querySelector(".view:not([hidden])").id;

document.getElementById("views").addEventListener("click", (event) => {
  const name = event.target.closest("button")?.dataset.view;
  if (name) showView(name);
});

// -- the address: the columns, then the pinned line, as in `#python,cuda/cuda:113`

function writeAddress() {
  const names = columns.filter(({ name }) => shown.has(name)).map(({ name }) => name);
  const line = pinned ? `/${nameOf(pinned.column, pinned.line)}` : "";
  const view = shownView();
  try {
    history.replaceState(null, "", view === "code" ? `#${names.join(",")}${line}` : `#${view}`);
  } catch {
    // a page inside another, as in a notebook, has no address of its own
  }
}

function readAddress() {
  const [first, second] = decodeURIComponent(location.hash.slice(1)).split("/");
  const target = lineNamed(second ?? first ?? "");
  const names = (first ?? "").split(",").filter((name) => columnNamed.has(name));
  if (Object.hasOwn(MAKERS, first ?? "")) {
    if (!shown.size) showColumns(defaultColumns());
    showView(first);
    return;
  }
  if (names.length) showColumns(names);
  else if (!shown.size) showColumns(defaultColumns());
  if (target) pin(target.column, target.line);
}

function defaultColumns() {
  const room = Math.max(1, Math.floor(innerWidth / 460));
  const there = FIRST.filter((name) => columnNamed.has(name) && !columnNamed.get(name).error);
  const wanted = room <= 3 ? there.filter((name) => name !== "llvm" && name !== "sass") : there;
  return wanted.slice(0, room);
}

// -- the theme

const THEMES = { system: ["◐", "as the system"], light: ["○", "light"], dark: ["●", "dark"] };
const themeButton = document.getElementById("theme");

function nextTheme() {
  const names = Object.keys(THEMES);
  const now = document.documentElement.dataset.theme ?? "system";
  const next = names[(names.indexOf(now) + 1) % names.length];
  document.documentElement.dataset.theme = next;
  [themeButton.textContent] = THEMES[next];
  redrawAll();
  themeButton.setAttribute("aria-label", `Theme: ${THEMES[next][1]}`);
}

themeButton.addEventListener("click", nextTheme);
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());

// -- keys that work everywhere

const KEYS = {
  "/": () => {
    if (shownView() !== "code") showView("code");
    search.focus();
  },
  t: nextTheme,
  "?": () => document.getElementById("keys").showModal(),
  Escape: () => unpin(),
  "[": () => step(-1),
  "]": () => step(1),
};

document.addEventListener("keydown", (event) => {
  const typing = event.target.matches?.("input") || document.querySelector("dialog[open]");
  if (typing || event.ctrlKey || event.metaKey || event.altKey || !(event.key in KEYS)) return;
  event.preventDefault();
  KEYS[event.key]();
});

addEventListener("hashchange", readAddress);
readAddress();
document.documentElement.dataset.ready = "yes";
