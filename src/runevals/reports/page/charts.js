// The pictures, drawn as SVG with classes, so that theme and print style them.

const MANY = 9; // categories shown at once

/** One line a category: base dot → head dot on a common scale; a click filters the cases. */
function drawCategories(categories, compared, choose) {
  const rates = categories.flatMap((category) => category.rates).filter((rate) => typeof rate === "number");
  const low = rates.length && Math.min(...rates) >= 0.6 ? 0.5 : 0;
  const x = (rate) => `${(4 + (92 * (Math.min(Math.max(rate, low), 1) - low)) / (1 - low)).toFixed(2)}%`;
  const lines = categories.map((category, place) => {
    const name =
      category.filter === null
        ? el("span", { class: "name", title: category.name }, category.name)
        : el(
            "button",
            {
              type: "button",
              class: "name",
              title: `Show only ${category.name}`,
              click: () => choose(category.filter),
            },
            category.name,
          );
    return el(
      "li",
      { class: place ? "" : "all", hidden: place >= MANY },
      name,
      dumbbell(category, x),
      el("span", { class: "rates" }, category.told),
      el("span", { class: `change ${tone(category)}` }, category.change, category.change ? "" : category.cases),
    );
  });
  const list = el("ul", { class: compared || SEVERAL ? "dumbbells" : "dumbbells alone" }, lines);
  const more = el(
    "button",
    {
      type: "button",
      class: "plain",
      hidden: lines.length <= MANY,
      click: () => {
        for (const line of lines) line.hidden = false;
        more.hidden = true;
      },
    },
    `Show all ${lines.length - 1} categories`,
  );
  const axis = el(
    "div",
    { class: "axis", "aria-hidden": "true" },
    [low, (1 + low) / 2, 1].map((rate) => el("span", {}, `${100 * rate} %`)),
  );
  const named = SEVERAL ? SIDES : ["base", "this run"];
  const key =
    compared || SEVERAL
      ? el(
          "p",
          { class: "legend" },
          named.flatMap((name, i) => [sign(i), el("bdi", {}, name)]),
        )
      : null;
  at("categories").append(list, axis, more, ...(key ? [key] : []));
}

function tone({ rates: [base, head] }) {
  if (SEVERAL || base === null || head === null || base === head) return "";
  return head < base ? "loss" : "gain";
}

// The dot of a side: base and this run, or a target each; shapes tell them apart as well as colours.
const DOTS = [
  "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
  "M-4.6 -4.6h9.2v9.2h-9.2z",
  "M0 -6.4l6.4 6.4l-6.4 6.4l-6.4 -6.4z",
  "M0 -6l6 10.6h-12z",
];

function dot(side, kind = "") {
  const of = SEVERAL ? `target of-${side % 8}` : ["base", "head"][side];
  return svg("path", { class: `${of} ${kind}`, d: DOTS[SEVERAL ? side % DOTS.length : 0] });
}

/** Targets stand a little above and below each other, so that equal rates are all seen. */
function height(side) {
  return SEVERAL ? 11 + 6 * (side / Math.max(1, SIDES.length - 1) - 0.5) : 11;
}

function dumbbell(category, x) {
  const known = category.rates.filter((rate) => rate !== null);
  const drawn = [svg("line", { class: "track", x1: "4%", x2: "96%", y1: 11, y2: 11 })];
  if (known.length > 1) {
    const [from, to] = [Math.min(...known), Math.max(...known)].map(x);
    drawn.push(svg("line", { class: `way ${tone(category)}`, x1: from, x2: to, y1: 11, y2: 11 }));
  }
  category.rates.forEach((rate, side) => {
    if (rate !== null)
      drawn.push(
        svg("svg", { x: x(rate), y: height(side), overflow: "visible" }, dot(side, side ? tone(category) : "")),
      );
  });
  return svg("svg", { class: "dumbbell", height: 22, role: "img", "aria-label": category.told }, drawn);
}

function sign(side) {
  return svg(
    "svg",
    { width: 14, height: 14, viewBox: "-7 -7 14 14", class: "dumbbell sign", "aria-hidden": "true" },
    dot(side),
  );
}

// Each status has a shape as well as a colour; sizes are shares of a square.
const SHAPES = {
  passed: (x, y, s) => box(x + s * 0.14, y + s * 0.14, s * 0.72),
  failed: (x, y, s) => box(x, y, s),
  errored: (x, y, s) => `M${x + s / 2} ${y}l${s / 2} ${s / 2} ${-s / 2} ${s / 2} ${-s / 2} ${-s / 2}z`,
  skipped: (x, y, s) => box(x + s * 0.34, y + s * 0.34, s * 0.32),
  removed: (x, y, s) => `M${x} ${y + s * 0.4}h${s}v${s * 0.2}h${-s}z`,
};

