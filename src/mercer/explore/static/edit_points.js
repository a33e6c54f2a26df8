// Editing points in the plane with mouse, finger or keyboard.

import { announce } from "./elements.js";
import { planeScales } from "./plane_view.js";

const REACH = 14; // pixels within which a point is hit
const STEP = 0.05;

// `host` has answer(), canEdit(), tool(), begin(), movePoint(i, x, y), moveLandmark(i, x, y), addPoint(x, y, label),
// addLandmark(x, y), relabel(i), remove(i), removeLandmark(i), end(), hover(i), repaint().
export class PointEditor {
  constructor(card, host) {
    this.card = card;
    this.host = host;
    this.selected = -1;
    this.cursor = null;
    this.dragged = null;
    const canvas = card.canvas;
    canvas.tabIndex = 0;
    canvas.style.touchAction = "none";
    canvas.setAttribute("role", "application"); // screen readers pass the keys on
    canvas.setAttribute("aria-describedby", "plane-help");
    canvas.addEventListener("pointerdown", (event) => this.down(event));
    canvas.addEventListener("pointermove", (event) => this.move(event));
    canvas.addEventListener("pointerup", (event) => this.up(event));
    canvas.addEventListener("pointercancel", (event) => this.up(event));
    canvas.addEventListener("pointerleave", () => this.host.hover(-1));
    canvas.addEventListener("dblclick", (event) => this.double(event));
    canvas.addEventListener("contextmenu", (event) => this.menu(event));
    canvas.addEventListener("keydown", (event) => this.key(event));
    canvas.addEventListener("blur", () => this.forget());
  }

  // Coordinates of the data under the pointer.
  place(event) {
    const frame = this.frame();
    const box = this.card.canvas.getBoundingClientRect();
    return this.inside(frame.x.inverse(event.clientX - box.left), frame.y.inverse(event.clientY - box.top));
  }

  inside(x, y) {
    const limit = this.host.answer().limit;
    return [x, y].map((value) => Math.round(1000 * Math.min(limit, Math.max(-limit, value))) / 1000);
  }

  frame() {
    return planeScales(...this.card.size, this.host.answer().limit);
  }

  nearest(event, places) {
    const frame = this.frame();
    const box = this.card.canvas.getBoundingClientRect();
    const [px, py] = [event.clientX - box.left, event.clientY - box.top];
    let best = -1,
      least = REACH;
    places.forEach(([x, y], i) => {
      const far = Math.hypot(frame.x(x) - px, frame.y(y) - py);
      if (far < least) [best, least] = [i, far];
    });
    return best;
  }

  hit(event) {
    const { landmarks = [], points } = this.host.answer();
    const landmark = this.host.canEdit("landmarks") ? this.nearest(event, landmarks) : -1;
    if (landmark >= 0) return { kind: "landmark", index: landmark };
    const point = this.nearest(event, points);
    return point >= 0 ? { kind: "point", index: point } : null;
  }

  down(event) {
    if (!this.host.answer() || event.button !== 0 || !this.host.canEdit("points")) return;
    const tool = this.host.tool(),
      hit = this.hit(event);
    const [x, y] = this.place(event);
    if (tool === "move" && hit) {
      this.dragged = hit;
      this.card.canvas.setPointerCapture(event.pointerId);
      this.host.begin();
    } else if (tool === "relabel" && hit?.kind === "point") this.once(() => this.host.relabel(hit.index));
    else if (tool === "delete" && hit) this.once(() => this.erase(hit));
    else if (tool === "add+" && !hit) this.once(() => this.host.addPoint(x, y, 1));
    else if (tool === "add-" && !hit) this.once(() => this.host.addPoint(x, y, -1));
    else if (tool === "landmark" && !hit) this.once(() => this.host.addLandmark(x, y));
  }

  once(change) {
    this.host.begin();
    change();
    this.host.end();
  }

  erase(hit) {
    if (hit.kind === "landmark") this.host.removeLandmark(hit.index);
    else this.host.remove(hit.index);
  }

  move(event) {
    if (!this.host.answer()) return;
    if (!this.dragged) {
      const hit = this.hit(event);
      this.card.canvas.style.cursor = hit ? (this.host.tool() === "move" ? "grab" : "pointer") : "crosshair";
      this.host.hover(hit?.kind === "point" ? hit.index : -1);
      return;
    }
    const [x, y] = this.place(event);
    if (this.dragged.kind === "landmark") this.host.moveLandmark(this.dragged.index, x, y);
    else this.host.movePoint(this.dragged.index, x, y);
  }

  up() {
    if (!this.dragged) return;
    this.dragged = null;
    this.host.end();
  }

  double(event) {
    if (this.host.tool() !== "move" || !this.host.answer() || !this.host.canEdit("points")) return;
    const hit = this.hit(event);
    if (hit?.kind === "point") this.once(() => this.host.relabel(hit.index));
    else if (!hit) this.once(() => this.host.addPoint(...this.place(event), event.shiftKey ? -1 : 1));
  }

  menu(event) {
    const hit = this.host.answer() && this.host.canEdit("points") ? this.hit(event) : null;
    if (!hit) return;
    event.preventDefault();
    this.once(() => this.erase(hit));
  }

  forget() {
    this.selected = -1;
    this.cursor = null;
    this.host.repaint();
  }

  key(event) {
    const answer = this.host.answer();
    if (!answer || !this.host.canEdit("points") || event.ctrlKey || event.metaKey || event.altKey) return;
    const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, 1], ArrowDown: [0, -1] };
    const n = answer.points.length;
    if (event.key in arrows) this.shift(answer, arrows[event.key], event.shiftKey ? 4 : 1);
    else if (event.key === "n" && n) this.choose((this.selected + 1) % n);
    else if (event.key === "p" && n) this.choose((this.selected + n - 1 + (this.selected < 0)) % n);
    else if ((event.key === "r" || event.key === "Enter") && this.selected >= 0) {
      this.once(() => this.host.relabel(this.selected));
      announce(`Point ${this.selected + 1} has the other class now`);
    } else if ((event.key === "Delete" || event.key === "Backspace") && this.selected >= 0) {
      this.once(() => this.host.remove(this.selected));
      this.selected = Math.min(this.selected, n - 2);
      announce("The point is removed");
    } else if (event.key === "a" || event.key === "A") {
      this.once(() => this.host.addPoint(...(this.cursor || [0, 0]), event.key === "a" ? 1 : -1));
      announce("A point is added");
    } else if (event.key === "Escape") this.forget();
    else return;
    event.preventDefault();
    this.host.repaint();
  }

  shift(answer, [dx, dy], times) {
    if (this.selected < 0) {
      const [x, y] = this.cursor || [0, 0];
      this.cursor = this.inside(x + times * STEP * dx, y + times * STEP * dy);
      announce(`Cursor at ${this.cursor.join(", ")}`);
      return;
    }
    const [x, y] = answer.points[this.selected];
    this.host.begin();
    this.host.movePoint(this.selected, ...this.inside(x + times * STEP * dx, y + times * STEP * dy));
    this.host.endSoon();
  }

  choose(index) {
    this.selected = index;
    const [x, y, label] = this.host.answer().points[index];
    announce(
      `Point ${index + 1} of ${this.host.answer().points.length}, class ${label > 0 ? "1" : "−1"}, at ${x}, ${y}`,
    );
  }
}
