// The kernel as a list of terms, joined by plus and times.

import { plainControl } from "./controls.js";
import { button, element, select } from "./elements.js";

// `read()` returns the terms as they are now: a control outlives changes of the others.
export function kernelControl(field, read, change) {
  const box = element("fieldset", { class: "kernel" }, element("legend", {}, field.label));
  read().forEach((_, i) => box.append(termControl(field, read, i, change)));
  if (read().length < field.max_terms) {
    box.append(
      button("Add a kernel", () => change([...read(), newTerm(field, "Gaussian")], true), {
        class: "quiet",
        id: "add-kernel",
      }),
    );
  }
  return box;
}

function termControl(field, read, index, change) {
  const term = read()[index],
    several = read().length > 1;
  const leaf = field.leaves.find((each) => each.name === term.name);
  const replace = (make, final) =>
    change(
      read().map((each, i) => (i === index ? make(each) : each)),
      final,
    );
  const head = element("div", { class: "term-head" });
  if (index > 0) {
    const join = (value) => replace((each) => ({ ...each, operation: value }), true);
    head.append(
      select(
        [
          ["+", "+"],
          ["*", "×"],
        ],
        term.operation || "+",
        join,
        { "aria-label": `How kernel ${index + 1} is joined`, id: `kernel-${index}-join` },
      ),
    );
  }
  const names = field.leaves.map((each) => [each.name, each.label]);
  const choose = (name) => replace((each) => renamed(field, each, name), true);
  head.append(select(names, term.name, choose, { "aria-label": `Kernel ${index + 1}`, id: `kernel-${index}-name` }));
  if (several) {
    const remove = () =>
      change(
        read().filter((_, i) => i !== index),
        true,
      );
    head.append(button("×", remove, { "aria-label": `Remove kernel ${index + 1}`, class: "quiet" }));
  }
  const weight = several ? field.common.filter((each) => each.name === "weight") : [];
  const parameters = [...leaf.fields, ...weight].map((each) => {
    const edit = (value, final) => replace((current) => ({ ...current, [each.name]: value }), final);
    return plainControl(each, term[each.name] ?? each.default, edit, `kernel-${index}`);
  });
  return element("div", { class: "term" }, head, ...parameters);
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