function box(x, y, side) {
  return `M${x} ${y}h${side}v${side}h${-side}z`;
}

/** Whether a case passed on the base and fails now. */
function lost(row) {
  return row.change === "regressed" || row.change === "fails now" || row.change === "differs";
}

/** Whether a case is another than on the base, not only a little better or worse. */
function turned(row) {
  return Boolean(row.change) && !["worse", "better", "runs differ"].includes(row.change);
}

function cross(x, y, s) {
  const [a, b] = [s * 0.28, s * 0.44];
  return `M${x + a} ${y + a}l${b} ${b}m0 ${-b}l${-b} ${b}`;
}

/** Every case as a small mark; pointer, arrow keys and Enter name and open them. */
function drawStrip(rows, open) {
  const holder = at("strip");
  const picture = svg("svg", { "aria-hidden": "true" });
  const slider = el("div", {
    class: "strip",
    role: "slider",
    tabindex: 0,
    "aria-label": "Cases in suite order; Enter opens one",
    "aria-valuemin": 1,
    "aria-valuemax": rows.length,
  });
  slider.append(picture);
  holder.append(slider);
  let pitch = 16;
  let across = 1;
  let current = 0;

  function draw() {
    const width = holder.clientWidth || 300;
    pitch = Math.max(4, Math.min(18, Math.floor(Math.sqrt((width * 180) / Math.max(rows.length, 1)))));
    across = Math.max(1, Math.floor(width / pitch));
    const gap = pitch > 10 ? 3 : pitch > 5 ? 2 : 1;
    const side = pitch - gap;
    const paths = { passed: "", failed: "", errored: "", skipped: "", removed: "" };
    let crosses = "";
    let outlines = "";
    rows.forEach((row, i) => {
      const x = (i % across) * pitch + gap / 2;
      const y = Math.floor(i / across) * pitch + gap / 2;
      paths[row.status] += SHAPES[row.status](x, y, side);
      if (row.status === "failed" && side >= 7) crosses += cross(x, y, side);
      if (turned(row)) outlines += box(x - 0.5, y - 0.5, side + 1);
    });
    const height = Math.ceil(rows.length / across) * pitch;
    filled(picture, { width: across * pitch, height }, []);
    picture.replaceChildren(
      ...Object.entries(paths).map(([status, d]) => svg("path", { class: `is-${status}`, d })),
      svg("path", { class: "crosses", d: crosses }),
      svg("path", { class: "outlines", "stroke-width": side < 7 ? 0.8 : 1.5, d: outlines }),
      svg("path", { class: "current" }),
    );
    point(current, false);
  }

  function point(index, announce = true) {
    current = Math.max(0, Math.min(rows.length - 1, index));
    const row = rows[current];
    if (!row) return;
    const name = [row.key, row.name, row.status, row.change].filter(Boolean).join(" · ");
    slider.setAttribute("aria-valuenow", current + 1);
    slider.setAttribute("aria-valuetext", name);
    const [x, y] = [(current % across) * pitch, Math.floor(current / across) * pitch];
    picture.lastChild.setAttribute("d", box(x + 0.5, y + 0.5, pitch - 1));
    if (!announce) return;
    const place = picture.getBoundingClientRect();
    hint(name, place.left + x, place.top + y + pitch / 2);
  }

  function under(event) {
    const place = picture.getBoundingClientRect();
    const column = Math.floor((event.clientX - place.left) / pitch);
    const index = Math.floor((event.clientY - place.top) / pitch) * across + column;
    return column >= 0 && column < across && index >= 0 && index < rows.length ? index : null;
  }

  slider.addEventListener("pointermove", (event) => {
    const index = under(event);
    if (index === null) hint("");
    else point(index);
  });
  slider.addEventListener("pointerleave", () => hint(""));
  slider.addEventListener("blur", () => hint(""));
  slider.addEventListener("click", (event) => {
    const index = under(event);
    if (index !== null) open(rows[index]);
  });
  slider.addEventListener("keydown", (event) => {
    const steps = {
      ArrowLeft: -1,
      ArrowRight: 1,
      ArrowUp: -across,
      ArrowDown: across,
      Home: -current,
      End: rows.length,
    };
    if (event.key === "Enter" || event.key === " ") open(rows[current]);
    else if (event.key in steps) point(current + steps[event.key]);
    else return;
    event.preventDefault();
  });
  new ResizeObserver(draw).observe(holder);
  draw();
  drawLegend(rows);
}

