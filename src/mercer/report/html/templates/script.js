(function () {
  "use strict";
  var root = document.documentElement;
  var button = document.getElementById("theme");
  var prefersDark = window.matchMedia("(prefers-color-scheme: dark)");
  function isDark() {
    var chosen = root.getAttribute("data-theme");
    return chosen ? chosen === "dark" : prefersDark.matches;
  }
  function name() {
    button.textContent = isDark() ? "Light" : "Dark";
    button.setAttribute("aria-label", isDark() ? "Use light colors" : "Use dark colors");
  }
  if (button) {
    button.hidden = false;
    button.addEventListener("click", function () {
      root.setAttribute("data-theme", isDark() ? "light" : "dark");
      name();
    });
    prefersDark.addEventListener("change", name);
    name();
  }

  function key(row, at) {
    var cell = row.cells[at];
    if (cell.hasAttribute("data-sort")) {
      var value = cell.getAttribute("data-sort");
      return value === "" ? null : Number(value);
    }
    return cell.textContent.trim().toLowerCase();
  }
  function compare(a, b, descending) {
    if (a === null || b === null) return a === b ? 0 : a === null ? 1 : -1;
    var order = typeof a === "number" ? a - b : a.localeCompare(b, undefined, { numeric: true });
    return descending ? -order : order;
  }
  function sort(table, header) {
    var descending = header.getAttribute("aria-sort") === "ascending" ||
      (!header.hasAttribute("aria-sort") && header.classList.contains("num"));
    table.querySelectorAll("th[aria-sort]").forEach(function (each) { each.removeAttribute("aria-sort"); });
    header.setAttribute("aria-sort", descending ? "descending" : "ascending");
    var body = table.tBodies[0], at = header.cellIndex;
    Array.from(body.rows).map(function (row) { return [key(row, at), row]; })
      .sort(function (a, b) { return compare(a[0], b[0], descending); })
      .forEach(function (pair) { body.appendChild(pair[1]); });
  }
  document.querySelectorAll("table.sortable").forEach(function (table) {
    if (table.tBodies[0].rows.length < 2) return;
    table.tHead.querySelectorAll("th:not(.fixed)").forEach(function (header) {
      var sorter = document.createElement("button");
      sorter.type = "button";
      sorter.className = "sort";
      while (header.firstChild) sorter.appendChild(header.firstChild);
      sorter.querySelectorAll("a").forEach(function (link) { link.replaceWith(link.textContent); });
      header.appendChild(sorter);
      sorter.addEventListener("click", function () { sort(table, header); });
    });
  });

  var links = Array.from(document.querySelectorAll("nav a"));
  var sections = links.map(function (link) { return document.getElementById(link.getAttribute("href").slice(1)); });
  if ("IntersectionObserver" in window) {
    var observer = new IntersectionObserver(function () {
      var current = 0;
      sections.forEach(function (section, i) { if (section && section.getBoundingClientRect().top < 140) current = i; });
      links.forEach(function (link, i) {
        if (i === current) link.setAttribute("aria-current", "true"); else link.removeAttribute("aria-current");
      });
    }, { rootMargin: "-120px 0px -60% 0px", threshold: [0, 0.1, 0.5, 1] });
    sections.forEach(function (section) { if (section) observer.observe(section); });
  }
  window.addEventListener("beforeprint", function () {
    document.querySelectorAll("details:not([open])").forEach(function (each) { each.open = true; each.dataset.printed = ""; });
  });
  window.addEventListener("afterprint", function () {
    document.querySelectorAll("details[data-printed]").forEach(function (each) { each.open = false; delete each.dataset.printed; });
  });
})();
