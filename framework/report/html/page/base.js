// What all sections of the page share: how figures are written, how elements and tables are made,
// and the list of sections. Times are in nanoseconds throughout. Charts are in charts.js.
"use strict";

const graphline = (() => {
  const sections = [];

  // A section of the page, in the order of the calls: `id` for links, `title`, `draws(data)`
  // whether there is anything to show, `draw(data, box)` which fills its element.
  function section(description) {
    sections.push(description);
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

  // `text` in at most `most` characters, cut in its middle, for where there is little room.
  function brief(text, most = 40) {
    const characters = [...text.replace(/\s+/g, " ")];
    if (characters.length <= most) return characters.join("");
    const kept = (most - 1) / 2;
    const first = characters.slice(0, Math.ceil(kept)).join("");
    return `${first}…${characters.slice(-Math.floor(kept)).join("")}`;
  }

  // Texts of a list that can be told apart: those that are alike are numbered by their places.
  function distinct(texts) {
    const seen = new Map();
    for (const text of texts) seen.set(text, (seen.get(text) ?? 0) + 1);
    return texts.map((text, i) => (seen.get(text) > 1 ? `${i + 1}. ${text}` : text));
  }

  // A name within a text that has no elements, such as an option or words on a chart.
  function isolated(text) {
    return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
  }

  // What scrolls is a stop of the keyboard only while there is something to scroll to.
  const scrolling = new ResizeObserver((entries) => {
    for (const { target } of entries) {
      const { scrollWidth, clientWidth, scrollHeight, clientHeight } = target;
      const more = scrollWidth > clientWidth || scrollHeight > clientHeight;
      if (more) target.setAttribute("tabindex", "0");
      else target.removeAttribute("tabindex");
    }
  });

  // `box`, which is given a stop of the keyboard while it scrolls.
  function scrollable(box) {
    scrolling.observe(box);
    return box;
  }

  // `columns`: [{title, number: true}]; `rows`: lists of texts or elements, as many as there are
  // columns. The first column names the row.
  function table(caption, columns, rows) {
    const style = (column) => (column.number ? "number" : null);
    return scrollable(element("div", { class: "scroll", role: "region", "aria-label": caption },
      element("table", {},
        element("caption", {}, caption),
        element("thead", {}, element("tr", {}, columns.map((column) =>
          element("th", { scope: "col", class: style(column) }, column.title)))),
        element("tbody", {}, rows.map((row) => element("tr", {}, row.map((cell, i) =>
          element(i === 0 ? "th" : "td",
            { class: style(columns[i]), scope: i === 0 ? "row" : null }, cell))))))));
  }

  // A picture with its words and, folded away, the table of what it shows.
  function figure(caption, picture, tabled) {
    return element("figure", {}, picture,
      element("figcaption", {}, caption),
      tabled ? element("details", { class: "tabled" }, element("summary", {}, "As a table"), tabled)
             : null);
  }

  // Controls with their words, which may be elements. `options`: [[value, text]...]; `change` is
  // called with the value that is chosen, as a text, or with whether the box is ticked.
  function choice(words, options, change) {
    const select = element("select", { onchange: () => change(select.value) },
      options.map(([value, text]) => element("option", { value }, text)));
    return element("label", { class: "control" }, words, select);
  }
  function toggle(words, change, on = false) {
    const box = element("input", { type: "checkbox", checked: on,
                                   onchange: () => change(box.checked) });
    return element("label", { class: "control" }, box, words);
  }

  // Tells people who listen to the page rather than see it.
  function say(text) {
    document.getElementById("said").textContent = text;
  }

  // ---- The page ---------------------------------------------------------------------------------

  // Marks the link of the section that is being read, and keeps it in sight where not all links
  // are: of the last section that begins in the upper third of the window, or at the page's end
  // of the last of all.
  function followReading(list, links) {
    const ids = [...links.keys()];
    let marked = null;
    function mark() {
      const { scrollHeight } = document.documentElement;
      const atEnd = scrollY > 0 && scrollY + innerHeight >= scrollHeight - 2;
      const begun = ids.filter((id) =>
        document.getElementById(id).getBoundingClientRect().top < innerHeight / 3);
      const current = (atEnd ? ids : begun).at(-1) ?? ids[0];
      if (current === marked) return;
      links.get(marked)?.removeAttribute("aria-current");
      links.get(current).setAttribute("aria-current", "true");
      list.scrollLeft = links.get(current).offsetLeft - list.clientWidth / 3;
      marked = current;
    }
    addEventListener("scroll", mark, { passive: true });
    addEventListener("resize", mark);
    mark();
  }

  function start() {
    const data = JSON.parse(document.getElementById("data").textContent);
    const main = document.querySelector("main");
    const list = document.querySelector("nav ul");
    const links = new Map();
    document.body.append(
      element("div", { id: "said", class: "unseen", role: "status", "aria-live": "polite" }));
    drawHeading(data);
    for (const { id, title, draws, draw } of sections) {
      if (!draws(data)) continue;
      const box = element("section", { id, "aria-labelledby": `${id}-title` },
        element("h2", { id: `${id}-title` }, title));
      main.append(box);
      links.set(id, element("a", { href: `#${id}` }, title));
      list.append(element("li", {}, links.get(id)));
      draw(data, box);
    }
    if (links.size) followReading(list, links);
    document.documentElement.dataset.ready = "true";
  }

  return { section, start, units, unitFor, digits, duration, inUnit, percent, whole, counted,
           element, svg, name, brief, distinct, isolated, scrollable, table, figure, choice, toggle,
           say };
})();
