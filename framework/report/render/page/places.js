// Where things stand in a chart: logarithmic axes, and words that cover nothing.
"use strict";

// "10 G" of 1e10.
function decimalText(value) {
  const [size, prefix] = [[1e15, "P"], [1e12, "T"], [1e9, "G"], [1e6, "M"], [1e3, "k"]]
    .find(([least]) => value >= least * 0.9995) ?? [1, ""];
  return `${Number((value / size).toPrecision(3))}${prefix ? ` ${prefix}` : ""}`;
}

// A logarithmic axis that holds all of `values` with some room around them: `at(value)` in pixels
// from `begin` to `end`, `ticks` at powers of ten and `between` at what lies between these.
class LogAxis {
  constructor(values, [below, above], begin, end) {
    this.low = Math.min(...values) / below;
    this.high = Math.max(...values) * above;
    this.begin = begin;
    this.end = end;
  }

  at(value) {
    const part = Math.log(value / this.low) / Math.log(this.high / this.low);
    return this.begin + part * (this.end - this.begin);
  }

  // Powers of ten, so many of them that each has `room` pixels.
  ticks(room) {
    const decades = Math.log10(this.high / this.low);
    const step = Math.max(1, Math.ceil((decades * room) / Math.abs(this.end - this.begin)));
    const found = [];
    for (let power = Math.ceil(Math.log10(this.low)); 10 ** power <= this.high; ++power) {
      if (power % step === 0) found.push(10 ** power);
    }
    return found;
  }

  // 2 to 9 times a power of ten, while they can be told apart.
  between() {
    const decades = Math.log10(this.high / this.low);
    if (Math.abs(this.end - this.begin) / decades < 60) return [];
    const found = [];
    for (let power = Math.floor(Math.log10(this.low)); 10 ** power <= this.high; ++power) {
      for (let factor = 2; factor < 10; ++factor) {
        const value = factor * 10 ** power;
        if (value > this.low && value < this.high) found.push(value);
      }
    }
    return found;
  }
}

// Finds room for words around points and lines, first come first served.
class FreePlaces {
  constructor(left, top, right, bottom) {
    this.bounds = { left, top, right, bottom };
    this.taken = [];
  }

  take(left, top, right, bottom) {
    this.taken.push({ left, top, right, bottom });
  }

  isFree(box) {
    const { bounds } = this;
    return box.left >= bounds.left && box.right <= bounds.right && box.top >= bounds.top &&
      box.bottom <= bounds.bottom && !this.taken.some((other) =>
      box.left < other.right && other.left < box.right &&
        box.top < other.bottom && other.top < box.bottom);
  }

  // The first of some boxes that is free, which is taken then.
  first(boxes) {
    const found = boxes.find((box) => this.isFree(box));
    if (found) this.taken.push(found);
    return found;
  }

  // The same of words `height` high on a slope, on its upper left, from (x1, y1) to (x2, y2).
  along(x1, y1, x2, y2, height) {
    const [dx, dy] = [x2 - x1, y2 - y1];
    const long = Math.hypot(dx, dy);
    const half = height / 2;
    const steps = Math.max(1, Math.ceil(long / half));
    const boxes = [];
    for (let i = 0; i <= steps; ++i) {
      const x = x1 + (i / steps) * dx + (half * dy) / long;
      const y = y1 + (i / steps) * dy - (half * dx) / long;
      boxes.push({ left: x - half, right: x + half, top: y - half, bottom: y + half });
    }
    if (!boxes.every((box) => this.isFree(box))) return false;
    this.taken.push(...boxes);
    return true;
  }

  // Room for `width` x `height` beside what reaches `reach` around (x, y): its left end and the
  // middle of its height; null where there is none.
  beside(x, y, reach, width, height) {
    const away = reach + 5;
    const slant = 0.7 * reach + 3;
    const { bounds } = this;
    const amid = Math.min(Math.max(x - width / 2, bounds.left), bounds.right - width);
    const corners = [
      [x + away, y - height / 2], [x - away - width, y - height / 2],
      [x + slant, y - slant - height], [x + slant, y + slant],
      [x - slant - width, y - slant - height], [x - slant - width, y + slant],
      [amid, y - away - height], [amid, y + away],
      [amid, y - away - 2 * height], [amid, y + away + height],
    ];
    for (const [left, top] of corners) {
      const box = { left, top, right: left + width, bottom: top + height };
      if (!this.isFree(box)) continue;
      this.taken.push(box);
      return [left, top + height / 2];
    }
    return null;
  }
}
