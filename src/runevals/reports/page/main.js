// The page: follows the address, listens to keys.

const searched = [];
/** All that a search looks at, read when it is first needed. */
function textOf(row) {
  searched[row.index] ??= [
    row.key,
    row.name,
    row.category,
    row.why,
    ...(row.tags ?? []),
    ...(bodyOf(row)?.texts ?? []),
  ]
    .join("\n")
    .toLowerCase();
  return searched[row.index];
}

let read = 0;
/** Reads the texts while nothing else is to do, so that the first search need not. */
function readAhead(deadline) {
  while (read < ROWS.length && deadline.timeRemaining() > 4) textOf(ROWS[read++]);
  if (read < ROWS.length) window.requestIdleCallback(readAhead);
}

function link(row) {
  const rows = places.get(row.key);
  const suite = rows.length > 1 ? `&suite=${encodeURIComponent(row.suite)}` : "";
  // Keys that differ only in blanks, or beyond what a row shows of them, look alike.
  const number = rows.some((other) => other !== row && other.suite === row.suite) ? `&n=${row.index}` : "";
  return `#case=${encodeURIComponent(row.key)}${suite}${number}`;
}

/** The address of the case of this suite and key. */
function linkTo(suite, key) {
  const rows = places.get(key) ?? [];
  const row = rows.find((other) => other.suite === suite) ?? rows[0];
  return row ? link(row) : null;
}

const cases = caseTable(link);
let shown = [];
let opened = null;
let scrolled = 0;

function filter() {
  shown = matching(textOf);
  at("count").textContent = shown.length === ROWS.length ? `${ROWS.length}` : `${shown.length} of ${ROWS.length}`;
  at("none").hidden = shown.length > 0;
  cases.show(shown);
}

/** Filters again, with the address of what is shown, and brings the first rows into sight. */
function filterAgain() {
  filter();
  history.replaceState(null, "", listAddress());
  if (at("cases").getBoundingClientRect().top < 0) toTheCases();
}

function toTheCases() {
  at("cases").scrollIntoView({ behavior: "instant" });
}

/** The case that the address names, null where it names none. */
function addressed() {
  if (!location.hash.startsWith("#case=")) return null;
  const wanted = new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));
  const rows = places.get(wanted.get("case")) ?? [];
  const ofSuite = rows.filter((row) => row.suite === wanted.get("suite"));
  return ofSuite.find((row) => String(row.index) === wanted.get("n")) ?? ofSuite[0] ?? rows[0] ?? null;
}

function follow() {
  const row = addressed();
  hint("");
  const isList = !row && chooseOnly(new URLSearchParams(location.hash.slice(1)));
  if (isList) filter();
  const fold = document.querySelector("details.fold:target");
  if (fold) fold.open = true;
  if (row) openCase(row);
  else if (opened) {
    closeCase();
    if (location.hash !== "#cases") document.querySelector(":target")?.scrollIntoView();
  } else if (isList) toTheCases();
}

function openCase(row) {
  if (!opened) scrolled = window.scrollY;
  opened = row;
  const list = shown.includes(row) ? shown : ROWS;
  const place = list.indexOf(row);
  const to = (other) => (other ? link(other) : null);
  drawCase(at("case-page"), row, bodyOf(row), { previous: to(list[place - 1]), next: to(list[place + 1]) });
  at("case-page").hidden = false;
  at("overview-page").hidden = true;
  window.scrollTo({ top: 0, behavior: "instant" });
  at("case-page").querySelector("h1").focus({ preventScroll: true });
}

function closeCase() {
  const row = opened;
  opened = null;
  at("case-page").hidden = true;
  at("overview-page").hidden = false;
  window.scrollTo({ top: scrolled, behavior: "instant" });
  cases.draw(true);
  if (shown.includes(row)) cases.activate(shown.indexOf(row));
}

function step(by) {
  if (!opened) return cases.move(by);
  const list = shown.includes(opened) ? shown : ROWS;
  const next = list[list.indexOf(opened) + by];
  if (next) location.hash = link(next);
}

// Whether any case has something to show in a column.
const SHOWN_IN = {
  category: (rows) => rows.some((row) => row.category),
  score: (rows) => !SEVERAL && rows.some((row) => row.scores),
  change: (rows) => rows.some((row) => row.change || row.marks),
  why: (rows) => rows.some((row) => row.why),
};

function nextRegression() {
  const regressed = ROWS.filter(lost);
  if (!regressed.length) return;
  const place = regressed.indexOf(opened);
  location.hash = link(regressed[(place + 1) % regressed.length]);
}

const KEYS = {
  "/": () => {
    if (opened) {
      history.pushState(null, "", listAddress());
      closeCase();
    }
    toTheCases();
    at("search").focus({ preventScroll: true });
  },
  j: () => step(1),
  k: () => step(-1),
  r: nextRegression,
  "?": () => at("help").showModal(),
  Escape: () => {
    if (opened) location.hash = listAddress();
  },
};

document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey || at("help").open) return;
  if (event.target.matches("input, select, textarea")) {
    if (event.key === "Escape") event.target.blur();
    return;
  }
  const action = KEYS[event.key];
  if (!action) return;
  event.preventDefault();
  action();
});

function start() {
  startTheme();
  startNotes();
  at("help-button").addEventListener("click", KEYS["?"]);
  drawSections(OVERVIEW);
  for (const column of ["category", "score", "change", "why"])
    at("table").classList.toggle(`no-${column}`, !SHOWN_IN[column](ROWS));
  drawTargetColumns();
  explainOnFocus();
  drawChips(filterAgain);
  drawCategories(OVERVIEW.categories, OVERVIEW.compared, (category) => {
    choose("category", category, filterAgain);
    toTheCases();
  });
  drawStrip(ROWS, (row) => {
    location.hash = link(row);
  });
  drawRegressions(ROWS);
  at("search").addEventListener("focus", () => window.requestIdleCallback?.(readAhead), { once: true });
  let waiting = 0;
  at("search").addEventListener("input", () => {
    clearTimeout(waiting);
    waiting = setTimeout(filterAgain, 80);
  });
  at("sort").addEventListener("change", filterAgain);
  at("reset").addEventListener("click", () => {
    chooseNothing();
    filterAgain();
    at("search").focus();
  });
  filter();
  window.addEventListener("hashchange", follow);
  follow();
}

start();
