// Charts that the server describes as data: lines, bars and matrices.

import { drawFrame, drawLegend, formatNumber, makeScale } from "./axes.js";
import { classColor, seriesColor, theme } from "./colors.js";
import { decodeBytes, matrixImage } from "./grids.js";
import { textWidth } from "./pen.js";

const MARGIN = { left: 58, right: 14, top: 8, bottom: 40 };

export function drawLines(pen, panel) {
  paintPaper(pen);
  const named = panel.series.filter((each) => each.name);
  const legend = named.length > 1 ? named.map((each) => ({ name: each.name, mark: lineMark(each) })) : [];
  const room = pen.width - MARGIN.left - MARGIN.right;
  const top = MARGIN.top + drawLegend(pen, legend, MARGIN.left, MARGIN.top, room) + (panel.marks.length ? 14 : 0);
  const box = { left: MARGIN.left, right: pen.width - MARGIN.right, top, bottom: pen.height - MARGIN.bottom };
  const [xs, ys] = ["x", "y"].map((axis) => extent(panel, axis));
  const x = makeScale(xs[0], xs[1], box.left, box.right, panel.x.log);
  const y = makeScale(ys[0], ys[1], box.bottom, box.top, panel.y.log);
  drawFrame(pen, box, x, y, { x: panel.x.label, y: panel.y.label });
  pen.clipped(box.left, box.top - 1, box.right - box.left, box.bottom - box.top + 2, () => {
    for (const each of panel.series) drawSeries(pen, each, x, y, panel);
  });
  drawMarks(pen, panel.marks, x, box);
}

function extent(panel, axis) {
  const { log, range } = panel[axis];
  if (range) return range;
  let values = panel.series.flatMap((each) => each[axis]).filter((value) => value !== null && (!log || value > 0));
  if (axis === "x") values = values.concat(panel.marks.map((mark) => mark.x).filter((value) => !log || value > 0));
  if (axis === "y" && panel.series.some((each) => each.style === "bars")) values.push(0);
  const low = Math.min(...values),
    high = Math.max(...values);
  if (!Number.isFinite(low)) return log ? [0.1, 1] : [0, 1];
  if (low === high) return log ? [low / 2, high * 2] : [low - 0.5, high + 0.5];
  const pad = axis === "y" || panel.series.some((each) => each.style === "points" || each.style === "bars") ? 0.04 : 0;
  if (log) return [low / (high / low) ** pad, high * (high / low) ** pad];
  const bars = panel.series.some((each) => each.style === "bars");
  return [axis === "y" && bars ? low : low - pad * (high - low), high + pad * (high - low)];
}

function drawSeries(pen, each, x, y, panel) {
  const color = seriesColor(each.color);
  const usable = each.x
    .map((value, i) => [value, each.y[i]])
    .filter(([a, b]) => a !== null && b !== null && (!panel.x.log || a > 0) && (!panel.y.log || b > 0));
  const places = usable.map(([a, b]) => [x(a), y(b)]);
  if (each.style === "points") {
    for (const [a, b] of places) pen.circle(a, b, places.length > 100 ? 2 : 3.2, { fill: color, opacity: 0.75 });
  } else if (each.style === "bars") {
    const width = places.length > 1 ? 0.86 * (places[1][0] - places[0][0]) : 20;
    for (const [a, b] of places) pen.rect(a - width / 2, b, width, y(0) - b, { fill: color, opacity: 0.8 });
  } else if (each.style === "steps") {
    const corners = places.flatMap(([a, b], i) =>
      i
        ? [
            [a, places[i - 1][1]],
            [a, b],
          ]
        : [[a, b]],
    );
    pen.path(corners, { stroke: color, width: 2 });
  } else {
    const dash = each.style === "dash" ? [6, 5] : [];
    pen.path(places, {
      stroke: color,
      dash,
      width: each.style === "thin" ? 1 : 2.2,
      opacity: each.style === "thin" ? 0.65 : 1,
    });
  }
}

function lineMark(each) {
  const color = seriesColor(each.color);
  return (pen, x, y) => {
    if (each.style === "points") pen.circle(x, y, 3.5, { fill: color });
    else if (each.style === "bars") pen.rect(x - 5, y - 5, 10, 10, { fill: color, opacity: 0.8 });
    else
      pen.segments([[x - 9, y, x + 9, y]], {
        stroke: color,
        width: each.style === "thin" ? 1 : 2.2,
        dash: each.style === "dash" ? [6, 4] : [],
      });
  };
}

function drawMarks(pen, marks, x, box) {
  const { accent } = theme();
  let last = -Infinity;
  for (const mark of [...marks].sort((a, b) => a.x - b.x)) {
    const at = x(mark.x);
    if (!(at >= box.left - 1 && at <= box.right + 1)) continue;
    pen.segments([[at, box.top, at, box.bottom]], { stroke: accent, width: 1.5, dash: [3, 3] });
    const half = textWidth(mark.label, 11) / 2;
    const label = Math.min(Math.max(at, box.left + half), box.right - half);
    if (label - half > last + 4) {
      pen.text(label, box.top - 4, mark.label, { size: 11, anchor: "middle", fill: accent });
      last = label + half;
    }
  }
}

