// The picture of one frame: what bounds it at the top, below it a lane for each thread and stream,
// over one axis of time. Elements are made once for a frame and placed again when the view changes.
"use strict";

class TimelinePlot {
  // `tell(span or null, frame)` is called with what the pointer or the keyboard is on, and
  // `choose(frame)` when a frame beside is clicked.
  constructor(frames, tell, choose) {
    const { svg } = graphline;
    this.frames = frames;
    this.lanes = frames.timeline.lanes;
    this.tell = tell;
    this.choose = choose;
    this.view = new TimelineView();
    this.showsEdges = true;
    this.showsBeside = true;
    this.clip = svg("rect", {});
    this.layers = {};
    for (const name of ["bands", "grid", "names", "beside", "spans", "edges", "errors"]) {
      const clipped = !["bands", "grid", "names"].includes(name);
      const clip = clipped ? "url(#timeline-clip)" : null;
      this.layers[name] = svg("g", { class: name, "clip-path": clip });
    }
    this.picture = svg("svg", {
      class: "timeline", tabindex: "0", role: "group", "aria-describedby": "timeline-keys",
    },
    svg("defs", {},
      svg("clipPath", { id: "timeline-clip" }, this.clip),
      svg("marker", {
        id: "timeline-arrow", viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 6, markerHeight: 6,
        orient: "auto",
      }, svg("path", { d: "M0 .5 8 4 0 7.5z" }))),
    ...Object.values(this.layers));
    new ResizeObserver(() => this.resize()).observe(this.picture);
    handTimeline(this);
  }

  // ---- What is shown ----------------------------------------------------------------------------

  show(frame) {
    this.frame = frame;
    this.view.limit(frame.end);
    this.picture.setAttribute("aria-label",
      `Timeline of frame ${frame.number}, ${graphline.duration(frame.end)}`);
    this.items = [];
    const bounding = new Set(frame.pieces.map(({ kind, stage }) => `${kind} ${stage}`));
    for (const piece of frame.pieces) this.add(piece, -1, "piece");
    for (const span of frame.spans) {
      const kind = span.kind === "synced" ? "device" : span.kind;
      const bounds = span.kind !== "part" && bounding.has(`${kind} ${span.stage}`);
      this.add(span, span.lane, bounds ? "bounds" : "");
    }
    // Parts after what they are parts of; else by time within a lane, for the keys.
    this.layers.spans.replaceChildren(...this.items.map((item) => item.group));
    this.current = this.items[0] ?? null;
    this.current?.group.setAttribute("tabindex", "0");
    this.makeBeside();
    this.makeEdges();
    this.resize();
  }

  add(span, lane, mark) {
    const { svg } = graphline;
    const part = span.kind === "part";
    const colour = spanColours[span.kind] ?? span.kind;
    const rect = svg("rect", { rx: part ? 0 : 2 });
    const label = svg("text", {});
    const group = svg("g", {
      class: `span time time-${colour} ${part ? "part" : ""} ${mark}`, tabindex: "-1", role: "img",
      "aria-label": this.sentence(span, lane),
      onpointerenter: () => this.tell(span, this.frame),
      onpointerleave: () => this.tell(this.focused?.span ?? null, this.frame),
      onfocus: () => this.focus(item),
      onblur: () => { this.focused = null; this.mark(); },
    }, rect, label);
    const item = { span, lane, part, group, rect, label, name: this.frames.nameOf(span) };
    item.wraps = !part && this.frame.spans.some((other) =>
      other.kind === "part" && other.stage === span.stage && span.kind === "device" && lane >= 0);
    this.items.push(item);
  }

  sentence(span, lane) {
    const { duration, isolated } = graphline;
    const what = lane < 0 ? `on the path: ${spentTitle(span.kind)}` : spanWords[span.kind];
    const where = lane < 0 ? "" : `, ${this.whereOf(lane)}`;
    return `${isolated(this.frames.nameOf(span))}, ${what}${where}, ` +
      `from ${duration(span.begin, 5)} to ${duration(span.end, 5)}, ` +
      duration(span.end - span.begin, 4);
  }

  whereOf(lane) {
    const { kind, name } = this.lanes[lane];
    if (kind === "thread") return `thread ${name}`;
    return name.startsWith("stream ") ? name : `stream ${name}`;
  }

  makeBeside() {
    const { svg } = graphline;
    this.beside = [];
    for (const { frame, shift } of this.frames.beside(this.frame, 0.75 * this.frame.end)) {
      for (const span of frame.spans) {
        if (span.kind === "part") continue;
        const rect = svg("rect", {
          class: `time time-${spanColours[span.kind]}`, rx: 2,
          onpointerenter: () => this.tell(span, frame),
          onpointerleave: () => this.tell(this.focused?.span ?? null, this.frame),
          onclick: () => this.choose(frame.number),
        });
        const [begin, end] = [span.begin + shift, span.end + shift];
        this.beside.push({ rect, lane: span.lane, begin, end });
      }
    }
    this.layers.beside.replaceChildren(...this.beside.map(({ rect }) => rect));
  }

  // From the end of what was waited for to the begin of what waited for it.
  makeEdges() {
    const { svg } = graphline;
    const works = new Map();
    for (const item of this.items) {
      if (item.lane < 0 || item.part) continue;
      const { kind, stage } = item.span;
      if (kind !== "launch" || !works.has(stage)) works.set(stage, item);
    }
    this.edges = [];
    this.frames.stages.forEach(({ waits }, stage) => {
      for (const [earlier] of waits) {
        const [from, to] = [works.get(earlier), works.get(stage)];
        if (from && to) this.edges.push({ from, to, path: svg("path", {}) });
      }
    });
    this.layers.edges.replaceChildren(...this.edges.map(({ path }) => path));
  }

  fit() {
    this.view.fit();
    this.place();
  }

  // ---- The keyboard's place ---------------------------------------------------------------------

  focus(item) {
    this.current?.group.setAttribute("tabindex", "-1");
    item.group.setAttribute("tabindex", "0");
    this.current = item;
    this.focused = item;
    this.view.reveal(item.span);
    this.place();
    this.tell(item.span, this.frame);
  }

  // The edges of what has the keyboard stand out.
  mark() {
    for (const { from, to, path } of this.edges) {
      path.classList.toggle("near", this.focused === from || this.focused === to);
    }
  }

  // The next item in time in the same lane, or the nearest one in the next lane that has any.
  step(along, across) {
    if (!this.current) return;
    const lane = (item) => this.items.filter((other) => other.lane === item.lane)
      .sort((a, b) => a.span.begin - b.span.begin || b.span.end - a.span.end);
    let next = null;
    if (along !== 0) {
      const row = lane(this.current);
      next = row[row.indexOf(this.current) + along];
    } else {
      const lanes = [...new Set(this.items.map((item) => item.lane))].sort((a, b) => a - b);
      const there = lanes[lanes.indexOf(this.current.lane) + across];
      const { begin } = this.current.span;
      const distance = ({ span }) => Math.max(span.begin - begin, begin - span.end, 0);
      next = this.items.filter((item) => item.lane === there)
        .reduce((best, item) => best && distance(best) <= distance(item) ? best : item, null);
    }
    next?.group.focus();
  }
}
