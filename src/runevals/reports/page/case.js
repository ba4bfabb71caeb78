// One case: what was asked and expected, what base and head answered, what the checks found.

/** Fills the page of a case; `body` is null where the report had no room for its texts. */
function drawCase(page, row, body, ways) {
  const head = el(
    "div",
    { class: "case-head" },
    el(
      "nav",
      { class: "ways", "aria-label": "Cases" },
      el("a", { href: listAddress(), class: "button" }, "← All cases"),
      way(ways.previous, "‹ Previous", "k"),
      way(ways.next, "Next ›", "j"),
    ),
    el(
      "h1",
      { tabindex: -1 },
      mark(row.status),
      el("bdi", { class: "key" }, row.key),
      el("bdi", { class: "name" }, row.name ?? ""),
    ),
    el(
      "p",
      { class: "about" },
      badges(row),
      row.category ? el("span", { class: "badge" }, row.category) : null,
      (row.tags ?? []).map((tag) => el("span", { class: "badge" }, tag)),
      el("span", {}, runsOf(row)),
      el("span", { class: "muted" }, row.place),
    ),
    row.notes
      ? el("p", { class: "notes" }, el("span", { class: "muted" }, "Notes "), el("bdi", {}, row.notes))
      : null,
    body?.again ? again(body.again) : null,
    noteBox(row),
  );
  page.replaceChildren(head);
  if (!body) {
    page.append(
      el(
        "p",
        { class: "note" },
        "This page would be too large with the texts of every case. Those of this case are in the results document.",
      ),
    );
    return;
  }
  drawAttempts(page, row, body);
}

function way(target, text, key) {
  return target
    ? el("a", { href: target, class: "button", title: `Key ${key}` }, text)
    : el("span", { class: "button off" }, text);
}

function runsOf(row) {
  const parts = row.runs.map((runs, i) =>
    runs ? `${SEVERAL ? SIDES[i] : SIDES[i].toLowerCase()} ${runs}` : null,
  );
  const known = parts.filter(Boolean);
  return known.length ? `passed: ${known.join(", ")}` : "";
}

/** A command with a button that copies it. */
function again(command, what = "Run it again") {
  const code = el("code", { tabindex: 0 }, command);
  const button = el("button", { type: "button" }, "Copy");
  copies(button, command, code);
  return el("p", { class: "again" }, el("span", { class: "muted" }, what), code, button);
}

/** Makes a button copy a text; a browser that refuses selects what `shown` shows of it. */
function copies(button, text, shown) {
  const name = button.textContent;
  button.addEventListener("click", async () => {
    try {
      await navigator.clipboard.writeText(text);
      button.textContent = "Copied";
    } catch {
      shown.hidden = false;
      window.getSelection().selectAllChildren(shown);
      button.textContent = "Selected";
    }
    setTimeout(() => {
      button.textContent = name;
    }, 1500);
  });
}

/** One tab for each attempt; the first that failed is open. */
function drawAttempts(page, row, body) {
  const count = Math.max(...body.sides.map((side) => side.length));
  const panel = el("div", { id: "attempt" });
  const looked = SEVERAL ? body.sides : body.sides.slice(-1);
  const failing = Math.min(
    ...looked.map((side) => side.findIndex((one) => one.status === "failed")).filter((i) => i >= 0),
  );
  const tabs = [];
  function select(index) {
    tabs.forEach((tab, i) => {
      tab.setAttribute("aria-selected", String(i === index));
      tab.tabIndex = i === index ? 0 : -1;
    });
    panel.replaceChildren(...attempt(row, body, index));
  }
  for (let i = 0; i < count; i++)
    tabs.push(
      el(
        "button",
        { type: "button", role: "tab", id: `tab-${i}`, "aria-controls": "attempt", click: () => select(i) },
        `Run ${i + 1} `,
        body.sides.flatMap((side, of) => tabMark(side[i], of)),
      ),
    );
  if (count > 1) {
    const list = el("div", { role: "tablist", class: "tabs", "aria-label": "Runs of this case" }, tabs);
    list.addEventListener("keydown", (event) => {
      const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
      if (!step) return;
      const next = (tabs.indexOf(document.activeElement) + step + count) % count;
      select(next);
      tabs[next].focus();
    });
    filled(panel, { role: "tabpanel", "aria-label": "The chosen run" }, []);
    page.append(list);
  }
  page.append(panel);
  select(Number.isFinite(failing) ? failing : 0);
}

function tabMark(attempt, side) {
  const shown = attempt ? mark(attempt.status) : el("span", { class: "mark" }, "·");
  if (SEVERAL) return [el("span", { class: "hidden" }, `${SIDES[side]} `), shown];
  if (side) return [shown];
  return attempt ? [el("span", { class: "hidden" }, "base "), shown, "→"] : [];
}