export function drawBars(pen, panel) {
  paintPaper(pen);
  const { ink, muted, grid, line, accent } = theme();
  const legend = panel.series.length > 1 ? panel.series.map((each, i) => ({ name: each.name, mark: boxMark(i) })) : [];
  const top = MARGIN.top + drawLegend(pen, legend, MARGIN.left, MARGIN.top, pen.width - MARGIN.left - MARGIN.right);
  const n = panel.names.length;
  const longest = Math.max(...panel.names.map((name) => textWidth(name, 11)), 1);
  const slot = (pen.width - MARGIN.left - MARGIN.right) / Math.max(n, 1);
  const turned = longest > slot - 4;
  const every = turned ? Math.max(1, Math.ceil(13 / slot)) : 1;
  const bottom = pen.height - (turned ? Math.min(longest, 96) + 14 : 24);
  const values = panel.series.flatMap((each) => each.values).filter((value) => value !== null);
  let low = Math.min(0, ...values),
    high = Math.max(0, ...values);
  if (low === high) high = 1;
  const y = makeScale(low - (low < 0 ? 0.05 * (high - low) : 0), high + 0.05 * (high - low), bottom, top);
  for (const tick of y.ticks) {
    pen.segments([[MARGIN.left, y(tick), pen.width - MARGIN.right, y(tick)]], { stroke: grid });
    pen.text(MARGIN.left - 6, y(tick), formatNumber(tick), {
      size: 11,
      anchor: "end",
      baseline: "middle",
      fill: muted,
    });
  }
  pen.text(13, (top + bottom) / 2, panel.y.label || "", {
    size: 12,
    anchor: "middle",
    baseline: "middle",
    fill: ink,
    turn: -Math.PI / 2,
  });
  const width = Math.min((0.8 * slot) / panel.series.length, 46);
  panel.names.forEach((name, i) => {
    const middle = MARGIN.left + (i + 0.5) * slot;
    panel.series.forEach((each, k) => {
      const value = each.values[i] ?? 0;
      const left = middle + (k - panel.series.length / 2) * width;
      const color = panel.series.length > 1 || !panel.signed ? seriesColor(k) : classColor(value);
      pen.rect(left + 0.5, Math.min(y(value), y(0)), Math.max(width - 1, 1), Math.max(Math.abs(y(value) - y(0)), 0.5), {
        fill: color,
        opacity: 0.85,
      });
    });
    if (panel.highlight && panel.highlight.includes(i)) {
      pen.rect(middle - slot / 2 + 1, top, slot - 2, bottom - top, { stroke: accent, width: 1.5 });
    }
    if (i % every) return;
    const at = bottom + 8;
    if (turned)
      pen.text(middle, at, shorten(name, 96), {
        size: 11,
        anchor: "end",
        baseline: "middle",
        fill: ink,
        turn: -Math.PI / 2,
      });
    else pen.text(middle, at + 6, name, { size: 11, anchor: "middle", baseline: "middle", fill: ink });
  });
  pen.segments([[MARGIN.left, y(0), pen.width - MARGIN.right, y(0)]], { stroke: line, width: 1.5 });
}

function shorten(name, room) {
  let text = name;
  while (text.length > 2 && textWidth(text, 11) > room) text = text.slice(0, -2);
  return text === name ? name : `${text}…`;
}

function boxMark(index) {
  return (pen, x, y) => pen.rect(x - 5, y - 5, 10, 10, { fill: seriesColor(index), opacity: 0.85 });
}

// A square matrix with strips of the classes on two sides; `hover` is a row.
export function drawMatrix(pen, panel, hover = -1) {
  paintPaper(pen);
  const { ink, muted, line, accent } = theme();
  const side = Math.min(pen.width - 92, pen.height - 26);
  const left = Math.max(14, (pen.width - 72 - side) / 2),
    top = 18;
  const image = matrixImage(decodeBytes(panel.matrix), panel.size);
  pen.image(image, left, top, side, side, false);
  pen.rect(left, top, side, side, { stroke: line });
  const cell = side / panel.size;
  panel.labels.forEach((label, i) => {
    pen.rect(left + i * cell, top - 8, cell + 0.4, 5, { fill: classColor(label) });
    pen.rect(left - 8, top + i * cell, 5, cell + 0.4, { fill: classColor(label) });
  });
  if (hover >= 0) {
    const at = (hover + 0.5) * cell;
    pen.segments(
      [
        [left, top + at, left + side, top + at],
        [left + at, top, left + at, top + side],
      ],
      { stroke: accent, width: 1.5 },
    );
  }
  drawColorBar(pen, left + side + 16, top, side, panel.scale, { ink, muted, line });
}

function drawColorBar(pen, left, top, height, scale, { muted, line }) {
  const bytes = new Uint8Array(64 * 64).map((_, i) => Math.round(255 * (1 - Math.floor(i / 64) / 63)));
  pen.image(matrixImage(bytes, 64), left, top, 10, height, true);
  pen.rect(left, top, 10, height, { stroke: line });
  [1, 0, -1].forEach((t) => {
    pen.text(left + 15, top + ((1 - t) / 2) * height, formatNumber(t * scale), {
      size: 11,
      baseline: "middle",
      fill: muted,
    });
  });
}

export function paintPaper(pen) {
  pen.rect(0, 0, pen.width, pen.height, { fill: theme().background });
}
