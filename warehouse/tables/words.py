"""Values, flags and reasons as people read them: figures, intervals, counts, texts of
dumps."""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import floor, isfinite, log10
from typing import Any, Self

#: More decimals than these are never written.
MOST_DECIMALS = 8
#: What additions leave of a sum that is 0.
_NOISE = 1e-12
#: A p below it is written so: no p is 0, and its digits mean nothing.
SMALLEST_P = 1e-300
#: Values of cells that say nothing.
NOTHING: tuple[Any, ...] = (None, "", (), [])
#: What would steer a terminal, or turn the order of a line round, instead of being
#: read; and bytes of a file's name that are no UTF-8, which no encoding has.
_STEERS = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069\ud800-\udfff]"
)


@dataclass(frozen=True)
class WrittenNumber:
    """A number that is written already; stands to the right like any other."""

    text: str

    def __str__(self) -> str:
        return self.text


#: What stands to the right.
_NUMBERS = (int, float, WrittenNumber)


class WrittenInterval(str):
    """An interval that is written already, and knows its ends and the estimate in it,
    to be drawn."""

    low: float
    high: float
    at: float | None

    @classmethod
    def of(cls, text: str, low: float, high: float, at: float | None) -> Self:
        """An interval that is written as ``text``."""
        made = cls(text)
        made.low, made.high, made.at = low, high, at
        return made


def decimals(errors: Iterable[float | None]) -> int:
    """Decimals at which the smallest standard error has two digits that say something."""
    smallest = min(
        (error for error in errors if error and isfinite(error)), default=0.01
    )
    return min(max(1 - floor(log10(smallest)), 0), MOST_DECIMALS)


def fixed(value: float, n_decimals: int, *, sign: bool = False) -> str:
    """A figure with so many decimals, never -0.000."""
    return (
        f"{round(float(value), n_decimals) + 0.0:{'+' if sign else ''}.{n_decimals}f}"
    )


def number(
    value: float | None, n_decimals: int, *, sign: bool = False
) -> WrittenNumber | None:
    """A figure with so many decimals; with two significant digits where it would round
    to 0, but for what is noise and for differences, which may."""
    if value is None:
        return None
    says = n_decimals >= MOST_DECIMALS or (not sign and abs(value) > _NOISE)
    if value and says and not round(float(value), n_decimals):
        return WrittenNumber(f"{value:{'+' if sign else ''}.2g}")
    return WrittenNumber(fixed(value, n_decimals, sign=sign))


def listed(words: Sequence[str]) -> str:
    """``a, b and c``."""
    return " and ".join(filter(None, [", ".join(words[:-1]), *words[-1:]]))


def p_value(value: float | None) -> WrittenNumber | None:
    """A p-value with two digits that say something; never 0."""
    if value is None:
        return None
    return WrittenNumber(
        f"{value:.2g}" if value >= SMALLEST_P else f"<{SMALLEST_P:.0g}"
    )


def interval(
    low: float | None, high: float | None, n_decimals: int, *, at: float | None = None
) -> WrittenInterval | None:
    """Both ends of an interval, and the estimate in it where it is to be drawn."""
    if low is None or high is None:
        return None
    ends = [f"{end:.{n_decimals}f}" for end in (low, high)]
    if max(abs(low), abs(high)) > _NOISE and not any(map(float, ends)):
        ends = [f"{end:.2g}" for end in (low, high)]
    return WrittenInterval.of(f"[{', '.join(ends)}]", low, high, at)


def numbers(
    values: Iterable[float | None], n_decimals: int, *, sign: bool = False
) -> list[WrittenNumber | None]:
    """:func:`number` of many finite ones."""
    form = f"%{'+' if sign else ''}.{n_decimals}f"
    zeros = {form % 0.0, form % -0.0}
    return _written(
        values, form, lambda value: number(value, n_decimals, sign=sign), zeros
    )


def p_values(values: Iterable[float | None]) -> list[WrittenNumber | None]:
    """:func:`p_value` of many."""
    return _written(values, "%.2g", p_value, {f"{SMALLEST_P:.2g}"})


