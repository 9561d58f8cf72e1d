// What the experiment came to, in sentences.
"use strict";

graphline.section({
  id: "findings",
  title: "Findings",
  draws: (data) => data.kind === "experiment" && data.experiment.trials.who.length > 0,
  draw(data, box) {
    const { element } = graphline;
    const answers = experimentAnswers(data);
    if (answers.length) {
      box.append(element("ul", { class: "answers" }, answers.map(({ word, count, of }) =>
        element("li", {}, element("strong", {}, `${count} of ${of}`), experiment.verdict(word)))));
      box.append(element("p", { class: "note" },
        "of the comparisons by p50 end to end, the time of the median frame"));
    }
    if (data.findings.length) {
      box.append(element("ul", { class: "findings" },
        data.findings.map((text) => element("li", {}, graphline.name(text)))));
    }
    box.append(element("details", {}, element("summary", {}, "What the words and figures mean"),
      element("ul", { class: "notes" }, data.notes.map((text) => element("li", {}, text)))));
  },
});

// How many comparisons of the median frame have each verdict.
function experimentAnswers(data) {
  const found = data.experiment.comparisons.filter(
    (one) => one.figure === "p50" && one.ratio_range);
  return ["faster", "slower", "same", "undecided"]
    .map((word) => ({
      word, of: found.length, count: found.filter((one) => one.verdict === word).length,
    }))
    .filter(({ count }) => count > 0);
}
