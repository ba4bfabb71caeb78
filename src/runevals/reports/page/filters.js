// Which cases are shown, and in what order; the address has it, so that a link shows the same.

const GROUPS = new Map(); // name in the address → its title, the values of each row, those chosen, their numbers
const FEW = 4;

function group(name, title, valuesOf, open = false) {
  GROUPS.set(name, { name, title, open, of: ROWS.map(valuesOf), chosen: new Set(), numbers: new Map() });
}

if (SEVERAL)
  for (const [i, side] of SIDES.entries())
    group(`status.${side}`, side, (row) => [row.statuses[i]].filter(Boolean), true);
else group("status", "Status", (row) => [row.status], true);
group("change", "Change", (row) => [...new Set([row.change, ...(row.marks ?? [])])].filter(Boolean), true);
group("category", "Category", (row) => (row.category ? [row.category] : []));
group("tag", "Tag", (row) => row.tags ?? []);
group("check", "Evaluator", (row) => row.checks ?? []);

const NAMES = new Intl.Collator("en", { numeric: true });
const ORDERS = {
  rank: (a, b) => a.rank - b.rank || a.index - b.index,
  order: (a, b) => a.index - b.index,
  key: (a, b) => NAMES.compare(a.key, b.key) || a.index - b.index,
  slow: (a, b) => slowest(b) - slowest(a) || a.index - b.index,
};

/** Of this run; of several targets, of the slowest of them. */
function slowest({ slowest: known }) {
  return Math.max(-1, ...(SEVERAL ? known : known.slice(-1)).map((value) => value ?? -1));
}

const ordered = new Map(); // name of the order → all rows in it

function inOrder(name) {
  if (!ordered.has(name)) ordered.set(name, [...ROWS].sort(ORDERS[name]));
  return ordered.get(name);
}

/** The chips: status and change in the open, longer lists folded. */
function drawChips(changed) {
  for (const { name, title, open, of, numbers } of GROUPS.values()) {
    const values = new Set(of.flat());
    if (values.size < (name === "change" ? 1 : 2)) continue;
    const chips = [...values].map((value) => {
      numbers.set(value, el("span", { class: "number" }));
      return chip(name, value, numbers.get(value), changed);
    });
    const list = el("div", { class: "chips", role: "group", "aria-label": title }, chips);
    const many = el("span", { class: "number", "data-of": name });
    at("chips").append(
      open || values.size <= FEW
        ? el("div", { class: "filter" }, el("span", { class: "title", "aria-hidden": "true" }, title), list)
        : el("details", { class: "filter" }, el("summary", {}, title, many), list),
    );
  }
}

function chip(name, value, number, changed) {
  return el(
    "button",
    {
      type: "button",
      class: `chip of-${name.split(".")[0]}`,
      "aria-pressed": "false",
      "data-name": name,
      "data-value": value,
      title: MEANINGS[value],
      click: () => choose(name, value, changed),
    },
    name.startsWith("status") ? mark(value).firstChild : null,
    el("span", {}, value),
    number,
  );
}

/** Turns one value of a filter on or off. */
function choose(name, value, changed) {
  const { chosen } = GROUPS.get(name);
  if (!chosen.delete(value)) chosen.add(value);
  showChosen();
  changed();
}

/** Chooses what these words of an address say and nothing else; whether they say anything. */
function chooseOnly(words) {
  if (![...words.keys()].some((name) => GROUPS.has(name) || name === "search" || name === "sort")) return false;
  for (const { name, chosen } of GROUPS.values()) {
    chosen.clear();
    for (const value of words.getAll(name)) chosen.add(value);
  }
  at("search").value = words.get("search") ?? "";
  at("sort").value = words.get("sort") in ORDERS ? words.get("sort") : "rank";
  showChosen();
  return true;
}

/** Nothing chosen, nothing searched; the order stays. */
function chooseNothing() {
  chooseOnly(new URLSearchParams({ sort: at("sort").value }));
}

/** The address of the list as it is shown. */
function listAddress() {
  const words = new URLSearchParams();
  for (const { name, chosen } of GROUPS.values()) for (const value of chosen) words.append(name, value);
  if (at("search").value.trim()) words.set("search", at("search").value.trim());
  if (at("sort").value !== "rank") words.set("sort", at("sort").value);
  return words.size ? `#${words}` : "#cases";
}

function showChosen() {
  for (const button of document.querySelectorAll(".chip"))
    button.setAttribute("aria-pressed", String(GROUPS.get(button.dataset.name).chosen.has(button.dataset.value)));
  for (const number of document.querySelectorAll("summary [data-of]"))
    number.textContent = GROUPS.get(number.dataset.of).chosen.size || "";
}

/** The rows that all filters and every word of the search leave; each chip tells how many it would leave. */
function matching(textOf) {
  const groups = [...GROUPS.values()];
  const active = groups.filter(({ chosen }) => chosen.size);
  const words = at("search").value.toLowerCase().split(/\s+/).filter(Boolean);
  const counts = new Map(groups.map(({ name }) => [name, new Map()]));
  const left = [];
  for (const row of inOrder(at("sort").value)) {
    if (!words.every((word) => textOf(row).includes(word))) continue;
    const against = active.filter(({ of, chosen }) => !of[row.index].some((value) => chosen.has(value)));
    if (against.length > 1) continue;
    if (!against.length) left.push(row);
    for (const { name, of } of against.length ? against : groups)
      for (const value of of[row.index]) counts.get(name).set(value, (counts.get(name).get(value) ?? 0) + 1);
  }
  for (const { name, numbers } of groups)
    for (const [value, shown] of numbers) shown.textContent = counts.get(name).get(value) ?? 0;
  return left;
}
