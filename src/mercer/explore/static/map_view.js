// The map of errors over penalties and bandwidths.

import { formatNumber, makeScale } from "./axes.js";
import { paintPaper } from "./charts.js";
import { fieldColor, theme } from "./colors.js";

const MAP_MARGIN = { left: 62, right: 12, top: 10, bottom: 40 };

function mapFrame(width, height, map) {
  const w = (width - MAP_MARGIN.left - MAP_MARGIN.right) / map.bandwidths.length;
  const h = (height - MAP_MARGIN.top - MAP_MARGIN.bottom) / map.alphas.length;
  return { w, h, left: MAP_MARGIN.left, bottom: height - MAP_MARGIN.bottom };
}

// The row and column under a place of the picture, or null.
export function mapCell([width, height], map, x, y) {
  const { w, h, left, bottom } = mapFrame(width, height, map);
  const column = Math.floor((x - left) / w),
    row = Math.floor((bottom - y) / h);
  return column >= 0 && column < map.bandwidths.length && row >= 0 && row < map.alphas.length ? [row, column] : null;
}

// Errors as colors and numbers; penalties upwards, bandwidths to the right.
export function drawMap(pen, map, hasTest) {
  paintPaper(pen);
  const { ink, muted, accent, background } = theme();
  const { w, h, left, bottom } = mapFrame(pen.width, pen.height, map);
  const errors = hasTest ? map.test : map.train;
  errors.forEach((row, i) =>
    row.forEach((error, j) => {
      if (error === null) return;
      const strength = Math.min(1, error / 0.5);
      const color = fieldColor(-1, 0.08 + 0.85 * strength);
      pen.rect(left + j * w, bottom - (i + 1) * h, w - 1, h - 1, { fill: `rgb(${color.join(",")})` });
      if (w > 22)
        pen.text(left + (j + 0.5) * w, bottom - (i + 0.5) * h, String(Math.round(100 * error)), {
          size: 11,
          anchor: "middle",
          baseline: "middle",
          fill: ink,
        });
    }),
  );
  const [b, a] = [map.bandwidths, map.alphas];
  const x = makeScale(b[0], b[b.length - 1], left + w / 2, left + (b.length - 0.5) * w, true);
  const y = makeScale(a[0], a[a.length - 1], bottom - h / 2, bottom - (a.length - 0.5) * h, true);
  b.forEach((each, j) =>
    j % 2
      ? null
      : pen.text(left + (j + 0.5) * w, bottom + 14, formatNumber(each, 2), { size: 11, anchor: "middle", fill: muted }),
  );
  a.forEach((each, i) =>
    pen.text(left - 6, bottom - (i + 0.5) * h, formatNumber(each, 2), {
      size: 11,
      anchor: "end",
      baseline: "middle",
      fill: muted,
    }),
  );
  pen.text(left + (b.length * w) / 2, bottom + 31, "bandwidth σ", { size: 12, anchor: "middle", fill: ink });
  pen.text(12, bottom - (a.length * h) / 2, "penalty α", {
    size: 12,
    anchor: "middle",
    baseline: "middle",
    fill: ink,
    turn: -Math.PI / 2,
  });
  const px = Math.min(Math.max(x(map.bandwidth), left), left + b.length * w),
    py = Math.min(Math.max(y(map.alpha), bottom - a.length * h), bottom);
  pen.circle(px, py, 9, { stroke: background, width: 5 });
  pen.circle(px, py, 9, { stroke: accent, width: 2.5 });
}

// The index of the value closest on a logarithmic scale.
export function closest(values, value) {
  const far = values.map((each) => Math.abs(Math.log(each / value)));
  return far.indexOf(Math.min(...far));
}
