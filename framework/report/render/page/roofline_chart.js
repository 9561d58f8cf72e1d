// A roofline: ceilings over intensity, stages and their parts as points below them.
"use strict";

class RooflinePicture {
  constructor(data) {
    const { element } = page;
    this.data = data;
    this.withParts = true;
    this.frame = element("div", {
      class: "roofline", role: "group",
      "aria-label": "Stages and their parts below the ceilings; arrow keys move between them",
    });
    this.told = element("p", { class: "told", "aria-live": "polite" });
    this.tell(null);
  }

  showParts(on) {
    this.withParts = on;
    this.drawn = null;
    this.draw();
  }

  // Draws all of it for the width there is, if that has changed.
  draw() {
    const { svg } = page;
    const width = this.frame.clientWidth;
    if (width === 0 || width === this.drawn) return;
    this.drawn = width;
    const height = Math.round(Math.min(Math.max(width * 0.56, 330), 560));
    const shown = this.data.points.filter(({ part }) => this.withParts || !part);
    this.measure(width, height, shown);
    const placed = shown.map((piece) => this.placed(piece));
    for (const { x, y, reach } of placed) {
      this.places.take(x - reach, y - reach, x + reach, y + reach);
    }
    const ground = [this.grid(), this.ceilingLines()];
    const words = this.words(placed);
    // Small ones on top, so that all can be pointed at.
    const marks = [...placed].sort((a, b) => b.reach - a.reach).map((place) => this.mark(place));
    this.frame.replaceChildren(svg("svg", {
      class: "roofline-chart", width, height, viewBox: `0 0 ${width} ${height}`,
    }, ground, svg("g", { class: "marks" }, marks), words));
    this.groups = placed.map(({ piece }) => this.marked.get(piece));
    this.groups[0]?.setAttribute("tabindex", "0");
  }

  measure(width, height, shown) {
    const { bandwidth, ceilings } = this.data;
    const ridges = ceilings.map(({ ridge_point: ridge }) => ridge);
    const area = { left: 46, top: 30, right: width - 10, bottom: height - 40 };
    const x = [...ridges, ...shown.map(({ intensity }) => intensity)];
    const wide = width < 560 ? 2.2 : 3;
    this.area = area;
    this.across = new LogAxis([...x, Math.min(...ridges) / 8], [wide, wide], area.left, area.right);
    const y = shown.flatMap(({ rate, bound_rate: bound }) => [rate, bound ?? rate]);
    this.up = new LogAxis([...y, ...ceilings.map(({ rate }) => rate),
      ...(shown.length ? [] : [this.across.low * bandwidth])], [2.5, 3], area.bottom, area.top);
    this.places = new FreePlaces(area.left + 2, area.top - 12, area.right, area.bottom - 2);
    this.marked = new Map();
  }

  placed(piece) {
    const stage = !piece.part;
    // The area is the share of the critical path.
    const reach = (stage ? 5 : 4) + (stage ? 13 : 10) * Math.sqrt(Math.min(piece.share ?? 0, 1));
    return { piece, stage, reach, x: this.across.at(piece.intensity), y: this.up.at(piece.rate) };
  }

  grid() {
    const { svg } = page;
    const { left, top, right, bottom } = this.area;
    const line = (x1, y1, x2, y2, style) => svg("line", { x1, y1, x2, y2, class: style });
    const upright = (value, style) =>
      line(this.across.at(value), top, this.across.at(value), bottom, style);
    const level = (value, style) => line(left, this.up.at(value), right, this.up.at(value), style);
    return svg("g", { class: "grid" },
      this.across.between().map((value) => upright(value, "fine")),
      this.up.between().map((value) => level(value, "fine")),
      this.across.ticks(34).map((value) => [upright(value, ""), svg("text",
        { x: this.across.at(value), y: bottom + 15, "text-anchor": "middle" },
        decimalText(value))]),
      this.up.ticks(20).map((value) => [level(value, ""), svg("text",
        { x: left - 6, y: this.up.at(value) + 4, "text-anchor": "end" }, decimalText(value))]),
      line(left, bottom, right, bottom, "axis"), line(left, top, left, bottom, "axis"),
      svg("text", { x: 0, y: 12 }, "FLOP/s"),
      svg("text", { x: right, y: bottom + 33, "text-anchor": "end" },
        "FLOPs for each byte moved (FLOP/B)"));
  }

