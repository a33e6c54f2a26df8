// The page of any other topic: one card per panel that the server describes.

import { Card } from "./cards.js";
import { element } from "./elements.js";
import { drawPanel, PANEL_RATIOS, panelTable } from "./panels.js";
import { Question } from "./requests.js";

export class TopicPage {
  constructor(app, topic) {
    this.app = app;
    this.topic = topic;
    this.cards = [];
    this.kinds = "";
    this.text = element("p", { class: "answer", "aria-live": "polite" });
    this.views = element("div", { class: "views topic-views" });
    this.element = element("div", {}, this.text, this.views);
    this.question = new Question(
      "panels",
      (answer, request) => this.show(answer, request),
      (text) => this.refuse(text),
    );
  }

  get busy() {
    return this.question.busy;
  }

  refresh() {
    this.question.ask(this.topic, this.app.view.state);
  }

  leave() {
    this.question.cancel();
  }

  show(answer, request) {
    this.text.textContent = answer.text;
    this.text.classList.remove("refused");
    this.steps = answer.steps;
    this.makeCards(answer.panels);
    answer.panels.forEach((panel, i) => {
      const card = this.cards[i];
      if (panel.kind === "table") card.querySelector(".table").replaceChildren(panelTable(panel));
      else card.show((pen) => drawPanel(pen, panel), panel.text || "");
    });
    this.app.drawn(request);
  }

  // Cards are kept while the panels are of the same kinds, so that nothing flickers.
  makeCards(panels) {
    const kinds = panels.map((panel) => `${panel.kind}`).join(" ");
    if (kinds !== this.kinds) {
      this.kinds = kinds;
      this.cards = panels.map(makeCard);
      this.views.replaceChildren(...this.cards.map((card) => card.element ?? card));
    }
    panels.forEach((panel, i) => {
      const heading = this.cards[i].heading ?? this.cards[i].querySelector("h3");
      heading.textContent = panel.title;
      if (this.cards[i].title) this.cards[i].title = panel.title;
    });
  }

  refuse(text) {
    this.text.textContent = text;
    this.text.classList.add("refused");
    this.app.settled();
  }

  repaint() {
    this.cards.forEach((card) => card.paint?.());
  }
}

function makeCard(panel) {
  if (panel.kind === "table") {
    return element(
      "section",
      { class: "card wide", "aria-label": panel.title },
      element("header", {}, element("h3", {}, panel.title)),
      element("div", { class: "table" }),
    );
  }
  return new Card(panel.title, { ratio: PANEL_RATIOS[panel.kind] });
}
