// Colors of both themes. Classes differ in hue, lightness and shape, so that nobody has to tell red from green.

const THEMES = {
  light: {
    background: "#ffffff",
    ink: "#1b1f24",
    muted: "#5b6470",
    line: "#d5dae0",
    grid: "#e9ecef",
    classes: { 1: "#0b62a4", "-1": "#c2570c" },
    fields: { 1: [11, 98, 164], "-1": [214, 106, 22] },
    paper: [255, 255, 255],
    accent: "#6f3fb0",
    boundary: "#11151a",
    neighbor: "#6f3fb0",
    series: [
      "#0b62a4",
      "#c2570c",
      "#00785a",
      "#8a3d8f",
      "#8a6d00",
      "#3f6fb5",
      "#a3324b",
      "#4d7a1f",
      "#5a5f66",
      "#00748f",
    ],
  },
  dark: {
    background: "#15191e",
    ink: "#e8ebef",
    muted: "#9aa4b0",
    line: "#39424d",
    grid: "#262d35",
    classes: { 1: "#69b7f0", "-1": "#f7a35c" },
    fields: { 1: [60, 140, 205], "-1": [214, 122, 44] },
    paper: [21, 25, 30],
    accent: "#c39bf0",
    boundary: "#ffffff",
    neighbor: "#d3b3ff",
    series: [
      "#69b7f0",
      "#f7a35c",
      "#5fcfa8",
      "#d99be0",
      "#e0c65a",
      "#9ab8f5",
      "#f08ba2",
      "#a9d66a",
      "#b4bac2",
      "#5cc6dd",
    ],
  },
};

let chosen = null; // "light" or "dark"; null follows the system

export function setTheme(name) {
  chosen = name;
}

export function themeName() {
  if (chosen) return chosen;
  return window.matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light";
}

export function theme() {
  return THEMES[themeName()];
}

export function classColor(label) {
  return theme().classes[label > 0 ? "1" : "-1"];
}

export function seriesColor(index) {
  const colors = theme().series;
  return colors[index % colors.length];
}

// The color of a value in [-1, 1]: from one class over the paper to the other.
export function fieldColor(value, strength = 1) {
  const { fields, paper } = theme();
  const end = fields[value > 0 ? "1" : "-1"];
  const t = Math.min(1, Math.abs(value)) * strength;
  return paper.map((each, i) => Math.round(each + (end[i] - each) * t));
}
