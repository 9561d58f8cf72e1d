// The configurations side by side: the end-to-end time with every trial as a dot, and what each
// took.
"use strict";

graphline.section({
  id: "configurations",
  title: "Configurations",
  draws: (data) => data.kind === "experiment" && data.experiment.trials.who.length > 0,
  draw(data, box) {
    const { element } = graphline;
    const of = data.experiment;
    const times = element("div", {});
    const costs = element("div", {});
    let order = "written";
    const shown = element("span", { class: "note", role: "status" });
    const redraw = () => {
      const members =
        configurationsInOrder(experiment.membersOf(data).filter(experiment.isShown), order);
      shown.textContent = `${members.length} of ${of.members.length} shown`;
      times.replaceChildren(members.length ? configurationTimes(of, members)
                                           : experiment.none("a configuration"));
      costs.replaceChildren(
        members.length && of.costs.headings.length ? configurationCosts(of, members) : "");
      costs.className = experiment.height(members.length);
    };
    const many = of.members.length > 6;
    box.append(experiment.controls(
      many && experiment.filterField("Only with", "text in a name, in all sections"), many && shown,
      of.members.length > 2 && graphline.choice("Sorted by",
        [["written", "order of the file"], ["p50", "p50"], ["tail", of.tail],
         ["throughput", "throughput"]],
        (value) => { order = value; redraw(); })) ?? "",
      times, costs);
    experiment.drawn(redraw);
  },
});

// The best first; those without the figure last.
function configurationsInOrder(members, by) {
  if (by === "written") return members;
  const sign = by === "throughput" ? -1 : 1;
  const key = (member) => (member[by] === null ? Infinity : sign * member[by]);
  return [...members].sort((a, b) => key(a) - key(b) || a.who - b.who);
}

function configurationTimes(of, members) {
  const { element, svg } = graphline;
  const { name, ns } = of.unit;
  const ends = ({ p50, between_trials: spread }) =>
    (p50 === null || spread === null || spread >= p50 ? [] : [p50 - spread, p50 + spread]);
  const known = members
    .flatMap((member) => [member.p50, member.tail, ...member.trial_medians, ...ends(member)])
    .filter((value) => value !== null).map((value) => value / ns);
  const scale = experiment.scale(known.length ? known : [0, 1]);
  const at = (value) => `${scale.at(value / ns)}%`;
  const picture = ({ p50, tail, trial_medians: trials, between_trials: spread }) => {
    const parts = experiment.gridlines(scale);
    if (p50 !== null && tail !== null) {
      parts.push(svg("line", { class: "whisker", x1: at(p50), x2: at(tail), y1: "30%", y2: "30%" }),
        svg("line", { class: "whisker", x1: at(tail), x2: at(tail), y1: "15%", y2: "45%" }));
    }
    if (p50 !== null && spread !== null) {
      const left = scale.at((p50 - spread) / ns);
      parts.push(svg("rect", { class: "spread", x: `${left}%`, y: "50%", height: "40%",
        width: `${scale.at((p50 + spread) / ns) - left}%` }));
    }
    parts.push(...trials.map((value) =>
      svg("circle", { class: "trial", cx: at(value), cy: "70%", r: 2.75 })));
    if (p50 !== null) {
      parts.push(svg("line", { class: "median", x1: at(p50), x2: at(p50), y1: "8%", y2: "92%" }));
    }
    return parts;
  };
  const words = (member) => `p50 ${member.cells.p50} ${name}, ` +
    `${of.tail} ${member.cells.tail} ${name}; ${graphline.counted(member.trials, "trial")}`;
  return element("figure", {},
    experiment.strips("End to end", {
      names: of.headings,
      picture: { title: `end to end, ${name}${scale.logarithmic ? ", logarithmic" : ""}`,
                 axis: experiment.axis(scale, name) },
      columns: [`p50 ${name}`, `${of.tail} ${name}`, "frame/s", "frames"]
        .map((title) => ({ title, number: true })),
      groups: [{ rows: members.map((member) => ({
        names: experiment.names(member), picture: picture(member), words: words(member),
        cells: [member.cells.p50, member.cells.tail, member.cells.throughput,
                graphline.whole.format(member.frames)],
      })) }],
    }),
    element("figcaption", { class: "keys" },
      key(svg("line", { class: "median", x1: 4, x2: 4, y1: 1, y2: 11 }), "p50 of all frames"),
      key(svg("line", { class: "whisker", x1: 0, x2: 20, y1: 6, y2: 6 }),
        `from there to ${of.tail}`,
        svg("line", { class: "whisker", x1: 20, x2: 20, y1: 2, y2: 10 })),
      key(svg("circle", { class: "trial", cx: 11, cy: 6, r: 2.5 }), "median of a trial"),
      key(svg("rect", { class: "spread", x: 2, y: 1, width: 18, height: 10 }),
        "their spread: one standard deviation to either side"),
      scale.logarithmic || scale.low <= 0 ? ""
        : element("span", {}, "The scale does not begin at zero.")));

  function key(first, text, second) {
    return element("span", {}, svg("svg", { viewBox: "0 0 22 12", "aria-hidden": "true" },
      [first, second].filter(Boolean)), text);
  }
}

function configurationCosts(of, members) {
  return graphline.table("What each took beside time",
    [...of.headings.map((title) => ({ title: graphline.name(title) })),
     ...of.costs.headings.map((title) => ({ title, number: true }))],
    members.map((member) => [...experiment.names(member), ...of.costs.rows[member.who]]));
}
