"""What the tests of a frame's pictures ask of their pages."""

# Spans of the timeline whose text is wider than the span.
OVERFULL = """
return [...document.querySelectorAll("svg.timeline .span")].filter((span) => {
  const text = span.querySelector("text");
  return text.textContent && text.getBBox().width > span.querySelector("rect").getBBox().width;
}).map((span) => span.textContent);
"""

# Nodes of the pipeline that lie on each other, and texts that reach out of their node.
CLASHING = """
const boxes = [...document.querySelectorAll("svg.pipeline .node")].map((node) => ({
  name: node.getAttribute("aria-label"), box: node.querySelector("rect").getBBox(),
  texts: [...node.querySelectorAll("text")].map((text) => text.getBBox())}));
const found = [];
boxes.forEach((a, i) => boxes.slice(0, i).forEach((b) => {
  if (a.box.x < b.box.x + b.box.width && b.box.x < a.box.x + a.box.width &&
      a.box.y < b.box.y + b.box.height && b.box.y < a.box.y + a.box.height) {
    found.push(a.name + " on " + b.name);
  }
}));
for (const { name, box, texts } of boxes) {
  if (texts.some((text) => text.x + text.width > box.x + box.width)) found.push("in " + name);
}
return found;
"""
