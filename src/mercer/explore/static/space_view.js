// The lifted space: points, axes and the separating plane in a box that can be turned.

import { theme } from "./colors.js";
import { drawPoint } from "./plane_view.js";
import { paintPaper } from "./charts.js";
import { textWidth } from "./pen.js";

export const FIRST_TURN = { around: 0.7, down: 0.45 };

export function drawSpace(pen, answer, turn = FIRST_TURN, hover = -1) {
  paintPaper(pen);
  const box = boundingBox(answer);
  const project = makeProjection(pen, turn);
  const scaled = answer.points.map((point) => point.map((value, k) => box.scale[k] * (value - box.middle[k])));
  drawBox(pen, project, answer.axes, turn);
  const normal = answer.normal.map((value, k) => value / box.scale[k]);
  const offset = answer.offset + answer.normal.reduce((sum, value, k) => sum + value * box.middle[k], 0);
  const toViewer = depthAxis(turn);
  // The half of the box beyond the plane is drawn first.
  const facing = Math.sign(dot(normal, toViewer)) || 1;
  const size = scaled.length > 150 ? 3 : 4;
  const order = scaled.map((point, i) => i).sort((i, j) => dot(scaled[i], toViewer) - dot(scaled[j], toViewer));
  const isBehind = (i) => facing * (dot(normal, scaled[i]) + offset) < 0;
  const draw = (i) => {
    const [x, y] = project(scaled[i]);
    drawPoint(pen, x, y, answer.labels[i], size);
    if (i === hover) pen.circle(x, y, size + 6, { stroke: theme().accent, width: 2 });
  };
  order.filter(isBehind).forEach(draw);
  const polygon = planeInBox(normal, offset).map(project);
  pen.path(polygon, { fill: theme().accent, opacity: 0.22, close: true });
  pen.path(polygon, { stroke: theme().accent, width: 1.5, close: true });
  order.filter((i) => !isBehind(i)).forEach(draw);
}

function boundingBox(answer) {
  const columns = [0, 1, 2].map((k) => answer.points.map((point) => point[k]));
  const low = columns.map((column) => Math.min(...column)),
    high = columns.map((column) => Math.max(...column));
  const normal = answer.normal;
  // Where the first axis is the direction of the weights, the box also holds the plane.
  if (normal[1] === 0 && normal[2] === 0 && normal[0] !== 0) {
    const at = -answer.offset / normal[0];
    low[0] = Math.min(low[0], at);
    high[0] = Math.max(high[0], at);
  }
  const middle = low.map((value, k) => (value + high[k]) / 2);
  const scale = low.map((value, k) => (high[k] > value ? 1.8 / (high[k] - value) : 1));
  return { middle, scale };
}

function makeProjection(pen, { around, down }) {
  const size = Math.min(0.31 * pen.width, 0.312 * pen.height);
  const [cx, cy] = [pen.width / 2, pen.height / 2];
  const [ca, sa, cd, sd] = [Math.cos(around), Math.sin(around), Math.cos(down), Math.sin(down)];
  return ([x, y, z]) => [cx + size * (x * ca - y * sa), cy - size * (z * cd + (x * sa + y * ca) * sd)];
}

function depthAxis({ around, down }) {
  return [-Math.sin(around) * Math.cos(down), -Math.cos(around) * Math.cos(down), Math.sin(down)];
}

function dot(a, b) {
  return a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
}

const CORNERS = [0, 1, 2, 3, 4, 5, 6, 7].map((i) => [0, 1, 2].map((k) => ((i >> k) & 1 ? 1 : -1)));
const EDGES = CORNERS.flatMap((_, i) => [1, 2, 4].filter((bit) => !(i & bit)).map((bit) => [i, i | bit]));

function drawBox(pen, project, names) {
  const { line, ink } = theme();
  for (const [i, j] of EDGES) pen.path([project(CORNERS[i]), project(CORNERS[j])], { stroke: line });
  names.forEach((name, k) => {
    // The label stands outside of the box, at the edge along its axis that is lowest or, for the third, leftmost.
    const edges = EDGES.filter(([i, j]) => (i ^ j) === 1 << k).map(([i, j]) => {
      const [a, b] = [project(CORNERS[i]), project(CORNERS[j])];
      return [(a[0] + b[0]) / 2, (a[1] + b[1]) / 2];
    });
    const rank = k === 2 ? ([x]) => x : ([, y]) => -y;
    const [x, y] = edges.sort((p, q) => rank(p) - rank(q))[0];
    const half = textWidth(name, 12) / 2;
    const shift = k === 2 ? [-10, 0] : [x < pen.width / 2 ? -half - 8 : half + 8, 10];
    const at = Math.min(Math.max(x + shift[0], k === 2 ? 9 : half + 3), pen.width - half - 3);
    const turn = k === 2 ? -Math.PI / 2 : 0;
    pen.text(at, Math.min(y + shift[1], pen.height - 7), name, {
      size: 12,
      anchor: "middle",
      baseline: "middle",
      fill: ink,
      turn,
    });
  });
}

// The corners of the polygon in which the plane <normal, z> + offset = 0 cuts the box.
function planeInBox(normal, offset) {
  const corners = [];
  for (const [i, j] of EDGES) {
    const a = dot(normal, CORNERS[i]) + offset,
      b = dot(normal, CORNERS[j]) + offset;
    if (a > 0 === b > 0) continue;
    const t = a / (a - b);
    corners.push(CORNERS[i].map((value, k) => value + t * (CORNERS[j][k] - value)));
  }
  if (corners.length < 3) return [];
  const center = [0, 1, 2].map((k) => corners.reduce((sum, corner) => sum + corner[k], 0) / corners.length);
  const first = corners[0].map((value, k) => value - center[k]);
  const second = cross(normal, first);
  const angle = (corner) => {
    const from = corner.map((value, k) => value - center[k]);
    return Math.atan2(
      dot(from, second) / Math.sqrt(dot(second, second)),
      dot(from, first) / Math.sqrt(dot(first, first)),
    );
  };
  return corners.sort((p, q) => angle(p) - angle(q));
}

function cross(a, b) {
  return [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
}

export function spaceLegend(answer) {
  const plane = answer.exact
    ? "The plane separates the classes where f = 0."
    : "The plane holds the other features at their means.";
  const what =
    answer.n_features === null
      ? "The features of the kernel: along the weights w, and two directions across."
      : `${answer.n_features} features.`;
  return `${what} ${plane}`;
}
