// What an agent did in one turn: its steps, what it changed in its workspace, its conversation; base beside this run.

const MOST_STEPS = 50; // rows drawn before a button shows the others
const LONGEST_ARGUMENT = 90;
// The argument that says most about a call; without one of these, the first text.
const TELLING = ["command", "cmd", "file_path", "path", "skill", "pattern", "query", "url"];

/** The steps, the files and the conversation of the turns of all sides; a side without a turn has no column. */
function timeline(turns, text) {
  const sides = turns.map((turn, i) => [SIDES[i], turn]).filter(([, turn]) => turn);
  return [steps(sides, text), workspace(sides, text), conversation(sides, text)];
}

/** A titled block with a column for each side. */
function beside(title, sides, column) {
  return el(
    "section",
    { class: "timeline" },
    el("h3", {}, title),
    el(
      "div",
      { class: `columns of-${sides.length}` },
      sides.map(([name, turn]) => column(turn, name)),
    ),
  );
}

function steps(sides, text) {
  if (!sides.some(([, turn]) => turn.calls || turn.refused)) return null;
  const pairs = sides.length === 2 ? aligned(...sides.map(callsOf)) : byPlace(sides.map(callsOf));
  const rows = pairs.map((pair) => stepRow(pair, sides, text));
  const hidden = rows.slice(MOST_STEPS);
  const list = el("ol", { class: "steps" }, rows.slice(0, MOST_STEPS));
  const more = el("button", { type: "button", click: showAll }, `Show ${hidden.length} more steps`);
  function showAll() {
    more.replaceWith();
    list.append(...hidden);
    hidden[0].querySelector("summary").focus();
  }
  const part = beside("Steps", sides, (turn, name) =>
    el(
      "p",
      { class: "side-head" },
      el("strong", {}, name),
      el("span", {}, stepsOf(turn)),
      el("span", { class: "muted" }, turn.facts ?? ""),
      (turn.refused ?? []).map((tool) => el("span", { class: "badge is-failed" }, `not permitted: ${tool}`)),
    ),
  );
  part.append(list, ...(hidden.length ? [more] : []));
  return part;
}

function callsOf([, turn]) {
  return turn.calls ?? [];
}

function stepsOf(turn) {
  if (turn.calls) return `${turn.calls.length} ${turn.calls.length === 1 ? "step" : "steps"}`;
  return turn.no_calls ? "no steps" : "its steps are unknown";
}

/** The first calls of all sides, the second ones, and so on. */
function byPlace(calls) {
  const most = Math.max(...calls.map((some) => some.length));
  return Array.from({ length: most }, (_, i) => calls.map((some) => some[i]));
}

/** [[call of the base, call of this run], …]: calls of the same tool side by side, as many as have the same order. */
function aligned(base, head) {
  const names = [base, head].map((calls) => calls.map((call) => call.name));
  if ((base.length + 1) * (head.length + 1) > MOST_CELLS) return byPlace([base, head]);
  const [inBase, inHead] = common(...names);
  const pairs = [];
  for (let i = 0, j = 0; i < base.length || j < head.length; ) {
    if (i < base.length && !inBase.has(i)) pairs.push([base[i++], undefined]);
    else if (j < head.length && !inHead.has(j)) pairs.push([undefined, head[j++]]);
    else pairs.push([base[i++], head[j++]]);
  }
  return pairs;
}

function stepRow(pair, sides, text) {
  const alone = sides.length === 2 && pair.includes(undefined);
  const differs = sides.length === 2 && !alone && pair[0].input !== pair[1].input;
  return el(
    "li",
    { class: `columns of-${sides.length}` },
    pair.map((call, side) => {
      const word = alone ? "only here" : differs && side === 1 ? "other arguments" : "";
      return call ? callStep(call, sides[side][0], word, text) : el("span", { class: "no-step" }, "–");
    }),
  );
}

const OUTCOMES = new Map([
  [true, ["✓", "passed", "succeeded"]],
  [false, ["✕", "failed", "failed"]],
  [undefined, ["·", "skipped", "the target does not report whether it succeeded"]],
]);