def _written(
    values: Iterable[float | None],
    form: str,
    write: Callable[[float], WrittenNumber | None],
    unclear: Collection[str],
) -> list[WrittenNumber | None]:
    """Many numbers as text; those that are the same text are one object.

    Args:
        form: their text, as far as it is one for all numbers that are written alike.
        write: writes one.
        unclear: texts of ``form`` that numbers have which are written differently.
    """
    known: dict[str, WrittenNumber | None] = {}
    cells: list[WrittenNumber | None] = []
    for value in values:
        if value is None:
            cells.append(None)
            continue
        text = form % value
        found = known.get(text)
        if found is None:
            found = write(value)
            if text not in unclear:
                known[text] = found
        cells.append(found)
    return cells


def intervals(
    lows: Iterable[float | None],
    highs: Iterable[float | None],
    n_decimals: int,
    *,
    at: Iterable[float | None],
) -> list[WrittenInterval | None]:
    """:func:`interval` of many."""
    form = f"[%.{n_decimals}f, %.{n_decimals}f]"
    zeros = {form % (low, high) for low in (0.0, -0.0) for high in (0.0, -0.0)}
    return [
        None
        if low is None or high is None
        else interval(low, high, n_decimals, at=middle)
        if (text := form % (low, high)) in zeros
        else WrittenInterval.of(text, low, high, middle)
        for low, high, middle in zip(lows, highs, at, strict=True)
    ]


def small(value: float | None) -> WrittenNumber | None:
    """A cost, with three digits that count."""
    return (
        None
        if value is None
        else WrittenNumber(f"{value:,.0f}" if 1000 <= value < 1e12 else f"{value:.3g}")
    )


def small_interval(
    low: float | None, high: float | None, at: float | None = None
) -> str | None:
    """Ends of an interval of costs; a missing upper end is none."""
    if low is None:
        return None
    if high is None:
        return f"[{small(low)}, no end)"
    return WrittenInterval.of(f"[{small(low)}, {small(high)}]", low, high, at)


def scientific(value: float | None) -> WrittenNumber | None:
    """A number with its power of ten, such as ``2.50e-05``."""
    return None if value is None else WrittenNumber(f"{value:.2e}")


def level_column(level: float) -> str:
    """Heading of the column of intervals."""
    return f"{100 * level:g}% interval"


def percentage(share: float | None) -> WrittenNumber | None:
    """A share of 1 in percent, with one decimal."""
    return None if share is None else WrittenNumber(f"{100 * share:.1f}%")


def count_range(least: int, most: int) -> str:
    """The smallest and the largest count, or the one that both are."""
    return f"{least}" if least == most else f"{least}-{most}"


def counted(n: int, noun: str) -> str:
    """A count with its noun: ``1 model``, ``0 models``, ``3 models``."""
    if n == 1:
        return f"{n} {noun}"
    return f"{n} {noun}s"


def span_of(values: Collection[float], form: str = "") -> str:
    """The smallest and the largest value, or the one that all are, in a format."""
    low, high = format(min(values), form), format(max(values), form)
    return low if low == high else f"{low} to {high}"


def direction(higher_is_better: bool | None) -> str:
    """Which end of a metric is the good one, in words."""
    return {
        True: "higher is better",
        False: "lower is better",
        None: "direction unknown",
    }[higher_is_better]


def visible(text: str) -> str:
    """A text of a dump with control characters spelled out, but for tabs and line ends."""
    return _STEERS.sub(
        lambda steering: ascii(steering.group())[1:-1], text.replace("\r\n", "\n")
    )


def excerpt(text: str | None, length: int) -> str:
    """The beginning of a text on one line."""
    words = visible(" ".join((text or "").split()))
    return words if len(words) <= length else f"{words[: length - 3]}..."


