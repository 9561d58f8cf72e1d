// What happened in one frame: the choice of the frame, its picture, pointer and keyboard on it.
"use strict";

page.chart("timeline", (data, figure) => {
  const section = new TimelineSection(new TimelineFrames(data), figure);
  document.addEventListener("graphline:frame", (event) => section.choose(event.detail.frame));
  section.choose(data.asked[0] ?? data.median);
});

class TimelineSection {
  constructor(frames, figure) {
    const { element } = page;
    this.frames = frames;
    this.plot = new TimelinePlot(frames, (span, frame) => this.tell(span, frame),
      (number) => this.choose(number));
    this.headline = element("p", { class: "headline", role: "status" });
    this.missing = element("p", { class: "missing warning", hidden: true });
    this.detail = element("p", { class: "told", "aria-live": "polite" });
    this.tables = element("div", {});
    const kinds = Object.keys(timeWords).filter((kind) =>
      frames.timeline.pieces.some(([what]) => frames.timeline.categories[what] === kind) ||
      frames.timeline.spans.some(([what]) => spanColors[frames.timeline.kinds[what]] === kind));
    figure.append(this.chooser(), this.missing, this.headline, this.viewer(), this.plot.picture,
      this.detail, timeLegend(kinds), element("figcaption", {}, this.caption()),
      page.tabled(this.tables));
  }

  // ---- Choosing a frame -------------------------------------------------------------------------

  chooser() {
    const { element, duration, whole } = page;
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
    const { whole } = page;
    const { timeline, numbers } = this.frames;
    this.missing.hidden = wanted === this.shown;
    this.missing.textContent = `Frame ${wanted} is not kept in this file, which has ` +
      `${whole.format(numbers.length)} of ${whole.format(timeline.total)} frames; the nearest is ` +
      `shown. graphline report RESULT.json --html FILE --frame ${wanted} puts it in.`;
  }

  describeFrame(frame) {
    const { element, digits, duration, percent } = page;
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
    const { element } = page;
    const button = (sign, title, act) =>
      element("button", { type: "button", "aria-label": title, title, onclick: act }, sign);
    const zoom = (factor) => () => {
      this.plot.view.zoom(factor);
      this.plot.place();
    };
    const toggle = (title, name) => page.toggle(title, (checked) => {
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
    const { element, duration } = page;
    const error = this.frames.timeline.clock_error;
    return [
      "Time counts from when the frame was due. On the critical path at the top, each " +
      "piece waited for the one before it; what is on it is outlined in its lane. Faint spans " +
      "belong to frames before and after. ",
      error > 0 ? `What ran on a stream stands within ${duration(error)} of where it is drawn, ` +
        "by the alignment of the clocks; whiskers show that where it can be seen. " : "",
      element("span", { id: "timeline-keys" },
        "Keys: + − and 0 zoom, ← → move, ↓ goes to the spans, where arrows go from one to the " +
        "next and Esc leaves. The wheel zooms once the picture was clicked, or with Ctrl."),
    ];
  }

  // Says what a span is, of the frame that is shown or of one beside it.
  tell(span, frame) {
    const { element, percent } = page;
    if (!span) {
      this.detail.replaceChildren(
        "Point at a span, or move to it with the keys, to see what it is.");
      return;
    }
    const piece = span.lane === undefined;
    const where = piece ? timeWords[span.kind][1] : `${spanWords[span.kind]}, `;
    this.detail.replaceChildren(
      element("strong", {}, page.name(this.frames.nameOf(span))), ` · ${where}`,
      ...(piece ? [] : [page.name(this.plot.whereOf(span.lane))]),
      frame.number === this.shown ? "" : ` · frame ${frame.number}`, element("br"),
      `${exactly(span.begin)} to ${exactly(span.end)}, `,
      element("strong", {}, exactly(span.end - span.begin)),
      `, ${percent((span.end - span.begin) / frame.end, 3)} of the frame`);
  }
}

// What a timeline shows, as numbers.
function timelineTables(frames, frame, plot) {
  const { table, unitFor } = page;
  const unit = unitFor(frame.end);
  const times = ["begin", "end", "length"].map((title) =>
    ({ title: `${title}, ${unit.name}`, number: true }));
  const figures = (span) =>
    [span.begin, span.end, span.end - span.begin].map((ns) => exactIn(ns, unit));
  return [
    table(`Critical path of frame ${frame.number}; residual ${exactly(frame.residual)}`,
      [{ title: "of" }, { title: "goes to" }, ...times],
      frame.pieces.map((piece) =>
        [page.name(frames.ownerOf(piece)), timeTitle(piece.kind), ...figures(piece)])),
    table(`All spans of frame ${frame.number}`,
      [{ title: "of" }, { title: "what" }, { title: "where" }, ...times],
      frame.spans.map((span) => [page.name(frames.ownerOf(span)), spanWords[span.kind],
        page.name(plot.whereOf(span.lane)), ...figures(span)])),
  ];
}

function handTimeline(plot) {
  const { picture, view } = plot;
  const pointer = (event) => view.time(event.clientX - picture.getBoundingClientRect().left);
  const zoom = (factor, at) => {
    view.zoom(factor, at);
    plot.place();
  };

  // A page that scrolls must not be caught by the picture: the wheel zooms once it was clicked or
  // has the keyboard, or with Ctrl.
  picture.addEventListener("wheel", (event) => {
    if (!event.ctrlKey && !picture.contains(document.activeElement)) return;
    event.preventDefault();
    if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) {
      view.pan(event.deltaX / view.width);
      plot.place();
    } else {
      zoom(Math.exp(-event.deltaY * (event.deltaMode === 1 ? 0.05 : 0.0016)), pointer(event));
    }
  }, { passive: false });

  let last = null;
  picture.addEventListener("pointerdown", (event) => {
    if (event.button !== 0) return;
    last = event.clientX;
  });
  picture.addEventListener("pointermove", (event) => {
    if (last === null || event.buttons === 0 || event.clientX === last) return;
    // Captured only now: a click on a span must reach it.
    picture.setPointerCapture(event.pointerId);
    picture.classList.add("dragged");
    view.pan((last - event.clientX) / view.width);
    last = event.clientX;
    plot.place();
  });
  for (const end of ["pointerup", "pointercancel"]) {
    picture.addEventListener(end, () => {
      last = null;
      picture.classList.remove("dragged");
    });
  }

  const middle = () => plot.focused
    ? Math.min(Math.max((plot.focused.span.begin + plot.focused.span.end) / 2, view.from), view.to)
    : (view.from + view.to) / 2;
  const pan = (part) => {
    view.pan(part);
    plot.place();
  };
  const keys = {
    "+": () => zoom(1.5, middle()),
    "=": () => zoom(1.5, middle()),
    "-": () => zoom(1 / 1.5, middle()),
    0: () => plot.fit(),
    ArrowLeft: (moves) => (moves ? plot.step(-1, 0) : pan(-0.15)),
    ArrowRight: (moves) => (moves ? plot.step(1, 0) : pan(0.15)),
    ArrowUp: (moves) => moves && plot.step(0, -1),
    ArrowDown: (moves) => (moves ? plot.step(0, 1) : plot.current?.group.focus()),
    Escape: () => picture.focus(),
  };
  picture.addEventListener("keydown", (event) => {
    const key = keys[event.key];
    if (!key || event.ctrlKey || event.metaKey || event.altKey) return;
    event.preventDefault();
    key(Boolean(plot.focused) && !event.shiftKey);
  });
}
