"""A leaderboard in one sentence: who is first, of whom, who cannot be told from it, who
is left out."""

from __future__ import annotations

import math
import shlex
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any, TypeVar

from warehouse.analysis.comparison.words import CANNOT_TELL, Sentence, interval_in_words
from warehouse.analysis.leaderboard.row import STOPPED, LeaderboardRow
from warehouse.analysis.selection.scored_conditions import is_partial
from warehouse.analysis.suites.row import SuiteRow
from warehouse.stats.intervals.closed_form import interval_clopper_pearson
from warehouse.stats.multiple.ranks import letters_in
from warehouse.tables.units import Unit
from warehouse.tables.words import (
    IF_ONE_SCALE,
    MIXED_SCALES,
    decimals,
    fixed,
    listed,
    some_of,
    span_of,
)

#: Names in one group that a sentence has.
MOST_NAMES = 4
#: Characters of names beyond which a sentence has no third.
MOST_CHARACTERS = 100
#: Where the direction of the metric is not known.
NOBODY_LEADS = "; nobody leads, as it is not known whether higher is better"

#: Where no figure is held against another.
NO_TEST = "no test of differences"
#: How published means are held against one another.
BY_PUBLISHED_ERRORS = "tested by published errors, unpaired"

Rows = Sequence[LeaderboardRow] | Sequence[SuiteRow]
T = TypeVar("T", LeaderboardRow, SuiteRow)


def rows_in_words(
    rows: Sequence[LeaderboardRow],
    higher_is_better: bool | None,
    unit: Unit | None = None,
) -> Sentence:
    """The sentence of a leaderboard, by its figures and the letters of its groups.

    Args:
        rows: at least one.
        higher_is_better: direction of their metric; nobody leads where it is not known.
        unit: of the figures, below a heading that says on how many prompts they rest;
            None: the metric's own, and the sentence says it.
    """
    counted = [row for row in rows if row.rank is not None]
    # a judge that tells groups apart stands in no row, but only of different groups are
    # figures both first
    n_groups = len(
        {(row.split, row.metric, row.estimate) for row in rows if row.rank == 1}
    )
    more = ""
    if n_groups > 1:
        more = "; other groups of runs are ranked alone"
    said = counts_in_words(counted or rows)
    if unit is not None:
        said = _if_one_scale(counted or rows)
    first = first_in_words(counted, rows, higher_is_better, unit)
    return first + Sentence(f"{said}{more}.")


def first_in_words(
    ranked: Rows,
    shown: Rows,
    higher_is_better: bool | None,
    unit: Unit | None = None,
) -> Sentence:
    """Without tests of pairs: the first by its figure, of how many, and those who share
    a letter with it.

    Args:
        ranked: rows with a rank, best first.
        shown: these and the others.
        higher_is_better: direction of the ranks; nobody leads where it is not known.
        unit: of the figures; None: the metric's own.
    """
    rows = first_group([row for row in ranked if row.estimate is not None])
    if not rows:
        return _unranked(shown, unit)
    first = rows[0]
    top = [row for row in rows if is_tie(row.estimate, first.estimate)]
    alike = _alike(rows)
    apart = _n_apart(first)
    figure, of = figure_in_words(first, shown, unit), of_whom(rows, shown)
    if len(rows) == 1:
        sentence = Sentence(
            f"{{}} has {figure}{of and f', the only one{of}'}", (label_of(first),)
        )
    elif len(top) > 1 and first.group and apart < len(rows) - 1:
        sentence = named([*map(label_of, top)], "are tied") + Sentence(
            f" with {figure}{of and f',{of}'}"
        )
    elif _leads(rows, higher_is_better):
        sentence = Sentence(
            f"{{}} leads with {figure}{of and f', first{of}'}", (label_of(first),)
        )
    else:  # who cannot be told from others is not called first
        extreme = "lowest" if higher_is_better is False else "highest"
        have = (
            f"{'have' if len(top) > 1 else 'has'} the {extreme} "
            f"figure{of and f'{of},'} {figure}"
        )
        sentence = named([*map(label_of, top)], have)
    if len(rows) > 1 and higher_is_better is None:
        sentence += Sentence(NOBODY_LEADS)
    if set(map(label_of, alike)) - set(map(label_of, top)):
        sentence += Sentence("; ") + alike_in_words(
            [(label_of(row), row.group) for row in (first, *alike)]
        )
    elif len(rows) > 1 and not first.group:
        sentence += Sentence(f"; {NO_TEST}")
    if len(rows) > 1 and first.group and are_published(rows):
        sentence += Sentence(f"; {BY_PUBLISHED_ERRORS}")
    return (
        ahead_without_place(rows, shown, higher_is_better, unit)
        + sentence
        + Sentence(not_compared(apart) + beside_first(rows, shown, higher_is_better))
    )


