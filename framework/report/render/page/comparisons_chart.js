// Each configuration against what it is compared with: changes with their intervals, in rows.
"use strict";

page.chart("comparisons", (data, figure) => {
  const { element, svg, isolated, brief } = page;
  const metrics = [...new Set(data.list.map(({ metric }) => metric))];
  const place = element("div", { class: "forest" });
  let metric = metrics[0];
  let drawn = 0;

  const percent = (part) => `${part > 0 ? "+" : ""}${page.digits(100 * part, 2)} %`;

  // Comparisons of the metric, each baseline's below a line that names it.
  function rows() {
    const list = [];
    let reference = null;
    for (const one of data.list.filter((other) => other.metric === metric)) {
      if (one.reference !== reference) list.push({ title: `against ${isolated(one.reference)}` });
      reference = one.reference;
      list.push(one);
    }
    return list;
  }

  // A step of 1, 2 or 5 times a power of ten that divides a range into at most five.
  function stepOf(range) {
    const power = 10 ** Math.floor(Math.log10(range / 5));
    return power * [1, 2, 5, 10].find((step) => step * power >= range / 5);
  }

  function draw() {
    const width = place.clientWidth;
    if (width === 0) return;
    drawn = width;
    const list = rows();
    const ends = list.flatMap(({ change, low, high }) => [change, low, high])
      .filter((end) => Number.isFinite(end));
    const low = Math.min(-1.5 * data.margin, ...ends);
    const high = Math.max(1.5 * data.margin, ...ends);
    const left = Math.min(190, width * 0.35);
    const right = width - 16;
    const at = (part) => left + (right - left) * (part - low) / (high - low);
    const step = stepOf(high - low);
    const line = 24;
    const foot = list.length * line;
    const ticks = [];
    for (let i = Math.ceil(low / step); i * step <= high; ++i) ticks.push(i * step);
    const row = (one, i) => {
      const y = i * line + line / 2;
      const most = Math.floor(left / 7);
      if (one.title) return svg("text", { x: 0, y: y + 4, class: "group" }, brief(one.title, 60));
      const tone = { faster: "good", slower: "bad" }[one.verdict] ?? "faint";
      return svg("g", { class: `point ${tone}`, tabindex: "0", role: "img",
                        "aria-label": `${one.name}: ${one.words}` },
        svg("title", {}, `${isolated(one.name)}: ${one.words}`),
        svg("rect", { x: 0, y: i * line, width, height: line, class: "row" }),
        svg("text", { x: 8, y: y + 4 }, brief(isolated(one.name), most)),
        one.low === null ? null
          : svg("line", { x1: at(one.low), x2: at(one.high), y1: y, y2: y }),
        svg("circle", { cx: at(one.change), cy: y, r: 4.5 }));
    };
    const height = foot + 24;
    place.replaceChildren(svg("svg", { width, height, viewBox: `0 0 ${width} ${height}` },
      svg("rect", { class: "margin", x: at(-data.margin), y: 0,
                    width: at(data.margin) - at(-data.margin), height: foot }),
      ticks.map((part) => [
        svg("line", { class: Math.abs(part) < step / 2 ? "zero" : "grid", x1: at(part),
                      x2: at(part), y1: 0, y2: foot }),
        svg("text", { class: "tick", x: at(part), y: foot + 16, "text-anchor": "middle" },
          percent(part)),
      ]),
      list.map(row)));
  }

  if (metrics.length > 1) {
    figure.append(element("div", { class: "controls" }, page.choice("Metric",
      metrics.map((one) => [one, one]), (value) => { metric = value; draw(); })));
  }
  figure.append(place);
  new ResizeObserver(() => { if (place.clientWidth !== drawn) draw(); }).observe(place);
  draw();
});
