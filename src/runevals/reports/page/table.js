// The table of cases: only the rows in sight are in the page.

const SPARE = 20; // rows drawn above and below what is in sight

/** Keeps the table showing the rows of those given to `show` that the window is at. */
function caseTable(link) {
  const table = at("table");
  const body = at("rows");
  let rows = [];
  let drawn = "";
  let active = -1;

  function height() {
    return Number.parseFloat(getComputedStyle(table).getPropertyValue("--row")) || 44;
  }

  function draw(force) {
    if (!table.offsetParent) return;
    const row = height();
    const above = -body.getBoundingClientRect().top;
    const first = Math.max(0, Math.min(rows.length, Math.floor(above / row)) - SPARE);
    const last = Math.max(first, Math.min(rows.length, Math.ceil((above + window.innerHeight) / row) + SPARE));
    const wanted = `${first} ${last} ${row}`;
    if (!force && wanted === drawn) return;
    drawn = wanted;
    const focused = document.activeElement?.closest?.("#rows tr")?.dataset.place;
    body.replaceChildren(
      spacer(first * row),
      ...rows.slice(first, last).map((shown, i) => line(shown, first + i)),
      spacer((rows.length - last) * row),
    );
    if (focused !== undefined) body.querySelector(`tr[data-place="${focused}"] a`)?.focus({ preventScroll: true });
  }

  function spacer(pixels) {
    const cell = el("td");
    const row = el("tr", { class: "spacer", "aria-hidden": "true" }, cell);
    cell.style.height = `${pixels}px`;
    row.hidden = pixels <= 0;
    return row;
  }

  function line(row, place) {
    return el(
      "tr",
      {
        class: place === active ? "active" : "",
        "aria-rowindex": place + 2,
        "data-place": place,
        click: (event) => {
          if (!event.target.closest("a") && !String(window.getSelection())) location.hash = link(row);
        },
      },
      el("td", { class: "c-status" }, mark(row.status)),
      el(
        "td",
        { class: "c-case" },
        el("a", { href: link(row) }, el("bdi", {}, row.key)),
        el("bdi", { class: "name" }, row.name ?? ""),
      ),
      el("td", { class: "c-change" }, badges(row)),
      SEVERAL
        ? row.statuses.map((status, i) => targetCell(status, row, i))
        : el("td", { class: "c-runs" }, both(row.runs)),
      el("td", { class: "c-score" }, both(row.scores ?? [])),
      el("td", { class: "c-category" }, row.category ?? ""),
      el("td", { class: "c-why", title: row.why ?? "" }, el("bdi", {}, row.why ?? "")),
    );
  }

  function show(wanted) {
    rows = wanted;
    active = -1;
    table.setAttribute("aria-rowcount", rows.length + 1);
    table.hidden = !rows.length;
    draw(true);
  }

  /** Moves the active row and brings it into sight. */
  function move(step) {
    if (!rows.length) return;
    activate(active < 0 ? (step > 0 ? 0 : rows.length - 1) : active + step);
  }

  function activate(place) {
    active = Math.max(0, Math.min(rows.length - 1, place));
    const row = height();
    const top = body.getBoundingClientRect().top + active * row;
    const covered = table.tHead.getBoundingClientRect().bottom;
    const below = top + row - window.innerHeight;
    const by = below > 0 ? below : Math.min(0, top - covered);
    if (by) window.scrollBy({ top: by, behavior: "instant" });
    draw(true);
    body.querySelector("tr.active a")?.focus({ preventScroll: true });
  }

  let waiting = false;
  window.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw(false);
    });
  });
  window.addEventListener("resize", () => draw(false));
  new ResizeObserver(() => draw(false)).observe(table);
  return { show, move, activate, draw };
}

/** Before and now, if they differ. */
function both([before, now]) {
  return before && now && before !== now ? `${before} → ${now}` : (now ?? before ?? "–");
}

/** How often a target passed a case. */
function targetCell(status, row, i) {
  const shown = status ? [mark(status), el("span", { class: "count" }, row.runs[i])] : "–";
  return el("td", { class: "c-runs", title: row.scores?.[i] ? `score ${row.scores[i]} of 5` : null }, shown);
}

/** A column for each target in place of the runs of both sides. */
function drawTargetColumns() {
  if (!SEVERAL) return;
  at("table").classList.add("of-targets");
  const columns = SIDES.map((name) =>
    el("th", { scope: "col", class: "c-runs", title: name }, el("bdi", {}, name)),
  );
  at("table")
    .querySelector("th.c-runs")
    .replaceWith(...columns);
}

/** What became of a case, and what it is. */
function badges(row) {
  const shown = [row.change, ...(row.marks ?? []), notes.has(placeOf(row)) ? "noted" : null].filter(Boolean);
  return [...new Set(shown)].map((word) =>
    el("span", { class: `badge is-${word.replaceAll(" ", "-")}`, title: MEANINGS[word] }, word),
  );
}
