// One frame over time: the critical path at the top, then a lane for each thread and stream.
"use strict";

// Returns a style that sets the color `--time` of style.css.
const timeStyle = (kind) => `--time: var(--${kind})`;

const timelineSizes = { axis: 24, strip: 24, lane: 30, gap: 10, gutter: 132, marks: 10 };
const leastSeen = 20; // ns

// Returns a time with all digits down to nanoseconds: "12.345678 ms".
function exactly(ns) {
  const unit = page.unitFor(ns);
  return `${(ns / unit.ns).toFixed(Math.round(Math.log10(unit.ns)))} ${unit.name}`;
}

// Returns a vertically centered text, clipped to its box by a nested svg element.
function cutText(text, box) {
  return page.svg("svg", box, page.svg("text", { y: box.height / 2 + 4 }, text));
}

page.chart("timeline", (data, figure) => {
  const timeline = new Timeline(data, figure);
  document.addEventListener("graphline:frame", ({ detail }) => timeline.choose(detail.frame));
  timeline.choose(data.median);
});

class Timeline {
  constructor(data, figure) {
    const { element, svg } = page;
    this.data = data;
    this.frames = data.frames.map((row) => this.decode(row));
    this.median = this.frames.find(({ number }) => number === data.median);
    this.headline = element("p", { class: "headline", role: "status" });
    this.told = element("p", { class: "told", "aria-live": "polite" });
    this.picture = svg("svg", { class: "timeline", role: "group" });
    this.takeInput();
    new ResizeObserver(() => this.draw()).observe(this.picture);
    const seen = new Set(this.frames.flatMap(({ spans, pieces }) =>
      [...pieces, ...spans].map(({ what }) => what.category)));
    figure.append(this.controls(), this.headline, this.picture, this.told,
      page.legend(data.categories.filter(({ category }) => seen.has(category))
        .map(({ category, name, help }) => (
          { name, title: help, color: category, shape: "patch" }))),
      element("figcaption", {}, this.caption()));
  }

  // ---- Frames -----------------------------------------------------------------------------------

  // Returns {number, due, begin, end, residual, spans, pieces}. Times count from `due`, and `due`
  // from the begin of the run.
  decode(row) {
    const [number, due, begin, end, residual, count] = row;
    const { kinds, categories } = this.data;
    const frame = { number, due, begin, end, residual, spans: [], pieces: [] };
    let at = 6;
    for (let i = 0; i < count; ++i, at += 7) {
      const [kind, lane, stage, part, from, length, insteadOf] = row.slice(at, at + 7);
      frame.spans.push(
        { what: kinds[kind], lane, stage, part, begin: from, end: from + length, insteadOf });
    }
    for (; at < row.length; at += 4) {
      const [category, stage, from, length] = row.slice(at, at + 4);
      frame.pieces.push({ what: categories[category], stage, begin: from, end: from + length });
    }
    return frame;
  }

  // Returns the name of the stage, part or frame of a span or piece.
  nameOf({ stage, part = -1 }) {
    if (stage < 0) return "the frame";
    const { name, parts } = this.data.stages[stage];
    return part >= 0 ? parts[part] : name;
  }

  // Returns what the policy decided about a start, as ", instead of parse"; empty if nothing.
  choiceOf({ insteadOf = 0 }) {
    if (insteadOf === 0) return "";
    if (insteadOf === -2) return ", held back by the policy";
    return `, instead of ${insteadOf < 0 ? "a stage of another pipeline"
      : this.data.stages[insteadOf - 1].name}`;
  }

  whereOf(lane) {
    const { kind, name } = this.data.lanes[lane];
    if (kind === "thread") return `thread ${name}`;
    return name.startsWith("stream ") ? name : `stream ${name}`;
  }