def in_short(rows: Rows, higher_is_better: bool | None) -> str:
    """``, first NAME at FIGURE`` (``highest`` where nobody leads) for a line that goes
    on, with who is left out; empty where nobody is ranked."""
    ranked = first_group(
        [row for row in rows if row.rank is not None and row.estimate is not None]
    )
    if not ranked:
        return ""
    top = [row.model for row in ranked if is_tie(row.estimate, ranked[0].estimate)]
    at = f"at {ranked[0].estimate:.4g}{of_whom(ranked, rows)}"
    apart = _n_apart(ranked[0])
    if len(ranked) == 1:
        leader = f"{top[0]} {at}"
    elif len(top) > 1 and ranked[0].group:
        leader = f"{named(top, 'tied')} {at}"
    elif len(top) > 1:
        leader = f"{named(top, 'equal')} {at}"
    else:
        extreme = "highest"
        if higher_is_better is False:
            extreme = "lowest"
        best = extreme
        if _leads(ranked, higher_is_better):
            best = "first"
        leader = (
            f"{best} {top[0]} {at}{NOBODY_LEADS if higher_is_better is None else ''}"
        )
    leader += IF_ONE_SCALE * any(MIXED_SCALES in row.flags for row in ranked)
    return (
        f", {leader}{not_compared(apart)}{beside_first(ranked, rows, higher_is_better)}"
    )


def _alike(rows: Sequence[Any]) -> list[Any]:
    """The rows that no test tells from the first."""
    letters = {*letters_in(rows[0].group)}
    return [row for row in rows[1:] if letters & {*letters_in(row.group)}]


def _leads(rows: Sequence[Any], higher_is_better: bool | None) -> bool:
    """True if the first is told from all others, and better: who is not is not called
    first."""
    alone = (
        bool(rows[0].group)
        and not _alike(rows)
        and not _n_apart(rows[0])
        and not n_better(rows[0])
    )
    return higher_is_better is not None and alone


def n_better(row: Any) -> int:
    """Rows that are better than it where both have a score, whatever the figures over
    other prompts say."""
    return (row.statistical_rank or 1) - 1


def first_group(ranked: Sequence[Any]) -> list[Any]:
    """The rows that are ranked among one another with the first: ranks rise."""
    rows = list(ranked[:1])
    for row in ranked[1:]:
        before = rows[-1]
        if row.rank < before.rank or (
            row.rank == before.rank and not is_tie(row.estimate, before.estimate)
        ):
            break
        rows.append(row)
    return rows


def of_whom(rows: Sequence[Any], shown: Sequence[Any] = ()) -> str:
    """`` of the N models that answered all n``, where others are left out; else empty.

    Args:
        rows: that are ranked among one another, at least one.
        shown: these and the others.
    """
    first = rows[0]
    if not first.n_left_out:
        return ""
    if any(row.rank is None and row.no_place for row in shown):
        who = "with a place"
    elif isinstance(first, SuiteRow):
        who = "with a figure"
        if not any(row.n_missing for row in rows):
            who = f"with all {first.n_leaves} benchmarks"
    elif any(is_partial(row.flags) for row in rows):
        who = "with a figure"
    elif first.method == "published":
        who = "with a published figure of all of it"
    else:
        size = max(row.n_prompts for row in rows)
        or_planned = ""
        if any("planned" in r.flags for r in rows):
            or_planned = " or a planned sample"
        who = f"that answered all {size}" + or_planned
    noun = "conditions"
    if len({row.model for row in rows}) == len(rows):
        noun = "models"
    if len(rows) == 1:
        return f" {who}"
    return f" of the {len(rows)} {noun} {who}"


