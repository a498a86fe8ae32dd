// Which parts of a line are comments, strings, numbers, words and names: enough to read it by.

const WORDS = {
  python: "and as assert break class continue def del elif else except False for from global if import in is lambda None nonlocal not or pass raise return True try while with yield",
  tree: "None True False",
  ssa: "kernel yield for while if else none true false do",
  plan: "step nest lanes along axis main tail generic reduce materialise store load read write frees reads region result while under masked otherwise",
  cuda: "asm auto bool char const double else extern false float for if int long return short signed sizeof static struct template true typename unsigned void volatile while __global__ __device__ __shared__ __launch_bounds__ __restrict__ __align__ __syncthreads inline",
  llvm: "define declare internal entry br ret label phi to splat poison zeroinitializer noalias true false undef null",
  ptx: "",
  sass: "",
  asm: "",
};

const COMMENT = { python: "#.*", cuda: "\\/\\/.*", ssa: "#.*", llvm: ";.*", ptx: "\\/\\/.*", sass: "\\/\\*.*?\\*\\/", asm: "#.*" };
const NAME = { ssa: "%\\d+", plan: "%[\\w.]+", llvm: "[%@!][\\w.]+", ptx: "%[\\w.]+", asm: "%\\w+", sass: "\\b(?:R|UR|P|UP|SR_|B)\\d+\\b|\\bc\\[0x\\w+\\]\\[0x\\w+\\]" };
const OPCODE = {
  ssa: "(?:(?<== )|^\\s*)[a-z_]\\w*", llvm: "(?:(?<== )|^  )[a-z]\\w*", plan: null,
  ptx: "^\\t(?:@!?%\\w+\\s+)?[a-z][\\w.:]*", asm: "^\\t[a-z]\\w*", sass: "\\b[A-Z][A-Z0-9_]{2,}(?:\\.[A-Z0-9_]+)*",
};

const GRAMMARS = new Map(Object.keys(WORDS).map((language) => {
  const words = WORDS[language] ? `\\b(?:${WORDS[language].split(" ").join("|")})\\b` : null;
  const parts = {
    comment: COMMENT[language],
    string: '"(?:[^"\\\\]|\\\\.)*"|\'(?:[^\'\\\\]|\\\\.)*\'',
    directive: language === "cuda" ? "^\\s*#\\w.*" : language === "asm" || language === "ptx" ? "^\\s*\\.[\\w.]+" : null,
    opcode: OPCODE[language],
    name: NAME[language],
    word: words,
    digits: "\\b(?:0x[\\da-fA-F]+|\\d+(?:\\.\\d+)?(?:[eE][-+]?\\d+)?)",
  };
  const source = Object.entries(parts).filter(([, part]) => part).map(([kind, part]) => `(?<${kind}>${part})`).join("|");
  return [language, new RegExp(source, "g")];
}));

// Characters that change the order or hide: shown as what they are.
const HIDDEN = /[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]/g;

function appendText(parent, text) {
  let end = 0;
  for (const found of text.matchAll(HIDDEN)) {
    parent.append(text.slice(end, found.index));
    const shown = document.createElement("span");
    shown.className = "control";
    shown.textContent = `U+${found[0].codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}`;
    parent.append(shown);
    end = found.index + found[0].length;
  }
  parent.append(text.slice(end));
}

// The line as text with spans around its parts.
function coloured(text, language) {
  const code = document.createElement("code");
  let end = 0;
  for (const found of text.matchAll(GRAMMARS.get(language))) {
    if (!found[0]) continue;
    appendText(code, text.slice(end, found.index));
    const part = document.createElement("span");
    part.className = Object.keys(found.groups).find((kind) => found.groups[kind] !== undefined);
    appendText(part, found[0]);
    code.append(part);
    end = found.index + found[0].length;
  }
  appendText(code, text.slice(end));
  return code;
}
