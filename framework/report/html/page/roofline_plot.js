// The picture of a roofline: roofs over intensity, stages and their parts as points below them.
"use strict";

class RooflinePicture {
  constructor(roofline) {
    const { element } = graphline;
    this.roofline = roofline;
    this.pieces = plottedPieces(roofline);
    this.roofs = roofsDrawn(roofline);
    this.withParts = true;
    this.frame = element("div", {
      class: "roofline", role: "group",
      "aria-label": "Stages and their parts below the roofs; arrow keys move between them",
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
    const { svg } = graphline;
    const width = this.frame.clientWidth;
    if (width === 0 || width === this.drawn) return;
    this.drawn = width;
    const height = Math.round(Math.min(Math.max(width * 0.56, 330), 560));
    const shown = this.pieces.filter(({ part }) => this.withParts || part === null);
    this.measure(width, height, shown);
    const placed = shown.map((piece) => this.placed(piece));
    for (const { x, y, reach } of placed) {
      this.places.take(x - reach, y - reach, x + reach, y + reach);
    }
    const ground = [this.grid(), this.roofLines()];
    const words = this.words(placed);
    // Small ones on top, so that all can be pointed at.
    const marks = [...placed].sort((a, b) => b.reach - a.reach).map((place) => this.mark(place));
    this.frame.replaceChildren(svg("svg", {
      class: "roofs", width, height, viewBox: `0 0 ${width} ${height}`,
    }, ground, svg("g", { class: "marks" }, marks), words));
    this.groups = placed.map(({ piece }) => this.marked.get(piece));
    this.groups[0]?.setAttribute("tabindex", "0");
  }

  measure(width, height, shown) {
    const { memory } = this.roofline;
    const knees = this.roofs.map(({ knee }) => knee);
    const area = { left: 46, top: 30, right: width - 10, bottom: height - 40 };
    const x = [...knees, ...shown.map(({ figures }) => figures.intensity)];
    const wide = width < 560 ? 2.2 : 3;
    this.area = area;
    this.across = new LogAxis([...x, Math.min(...knees) / 8], [wide, wide], area.left, area.right);
    const y = shown.flatMap(({ figures }) => [figures.rate, figures.roof ?? figures.rate]);
    this.up = new LogAxis([...y, ...this.roofs.map(({ value }) => value),
      ...(shown.length ? [] : [this.across.low * memory.value])], [2.5, 3], area.bottom, area.top);
    this.places = new FreePlaces(area.left + 2, area.top - 12, area.right, area.bottom - 2);
    this.marked = new Map();
  }

  placed(piece) {
    const { intensity, rate, share } = piece.figures;
    const stage = piece.part === null;
    // The area is the share of the path.
    const reach = (stage ? 5 : 4) + (stage ? 13 : 10) * Math.sqrt(Math.min(share ?? 0, 1));
    return { piece, stage, reach, x: this.across.at(intensity), y: this.up.at(rate) };
  }

  grid() {
    const { svg } = graphline;
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

  // The memory roof up to the highest knee, a compute roof from each, what no work can reach above.
  roofLines() {
    const { svg } = graphline;
    const { memory } = this.roofline;
    const { across, up, area } = this;
    const highest = this.roofs.at(-1);
    const [x, y] = [across.at(highest.knee), up.at(highest.value)];
    // The memory roof enters from the left, or from below.
    const entry = Math.max(across.low, up.low / memory.value);
    const from = [across.at(entry), up.at(entry * memory.value)];
    const beyond = `M${from} L${x} ${y} H${area.right} V${area.top} H${area.left} V${from[1]}Z`;
    return svg("g", { class: "lines" },
      svg("path", { class: "beyond", d: beyond }),
      svg("path", { class: "roof", d: `M${from} L${x} ${y}` }),
      this.roofs.map((roof) => this.computeRoof(roof)),
      this.memoryWords(from, [x, y]));
  }

  computeRoof(roof) {
    const { svg, digits } = graphline;
    const { across, up, area } = this;
    const [x, y] = [across.at(roof.knee), up.at(roof.value)];
    const knee = `knee ${digits(roof.knee)}`;
    const besideKnee = this.places.first([
      { left: x - textWidth(knee, 11) - 9, right: x - 6, top: y - 8, bottom: y + 6 }]);
    return [
      svg("line", { class: "roof", x1: x, y1: y, x2: area.right, y2: y }),
      svg("line", { class: "fall", x1: x, y1: y, x2: x, y2: area.bottom }),
      svg("circle", { class: "knee", cx: x, cy: y, r: 3.5 },
        svg("title", {}, `${roof.name}: knee at ${digits(roof.knee)} FLOP/B`)),
      this.roofWords(roof, x, y),
      besideKnee ? svg("text", { class: "knee-words", x: x - 8, y: y + 4, "text-anchor": "end" },
        knee) : null,
    ];
  }

  // Above the roof or below it, as far to the right as there is room; shorter where there is none.
  roofWords(roof, knee, y) {
    for (const words of [`${roof.name} ${roof.text}`, roof.name]) {
      const wide = textWidth(words, 12) + 6;
      const boxes = [];
      for (let right = this.area.right; right - wide > knee + 6; right -= 8) {
        boxes.push({ left: right - wide, right, top: y - 17, bottom: y - 3 },
          { left: right - wide, right, top: y + 4, bottom: y + 18 });
      }
      const at = this.places.first(boxes);
      if (!at) continue;
      return graphline.svg("text", { class: "roof-words", x: at.right - 4, y: at.bottom - 3,
                                     "text-anchor": "end" }, words);
    }
    return null;
  }

  // Along the slope where there is room; shorter, or none, where there is little.
  memoryWords([x1, y1], [x2, y2]) {
    const long = Math.hypot(x2 - x1, y2 - y1);
    const angle = (Math.atan2(y2 - y1, x2 - x1) * 180) / Math.PI;
    const point = (part) => [x1 + part * (x2 - x1), y1 + part * (y2 - y1)];
    for (const words of [`memory ${this.roofline.memory.text}`, "memory"]) {
      const half = (textWidth(words, 12) / 2 + 2) / long;
      const found = [0.4, 0.5, 0.3, 0.6, 0.2, 0.7, 0.8, 0.15, 0.9].find((part) =>
        part > half && part < 1 - half &&
          this.places.along(...point(part - half), ...point(part + half), 17));
      if (found === undefined) continue;
      const [x, y] = point(found);
      return graphline.svg("text", { class: "roof-words", x: 0, y: -6, "text-anchor": "middle",
        transform: `translate(${x} ${y}) rotate(${angle})` }, words);
    }
    return null;
  }

  mark(place) {
    const { svg } = graphline;
    const { piece, stage, reach, x, y } = place;
    const words = pieceWords(piece);
    const roof = piece.figures.roof;
    const top = roof === null ? y : this.up.at(roof);
    const index = this.pieces.indexOf(piece);
    const group = svg("g", {
      class: stage ? "piece stage" : "piece part", style: `--tone: ${toneOf(piece.stage)}`,
      tabindex: "-1", role: "img", "aria-label": [nameOf(piece), ...words].join(", "),
      onpointerenter: () => this.tell(piece), onpointerleave: () => this.tell(null),
      onfocus: () => this.enter(piece), onblur: () => this.tell(null),
      onkeydown: (event) => this.move(event, index),
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
    const matters = ({ piece }) => piece.figures.share ?? 0;
    const byMatter = (list) => list.sort((a, b) => matters(b) - matters(a));
    const stages = byMatter(placed.filter(({ stage }) => stage));
    const parts = byMatter(placed.filter((place) => !place.stage && matters(place) >= 0.03));
    return graphline.svg("g", { class: "words" },
      [...stages, ...parts.slice(0, wide < 480 ? 0 : 8)].map((place) => this.wordsOf(place, wide)));
  }

  wordsOf({ piece, stage, reach, x, y }, room) {
    const { svg, brief, isolated } = graphline;
    const size = stage ? 13 : 11;
    const { ratio } = piece.figures;
    const times = ratio === null ? "" : ` ${ratioText(ratio)}`;
    for (const most of [28, 14, 8]) {
      const name = fittedText(brief(piece.part ?? piece.name, most), room * 0.4, size);
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

  move(event, index) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const shown = this.pieces.filter((piece) => this.marked.has(piece));
    const at = shown.indexOf(this.pieces[index]);
    const to = { ArrowRight: at + 1, ArrowDown: at + 1, ArrowLeft: at - 1, ArrowUp: at - 1,
                 Home: 0, End: shown.length - 1 }[event.key];
    if (to === undefined) return;
    event.preventDefault();
    this.marked.get(shown[Math.min(Math.max(to, 0), shown.length - 1)]).focus();
  }

  tell(piece) {
    const { element } = graphline;
    if (!piece) {
      this.told.replaceChildren(this.pieces.length
        ? "Point at a stage or part, or move to it with Tab and the arrow keys."
        : "No device stage has both FLOPs and a measured time.");
      return;
    }
    this.told.replaceChildren(element("strong", {}, graphline.name(nameOf(piece))), element("br"),
      pieceWords(piece).join(" · "));
  }
}

// What can be drawn: device stages and parts that compute, move bytes and were measured.
function plottedPieces({ stages }) {
  const drawn = ({ intensity, rate }) => intensity !== null && intensity > 0 && rate !== null;
  return stages.flatMap((stage, s) => stage.what !== "device" ? [] : [
    ...(drawn(stage) ? [{ stage: s, name: stage.name, part: null, figures: stage }] : []),
    ...stage.parts.filter(drawn).map((part) =>
      ({ stage: s, name: stage.name, part: part.name, figures: part })),
  ]);
}

// The roofs of the precisions that are used, lowest first; all where none is.
function roofsDrawn({ roofs }) {
  const used = roofs.filter((roof) => roof.used);
  return [...(used.length ? used : roofs)].sort((a, b) => a.value - b.value);
}

function nameOf({ name, part }) {
  return part === null ? name : `${graphline.isolated(name)}, ${graphline.isolated(part)}`;
}

// In words, all that is known of a point.
function pieceWords({ figures }) {
  const { digits, percent, duration } = graphline;
  const { flops, bytes, intensity, rate, bound, arithmetic } = figures;
  const { least, measured, ratio, share } = figures;
  return [
    `${flops} in ${arithmetic}, ${bytes}: ${digits(intensity)} FLOP/B`,
    `${decimalText(rate)}FLOP/s`,
    `${duration(measured)} measured` + (least === null ? "" : `, ${duration(least)} at the least`),
    ...(ratio === null ? [] : [`${ratioText(ratio)} its least`]),
    ...(bound === null ? [] : [`bound by ${bound}`]),
    ...(share === null ? [] : [`${percent(share)} of the path`]),
    ...(figures.beats ? ["less than its floor: the cost or the calibration does not hold"] : []),
  ];
}

// "1.07x", "12.3x", "743x": how many times as long as its least time.
function ratioText(ratio) {
  return `${ratio < 9.995 ? ratio.toFixed(2) : graphline.digits(ratio)}x`;
}

function toneOf(stage) {
  return `var(--series-${(stage % 6) + 1})`;
}

function circlePath(x, y, r) {
  return `M${x - r} ${y}a${r} ${r} 0 1 0 ${2 * r} 0a${r} ${r} 0 1 0 ${-2 * r} 0`;
}

function diamondPath(x, y, r) {
  return `M${x} ${y - r}L${x + r} ${y}L${x} ${y + r}L${x - r} ${y}Z`;
}