def beside_first(
    rows: Sequence[Any], shown: Sequence[Any], higher_is_better: bool | None
) -> str:
    """How many are better than the first where both answered, how many answered a part
    only, and `left_out`."""
    parts = sum(is_partial(row.flags) for row in rows)
    if parts == len(rows) > 1:
        whom = "none of them"
    else:
        whom = f"{parts} of {len(rows)}"
    did = "answered a part"
    if parts == len(rows) > 1:
        did = "answered all"
    if parts == len(rows) == 1:
        ranked = "; on a part"
    elif parts:
        ranked = f"; {whom} {did}"
    else:
        ranked = ""
    n = n_better(rows[0])
    better = ""
    if n:
        better = (
            f"; {n} other{' is' if n == 1 else 's are'} better on the prompts that both "
            "answered"
        )
    return better + ranked + left_out(rows, shown, higher_is_better)


def ahead_without_place(
    rows: Sequence[Any],
    shown: Sequence[Any],
    higher_is_better: bool | None,
    unit: Unit | None = None,
) -> Sentence:
    """Who has a better figure than the first and no place, which is said before all
    else; empty for nobody.

    Args:
        rows: that are ranked among one another, at least one.
        shown: these and the others.
        higher_is_better: direction of the ranks.
        unit: of the figures; None: the metric's own.
    """
    ahead = [
        row
        for row in shown
        if row.rank is None
        and row.no_place
        and is_better(row.estimate, rows[0].estimate, higher_is_better)
    ]
    if not ahead:
        return Sentence("")
    why = " or ".join(dict.fromkeys(row.no_place for row in ahead))
    extreme = "lower" if higher_is_better is False else "higher"
    labels = list(map(label_of, ahead))
    if len(ahead) == 1:
        figure = figure_in_words(ahead[0], shown, unit)
        extreme = "lowest" if higher_is_better is False else "highest"
        said = f"has the {extreme} score, {figure}, but no place ({why}); "
    else:
        said = f"have {extreme} scores, but no place ({why}); "
    return named(labels, said)


def left_out(
    rows: Sequence[Any], shown: Sequence[Any], higher_is_better: bool | None
) -> str:
    """How many rows are not ranked with the first, and how many of those have a better
    figure; empty for none.

    Args:
        rows: that are ranked among one another, at least one.
        shown: these and the others.
    """
    first = rows[0]
    more = "lower" if higher_is_better is False else "higher"
    n = first.left_out_higher
    if not first.n_left_out:
        return ""
    if not n:
        if first.n_left_out == 1:
            others = "1 other is"
        else:
            others = f"{first.n_left_out} others are"
        return f"; {others} not ranked, none with a {more} score"
    better = [
        row
        for row in shown
        if row.rank is None
        and is_better(row.estimate, first.estimate, higher_is_better)
    ]
    n -= sum(bool(row.no_place) for row in better)  # they were said before all else
    if n <= 0:
        return ""
    better = [row for row in better if not row.no_place]
    where = " or ".join(dict.fromkeys(_where(row) for row in better))
    if n == 1:
        others = f"1 other has a {more} score"
    else:
        others = f"{n} others have {more} scores"
    return f"; {others} {where}"


def counted_left_out(rows: Sequence[T], higher_is_better: bool | None) -> list[T]:
    """Rows that are ranked among one another, and the others beside them, with the
    counts of the latter."""
    others = [row.estimate for row in rows if row.rank is None]
    if not others:
        return list(rows)
    sign = 1.0
    if higher_is_better is False:
        sign = -1.0
    figures = sorted(
        sign * _rounded(value)
        for value in others
        if value is not None and not math.isnan(value)
    )
    counted: list[T] = []
    for row in rows:
        n_better = 0
        if row.estimate is not None and not math.isnan(row.estimate):
            n_better = len(figures) - bisect_right(
                figures, sign * _rounded(row.estimate)
            )
        counted.append(replace(row, n_left_out=len(others), left_out_higher=n_better))
    return counted


