// Which cases are shown, and in what order.

const CHOSEN = { status: new Set(), change: new Set(), category: new Set(), tag: new Set(), check: new Set() };
const VALUES = {
  status: (row) => [row.status],
  change: (row) => [row.change, row.label, ...(row.marks ?? [])].filter(Boolean),
  category: (row) => (row.category ? [row.category] : []),
  tag: (row) => row.tags ?? [],
  check: (row) => row.checks ?? [],
};
const TITLES = { status: "Status", change: "Change", category: "Category", tag: "Tag", check: "Evaluator" };
const FEW = 4;
const ORDERS = {
  rank: (a, b) => a.rank - b.rank || a.index - b.index,
  order: (a, b) => a.index - b.index,
  key: (a, b) => a.key.localeCompare(b.key, "en", { numeric: true }) || a.index - b.index,
  slow: (a, b) => (b.slowest ?? -1) - (a.slowest ?? -1) || a.index - b.index,
};

/** The chips: status and change in the open, longer lists folded. */
function drawChips(rows, changed) {
  for (const name of Object.keys(VALUES)) {
    const counts = new Map();
    for (const row of rows) for (const value of VALUES[name](row)) counts.set(value, (counts.get(value) ?? 0) + 1);
    if (counts.size < (name === "change" ? 1 : 2)) continue;
    const chips = [...counts].map(([value, count]) => chip(name, value, count, changed));
    const group = el("div", { class: "chips", role: "group", "aria-label": TITLES[name] }, chips);
    const open = name === "status" || name === "change" || counts.size <= FEW;
    at("chips").append(
      open
        ? el(
            "div",
            { class: "filter" },
            el("span", { class: "title", "aria-hidden": "true" }, TITLES[name]),
            group,
          )
        : el(
            "details",
            { class: "filter" },
            el("summary", {}, TITLES[name], el("span", { class: "number", "data-of": name })),
            group,
          ),
    );
  }
}

function chip(name, value, count, changed) {
  return el(
    "button",
    {
      type: "button",
      class: `chip of-${name}`,
      "aria-pressed": "false",
      "data-name": name,
      "data-value": value,
      title: MEANINGS[value],
      click: () => choose(name, value, changed),
    },
    name === "status" ? mark(value).firstChild : null,
    el("span", {}, value),
    el("span", { class: "number" }, String(count)),
  );
}

/** Turns one value of a filter on or off. */
function choose(name, value, changed) {
  const chosen = CHOSEN[name];
  if (!chosen.delete(value)) chosen.add(value);
  showChosen();
  changed();
}

/** Nothing chosen, nothing searched. */
function chooseNothing() {
  for (const chosen of Object.values(CHOSEN)) chosen.clear();
  at("search").value = "";
  showChosen();
}

function showChosen() {
  for (const button of document.querySelectorAll(".chip"))
    button.setAttribute("aria-pressed", String(CHOSEN[button.dataset.name].has(button.dataset.value)));
  for (const number of document.querySelectorAll("summary .number")) {
    const { size } = CHOSEN[number.dataset.of];
    number.textContent = size ? String(size) : "";
  }
}

/** The rows that all filters and every word of the search leave, in the chosen order. */
function matching(rows, textOf) {
  const active = Object.entries(CHOSEN).filter(([, chosen]) => chosen.size);
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  return rows
    .filter(
      (row) =>
        active.every(([name, chosen]) => VALUES[name](row).some((value) => chosen.has(value))) &&
        (!words.length || words.every((word) => textOf(row).includes(word))),
    )
    .sort(ORDERS[at("sort").value]);
}
