// Two pens with the same strokes: one draws on a canvas, one writes SVG. Every picture is drawn through a pen,
// so what is saved as SVG is what is seen.

const FONT = "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif";

let ruler = null;

export function textWidth(text, size) {
  ruler = ruler || document.createElement("canvas").getContext("2d");
  ruler.font = `${size}px ${FONT}`;
  return ruler.measureText(text).width;
}

export class CanvasPen {
  constructor(canvas, width, height, ratio = window.devicePixelRatio || 1) {
    const w = Math.round(width * ratio),
      h = Math.round(height * ratio);
    if (canvas.width !== w || canvas.height !== h) {
      canvas.width = w;
      canvas.height = h;
    }
    this.width = width;
    this.height = height;
    this.context = canvas.getContext("2d");
    this.context.setTransform(ratio, 0, 0, ratio, 0, 0);
    this.context.clearRect(0, 0, width, height);
  }

  path(points, style) {
    if (points.length === 0) return;
    const c = this.context;
    c.beginPath();
    points.forEach(([x, y], i) => (i ? c.lineTo(x, y) : c.moveTo(x, y)));
    if (style.close) c.closePath();
    this.paint(style);
  }

  segments(pieces, style) {
    const c = this.context;
    c.beginPath();
    for (const [x0, y0, x1, y1] of pieces) {
      c.moveTo(x0, y0);
      c.lineTo(x1, y1);
    }
    this.paint(style);
  }

  circle(x, y, radius, style) {
    this.context.beginPath();
    this.context.arc(x, y, radius, 0, 2 * Math.PI);
    this.paint(style);
  }

  rect(x, y, width, height, style) {
    this.context.beginPath();
    this.context.rect(x, y, width, height);
    this.paint(style);
  }

  text(x, y, text, { size = 12, anchor = "start", baseline = "alphabetic", fill, weight = "normal", turn = 0 } = {}) {
    const c = this.context;
    c.save();
    c.translate(x, y);
    c.rotate(turn);
    c.font = `${weight} ${size}px ${FONT}`;
    c.textAlign = { start: "left", middle: "center", end: "right" }[anchor];
    c.textBaseline = baseline;
    c.fillStyle = fill;
    c.fillText(text, 0, 0);
    c.restore();
  }

  image(source, x, y, width, height, smooth = true) {
    this.context.imageSmoothingEnabled = smooth;
    this.context.drawImage(source, x, y, width, height);
  }

  clipped(x, y, width, height, draw) {
    const c = this.context;
    c.save();
    c.beginPath();
    c.rect(x, y, width, height);
    c.clip();
    draw();
    c.restore();
  }

  paint({ fill, stroke, width = 1, dash = [], opacity = 1 }) {
    const c = this.context;
    c.globalAlpha = opacity;
    if (fill) {
      c.fillStyle = fill;
      c.fill();
    }
    if (stroke) {
      c.strokeStyle = stroke;
      c.lineWidth = width;
      c.setLineDash(dash);
      c.lineJoin = "round";
      c.stroke();
      c.setLineDash([]);
    }
    c.globalAlpha = 1;
  }
}

export class SvgPen {
  constructor(width, height, label = "") {
    this.width = width;
    this.height = height;
    this.parts = [];
    this.label = label;
    this.clips = 0;
  }

  path(points, style) {
    if (points.length === 0) return;
    const data =
      points.map(([x, y], i) => `${i ? "L" : "M"}${short(x)} ${short(y)}`).join("") + (style.close ? "Z" : "");
    this.parts.push(`<path d="${data}" ${paintAttributes(style)}/>`);
  }

  segments(pieces, style) {
    if (pieces.length === 0) return;
    const data = pieces.map(([a, b, c, d]) => `M${short(a)} ${short(b)}L${short(c)} ${short(d)}`).join("");
    this.parts.push(`<path d="${data}" ${paintAttributes(style)}/>`);
  }

  circle(x, y, radius, style) {
    this.parts.push(`<circle cx="${short(x)}" cy="${short(y)}" r="${short(radius)}" ${paintAttributes(style)}/>`);
  }

  rect(x, y, width, height, style) {
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<rect ${box} ${paintAttributes(style)}/>`);
  }

  text(x, y, text, { size = 12, anchor = "start", baseline = "alphabetic", fill, weight = "normal", turn = 0 } = {}) {
    const shift = { middle: 0.35, top: 0.8, alphabetic: 0, bottom: -0.2 }[baseline] * size;
    const turned = turn ? ` transform="rotate(${short((turn * 180) / Math.PI)} ${short(x)} ${short(y)})"` : "";
    const look = `font-size="${size}" text-anchor="${anchor}" fill="${fill}" font-weight="${weight}"`;
    this.parts.push(
      `<text x="${short(x)}" y="${short(y)}" dy="${short(shift)}" ${look}${turned}>${escapeText(text)}</text>`,
    );
  }

  image(source, x, y, width, height, smooth = true) {
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    const rendering = smooth ? "" : ' image-rendering="pixelated"';
    this.parts.push(`<image ${box} preserveAspectRatio="none"${rendering} href="${source.toDataURL("image/png")}"/>`);
  }

  clipped(x, y, width, height, draw) {
    const name = `clip${(SvgPen.names = (SvgPen.names || 0) + 1)}`;
    const box = `x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"`;
    this.parts.push(`<clipPath id="${name}"><rect ${box}/></clipPath><g clip-path="url(#${name})">`);
    draw();
    this.parts.push("</g>");
  }

  toString() {
    const size = `width="${this.width}" height="${this.height}" viewBox="0 0 ${this.width} ${this.height}"`;
    const title = this.label ? `<title>${escapeText(this.label)}</title>` : "";
    const font = `font-family="${FONT.replaceAll('"', "'")}"`;
    return `<svg xmlns="http://www.w3.org/2000/svg" role="img" ${size} ${font}>${title}${this.parts.join("")}</svg>`;
  }
}

function paintAttributes({ fill, stroke, width = 1, dash = [], opacity = 1 }) {
  const parts = [`fill="${fill || "none"}"`];
  if (stroke) parts.push(`stroke="${stroke}" stroke-width="${width}" stroke-linejoin="round"`);
  if (dash.length) parts.push(`stroke-dasharray="${dash.join(" ")}"`);
  if (opacity !== 1) parts.push(`opacity="${opacity}"`);
  return parts.join(" ");
}

function short(number) {
  return String(Math.round(number * 100) / 100);
}

export function escapeText(text) {
  return String(text)
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll('"', "&quot;");
}
