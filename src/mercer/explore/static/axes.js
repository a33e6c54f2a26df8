// Scales with ticks, and the frame of a chart.

import { theme } from "./colors.js";
import { textWidth } from "./pen.js";

export function makeScale(low, high, from, to, log = false) {
  const f = log ? Math.log10 : (value) => value;
  let a = f(low),
    b = f(high);
  if (!(b > a)) {
    a -= 0.5;
    b += 0.5;
  }
  const scale = (value) => from + ((f(value) - a) / (b - a)) * (to - from);
  scale.inverse = (position) => {
    const value = a + ((position - from) / (to - from)) * (b - a);
    return log ? 10 ** value : value;
  };
  scale.ticks = log ? logTicks(a, b) : linearTicks(a, b);
  return scale;
}

function linearTicks(a, b, count = 5) {
  const raw = (b - a) / count;
  const power = 10 ** Math.floor(Math.log10(raw));
  const step = [1, 2, 5, 10].map((each) => each * power).find((each) => each >= raw);
  const ticks = [];
  for (let k = Math.ceil(a / step - 1e-9); k * step <= b + 1e-9 * step; k++) ticks.push(k * step);
  return ticks;
}

function logTicks(a, b) {
  const step = Math.max(1, Math.ceil((b - a) / 5));
  const ticks = [];
  for (let k = Math.ceil(a - 1e-9); k <= b + 1e-9; k += step) ticks.push(10 ** k);
  if (ticks.length >= 2) return ticks;
  return [1, 2, 5]
    .flatMap((m) => [Math.floor(a), Math.ceil(b)].map((k) => m * 10 ** k))
    .filter((v) => Math.log10(v) >= a - 1e-9 && Math.log10(v) <= b + 1e-9)
    .sort((x, y) => x - y);
}

export function formatNumber(value, digits = 3) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e5 || size < 1e-3) {
    const [mantissa, exponent] = value.toExponential(Math.max(0, digits - 2)).split("e");
    const power = superscript(Number(exponent));
    const short = String(Number(mantissa));
    return short === "1" ? `10${power}` : short === "-1" ? `−10${power}` : `${short.replace("-", "−")}·10${power}`;
  }
  return String(Number(value.toPrecision(digits))).replace("-", "−");
}

function superscript(number) {
  return String(number).replace(/[-0-9]/g, (sign) => "⁻⁰¹²³⁴⁵⁶⁷⁸⁹"["-0123456789".indexOf(sign)]);
}

// Draw the frame, ticks and labels inside a box {left, top, right, bottom}.
export function drawFrame(pen, box, x, y, labels) {
  const { ink, muted, grid, line } = theme();
  for (const tick of y.ticks) {
    const at = y(tick);
    pen.segments([[box.left, at, box.right, at]], { stroke: grid });
    pen.text(box.left - 6, at, formatNumber(tick), { size: 11, anchor: "end", baseline: "middle", fill: muted });
  }
  for (const tick of x.ticks) {
    const at = x(tick);
    pen.segments([[at, box.top, at, box.bottom]], { stroke: grid });
    pen.text(at, box.bottom + 15, formatNumber(tick), { size: 11, anchor: "middle", fill: muted });
  }
  pen.rect(box.left, box.top, box.right - box.left, box.bottom - box.top, { stroke: line });
  pen.text((box.left + box.right) / 2, box.bottom + 31, labels.x, { size: 12, anchor: "middle", fill: ink });
  const middle = (box.top + box.bottom) / 2;
  pen.text(13, middle, labels.y, { size: 12, anchor: "middle", baseline: "middle", fill: ink, turn: -Math.PI / 2 });
}

// Draw a legend of {name, color, mark} in rows; returns its height.
export function drawLegend(pen, items, left, top, width) {
  const { ink } = theme();
  let x = left,
    y = top + 8;
  for (const item of items) {
    const size = 26 + textWidth(item.name, 11) + 12;
    if (x > left && x + size > left + width) {
      x = left;
      y += 16;
    }
    item.mark(pen, x + 9, y);
    pen.text(x + 22, y, item.name, { size: 11, baseline: "middle", fill: ink });
    x += size;
  }
  return items.length ? y + 10 - top : 0;
}
