// What the sections of an experiment share: which configurations are shown, how they are told
// apart, scales, and tables with a picture in each row.
"use strict";

const experiment = (() => {
  const { element, svg, name, colour } = graphline;

  // ---- Which configurations are shown ----------------------------------------------------------

  let wanted = "";
  const redraws = [];

  // Shows those whose name holds every word of `text`, or with it as their id, in all sections.
  function filterBy(text) {
    wanted = text.trim().toLowerCase();
    for (const redraw of redraws) redraw();
  }
  // Calls `redraw` now and whenever others are to be shown.
  function drawn(redraw) {
    redraws.push(redraw);
    redraw();
  }
  function isShown(member) {
    const text = `${member.configuration} ${member.pipeline}`.toLowerCase();
    return wanted.split(/\s+/).every((word) => word === member.id || text.includes(word));
  }

  // Every member with its place in the list and what tells it apart in charts.
  function membersOf(data) {
    return data.experiment.members.map((member, who) => ({ ...member, who }));
  }
  function pipelinesOf(data) {
    return [...new Set(data.experiment.members.map((member) => member.pipeline))];
  }

  // The cells that name a member.
  function names(member) {
    return member.names.map(name);
  }

  const tones = 6;
  const shapes = ["circle", "triangle", "rect", "rectRot", "crossRot", "star", "cross"];
  const dashes = [[], [6, 3], [2, 2], [8, 3, 2, 3], [12, 4], [1, 3], [4, 6]];
  // As many configurations as tones differ by colour, further ones by shape and dashes too.
  const toneOf = (who) => colour(`series-${(who % tones) + 1}`);
  const shapeOf = (who) => shapes[(who + Math.floor(who / tones)) % shapes.length];
  const dashOf = (who) => dashes[Math.floor(who / tones) % dashes.length];

  // ---- Controls --------------------------------------------------------------------------------

  function filterField(label, hint) {
    return element("label", { class: "control" }, label,
      element("input", { type: "search", placeholder: hint, size: 30,
        oninput: (event) => filterBy(event.target.value) }));
  }
  function controls(...items) {
    const kept = items.filter(Boolean);
    return kept.length ? element("div", { class: "controls" }, kept) : null;
  }

  // A list of switches, one for each member, with what stands for it in a chart: a "line" or a
  // "point". `change(hidden)` gets the set of those that were switched off.
  function switches(members, form, change) {
    const hidden = new Set();
    const buttons = members.map((member) => {
      const button = element("button", { type: "button", "aria-pressed": "true",
        title: member.configuration,
        onclick: () => switchTo([member], hidden.has(member.who)) },
      sample(member.who, form), name(member.label));
      return [member, button];
    });
    function switchTo(some, on) {
      for (const { who } of some) on ? hidden.delete(who) : hidden.add(who);
      for (const [{ who }, button] of buttons) {
        button.setAttribute("aria-pressed", String(!hidden.has(who)));
      }
      change(hidden);
    }
    // First: of many switches the last are out of sight.
    const allAtOnce = [["all", true], ["none", false]].map(([text, on]) =>
      element("button", { type: "button", class: "plain", onclick: () => switchTo(members, on) },
        text));
    return element("div", { class: "switches", role: "group", "aria-label": "Shown in the chart" },
      members.length > 4 ? allAtOnce : [], buttons.map(([, button]) => button));
  }

  function sample(who, form) {
    const tone = `var(--series-${(who % tones) + 1})`;
    const picture = svg("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" });
    if (form === "line") {
      picture.append(svg("line", { x1: 1, x2: 21, y1: 6, y2: 6, "stroke-width": 2.5,
        "stroke-dasharray": dashOf(who).join(" ") || null, style: `stroke: ${tone}` }));
    } else {
      picture.append(svg("path", { d: outlines[shapeOf(who)], "stroke-width": 2,
        style: `fill: ${tone}; stroke: ${tone}` }));
    }
    return picture;
  }
  const outlines = {
    circle: "M7 6a4 4 0 1 0 8 0a4 4 0 1 0 -8 0",
    triangle: "M11 2L15 9.5H7Z",
    rect: "M7.5 2.5h7v7h-7Z",
    rectRot: "M11 1.5L15.5 6L11 10.5L6.5 6Z",
    crossRot: "M8 3L14 9M14 3L8 9",
    star: "M11 1.5V10.5M7 4L15 8M15 4L7 8",
    cross: "M11 2V10M7 6H15",
  };

  // ---- Scales ----------------------------------------------------------------------------------

  // A scale that holds `values`: `at(value)` is a place in percent of the width, within it;
  // `ticks` are round figures. Logarithmic where the values are far apart, unless `zero` is in it.
  function scale(values, { zero = false, wanted = 5 } = {}) {
    // Not as arguments of one call, which takes no more than some ten thousand.
    let low = values.reduce((least, value) => Math.min(least, value), zero ? 0 : Infinity);
    let high = values.reduce((most, value) => Math.max(most, value), zero ? 0 : -Infinity);
    if (!(high > low)) {
      const beside = high === 0 ? 1 : Math.abs(high) * 0.05;
      [low, high] = [low - beside, high + beside];
    }
    const logarithmic = !zero && low > 0 && high / low > 30;
    const place = logarithmic ? Math.log : (value) => value;
    const at = (value) => {
      const part = (place(value) - place(low)) / (place(high) - place(low));
      return 3 + 94 * Math.min(1, Math.max(0, part));
    };
    const ticks = logarithmic ? powers(low, high, wanted) : rounds(low, high, wanted);
    return { low, high, at, ticks, logarithmic };
  }

  function rounds(low, high, wanted) {
    const rough = (high - low) / wanted;
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = power * [1, 2, 5, 10].find((factor) => factor * power >= rough);
    const found = [];
    for (let i = Math.ceil(low / step); i * step <= high * (1 + 1e-12); ++i) {
      found.push(Number((i * step).toPrecision(12)));
    }
    return found;
  }

  function powers(low, high, wanted) {
    const found = [];
    for (let power = Math.floor(Math.log10(low)); power <= Math.log10(high); ++power) {
      for (const factor of Math.log10(high / low) > wanted / 2 ? [1] : [1, 2, 5]) {
        const value = factor * 10 ** power;
        if (value >= low && value <= high) found.push(value);
      }
    }
    return found;
  }

  // A tick's figure, with a true minus.
  function plain(value) {
    return String(Number(value.toPrecision(6))).replace("-", "\u2212");
  }

  // The figures over a column of pictures.
  function axis(of, unit) {
    return svg("svg", { class: "strip axis", "aria-hidden": "true" },
      of.ticks.map((tick) =>
        svg("text", { x: `${of.at(tick)}%`, y: "70%", "text-anchor": "middle" }, plain(tick))),
      svg("title", {}, unit));
  }
  function gridlines(of) {
    return of.ticks.map((tick) => svg("line", { class: tick === 0 ? "zero" : "tick",
      x1: `${of.at(tick)}%`, x2: `${of.at(tick)}%`, y1: "0", y2: "100%" }));
  }

  // ---- Tables with a picture in each row -------------------------------------------------------

  // `names`: headings of the names. `picture`: {title, axis}. `columns`: [{title, number}].
  // `groups`: [{title, rows: [{names, picture, words, cells, dull}...]}...]; `words` say what the
  // picture shows. On a narrow window each row becomes a block.
  function strips(caption, { names, picture, columns, groups }) {
    const width = names.length + 1 + columns.length;
    const count = groups.reduce((sum, { rows }) => sum + rows.length, 0);
    const row = ({ names: own, picture: parts, words, cells, dull }) =>
      element("tr", { role: "row", class: dull ? "dull" : null },
        own.map((cell, i) =>
          element("th", { role: "rowheader", scope: "row", "data-title": names[i] }, cell)),
        element("td", { role: "cell", class: "picture" },
          svg("svg", { class: "strip", role: "img", "aria-label": words }, parts)),
        cells.map((cell, i) => element("td", { role: "cell", "data-title": columns[i].title,
          class: columns[i].number ? "number" : null }, cell)));
    return graphline.scrollable(element("div", { class: `scroll ${height(count)}`, role: "region",
      "aria-label": caption }, element("table", { class: "strips", role: "table" },
        element("caption", {}, caption),
        element("thead", { role: "rowgroup" }, element("tr", { role: "row" },
          names.map((title) => element("th", { role: "columnheader", scope: "col" }, name(title))),
          element("th", { role: "columnheader", scope: "col", class: "picture" },
            picture.title, picture.axis),
          columns.map(({ title, number }) => element("th", { role: "columnheader", scope: "col",
            class: number ? "number" : null }, title)))),
        groups.map(({ title, rows }) => element("tbody", { role: "rowgroup" },
          title ? element("tr", { role: "row", class: "group" },
            element("th", { role: "rowheader", colspan: width, scope: "rowgroup" }, title)) : null,
          rows.map(row))))));
  }

  // The class of a box around so many rows: many scroll under their headings.
  function height(rows) {
    return rows > 20 ? "tall" : "";
  }

  function none(what) {
    return element("p", { class: "note", role: "status" }, `No name of ${what} holds "${wanted}".`);
  }

  // ---- Verdicts --------------------------------------------------------------------------------

  const signs = { faster: "\u25bc", slower: "\u25b2", same: "=", undecided: "?" };
  function verdict(word) {
    return element("span", { class: `verdict ${word}` },
      element("span", { class: "sign", "aria-hidden": "true" }, signs[word]), word);
  }

  // Rows of ratios against a reference as a forest: an interval with a mark on the estimate, the
  // margin within which differences are none shaded. `rows`: [{names, value, range, verdict, words,
  // cells}...] with value and range in `unit`; a row without `verdict` is what others are compared
  // with. `margin`: null or in the same unit.
  function forest(caption, { names, title, unit, margin, columns, groups }) {
    const rows = groups.flatMap((group) => group.rows).filter((row) => row.verdict);
    const values = rows.map((row) => row.value);
    // An interval far wider than the others must not squeeze them.
    const extents = rows.flatMap(({ range }) => (range ? [Math.max(...range.map(Math.abs))] : []))
      .sort((a, b) => a - b);
    const usual = extents.length ? extents[(extents.length - 1) >> 1] : 0;
    const reach =
      Math.max(3 * Math.max(...values.map(Math.abs)), 4.5 * (margin ?? 0), 2 * usual, 1e-9);
    const ends = rows.flatMap((row) => row.range ?? [])
      .map((end) => Math.min(reach, Math.max(-reach, end)));
    const of = scale([...values, ...ends, ...(margin ? [-margin, margin] : [])], { zero: true });
    const shade = margin ? svg("rect", { class: "margin", x: `${of.at(-margin)}%`, y: 0,
      width: `${of.at(margin) - of.at(-margin)}%`, height: "100%" }) : null;
    const parts = (row) => [shade?.cloneNode(), gridlines(of), row.verdict ? marks(row, of) : []]
      .flat().filter(Boolean);
    return strips(caption, { names, columns, picture: { title, axis: axis(of, unit) },
      groups: groups.map((group) => ({ ...group,
        rows: group.rows.map((row) => ({ ...row, dull: !row.verdict, picture: parts(row) })) })) });
  }

  function marks({ value, range, verdict: word }, of) {
    const found = [];
    if (range) {
      found.push(svg("line", { class: `range ${word}`, x1: `${of.at(range[0])}%`,
        x2: `${of.at(range[1])}%`, y1: "50%", y2: "50%" }));
      for (const [end, beyond] of [[range[0], range[0] < of.low], [range[1], range[1] > of.high]]) {
        found.push(beyond
          ? svg("text", { class: `beyond ${word}`, x: end < of.low ? "0%" : "100%", y: "50%",
              "text-anchor": end < of.low ? "start" : "end", "dominant-baseline": "central" },
            end < of.low ? "\u25c2" : "\u25b8")
          : svg("line", { class: `range ${word}`, x1: `${of.at(end)}%`, x2: `${of.at(end)}%`,
              y1: "32%", y2: "68%" }));
      }
    }
    found.push(
      svg("circle", { class: `point ${word}`, cx: `${of.at(value)}%`, cy: "50%", r: 4.5 }));
    return found;
  }

  return { filterField, drawn, isShown, membersOf, pipelinesOf, toneOf, shapeOf, dashOf,
           controls, switches, names, scale, axis, gridlines, strips, height, none, verdict,
           forest };
})();