  // The memory ceiling up to the highest ridge point, a compute ceiling from each, and above them
  // what no work can reach.
  ceilingLines() {
    const { svg } = page;
    const { bandwidth, ceilings } = this.data;
    const { across, up, area } = this;
    const highest = ceilings.at(-1);
    const [x, y] = [across.at(highest.ridge_point), up.at(highest.rate)];
    // The memory ceiling enters from the left, or from below.
    const entry = Math.max(across.low, up.low / bandwidth);
    const from = [across.at(entry), up.at(entry * bandwidth)];
    const beyond = `M${from} L${x} ${y} H${area.right} V${area.top} H${area.left} V${from[1]}Z`;
    return svg("g", { class: "lines" },
      svg("path", { class: "beyond", d: beyond }),
      svg("path", { class: "ceiling", d: `M${from} L${x} ${y}` }),
      ceilings.map((ceiling) => this.computeCeiling(ceiling)),
      this.memoryWords(from, [x, y]));
  }

  computeCeiling(ceiling) {
    const { svg } = page;
    const { across, up, area } = this;
    const [x, y] = [across.at(ceiling.ridge_point), up.at(ceiling.rate)];
    const ridge = `ridge ${Number(ceiling.ridge_point.toPrecision(3))}`;
    const besideRidge = this.places.first([
      { left: x - textWidth(ridge, 11) - 9, right: x - 6, top: y - 8, bottom: y + 6 }]);
    return [
      svg("line", { class: "ceiling", x1: x, y1: y, x2: area.right, y2: y }),
      svg("line", { class: "fall", x1: x, y1: y, x2: x, y2: area.bottom }),
      svg("circle", { class: "ridge", cx: x, cy: y, r: 3.5 },
        svg("title", {}, `${ceiling.name}: ${ridge} FLOP/B`)),
      this.ceilingWords(ceiling, x, y),
      besideRidge ? svg("text", { class: "ridge-words", x: x - 8, y: y + 4, "text-anchor": "end" },
        ridge) : null,
    ];
  }

  // Above the ceiling or below it, as far to the right as there is room; shorter if there is none.
  ceilingWords(ceiling, ridge, y) {
    for (const words of [`${ceiling.name} ${ceiling.text}`, ceiling.name]) {
      const wide = textWidth(words, 12) + 6;
      const boxes = [];
      for (let right = this.area.right; right - wide > ridge + 6; right -= 8) {
        boxes.push({ left: right - wide, right, top: y - 17, bottom: y - 3 },
          { left: right - wide, right, top: y + 4, bottom: y + 18 });
      }
      const at = this.places.first(boxes);
      if (!at) continue;
      return page.svg("text", { class: "ceiling-words", x: at.right - 4, y: at.bottom - 3,
                                     "text-anchor": "end" }, words);
    }
    return null;
  }

  // Along the slope where there is room; shorter, or none, where there is little.
  memoryWords([x1, y1], [x2, y2]) {
    const long = Math.hypot(x2 - x1, y2 - y1);
    const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    const point = (part) => [x1 + part * (x2 - x1), y1 + part * (y2 - y1)];
    for (const words of [`memory ${this.data.memory}`, "memory"]) {
      const half = (textWidth(words, 12) / 2 + 2) / long;
      const found = [0.4, 0.5, 0.3, 0.6, 0.2, 0.7, 0.8, 0.15, 0.9].find((part) =>
        part > half && part < 1 - half &&
          this.places.along(...point(part - half), ...point(part + half), 17));
      if (found === undefined) continue;
      const [x, y] = point(found);
      return page.svg("text", { class: "ceiling-words", x: 0, y: -6, "text-anchor": "middle",
        transform: `translate(${x} ${y}) rotate(${angle})` }, words);
    }
    return null;
  }

  mark(place) {
    const { svg } = page;
    const { piece, stage, reach, x, y } = place;
    const top = piece.bound_rate === null ? y : this.up.at(piece.bound_rate);
    const group = svg("g", {
      class: stage ? "piece stage" : "piece part", style: `--tone: ${toneOf(piece.group)}`,
      tabindex: "-1", role: "img", "aria-label": `${nameOf(piece)}, ${piece.words}`,
      onpointerenter: () => this.tell(piece), onpointerleave: () => this.tell(null),
      onfocus: () => this.enter(piece), onblur: () => this.tell(null),
      onkeydown: (event) => this.move(event, piece),
    },
    svg("path", { class: "gap", d: `M${x} ${y}V${top}M${x - 4} ${top}h8` }),
    svg("path", { class: "dot", d: stage ? circlePath(x, y, reach) : diamondPath(x, y, reach) }));
    this.marked.set(piece, group);
    return group;
  }

