// Draws the document: header, sections, sortable tables and charts. Times are in nanoseconds.
"use strict";

const page = (() => {
  const charts = new Map();

  // Registers `draw(data, figure)` for a kind of chart.
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

  // Returns the most readable unit for a time.
  function unitFor(ns) {
    return units.find((unit) => Math.abs(ns) >= unit.ns) ?? units[3];
  }

  // Returns a number with `digits` significant digits and without exponent.
  function digits(value, digits = 3) {
    if (value === null || value === undefined || !Number.isFinite(value)) return "-";
    if (value === 0) return "0";
    // Counts digits after rounding, since 9.97 with two digits becomes 10.
    const before = Math.floor(Math.log10(Math.abs(Number(value.toPrecision(digits))))) + 1;
    return value.toFixed(Math.max(0, Math.min(9, digits - before)));
  }

  // Returns "1.23 ms"; "-" if the time is unknown.
  function duration(ns, significant = 3) {
    if (ns === null || ns === undefined) return "-";
    const unit = unitFor(ns);
    const figure =
      unit.ns === 1 ? whole.format(Math.round(ns)) : digits(ns / unit.ns, significant);
    return `${figure} ${unit.name}`;
  }

  // Returns "12 %", or "< 0.1 %" for tiny fractions.
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

  // Creates element("p", {class: "note"}, "text", ...). Strings become text, never markup.
  function element(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }
  function svg(tag, attributes, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  }

  // Returns an element for a name from a file. Shows line breaks, and isolates right-to-left text.
  function name(text) {
    return element("bdi", { class: "name" }, text);
  }

  // Returns a legend of [{name, color, shape, title}]. `shape` is "dot" or "patch"; a line if
  // missing.
  function legend(list) {
    return element("ul", { class: "legend" }, list.map(({ name, color, shape, title }) =>
      element("li", { title }, element("span", {
        class: `swatch ${shape ?? ""}`, style: `--swatch: var(--${color})`, "aria-hidden": "true",
      }), name)));
  }

  // ---- Tables -----------------------------------------------------------------------------------

  // Sorts a table by a column when its heading is clicked: largest value first, unknown values
  // last. A second click reverses the order. Rows of parts stay below the row that they belong to.
  function makeSortable(table) {
    const heads = [...table.tHead.rows[0].cells];
    const groups = [];
    for (const row of table.tBodies[0].rows) {
      if (row.matches(".inner")) groups.at(-1).push(row);
      else groups.push([row]);
    }
    if (groups.length < 2) return;
    const sortBy = (column) => {
      const descending = heads[column].getAttribute("aria-sort") !== "descending";
      for (const head of heads) head.removeAttribute("aria-sort");
      heads[column].setAttribute("aria-sort", descending ? "descending" : "ascending");
      const numberOf = ([row]) => Number(row.cells[column].dataset.value ?? NaN);
      const textOf = ([row]) => row.cells[column].textContent;
      table.tBodies[0].append(...groups.sort((a, b) => {
        const [one, other] = [numberOf(a), numberOf(b)];
        const unknown = Number.isNaN(one) - Number.isNaN(other);
        const order = Number.isNaN(one) ? textOf(a).localeCompare(textOf(b)) : other - one;
        return unknown || (descending ? order : -order);
      }).flat());
    };
    heads.forEach((head, column) => head.append(element("button", {
      type: "button", class: "sort", onclick: () => sortBy(column),
    }, ...head.childNodes)));
  }

  function scrolled(title, table) {
    return element("div", { class: "scroll", role: "region", "aria-label": title }, table);
  }

  // Returns a row. Its first cell contains the row's name, and below it the cells of columns
  // `below`.
  function rowOf({ cells, class: style }, columns) {
    const below = cells.filter(({ known }, i) => columns[i].below && known !== false);
    return element("tr", { class: style },
      element("th", { scope: "row" }, name(cells[0].text), below.length === 0 ? null :
        element("span", { class: "under" }, name(below.map(({ text }) => text).join(" · ")))),
      cells.map(({ text, value, tone }, i) => (i === 0 || columns[i].below ? null :
        element("td", { class: tone ?? (columns[i].number && "number"), "data-value": value },
          columns[i].number ? text : name(text)))));
  }

  function tableOf({ title, columns, rows }) {
    const drawn = (total) => rows.filter((row) => Boolean(row.total) === total)
      .map((row) => rowOf(row, columns));
    const totals = drawn(true);
    const table = element("table", {},
      element("caption", { class: "unseen" }, title),
      element("thead", {}, element("tr", {}, columns.filter(({ below }) => !below)
        .map((column) => element("th", { scope: "col", class: column.number && "number" },
          column.title)))),
      element("tbody", {}, drawn(false)),
      totals.length ? element("tfoot", {}, totals) : null);
    makeSortable(table);
    const notes = columns.filter(({ help }) => help).map(({ help }) => element("li", {}, help));
    return [scrolled(title, table),
      notes.length ? element("ul", { class: "notes" }, notes) : null];
  }

  // ---- The document -----------------------------------------------------------------------------

  function lines(list) {
    return element("p", { class: "note" },
      list.map((line, i) => [i > 0 ? element("br") : null, line]));
  }

  function details(title, content, open) {
    return element("details", { class: "facts", open }, element("summary", {}, title), content);
  }

  // Functions that return the elements of a part, by type.
  const drawn = {
    table: tableOf,
    figures: ({ list }) => element("dl", { class: "figures" }, list.map((figure) =>
      element("div", {}, element("dt", {}, figure.title),
        element("dd", { class: figure.number ? "value" : "words" }, name(figure.text)),
        figure.notes.map((text) => element("dd", { class: "note" }, text))))),
    lookup: ({ title, list }) => (list.length === 0 ? [] :
      details(title, scrolled(title, element("table", {}, element("tbody", {},
        list.map(([key, value]) => element("tr", {}, element("th", { scope: "row" }, name(key)),
          element("td", {}, name(value))))))))),
    files: ({ list }) => list.map(([file, text]) =>
      details(name(file), element("pre", { tabindex: 0, dir: "ltr" }, text), true)),
    chart: ({ data, help }) => {
      const figure = element("figure", { class: "drawn" });
      figure.data = data;
      return [figure, help ? element("p", { class: "note" }, help) : null];
    },
    note: ({ text }) => lines(text.split("\n")),
  };

  // Returns the sections of the page. Consecutive figures share a section. A note joins the section
  // before it. The origin of the result comes last.
  function sectionsOf({ findings, parts }) {
    const sections = [];
    const add = (id, title) => sections.push({ id, title, content: [] });
    const notes = findings.filter(({ severity }) => severity === "note");
    if (notes.length) {
      add("findings", "Findings");
      sections[0].content.push(element("ul", { class: "findings" },
        notes.map(({ text }) => element("li", {}, name(text)))));
    }
    const origin = { id: "origin", title: "What made this", content: [] };
    let before = null;
    for (const part of parts) {
      const { type, key, title } = part;
      if (type === "lookup" || type === "files") {
        origin.content.push(drawn[type](part));
        continue;
      }
      if (type !== "note" && !(type === "figures" && before === "figures")) {
        add(key || "more", title);
      } else if (sections.length === 0) {
        add("more", "Notes");
      }
      sections.at(-1).content.push(drawn[type](part));
      before = type;
    }
    return origin.content.flat().length ? [...sections, origin] : sections;
  }

  function headerOf({ kind, predicted, title, description, lines: list, findings }) {
    return [
      element("p", { class: "kind" }, `graphline ${kind}${predicted ? ", predicted" : ""}`),
      element("h1", {}, name(title)),
      description ? element("p", { class: "lead" }, name(description)) : null,
      lines(list.map(name)),
      ...findings.filter(({ severity }) => severity !== "note").map(({ severity, text }) =>
        element("p", { class: `notice ${severity === "failure" ? "bad" : "warning"}`,
                       role: "note" }, name(text))),
    ];
  }

  function start() {
    const of = JSON.parse(document.getElementById("document").textContent);
    const sections = sectionsOf(of);
    document.title = of.title;
    fill(document.querySelector("header"), {}, headerOf(of));
    fill(document.querySelector("nav ul"), {}, sections.map(({ id, title }) =>
      element("li", {}, element("a", { href: `#${id}` }, title))));
    fill(document.querySelector("main"), {}, sections.map(({ id, title, content }) =>
      element("section", { id, "aria-labelledby": `${id}-title` },
        element("h2", { id: `${id}-title` }, title), content.flat())));
    for (const figure of document.querySelectorAll("figure.drawn")) {
      charts.get(figure.data.kind)(figure.data, figure);
    }
    document.documentElement.dataset.ready = "true";
  }

  addEventListener("DOMContentLoaded", start);

  return { chart, unitFor, digits, duration, percent, whole, counted, element, svg, name, legend };
})();
