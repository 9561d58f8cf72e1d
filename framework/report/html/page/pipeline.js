// The section that draws the pipeline: stages as nodes with their times, what connects them, and
// which of them bound the median frame.
"use strict";

graphline.section({
  id: "pipeline",
  title: "Pipeline",
  draws: (data) => Boolean(data.pipeline) && data.pipeline.nodes.length > 0,
  draw(data, box) {
    const { element } = graphline;
    const picture = new PipelinePicture(data.pipeline, data.attribution?.critical ?? []);
    const timed = data.pipeline.stages.some(({ mean }) => mean !== null);
    box.append(element("figure", {}, picture.frame, picture.told,
      element("figcaption", {}, pipelineCaption(data, timed)),
      element("details", { class: "tabled" }, element("summary", {}, "As a table"),
        pipelineTable(data.pipeline))));
    picture.draw();
    new ResizeObserver(() => picture.draw()).observe(picture.frame);
  },
});

function pipelineCaption(data, timed) {
  return "Stages from left to right, or down, as they wait for each other; dashed boxes are what " +
    "goes in and comes out. " + (timed
    ? "Bars: the mean time of a stage over the mean end-to-end time. "
    : "The stages were not timed; --timing event does that. ") +
    (data.attribution?.critical.length > 0
      ? "Outlined: the stages that would bound the median frame if nothing else took time." : "");
}

// In words, how a stage is set free by what it waits for.
const satisfiedWords = {
  "stream order": "by the order of their stream", event: "by an event on the device",
  completion: "when the host has seen it complete", return: "when it has returned",
};

// What stands before a stage's time where that is not the time that it was at work.
const measureWords = {
  device_time: "", cpu_time: "", enqueue_time: "launch ", synchronized_time: "serialised ",
};

class PipelinePicture {
  constructor(pipeline, critical) {
    const { element } = graphline;
    this.pipeline = pipeline;
    this.critical = critical;
    this.frame = element("div", {
      class: "graph", tabindex: "0", role: "group",
      "aria-label": "The pipeline's stages and tensors",
    });
    this.told = element("p", { class: "told", "aria-live": "polite" });
    this.tell(null);
  }

  // Draws all of it for the width there is, if that has changed.
  draw() {
    const { svg } = graphline;
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
    const { element } = graphline;
    if (!words) {
      this.told.replaceChildren("Point at a stage or an arrow, or move to it with Tab.");
      return;
    }
    const [name, ...rest] = words;
    this.told.replaceChildren(
      element("strong", {}, graphline.name(name)), element("br"), rest.join(" · "));
  }

  node(node, places) {
    const { svg } = graphline;
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
    const { svg } = graphline;
    if (stage.mean === null) return null;
    const full = w - 20;
    const time = `${measureWords[stage.measure]}${meanText(stage.mean)}`;
    const whole = stage.share === null ? time : `${time} · ${shareText(stage.share)}`;
    const filled = Math.min(1, stage.share ?? 0) * full;
    const bar = { x: x + 10, y: y + 57, height: 4, rx: 2 };
    return [
      svg("text", { x: x + 10, y: y + 51, class: "amounts" },
        fittedText(whole, full, 11.5) === whole ? whole : fittedText(time, full, 11.5)),
      svg("rect", { class: "rail", ...bar, width: full }),
      svg("rect", { class: `time time-${stage.colour}`, ...bar, width: filled }),
    ];
  }

  edge(edge, places) {
    const { svg, isolated } = graphline;
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
      ...(stage.share === null ? [] : [`${shareText(stage.share)} of the mean end to end`])];
  const priority = stage.colour === "cpu" ? [] : [`priority ${stage.priority}`];
  return [stage.kind, stage.where, ...priority, ...figures];
}

function pipelineTable({ stages, tensors }) {
  const { element, table } = graphline;
  // Names in a row, each on its own where it is written from right to left.
  const list = (entries) => entries.length === 0 ? "-"
    : element("span", {}, entries.flatMap((entry, i) => [i === 0 ? "" : ", ", entry]));
  const tensorList = (indices) => list(indices.map((i) =>
    element("span", {}, graphline.name(tensors[i][0]), ` ${tensors[i][1]}`)));
  const waitList = (waits) => list(waits.map(([stage, how]) =>
    element("span", {}, graphline.name(stages[stage].name), ` (${how})`)));
  const number = true;
  return table("Stages in planned order",
    [{ title: "stage" }, { title: "kind" }, { title: "where" }, { title: "mean", number },
      { title: "share", number }, { title: "reads" }, { title: "writes" }, { title: "waits for" }],
    stages.map((stage) => [
      graphline.name(stage.name), stage.kind, stage.where, meanText(stage.mean),
      stage.share === null ? "-" : shareText(stage.share),
      tensorList(stage.reads), tensorList(stage.writes), waitList(stage.waits)]));
}