  // The names of stages with how far they are from their least times; where there is room, those of
  // the parts that matter most.
  words(placed) {
    const wide = this.area.right - this.area.left;
    const matters = ({ piece }) => piece.share ?? 0;
    const byMatter = (list) => list.sort((a, b) => matters(b) - matters(a));
    const stages = byMatter(placed.filter(({ stage }) => stage));
    const parts = byMatter(placed.filter((place) => !place.stage && matters(place) >= 0.03));
    return page.svg("g", { class: "words" },
      [...stages, ...parts.slice(0, wide < 480 ? 0 : 8)].map((place) => this.wordsOf(place, wide)));
  }

  wordsOf({ piece, stage, reach, x, y }, room) {
    const { svg, brief, isolated } = page;
    const size = stage ? 13 : 11;
    const times = piece.ratio === null ? "" : ` ${piece.ratio}`;
    for (const most of [28, 14, 8]) {
      const name = fittedText(brief(piece.part || piece.stage, most), room * 0.4, size);
      // Names of stages are bold, which takes some more room.
      const wide = textWidth(name, size) * (stage ? 1.12 : 1) + textWidth(times, 11);
      const place = this.places.beside(x, y, reach, wide + 2, size + 3);
      if (!place) continue;
      return svg("text", { class: stage ? "stage" : "part", x: place[0] + 1,
                           y: place[1] + size * 0.36 }, isolated(name), svg("tspan", {}, times));
    }
    return null;
  }

  // One point is a stop of the keyboard: the one that had it last.
  enter(piece) {
    for (const [of, group] of this.marked) {
      group.setAttribute("tabindex", of === piece ? "0" : "-1");
    }
    this.tell(piece);
  }

  move(event, piece) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = this.data.points.filter((one) => this.marked.has(one));
    const at = shown.indexOf(piece);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1,
                 Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.marked.get(shown[Math.min(Math.max(to, 0), shown.length - 1)]).focus();
  }

  tell(piece) {
    const { element } = page;
    if (!piece) {
      this.told.replaceChildren(this.data.points.length
        ? "Point at a stage or part, or move to it with Tab and the arrow keys."
        : "No device stage has both FLOPs and a measured time.");
      return;
    }
    this.told.replaceChildren(
      element("strong", {}, element("bdi", { class: "name" }, nameOf(piece))), element("br", {}),
      piece.words);
  }
}

function nameOf({ stage, part }) {
  return part ? `${page.isolated(stage)}, ${page.isolated(part)}` : stage;
}

function toneOf(group) {
  return `var(--series-${(group % 6) + 1})`;
}

function circlePath(x, y, r) {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
}

function diamondPath(x, y, r) {
  return `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`;
}

// What the marks stand for.
function rooflineLegend(parts) {
  const { element, svg } = page;
  const sample = (...drawn) => svg("svg", {
    class: "roofline-chart sample", viewBox: "0 0 26 14", width: 26, height: 14,
    "aria-hidden": "true",
  }, drawn);
  const dot = (d, style) => svg("g", { class: `piece ${style}`, style: `--tone: ${toneOf(0)}` },
    svg("path", { class: "dot", d }));
  const entry = (words, ...drawn) => element("li", {}, sample(...drawn), words);
  return element("ul", { class: "legend" },
    entry("device stage", dot(circlePath(13, 7, 5.5), "stage")),
    parts ? entry("part of the stage of that color", dot(diamondPath(13, 7, 5.5), "part")) : null,
    entry("ceilings", svg("path", { class: "ceiling", d: "M1 13L11 4H25" })),
    entry("ridge point", svg("circle", { class: "ridge", cx: 13, cy: 7, r: 3.5 })),
    entry("up to the roofline", svg("g", { class: "piece stage", style: `--tone: ${toneOf(0)}` },
      svg("path", { class: "gap", d: "M13 13V2M9 2h8" }))));
}

page.chart("roofline", (data, figure) => {
  const { element, isolated } = page;
  const picture = new RooflinePicture(data);
  const parts = data.points.some(({ part }) => part);
  if (parts) {
    const box = element("input", { type: "checkbox", checked: true,
                                   onchange: () => picture.showParts(box.checked) });
    figure.append(element("div", { class: "controls" },
      element("label", { class: "control" }, box, "parts of stages")));
  }
  figure.append(picture.frame, rooflineLegend(parts), picture.told);
  if (data.without.length) {
    figure.append(element("figcaption", {},
      `Without FLOPs or a time: ${data.without.map(isolated).join(", ")}.`));
  }
  new ResizeObserver(() => picture.draw()).observe(picture.frame);
});
