// Cards: a title, a picture that can be saved, and a line of text.

import { CanvasPen, SvgPen } from "./pen.js";
import { button, element } from "./elements.js";

export class Card {
  // `ratio` is the height of the picture over its width; with `spare`, so many pixels of the window stay free below it.
  constructor(title, { className = "", ratio = 0.72, spare = null } = {}) {
    this.title = title;
    this.spare = spare;
    this.ratio = ratio;
    this.draw = null;
    this.canvas = element("canvas", { role: "img", "aria-label": title });
    this.heading = element("h3", {}, title);
    this.caption = element("p", { class: "caption" });
    const tools = element(
      "div",
      { class: "card-tools" },
      button("PNG", () => this.savePng(), { "aria-label": `Save “${title}” as PNG`, title: "Save as PNG" }),
      button("SVG", () => this.saveSvg(), { "aria-label": `Save “${title}” as SVG`, title: "Save as SVG" }),
    );
    this.body = element("div", { class: "card-body" }, this.canvas);
    this.element = element(
      "section",
      { class: `card ${className}`, "aria-label": title },
      element("header", {}, this.heading, tools),
      this.body,
      this.caption,
    );
  }

  get size() {
    const width = Math.max(this.body.clientWidth, 120);
    const height = Math.round(width * this.ratio);
    return [width, this.spare === null ? height : Math.min(height, Math.max(340, window.innerHeight - this.spare))];
  }

  show(draw, caption = "", label = "") {
    this.draw = draw;
    this.caption.textContent = caption;
    this.canvas.setAttribute("aria-label", label || `${this.title}. ${caption}`);
    this.element.classList.remove("waiting");
    this.paint();
  }

  paint() {
    if (!this.draw || this.element.hidden) return;
    const [width, height] = this.size;
    this.canvas.style.height = `${height}px`;
    this.draw(new CanvasPen(this.canvas, width, height));
  }

  refuse(text) {
    this.draw = null;
    this.caption.textContent = text;
    this.element.classList.remove("waiting");
  }

  svgText() {
    const [width, height] = this.size;
    const pen = new SvgPen(width, height, this.title);
    this.draw(pen);
    return pen.toString();
  }

  saveSvg() {
    if (!this.draw) return;
    download(new Blob([this.svgText()], { type: "image/svg+xml" }), `${fileName(this.title)}.svg`);
  }

  savePng() {
    if (!this.draw) return;
    const [width, height] = this.size;
    const canvas = document.createElement("canvas");
    this.draw(new CanvasPen(canvas, width, height, 3));
    canvas.toBlob((blob) => download(blob, `${fileName(this.title)}.png`), "image/png");
  }
}

function fileName(title) {
  return `mercer-${title
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .replace(/^-|-$/g, "")}`;
}

function download(blob, name) {
  const link = element("a", { href: URL.createObjectURL(blob), download: name });
  document.body.append(link);
  link.click();
  link.remove();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}
