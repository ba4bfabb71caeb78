// What a reader notes on cases: kept in the browser for this run, and exported as JSON.

const NOTES_OF = `runevals-notes ${OVERVIEW.run_id}`;
const notes = new Map(Object.entries(JSON.parse(stored(NOTES_OF) ?? "{}")));

function placeOf(row) {
  return JSON.stringify([row.suite, row.key]);
}

/** The box for the note on a case. */
function noteBox(row) {
  const box = el("textarea", { rows: 2, placeholder: "Kept in this browser", "aria-label": "Your note" });
  box.value = notes.get(placeOf(row)) ?? "";
  box.addEventListener("input", () => {
    if (box.value.trim()) notes.set(placeOf(row), box.value);
    else notes.delete(placeOf(row));
    store(NOTES_OF, JSON.stringify(Object.fromEntries(notes)));
    showExport();
  });
  return el("label", { class: "own-note" }, el("span", { class: "muted" }, "Your note"), box);
}

function showExport() {
  at("export").hidden = !notes.size;
  at("export").textContent = `Export ${notes.size} ${notes.size === 1 ? "note" : "notes"}`;
}

function exportNotes() {
  const listed = [...notes].map(([place, note]) => {
    const [suite, key] = JSON.parse(place);
    return { suite, case: key, note };
  });
  const text = JSON.stringify({ run: OVERVIEW.run_id, notes: listed }, null, 1);
  const address = URL.createObjectURL(new Blob([text], { type: "application/json" }));
  el("a", { href: address, download: "notes.json" }).click();
  setTimeout(() => URL.revokeObjectURL(address), 1000);
}

function startNotes() {
  at("export").addEventListener("click", exportNotes);
  showExport();
}
