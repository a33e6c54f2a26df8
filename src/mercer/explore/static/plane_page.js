// The page of the plane: linked views of one fit.

import { formatNumber } from "./axes.js";
import { Card } from "./cards.js";
import { drawBars, drawLines, drawMatrix } from "./charts.js";
import { PointEditor } from "./edit_points.js";
import { button, element, select } from "./elements.js";
import { drawMap } from "./map_view.js";
import { editorHost, makeMapClickable, makeTurnable } from "./plane_edits.js";
import { drawPlane } from "./plane_view.js";
import { Question } from "./requests.js";
import { drawSpace, FIRST_TURN, spaceLegend } from "./space_view.js";

const TOOLS = [
  ["move", "Move"],
  ["add+", "Add ●"],
  ["add-", "Add ◆"],
  ["relabel", "Relabel"],
  ["delete", "Delete"],
  ["landmark", "Add ✳"],
];
const KERNEL_KINDS = ["random", "landmarks", "kernel"];
const LATER = 160; // milliseconds without a change after which the linked views are asked for

export class PlanePage {
  // `app` has value(name), view, begin(), end(), endSoon(), patch(fields), drawn(request), busy().
  constructor(app) {
    this.app = app;
    this.answer = null;
    this.hovered = -1;
    this.turn = { ...FIRST_TURN };
    this.tool = "move";
    this.timer = 0;
    this.makeCards();
    this.makeQuestions();
    this.element = element(
      "div",
      { class: "views plane-views" },
      ...Object.values(this.cards).map((card) => card.element),
    );
    this.editor = new PointEditor(this.cards.plane, editorHost(this));
  }

  makeCards() {
    this.cards = {
      plane: new Card("Decision boundary", { className: "large", ratio: 0.98, spare: 300 }),
      space: new Card("Lifted space", { ratio: 0.86 }),
      approximation: new Card("Error of the approximated kernel", { ratio: 0.8 }),
      map: new Card("Penalty and bandwidth", { ratio: 0.8 }),
      weights: new Card("Weights", { ratio: 0.72 }),
      gram: new Card("Gram matrix", { ratio: 0.8 }),
    };
    this.tiles = element("dl", { class: "tiles", "aria-live": "polite" });
    this.notes = element("div", { class: "notes", role: "status" });
    this.tools = element("div", { class: "tools", role: "radiogroup", "aria-label": "What a click in the plane does" });
    const help = [
      "Keys in the plane: N and P choose a point, arrows move it, R relabels, Delete removes;",
      "without a chosen point arrows move the cursor, A adds ● and Shift+A adds ◆.",
      "Double click adds or relabels, right click removes.",
    ].join(" ");
    const explained = element(
      "details",
      { class: "help" },
      element("summary", {}, "Mouse and keys"),
      element("p", { id: "plane-help" }, help),
    );
    const { plane } = this.cards;
    plane.element.insertBefore(this.tools, plane.body);
    plane.element.append(this.tiles, this.notes, explained);
    this.axes = element("div", { class: "axes" });
    this.cards.space.element.insertBefore(this.axes, this.cards.space.body);
    makeTurnable(this);
    makeMapClickable(this);
    this.cards.gram.canvas.addEventListener("pointermove", (event) => this.hoverGram(event));
    this.cards.gram.canvas.addEventListener("pointerleave", () => this.hover(-1));
  }

  makeQuestions() {
    const refuse = (card) => (text) => {
      this.cards[card].refuse(text);
      this.app.settled();
    };
    this.questions = {
      boundary: new Question(
        "boundary",
        (answer, request) => this.showBoundary(answer, request),
        (text) => this.refuseBoundary(text),
      ),
      points: new Question(
        "points",
        (answer) => this.showPoints(answer),
        () => this.app.settled(),
      ),
      space: new Question("space", (answer) => this.showSpace(answer), refuse("space")),
      gram: new Question("gram", (answer) => this.showGram(answer), refuse("gram")),
      approximation: new Question("approximation", (answer) => this.showApproximation(answer), refuse("approximation")),
      penalty_map: new Question("penalty_map", (answer) => this.showMap(answer), refuse("map")),
    };
  }

  get busy() {
    return this.timer !== 0 || Object.values(this.questions).some((question) => question.busy);
  }

  // Ask for the boundary at once, and for the other views when nothing changed for a while.
  refresh() {
    this.showTools();
    this.questions.boundary.ask("plane", this.app.view.state);
    clearTimeout(this.timer);
    this.timer = setTimeout(() => {
      this.timer = 0;
      this.askLinked();
    }, LATER);
  }

