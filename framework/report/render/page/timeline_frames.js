// The frames of a timeline: rows of whole numbers, taken apart when they are asked for; and what
// stretch of time is seen, in nanoseconds and in pixels.
"use strict";

class TimelineFrames {
  constructor(timeline) {
    this.timeline = timeline;
    this.numbers = timeline.frames.map((row) => row[0]);
    this.decoded = new Map();
  }

  // The index of the first kept frame that is not before `number`.
  position(number) {
    let low = 0;
    let high = this.numbers.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.numbers[middle] < number) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  // The number of the kept frame that is nearest to `number`, the earlier of two.
  nearest(number) {
    const at = this.position(number);
    const around = this.numbers.slice(Math.max(0, at - 1), at + 1);
    return around.reduce((best, other) =>
      Math.abs(other - number) < Math.abs(best - number) ? other : best);
  }

  // A kept frame: {number, due, begin, end, residual, spans, pieces}. `due` is since the run began,
  // all other times since `due`.
  frame(number) {
    if (!this.decoded.has(number)) {
      this.decoded.set(number, this.decode(this.timeline.frames[this.position(number)]));
    }
    return this.decoded.get(number);
  }

  decode(row) {
    const [number, due, begin, end, residual, count] = row;
    const { kinds, categories } = this.timeline;
    const frame = { number, due, begin, end, residual, spans: [], pieces: [] };
    const known = (index) => (index < 0 ? null : index);
    let at = 6;
    let time = 0;
    for (let i = 0; i < count; ++i, at += 3) {
      const [kind, lane, stage, part] = this.timeline.spans[row[at]].map(known);
      time += row[at + 1];
      const end = time + row[at + 2];
      frame.spans.push({ kind: kinds[kind], lane, stage, part, begin: time, end });
    }
    time = 0;
    for (; at < row.length; at += 3) {
      const [what, stage] = this.timeline.pieces[row[at]].map(known);
      const from = time + row[at + 1];
      time = from + row[at + 2];
      frame.pieces.push({ kind: categories[what], stage, begin: from, end: time });
    }
    return frame;
  }

  // Kept frames that were in flight within `reach` ns of a frame's time, at most three on a side.
  beside(frame, reach) {
    const found = [];
    const at = this.position(frame.number);
    for (const step of [-1, 1]) {
      for (let i = 1; i <= 3; ++i) {
        const number = this.numbers[at + step * i];
        if (number === undefined) break;
        const other = this.frame(number);
        const shift = other.due - frame.due;
        if (shift + other.end < -reach || shift > frame.end + reach) break;
        found.push({ frame: other, shift });
      }
    }
    return found;
  }

  // What a span or piece is of, in a table.
  ownerOf(span) {
    return span.stage === null ? "the frame" : this.nameOf(span);
  }

  // What a span or piece is of, as its label: the stage's name, or what it is where it has none.
  nameOf(span) {
    if (span.kind === "part") return this.timeline.stages[span.stage].parts[span.part];
    if (span.stage !== null) return this.timeline.stages[span.stage].name;
    return span.kind === "launch" ? "the frame's graph" : timeTitle(span.kind);
  }
}

// A time in a unit with all its nanoseconds: "12.345678" for ms.
function exactIn(ns, unit) {
  return (ns / unit.ns).toFixed(Math.round(Math.log10(unit.ns)));
}
function exactly(ns) {
  const unit = page.unitFor(ns);
  return `${exactIn(ns, unit)} ${unit.name}`;
}

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
    const unit = page.unitFor(Math.max(Math.abs(this.from), Math.abs(this.to)));
    const decimals = Math.max(0, -Math.floor(Math.log10(step / unit.ns) + 1e-9));
    const at = [];
    for (let i = Math.ceil(this.from / step); i * step <= this.to; ++i) at.push(i * step);
    return { unit, decimals, at };
  }
}