function attempt(row, body, index) {
  const runs = body.sides.map((side) => side[index]);
  const count = Math.max(...runs.map((run) => run?.turns.length ?? 0));
  const parts = [];
  const scored = runs.map((run, i) => (run?.score && (SEVERAL || i) ? scoreOf(run, i) : null)).filter(Boolean);
  if (scored.length) parts.push(el("p", { class: "muted" }, scored.join(" · ")));
  const text = (number) => (number === undefined ? undefined : body.texts[number]);
  for (let i = 0; i < count; i++) {
    const turns = runs.map((run) => run?.turns[i]);
    const [before, now] = turns;
    parts.push(
      el(
        "section",
        { class: "turn" },
        el("h2", { class: count > 1 ? "" : "hidden" }, `Turn ${i + 1}`),
        el(
          "div",
          { class: SEVERAL ? "sides of-targets" : "sides" },
          asked(turns.findLast(Boolean), text),
          SEVERAL ? answersOfTargets(turns, text) : answers({ now, before, text, row }),
          SEVERAL ? null : checks(now ?? before, now ? before : undefined, text),
        ),
        ...timeline(turns, text),
      ),
    );
  }
  if (!count) parts.push(el("p", { class: "note" }, "Nothing of this run is known."));
  return parts;
}

function scoreOf(run, side) {
  return `${SEVERAL ? `${SIDES[side]}: ` : ""}${run.score}${run.layers ? ` (${run.layers})` : ""}`;
}

/** A column for each target: its answer, with what the first one has not got marked, and its checks. */
function answersOfTargets(turns, text) {
  const first = text(turns.find(Boolean)?.output);
  const reference = SIDES[turns.findIndex(Boolean)];
  const alike = sameChecks(turns);
  const columns = turns.map((turn, i) => {
    const output = text(turn?.output);
    const compared = SIDES[i] !== reference && output !== undefined && first !== undefined;
    const shown =
      compared && output === first
        ? el(
            "div",
            { class: "text answer" },
            el("h3", {}, SIDES[i]),
            el("p", { class: "note" }, `Answers as ${reference} does.`),
          )
        : answer(
            SIDES[i],
            turn,
            output,
            compared ? differences(first, output)[1] : null,
            "ins",
            text,
            "No such run.",
          );
    return el("div", { class: "of-target" }, shown, turn ? checks(turn, undefined, text, alike) : null);
  });
  return el("div", { class: "answers" }, columns);
}

/** The checks that found the same on every target. */
function sameChecks(turns) {
  const found = new Map();
  const known = turns.filter((turn) => turn?.checks);
  for (const turn of known)
    for (const { id, outcome, value } of turn.checks)
      found.set(id, [...(found.get(id) ?? []), JSON.stringify([outcome, value])]);
  const alike = [...found].filter(([, all]) => all.length >= known.length && new Set(all).size === 1);
  return new Set(known.length > 1 ? alike.map(([id]) => id) : []);
}

function asked(turn, text) {
  return el(
    "div",
    { class: "asked" },
    texts("Prompt", text(turn.prompt)),
    turn.expected === undefined ? null : texts("Expected", text(turn.expected), "expected"),
    turn.context === undefined
      ? null
      : el("details", {}, el("summary", {}, "Context"), el("pre", { dir: "auto" }, text(turn.context))),
  );
}

/** A titled block of text as it was written. */
function texts(title, content, kind = "") {
  return el("div", { class: `text ${kind}` }, el("h3", {}, title), block(content));
}

function block(content) {
  if (content === undefined) return el("p", { class: "note" }, "Not kept in this report.");
  return content === "" ? el("p", { class: "note" }, "Empty.") : el("pre", { dir: "auto" }, content);
}

function answers({ now, before, text, row }) {
  const [old, fresh] = [text(before?.output), text(now?.output)];
  const compared = old !== undefined && fresh !== undefined && old !== fresh;
  const [oldPieces, freshPieces] = compared ? differences(old, fresh) : [null, null];
  const missing = row.runs[0] || row.change === "removed" ? "No such run." : baseless(row);
  const same = old !== undefined && old === fresh;
  return el(
    "div",
    { class: "answers" },
    same ? null : answer("Base", before, old, oldPieces, "del", text, missing),
    answer(same ? "Base and this run alike" : "This run", now, fresh, freshPieces, "ins", text, "No such run."),
  );
}

function baseless(row) {
  if (!OVERVIEW.compared) return null;
  return row.change === "added" ? "The base does not have this case." : "Not kept: the case did not change.";
}

