// Controls of the fields of a topic, made from their descriptions.

import { formatNumber } from "./axes.js";
import { button, element, select } from "./elements.js";
import { kernelControl } from "./kernel_control.js";

const STEPS = 400; // positions of a slider on a logarithmic scale

// `host` has value(name), change(name, value, isFinal) and play(name).
export function buildControls(fields, host) {
  const made = [];
  for (const field of fields) {
    if (field.only && !field.only[1].includes(host.value(field.only[0]))) continue;
    const control = controlOf(field, host);
    if (control) made.push(control);
  }
  return made;
}

function controlOf(field, host) {
  const change = (value, final) => host.change(field.name, value, final);
  if (field.kind === "kernel") return kernelControl(field, () => host.value(field.name), change);
  return plainControl(field, host.value(field.name), change, "field", host);
}

// The control of a number, a choice or a flag; null for fields that are edited in the plane.
export function plainControl(field, value, change, prefix, host = null) {
  const id = `${prefix}-${field.name}`;
  if (field.kind === "number") return numberControl(field, value, change, host, prefix);
  if (field.kind === "choice") {
    const made = select(field.options, value, (chosen) => change(chosen, true), { id });
    return element("div", { class: "control" }, element("label", { for: id }, field.label), made, hint(field));
  }
  if (field.kind === "flag") {
    const box = element("input", { type: "checkbox", id, onchange: () => change(box.checked, true) });
    box.checked = value;
    return element("div", { class: "control flag" }, box, element("label", { for: id }, field.label));
  }
  return null;
}

function hint(field) {
  return field.help ? element("small", {}, field.help) : null;
}

// A slider with a number beside it: both edit the same value.
export function numberControl(field, value, change, host = null, prefix = "field") {
  const id = `${prefix}-${field.name}`;
  const high = host && host.highest ? host.highest(field) : field.high;
  const slider = element("input", { type: "range", id, min: 0, max: 1, step: "any" });
  const box = element("input", {
    type: "number",
    id: `${id}-number`,
    min: field.low,
    max: high,
    step: "any",
    "aria-label": `${field.label}, as a number`,
  });
  if (field.log) Object.assign(slider, { min: 0, max: STEPS, step: 1 });
  else Object.assign(slider, { min: field.low, max: high, step: field.step });
  const show = (number, all = true) => {
    slider.value = field.log ? String(Math.round(STEPS * fractionOf(field, number))) : String(number);
    slider.setAttribute("aria-valuetext", formatNumber(number, 4));
    if (all) box.value = String(number);
  };
  const read = () => (field.log ? valueAt(field, Number(slider.value) / STEPS) : Number(slider.value));
  slider.addEventListener("input", () => {
    const number = rounded(field, read());
    box.value = String(number);
    slider.setAttribute("aria-valuetext", formatNumber(number, 4));
    change(number, false);
  });
  slider.addEventListener("change", () => change(rounded(field, read()), true));
  box.addEventListener("change", () => {
    const typed = Number(box.value);
    if (box.value === "" || !Number.isFinite(typed)) return show(value);
    const number = rounded(field, Math.min(high, Math.max(field.low, typed)), 6);
    show(number);
    change(number, true);
    return undefined;
  });
  show(value);
  const player = field.name === "t" && host && host.play ? playButtons(field, host, read) : null;
  return element(
    "div",
    { class: "control number" },
    element("label", { for: id }, field.label),
    slider,
    box,
    player,
    hint(field),
  );
}

function playButtons(field, host) {
  const step = (by) =>
    host.change("t", Math.max(field.low, Math.min(host.highest(field), host.value("t") + by)), true, true);
  return element(
    "div",
    { class: "player" },
    button("◀", () => step(-1), { "aria-label": "One step back" }),
    button(host.playing() ? "Pause" : "Play", () => host.play(), { class: "play" }),
    button("▶", () => step(1), { "aria-label": "One step forward" }),
  );
}

function fractionOf(field, number) {
  const low = Math.log(field.low),
    high = Math.log(field.high);
  return (Math.log(Math.max(number, field.low)) - low) / (high - low);
}

function valueAt(field, fraction) {
  return Math.exp(Math.log(field.low) + fraction * (Math.log(field.high) - Math.log(field.low)));
}

function rounded(field, number, digits = 3) {
  if (field.whole) return Math.round(number);
  const short = Number(number.toPrecision(field.log ? digits : 6));
  return Math.min(field.high, Math.max(field.low, short));
}
