"""The results of the check: rows, their table, and the files that keep them."""

import json
import math
import sys
import textwrap

PASS, FAIL, INCONCLUSIVE, NOT_RUN, SHOWN = "PASS", "FAIL", "inconclusive", "not run", "shown"


class Outcome:
    """Rows in order. With a folder, each row is appended to rows.jsonl, and each result to
    results.jsonl, as soon as it is known."""

    def __init__(self, folder=None):
        self.rows, self.step, self._folder, self._earlier = [], "", folder, []
        if folder and (folder / "rows.jsonl").is_file():
            for line in (folder / "rows.jsonl").read_text(encoding="utf-8").splitlines():
                try:
                    self._earlier.append(json.loads(line))
                except ValueError:  # a kill truncated it
                    pass

    def add(self, name, status, figure="", bound="", note=""):
        self.rows.append({"step": self.step, "check": name, "figure": figure, "bound": bound,
                          "status": status, "note": note})
        if self._folder:
            print(f"{name:24} {status:8} {figure:14} {' '.join(note.split())[:60]}",
                  file=sys.stderr, flush=True)
            self._append("rows.jsonl", self.rows[-1])

    def keep_result(self, label, result):
        if self._folder:
            self._append("results.jsonl", {"label": label, "result": result})

    def _append(self, name, value):
        try:
            with open(self._folder / name, "a", encoding="utf-8") as file:
                file.write(json.dumps(value) + "\n")
        except OSError as reason:  # the table still has the row
            print(f"gpu_check: {self._folder / name}: {reason.strerror}", file=sys.stderr)

    def failed_runs(self):
        """Pipelines whose last kept run failed; None if no run is kept."""
        last = {row["check"]: row["status"] for row in self._earlier
                if row["step"] == "runs" and row["check"] != "runs"}
        if not last:
            return None
        # "two_models, float16" is a run of two_models.
        failed = (check.partition(",")[0] for check, status in last.items() if status == FAIL)
        return list(dict.fromkeys(failed))

    def add_error(self, name, error):
        """Adds a row for an exception."""
        self.add(name, FAIL, note=f"the check itself: {type(error).__name__}: {error}")

    def not_run(self, name, reason):
        self.add(name, NOT_RUN, note=reason)

    def add_unless_done(self, name, done):
        """Adds a row for a program that failed or ran out of time; returns whether it succeeded."""
        if done.status != 0:
            self.add(name, FAIL if done.failed() else NOT_RUN, note=done.reason())
        return done.status == 0

    def judge(self, name, value, bound, text, note=""):
        """Passes if `value` is at most `bound`; NaN fails. `text` formats both."""
        good = value is not None and math.isfinite(value) and value <= bound
        shown = "none" if value is None else text.format(value)
        self.add(name, PASS if good else FAIL, shown, "<= " + text.format(bound), note)

    def judge_interval(self, name, median, interval, bound, text, note=""):
        """Judges a median; inconclusive unless its whole interval lies on one side of the bound."""
        low, high = interval or (-math.inf, math.inf)
        status = PASS if high < bound else INCONCLUSIVE if low < bound else FAIL
        shown = text.format(median)
        if interval:
            shown += f" ({text.format(low)} to {text.format(high)})"
        if status == INCONCLUSIVE:
            reason = ("the interval contains the bound" if interval else
                      "too few trials for an interval")
            note = f"{reason}; {note}" if note else reason
        self.add(name, status, shown, "< " + text.format(bound), note)

    def good(self):
        """Whether a check gave a result and none failed. A device that is listed is no result."""
        results = {row["status"] for row in self.rows if row["check"] != "devices"}
        return FAIL not in {row["status"] for row in self.rows} and results - {NOT_RUN} != set()

    def table(self):
        columns = ("check", "figure", "bound", "status")
        widths = {c: max([len(c)] + [len(row[c]) for row in self.rows]) for c in columns}

        def line(row):
            return (f"{row['check']:<{widths['check']}}  {row['figure']:>{widths['figure']}}  "
                    f"{row['bound']:>{widths['bound']}}  {row['status']}")

        lines, step = [line({c: c for c in columns})], None
        for row in self.rows:
            lines += ["", row["step"]] if row["step"] != step else []
            step = row["step"]
            lines.append(line(row))
            for paragraph in row["note"].splitlines():
                lines += textwrap.wrap(paragraph, 100, initial_indent="    ",
                                       subsequent_indent="    ", break_long_words=False,
                                       break_on_hyphens=False)
        statuses = [row["status"] for row in self.rows]
        counts = ", ".join(f"{statuses.count(word)} {word}" for word in
                           (PASS, FAIL, INCONCLUSIVE, NOT_RUN, SHOWN) if word in statuses)
        return "\n".join([*lines, "", counts])


def median_interval(values):
    """A confidence interval of the median at 95 % or more, by the sign test; None with fewer than
    six values."""
    ordered, count = sorted(values), len(values)
    outside, rank = 0.0, 0
    while (outside := outside + 2 * math.comb(count, rank) / 2 ** count) <= 0.05:
        rank += 1
    return (ordered[rank - 1], ordered[count - rank]) if rank > 0 else None