  // Shows a frame, or the nearest frame in the file.
  choose(wanted) {
    if (!Number.isFinite(wanted)) return;
    const number = Math.min(Math.max(Math.round(wanted), 0), this.data.total - 1);
    const away = (frame) => Math.abs(frame.number - number);
    const frame = this.frames.reduce((best, other) => (away(other) < away(best) ? other : best));
    this.frame = frame;
    this.at = this.frames.indexOf(frame);
    this.list.value = String(frame.number);
    this.input.value = number;
    this.headline.replaceChildren(number === frame.number ? "" :
      `Frame ${number} is not kept in this file; the nearest that is: `, ...this.describe(frame));
    this.picture.setAttribute("aria-label",
      `Timeline of frame ${frame.number}, ${page.duration(frame.end)}`);
    this.told.textContent = "Point at a span to see what it is.";
    this.fit();
  }

  describe(frame) {
    const { element, duration } = page;
    const { deadline } = this.data;
    const late = deadline !== null && frame.end > deadline;
    return [
      element("strong", {}, `Frame ${frame.number}`), ` took ${duration(frame.end, 4)}; `,
      frame === this.median ? "it is the median frame"
        : `the median frame took ${duration(this.median.end, 4)}`,
      frame.begin > 0 ? `; it waited ${duration(frame.begin)} in the queue` : "",
      `. Due ${duration(frame.due, 4)} after the run began.`,
      late ? element("span", { class: "bad" }, ` Missed its deadline of ${duration(deadline)} by ` +
        `${duration(frame.end - deadline)}.`) : "",
    ];
  }

  whatOf({ what, lane }) {
    return lane === undefined ? what.name : `${what.name}, ${this.whereOf(lane)}`;
  }

  // ---- Controls ---------------------------------------------------------------------------------

  controls() {
    const { element, duration, whole } = page;
    const { total } = this.data;
    const slowest = [...this.frames].sort((a, b) => b.end - a.end).slice(0, 20);
    const words = (frame) => `frame ${frame.number}: ${duration(frame.end)}` +
      (frame === this.median ? ", the median" : "");
    this.list = element("select", {
      "aria-label": "The median and the slowest frames",
      onchange: () => this.choose(Number(this.list.value)),
    }, [...new Set([this.median, ...slowest])].map((frame) =>
      element("option", { value: frame.number }, words(frame))));
    this.input = element("input", {
      type: "number", min: 0, max: total - 1, step: 1, "aria-label": "Frame number",
      onchange: () => this.choose(Number(this.input.value)),
    });
    const button = (sign, title, act) =>
      element("button", { type: "button", "aria-label": title, title, onclick: act }, sign);
    return element("div", { class: "controls near", role: "group", "aria-label": "Frame and view" },
      this.list, this.input,
      element("span", { class: "note" }, `of ${whole.format(total)}, counted from 0`),
      button("−", "Zoom out", () => this.zoom(1 / 1.5)),
      button("+", "Zoom in", () => this.zoom(1.5)),
      button("Fit", "Show the whole frame", () => this.fit()));
  }

  caption() {
    const error = this.data.clock_error;
    return "Time counts from when the frame was due. On the critical path at the top, each " +
      "piece waited for the one before it, and waiting for a thread, a stream or the device is a " +
      "piece too; what is on it is outlined in its lane. What other work of the device held up " +
      "is pale until the device works on it. Faint spans belong to frames before and after. " +
      (error > 0 ? `What ran on a stream stands within ${page.duration(error)} of where it is ` +
        "drawn, by the alignment of the clocks. " : "") +
      (this.frames.some(({ spans }) => spans.some(({ insteadOf }) => insteadOf !== 0)) ?
        "A triangle marks a start that the policy decided. " : "") +
      "The wheel zooms with Ctrl; dragging moves.";
  }

  takeInput() {
    const { picture } = this;
    const across = (event) =>
      (event.clientX - picture.getBoundingClientRect().left - this.left) / this.width;
    picture.addEventListener("wheel", (event) => {
      if (!event.ctrlKey) return;
      event.preventDefault();
      this.zoom(Math.exp(-0.0016 * event.deltaY), across(event));
    }, { passive: false });
    let last = null;
    picture.addEventListener("pointerdown", (event) => {
      last = across(event);
      picture.setPointerCapture(event.pointerId);
    });
    picture.addEventListener("pointermove", (event) => {
      if (last === null) return;
      this.pan(last - across(event));
      last = across(event);
    });
    picture.addEventListener("lostpointercapture", () => { last = null; });
  }

