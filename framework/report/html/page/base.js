// What all sections of the page share: how figures are written, how elements, tables and charts are
// made, and the list of sections. Times are in nanoseconds throughout.
"use strict";

const graphline = (() => {
  const sections = [];
  const charts = []; // {chart, configure}: drawn again when the colours change

  // A section of the page, in the order of the calls: `id` for links, `title`, `draws(data)` whether
  // there is anything to show, `draw(data, box)` which fills its element.
  function section(description) {
    sections.push(description);
  }

  // ---- Figures -----------------------------------------------------------------------------------

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
    const before = Math.floor(Math.log10(Math.abs(value))) + 1;
    return value.toFixed(Math.max(0, Math.min(9, digits - before)));
  }

  // "1.23 ms"; "-" for what is not known.
  function duration(ns, significant = 3) {
    if (ns === null || ns === undefined) return "-";
    const unit = unitFor(ns);
    return `${digits(ns / unit.ns, significant)} ${unit.name}`;
  }

  // A time in a unit that others are in too, without its name.
  function inUnit(ns, unit, significant = 3) {
    return ns === null || ns === undefined ? "-" : digits(ns / unit.ns, significant);
  }

  function percent(part, significant = 2) {
    return part === null || part === undefined ? "-" : `${digits(100 * part, significant)} %`;
  }

  const whole = new Intl.NumberFormat("en-US");
  function counted(number, what) {
    return `${whole.format(number)} ${what}${number === 1 ? "" : "s"}`;
  }

  // ---- Elements ----------------------------------------------------------------------------------

  function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes ?? {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat().filter((child) => child !== null && child !== undefined));
    return made;
  }

  // element("p", {class: "note"}, "text", ...). Texts are set as texts: names may hold anything.
  function element(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }
  function svg(tag, attributes, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  }

  // `columns`: [{title, number: true}]; `rows`: lists of texts or elements, as many as there are
  // columns. The first column names the row.
  function table(caption, columns, rows) {
    const style = (column) => (column.number ? "number" : null);
    return element("div", { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
      element("table", {},
        element("caption", {}, caption),
        element("thead", {}, element("tr", {}, columns.map((column) =>
          element("th", { scope: "col", class: style(column) }, column.title)))),
        element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) =>
          element(i === 0 ? "th" : "td",
            { class: style(columns[i]), scope: i === 0 ? "row" : null }, cell)))))));
  }

  // A picture with its words and, folded away, the table of what it shows.
  function figure(caption, picture, tabled) {
    return element("figure", {}, picture,
      element("figcaption", {}, caption),
      tabled ? element("details", { class: "tabled" }, element("summary", {}, "As a table"), tabled)
             : null);
  }

  // ---- Colours and charts ------------------------------------------------------------------------

  // A colour of style.css: colour("device"), colour("ink").
  function colour(name) {
    return getComputedStyle(document.documentElement).getPropertyValue(`--${name}`).trim();
  }

  // Appends a chart of Chart.js to `box`. `configure()` gives its configuration with the colours of
  // the moment; it is called again when they change. `label` says in words what is seen.
  function chart(box, label, configure, height = 260) {
    const canvas = element("canvas", { role: "img", "aria-label": label, tabindex: "0" });
    box.append(element("div", { class: "chart", style: `height: ${height}px` }, canvas));
    const entry = { configure, canvas, chart: null };
    entry.chart = new Chart(canvas, themed(configure()));
    charts.push(entry);
    return entry;
  }

  function themed(configuration) {
    const given = configuration.options ?? {};
    const axes = {};
    for (const [name, axis] of Object.entries(given.scales ?? {})) {
      axes[name] = {
        ...axis,
        grid: { color: colour("line"), borderColor: colour("line"), ...axis.grid },
        ticks: { color: colour("faint"), ...axis.ticks },
        title: { color: colour("faint"), display: Boolean(axis.title?.text), ...axis.title },
      };
    }
    return {
      ...configuration,
      options: {
        animation: false, responsive: true, maintainAspectRatio: false, ...given, scales: axes,
        plugins: {
          ...given.plugins,
          legend: { display: false, ...given.plugins?.legend,
                    labels: { color: colour("ink"), boxWidth: 12, ...given.plugins?.legend?.labels } },
        },
      },
    };
  }

  // Draws a chart anew by what its `configure` gives now; `entry` is what `chart` returned.
  function redraw(entry) {
    entry.chart.destroy();
    entry.chart = new Chart(entry.canvas, themed(entry.configure()));
  }

  function drawAgain() {
    charts.forEach(redraw);
    document.dispatchEvent(new Event("graphline:colours"));
  }

  // ---- The page ----------------------------------------------------------------------------------

  function start() {
    const data = JSON.parse(document.getElementById("data").textContent);
    const main = document.querySelector("main");
    const links = document.querySelector("nav ul");
    drawHeading(data);
    Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
    for (const { id, title, draws, draw } of sections) {
      if (!draws(data)) continue;
      const box = element("section", { id, "aria-labelledby": `${id}-title` },
        element("h2", { id: `${id}-title` }, title));
      main.append(box);
      links.append(element("li", {}, element("a", { href: `#${id}` }, title)));
      draw(data, box);
    }
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", drawAgain);
    addEventListener("beforeprint", () => {
      for (const folded of document.querySelectorAll("details")) folded.open = true;
      for (const entry of charts) entry.chart.resize();
    });
    document.documentElement.dataset.ready = "true";
  }

  return { section, start, units, unitFor, digits, duration, inUnit, percent, whole, counted, element,
           svg, table, figure, colour, chart, redraw };
})();
