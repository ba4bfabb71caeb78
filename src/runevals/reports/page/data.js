// What the page is made of: the overview, a row for each case, and a line with the texts of each.

const OVERVIEW = JSON.parse(at("overview-data").textContent);
const ROWS = JSON.parse(at("row-data").textContent);
const BODY_LINES = at("body-data").textContent.split("\n"); // one case a line, after "["
const SIDES = OVERVIEW.sides; // base and this run, or the targets
const SEVERAL = OVERVIEW.targets !== null;

const places = new Map(); // key → rows of that key
ROWS.forEach((row, index) => {
  row.index = index;
  places.set(row.key, [...(places.get(row.key) ?? []), row]);
});

function bodyOf(row) {
  return JSON.parse(BODY_LINES[row.index + 1].replace(/,$/, ""));
}
