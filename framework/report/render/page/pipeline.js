// The pipeline: stages as nodes with their times, what connects them, and which of them are on the
// critical path of the median frame.
"use strict";

page.chart("pipeline", (data, figure) => {
  const picture = new PipelinePicture(data);
  figure.append(picture.frame, picture.told);
  picture.draw();
  new ResizeObserver(() => picture.draw()).observe(picture.frame);
});

// In words, how a stage is set free by what it waits for.
const satisfiedWords = {
  "stream order": "by the order of their stream", event: "by an event on the device",
  completion: "when the host has seen it complete", return: "when it has returned",
};

// What stands before a stage's time where that is not the time that it was at work.
const measureWords = {
  device_time: "", cpu_time: "", enqueue_time: "enqueue ", synchronized_time: "synchronized ",
};

class PipelinePicture {
  constructor(pipeline) {
    const { element } = page;
    this.pipeline = pipeline;
    this.critical = pipeline.critical;
    this.frame = element("div", {
      class: "graph", tabindex: "0", role: "group",
      "aria-label": "The pipeline's stages and tensors",
    });
    this.told = element("p", { class: "told", "aria-live": "polite" });
    this.tell(null);
  }

  // Draws all of it for the width there is, if that has changed.
  draw() {
    const { svg } = page;
    const width = this.frame.clientWidth;
    if (width === 0 || width === this.drawn) return;
    this.drawn = width;
    const places = new PipelinePlaces(this.pipeline, width);
    const { nodes, edges } = this.pipeline;
    this.frame.replaceChildren(svg("svg", {
      class: "pipeline", width: places.width, height: places.height,
      viewBox: `0 0 ${places.width} ${places.height}`,
    },
    svg("defs", {}, svg("marker", {
      id: "pipeline-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7,
      markerUnits: "userSpaceOnUse", orient: "auto",
    }, svg("path", { d: "M0 .5 8 4 0 7.5z" }))),
    edges.map((edge) => this.edge(edge, places)),
    nodes.map((node) => this.node(node, places))));
    this.frame.scrollLeft = places.beginning - width / 2;
  }

  nameOf({ what, of }) {
    return what === "stage" ? this.pipeline.stages[of].name : this.pipeline.tensors[of][0];
  }

  // What is true of all that can be pointed at.
  pointable(attributes, words) {
    return {
      ...attributes, tabindex: "0", role: "img", "aria-label": words.join(", "),
      onpointerenter: () => this.tell(words), onpointerleave: () => this.tell(null),
      onfocus: () => this.tell(words), onblur: () => this.tell(null),
    };
  }

  tell(words) {
    const { element } = page;
    if (!words) {
      this.told.replaceChildren("Point at a stage or an arrow, or move to it with Tab.");
      return;
    }
    const [name, ...rest] = words;
    this.told.replaceChildren(
      element("strong", {}, page.name(name)), element("br"), rest.join(" · "));
  }

  node(node, places) {
    const { svg } = page;
    const [w, h] = places.size.node;
    const [x, y] = places.corner(node);
    const name = this.nameOf(node);
    const stage = node.what === "stage" ? this.pipeline.stages[node.of] : null;
    const type = stage ? "" : this.pipeline.tensors[node.of][1];
    const words = stage ? stageWords(stage) : [`${node.what} of the pipeline`, type];
    const critical = stage && this.critical.includes(node.of) ? "critical" : "";
    const text = (content, top, style, size) =>
      svg("text", { x: x + 10, y: y + top, class: style }, fittedText(content, w - 20, size));
    const style = `node ${stage ? "" : "tensor"} ${critical}`;
    return svg("g", this.pointable({ class: style }, [name, ...words]),
      svg("rect", { class: "ground", x, y, width: w, height: h, rx: 6 }),
      text(name, 19, "name", 13),
      text(stage ? `${stage.kind} · ${stage.where}` : node.what, 35, "kind", 11.5),
      stage ? this.figures(stage, x, y, w) : text(type, 51, "amounts", 11.5));
  }

  // Mean and share, and the share as a bar.
  figures(stage, x, y, w) {
    const { svg } = page;
    if (stage.mean === null) return null;
    const full = w - 20;
    const time = `${measureWords[stage.measure]}${meanText(stage.mean)}`;
    const whole = stage.share === null ? time : `${time} · ${page.percent(stage.share)}`;
    const filled = Math.min(1, stage.share ?? 0) * full;
    const bar = { x: x + 10, y: y + 57, height: 4, rx: 2 };
    return [
      svg("text", { x: x + 10, y: y + 51, class: "amounts" },
        fittedText(whole, full, 11.5) === whole ? whole : fittedText(time, full, 11.5)),
      svg("rect", { class: "rail", ...bar, width: full }),
      svg("rect", { class: `time time-${stage.color}`, ...bar, width: filled }),
    ];
  }