  // ---- What is seen -----------------------------------------------------------------------------

  see(from, length) {
    this.from = Math.min(Math.max(from, -0.75 * this.frame.end), 1.75 * this.frame.end - length);
    this.to = this.from + length;
    this.draw();
  }

  fit() {
    const length = Math.max(this.frame.end, 1);
    this.see(-0.01 * length, 1.02 * length);
  }

  // Zooms around the point at the fraction `part` of the width. Factors above 1 magnify.
  zoom(factor, part = 0.5) {
    const seen = this.to - this.from;
    const length = Math.min(Math.max(seen / factor, leastSeen), 2.5 * Math.max(this.frame.end, 1));
    this.see(this.from + part * (seen - length), length);
  }

  // Moves by the fraction `part` of the view.
  pan(part) {
    this.see(this.from + part * (this.to - this.from), this.to - this.from);
  }

  // Returns the position of a time, in pixels from the left end of the lanes.
  x(ns) {
    return (ns - this.from) / (this.to - this.from) * this.width;
  }

  // ---- The picture ------------------------------------------------------------------------------

  draw() {
    const { svg } = page;
    const size = timelineSizes;
    const width = this.picture.getBoundingClientRect().width;
    if (!this.frame || width === 0) return;
    this.left = size.gutter;
    this.width = width - this.left - 1;
    this.tops = [];
    const names = [];
    const bands = [];
    let y = size.axis;
    const row = (title, height) => {
      names.push(cutText(title, { x: 1, y, width: size.gutter - 14, height }));
      bands.push(svg("rect", { x: this.left, y, width: this.width, height, rx: 2 }));
      this.tops.push(y);
      y += height + size.gap;
    };
    row("critical path", size.strip);
    this.data.lanes.forEach((_, lane) => row(this.whereOf(lane), size.lane));
    y += size.marks;
    this.picture.setAttribute("viewBox", `0 0 ${width} ${y}`);
    this.picture.style.aspectRatio = `${width} / ${y}`;
    Object.assign(this.picture.dataset, { from: Math.round(this.from), to: Math.round(this.to) });
    this.picture.replaceChildren(
      svg("g", { class: "bands" }, bands), svg("g", { class: "names" }, names),
      svg("svg", { x: this.left, width: this.width, height: y },
        svg("g", { class: "grid" }, this.axis(y)),
        svg("g", { class: "beside" }, this.beside()),
        svg("g", { class: "spans" }, this.spans())));
  }