function answer(title, turn, output, marked, element, text, missing) {
  if (!turn && missing === null) return null;
  const content = turn
    ? output === undefined
      ? block(turn.error === undefined && turn.raised === undefined ? undefined : "")
      : marked
        ? el(
            "pre",
            { dir: "auto" },
            marked.map(([piece, changed]) => (changed ? el(element, {}, piece) : piece)),
          )
        : block(output)
    : el("p", { class: "note" }, missing);
  return el(
    "div",
    { class: `text answer side-${element}` },
    el("h3", {}, title, turn?.facts ? el("span", { class: "muted" }, turn.facts) : null),
    turn?.error === undefined ? content : el("p", { class: "problem" }, text(turn.error)),
    turn?.raised === undefined ? null : el("p", { class: "problem" }, "Raised: ", text(turn.raised)),
    turn?.citations?.length
      ? el(
          "details",
          {},
          el("summary", {}, `${turn.citations.length} cited`),
          el(
            "ul",
            {},
            turn.citations.map((cited) => el("li", {}, text(cited))),
          ),
        )
      : null,
  );
}

/** Each check with what it found, on its own scale; beside it what it found on the base. */
function checks(now, before, text, alike = new Set()) {
  if (!now.checks?.length) return null;
  const seen = new Map();
  const rows = now.checks.map((check) => {
    const number = seen.get(check.id) ?? 0;
    seen.set(check.id, number + 1);
    return checkRow(check, before?.checks?.filter((other) => other.id === check.id)[number], text);
  });
  const folded = rows.filter((_, i) => alike.has(now.checks[i].id));
  const open = rows.filter((_, i) => !alike.has(now.checks[i].id));
  const same = `${folded.length} with the same result on every target`;
  return el(
    "div",
    { class: "checks" },
    el("h3", {}, "Checks"),
    el("ul", {}, open),
    folded.length ? el("details", {}, el("summary", {}, same), el("ul", {}, folded)) : null,
  );
}

function checkRow(check, before, text) {
  const differs = before && (before.outcome !== check.outcome || before.value !== check.value);
  return el(
    "li",
    { class: `check is-${check.outcome}` },
    mark(check.outcome),
    el(
      "div",
      { class: "what" },
      el("strong", {}, el("bdi", {}, check.id)),
      check.evaluator ? el("span", { class: "muted" }, ` ${check.evaluator}`) : null,
      check.negated ? el("span", { class: "badge" }, "not") : null,
      check.weight === undefined ? null : el("span", { class: "badge" }, `weight ${check.weight}`),
      differs ? el("span", { class: "was" }, "base ", mark(before.outcome), number(before.value) ?? "") : null,
      el("p", { dir: "auto" }, text(check.reason) ?? ""),
      check.error === undefined ? null : el("p", { class: "problem" }, text(check.error)),
      more(check, before, text),
    ),
    bar(check, before),
  );
}

function more(check, before, text) {
  const then = before?.reason !== undefined && before.reason !== check.reason ? text(before.reason) : null;
  if (!check.votes && check.details === undefined && !then && !check.judge) return null;
  return el(
    "details",
    {},
    el("summary", {}, check.judge ? "The judge" : "Details"),
    check.judge ? el("p", {}, "Model: ", check.judge) : null,
    check.votes ? el("p", {}, "Single votes: ", check.votes.map((vote) => number(vote) ?? "–").join(", ")) : null,
    then ? el("p", { dir: "auto" }, "On the base: ", then) : null,
    check.details === undefined ? null : el("pre", { dir: "auto" }, text(check.details)),
  );
}

function number(value) {
  return typeof value === "number" ? String(Number(value.toPrecision(4))) : undefined;
}

/** The score on its own scale, with a tick at what it needs and a ring at what the base had. */
function bar(check, before) {
  const [low, high] = check.scale ?? [0, 1];
  const { value, threshold } = check;
  if (typeof value !== "number") return null;
  const needs = threshold === undefined ? "" : `, needs ${number(threshold)}`;
  if (high === null || high === undefined) return el("div", { class: "scale" }, `${number(value)}${needs}`);
  if (threshold === undefined && low === 0 && high === 1 && (value === 0 || value === 1)) return null;
  const along = (share) => (Math.min(Math.max(share, low), high) - low) / (high - low);
  const x = (share) => `${(2 + 96 * (along(share) || 0)).toFixed(2)}%`; // a scale may have no length
  const drawn = [
    svg("line", { class: "track", x1: "2%", x2: "98%", y1: 8, y2: 8 }),
    svg("line", { class: `value is-${check.outcome}`, x1: "2%", x2: x(value), y1: 8, y2: 8 }),
  ];
  if (threshold !== undefined)
    drawn.push(svg("line", { class: "needs", x1: x(threshold), x2: x(threshold), y1: 1, y2: 15 }));
  if (typeof before?.value === "number")
    drawn.push(svg("circle", { class: "before", cx: x(before.value), cy: 8, r: 4 }));
  const summary = `${number(value)} of ${low}–${high}${needs}`;
  return el(
    "div",
    { class: "scale" },
    svg("svg", { height: 16, role: "img", "aria-label": summary }, drawn),
    el("span", { "aria-hidden": "true" }, summary),
  );
}