  askLinked() {
    const { state } = this.app.view;
    const kind = this.app.value("representation");
    const usesKernel = KERNEL_KINDS.includes(kind);
    const hasBandwidth = this.app.value("kernel").some((term) => "bandwidth" in term);
    const learned = ["ridge", "logistic", "hinge"].includes(this.app.value("learner"));
    const approximates = kind === "random" || (kind === "landmarks" && this.app.value("choose") !== "placed");
    this.reveal("approximation", approximates);
    this.reveal("map", usesKernel && hasBandwidth && learned);
    this.questions.space.ask("plane", state);
    this.questions.gram.ask("plane", state);
    if (approximates) this.questions.approximation.ask("plane", state);
    if (usesKernel && hasBandwidth && learned) this.questions.penalty_map.ask("plane", state);
    this.app.settled();
  }

  reveal(name, isShown) {
    const card = this.cards[name];
    if (card.element.hidden === !isShown) return;
    card.element.hidden = !isShown;
  }

  leave() {
    clearTimeout(this.timer);
    this.timer = 0;
    Object.values(this.questions).forEach((question) => question.cancel());
  }

  showBoundary(answer, request) {
    // A point that is being dragged stays under the pointer while answers to its earlier places arrive.
    const edited = this.app.value("points");
    if (edited && edited.length === answer.points.length) answer.points = edited;
    this.answer = answer;
    this.notes.textContent = answer.notes.join("\n");
    this.notes.hidden = answer.notes.length === 0;
    this.paintPlane();
    this.showTiles(answer);
    const { of, names, values, total, intercept } = answer.weights;
    const panel = { kind: "bars", names, series: [{ name: of, values }], y: { label: "" }, signed: true };
    const shown = names.length < total ? `The ${names.length} largest of ${total}. ` : "";
    const added = intercept === null ? "" : `Intercept ${formatNumber(intercept)}. `;
    const region = answer.region ? `Where f > 0: ${lowerFirst(answer.region.text)}` : "";
    this.cards.weights.heading.textContent =
      of === "features" ? "Weights of the features" : "Coefficients of the points";
    this.cards.weights.show((pen) => drawBars(pen, panel), shown + added + region);
    this.app.drawn(request);
    this.app.weightsChanged(answer.weights);
  }

  refuseBoundary(text) {
    this.notes.textContent = text;
    this.notes.hidden = false;
    this.questions.points.ask("plane", this.app.view.state);
    this.app.settled();
  }

  showPoints(answer) {
    this.answer = { ...answer, scores: null, landmarks: this.app.value("landmarks") || [] };
    this.paintPlane();
    this.app.settled();
  }

  paintPlane() {
    const { answer } = this;
    const wrong = answer.scores ? answer.points.filter((point, i) => point[2] * answer.scores[i] <= 0).length : 0;
    const label = answer.scores
      ? `Decision boundary of ${answer.points.length} points, ${wrong} of them on the wrong side. Training error ${percent(answer.train_error)}, test error ${percent(answer.test_error)}.`
      : `${answer.points.length} points.`;
    const nearest = answer.nearest ? " Dotted: the boundary of the nearest neighbor." : "";
    const caption = `● class 1, ◆ class −1; solid line f = 0${(answer.levels || []).length ? ", dashed f = ±1" : ""}.${nearest}`;
    this.cards.plane.show((pen) => drawPlane(pen, answer, this.planeOptions()), caption, label);
  }

  planeOptions() {
    const names = [this.app.value("x_name"), this.app.value("y_name")];
    return { selected: this.editor?.selected ?? -1, cursor: this.editor?.cursor, hover: this.hovered, names };
  }

  showTiles(answer) {
    const tiles = [
      ["training error", percent(answer.train_error)],
      ["test error", percent(answer.test_error)],
    ];
    if (answer.nearest) {
      tiles.push(
        ["nearest neighbor, test error", percent(answer.nearest.test_error)],
        ["same class", percent(answer.nearest.agreement)],
      );
    }
    tiles.push(...answer.facts);
    this.tiles.replaceChildren(
      ...tiles.map(([name, value]) => element("div", {}, element("dt", {}, name), element("dd", {}, value))),
    );
  }

  showSpace(answer) {
    this.space = answer;
    this.cards.space.show(
      (pen) => drawSpace(pen, answer, this.turn, this.hovered),
      `${spaceLegend(answer)} Drag, or use arrow keys, to turn.`,
    );
    this.showAxes(answer);
    this.app.settled();
  }

