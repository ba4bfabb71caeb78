// Past runs: a line for pass rate and score of each suite and target, and a table of the runs.

const GROUPS = JSON.parse(at("group-data").textContent);
const HIGH = 120; // of a trend, in pixels
const EDGE = 10;
const MOST_LINKS = 6; // in the bar

/** The scale of a trend: from half way up where nothing falls below 60 %. */
function scaleOf({ scale, points }) {
  const [low, high] = scale;
  const known = points.map((point) => point.value).filter((value) => value !== null);
  const narrow = high === 1 && known.every((value) => value >= 0.6);
  return narrow ? [0.5, 1] : [low, high];
}

function trend({ name, axis, points, scale }) {
  const [low, high] = scaleOf({ scale, points });
  const x = (place) => `${points.length > 1 ? 2 + (96 * place) / (points.length - 1) : 50}%`;
  const y = (value) =>
    HIGH - EDGE - ((HIGH - 2 * EDGE) * (Math.min(Math.max(value, low), high) - low)) / (high - low);
  const levels = [low, (low + high) / 2, high];
  const drawn = levels.map((level) =>
    svg("line", { class: "level", x1: 0, x2: "100%", y1: y(level), y2: y(level) }),
  );
  points.forEach((point, place) => {
    const before = points[place - 1];
    if (point.value !== null && before && before.value !== null)
      drawn.push(
        svg("line", { class: "way", x1: x(place - 1), x2: x(place), y1: y(before.value), y2: y(point.value) }),
      );
  });
  points.forEach((point, place) => {
    if (point.value !== null) drawn.push(dot(point, x(place), y(point.value)));
  });
  const label = points.map((point) => point.text).join(", ");
  return el(
    "figure",
    { class: "trend" },
    el("figcaption", {}, name),
    el(
      "div",
      { class: "levels", "aria-hidden": "true" },
      levels.map((level) => el("span", {}, axis === "%" ? `${100 * level} %` : `${level}`)).reverse(),
    ),
    svg("svg", { height: HIGH, role: "img", "aria-label": `${name}, the oldest run first: ${label}` }, drawn),
    el(
      "div",
      { class: "ends", "aria-hidden": "true" },
      el("span", {}, points[0].day),
      points.length > 1 ? el("span", {}, points.at(-1).day) : null,
    ),
  );
}

// What came of a run has a shape as well as a colour.
const DOTS = {
  passed: "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0z",
  failed: "M-5,-5h10v10h-10z",
  unmeasured: "M0,-6.5L6.5,0L0,6.5L-6.5,0z",
  skipped: "M-5,-2h10v4h-10z",
};

function dot(point, x, y) {
  const say = (event) => hint(`${point.moment}: ${point.text}, ${point.verdict}`, event.clientX, event.clientY);
  return svg(
    "svg",
    { x, y, overflow: "visible", class: "dot", pointerenter: say, pointerleave: () => hint("") },
    svg("path", { class: `is-${point.outcome}`, d: DOTS[point.outcome] }),
  );
}

const COLUMNS = ["Run", "Commit", "Verdict", "Cases", "Pass rate", "Score", "Cost", "Took", "Report"];

function runTable(name, runs) {
  const row = (run) => [
    run.moment,
    run.commit ? el("code", { title: run.ref || false }, run.commit) : "–",
    el("span", { class: "verdict" }, mark(run.outcome), run.headline),
    run.cases,
    run.passRate,
    run.score,
    run.cost,
    run.took,
    run.link ? el("a", { href: run.link }, run.file) : el("span", { class: "muted" }, run.file),
  ];
  const count = runs.length === 1 ? "1 run" : `${runs.length} runs, the newest first`;
  return table({ title: `${name}: ${count}`, columns: COLUMNS, rows: runs.map(row).reverse() });
}

function start() {
  startTheme();
  GROUPS.forEach((group, place) => {
    const id = `suites-${place + 1}`;
    if (GROUPS.length > 1 && GROUPS.length <= MOST_LINKS)
      at("sections").append(el("a", { href: `#${id}`, title: group.name }, group.name));
    at("history").append(
      el(
        "section",
        { id, class: "past", "aria-labelledby": `${id}-title` },
        el("h2", { id: `${id}-title` }, group.title),
        el("p", { class: "note" }, group.target),
        el("div", { class: "trends" }, group.trends.map(trend)),
        runTable(group.name, group.runs),
      ),
    );
  });
}

start();
