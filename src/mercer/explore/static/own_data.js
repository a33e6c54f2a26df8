// The dialog for one's own points: two columns of the file or of a pasted table, or an empty plane.

import { button, element, select } from "./elements.js";
import { post } from "./requests.js";

// `use(fields)` takes the points as fields of the state.
export function openOwnData(table, use) {
  const message = element("p", { class: "message", role: "alert" });
  const columns = element("div", { class: "columns" });
  const area = element("textarea", {
    rows: 6,
    "aria-label": "Table to paste",
    placeholder: "height,weight,kind\n1.62,61,a\n1.80,79,b",
    spellcheck: "false",
  });
  const dialog = element("dialog", { "aria-label": "Own points" });
  const finish = (fields) => {
    dialog.close();
    dialog.remove();
    if (fields) use(fields);
  };
  const attempt = async (work) => {
    message.textContent = "";
    try {
      await work();
    } catch (error) {
      message.textContent = error.message;
    }
  };
  const choose = (described, from) => columns.replaceChildren(...chooser(described, from, finish, attempt));
  const read = () => attempt(async () => choose(await post("table", JSON.stringify({ text: area.value })), "pasted"));
  dialog.append(
    element("h2", {}, "Own points"),
    element(
      "p",
      {},
      "Paste a table with the names of its columns in the first line: two columns of numbers are the axes, a third column gives the classes.",
    ),
    area,
    element(
      "div",
      { class: "row" },
      button("Read the table", read, { class: "primary" }),
      table ? button(`Columns of ${table.name}`, () => choose(table, "file")) : null,
      button("Empty plane", () => finish({ points: [], test_points: null, x_name: "x1", y_name: "x2" })),
      button("Cancel", () => finish(null)),
    ),
    message,
    columns,
  );
  dialog.addEventListener("cancel", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
  if (table) choose(table, "file");
}

function chooser(described, from, finish, attempt) {
  const numbers = described.numbers.map((name) => [name, name]);
  const classes = described.classes.map((name) => [name, name]);
  const last = described.classes[described.classes.length - 1];
  const chosen = { first: described.numbers[0], second: described.numbers[1], label: last };
  const pick = (key, options, label) => {
    const id = `column-${key}`;
    return element(
      "div",
      { class: "control" },
      element("label", { for: id }, label),
      select(options, chosen[key], (value) => (chosen[key] = value), { id }),
    );
  };
  const show = () => attempt(async () => finish(await post("table", JSON.stringify({ from, ...chosen }))));
  return [
    element("p", {}, `${described.name}: ${described.rows} rows.`),
    pick("first", numbers, "First axis"),
    pick("second", numbers, "Second axis"),
    pick("label", classes, "Classes"),
    button("Show these points", show, { class: "primary" }),
  ];
}
