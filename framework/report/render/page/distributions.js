// How the times of frames and stages are spread: a histogram and the cumulative distribution.
"use strict";

page.chart("distributions", (data, figure) => {
  const { element, duration, counted, whole } = page;
  const { list: all, deadline } = data;
  const countOf = ({ steps }) => steps.at(-1)[1];
  const titles = titlesOf(all);
  let chosen = all[0];
  let logarithmic = false;

  const end = () => chosen.bins.begin + chosen.bins.counts.length * chosen.bins.width;
  // All times are in one unit, that of the body.
  const unit = () => page.unitFor((chosen.bins.begin + end()) / 2);

  // [from, to, count] of each bin.
  function bins() {
    const { begin, width, counts } = chosen.bins;
    return counts.map((count, i) => [begin + i * width, begin + (i + 1) * width, count]);
  }

  // With as many decimals as tell bins apart.
  function edges(from, to) {
    const { ns, name } = unit();
    const decimals = Math.max(0, Math.ceil(Math.log10(ns / chosen.bins.width) - 1e-9));
    return `${(from / ns).toFixed(decimals)} to ${(to / ns).toFixed(decimals)} ${name}`;
  }

  function marks() {
    const { ns } = unit();
    const list = chosen.marks.filter(([name]) => name.startsWith("p")).map(([name, time]) =>
      ({ axis: "x", at: time / ns, label: name, tone: "ink" }));
    if (deadline !== null && chosen === all[0]) {
      list.push({ axis: "x", at: deadline / ns, label: "deadline", tone: "bad", dash: [] });
    }
    return page.marks(list.sort((a, b) => a.at - b.at));
  }

  function timeAxis(least, most) {
    const { ns, name } = unit();
    return { type: "linear", min: least / ns, max: most / ns, title: { text: name }, offset: false,
             grid: { display: false }, ticks: { maxTicksLimit: 8, includeBounds: false } };
  }

  function histogram() {
    const { ns } = unit();
    const list = bins();
    return {
      type: "bar",
      data: { datasets: [{
        // No bar where there is no frame; the least of the others can be seen.
        data: list.map(([from, to, count]) => ({ x: (from + to) / 2 / ns, y: count || null })),
        backgroundColor: page.color(chosen.color),
        barPercentage: 0.94, categoryPercentage: 1, minBarLength: 2,
        // Bars are as wide as they lie apart, which of one bar is not known.
        barThickness: list.length === 1 ? "flex" : undefined,
      }] },
      plugins: [marks()],
      options: {
        parsing: false, layout: { padding: { top: 30 } },
        interaction: { mode: "read" },
        scales: {
          x: timeAxis(chosen.bins.begin, end()),
          y: { type: logarithmic ? "logarithmic" : "linear", min: logarithmic ? 0.5 : 0,
               title: { text: "frames" },
               ticks: logarithmic ? { callback: powerOfTen } : { precision: 0 } },
        },
        plugins: { tooltip: { displayColors: false, callbacks: {
          title: ([{ dataIndex }]) => edges(...list[dataIndex]),
          label: ({ dataIndex }) => `${counted(list[dataIndex][2], "frame")}, ` +
            page.percent(list[dataIndex][2] / countOf(chosen)),
        } } },
      },
    };
  }

  // Logarithmic, the share of frames that takes longer shows what the tail is like.
  function cumulative() {
    const { ns } = unit();
    const { steps } = chosen;
    const count = countOf(chosen);
    const share = (below) => 100 * (logarithmic ? 1 - below / count : below / count);
    const points = steps.map(([time, below]) => ({ x: time / ns, y: share(below) }))
      .filter(({ y }) => !logarithmic || y > 0);
    if (!logarithmic) points.unshift({ x: steps[0][0] / ns, y: 0 });
    return {
      type: "line",
      data: { datasets: [{
        data: points, stepped: "before", borderColor: page.color(chosen.color), borderWidth: 2,
        backgroundColor: page.faded(chosen.color, 0.12), fill: !logarithmic, pointRadius: 0,
        pointHoverRadius: 4, pointHoverBackgroundColor: page.color(chosen.color),
      }] },
      plugins: [marks()],
      options: {
        parsing: false, normalized: true, layout: { padding: { top: 30 } },
        interaction: { mode: "read" },
        scales: {
          x: logarithmic ? timeAxis(steps[0][0], steps.at(-1)[0])
                         : timeAxis(chosen.bins.begin, end()),
          y: { type: logarithmic ? "logarithmic" : "linear",
               min: logarithmic ? Math.pow(10, Math.floor(Math.log10(100 / count))) : 0, max: 100,
               title: { text: logarithmic ? "% of frames take longer"
                                          : "% of frames take no longer" },
               ticks: logarithmic ? { callback: powerOfTen } : {} },
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
    const { below, beyond, begin, width } = chosen.bins;
    const texts = [`${counted(countOf(chosen), "frame")} in bins of ${duration(width)}.`];
    const shortest = chosen.marks[0][1];
    const longest = chosen.marks.at(-1)[1];
    if (below) {
      texts.push(`Not drawn on the left: ${counted(below, "frame")} below ${duration(begin)}, ` +
        `${duration(shortest)} at least.`);
    }
    if (beyond) {
      texts.push(`Not drawn on the right: ${counted(beyond, "frame")} from ${duration(end())}, ` +
        `${duration(longest)} at most.`);
    }
    if (logarithmic) texts.push("Logarithmic: the right chart shows how many take longer.");
    return texts.join(" ");
  }

  function asTable() {
    const number = true;
    return page.table(`Histogram of ${titles[all.indexOf(chosen)]}`,
      [{ title: "from and to" }, { title: "frames", number }, { title: "share", number }],
      bins().map(([from, to, count]) =>
        [edges(from, to), whole.format(count), page.percent(count / countOf(chosen), 3)]));
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
    caption.textContent = words();
    rows.replaceChildren(asTable());
  }

  if (all.length > 1) {
    controls.append(page.choice("Times of", titles.map((text, i) => [i, text]), (i) => {
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
