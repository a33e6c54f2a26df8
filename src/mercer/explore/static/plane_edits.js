// Gestures of the plane page: editing points and landmarks, turning the lifted space, clicking into the map.

import { closest, mapCell } from "./map_view.js";
import { drawPlane } from "./plane_view.js";

// What the editor of points may do to the page: see PointEditor.
export function editorHost(page) {
  const points = () => page.app.value("points") ?? page.answer.points.map((point) => [...point]);
  const landmarks = () => page.app.value("landmarks") || [];
  const setPoints = (next) => {
    page.app.patch({ points: next });
    page.answer = {
      ...page.answer,
      points: next,
      scores: page.answer.scores?.length === next.length ? page.answer.scores : null,
      support: [],
    };
    page.cards.plane.draw = (pen) => drawPlane(pen, page.answer, page.planeOptions());
    page.cards.plane.paint();
  };
  const setLandmarks = (next) => page.app.patch({ landmarks: next });
  const replaced = (list, index, entry) => list.map((each, i) => (i === index ? entry : each));
  return {
    answer: () => page.answer,
    tool: () => page.tool,
    canEdit: (what) =>
      what === "points" || (page.app.value("choose") === "placed" && page.app.value("representation") === "landmarks"),
    begin: () => page.app.begin(),
    end: () => page.app.end(),
    endSoon: () => page.app.endSoon(),
    hover: (index) => page.hover(index),
    repaint: () => page.cards.plane.paint(),
    movePoint: (i, x, y) => setPoints(replaced(points(), i, [x, y, points()[i][2]])),
    relabel: (i) => setPoints(replaced(points(), i, [points()[i][0], points()[i][1], -points()[i][2]])),
    remove: (i) => setPoints(points().filter((_, k) => k !== i)),
    addPoint: (x, y, label) => setPoints([...points(), [x, y, label]]),
    moveLandmark: (i, x, y) => setLandmarks(replaced(landmarks(), i, [x, y])),
    addLandmark: (x, y) => landmarks().length < 24 && setLandmarks([...landmarks(), [x, y]]),
    removeLandmark: (i) => landmarks().length > 1 && setLandmarks(landmarks().filter((_, k) => k !== i)),
  };
}

// Turn the lifted space with the mouse, a finger or arrow keys.
export function makeTurnable(page) {
  const { canvas } = page.cards.space;
  canvas.tabIndex = 0;
  canvas.style.touchAction = "none";
  canvas.setAttribute("role", "application");
  let last = null;
  const paint = () => page.cards.space.paint();
  canvas.addEventListener("pointerdown", (event) => {
    last = [event.clientX, event.clientY];
    canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!last) return;
    page.turn.around += (event.clientX - last[0]) / 120;
    page.turn.down = Math.min(1.5, Math.max(-1.5, page.turn.down + (event.clientY - last[1]) / 120));
    last = [event.clientX, event.clientY];
    paint();
  });
  canvas.addEventListener("pointerup", () => (last = null));
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [-0.15, 0], ArrowRight: [0.15, 0], ArrowUp: [0, -0.15], ArrowDown: [0, 0.15] }[event.key];
    if (!by) return;
    event.preventDefault();
    page.turn.around += by[0];
    page.turn.down = Math.min(1.5, Math.max(-1.5, page.turn.down + by[1]));
    paint();
  });
}

// A click into the map, or an arrow key, sets the penalty and the bandwidth.
export function makeMapClickable(page) {
  const { canvas } = page.cards.map;
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "application");
  const go = (row, column) => {
    const terms = page.app.value("kernel");
    const at = terms.findIndex((term) => "bandwidth" in term);
    const kernel = terms.map((term, i) => (i === at ? { ...term, bandwidth: page.map.bandwidths[column] } : term));
    page.change(() => page.app.patch({ alpha: page.map.alphas[row], kernel }, true));
  };
  canvas.addEventListener("click", (event) => {
    if (!page.map) return;
    const box = canvas.getBoundingClientRect();
    const cell = mapCell(page.cards.map.size, page.map, event.clientX - box.left, event.clientY - box.top);
    if (cell) go(...cell);
  });
  canvas.addEventListener("keydown", (event) => {
    const by = { ArrowLeft: [0, -1], ArrowRight: [0, 1], ArrowUp: [1, 0], ArrowDown: [-1, 0] }[event.key];
    if (!by || !page.map) return;
    event.preventDefault();
    const row = closest(page.map.alphas, page.map.alpha) + by[0],
      column = closest(page.map.bandwidths, page.map.bandwidth) + by[1];
    if (row >= 0 && row < page.map.alphas.length && column >= 0 && column < page.map.bandwidths.length) go(row, column);
  });
}
