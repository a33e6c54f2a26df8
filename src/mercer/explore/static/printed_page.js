// The static page of presets: answers are part of the page, pictures are drawn when it opens.

import { element } from "./elements.js";
import { drawPanel, PANEL_RATIOS, panelTable } from "./panels.js";
import { SvgPen } from "./pen.js";
import { drawPlane } from "./plane_view.js";
import { drawSpace, spaceLegend } from "./space_view.js";
import { setTheme } from "./colors.js";

const WIDTH = 420;

export function printPresets(presets) {
  setTheme("light"); // the same on paper, on a projector and on any screen
  for (const preset of presets) {
    const box = document.getElementById(`preset-${preset.name}`).querySelector(".pictures");
    box.append(...picturesOf(preset).map(([title, draw, ratio, caption]) => picture(title, draw, ratio, caption)));
    for (const panel of preset.answer.panels || []) {
      if (panel.kind === "table")
        box.append(element("figure", { class: "wide" }, element("figcaption", {}, panel.title), panelTable(panel)));
    }
  }
  document.body.dataset.state = "idle";
}

function picturesOf(preset) {
  const { answer, space } = preset;
  if (preset.topic !== "plane") {
    return answer.panels
      .filter((panel) => panel.kind !== "table")
      .map((panel) => [panel.title, (pen) => drawPanel(pen, panel), PANEL_RATIOS[panel.kind], panel.text || ""]);
  }
  const error =
    `Training error ${(100 * answer.train_error).toFixed(1)} %` +
    (answer.test_error === null ? "." : `, test error ${(100 * answer.test_error).toFixed(1)} %.`);
  const found = [
    [
      "Decision boundary",
      (pen) => drawPlane(pen, answer),
      1,
      `${error} ${answer.region ? `Where f > 0: ${answer.region.text}` : ""}`,
    ],
  ];
  if (space) found.push(["Lifted space", (pen) => drawSpace(pen, space), 0.86, spaceLegend(space)]);
  return found;
}

function picture(title, draw, ratio, caption) {
  const pen = new SvgPen(WIDTH, Math.round(WIDTH * ratio), title);
  draw(pen);
  const parsed = new DOMParser().parseFromString(pen.toString(), "image/svg+xml");
  return element(
    "figure",
    {},
    element("figcaption", {}, title),
    document.importNode(parsed.documentElement, true),
    element("p", {}, caption),
  );
}

printPresets(JSON.parse(document.getElementById("presets").textContent));
