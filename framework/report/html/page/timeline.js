// The section that shows what happened in one frame, and the choice of the frame.
"use strict";

graphline.section({
  id: "timeline",
  title: "Timeline of a frame",
  draws: (data) => Boolean(data.timeline),
  draw(data, box) {
    const frames = new TimelineFrames(data.timeline, data.pipeline.stages);
    const section = new TimelineSection(frames, box);
    document.addEventListener("graphline:frame", (event) => section.choose(event.detail.frame));
    section.choose(data.timeline.asked[0] ?? data.timeline.median);
  },
});

class TimelineSection {
  constructor(frames, box) {
    const { element } = graphline;
    this.frames = frames;
    this.plot = new TimelinePlot(frames, (span, frame) => this.tell(span, frame),
      (number) => this.choose(number));
    this.headline = element("p", { class: "headline", role: "status" });
    this.missing = element("p", { class: "missing warning", hidden: true });
    this.detail = element("p", { class: "told", "aria-live": "polite" });
    this.tables = element("div", {});
    const kinds = Object.keys(spentMeanings).filter((kind) =>
      frames.timeline.pieces.some(([what]) => frames.timeline.spent[what] === kind) ||
      frames.timeline.spans.some(([what]) => spanColours[frames.timeline.kinds[what]] === kind));
    box.append(this.chooser(), this.missing, this.headline,
      element("figure", { class: "timeline-figure" },
        this.viewer(), this.plot.picture, this.detail, timeLegend(kinds),
        element("figcaption", {}, this.caption()),
        element("details", { class: "tabled" },
          element("summary", {}, "As a table"), this.tables)));
  }

  // ---- Choosing a frame -------------------------------------------------------------------------

  chooser() {
    const { element, duration, whole } = graphline;
    const { timeline } = this.frames;
    const button = (title, number) =>
      element("button", { type: "button", onclick: () => this.choose(number) }, title);
    const group = (title, list) => (list.length === 0 ? null : element("optgroup", { label: title },
      list.slice(0, 20).map((number) => element("option", { value: number },
        `frame ${number}: ${duration(this.frames.frame(number).end)}`))));
    this.list = element("select", {
      "aria-label": "Frames of note",
      onchange: () => this.list.value !== "" && this.choose(Number(this.list.value)),
    }, element("option", { value: "" }, "of note …"), group("Asked for", timeline.asked),
    group("Slowest", timeline.slow),
    group("Missed the deadline", timeline.missed), group("Typical", timeline.typical));
    this.input = element("input", {
      type: "number", min: 0, max: timeline.total - 1, step: 1, "aria-label": "Frame number",
      onchange: () => this.choose(Number(this.input.value)),
    });
    const step = (by, title, sign) => element("button", {
      type: "button", "aria-label": title, title, onclick: () => this.step(by),
    }, sign);
    this.earlier = step(-1, "Previous frame", "‹");
    this.later = step(1, "Next frame", "›");
    return element("div", { class: "controls near", role: "group", "aria-label": "Choose a frame" },
      button("Median", timeline.median), button("Slowest", timeline.slowest), this.list,
      element("span", { class: "stepper" }, this.earlier, this.input, this.later),
      element("span", { class: "note" }, `of ${whole.format(timeline.total)}, counted from 0`));
  }

  // To the next frame that is kept.
  step(by) {
    const { numbers } = this.frames;
    const next = numbers[this.frames.position(this.shown) + by];
    if (next !== undefined) this.choose(next);
  }

  // Shows a frame, or the nearest that is kept.
  choose(wanted) {
    const { total } = this.frames.timeline;
    if (!Number.isFinite(wanted)) return;
    const number = Math.min(Math.max(Math.round(wanted), 0), total - 1);
    this.shown = this.frames.nearest(number);
    this.tellMissing(number);
    const frame = this.frames.frame(this.shown);
    const listed = [...this.list.options].some(({ value }) => value === String(this.shown));
    this.list.value = listed ? String(this.shown) : "";
    this.input.value = this.shown;
    const at = this.frames.position(this.shown);
    this.earlier.disabled = at === 0;
    this.later.disabled = at === this.frames.numbers.length - 1;
    this.headline.replaceChildren(...this.describeFrame(frame));
    this.plot.show(frame);
    this.tell(null, frame);
    this.tables.replaceChildren(...timelineTables(this.frames, frame, this.plot));
  }

  tellMissing(wanted) {
    const { whole } = graphline;
    const { timeline, numbers } = this.frames;
    this.missing.hidden = wanted === this.shown;
    this.missing.textContent = `Frame ${wanted} is not kept in this file, which has ` +
      `${whole.format(numbers.length)} of ${whole.format(timeline.total)} frames; the nearest is ` +
      `shown. graphline report RESULT.json --html FILE --frame ${wanted} puts it in.`;
  }

