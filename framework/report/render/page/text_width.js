// How wide texts are in pixels, and texts cut to a width.
"use strict";

const [textWidth, fittedText] = (() => {
  const context = document.createElement("canvas").getContext("2d");
  let family = null;
  const widths = new Map(); // at a size of 1
  function width(text, size) {
    if (!widths.has(text)) {
      family ??= getComputedStyle(document.body).fontFamily;
      context.font = `100px ${family}`;
      widths.set(text, context.measureText(text).width / 100);
    }
    return widths.get(text) * size;
  }
  // `count` characters and "…": in the middle, since names often differ at their ends, or at the
  // end where little is left.
  function cut(characters, count) {
    const tail = count < 8 ? 0 : Math.floor(count / 2);
    return `${characters.slice(0, count - tail).join("").trimEnd()}…${
      characters.slice(characters.length - tail).join("").trimStart()}`;
  }
  // All of it, as much as fits, or nothing where not even two characters do.
  function fitted(text, room, size = 12) {
    if (room < 12) return "";
    if (width(text, size) <= room) return text;
    const characters = Array.from(text);
    let low = 0;
    let high = characters.length;
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (width(cut(characters, middle), size) <= room) low = middle;
      else high = middle - 1;
    }
    return low < 2 ? "" : cut(characters, low);
  }
  return [width, fitted];
})();
