// The application: presets, controls, history, and the page of the current topic.

import { decodeState, History, presetView } from "./address.js";
import { setTheme, themeName } from "./colors.js";
import { buildControls, numberControl } from "./controls.js";
import { announce, element } from "./elements.js";
import { openOwnData } from "./own_data.js";
import { PlanePage } from "./plane_page.js";
import { getAbout, post } from "./requests.js";
import { TopicPage } from "./topic_page.js";

// The groups of controls of the plane; other topics have one group.
const GROUPS = {
  plane: [
    ["Points", ["data", "n", "noise", "seed"]],
    [
      "Representation",
      [
        "representation",
        "degree",
        "scaling",
        "kernel",
        "n_components",
        "sampling",
        "pairing",
        "choose",
        "n_landmarks",
        "map_seed",
        "whiten",
        "with_raw",
      ],
    ],
    ["Learner", ["learner", "alpha", "penalty", "n_epochs"]],
    ["View", ["nearest", "show_test"]],
  ],
};
const PLAY_EVERY = 350; // milliseconds between two steps

class App {
  constructor(about) {
    this.about = about;
    this.presets = about.presets;
    this.page = null;
    this.player = 0;
    this.view = decodeState(location.hash, this.presets) || presetView(this.presets[1]);
    this.history = new History(() => this.view);
    this.started = 0;
    this.makeHeader();
    window.addEventListener("popstate", (event) => this.cameBack(event));
    window.addEventListener("resize", () => this.page?.repaint());
    window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => this.retheme());
    this.history.replace();
    this.open();
  }

  // Reading and changing the state.

  field(name) {
    return this.about.topics[this.view.topic].fields.find((each) => each.name === name);
  }

  value(name) {
    const given = this.view.state[name];
    return given === undefined ? this.field(name).default : given;
  }

  begin() {
    this.history.begin();
  }

  end() {
    this.history.end();
    this.showUndo();
  }

  endSoon() {
    this.history.endSoon();
  }

  patch(fields, rebuild = false) {
    this.view.state = { ...this.view.state, ...fields };
    this.view.changed = true;
    this.started = performance.now();
    if (rebuild) this.showControls();
    this.refresh();
  }

  change(name, value, isFinal, rebuild = null) {
    this.begin();
    const fields = { [name]: value };
    if (name === "data")
      Object.assign(fields, {
        points: value === "own" ? (this.page.answer?.points ?? []) : null,
        test_points: null,
        x_name: "x1",
        y_name: "x2",
      });
    // Points edited by hand belong to the set they came from: another draw replaces them.
    if (["n", "noise", "seed"].includes(name) && this.view.state.points) fields.points = null;
    if (name === "representation") fields.axes = null;
    if (name === "choose" && value === "placed" && !this.view.state.landmarks)
      fields.landmarks = this.page.answer?.landmarks?.slice(0, 24) ?? [];
    if (fields.landmarks && fields.landmarks.length === 0) fields.landmarks = [[0, 0]];
    if (name === "learner" && value === "hand") fields.weights = this.fittedWeights();
    const known = this.about.topics[this.view.topic].fields.map((each) => each.name);
    for (const key of Object.keys(fields)) if (!known.includes(key)) delete fields[key];
    const kind = this.field(name).kind;
    const shape = (terms) => terms.map((term) => `${term.name} ${term.operation}`).join();
    const structural =
      rebuild ??
      (kind === "choice" || kind === "flag" || (kind === "kernel" && shape(value) !== shape(this.value(name))));
    this.patch(fields, structural);
    if (isFinal) this.end();
    else this.endSoon();
  }

  // Weights set by hand start from those of the last fit.
  fittedWeights() {
    const { weights } = this.page.answer ?? {};
    if (!weights || weights.of !== "features" || weights.total > 23) return null;
    return [...weights.values, weights.intercept].map((each) => Math.max(-5, Math.min(5, Number(each.toFixed(2)))));
  }

  highest(field) {
    const steps = this.page?.steps;
    return field.name === "t" && steps !== undefined ? Math.max(steps, 1) : field.high;
  }

  // The steps are played one by one; a play is one entry of the history.
  play() {
    if (this.player) return this.pause();
    this.begin();
    if (this.value("t") >= this.highest(this.field("t"))) this.patch({ t: this.field("t").low });
    this.player = setInterval(() => {
      if (this.page.busy) return;
      const next = this.value("t") + 1;
      if (next > this.highest(this.field("t"))) this.pause();
      else this.patch({ t: next }, true);
    }, PLAY_EVERY);
    return this.showControls();
  }

  pause() {
    clearInterval(this.player);
    this.player = 0;
    this.end();
    this.showControls();
  }

  // Showing the state.

  open() {
    if (this.player) this.pause();
    if (!(this.view.topic in this.about.topics)) this.view = presetView(this.presets[1]);
    this.page?.leave();
    this.page = this.view.topic === "plane" ? new PlanePage(this) : new TopicPage(this, this.view.topic);
    document.getElementById("views").replaceChildren(this.page.element);
    this.show();
  }

  show() {
    this.showPreset();
    this.showControls();
    this.showUndo();
    this.started = performance.now();
    this.refresh();
  }

  refresh() {
    document.body.dataset.state = "busy";
    this.page.refresh();
  }

  settled() {
    // The request that brought the answer counts as under way until this task has ended.
    setTimeout(() => (document.body.dataset.state = this.page.busy ? "busy" : "idle"), 0);
  }

  // Called when the answer to a change has been drawn.
  drawn(request) {
    performance.measure("mercer:answer", { start: request.since, end: performance.now() });
    document.body.dataset.drawn = String(Number(document.body.dataset.drawn || 0) + 1);
    if (this.page.steps !== this.shownSteps) {
      this.shownSteps = this.page.steps;
      this.showControls();
    }
    this.settled();
  }

  weightsChanged(weights) {
    const names = weights.names.join("|");
    if (this.value("learner") === "hand" && names !== this.handNames) {
      this.handNames = names;
      this.hand = weights;
      this.showControls();
    }
  }

  showControls() {
    const box = document.getElementById("controls");
    const focused = document.activeElement?.id;
    const scroll = box.scrollTop;
    const { fields } = this.about.topics[this.view.topic];
    const host = {
      value: (name) => this.value(name),
      change: (...given) => this.change(...given),
      highest: (field) => this.highest(field),
      play: () => this.play(),
      playing: () => this.player !== 0,
    };
    const groups = GROUPS[this.view.topic] || [
      ["Settings", [...fields.map((each) => each.name)].sort((a, b) => (b === "t") - (a === "t"))],
    ];
    box.replaceChildren(
      ...groups.map(([title, names]) => {
        const chosen = names
          .map((name) => fields.find((each) => each.name === name))
          .filter((each) => this.isShown(each));
        const extra =
          title === "Points"
            ? [element("button", { type: "button", class: "quiet", onclick: () => this.ownData() }, "Own points…")]
            : [];
        const hand = title === "Learner" && this.value("learner") === "hand" ? this.handControls() : [];
        return element(
          "fieldset",
          { class: "group" },
          element("legend", {}, title),
          ...buildControls(chosen, host),
          ...extra,
          ...hand,
        );
      }),
    );
    if (focused) document.getElementById(focused)?.focus({ preventScroll: true });
    box.scrollTop = scroll;
  }

  isShown(field) {
    if (this.view.topic !== "plane") return true;
    if (["n", "noise", "seed"].includes(field.name)) return this.value("data") !== "own";
    if (field.name === "penalty") return this.value("representation") === "kernel" && this.value("learner") === "hinge";
    if (field.name === "n_landmarks" || field.name === "map_seed")
      return this.value("representation") !== "landmarks" || !["placed", "all"].includes(this.value("choose"));
    return true;
  }

  // One slider per weight, the intercept last.
  handControls() {
    if (!this.hand || this.hand.of !== "features" || this.hand.total > 23) return [];
    const count = this.hand.total + 1;
    const current = Array.from({ length: count }, (_, i) => (this.value("weights") || [])[i] ?? 0);
    const labels = [...this.hand.names, "intercept"];
    return labels.map((label, i) => {
      const field = { name: `w${i}`, label, low: -5, high: 5, step: 0.1, help: "" };
      return numberControl(field, current[i], (value, final) => {
        const before = this.value("weights") || [];
        const next = Array.from({ length: count }, (_, k) => (k === i ? value : (before[k] ?? 0)));
        this.change("weights", next, final);
      });
    });
  }

  ownData() {
    openOwnData(this.about.table, (fields) => {
      const { classes, ...rest } = fields;
      this.begin();
      this.patch({ data: "own", ...rest }, true);
      this.end();
      if (classes) announce(`Class −1 is ${classes[0]}, class 1 is ${classes[1]}.`);
      if (classes)
        document.getElementById("preset-text").textContent =
          `◆ class −1: ${classes[0]}. ● class 1: ${classes[1]}. The columns are standardized.`;
    });
  }

  showPreset() {
    const preset = this.presets.find((each) => each.name === this.view.preset);
    const chooser = document.getElementById("preset");
    chooser.value = preset ? preset.name : "";
    document.getElementById("preset-title").textContent = preset
      ? preset.title
      : this.about.topics[this.view.topic].title;
    document.getElementById("preset-note").textContent = preset ? preset.note : "";
    document.getElementById("preset-text").textContent = preset ? preset.text : "";
    document.title = `${preset ? preset.title : this.about.topics[this.view.topic].title} – Mercer`;
  }

  usePreset(name) {
    const preset = this.presets.find((each) => each.name === name);
    if (!preset) return;
    this.history.end();
    const topic = this.view.topic;
    this.view = presetView(preset);
    this.history.begin();
    this.history.end();
    this.handNames = null;
    if (topic === this.view.topic && topic === "plane") this.show();
    else this.open();
    announce(preset.title);
  }

  cameBack(event) {
    this.history.came(event);
    const view = decodeState(location.hash, this.presets);
    if (!view) return;
    const topic = this.view.topic;
    this.view = view;
    this.handNames = null;
    if (topic === view.topic) this.show();
    else this.open();
  }

  showUndo() {
    document.getElementById("undo").disabled = this.history.depth === 0;
  }

  makeHeader() {
    const chooser = document.getElementById("preset");
    for (const group of new Set(this.presets.map((each) => each.group))) {
      const options = this.presets
        .filter((each) => each.group === group)
        .map((each) => element("option", { value: each.name }, each.title));
      chooser.append(element("optgroup", { label: group }, ...options));
    }
    chooser.addEventListener("change", () => this.usePreset(chooser.value));
    const step = (by) => {
      const at = this.presets.findIndex((each) => each.name === this.view.preset);
      this.usePreset(this.presets[(at + by + this.presets.length) % this.presets.length].name);
    };
    const on = (id, act) => document.getElementById(id).addEventListener("click", act);
    on("previous", () => step(-1));
    on("next", () => step(1));
    on("reset", () => this.view.preset && this.usePreset(this.view.preset));
    on("undo", () => window.history.back());
    on("redo", () => window.history.forward());
    on("share", () => this.copy(location.href, "The link is copied."));
    on("python", () => this.showPython());
    on("settings", () => {
      // On a narrow screen the controls come up from below, so that the plane stays in view.
      const open = document.body.classList.toggle("settings-open");
      document.getElementById("settings").setAttribute("aria-expanded", String(open));
      document.getElementById("settings").textContent = open ? "Close settings" : "Settings";
    });
    on("theme", () => {
      setTheme(themeName() === "dark" ? "light" : "dark");
      this.retheme();
    });
  }

  retheme() {
    document.documentElement.dataset.theme = themeName();
    this.page?.repaint();
  }

  async showPython() {
    try {
      const { code } = await post("code", JSON.stringify({ topic: this.view.topic, state: this.view.state }));
      const dialog = document.getElementById("python-dialog");
      document.getElementById("python-code").textContent = code;
      dialog.showModal();
      await this.copy(code, "The code is copied.");
    } catch (error) {
      announce(error.message);
    }
  }

  async copy(text, message) {
    try {
      await navigator.clipboard.writeText(text);
      this.toast(message);
    } catch {
      this.toast("Copying is not allowed here: select the text and copy it.");
    }
  }

  toast(message) {
    const box = document.getElementById("toast");
    box.textContent = message;
    box.classList.add("shown");
    announce(message);
    setTimeout(() => box.classList.remove("shown"), 2500);
  }
}

document.documentElement.dataset.theme = themeName();
getAbout()
  .then((about) => new App(about))
  .catch((error) => {
    document.getElementById("views").textContent = error.message;
  });
