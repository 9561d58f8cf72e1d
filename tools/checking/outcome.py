"""What was checked and what came of it: rows, the table they end in, and the JSON."""

import contextlib
import math
import textwrap

from .processes import OutOfTime

PASS, FAIL, INCONCLUSIVE, NOT_RUN, SHOWN = "PASS", "FAIL", "inconclusive", "not run", "shown"
WIDTH = 100


class Outcome:
    """Rows in the order in which they became known, and raw data by name."""

    def __init__(self):
        self.rows = []
        self.data = {}
        self.step = ""

    def begin(self, step):
        self.step = step

    def add(self, name, status, figure="", bound="", note=""):
        self.rows.append({"step": self.step, "check": name, "figure": figure, "bound": bound,
                          "status": status, "note": note})

    def not_run(self, name, reason):
        self.add(name, NOT_RUN, note=reason)

    @contextlib.contextmanager
    def or_not_run(self, name):
        """What there is no time for in its block is told."""
        try:
            yield
        except OutOfTime as late:
            self.not_run(name, str(late))

    def judge(self, name, value, bound, text, note=""):
        """Passes when `value` is at most `bound`; not a number never does. `text` shows both."""
        good = value is not None and math.isfinite(value) and value <= bound
        shown = "none" if value is None else text.format(value)
        self.add(name, PASS if good else FAIL, shown, "<= " + text.format(bound), note)

    def judge_interval(self, name, median, interval, bound, text, note=""):
        """As `judge`, for a median with its interval: a verdict where all of it lies to one side of
        the bound."""
        if interval is None:
            shown = "none" if median is None else text.format(median)
            status, reason = INCONCLUSIVE, "too few trials for an interval"
        else:
            low, high = interval
            shown = f"{text.format(median)} ({text.format(low)} to {text.format(high)})"
            status = PASS if high < bound else INCONCLUSIVE if low < bound else FAIL
            reason = "the interval holds the bound" if status == INCONCLUSIVE else ""
        note = "; ".join(filter(None, (reason, note)))
        self.add(name, status, shown, "< " + text.format(bound), note)

    def failed(self):
        return any(row["status"] == FAIL for row in self.rows)

    def counts(self, step=None):
        """How many rows of each status, in words."""
        statuses = [row["status"] for row in self.rows if step in (None, row["step"])]
        return ", ".join(f"{statuses.count(word)} {word}"
                         for word in (PASS, FAIL, INCONCLUSIVE, NOT_RUN, SHOWN)
                         if word in statuses or (word != SHOWN and step is None))

    def table(self):
        columns = ("check", "figure", "bound", "status")
        widths = {c: max([len(c)] + [len(row[c]) for row in self.rows]) for c in columns}

        def line(row):
            cells = [f"{row['check']:<{widths['check']}}", f"{row['figure']:>{widths['figure']}}",
                     f"{row['bound']:>{widths['bound']}}", row["status"]]
            return "  ".join(cells).rstrip()

        lines = [line({c: c for c in columns})]
        step = None
        for row in self.rows:
            if row["step"] != step:
                step = row["step"]
                lines += ["", step]
            lines.append(line(row))
            for paragraph in row["note"].splitlines():
                lines += textwrap.wrap(paragraph, WIDTH, initial_indent="    ",
                                       subsequent_indent="    ", break_long_words=False,
                                       break_on_hyphens=False)
        return "\n".join(lines + ["", self.counts()])


def median_interval(values):
    """Of the median, at 95 % or more, by the order statistics that the sign test leaves; None
    where there are fewer than six values."""
    ordered, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    while True:
        outside += 2 * math.comb(count, rank) / 2 ** count
        if outside > 0.05:
            break
        rank += 1
    return (ordered[rank - 1], ordered[count - rank]) if rank > 0 else None
