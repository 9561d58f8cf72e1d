// What all pages of documents do: mark the section that is read, sort tables, draw charts.
"use strict";

const page = (() => {
  const charts = new Map();

  // How a chart is drawn: `draw(data, figure)`.
  function chart(kind, draw) {
    charts.set(kind, draw);
  }

  // ---- Elements ---------------------------------------------------------------------------------

  function fill(made, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
      if (value === null || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else made.setAttribute(name, value === true ? "" : value);
    }
    made.append(...children.flat(2).filter((child) => child !== null));
    return made;
  }

  // element("p", {class: "note"}, "text", ...). Texts are set as texts: names may hold anything.
  function element(tag, attributes, ...children) {
    return fill(document.createElement(tag), attributes, children);
  }
  function svg(tag, attributes, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
  }

  // A name within a text that has no elements: one from right to left turns nothing else around.
  function isolated(text) {
    return /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/.test(text) ? `\u2068${text}\u2069` : text;
  }

  // `text` in at most `most` characters, cut in its middle.
  function brief(text, most) {
    const characters = [...text.replace(/\s+/g, " ")];
    if (characters.length <= most) return characters.join("");
    const kept = (most - 1) / 2;
    const first = characters.slice(0, Math.ceil(kept)).join("");
    return `${first}…${characters.slice(-Math.floor(kept)).join("")}`;
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

  // Largest first, what is not known last; a second time the other way, a third as it was.
  function sortBy(table, column, planned) {
    const heads = [...table.tHead.rows[0].cells];
    const before = heads[column].getAttribute("aria-sort");
    const next = { descending: "ascending", ascending: null }[before] ?? "descending";
    const order = before === "ascending" ? null : next;
    for (const head of heads) head.removeAttribute("aria-sort");
    if (order) heads[column].setAttribute("aria-sort", order);
    const sign = order === "ascending" ? 1 : -1;
    const compare = ([a], [b]) => {
      const [one, other] = [valueOf(a, column), valueOf(b, column)];
      if (typeof one !== typeof other) return typeof one === "number" ? -1 : 1;
      if (typeof one === "number") return sign * (one - other);
      return -sign * one.localeCompare(other);
    };
    const groups = order ? [...planned].sort(compare) : planned;
    table.tBodies[0].append(...groups.flat());
  }

  function makeSortable(table) {
    const planned = groupsOf(table.tBodies[0]);
    if (planned.length < 2) return;
    [...table.tHead.rows[0].cells].forEach((head, column) => {
      const button = element("button", {
        type: "button", class: "sort", onclick: () => sortBy(table, column, planned),
      }, ...head.childNodes);
      head.append(button);
    });
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

  // ---- Files ------------------------------------------------------------------------------------

  function addCopyButton(listing) {
    const button = element("button", { type: "button", async onclick() {
      let done = "Copied";
      try {
        await navigator.clipboard.writeText(listing.textContent);
      } catch {
        done = "The browser does not allow it";
      }
      button.textContent = done;
      setTimeout(() => { button.textContent = "Copy"; }, 2000);
    } }, "Copy");
    listing.before(button);
  }

  // ---- The page ---------------------------------------------------------------------------------

  // Marks the link of the last section that begins in the upper third of the window, or at the
  // page's end of the last of all, and keeps it in sight.
  function followReading(list) {
    const all = [...list.querySelectorAll("a")];
    const links = new Map(all.map((link) => [link.hash.slice(1), link]));
    let marked = null;
    function mark() {
      const atEnd = scrollY > 0 &&
        scrollY + innerHeight >= document.documentElement.scrollHeight - 2;
      const ids = [...links.keys()];
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
    document.querySelectorAll("table.sorted").forEach(makeSortable);
    document.querySelectorAll(".scroll").forEach((box) => scrolling.observe(box));
    document.querySelectorAll("pre.listing").forEach(addCopyButton);
    for (const figure of document.querySelectorAll("figure.drawn")) {
      const data = JSON.parse(figure.dataset.chart);
      charts.get(data.kind)(data, figure);
    }
    const list = document.querySelector("nav ul");
    if (list.children.length) followReading(list);
    // Paper has no use for what is folded, and its own width.
    addEventListener("beforeprint", () => {
      document.documentElement.dataset.printing = "true";
      for (const folded of document.querySelectorAll("details")) folded.open = true;
    });
    addEventListener("afterprint", () => { delete document.documentElement.dataset.printing; });
    document.documentElement.dataset.ready = "true";
  }

  addEventListener("DOMContentLoaded", start);

  return { chart, element, svg, isolated, brief };
})();
