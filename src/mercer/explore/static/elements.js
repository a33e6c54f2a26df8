// Small helpers for elements of the page.

export function element(tag, attributes = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (value === true) made.setAttribute(name, "");
    else if (value !== false && value !== null && value !== undefined) made.setAttribute(name, value);
  }
  made.append(...children.filter((child) => child !== null && child !== undefined));
  return made;
}

export function button(label, action, attributes = {}) {
  return element("button", { type: "button", onclick: action, ...attributes }, label);
}

export function select(options, value, change, attributes = {}) {
  const made = element("select", { onchange: () => change(made.value), ...attributes });
  for (const [name, label] of options) made.append(element("option", { value: name }, label));
  made.value = value;
  return made;
}

// Tell a screen reader what changed, without moving the focus.
export function announce(text) {
  const region = document.getElementById("announcements");
  if (region && region.textContent !== text) region.textContent = text;
}
