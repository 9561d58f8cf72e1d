// What the report is of, and what a reader must know before the figures.
"use strict";

function drawHeading(data) {
  const { element, name } = graphline;
  document.querySelector("header").append(
    element("p", { class: "kind" }, `Graphline, report of ${data.kind === "run" ? "a run"
                                                                               : "an experiment"}`),
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
