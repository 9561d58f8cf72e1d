// Where the parts of a timeline's picture stand.
"use strict";

const timelineSizes = {
  axis: 24, strip: 24, lane: 30, gap: 10, name: 17, narrow: 620, gutter: 132,
};

Object.assign(TimelinePlot.prototype, {
  // Lanes by the width there is: their names to the left of them, or above where that is little.
  resize() {
    const { svg } = graphline;
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
    row(-1, "the path", "bounds the frame", size.strip);
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
  },

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
  },

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
  },

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
  },

  placeAxis() {
    const { svg } = graphline;
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
  },

  placeEdges() {
    this.layers.edges.style.display = this.showsEdges ? "" : "none";
    const middle = (item) => this.tops.get(item.lane) + timelineSizes.lane / 2;
    for (const { from, to, path } of this.edges) {
      const [x1, x2] = [this.view.x(from.span.end), this.view.x(to.span.begin)];
      const [y1, y2] = [middle(from), middle(to)];
      const bend = Math.min(Math.max(Math.abs(x2 - x1) / 2, 10), 40);
      path.setAttribute("d", `M${x1} ${y1}C${x1 + bend} ${y1} ${x2 - bend} ${y2} ${x2} ${y2}`);
    }
  },

  // How far off the device's stamps may be, where that can be seen.
  placeErrors() {
    const { svg } = graphline;
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
  },
});
