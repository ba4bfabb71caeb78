// The table of cases: only the rows in sight are in the page.

const SPARE = 10; // rows drawn above and below what is in sight

/** Keeps the table showing a window of the rows given to `show`. */
function caseTable(link) {
  const scroller = at("scroller");
  const body = at("rows");
  let rows = [];
  let drawn = "";
  let active = -1;

  function height() {
    return Number.parseFloat(getComputedStyle(scroller).getPropertyValue("--row")) || 44;
  }

  function draw(force) {
    const row = height();
    const first = Math.max(0, Math.floor(scroller.scrollTop / row) - SPARE);
    const last = Math.min(rows.length, Math.ceil((scroller.scrollTop + scroller.clientHeight) / row) + SPARE);
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
    const runs = row.was && row.runs && row.was !== row.runs ? `${row.was} → ${row.runs}` : (row.runs ?? row.was);
    const scores =
      row.scored && row.score && row.scored !== row.score ? `${row.scored} → ${row.score}` : (row.score ?? "–");
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
      el("td", { class: "c-runs" }, runs ?? "–"),
      el("td", { class: "c-score" }, scores),
      el("td", { class: "c-category" }, row.category ?? ""),
      el("td", { class: "c-why", title: row.why ?? "" }, el("bdi", {}, row.why ?? "")),
    );
  }

  function show(wanted) {
    rows = wanted;
    active = -1;
    at("table").setAttribute("aria-rowcount", rows.length + 1);
    scroller.hidden = !rows.length;
    scroller.scrollTop = 0;
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
    const head = scroller.querySelector("thead").offsetHeight;
    const top = active * row;
    if (top < scroller.scrollTop) scroller.scrollTop = top;
    if (top + row + head > scroller.scrollTop + scroller.clientHeight)
      scroller.scrollTop = top + row + head - scroller.clientHeight;
    draw(true);
    body.querySelector("tr.active a")?.focus({ preventScroll: true });
    scroller.scrollIntoView({ block: "nearest" });
  }

  let waiting = false;
  scroller.addEventListener("scroll", () => {
    if (waiting) return;
    waiting = true;
    requestAnimationFrame(() => {
      waiting = false;
      draw(false);
    });
  });
  new ResizeObserver(() => draw(false)).observe(scroller);
  return { show, move, activate, draw };
}

/** What became of a case, and what it is. */
function badges(row) {
  const shown = [row.change, row.label, ...(row.marks ?? [])].filter(Boolean);
  return [...new Set(shown)].map((word) => el("span", { class: `badge is-${word}` }, word));
}
