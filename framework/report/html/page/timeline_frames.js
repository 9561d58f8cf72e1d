// The frames that the page keeps: rows of whole numbers, taken apart when they are asked for.
"use strict";

class TimelineFrames {
  // `timeline` and `stages` as in the page's data.
  constructor(timeline, stages) {
    this.timeline = timeline;
    this.stages = stages;
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
    const { kinds, spent } = this.timeline;
    const frame = { number, due, begin, end, residual, spans: [], pieces: [] };
    let at = 6;
    let time = 0;
    for (let i = 0; i < count; ++i, at += 3) {
      const [kind, lane, stage, part] = this.timeline.spans[row[at]];
      time += row[at + 1];
      const end = time + row[at + 2];
      frame.spans.push({ kind: kinds[kind], lane, stage, part, begin: time, end });
    }
    time = 0;
    for (; at < row.length; at += 3) {
      const [what, stage] = this.timeline.pieces[row[at]];
      const from = time + row[at + 1];
      time = from + row[at + 2];
      frame.pieces.push({ kind: spent[what], stage, begin: from, end: time });
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
    if (span.kind === "part") return this.stages[span.stage].parts[span.part];
    if (span.stage !== null) return this.stages[span.stage].name;
    return span.kind === "launch" ? "the frame's graph" : spentTitle(span.kind);
  }
}

// A time in a unit with all its nanoseconds: "12.345678" for ms.
function exactIn(ns, unit) {
  return (ns / unit.ns).toFixed(Math.round(Math.log10(unit.ns)));
}
function exactly(ns) {
  const unit = graphline.unitFor(ns);
  return `${exactIn(ns, unit)} ${unit.name}`;
}