def cell(value: Any) -> str:
    """A value as people read it: one line, numbers to six digits."""
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, float):
        return "-" if value != value else f"{value:.6g}"
    if isinstance(value, datetime):
        return value.isoformat(sep=" ", timespec="seconds")
    if isinstance(value, bytes):
        return value.hex()
    if isinstance(value, list | tuple):
        return ", ".join(cell(item) for item in value)
    text = str(value)
    if text.isprintable() and "  " not in text and text[:1] != " " and text[-1:] != " ":
        return text  # as it would be in the end, in a quarter of the time
    return visible(" ".join(text.split()))


def is_number(values: Iterable[Any]) -> bool:
    """Whether all known values of a column are numbers."""
    given = list(values)
    kinds = set(map(type, given)) - {type(None)}  # of which there are few
    if any(issubclass(kind, str) for kind in kinds):
        kinds = {type(value) for value in given if value is not None and value != ""}
    return bool(kinds) and all(
        issubclass(kind, _NUMBERS) and not issubclass(kind, bool) for kind in kinds
    )


#: Reasons that are shown; programs get all.
SHOWN = 5


def left_out(reasons: Iterable[str]) -> list[str]:
    """Notes on what has no row, from the names with their reasons."""
    return [f"left out {reason}" for reason in reasons]


_NAMES = 3


def reasons(pairs: Iterable[tuple[Any, str]]) -> list[str]:
    """What is to be said of rows (of a model and condition), a sentence for each
    reason; empty: nothing."""
    names: dict[str, list[str]] = {}
    for row, reason in pairs:
        if reason:
            names.setdefault(reason, []).append(f"{row.model} {row.condition}".rstrip())
    lines = [
        f"{some_of(list(dict.fromkeys(which)))}: {reason}"
        for reason, which in list(names.items())[:SHOWN]
    ]
    return lines + (
        [f"and {len(names) - SHOWN} more reasons; --json has all"]
        if len(names) > SHOWN
        else []
    )


def some_of(names: Sequence[str], most: int = _NAMES) -> str:
    """The first names, and how many more there are."""
    shown = ", ".join(names[:most])
    return shown if len(names) <= most else f"{shown} and {len(names) - most} more"


#: Where scores of some look like shares of 1, those of others like per cent.
MIXED_SCALES = "mixed_scales"
UNEQUAL_PROMPTS = "unequal_prompts"
IF_LIKE_PROMPTS = ", if the prompts that some lack are as hard as the others"
IF_ONE_SCALE = ", if all scores are on one scale"

