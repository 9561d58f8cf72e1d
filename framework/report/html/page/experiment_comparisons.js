// Each configuration against what it is compared with: a forest of intervals with verdicts.
"use strict";

graphline.section({
  id: "comparisons",
  title: "Comparisons",
  draws: (data) => data.kind === "experiment" && data.experiment.comparisons.length > 0,
  draw(data, box) {
    const { element } = graphline;
    const of = data.experiment;
    const figures = [["p50", "p50: the median frame"], ["tail", `${of.tail}: slow frames`],
                     ["throughput", "throughput"]]
      .filter(([key]) => of.comparisons.some((one) => one.figure === key));
    const place = element("div", {});
    let figure = figures[0][0];
    let form = "ratio";
    const redraw = () => place.replaceChildren(comparisonForest(data, figure, form));
    box.append(experiment.controls(
      graphline.choice("Figure", figures, (value) => { figure = value; redraw(); }),
      graphline.choice("Differences", [["ratio", "in percent"], ["difference", "as amounts"]],
        (value) => { form = value; redraw(); })), place);
    experiment.drawn(redraw);
  },
});

function comparisonForest(data, figure, form) {
  const { element } = graphline;
  const of = data.experiment;
  const members = experiment.membersOf(data);
  const rate = figure === "throughput";
  const unit = form === "ratio" ? "%" : rate ? "frame/s" : of.unit.name;
  const found = new Map(of.comparisons.filter((one) => one.figure === figure)
    .map((one) => [one.pair.join(), one]));
  const inUnit = (one, ratio, difference) =>
    form === "ratio" ? 100 * (ratio - 1) : difference / (rate ? 1 : of.unit.ns);
  const toDecide = [...found.values()].some((one) => one.more !== null);

  const row = ({ who, reference }) => {
    const member = members[who];
    const one = found.get(`${who},${reference}`);
    const value = member.cells[figure];
    if (reference === null || !one) {
      const word = reference === null ? "baseline" : "-";
      return { names: experiment.names(member), words: word,
               cells: [value, word, "", "", ...(toDecide ? [""] : [])] };
    }
    const change = form === "ratio" ? one.cells.change : `${one.cells.difference} ${unit}`;
    const interval = form === "ratio" ? one.cells.interval : one.cells.difference_interval;
    const more = one.more === null ? "" : `+${graphline.whole.format(one.more)}`;
    return {
      names: experiment.names(member),
      value: inUnit(one, one.ratio, one.difference),
      range: one.ratio_range &&
        [0, 1].map((i) => inUnit(one, one.ratio_range[i], one.difference_range[i])),
      verdict: one.verdict,
      words: `${change}, 95 % interval ${interval}: ${one.verdict}`,
      cells: [value, change, interval, experiment.verdict(one.verdict),
              ...(toDecide ? [more] : [])],
    };
  };
  const groups = of.groups
    .filter((group) => group.some(({ reference }) => reference !== null))
    .map((group) => ({ group, rows: group.filter(({ who, reference }) =>
      reference === null || experiment.isShown(members[who])) }))
    .filter(({ rows }) => rows.some(({ reference }) => reference !== null))
    .map(({ group, rows }) => ({
      title: ["against ", graphline.name(members[group[0].who].label)], rows: rows.map(row),
    }));
  if (!groups.length) return experiment.none("a compared configuration");
  const shown = rate ? `frame/s` : `${figure === "tail" ? of.tail : figure} ${of.unit.name}`;
  return element("figure", {},
    experiment.forest("Against the baseline", {
      names: of.headings,
      title: rate ? `${unit}: more frames to the right` : `${unit}: less time to the left`,
      unit,
      margin: form === "ratio" ? 100 * of.margin : null,
      columns: [{ title: shown, number: true }, { title: "change", number: true },
                { title: "95 % interval", number: true }, { title: "verdict" },
                ...(toDecide ? [{ title: "more", number: true }] : [])],
      groups,
    }),
    element("figcaption", {}, comparisonWords(of, form, toDecide)));
}

function comparisonWords(of, form, toDecide) {
  const words = of.comparisons.some((one) => one.ratio_range)
    ? [`Intervals by bootstrap over ${of.counted_blocks} blocks; all of the experiment's hold ` +
       "together with 95 %."]
    : [];
  if (form === "ratio" && words.length) {
    words.push(`Shaded: within ${graphline.digits(100 * of.margin, 2)} %, where a whole interval ` +
      'in it is "same".');
  }
  if (toDecide) {
    words.push("more: about so many further trials of each configuration would decide.");
  }
  return words.join(" ");
}
