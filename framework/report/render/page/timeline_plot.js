// The picture of one frame: its critical path at the top, below it a lane for each thread and
// stream, over one axis of time. Elements are made once for a frame and placed again when the view
// changes.
"use strict";

const spanWords = {
  cpu: "CPU stage", launch: "enqueue", synced: "device stage between two waits of the host",
  device: "device stage", copy: "copy", part: "part of a device stage",
};

// The color of a span by its kind.
const spanColors = {
  cpu: "cpu", launch: "launch", synced: "device", device: "device", copy: "copy", part: "device",
};

const timelineSizes = {
  axis: 24, strip: 24, lane: 30, gap: 10, name: 17, narrow: 620, gutter: 132,
};

class TimelinePlot {
  // `tell(span or null, frame)` is called with what the pointer or the keyboard is on, and
  // `choose(frame)` when a frame beside is clicked.
  constructor(frames, tell, choose) {
    const { svg } = page;
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
      `Timeline of frame ${frame.number}, ${page.duration(frame.end)}`);
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
    const { svg } = page;
    const part = span.kind === "part";
    const color = spanColors[span.kind] ?? span.kind;
    const rect = svg("rect", { rx: part ? 0 : 2 });
    const label = svg("text", {});
    const group = svg("g", {
      class: `span time time-${color} ${part ? "part" : ""} ${mark}`, tabindex: "-1", role: "img",
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
    const { duration, isolated } = page;
    const what = lane < 0 ? `on the critical path: ${timeTitle(span.kind)}` : spanWords[span.kind];
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
    const { svg } = page;
    this.beside = [];
    for (const { frame, shift } of this.frames.beside(this.frame, 0.75 * this.frame.end)) {
      for (const span of frame.spans) {
        if (span.kind === "part") continue;
        const rect = svg("rect", {
          class: `time time-${spanColors[span.kind]}`, rx: 2,
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
    const { svg } = page;
    const works = new Map();
    for (const item of this.items) {
      if (item.lane < 0 || item.part) continue;
      const { kind, stage } = item.span;
      if (kind !== "launch" || !works.has(stage)) works.set(stage, item);
    }
    this.edges = [];
    this.frames.timeline.stages.forEach(({ waits }, stage) => {
      for (const earlier of waits) {
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

  // ---- Where everything stands ------------------------------------------------------------------

  // Lanes by the width there is: their names to the left of them, or above where that is little.
  resize() {
    const { svg } = page;
    if (!this.frame) return;
    const size = timelineSizes;
    const width = this.picture.getBoundingClientRect().width;
    if (width === 0) return;
    const narrow = width < size.narrow;
    this.view.left = narrow ? 1 : size.gutter;
    this.view.width = width - this.view.left - 1;
    this.tops = new Map();
    const names = [];
    const bands = [];
    let y = size.axis;
    const row = (lane, title, kind, height) => {
      const room = narrow ? width - 70 : size.gutter - 14;
      if (narrow) y += size.name;
      this.tops.set(lane, y);
      const middle = y + height / 2;
      if (narrow) {
        names.push(svg("text", { x: 1, y: y - 5 }, fittedText(title, room, 13),
          svg("tspan", { class: "kind", dx: 6 }, kind)));
      } else {
        names.push(svg("text", { x: 0, y: middle - 1 }, fittedText(title, room, 13),
          svg("title", {}, title)));
        names.push(svg("text", { x: 0, y: middle + 12, class: "kind" }, kind));
      }
      bands.push(svg("rect", {
        x: this.view.left, y, width: this.view.width, height, rx: 2,
      }));
      y += height + size.gap;
    };
    row(-1, "critical path", "of this frame", size.strip);
    this.lanes.forEach(({ name, kind }, lane) => row(lane, name, kind, size.lane));
    this.height = y;
    this.layers.bands.replaceChildren(...bands);
    this.layers.names.replaceChildren(...names);
    this.picture.setAttribute("viewBox", `0 0 ${width} ${y}`);
    this.picture.style.aspectRatio = `${width} / ${y}`;
    for (const [name, value] of Object.entries({
      x: this.view.left, y: size.axis, width: this.view.width, height: y - size.axis,
    })) this.clip.setAttribute(name, value);
    this.place();
  }

  place() {
    this.placeAxis();
    for (const item of this.items) this.placeItem(item);
    for (const { rect, lane, begin, end } of this.beside) {
      rect.style.display = this.showsBeside ? "" : "none";
      this.setBox(rect, begin, end, this.tops.get(lane), timelineSizes.lane, 2);
    }
    this.placeEdges();
    this.placeErrors();
    this.mark();
    this.picture.dataset.from = Math.round(this.view.from);
    this.picture.dataset.to = Math.round(this.view.to);
  }

  // A rectangle from one time to another, cut a little beyond what is seen: browsers draw very wide
  // ones badly.
  setBox(rect, begin, end, y, height, least) {
    const { view } = this;
    const edge = view.left + view.width;
    const left = Math.max(view.x(begin), view.left - 20);
    const right = Math.min(Math.max(view.x(end), view.x(begin) + least), edge + 20);
    rect.setAttribute("x", left);
    rect.setAttribute("y", y);
    rect.setAttribute("width", Math.max(0, right - left));
    rect.setAttribute("height", height);
    return { left: Math.max(left, view.left), right: Math.min(right, edge) };
  }

  placeItem(item) {
    const { span, lane, part, rect, label } = item;
    const top = this.tops.get(lane);
    const whole = lane < 0 ? timelineSizes.strip : timelineSizes.lane;
    const y = part ? top + whole - 10 : top;
    const { left, right } = this.setBox(rect, span.begin, span.end, y, part ? 10 : whole,
      part ? 0.5 : 1);
    item.group.classList.toggle("thin", right - left < 6);
    const text = part ? "" : fittedText(item.name, right - left - 10);
    if (label.textContent !== text) label.textContent = text;
    if (text === "") return;
    label.setAttribute("x", left + 5);
    label.setAttribute("y", top + (item.wraps ? (whole - 10) / 2 : whole / 2) + 4);
  }

  placeAxis() {
    const { svg } = page;
    const { unit, decimals, at } = this.view.ticks();
    const drawn = [];
    const right = this.view.left + this.view.width;
    const line = (ns, style) => svg("line", {
      class: style, x1: this.view.x(ns), x2: this.view.x(ns), y1: timelineSizes.axis - 4,
      y2: this.height,
    });
    for (const ns of at) {
      const x = this.view.x(ns);
      const anchor = x - this.view.left < 24 ? "start" : right - x < 34 ? "end" : "middle";
      drawn.push(line(ns, ""));
      drawn.push(svg("text", { x, y: 13, "text-anchor": anchor },
        `${(ns / unit.ns).toFixed(decimals)} ${unit.name}`));
    }
    const { deadline } = this.frames.timeline;
    for (const [ns, style] of [[0, "bound"], [this.frame.end, "bound"], [deadline, "deadline"]]) {
      if (ns !== null && ns >= this.view.from && ns <= this.view.to) drawn.push(line(ns, style));
    }
    this.layers.grid.replaceChildren(...drawn);
  }

  placeEdges() {
    this.layers.edges.style.display = this.showsEdges ? "" : "none";
    const middle = (item) => this.tops.get(item.lane) + timelineSizes.lane / 2;
    for (const { from, to, path } of this.edges) {
      const [x1, x2] = [this.view.x(from.span.end), this.view.x(to.span.begin)];
      const [y1, y2] = [middle(from), middle(to)];
      const bend = Math.min(Math.max(Math.abs(x2 - x1) / 2, 10), 40);
      path.setAttribute("d", `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`);
    }
  }

  // How far off the device's stamps may be, where that can be seen.
  placeErrors() {
    const { svg } = page;
    const error = this.frames.timeline.clock_error;
    const drawn = [];
    if (error / (this.view.to - this.view.from) * this.view.width >= 1.5) {
      for (const { span, lane } of this.items) {
        if (lane < 0 || (span.kind !== "device" && span.kind !== "copy")) continue;
        const y = this.tops.get(lane) + timelineSizes.lane / 2;
        for (const ns of [span.begin, span.end]) {
          const [left, right] = [this.view.x(ns - error), this.view.x(ns + error)];
          drawn.push(svg("path", {
            d: `M${left} ${y - 4}v8M${left} ${y}H${right}M${right} ${y - 4}v8`,
          }));
        }
      }
    }
    this.layers.errors.replaceChildren(...drawn);
  }
}
