// Light or dark: the reader's choice, remembered where it may be.

const THEMES = { auto: "Auto", light: "Light", dark: "Dark" };

function theme(name) {
  document.documentElement.dataset.theme = name;
  at("theme").textContent = `◐ ${THEMES[name]}`;
  at("theme").setAttribute("aria-label", `Theme: ${THEMES[name]}`);
  try {
    localStorage.setItem("runevals-theme", name);
  } catch {
    // A page from a file may not be allowed to remember.
  }
}

function remembered() {
  try {
    return localStorage.getItem("runevals-theme");
  } catch {
    return null;
  }
}

/** Follows what was chosen before, and lets the button change it. */
function startTheme() {
  theme(remembered() in THEMES ? remembered() : "auto");
  at("theme").addEventListener("click", () => {
    const names = Object.keys(THEMES);
    theme(names[(names.indexOf(document.documentElement.dataset.theme) + 1) % names.length]);
  });
}
