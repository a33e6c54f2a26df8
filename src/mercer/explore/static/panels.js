// Panels that the server describes as data.

import { drawBars, drawLines, drawMatrix } from "./charts.js";
import { element } from "./elements.js";
import { drawPlane } from "./plane_view.js";

// Heights over widths.
export const PANEL_RATIOS = { lines: 0.72, bars: 0.62, matrix: 0.85, plane: 1.0 };

export function drawPanel(pen, panel) {
  if (panel.kind === "lines") drawLines(pen, panel);
  else if (panel.kind === "bars") drawBars(pen, panel);
  else if (panel.kind === "matrix") drawMatrix(pen, panel);
  else drawPlane(pen, panel);
}

export function panelTable(panel) {
  const head = element("tr", {}, ...panel.columns.map((name) => element("th", { scope: "col" }, name)));
  const rows = panel.rows.map((row) => element("tr", {}, ...row.map((cell) => element("td", {}, String(cell)))));
  return element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows));
}
