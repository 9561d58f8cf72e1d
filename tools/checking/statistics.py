"""Medians of ratios of blocks that ran in turns, with intervals that assume nothing."""

import math
import statistics as standard


def median(values):
    return standard.median(values)


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


def block_ratios(first, second):
    """Median of a block of the one over that of the other's block beside it."""
    return [median(a) / median(b) for a, b in zip(first, second)]