  showAxes(answer) {
    this.axes.replaceChildren();
    if (!answer.names || answer.n_features === null || answer.n_features <= 3) return;
    const current = this.app.value("axes");
    const use = (next) => this.change(() => this.app.patch({ axes: next }));
    const kinds = [
      ["weights", "Axes: along w and across"],
      ["features", "Axes: three features"],
    ];
    this.axes.append(
      select(kinds, current ? "features" : "weights", (kind) => use(kind === "features" ? [0, 1, 2] : null), {
        "aria-label": "Axes",
      }),
    );
    if (!current) return;
    const options = answer.names.map((name, i) => [String(i), name]);
    const choose = (k, value) => {
      const next = current.map((each, i) => (i === k ? value : each));
      // A feature that is already on another axis changes places with this one.
      const other = current.indexOf(value);
      if (other >= 0 && other !== k) next[other] = current[k];
      use(next);
    };
    this.axes.append(
      ...[0, 1, 2].map((k) =>
        select(options, String(current[k]), (value) => choose(k, Number(value)), { "aria-label": `Axis ${k + 1}` }),
      ),
    );
  }

  showGram(answer) {
    this.gram = answer;
    const state = answer.valid ? "Positive semi-definite" : "Not positive semi-definite";
    const caption = `${state}: smallest eigenvalue ${formatNumber(answer.min_eigenvalue)}, rank ${answer.rank} of ${answer.size}. Rows are sorted by class.`;
    this.cards.gram.show((pen) => drawMatrix(pen, answer, answer.order.indexOf(this.hovered)), caption);
    this.app.settled();
  }

  showApproximation(answer) {
    const series = [
      { name: "largest error", x: answer.sizes, y: answer.largest, style: "line", color: 0 },
      { name: "mean error", x: answer.sizes, y: answer.mean, style: "line", color: 2 },
    ];
    if (answer.bound)
      series.push({
        name: `bound, probability ${1 - answer.delta}`,
        x: answer.sizes,
        y: answer.bound,
        style: "dash",
        color: 1,
      });
    const x = { label: answer.kind === "random" ? "number of random features" : "number of landmarks", log: true };
    const panel = {
      series,
      x,
      y: { label: "error of k(x, z)", log: true },
      marks: [{ x: answer.current, label: "now" }],
    };
    const why = answer.bound ? "" : answer.kind === "random" ? " No bound: the kernel is not shift-invariant." : "";
    this.cards.approximation.show((pen) => drawLines(pen, panel), `Over all pairs of ${answer.rows} points.${why}`);
    this.app.settled();
  }

  showMap(answer) {
    this.map = answer;
    const hasTest = answer.test.flat().some((error) => error !== null);
    this.cards.map.show(
      (pen) => drawMap(pen, answer, hasTest),
      `${hasTest ? "Test" : "Training"} error in percent. Click a cell to go there; the ring is the present state.`,
    );
    this.app.settled();
  }

  change(act) {
    this.app.begin();
    act();
    this.app.end();
  }

  hoverGram(event) {
    if (!this.gram) return;
    const [width, height] = this.cards.gram.size;
    const side = Math.min(width - 92, height - 26);
    const box = this.cards.gram.canvas.getBoundingClientRect();
    const row = Math.floor(((event.clientY - box.top - 18) / side) * this.gram.size);
    this.hover(row >= 0 && row < this.gram.size ? this.gram.order[row] : -1);
  }

  // The same point is marked in all views.
  hover(index) {
    if (index === this.hovered) return;
    this.hovered = index;
    for (const name of ["plane", "space", "gram"]) {
      if (name === "gram" && this.gram) {
        this.cards.gram.draw = (pen) => drawMatrix(pen, this.gram, this.gram.order.indexOf(index));
      }
      this.cards[name].paint();
    }
  }

  showTools() {
    const placed = this.app.value("representation") === "landmarks" && this.app.value("choose") === "placed";
    if (this.tool === "landmark" && !placed) this.tool = "move";
    const tools = TOOLS.filter(([name]) => name !== "landmark" || placed);
    this.tools.replaceChildren(
      ...tools.map(([name, label]) => {
        const choose = () => {
          this.tool = name;
          this.showTools();
          this.tools.querySelector('[aria-checked="true"]').focus();
        };
        return button(label, choose, { role: "radio", "aria-checked": String(name === this.tool) });
      }),
    );
  }

  repaint() {
    Object.values(this.cards).forEach((card) => card.paint());
  }
}

function percent(fraction) {
  return fraction === null || fraction === undefined ? "–" : `${formatNumber(100 * fraction, 3)} %`;
}

function lowerFirst(text) {
  return text.charAt(0).toLowerCase() + text.slice(1);
}