  edge(edge, places) {
    const { svg, isolated } = page;
    const { nodes, tensors } = this.pipeline;
    const [from, to] = [nodes[edge.from], nodes[edge.to]];
    const carried = edge.tensors.map((i) => tensors[i])
      .map(([name, type]) => `${isolated(name)} ${type}`).join("; ");
    const words = [`${isolated(this.nameOf(from))} → ${isolated(this.nameOf(to))}`,
      ...(carried ? [carried] : ["hands over nothing: one waits for the other"]),
      ...(edge.how ? [`free to start ${satisfiedWords[edge.how]}`] : [])];
    // The path may lead from a stage to another that only follows it on its stream or thread.
    const at = from.what === "stage" ? this.critical.indexOf(from.of) : -1;
    const critical = at >= 0 && to.what === "stage" && this.critical[at + 1] === to.of;
    const d = places.path(from, edge.bends, to);
    return svg("g", this.pointable({
      class: `edge ${critical ? "critical" : ""} ${edge.tensors.length === 0 ? "after" : ""}`,
    }, words), svg("path", { class: "reach", d }), svg("path", { class: "line", d }));
  }
}

function stageWords(stage) {
  const figures = stage.mean === null ? []
    : [`${stage.measure.replaceAll("_", " ")} ${meanText(stage.mean)} on average`,
      ...(stage.share === null ? [] : [`${page.percent(stage.share)} of the mean end to end`])];
  const priority = stage.color === "cpu" ? [] : [`priority ${stage.priority}`];
  return [stage.kind, stage.where, ...priority, ...figures];
}

// ---- Where nodes and edges stand, in pixels -----------------------------------------------------

// The data has layers and rows; layers go to the right where there is room, else down.
const pipelineSizes = {
  across: { widths: [148, 184], gap: [36, 64], height: 66, row: 82 },
  down: { node: [150, 66], layer: 104, row: 162 },
};

// For layers to the right: as wide nodes and gaps as fit, within their limits.
function sizesAcross(layers, room) {
  const { widths, gap, height, row } = pipelineSizes.across;
  const within = (value, [least, most]) => Math.min(Math.max(value, least), most);
  const width = within((room - (layers - 1) * gap[0]) / layers, widths);
  const between = within((room - layers * width) / Math.max(1, layers - 1), gap);
  return { node: [width, height], layer: width + between, row,
           fits: layers * width + (layers - 1) * between <= room };
}

class PipelinePlaces {
  constructor(pipeline, width) {
    const across = sizesAcross(pipeline.layers, width - 4);
    this.across = across.fits || (width >= 640 && pipeline.layers <= 12);
    this.size = this.across ? across : pipelineSizes.down;
    const along = (pipeline.layers - 1) * this.size.layer;
    const rows = Math.max(0, pipeline.rows - 1) * this.size.row;
    const [w, h] = this.size.node;
    this.width = (this.across ? along : rows) + w + 4;
    this.height = (this.across ? rows : along) + h + 4;
    this.first = pipeline.nodes.reduce((a, b) => (b.layer < a.layer ? b : a));
  }

  // How far to the right the middle of the first node is.
  get beginning() {
    return this.corner(this.first)[0] + this.size.node[0] / 2;
  }

  // The upper left corner of a node.
  corner({ layer, row }) {
    const [a, b] = [layer * this.size.layer + 2, row * this.size.row + 2];
    return this.across ? [a, b] : [b, a];
  }

  // Where an edge enters or leaves a node, or passes a layer: the middle of the side, before it and
  // after it.
  port(place, after) {
    const [x, y] = this.corner(place);
    const [w, h] = this.size.node;
    return this.across ? [after ? x + w : x, y + h / 2] : [x + w / 2, after ? y + h : y];
  }

  // A smooth path through an edge's bends, straight where it passes the layers between.
  path(from, bends, to) {
    let at = this.port(from, true);
    let text = `M${at}`;
    const curve = (next) => {
      const half = this.across ? (next[0] - at[0]) / 2 : (next[1] - at[1]) / 2;
      const control = (point, sign) => this.across
        ? [point[0] + sign * half, point[1]] : [point[0], point[1] + sign * half];
      text += `C${control(at, 1)} ${control(next, -1)} ${next}`;
      at = next;
    };
    for (const [layer, row] of bends) {
      curve(this.port({ layer, row }, false));
      at = this.port({ layer, row }, true);
      text += `L${at}`;
    }
    curve(this.port(to, false));
    return text;
  }
}
