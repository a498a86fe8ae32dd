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

// -- the address: the columns, then the pinned line, as in `#python,cuda/cuda:113`

function writeAddress() {
  const names = columns.filter(({ name }) => shown.has(name)).map(({ name }) => name);
  const line = pinned ? `/${nameOf(pinned.column, pinned.line)}` : "";
  try {
    history.replaceState(null, "", `#${names.join(",")}${line}`);
  } catch {
    // a page inside another, as in a notebook, has no address of its own
  }
}

function readAddress() {
  const [first, second] = decodeURIComponent(location.hash.slice(1)).split("/");
  const target = lineNamed(second ?? first ?? "");
  const names = (first ?? "").split(",").filter((name) => columnNamed.has(name));
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
  themeButton.setAttribute("aria-label", `Theme: ${THEMES[next][1]}`);
}

themeButton.addEventListener("click", nextTheme);
document.getElementById("help").addEventListener("click", () => document.getElementById("keys").showModal());

// -- keys that work everywhere

const KEYS = {
  "/": () => search.focus(),
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
