// Light and dark, and the colours of charts: those of the printed figures, lighter where the page is dark.

// Okabe and Ito, "Color universal design" (2008).
const LIGHT = {
  blue: "#0072b2", orange: "#e69f00", green: "#009e73", purple: "#cc79a7", vermilion: "#d55e00", sky: "#56b4e9", black: "#000000",
  paper: "#ffffff", ink: "#222222", faint: "#666666", grid: "#dddddd", closed: "rgba(242, 184, 160, 0.55)", handover: "#8a5a00", area: "#d9e3ea", edge: "#7d909c",
};
const DARK = {
  blue: "#3d9fe0", orange: "#f0b429", green: "#22c393", purple: "#de96c0", vermilion: "#f0802f", sky: "#8fd0f7", black: "#f2f2f2",
  paper: "#171b1f", ink: "#e6e6e6", faint: "#a5adb5", grid: "#343b42", closed: "rgba(190, 98, 62, 0.45)", handover: "#d9a84e", area: "#27323b", edge: "#75899a",
};

// For series without an order: neighbours differ in lightness too, for print in grey.
export const CATEGORIES = ["blue", "orange", "green", "purple", "vermilion", "sky", "black"];
// Of the flows of a run over time.
export const FLOWS = ["green", "purple", "blue", "orange", "black"];
// Of lines that share a colour.
export const DASHES = [[], [8, 4], [2, 3], [8, 3, 2, 3], [14, 4]];

const listeners = new Set();
const dark = matchMedia("(prefers-color-scheme: dark)");

/** Whether the page is dark. */
export function isDark() {
  const chosen = document.documentElement.dataset.theme;
  return chosen ? chosen === "dark" : dark.matches;
}

/** A colour by its name, as the theme has it. */
export function colour(name) {
  return (isDark() ? DARK : LIGHT)[name] ?? name;
}

/** Calls a function whenever the theme changes. */
export function onTheme(listener) {
  listeners.add(listener);
}

/** Changes between light and dark. */
export function toggle() {
  document.documentElement.dataset.theme = isDark() ? "light" : "dark";
  told();
}

function told() {
  for (const listener of listeners) listener();
}

dark.addEventListener("change", told);
