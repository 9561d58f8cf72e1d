// What stretch of time a timeline shows, and what that means in pixels and on its axis.
"use strict";

const leastSeen = 20; // ns

class TimelineView {
  constructor() {
    this.left = 0;
    this.width = 1;
    this.set(0, 1);
  }

  // The frame's length: as much again may be seen before and after it.
  limit(length) {
    this.length = Math.max(length, 1);
    this.fit();
  }

  set(from, to) {
    this.from = from;
    this.to = from + Math.max(to - from, leastSeen);
  }

  fit() {
    this.set(-0.01 * this.length, 1.01 * this.length);
  }

  get fitted() {
    return Math.abs(this.to - this.from - 1.02 * this.length) < 1e-6 * this.length &&
      Math.abs(this.from + 0.01 * this.length) < 1e-6 * this.length;
  }

  // Keeps what is at `at`, in ns, where it is; factors above 1 show less time.
  zoom(factor, at = (this.from + this.to) / 2) {
    const span = Math.min(Math.max((this.to - this.from) / factor, leastSeen), 2.5 * this.length);
    const part = (at - this.from) / (this.to - this.from);
    this.set(at - part * span, at - part * span + span);
    this.pan(0);
  }

  // By a part of what is seen.
  pan(part) {
    const span = this.to - this.from;
    const from = this.from + part * span;
    const least = -0.75 * this.length;
    const most = Math.max(least, 1.75 * this.length - span);
    this.set(Math.min(Math.max(from, least), most), Math.min(Math.max(from, least), most) + span);
  }

  // Moves, no further than it must, so that a span can be seen.
  reveal({ begin, end }) {
    const span = this.to - this.from;
    const margin = 0.1 * span;
    if (end <= this.from) this.set(begin - margin, begin - margin + span);
    else if (begin >= this.to) this.set(end + margin - span, end + margin);
    this.pan(0);
  }

  // Pixels from the left, and the time at a pixel.
  x(ns) {
    return this.left + (ns - this.from) / (this.to - this.from) * this.width;
  }
  time(x) {
    return this.from + (x - this.left) / this.width * (this.to - this.from);
  }

  // Round times to mark, about one per 110 pixels: {unit, decimals, at: [ns...]}.
  ticks() {
    const rough = (this.to - this.from) / Math.max(2, this.width / 110);
    const power = 10 ** Math.floor(Math.log10(rough));
    const step = Math.max(1, [1, 2, 5, 10].find((n) => n * power >= rough) * power);
    const unit = graphline.unitFor(Math.max(Math.abs(this.from), Math.abs(this.to)));
    const decimals = Math.max(0, -Math.floor(Math.log10(step / unit.ns) + 1e-9));
    const at = [];
    for (let i = Math.ceil(this.from / step); i * step <= this.to; ++i) at.push(i * step);
    return { unit, decimals, at };
  }
}