def _rounded(value: float) -> float:
    """A figure as far as it counts: what differs only by rounding is a tie (`is_tie`)."""
    return float(f"{value:.12g}")


def is_better(
    value: float | None, other: float | None, higher_is_better: bool | None
) -> bool:
    """True where a figure is better than another by more than rounding; higher is where
    the direction is not known."""
    if value is None or other is None or is_tie(value, other):
        return False
    if higher_is_better is False:
        return value < other
    return value > other


def is_tie(value: float | None, other: float | None) -> bool:
    """True if two figures differ by no more than rounding."""
    return (
        value is not None and other is not None and f"{value:.12g}" == f"{other:.12g}"
    )


def named(names: Sequence[str], are: str) -> Sentence:
    """``a, b and c are``, with a number in place of very many."""
    if len(names) > MOST_NAMES or (
        len(names) > 2 and sum(map(len, names)) > MOST_CHARACTERS
    ):
        return Sentence(f"{{}} and {len(names) - 1} others {are}", (names[0],))
    places = ["{}"] * len(names)
    return Sentence(f"{listed(places)} {are}", tuple(names))


def not_compared(n: int) -> str:
    """A remark that some have no prompt in common with the first; empty for none."""
    others = "1 other, which has"
    if n != 1:
        others = f"{n} others, which have"
    if n:
        return f"; not compared with {others} no prompt in common with it"
    return ""


def _unranked(shown: Rows, unit: Unit | None) -> Sentence:
    """Where no row has a rank."""
    rows = [row for row in shown if row.estimate is not None]
    if not rows:
        return Sentence("No figure")
    none_ranked = ""
    if len(rows) > 1:
        none_ranked = "; none is ranked"
    words = f"{{}} has {figure_in_words(rows[0], shown, unit)}" + none_ranked
    return Sentence(words, (label_of(rows[0]),))


def figure_in_words(
    row: LeaderboardRow | SuiteRow, shown: Rows, unit: Unit | None = None
) -> str:
    """The estimate and its interval, with the decimals of all rows shown."""
    unit = unit or Unit(decimals(row.standard_error for row in shown))
    times = 100 if unit.in_percent else 1
    low, high = [end and end * times for end in (row.ci_low, row.ci_high)]
    interval = interval_in_words(low, high, unit.digits)
    sign = " %" if unit.in_percent else ""
    figure = f"{fixed(times * (row.estimate or 0.0), unit.digits)}{sign}{interval}"
    planned = ""
    if "planned" in row.flags:
        planned = ", estimated from a planned subset"
    return figure + planned


def are_published(rows: Sequence[Any]) -> bool:
    """True if figures have no samples behind them: errors are those of the source."""
    return all("published" in row.flags and not row.n_draws for row in rows)


def _n_apart(row: LeaderboardRow | SuiteRow) -> int:
    if isinstance(row, LeaderboardRow):
        return row.n_not_compared
    return 0


def _where(row: LeaderboardRow | SuiteRow) -> str:
    """On what a row without a rank has its figure."""
    if row.no_place:
        return f"without a place ({row.no_place})"
    if isinstance(row, SuiteRow) and row.n_missing:
        return "on fewer benchmarks"
    if is_partial(row.flags) or STOPPED in row.flags or isinstance(row, SuiteRow):
        return "on a part"
    if row.method == "published":
        return "as published"
    return "on a single prompt"


def tied_in_words(names: Sequence[str]) -> Sentence:
    """The sentence that no test separates these."""
    return named(names, CANNOT_TELL)


def alike_in_words(lettered: Sequence[tuple[str, str]]) -> Sentence:
    """The sentence that no test separates the others from the first; nor from one
    another, where all share a letter.

    Args:
        lettered: names with their letters, the first one first.
    """
    names = [name for name, _ in lettered]
    if set.intersection(*({*letters_in(letters)} for _, letters in lettered)):
        return tied_in_words(names)
    return named(names[1:], "cannot be told from ") + Sentence("{}", (names[0],))