  describeFrame(frame) {
    const { element, digits, duration, percent } = graphline;
    const { timeline } = this.frames;
    const median = timeline.median_time;
    const parts = [
      element("strong", {}, `Frame ${frame.number}`), ` took ${duration(frame.end, 4)}`];
    if (frame.number === timeline.median) parts.push(", the median");
    else if (frame.end === median) parts.push(", as long as the median frame");
    else if (frame.end >= 2 * median) {
      parts.push(`, ${digits(frame.end / median)} times as long as the median frame`);
    } else {
      const ratio = Math.abs(frame.end / median - 1);
      const way = frame.end > median ? "more" : "less";
      parts.push(`, ${percent(ratio)} ${way} than the median frame`);
    }
    if (frame.begin > 0) parts.push(`; it waited ${duration(frame.begin)} in the queue`);
    parts.push(`. Due ${duration(frame.due, 4)} after the run began.`);
    if (timeline.deadline !== null && frame.end > timeline.deadline) {
      parts.push(element("span", { class: "bad" },
        ` Missed its deadline of ${duration(timeline.deadline)} by ` +
        `${duration(frame.end - timeline.deadline)}.`));
    }
    return parts;
  }

  // ---- The picture ------------------------------------------------------------------------------

  viewer() {
    const { element } = graphline;
    const button = (sign, title, act) =>
      element("button", { type: "button", "aria-label": title, title, onclick: act }, sign);
    const zoom = (factor) => () => {
      this.plot.view.zoom(factor);
      this.plot.place();
    };
    const toggle = (title, name) => graphline.toggle(title, (checked) => {
      this.plot[name] = checked;
      this.plot.place();
    }, true);
    return element("div", { class: "controls near", role: "group", "aria-label": "View" },
      button("−", "Zoom out", zoom(1 / 1.5)), button("+", "Zoom in", zoom(1.5)),
      button("Fit", "Show the whole frame", () => this.plot.fit()),
      toggle("edges", "showsEdges"),
      this.frames.numbers.length > 1 ? toggle("other frames", "showsBeside") : null);
  }

  caption() {
    const { element, duration } = graphline;
    const error = this.frames.timeline.clock_error;
    return [
      "Time counts from when the frame was due. The path at the top is what bounds the frame: " +
      "each piece waited for the one before it. What bounds it is outlined in its lane; faint " +
      "spans belong to frames before and after. ",
      error > 0 ? `What ran on a stream stands within ${duration(error)} of where it is drawn, ` +
        "by the alignment of the clocks; whiskers show that where it can be seen. " : "",
      element("span", { id: "timeline-keys" },
        "Keys: + − and 0 zoom, ← → move, ↓ goes to the spans, where arrows go from one to the " +
        "next and Esc leaves. The wheel zooms once the picture was clicked, or with Ctrl."),
    ];
  }

  // Says what a span is, of the frame that is shown or of one beside it.
  tell(span, frame) {
    const { element, percent } = graphline;
    if (!span) {
      this.detail.replaceChildren(
        "Point at a span, or move to it with the keys, to see what it is.");
      return;
    }
    const piece = span.lane === undefined;
    const where = piece ? spentMeanings[span.kind] : `${spanWords[span.kind]}, `;
    this.detail.replaceChildren(
      element("strong", {}, graphline.name(this.frames.nameOf(span))), ` · ${where}`,
      ...(piece ? [] : [graphline.name(this.plot.whereOf(span.lane))]),
      frame.number === this.shown ? "" : ` · frame ${frame.number}`, element("br"),
      `${exactly(span.begin)} to ${exactly(span.end)}, `,
      element("strong", {}, exactly(span.end - span.begin)),
      `, ${percent((span.end - span.begin) / frame.end, 3)} of the frame`);
  }
}

// What a timeline shows, as numbers.
function timelineTables(frames, frame, plot) {
  const { table, unitFor } = graphline;
  const unit = unitFor(frame.end);
  const times = ["begin", "end", "length"].map((title) =>
    ({ title: `${title}, ${unit.name}`, number: true }));
  const figures = (span) =>
    [span.begin, span.end, span.end - span.begin].map((ns) => exactIn(ns, unit));
  return [
    table(`The path that bounds frame ${frame.number}; it leaves ${exactly(frame.residual)} over`,
      [{ title: "of" }, { title: "goes to" }, ...times],
      frame.pieces.map((piece) =>
        [graphline.name(frames.ownerOf(piece)), spentTitle(piece.kind), ...figures(piece)])),
    table(`All spans of frame ${frame.number}`,
      [{ title: "of" }, { title: "what" }, { title: "where" }, ...times],
      frame.spans.map((span) => [graphline.name(frames.ownerOf(span)), spanWords[span.kind],
        graphline.name(plot.whereOf(span.lane)), ...figures(span)])),
  ];
}