  // Draws grid lines about 110 pixels apart, and lines at due time, end and deadline.
  axis(height) {
    const { svg } = page;
    const rough = (this.to - this.from) / Math.max(2, this.width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].find((n) => n * power >= rough) * power);
    const unit = page.unitFor(Math.max(Math.abs(this.from), Math.abs(this.to)));
    const decimals = Math.max(0, -Math.floor(Math.log10(step / unit.ns) + 1e-9));
    const line = (ns, style) => svg("line", {
      class: style, x1: this.x(ns), x2: this.x(ns), y1: timelineSizes.axis - 4, y2: height,
    });
    const drawn = [];
    for (let i = Math.ceil(this.from / step); i * step <= this.to; ++i) {
      const x = this.x(i * step);
      const anchor = x < 24 ? "start" : this.width - x < 34 ? "end" : "middle";
      drawn.push(line(i * step, ""), svg("text", { x, y: 13, "text-anchor": anchor },
        `${(i * step / unit.ns).toFixed(decimals)} ${unit.name}`));
    }
    const { deadline } = this.data;
    const named = (ns, style, name) => {
      drawn.push(line(ns, style), svg("text", {
        x: this.x(ns) + 4, y: height - 4, "data-mark": name,
      }, name));
    };
    named(0, "bound", "due");
    drawn.push(line(this.frame.end, "bound"));
    if (deadline !== null) named(deadline, "deadline", "deadline");
    return drawn;
  }

  // Returns the extent of a span. It is clipped, because browsers draw very wide shapes badly.
  box(begin, end, least) {
    const x = Math.max(this.x(begin), -20);
    const right = Math.min(Math.max(this.x(end), x + least), this.width + 20);
    return { x, width: Math.max(0, right - x) };
  }

  spans() {
    const keyOf = ({ what, stage }) => `${what.category} ${stage}`;
    const isPart = ({ what }) => what.kind === "part";
    const onPath = new Set(this.frame.pieces.map(keyOf));
    const inParts = new Set(this.frame.spans.filter(isPart).map(keyOf));
    const drawn = this.frame.pieces.map((piece) => this.span(piece, "piece"));
    for (const span of this.frame.spans) {
      const held = span.what.kind === "held";
      const wraps = !isPart(span) && inParts.has(keyOf(span));
      // Other spans are drawn over a stage that was held up, so its name is omitted.
      const whole = !held || wraps;
      const bounds = onPath.has(keyOf(span)) && whole && !isPart(span);
      const mark = `${bounds ? "bounds" : ""} ${held ? "held" : ""}`;
      drawn.push(this.span(span, mark, wraps, whole));
    }
    return drawn;
  }

  // Draws a span. `wraps`: its parts need room at the bottom. `named`: its name is shown.
  span(span, mark, wraps = false, named = true) {
    const { svg, percent } = page;
    const { kind, category } = span.what;
    const part = kind === "part";
    const top = this.tops[(span.lane ?? -1) + 1];
    const whole = span.lane === undefined ? timelineSizes.strip : timelineSizes.lane;
    const skipped = category === "skipped";
    const box = this.box(span.begin, span.end, part ? 0.5 : skipped ? 3 : 1);
    const [left, right] = [Math.max(box.x, 0), Math.min(box.x + box.width, this.width)];
    const name = this.nameOf(span);
    const label = span.stage < 0 ? span.what.name : name;
    const words = `${name}, ${this.whatOf(span)}, ` + (skipped ? `at ${exactly(span.begin)}` :
      `${exactly(span.begin)} to ${exactly(span.end)}: ${exactly(span.end - span.begin)}, ` +
      `${percent((span.end - span.begin) / this.frame.end, 3)} of the frame`) +
      this.choiceOf(span);
    const thin = right - left < 6 ? "thin" : "";
    return svg("g", {
      class: `span time time-${category} ${part ? "part" : ""} ${mark} ${thin}`,
      style: timeStyle(category), role: "img", "aria-label": words, onpointerenter: () => {
        this.told.textContent = words;
      },
    },
    svg("rect", { ...box, y: part ? top + whole - 10 : top, height: part ? 10 : whole,
                  rx: part ? 0 : 2 }),
    span.insteadOf ? svg("path", { class: "choice", d: `M${box.x - 5} ${top}h10l-5 7z` }) : null,
    part || !named || right - left < 20 ? null : cutText(label, { x: left + 5, y: top,
      width: right - left - 8, height: wraps ? whole - 10 : whole }));
  }

  // Draws the visible spans of the three frames before and the three frames after.
  beside() {
    const { svg } = page;
    const drawn = [];
    for (const step of [-3, -2, -1, 1, 2, 3]) {
      const frame = this.frames[this.at + step];
      if (!frame) continue;
      const shift = frame.due - this.frame.due;
      for (const { what, lane, begin, end } of frame.spans) {
        if (what.kind === "part" || end + shift < this.from || begin + shift > this.to) continue;
        drawn.push(svg("rect", {
          class: "time", style: timeStyle(what.category), rx: 2,
          ...this.box(begin + shift, end + shift, 2),
          y: this.tops[lane + 1], height: timelineSizes.lane,
        }));
      }
    }
    return drawn;
  }
}
