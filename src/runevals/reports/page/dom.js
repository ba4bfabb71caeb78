// Elements are made here and nowhere else; text is only ever set as text.

const SVG = "http://www.w3.org/2000/svg";

/** The element with this id. */
function at(id) {
  return document.getElementById(id);
}

/** An element; `attributes` with functions are listeners, children are nodes, texts or nothing. */
function el(name, attributes = {}, ...children) {
  return filled(document.createElement(name), attributes, children);
}

/** The same for SVG. */
function svg(name, attributes = {}, ...children) {
  return filled(document.createElementNS(SVG, name), attributes, children);
}

function filled(node, attributes, children) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else if (value === true) node.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) node.setAttribute(name, value);
  }
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== ""));
  return node;
}

/** What the browser keeps under a name; a page from a file may not be allowed to remember. */
function stored(name) {
  try {
    return localStorage.getItem(name);
  } catch {
    return null;
  }
}

function store(name, text) {
  try {
    localStorage.setItem(name, text);
  } catch {
    // Then it is forgotten.
  }
}

/** A list of facts: [[name, value], …]. */
function factList(facts) {
  return el(
    "dl",
    { class: "facts" },
    facts.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))),
  );
}

const MARKS = {
  passed: ["✓", "passed"],
  failed: ["✕", "failed"],
  errored: ["!", "errored"],
  skipped: ["–", "skipped"],
  removed: ["−", "removed"],
  warned: ["!", "warned"],
  unmeasured: ["!", "not measured"],
  not_applicable: ["–", "not applicable"],
};

/** The sign of a status, its name beside it for those who do not see it. */
function mark(status) {
  const [sign, word] = MARKS[status];
  return el(
    "span",
    { class: `mark is-${status}`, title: word },
    sign,
    el("span", { class: "hidden" }, ` ${word}`),
  );
}

// What the words for a case mean.
const MEANINGS = {
  regressed: "It passed on the base and fails now; this is confirmed.",
  "fails now": "It passed on the base and fails now; this is not confirmed and may be noise.",
  confirmed: "Its own runs show that it is lost.",
  differs: "It passed on some targets and not on others.",
  "runs differ": "The outcome is the same on all targets; of some, fewer runs passed.",
  fixed: "It failed on the base and passes now.",
  worse: "The outcome is the same; fewer runs passed, or the score fell.",
  better: "The outcome is the same; more runs passed, or the score rose.",
  noted: "You wrote a note on it.",
  flaky: "Some of its runs passed and some failed.",
  added: "The base does not have it.",
  removed: "Only the base has it.",
  edited: "Its text is not the same as on the base, so it is not compared.",
  renamed: "It has another key than on the base.",
  unmeasured: "Some of its runs could not be measured.",
  critical: "It must not be lost, whatever the other cases show.",
  quarantined: "It is known to be flaky: gates ignore it.",
};

/** Explanations that a pointer shows are also shown when their word has the focus. */
function explainOnFocus() {
  for (const word of document.querySelectorAll("abbr[title]")) {
    word.addEventListener("focus", () => {
      const { left, bottom } = word.getBoundingClientRect();
      hint(word.title, left, bottom);
    });
    word.addEventListener("blur", () => hint(""));
  }
}

/** Shows a hint beside the pointer; without text hides it. */
function hint(text, x = 0, y = 0) {
  const tip = at("tip");
  tip.hidden = !text;
  if (!text) return;
  tip.textContent = text;
  const room = document.documentElement.clientWidth - tip.offsetWidth - 8;
  tip.style.left = `${Math.max(8, Math.min(x + 12, room))}px`;
  tip.style.top = `${y + 16 + tip.offsetHeight > window.innerHeight ? y - tip.offsetHeight - 10 : y + 16}px`;
}
