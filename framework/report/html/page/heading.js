// What the report is of, and what a reader must know before the figures.
"use strict";

function drawHeading(data) {
  const { element } = graphline;
  document.querySelector("header").append(
    element("h1", {}, data.title),
    data.description ? element("p", {}, data.description) : "",
    element("p", { class: "note" }, data.subject, element("br"), data.way),
    ...data.notices.map(({ tone, text }) => element("p", { class: tone, role: "note" }, text)));
  document.querySelector("footer").append(element("p", {}, `Made by ${data.program}.`));
}
