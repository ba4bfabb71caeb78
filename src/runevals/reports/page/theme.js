// Light or dark: the reader's choice, remembered where it may be.

const THEMES = { auto: "Auto", light: "Light", dark: "Dark" };

function theme(name) {
  document.documentElement.dataset.theme = name;
  at("theme").textContent = `◐ ${THEMES[name]}`;
  at("theme").setAttribute("aria-label", `Theme: ${THEMES[name]}`);
  store("runevals-theme", name);
}

/** Follows what was chosen before, and lets the button change it. */
function startTheme() {
  const chosen = stored("runevals-theme");
  theme(chosen in THEMES ? chosen : "auto");
  at("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    theme(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length]);
  });
}
