"""A model's card as people are shown it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

from warehouse.analysis.card.row import CardRow
from warehouse.tables.view import Table
from warehouse.tables.words import (
    WrittenNumber,
    cell,
    decimals,
    interval,
    level_column,
    number,
    p_value,
)

#: What a sentence says where it is the same in all rows, and otherwise a column.
_ONCE = (
    "metric",
    "unit",
    "shots",
    "temperature",
    "checkpoint",
    "seed",
    "harness",
    "date",
    "method",
)
_HIDE_EMPTY = (
    "prompts",
    "split",
    "condition",
    "clusters",
    "generations",
    "p",
    "p Holm",
    "flags",
    *_ONCE,
)
#: Characters of a checkpoint's name, which may be a hash.
LONGEST = 20
#: Columns that a narrow page drops, the first of them first; Markdown has all.
_MINOR = (
    *(
        "method",
        "harness",
        "unit",
        "temperature",
        "date",
        "generations",
        "checkpoint",
        "seed",
        "clusters",
        "shots",
    ),
    *(
        "common prompts",
        "p",
        "se",
        "metric",
        "flags",
        "split",
        "interval of the difference",
        "prompts",
    ),
)
OWN = "From samples; each figure can be recomputed."
AS_PUBLISHED = "As their sources publish them; no sample here recomputes these figures."


def verdicts(rows: Sequence[CardRow]) -> str:
    """How often the model is better, worse, or cannot be told apart."""
    counts = Counter(
        row.verdict.partition(":")[0] for row in rows if row.paired is not None
    )
    named = [f"{verdict} on {n}" for verdict, n in sorted(counts.items())]
    rest = sum(row.paired is None for row in rows)
    if rest:
        left_out = [f"not compared on {rest}"]
    else:
        left_out = []
    return ", ".join([*named, *left_out])


def card_view(rows: Sequence[CardRow], against: str) -> Iterator[str | Table]:
    """Figures from samples, and those of others, each a table with what it says once."""
    for sentence, some in (
        (OWN, [row for row in rows if not row.is_published]),
        (AS_PUBLISHED, [row for row in rows if row.is_published]),
    ):
        if some:
            yield from _part(sentence, some, against)
            yield ""


def _part(
    sentence: str, rows: Sequence[CardRow], against: str
) -> Iterator[str | Table]:
    cells = [_cells(row, against) for row in rows]
    once = {}
    for name in _ONCE:
        if len({str(row[name]) for row in cells}) == 1:
            once[name] = cells[0][name]
    said = [
        f"{name} {cell(value)}"
        for name, value in once.items()
        if value not in (None, "")
    ]
    listing = ""
    if said:
        listing = f" All: {', '.join(said)}."
    yield sentence + listing
    for row in cells:
        for name in once:
            del row[name]
    yield Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    if against and any(row.paired for row in rows):
        holm = ""
        if any(row.p_holm is not None for row in rows):
            holm = "; p Holm is adjusted for the number of tests"
        yield (
            f"difference: this model minus {against} on the prompts that both "
            f"answered, paired{holm}"
        )


def _cells(row: CardRow, against: str) -> dict[str, Any]:
    digits = decimals([row.standard_error])
    written = number if row.standard_error else _as_it_is
    if against:
        difference = _difference(row)
    else:
        difference = {}
    generations = None
    if row.n_draws not in (0, row.n_prompts):
        generations = row.n_draws
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "condition": ", ".join(
            part for part in row.condition.split(", ") if not part.startswith("split=")
        ),
        "metric": row.metric
        + {True: "", False: " (lower is better)", None: " (direction unknown)"}[
            row.higher_is_better
        ],
        "unit": row.unit,
        "estimate": written(row.estimate, digits),
        "se": number(row.standard_error, digits),
        level_column(row.level): interval(
            row.ci_low, row.ci_high, digits, at=row.estimate
        ),
        **difference,
        "prompts": row.n_prompts,
        "clusters": row.n_clusters,
        "generations": generations,
        "shots": row.fewshot,
        "temperature": row.temperature,
        "checkpoint": ""
        if row.checkpoint in row.condition
        else row.checkpoint[:LONGEST],
        "seed": row.training_seed,
        "harness": row.harness,
        "date": row.date,
        "method": "" if row.is_published else row.method,
        "flags": _flags(row),
    }


def _as_it_is(value: float | None, _digits: int) -> WrittenNumber | None:
    """A figure without an error: as its source has it, to six digits."""
    if value is None:
        return None
    return WrittenNumber(f"{value:.6g}")


def _flags(row: CardRow) -> list[str]:
    """Warnings, the number of what lacks a score among them, and why there is no
    figure."""
    flags = [
        f"{row.n_unscored} unscored" if flag == "unscored" else flag
        for flag in row.flags
        if flag != "published"
    ]
    if row.estimate is not None:
        return flags
    return [*flags, row.reason]


def _difference(row: CardRow) -> dict[str, Any]:
    digits = decimals([row.difference_standard_error])
    p = None
    if row.p_holm is None:
        p = p_value(row.p_value)
    return {
        "difference": number(row.difference, digits, sign=True),
        "interval of the difference": interval(
            row.difference_ci_low, row.difference_ci_high, digits
        ),
        "p": p,
        "p Holm": p_value(row.p_holm),
        "verdict": row.verdict,
        "common prompts": row.n_common,
    }