def label_of(row: LeaderboardRow | SuiteRow) -> str:
    """The model, with the settings that distinguish its row."""
    if row.condition:
        return f"{row.model} ({row.condition})"
    return row.model


#: Rows that a note names.
_NAMED = 5


def row_notes(rows: Sequence[LeaderboardRow] | Sequence[SuiteRow]) -> list[str]:
    """Notes on the seeds, checkpoints and repeats of rows."""
    notes: dict[str, None] = {}
    for row in rows:
        for part in row.notes:
            notes[
                part if part.startswith(f"{row.model}:") else f"{label_of(row)}: {part}"
            ] = None
    for row in rows:
        if "seeds_too_few" in row.flags:
            what = "seeds"
            if row.n_seeds is None:
                what = "runs"
            means = listed([f"{mean:.3g}" for mean in sorted(row.seed_means)])
            notes[
                f"{label_of(row)}: {len(row.seed_means)} {what}, {means}: too few for "
                "an interval, and for a place"
            ] = None
    along = sorted({row.model for row in rows if row.n_checkpoints > 1})
    if along:
        most = max(row.n_checkpoints for row in rows)
        name = "NAME"
        if len(along) == 1:
            name = shlex.quote(along[0])
        who = some_of(along, _NAMED)
        notes[
            f"{who}: the last whole of up to {most} checkpoints; all of them: "
            f"warehouse training curves {name}"
        ] = None
    notes |= dict.fromkeys(
        _infinite_notes([row for row in rows if not isinstance(row, SuiteRow)])
    )
    seeded = [row for row in rows if (row.n_seeds or 0) > 1]
    if seeded:
        notes[
            "training seeds count as noise; of sampling? --seeds-are sampling; each "
            "apart: --each seed"
        ] = None
    return list(notes)


def _infinite_notes(rows: Sequence[LeaderboardRow]) -> Iterator[str]:
    """How many answers are off by an infinite amount, and how many may be where none
    was."""
    if not any(row.infinite for row in rows):
        return
    for row in rows:
        name = label_of(row)
        found = row.infinite
        if found is None:
            if row.n_prompts and row.estimate is not None:
                most = interval_clopper_pearson(0, row.n_prompts, level=row.level).high
                yield (
                    f"{name}: none of {row.n_prompts} scores is infinite (at most "
                    f"{100 * most:.1f} % of all would be)"
                )
            continue
        which = "no mean, as scores are infinite on both sides"
        if found.mean is not None:
            which = "mean infinite"
        median = "infinite"
        if not math.isinf(found.median):
            median = f"{found.median:.4g}"
        finite = ""
        if found.mean_finite is not None:
            finite = (
                f"; mean {found.mean_finite:.4g} of the {found.n_finite} finite ones, "
                "which is no figure of the model"
            )
        yield (
            f"{name}: {which}: {found.n_infinite} of {found.n} answers are off by an "
            "infinite amount "
            f"({100 * found.share_low:.0f}-{100 * found.share_high:.0f} %); median "
            f"{median}{finite}"
        )


def counts_in_words(rows: Sequence[LeaderboardRow]) -> str:
    """How many questions and clusters the figures rest on; a semicolon before them."""
    scale = _if_one_scale(rows)
    if not any(row.n_prompts for row in rows):
        published = ""
        if any(row.estimate is not None for row in rows):
            published = "; published figures"
        return scale + published
    prompts = span_of([row.n_prompts for row in rows])
    clusters = [row.n_clusters for row in rows if row.n_clusters is not None]
    within = ""
    if clusters:
        within = f" in {span_of(clusters)} clusters"
    noun = "question" if prompts == "1" else "questions"
    return f"{scale}; {prompts} {noun}{within}"


def _if_one_scale(rows: Sequence[LeaderboardRow]) -> str:
    """The remark that figures may be on several scales; empty where they are on one."""
    return IF_ONE_SCALE * any(MIXED_SCALES in row.flags for row in rows)
