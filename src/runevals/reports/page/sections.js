// What the page says of the run as a whole.

const TONES = {
  passed: ["✓", "passed"],
  doubt: ["!", "errored"],
  failed: ["✕", "failed"],
  unmeasured: ["!", "errored"],
};

/** Verdict, gates, statistics, run. */
function drawSections(overview) {
  const [sign, tone] = TONES[overview.outcome] ?? ["–", "skipped"];
  filled(at("mark"), { class: `mark is-${tone}` }, [sign]);
  at("verdict").classList.add(`is-${tone}`);
  at("sentences").append(
    ...overview.sentences.flatMap((sentence, i) =>
      SEVERAL ? el("div", {}, sentence) : [el(i ? "span" : "strong", {}, sentence), " "],
    ),
  );
  at("top").append(...overview.top.map(([name, value]) => el("div", {}, el("dt", {}, name), el("dd", {}, value))));
  if (overview.targets) at("targets").append(targetTable(overview.targets));
  at("causes").append(...overview.causes.map(causeSection));
  at("next").append(...overview.next.map(([what, command]) => again(command, what)));
  at("next").hidden = !overview.next.length;
  at("assistant-text").textContent = overview.assistant;
  copies(at("assistant"), overview.assistant, at("assistant-text"));
  at("gates").append(
    ...overview.gates.map((gate) =>
      el("li", {}, mark(gate.state), el("strong", {}, gate.name), el("span", { class: "muted" }, gate.reason)),
    ),
  );
  at("charts").append(...distributions(ROWS));
  for (const { title, path, diff } of overview.prompts)
    at("prompts").append(el("h3", {}, title, " ", el("code", {}, el("bdi", {}, path))), unifiedDiff(diff));
  at("prompts").hidden = !overview.prompts.length;
  for (const [id, lines] of [
    ["blame", overview.blame],
    ["coverage", overview.coverage],
  ]) {
    at(id).append(
      el(
        "ul",
        {},
        lines.map((line) => el("li", {}, line)),
      ),
    );
    at(id).hidden = !lines.length;
  }
  at("cut").hidden = !overview.without_texts;
  at("cut").textContent =
    `The page is limited in size: ${overview.without_texts} of ${ROWS.length} cases, the least important ones, are ` +
    "without prompts and answers, and the search does not look at those. The results document has them.";
  at("statistics").append(...overview.statistics.flatMap(statisticsOf));
  at("statistics").querySelector(".facts").after(at("charts"));
  for (const group of overview.run) at("run").append(el("h3", {}, group.title), factList(group.facts));
}

function statisticsOf({ title, facts, tables, notes }) {
  return [
    title ? el("h3", {}, el("bdi", {}, title)) : "",
    factList(facts),
    ...tables.map((one) => table(one)),
    ...(notes.length ? [el("h3", {}, "To know"), noteList(notes)] : []),
  ];
}

function noteList(notes) {
  return el(
    "ul",
    { class: "notes" },
    notes.map((note) => el("li", {}, note)),
  );
}

/** A row for each target, with a link to its own page if it has one. */
function targetTable({ columns, rows, pages }) {
  const named = rows.map((cells, i) => {
    const name = el("bdi", {}, SIDES[i]);
    return [pages[i] ? el("a", { href: pages[i] }, name) : name, ...cells];
  });
  return table({ title: "Targets", columns, rows: named });
}

/** One kind of cases in groups; what is not new opens on a click. */
function causeSection({ kind, title, cases, groups, folded }) {
  const heading = el("h2", {}, title, " ", el("span", { class: "number" }, String(cases)));
  const parts = groups.map(causeGroup);
  if (folded) return el("details", { class: "fold cause" }, el("summary", {}, heading), parts);
  return el("section", { class: `cause is-${kind}` }, heading, parts);
}

function causeGroup({ heading, rows, more }) {
  const [name, numbers] = heading;
  return el(
    "div",
    { class: "group" },
    name ? el("h3", {}, el("bdi", {}, name), " ", el("span", { class: "muted" }, numbers)) : null,
    el(
      "ul",
      {},
      rows.map((row) => el("li", {}, causeRow(row))),
      more.map((line) => el("li", { class: "muted" }, line)),
    ),
  );
}

function causeRow({ what, cases, examples }) {
  return [
    el("p", {}, el("bdi", {}, what), what ? " " : "", el("span", { class: "number" }, `${cases} ×`)),
    ...examples.map(({ suite, key, name, runs, difference }) =>
      el(
        "div",
        { class: "example" },
        el("a", { href: linkTo(suite, key) }, el("bdi", {}, key)),
        name ? el("bdi", { class: "name" }, ` ${name}`) : null,
        runs ? el("span", { class: "muted" }, ` ${runs}`) : null,
        difference.map((line) =>
          el("code", { class: line.trimStart().startsWith("+") ? "plus" : "minus" }, line.trim()),
        ),
      ),
    ),
  ];
}

function table({ title, columns, rows }) {
  return el(
    "div",
    { class: "wide", tabindex: 0, role: "region", "aria-label": title },
    el(
      "table",
      { class: "plain-table" },
      el("caption", {}, title),
      el(
        "thead",
        {},
        el(
          "tr",
          {},
          columns.map((column) => el("th", { scope: "col" }, column)),
        ),
      ),
      el(
        "tbody",
        {},
        rows.map((cells) =>
          el(
            "tr",
            {},
            cells.map((cell, i) => el("td", { class: toneOf(cell, columns[i] && cells[0] === columns[i]) }, cell)),
          ),
        ),
      ),
    ),
  );
}

/** In a table whose rows are its columns, what is on its diagonal and what has a mark. */
function toneOf(cell, isOwn) {
  if (isOwn) return "is-own";
  return String(cell).startsWith("⚠") ? "is-doubtful" : null;
}

const MOST_PRINTED = 200;

/** What a printed page has in place of the table. */
function drawRegressions(rows) {
  const regressed = rows.filter(lost);
  if (!regressed.length) return;
  const lines = regressed
    .slice(0, MOST_PRINTED)
    .map((row) => [
      row.key,
      row.name ?? "",
      row.runs.map((runs) => runs ?? "–").join(SEVERAL ? " · " : " → "),
      row.why ?? "",
    ]);
  at("regressions").append(
    table({
      title: `${SEVERAL ? "The targets differ" : "Regressed or failing now"}: ${regressed.length}`,
      columns: ["case", "", "runs passed", "why"],
      rows: lines,
    }),
  );
}
