// How the times of frames and stages are spread: a histogram and the cumulative distribution.
"use strict";

page.chart("distributions", (data, figure) => {
  const { element, duration, counted, whole } = page;
  const { list: all, deadline } = data;
  const countOf = ({ steps }) => steps.at(-1)[1];
  let chosen = all[0];
  let logarithmic = false;

  const titleOf = ({ name, what }) => {
    const whose = page.isolated(page.brief(name, 60));
    return what ? `${whose}, ${what}` : whose;
  };
  const titles = page.distinct(all.map(titleOf));
  const title = () => titles[all.indexOf(chosen)];

  // All times of a chart are in one unit, that of its body.
  function unitOf({ bins: { begin, counts, width } }) {
    return page.unitFor(begin + counts.length * width / 2);
  }

  // A bin's edges in words; as many decimals as tell them apart.
  function edges(from, to) {
    const unit = unitOf(chosen);
    const decimals = Math.max(0, Math.ceil(Math.log10(unit.ns / chosen.bins.width) - 1e-9));
    const text = (ns) => (ns / unit.ns).toFixed(decimals);
    if (from === null) return `less than ${text(to)} ${unit.name}`;
    if (to === null) return `${text(from)} ${unit.name} and more`;
    return `${text(from)} to ${text(to)} ${unit.name}`;
  }

  // [from, to, count] of each bin, the open ones at both ends too where they hold something.
  function bins() {
    const { begin, width, counts, below, beyond } = chosen.bins;
    const list = counts.map((count, i) => [begin + i * width, begin + (i + 1) * width, count]);
    if (below) list.unshift([null, begin, below]);
    if (beyond) list.push([begin + counts.length * width, null, beyond]);
    return list;
  }

  // From where to where the time axis of both charts goes: over all bins, the open ones drawn as
  // wide as the others, a little apart.
  function range() {
    const { begin, width, counts, below, beyond } = chosen.bins;
    return [begin - (below ? 2 * width : 0),
            begin + (counts.length + (beyond ? 2 : 0)) * width];
  }

  function markedTimes() {
    const { ns } = unitOf(chosen);
    const list = chosen.marks.filter(([name]) => name.startsWith("p")).map(([name, time]) =>
      ({ axis: "x", at: time / ns, label: name, tone: "ink" }));
    if (deadline !== null && !chosen.what && chosen === all[0]) {
      list.push({ axis: "x", at: deadline / ns, label: "deadline", tone: "bad", dash: [] });
    }
    return list.sort((a, b) => a.at - b.at);
  }

  function timeAxis([least, most]) {
    const unit = unitOf(chosen);
    return { type: "linear", min: least / unit.ns, max: most / unit.ns,
             title: { text: unit.name }, grid: { display: false },
             ticks: { maxTicksLimit: 8, includeBounds: false } };
  }

  const tone = () => chosen.color;

  function histogram() {
    const { ns } = unitOf(chosen);
    const { width } = chosen.bins;
    const isOpen = ([from, to]) => from === null || to === null;
    const middle = ([from, to]) => {
      if (from === null) return to - 1.5 * width;
      return to === null ? from + 1.5 * width : (from + to) / 2;
    };
    const all = bins();
    return {
      type: "bar",
      data: { datasets: [{
        // No bar where there is no frame; the least of the others can be seen.
        data: all.map((bin) => ({ x: middle(bin) / ns, y: bin[2] || null })),
        backgroundColor: all.map((bin) =>
          (isOpen(bin) ? page.faded(tone(), 0.45) : page.color(tone()))),
        barPercentage: 0.94, categoryPercentage: 1, minBarLength: 2,
        // Bars are as wide as they lie apart, which of one bar is not known.
        barThickness: all.length === 1 ? "flex" : undefined,
      }] },
      plugins: [page.marks(markedTimes())],
      options: {
        parsing: false, layout: { padding: { top: 30 } },
        interaction: { mode: "read" },
        scales: {
          x: { ...timeAxis(range()), offset: false },
          y: { type: logarithmic ? "logarithmic" : "linear", min: logarithmic ? 0.5 : 0,
               grace: "5%", title: { text: "frames" }, ticks: { callback: wholeTick } },
        },
        plugins: { tooltip: { displayColors: false, callbacks: {
          title: ([{ dataIndex }]) => edges(...all[dataIndex]),
          label: ({ dataIndex }) => `${counted(all[dataIndex][2], "frame")}, ` +
            page.percent(all[dataIndex][2] / countOf(chosen)),
        } } },
      },
    };
  }

  // On a logarithmic axis only powers of ten, elsewhere only whole numbers.
  function wholeTick(value) {
    if (!Number.isInteger(value)) return null;
    return !logarithmic || Number.isInteger(Math.log10(value)) ? whole.format(value) : null;
  }

  // Logarithmic, the share of frames that takes longer shows what the tail is like.
  function cumulative() {
    const { ns } = unitOf(chosen);
    const { steps } = chosen;
    const count = countOf(chosen);
    const share = (below) => 100 * (logarithmic ? 1 - below / count : below / count);
    const points = steps.map(([time, below]) => ({ x: time / ns, y: share(below) }))
      .filter(({ y }) => !logarithmic || y > 0);
    if (!logarithmic) points.unshift({ x: steps[0][0] / ns, y: 0 });
    const least = 100 / count;
    return {
      type: "line",
      data: { datasets: [{
        data: points, stepped: "before", borderColor: page.color(tone()), borderWidth: 2,
        backgroundColor: page.faded(tone(), 0.12), fill: !logarithmic, pointRadius: 0,
        pointHoverRadius: 4, pointHoverBackgroundColor: page.color(tone()),
      }] },
      plugins: [page.marks(markedTimes())],
      options: {
        parsing: false, normalized: true, layout: { padding: { top: 30 } },
        interaction: { mode: "read" },
        scales: {
          x: timeAxis(logarithmic ? [steps[0][0], steps.at(-1)[0]] : range()),
          y: { type: logarithmic ? "logarithmic" : "linear",
               min: logarithmic ? Math.pow(10, Math.floor(Math.log10(least))) : 0, max: 100,
               title: { text: logarithmic ? "% of frames take longer"
                                          : "% of frames take no longer" },
               ticks: { callback: (value) => (!logarithmic || Number.isInteger(
                 Math.round(1e6 * Math.log10(value)) / 1e6) ? String(value) : null) } },
        },
        plugins: { tooltip: { displayColors: false, callbacks: {
          title: () => "",
          label: ({ parsed }) => `${page.digits(parsed.y, 4)} % took ` +
            `${logarithmic ? "longer" : "no longer"} than ${duration(parsed.x * ns, 4)}`,
        } } },
      },
    };
  }

  function words() {
    const { below, beyond } = chosen.bins;
    const texts = [`${counted(countOf(chosen), "frame")}, each counted, in bins of ` +
      `${duration(chosen.bins.width)}.`];
    const [[, shortest], [, longest]] = [chosen.marks[0], chosen.marks.at(-1)];
    if (below) {
      texts.push(`The pale bar on the left holds ${counted(below, "frame")} that took less, ` +
        `${duration(shortest)} at least.`);
    }
    if (beyond) {
      texts.push(`The pale bar on the right holds ${counted(beyond, "frame")} that took ` +
        `longer, ${duration(longest)} at most.`);
    }
    const [, last] = range();
    if (chosen === all[0] && deadline !== null && deadline > last) {
      texts.push(`The deadline of ${duration(deadline)} lies beyond the histogram.`);
    }
    if (logarithmic) texts.push("Logarithmic: the right chart shows how many take longer.");
    return texts.join(" ");
  }

  function asTable() {
    const number = true;
    let before = 0;
    return page.table(`Histogram of ${title()}`,
      [{ title: "from and to" }, { title: "frames", number }, { title: "share", number },
       { title: "up to there", number }],
      bins().map(([from, to, count]) => {
        before += count;
        return [edges(from, to), whole.format(count), page.percent(count / countOf(chosen), 3),
                page.percent(before / countOf(chosen), 4)];
      }));
  }

  const left = element("div", {});
  const right = element("div", {});
  const controls = element("div", { class: "controls" });
  const caption = element("figcaption", {});
  const rows = element("div", {});
  figure.append(controls, element("div", { class: "pair" }, left, right), caption,
    page.tabled(rows));
  const entries = [page.canvas(left, "Histogram", histogram),
                   page.canvas(right, "Cumulative distribution", cumulative)];

  function show() {
    for (const entry of entries) entry.redraw();
    const whose = `of the times of ${title()}`;
    entries[0].canvas.setAttribute("aria-label", `Histogram ${whose}`);
    entries[1].canvas.setAttribute("aria-label", `Cumulative distribution ${whose}`);
    caption.textContent = words();
    rows.replaceChildren(asTable());
  }

  if (all.length > 1) {
    const options = titles.map((text, i) => [i, text]);
    controls.append(page.choice("Times of", options, (i) => {
      chosen = all[Number(i)];
      show();
    }));
  }
  controls.append(page.toggle("Logarithmic", (on) => {
    logarithmic = on;
    show();
  }));
  show();
});
