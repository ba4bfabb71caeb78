// The pictures, drawn as SVG with classes, so that theme and print style them.

const MANY = 9; // categories shown at once

/** One line a category: base dot → head dot on a common scale; a click filters the cases. */
function drawCategories(categories, compared, choose) {
  const rates = categories.flatMap((c) => [c.base, c.head]).filter((rate) => typeof rate === "number");
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
      el("span", { class: "rates" }, category.rates),
      el("span", { class: `change ${tone(category)}` }, category.change, category.change ? "" : category.cases),
    );
  });
  const list = el("ul", { class: compared ? "dumbbells" : "dumbbells alone" }, lines);
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
  const key = compared ? el("p", { class: "legend" }, sign("base"), "base", sign("head"), "this run") : null;
  at("categories").append(list, axis, more, ...(key ? [key] : []));
}

function tone({ base, head }) {
  if (base === null || head === null || base === head) return "";
  return head < base ? "loss" : "gain";
}

function dumbbell(category, x) {
  const { base, head } = category;
  const drawn = [svg("line", { class: "track", x1: "4%", x2: "96%", y1: 11, y2: 11 })];
  if (base !== null && head !== null)
    drawn.push(svg("line", { class: `way ${tone(category)}`, x1: x(base), x2: x(head), y1: 11, y2: 11 }));
  if (base !== null) drawn.push(svg("circle", { class: "base", cx: x(base), cy: 11, r: 5 }));
  if (head !== null) drawn.push(svg("circle", { class: `head ${tone(category)}`, cx: x(head), cy: 11, r: 5 }));
  return svg("svg", { class: "dumbbell", height: 22, role: "img", "aria-label": category.rates }, drawn);
}

function sign(kind) {
  return svg(
    "svg",
    { width: 14, height: 14, class: "dumbbell sign", "aria-hidden": "true" },
    svg("circle", { class: kind, cx: 7, cy: 7, r: 5 }),
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
  return row.change === "regressed" || row.change === "fails now";
}

/** Whether a case is another than on the base, not only a little better or worse. */
function turned(row) {
  return Boolean(row.change) && row.change !== "worse" && row.change !== "better";
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
  at("legend").append(el("li", {}, outline, `${changed} with another outcome or text than on the base`));
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
