// The kernel as a list of terms, joined by plus and times.

import { button, element, select } from "./elements.js";
import { numberControl } from "./controls.js";

export function kernelControl(field, terms, change) {
  const box = element("fieldset", { class: "kernel" }, element("legend", {}, field.label));
  terms.forEach((term, i) => box.append(termControl(field, terms, i, change)));
  if (terms.length < field.max_terms) {
    box.append(button("Add a kernel", () => change([...terms, newTerm(field, "Gaussian")], true), { class: "quiet" }));
  }
  return box;
}

function termControl(field, terms, index, change) {
  const term = terms[index];
  const leaf = field.leaves.find((each) => each.name === term.name);
  const edit = (patch, final) => change(terms.map((each, i) => (i === index ? { ...each, ...patch } : each)), final);
  const names = field.leaves.map((each) => [each.name, each.label]);
  const choose = (name) => change(terms.map((each, i) => (i === index ? renamed(field, each, name) : each)), true);
  const head = element("div", { class: "term-head" });
  if (index > 0) {
    head.append(select([["+", "+"], ["*", "×"]], term.operation || "+", (value) => edit({ operation: value }, true), { "aria-label": `How kernel ${index + 1} is joined` }));
  }
  head.append(select(names, term.name, choose, { "aria-label": `Kernel ${index + 1}` }));
  if (terms.length > 1) {
    head.append(button("×", () => change(terms.filter((_, i) => i !== index), true), { "aria-label": `Remove kernel ${index + 1}`, class: "quiet" }));
  }
  const made = element("div", { class: "term" }, head);
  for (const each of leaf.fields) {
    made.append(numberControl(each, term[each.name] ?? each.default, (value, final) => edit({ [each.name]: value }, final), null, `kernel-${index}`));
  }
  if (terms.length > 1) {
    const weight = field.common.find((each) => each.name === "weight");
    made.append(numberControl(weight, term.weight ?? 1, (value, final) => edit({ weight: value }, final), null, `kernel-${index}`));
  }
  return made;
}

function newTerm(field, name) {
  const leaf = field.leaves.find((each) => each.name === name);
  const parameters = Object.fromEntries(leaf.fields.map((each) => [each.name, each.default]));
  return { name, operation: "+", weight: 1, ...parameters };
}

// Another kernel keeps the parameters that it shares, such as the bandwidth.
function renamed(field, term, name) {
  const made = newTerm(field, name);
  for (const key of Object.keys(made)) if (key !== "name" && key in term) made[key] = term[key];
  return made;
}