function drawLegend(rows) {
  for (const status of Object.keys(SHAPES)) {
    const count = rows.filter((row) => row.status === status).length;
    if (!count) continue;
    const shape = svg(
      "svg",
      { width: 12, height: 12, class: "strip", "aria-hidden": "true" },
      svg("path", { class: `is-${status}`, d: SHAPES[status](0, 0, 12) }),
      status === "failed" ? svg("path", { class: "crosses", d: cross(0, 0, 12) }) : null,
    );
    at("legend").append(el("li", {}, shape, `${count} ${status}`));
  }
  const changed = rows.filter(turned).length;
  if (!changed) return;
  const outline = svg(
    "svg",
    { width: 12, height: 12, class: "strip", "aria-hidden": "true" },
    svg("path", { class: "outlines", "stroke-width": 1.5, d: box(1, 1, 10) }),
  );
  at("legend").append(
    el(
      "li",
      {},
      outline,
      SEVERAL
        ? `${changed} on which the targets differ`
        : `${changed} with another outcome or text than on the base`,
    ),
  );
}

const FEWEST = 10; // cases of which a distribution says something
const STEPS = [1, 1.5, 2, 2.5, 3, 3.5, 4, 4.5]; // where bars begin; 5 is in the last
const TIMES = [
  [0, "under 50 ms"],
  [0.05, "under 100 ms"],
  [0.1, "under 200 ms"],
  [0.2, "under 500 ms"],
  [0.5, "under 1 s"],
  [1, "under 2 s"],
  [2, "under 5 s"],
  [5, "under 10 s"],
  [10, "under 20 s"],
  [20, "under 1 min"],
  [60, "1 min or more"],
];
const DISTRIBUTIONS = [
  {
    title: "Scores of the cases, 1–5",
    edges: STEPS.map((low) => [low, `${low}–${low + 0.5}`]),
    figure: (row, side) => (row.scores?.[side] ? Number(row.scores[side]) : null),
  },
  { title: "Slowest answer of each case", edges: TIMES, figure: (row, side) => row.slowest?.[side] ?? null },
];

/** How scores and latencies are spread: of this run beside the base, or of each target. */
function distributions(rows) {
  if (rows.length < FEWEST) return [];
  // A results document keeps the base's changed cases only: half a distribution would mislead.
  const whole = rows.every((row) => row.runs[0] || row.change === "added");
  const charts = DISTRIBUTIONS.flatMap(({ title, edges, figure }) => {
    const of = (side) => counted(rows, edges, (row) => figure(row, side));
    if (SEVERAL) return SIDES.map((name, i) => distribution(`${title}: ${name}`, edges, of(i), null));
    return [distribution(title, edges, of(1), whole ? of(0) : null)];
  });
  return charts.filter(Boolean).map(histogram);
}

function counted(rows, edges, figure) {
  const counts = edges.map(() => 0);
  for (const value of rows.map(figure))
    if (value !== null)
      counts[
        Math.max(
          0,
          edges.findLastIndex(([low]) => low <= value),
        )
      ]++;
  return counts;
}

/** Null if the cases do not differ. */
function distribution(title, edges, head, base) {
  const bars = edges.map(([, label], i) => ({ label, head: head[i], base: base?.[i] ?? 0 }));
  const used = bars.map(({ head, base }) => head + base > 0);
  if (used.filter(Boolean).length < 2) return null;
  return { title, bars: bars.slice(used.indexOf(true), used.lastIndexOf(true) + 1), compared: base !== null };
}

/** A small histogram: the head's bars, the base's counts as lines across them. */
function histogram(chart) {
  const most = Math.max(...chart.bars.flatMap((bar) => [bar.head, bar.base]), 1);
  const wide = 100 / chart.bars.length;
  const height = (count) => (count ? Math.max(2, (70 * count) / most) : 0);
  const drawn = chart.bars.flatMap((bar, i) => {
    const summary = `${bar.label}: ${bar.head} cases${chart.compared ? `, base ${bar.base}` : ""}`;
    const x = (share) => `${(wide * (i + share)).toFixed(2)}%`;
    const inside = svg("rect", {
      class: "bar",
      x: x(0.12),
      width: `${wide * 0.76}%`,
      y: 72 - height(bar.head),
      height: height(bar.head),
    });
    const before = 72 - height(bar.base);
    const line = svg("line", { class: "before", x1: x(0.04), x2: x(0.96), y1: before, y2: before });
    const catcher = svg(
      "rect",
      { class: "catch", x: x(0), width: `${wide}%`, y: 0, height: 74 },
      svg("title", {}, summary),
    );
    return [inside, ...(bar.base ? [line] : []), catcher];
  });
  const summary = chart.bars.map((bar) => `${bar.label}: ${bar.head}`).join(", ");
  const first = chart.bars[0].label;
  const last = chart.bars[chart.bars.length - 1].label;
  return el(
    "figure",
    { class: "panel" },
    el("figcaption", {}, chart.title),
    svg("svg", { class: "histogram", height: 74, role: "img", "aria-label": `${chart.title}: ${summary}` }, drawn),
    el(
      "div",
      { class: "axis", "aria-hidden": "true" },
      el("span", {}, first),
      last === first ? null : el("span", {}, last),
    ),
  );
}
