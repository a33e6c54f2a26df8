// The plane: the field of scores, boundary and margins, points, landmarks.

import { formatNumber, makeScale } from "./axes.js";
import { classColor, theme } from "./colors.js";
import { contour, decodeFloats, fieldImage, scoreScale } from "./grids.js";
import { paintPaper } from "./charts.js";

const PLANE_MARGIN = { left: 34, right: 8, top: 8, bottom: 34 };

// The square inside a picture, and the maps between its coordinates and those of the data.
export function planeScales(width, height, limit) {
  const side = Math.min(
    width - PLANE_MARGIN.left - PLANE_MARGIN.right,
    height - PLANE_MARGIN.top - PLANE_MARGIN.bottom,
  );
  const left = PLANE_MARGIN.left + Math.max(0, (width - PLANE_MARGIN.left - PLANE_MARGIN.right - side) / 2);
  const top = PLANE_MARGIN.top;
  return {
    side,
    left,
    top,
    x: makeScale(-limit, limit, left, left + side),
    y: makeScale(-limit, limit, top + side, top),
  };
}

export function drawPlane(pen, answer, options = {}) {
  paintPaper(pen);
  const frame = planeScales(pen.width, pen.height, answer.limit);
  const { side, left, top } = frame;
  if (answer.grid) drawField(pen, answer, frame);
  pen.rect(left, top, side, side, { stroke: theme().line });
  drawTicks(pen, frame, options.names || ["x1", "x2"]);
  pen.clipped(left, top, side, side, () => {
    if (answer.grid) drawContours(pen, answer, frame);
    drawRegion(pen, answer.region, frame);
    for (const [x, y, label] of answer.test || []) drawPoint(pen, frame.x(x), frame.y(y), label, 2.6, { hollow: true });
    drawPoints(pen, answer, frame, options);
    (answer.landmarks || []).forEach(([x, y]) => drawAsterisk(pen, frame.x(x), frame.y(y)));
    if (options.cursor) drawCursor(pen, frame.x(options.cursor[0]), frame.y(options.cursor[1]));
  });
}

function drawField(pen, answer, { side, left, top }) {
  const grid = decodeFloats(answer.grid);
  const scale = scoreScale(grid, (answer.levels || []).length > 0);
  pen.image(fieldImage(grid, answer.size, scale), left, top, side, side, true);
}

function drawTicks(pen, { side, left, top, x, y }, names) {
  const { muted, ink } = theme();
  for (const tick of x.ticks)
    pen.text(x(tick), top + side + 14, formatNumber(tick), { size: 11, anchor: "middle", fill: muted });
  for (const tick of y.ticks)
    pen.text(left - 5, y(tick), formatNumber(tick), { size: 11, anchor: "end", baseline: "middle", fill: muted });
  pen.text(left + side / 2, top + side + 28, names[0], { size: 12, anchor: "middle", fill: ink });
  pen.text(left - 26, top + side / 2, names[1], {
    size: 12,
    anchor: "middle",
    baseline: "middle",
    fill: ink,
    turn: -Math.PI / 2,
  });
}

function drawContours(pen, answer, frame) {
  const { boundary, neighbor } = theme();
  const grid = decodeFloats(answer.grid);
  const cell = frame.side / (answer.size - 1);
  const place = ([a, b, c, d]) => [
    frame.left + a * cell,
    frame.top + frame.side - b * cell,
    frame.left + c * cell,
    frame.top + frame.side - d * cell,
  ];
  for (const level of answer.levels || []) {
    pen.segments(contour(grid, answer.size, level).map(place), { stroke: classColor(level), width: 1.6, dash: [5, 4] });
  }
  pen.segments(contour(grid, answer.size, 0).map(place), { stroke: boundary, width: 2.6 });
  if (answer.nearest) {
    const other = contour(decodeFloats(answer.nearest.grid), answer.size, 0).map(place);
    pen.segments(other, { stroke: neighbor, width: 2, dash: [2, 4] });
  }
}

function drawRegion(pen, region, { x, y }) {
  if (!region || !region.center) return;
  const { accent } = theme();
  const cx = x(region.center[0]),
    cy = y(region.center[1]);
  if (region.radius) pen.circle(cx, cy, x(region.radius) - x(0), { stroke: accent, width: 1.2, dash: [2, 3] });
  if (region.axes) {
    region.axes.forEach((length, i) => {
      const [u, v] = region.directions[i];
      const ends = [-1, 1].map((sign) => [
        x(region.center[0] + sign * length * u),
        y(region.center[1] + sign * length * v),
      ]);
      pen.path(ends, { stroke: accent, width: 1.2, dash: [2, 3] });
    });
  }
  pen.segments(
    [
      [cx - 5, cy, cx + 5, cy],
      [cx, cy - 5, cx, cy + 5],
    ],
    { stroke: accent, width: 1.5 },
  );
}

function drawPoints(pen, answer, frame, options) {
  const size = answer.points.length > 150 ? 3.4 : 4.4;
  const support = new Set((answer.support || []).length < answer.points.length ? answer.support : []);
  answer.points.forEach(([x, y, label], i) => {
    const a = frame.x(x),
      b = frame.y(y);
    drawPoint(pen, a, b, label, size, { wrong: answer.scores && answer.scores[i] * label <= 0 });
    if (support.has(i)) pen.circle(a, b, size + 3, { stroke: theme().ink, width: 1, opacity: 0.7 });
    if (i === options.selected || i === options.hover || (answer.active || []).includes(i)) {
      pen.circle(a, b, size + 6, { stroke: theme().accent, width: 2 });
    }
  });
}

// A circle for the class 1, a diamond for -1; a cross marks a point on the wrong side.
export function drawPoint(pen, x, y, label, size, { hollow = false, wrong = false } = {}) {
  const color = classColor(label);
  const style = hollow
    ? { stroke: color, width: 1.2, opacity: 0.8 }
    : { fill: color, stroke: theme().background, width: 1 };
  if (label > 0) pen.circle(x, y, size, style);
  else {
    const r = size * 1.25;
    pen.path(
      [
        [x, y - r],
        [x + r, y],
        [x, y + r],
        [x - r, y],
      ],
      { ...style, close: true },
    );
  }
  if (wrong) {
    const r = size * 0.5;
    pen.segments(
      [
        [x - r, y - r, x + r, y + r],
        [x - r, y + r, x + r, y - r],
      ],
      { stroke: theme().background, width: 1.6 },
    );
  }
}

function drawAsterisk(pen, x, y) {
  const { ink, background } = theme();
  const rays = [0, 1, 2].map((k) => [
    Math.cos((k * Math.PI) / 3 + Math.PI / 2),
    Math.sin((k * Math.PI) / 3 + Math.PI / 2),
  ]);
  const pieces = rays.map(([u, v]) => [x - 8 * u, y - 8 * v, x + 8 * u, y + 8 * v]);
  pen.segments(pieces, { stroke: background, width: 5 });
  pen.segments(pieces, { stroke: ink, width: 2.4 });
}

function drawCursor(pen, x, y) {
  const { accent } = theme();
  pen.segments(
    [
      [x - 12, y, x - 4, y],
      [x + 4, y, x + 12, y],
      [x, y - 12, x, y - 4],
      [x, y + 4, x, y + 12],
    ],
    { stroke: accent, width: 2 },
  );
}