/** One call, folded; its texts are drawn when it is opened. */
function callStep(call, side, word, text) {
  const [sign, kind, meaning] = OUTCOMES.get(call.ok);
  const input = text(call.input);
  const folded = el(
    "details",
    { class: word === "only here" ? `step of-${side === SIDES[0] ? "base" : "head"}` : "step" },
    el(
      "summary",
      {},
      el("span", { class: "side-word" }, `${side}: `),
      el("span", { class: `mark is-${kind}`, title: meaning }, sign, el("span", { class: "hidden" }, meaning)),
      el("strong", {}, el("bdi", {}, call.name)),
      el("code", { class: "argument" }, el("bdi", {}, telling(input))),
      word ? el("span", { class: "badge" }, word) : null,
      call.mock ? el("span", { class: "badge" }, `mock ${call.mock}`) : null,
      el("span", { class: "took", title: call.took ? "duration" : "duration unknown" }, call.took ?? "–"),
    ),
  );
  folded.addEventListener("toggle", () => {
    if (folded.childElementCount > 1) return;
    folded.append(
      el("h4", {}, "Arguments"),
      input === undefined ? el("p", { class: "note" }, "Unknown.") : el("pre", { dir: "auto" }, input),
      el("h4", {}, "Result"),
      call.output === undefined
        ? el("p", { class: "note" }, "Unknown.")
        : el("pre", { dir: "auto" }, text(call.output)),
    );
  });
  return folded;
}

/** The argument of a call that says most, in one line. */
function telling(input) {
  let value = input;
  try {
    value = JSON.parse(input);
  } catch {
    // A text is its own argument.
  }
  if (value && typeof value === "object") {
    const texts = Object.entries(value).filter(([, item]) => typeof item === "string");
    const named = TELLING.map((name) => texts.find(([key]) => key === name)).find(Boolean);
    value = (named ?? texts[0])?.[1];
  }
  const line = String(value ?? "").replace(/\s+/g, " ");
  return line.length > LONGEST_ARGUMENT ? `${line.slice(0, LONGEST_ARGUMENT)}…` : line;
}

function workspace(sides, text) {
  if (!sides.some(([, turn]) => turn.files)) return null;
  return beside("Changes in the workspace", sides, (turn, name) =>
    el("div", {}, el("p", { class: "side-head" }, el("strong", {}, name)), ...changedFiles(turn.files, text)),
  );
}

function changedFiles(files, text) {
  if (!files) return [el("p", { class: "note" }, "Unknown: the attempt had no workspace.")];
  if (!files.changes?.length) return [el("p", { class: "note" }, "No file changed.")];
  const rows = files.changes.map(([path, change, added, removed, content]) =>
    el(
      "li",
      {},
      el("span", { class: "badge" }, change),
      el("code", {}, el("bdi", {}, path)),
      typeof added === "number" ? el("span", { class: "plus" }, `+${added}`) : null,
      typeof removed === "number" ? el("span", { class: "minus" }, `−${removed}`) : null,
      content ? el("span", { class: "muted" }, content) : null,
    ),
  );
  const cut = files.cut ? el("p", { class: "note" }, "The diff was too large; this is its beginning.") : null;
  const diff =
    files.diff === undefined
      ? null
      : el("details", {}, el("summary", {}, "Diff"), unifiedDiff(text(files.diff)), cut);
  return [el("ul", { class: "changed-files" }, rows), diff ?? cut];
}

const LINES_OF_DIFF = [
  ["+++", "path"],
  ["---", "path"],
  ["@@", "place"],
  ["+", "added"],
  ["-", "removed"],
];

/** A unified diff with its lines coloured; the signs stay. */
function unifiedDiff(diff) {
  const lines = diff.split("\n").map((line) => {
    const kind = LINES_OF_DIFF.find(([start]) => line.startsWith(start))?.[1];
    return el("span", { class: kind ? `line is-${kind}` : "line" }, `${line}\n`);
  });
  return el("pre", { class: "diff" }, lines);
}

/** What a simulated user and the target said to each other. */
function conversation(sides, text) {
  if (!sides.some(([, turn]) => turn.conversation)) return null;
  return beside("Conversation", sides, (turn, name) =>
    turn.conversation
      ? el(
          "details",
          {},
          el("summary", {}, el("strong", {}, name), ` ${turn.conversation.length} messages`),
          el(
            "ol",
            { class: "messages" },
            turn.conversation.map(([speaker, content]) =>
              el("li", {}, el("strong", {}, speaker), el("pre", { dir: "auto" }, text(content))),
            ),
          ),
        )
      : el("p", { class: "note" }, `${name}: no conversation.`),
  );
}
