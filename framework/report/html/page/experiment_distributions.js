// How long frames took in each configuration: cumulative distributions, a chart for each pipeline.
"use strict";

graphline.section({
  id: "distributions",
  title: "Distributions",
  draws: (data) => data.kind === "experiment" && data.experiment.distributions.length > 0,
  draw(data, box) {
    const { element } = graphline;
    const form = { tail: false, logarithmic: false };
    const redraws = [];
    const change = (key, on) => (value) => {
      form[key] = value === on;
      for (const redraw of redraws) redraw();
    };
    box.append(experiment.controls(
      graphline.choice("Frames",
        [["at most", "that took at most so long"], ["longer", "that took longer (shows the tail)"]],
        change("tail", "longer")),
      graphline.choice("Time", [["linear", "linear"], ["log", "logarithmic"]],
        change("logarithmic", "log"))));
    for (const pipeline of experiment.pipelinesOf(data)) {
      const members = experiment.membersOf(data).filter((member) => member.pipeline === pipeline);
      const own = data.experiment.distributions
        .filter(({ who }) => members.some((member) => member.who === who));
      if (!own.length) continue;
      const figure = element("figure", {});
      if (data.experiment.several_at_once) {
        figure.append(element("h3", {}, graphline.name(pipeline)));
      }
      box.append(figure);
      let hidden = new Set();
      const entry = graphline.chart(figure,
        "Which part of the frames took at most so long, by configuration",
        () => experimentDistributionChart(data, own, { ...form, hidden }), 320);
      const redraw = () => entry.redraw();
      redraws.push(redraw);
      figure.append(
        experiment.switches(members.filter(({ who }) => own.some((one) => one.who === who)), "line",
          (set) => { hidden = set; redraw(); }),
        element("figcaption", {},
          "All counted frames of each configuration, of all its trials together."),
        element("details", { class: "tabled" },
          element("summary", {}, "As a table"), experimentDistributionTable(data, own)));
    }
  },
});

// The ends of a logarithmic axis: 1, 2 or 5 times a power of ten around all times that are drawn.
function experimentTimeEnds(own, ns) {
  const steps = [1, 2, 5, 10];
  const least = Math.min(...own.map(({ points }) => points[0][0])) / ns;
  const most = Math.max(...own.map(({ points }) => points[points.length - 1][0])) / ns;
  if (!(least > 0)) return {};
  const below = 10 ** Math.floor(Math.log10(least));
  const above = 10 ** Math.floor(Math.log10(most));
  return { min: below * steps.filter((step) => step * below <= least).pop(),
           max: above * steps.find((step) => step * above >= most) };
}

function experimentDistributionChart(data, own, { tail, logarithmic, hidden }) {
  const { unit, members } = data.experiment;
  const part = (count, of) => 100 * (tail ? 1 - count / of : count / of);
  const points = ({ points: steps, count: of }) => {
    const line = [{ x: steps[0][0] / unit.ns, y: part(0, of) },
                  ...steps.map(([time, count]) => ({ x: time / unit.ns, y: part(count, of) }))];
    // No frame is longer than the longest, which a logarithmic axis cannot show.
    return tail ? line.filter(({ y }) => y > 0) : line;
  };
  return {
    type: "line",
    data: { datasets: own.filter(({ who }) => !hidden.has(who)).map((one) => ({
      label: members[one.who].label, data: points(one), stepped: true, parsing: false,
      borderWidth: 2, borderDash: experiment.dashOf(one.who), pointRadius: 0, pointHitRadius: 8,
      borderColor: experiment.toneOf(one.who), backgroundColor: experiment.toneOf(one.who),
    })) },
    options: {
      interaction: { mode: "nearest", intersect: false },
      scales: {
        x: { type: logarithmic ? "logarithmic" : "linear",
             title: { text: `end to end, ${unit.name}` },
             ...(logarithmic ? experimentTimeEnds(own, unit.ns) : {}) },
        y: tail ? { type: "logarithmic", title: { text: "frames that took longer, %" },
                    ticks: { callback: (value) =>
                      (Number.isInteger(Math.log10(value)) ? String(value) : "") } }
                : { min: 0, max: 100, title: { text: "frames that took at most so long, %" } },
      },
      plugins: { tooltip: { callbacks: { title: () => [], label: ({ dataset, parsed }) =>
        `${graphline.isolated(dataset.label)}: ${graphline.digits(parsed.y)} % of frames took ` +
        `${tail ? "longer than" : "at most"} ${graphline.digits(parsed.x)} ${unit.name}` } } },
    },
  };
}

function experimentDistributionTable(data, own) {
  const { unit, members, headings } = data.experiment;
  const percentiles = own[0].percentiles.map(([name]) => name);
  return graphline.table(`End to end, ${unit.name}`,
    [...headings.map((title) => ({ title: graphline.name(title) })),
     { title: "frames", number: true },
     ...percentiles.map((title) => ({ title, number: true }))],
    own.map((one) => [...experiment.names(members[one.who]), graphline.whole.format(one.count),
                      ...one.percentiles.map(([, cell]) => cell)]));
}
