// What all pages of documents do: sort tables, draw charts. Times are in nanoseconds throughout.
// What is drawn on a canvas has its helpers in charts.js.
"use strict";

const page = (() => {
  const charts = new Map();

  // How a chart is drawn: `draw(data, figure)`.
  function chart(kind, draw) {
    charts.set(kind, draw);
  }

  // ---- Figures ----------------------------------------------------------------------------------

  const units = [
    { name: "s", ns: 1e9 },
    { name: "ms", ns: 1e6 },
    { name: "us", ns: 1e3 },
    { name: "ns", ns: 1 },
  ];

  // The unit in which a time of `ns` reads best.
  function unitFor(ns) {
    return units.find((unit) => Math.abs(ns) >= unit.ns) ?? units[3];
  }

  // A number with `digits` significant digits, never in powers of ten.
  function digits(value, digits = 3) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    if (value === 0) return "0";
    // Of the rounded value: 9.97 in two digits is 10, which has none after the point.
    const before = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits))))) + 1;
    return value.toFixed(Math.max(0, Math.min(9, digits - before)));
  }

  // "1.23 ms"; "-" for what is not known.
  function duration(ns, significant = 3) {
    if (ns === null || ns === undefined) return "-";
    const unit = unitFor(ns);
    const figure =
      unit.ns === 1 ? whole.format(Math.round(ns)) : digits(ns / unit.ns, significant);
    return `${figure} ${unit.name}`;
  }

  // What is there and very small is not drowned in digits.
  function percent(part, significant = 2) {
    if (part > 0 && part < 0.001) return "< 0.1 %";
    return part === null || part === undefined ? "-" : `${digits(100 * part, significant)} %`;
  }

  const whole = new Intl.NumberFormat("en-US");
  function counted(number, what) {
    return `${whole.format(number)} ${what}${number === 1 ? "" : "s"}`;
  }

  // ---- Elements ---------------------------------------------------------------------------------

  function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(2).filter((child) => child !== null && child !== undefined));
    return made;
  }

  // element("p", {class: "note"}, "text", ...). Texts are set as texts: names may hold anything.
  function element(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }
  function svg(tag, attributes, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  }

  // A name that a user gave, kept apart from the text around it: its line breaks are shown, and one
  // written from right to left turns nothing else around.
  function name(text) {
    return element("bdi", { class: "name" }, text);
  }

  // What the colors of a picture stand for: [{name, color, shape, title}], `shape` "dot", "patch"
  // or none for a line.
  function legend(list) {
    return element("ul", { class: "legend" }, list.map(({ name, color, shape, title }) =>
      element("li", { title }, element("span", {
        class: `swatch ${shape ?? ""}`, style: `--swatch: var(--${color})`, "aria-hidden": "true",
      }), name)));
  }

  // ---- Tables -----------------------------------------------------------------------------------

  // Rows of parts stay below the row they belong to.
  function groupsOf(body) {
    const groups = [];
    for (const row of body.rows) {
      if (row.matches(".inner")) groups.at(-1).push(row);
      else groups.push([row]);
    }
    return groups;
  }

  function valueOf(row, column) {
    const { dataset, textContent } = row.cells[column];
    return dataset.value === undefined ? textContent : Number(dataset.value);
  }

  // Largest first, what is not known last; a second time the other way.
  function sortBy(table, column, groups) {
    const heads = [...table.tHead.rows[0].cells];
    const before = heads[column].getAttribute("aria-sort");
    const order = before === "descending" ? "ascending" : "descending";
    for (const head of heads) head.removeAttribute("aria-sort");
    heads[column].setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = ([a], [b]) => {
      const [one, other] = [valueOf(a, column), valueOf(b, column)];
      if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
      if (typeof one === "number") return sign * (one - other);
      return -sign * one.localeCompare(other);
    };
    table.tBodies[0].append(...groups.sort(compare).flat());
  }

  function makeSortable(table) {
    const groups = groupsOf(table.tBodies[0]);
    if (groups.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = element("button", {
        type: "button", class: "sort", onclick: () => sortBy(table, column, groups),
      }, ...head.childNodes);
      head.append(button);
    });
  }

  // ---- The page ---------------------------------------------------------------------------------

  function start() {
    document.querySelectorAll("table.sorted").forEach(makeSortable);
    for (const figure of document.querySelectorAll("figure.drawn")) {
      const data = JSON.parse(figure.querySelector("script").textContent);
      charts.get(data.kind)(data, figure);
    }
    document.documentElement.dataset.ready = "true";
  }

  addEventListener("DOMContentLoaded", start);

  return { chart, unitFor, digits, duration, percent, whole, counted, element, svg, name, legend };
})();
