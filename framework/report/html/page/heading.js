// What the report is of, what a reader must know before the figures, and how figures stand.
"use strict";

const reportWords = {
  run: "report of a run", experiment: "report of an experiment", roofline: "roofline of a pipeline",
};

function drawHeading(data) {
  const { element, name } = graphline;
  document.querySelector("header").append(
    element("p", { class: "kind" }, `Graphline, ${reportWords[data.kind]}`),
    element("h1", {}, name(data.title)),
    data.description ? element("p", { class: "lead" }, name(data.description)) : "",
    element("p", { class: "note" }, data.subject, element("br"), data.way,
      data.amount ? [element("br"), data.amount] : null),
    ...data.notices.map(({ tone, text }) =>
      element("p", { class: `notice ${tone}`, role: "note" }, name(text))));
  document.querySelector("footer").append(
    element("p", {}, `Made by ${data.program}. ` +
      `Charts by Chart.js ${Chart.version} (MIT licence).`));
}

// The figures that stand first, in a row.
function figureRow(figures) {
  const { element } = graphline;
  return element("dl", { class: "figures" }, figures.map(({ name, value, unit, note, tone }) =>
    element("div", {},
      element("dt", {}, name),
      element("dd", { class: `value ${tone}` }, value, " ",
        element("span", { class: "unit" }, unit)),
      note ? element("dd", { class: "note" }, note) : null)));
}

// A bar of a part of 1 beside its figure; what is more than 1 fills it.
function shareBar(text, part, what) {
  const { element } = graphline;
  return element("span", { class: "barred" },
    element("span", { class: "bar", "aria-hidden": "true" },
      element("span", { class: what,
                        style: `width: ${(100 * Math.min(part ?? 0, 1)).toFixed(2)}%` })),
    element("span", { class: "beside" }, text));
}