MEANINGS = {
    "few_disagreements": (
        "judge and people disagree on so few units that little is known of how often "
        "they do"
    ),
    "few_prompts": "too few prompts for the interval to be relied on",
    "few_skewed_prompts": (
        "few prompts with skewed values: the t interval may cover too little"
    ),
    "few_informative_prompts": (
        "too few prompts (10, by weight) have the higher or lower scores"
    ),
    "heavy_tailed_prompts": "few prompts, by weight, make up most of the error",
    "few_seeds": (
        "fewer than 29 seeds may lack one in ten that fails: intervals and noise floor "
        "suppose that none does"
    ),
    "one_seed": "one training seed: how far another would land is not known",
    "two_seeds": "two seeds: their spread rests on a single difference",
    "seeds_dominate": (
        "most of this interval comes from having few seeds: more seeds narrow it, more "
        "questions do not"
    ),
    "seeds_too_few": "too few seeds for an interval, and for a place",
    "repeats_differ": (
        "runs claim the same settings, but differ by more than chance: something else "
        "changed"
    ),
    "repeats_doubtful": (
        "runs of the same settings may differ by more than chance: they count like "
        "seeds"
    ),
    "scored_differently": (
        "runs score equal responses differently: two scorers, no draws of one another"
    ),
    "draws_in_order": (
        "the draws of a prompt stand in an order: the k-th draw is no run"
    ),
    "greedy_differs": "temperature 0, yet runs scored otherwise",
    "last_partial": (
        "a later checkpoint was scored in part only: the row is the last whole one"
    ),
    "mixed_lengths": (
        "some seeds go on further: the row is the last checkpoint that all have"
    ),
    "infinite": "some scores are infinite, and so is their mean",
    "far_bound": (
        "a few prompts at a far bound, missed by chance, would move the mean out"
    ),
    "few_differing_prompts": "the runs differ on fewer than 10 prompts, by weight",
    "few_clusters": "fewer than 20 clusters, by size (or weight): may cover too little",
    UNEQUAL_PROMPTS: "figures rest on fewer or other prompts than others: they also differ by how hard those are",
    MIXED_SCALES: "scores of 0 to 1 beside others of up to 100: per cent?",
    "skewed": (
        "the mean is skewed: t and bootstrap-t differ, and the interval is wide enough "
        "for both"
    ),
    "weights_concentrated": (
        "few prompts, by weight, make up the figure: the tail of the weights is hardly "
        "sampled"
    ),
    "weights_dominated": (
        "one prompt (or cluster) holds a tenth of the weight or more: the figure is "
        "mostly its score"
    ),
    "prompts_without_weight": "prompts of weight 0 are left out",
    "heavy_tail": (
        "costs are so skewed for so few prompts (or clusters) that their interval is "
        "too short"
    ),
    "skew_gate": (
        "costs are too skewed for a verdict on who is cheaper, in some of its pairs"
    ),
    "missing_cost": "prompts of which no cost is known are left out",
    "unbounded": "so little is solved that cost per solved has no upper end",
    "whole_line": "so little is solved that any cost per solved is possible",
    "unbounded_interval": "too few prompts (or clusters) vary for an interval",
    "few_skewed_clusters": (
        "few clusters with skewed totals: the interval may cover too little"
    ),
    "few_informative_clusters": (
        "too few clusters (11, by weight) have right and wrong answers"
    ),
    "heavy_tailed_clusters": "few clusters, by weight, make up most of the error",
    "few_differing_clusters": "the runs differ on fewer than 10 clusters, by weight",
    "prompts_outside_clusters": "prompts in no cluster count as clusters of one",
    "too_few_units": (
        "fewer than 6 prompts (or clusters) differ: p flip cannot go below 0.05, and p "
        "and the interval rest on these few"
    ),
    "single_prompt": "one prompt has no standard error",
    "single_cluster": "one cluster has no standard error",
    "all_scores_equal": "all scores are the same number",
    "leaves_without_spread": "a benchmark without any spread is not certain: without bounds of the scores it adds no"
    " error, and the interval may be much too narrow",
    "all_differences_equal": (
        "the difference is the same on every prompt: no error, no p"
    ),
    "zero_standard_error": "the error comes out as 0: no interval, no p",
    "no_repeated_draws_a": (
        "a has one draw per prompt: how much its draws vary is unknown"
    ),
    "no_repeated_draws_b": (
        "b has one draw per prompt: how much its draws vary is unknown"
    ),
    "few_varying_prompts": (
        "the draws of fewer than 10 prompts vary: p, interval and equality rest on "
        "these few"
    ),
    "within_imputed_a": (
        "prompts of a with one draw take the mean variance of the others"
    ),
    "within_imputed_b": (
        "prompts of b with one draw take the mean variance of the others"
    ),
}


def meanings(flags: Iterable[str]) -> list[str]:
    """``flag: meaning`` of each that is known, once, in the order of first mention."""
    return [
        f"{flag}: {MEANINGS[flag]}" for flag in dict.fromkeys(flags) if flag in MEANINGS
    ]


def seeds_in_words(means: Sequence[float], n_seeds: int | None, digits: int) -> str:
    """``3: 63.5 - 72.2``: how many seeds, and between which figures; empty where none
    is known.

    Args:
        means: figure of each seed; empty for a single one.
        n_seeds: how many there are, None where none is known.
        digits: after the point.
    """
    if not means:
        return "" if n_seeds is None else str(n_seeds)
    shown = [fixed(mean, digits) for mean in sorted(means)]
    if len(shown) == 2:
        return f"2: {shown[0]}, {shown[1]}"
    return f"{len(shown)}: {shown[0]} - {shown[-1]}"
