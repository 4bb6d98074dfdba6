"""Two recipes on every benchmark: sentences, a row for each benchmark, notes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from warehouse.tables.view import Table, View, constants
from warehouse.tables.words import decimals, meanings, number, p_value

if TYPE_CHECKING:
    from warehouse.analysis.training.decide import DecisionRow, Decisions

#: Rows whose sentences are told one by one.
MOST_SENTENCES = 6
_HIDE_EMPTY = ("split", "better", "noise from", "wrong order", "more runs", "noise floor")
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("noise floor", "noise from", "split", "seeds", "metric", "B", "A")


def decisions_view(decisions: Decisions) -> View:
    """The verdicts in words, the rows, and what was left out."""
    rows = decisions.rows
    sentences = [f"{decisions.one_line}."]
    if len(rows) <= MOST_SENTENCES:
        sentences += [row.sentence for row in rows]
    else:
        sentences.append(_in_words(rows))
    n_decimals = decimals([row.noise_floor for row in rows if row.noise_floor])
    cells = [_cells(row, n_decimals) for row in rows]
    said: list[str] = []
    if len(cells) > 1:
        said, cells = constants(cells, ("metric", "seeds", "noise from", "verdict"))
    table = Table.of(cells, hide_empty=_HIDE_EMPTY, minor=_MINOR)
    return View((*sentences, "", *said, table), decisions.notes)


def decision_notes(decisions: Decisions) -> tuple[str, ...]:
    """What was left out, and what flags mean."""
    notes = [f"left out {reason}" for reason in decisions.left_out]
    n_mixed = sum("mixed_lengths" in row.flags for row in decisions.rows)
    if n_mixed:
        many = f"{n_mixed} benchmark{'s' * (n_mixed > 1)}"
        notes.append(f"the runs end at different places in training on {many}; MODEL@step=N ends them at one")
    return (*notes, *meanings(flag for row in decisions.rows for flag in row.flags))


def _in_words(rows: Sequence[DecisionRow]) -> str:
    """What the columns mean, and how far others spread."""
    pools = {(row.pool, row.pool_size): row for row in rows if row.floor_from == "pool"}
    pool_sentences = [
        f"On {size} benchmarks {name} they did by {row.pool_quantiles[0]:.2g} to {row.pool_quantiles[-1]:.2g}."
        for (name, size), row in pools.items()
    ]
    words = (
        "Random seeds alone explain a gap if they make runs spread by more than the standard deviation in `chance if"
        " above`.",
        *pool_sentences,
        "`wrong order` is the probability that the other one is better; `more runs` would settle it in 8 of 10 cases.",
        "--json has a sentence for each benchmark.",
    )
    return " ".join(words)


def _cells(row: DecisionRow, n_decimals: int) -> dict[str, object]:
    floor = number(row.noise_floor, n_decimals)
    return {
        "benchmark": row.benchmark,
        "split": row.split,
        "metric": row.metric,
        "A": number(row.mean_a, n_decimals),
        "B": number(row.mean_b, n_decimals),
        "A - B": number(row.difference, n_decimals, sign=True),
        "chance if above": number(row.noise_if_sd_above, n_decimals + 1),
        "verdict": row.verdict,
        "better": row.better.upper(),
        "wrong order": p_value(row.p_wrong_sign),
        "more runs": row.runs_to_settle,
        "noise floor": f">= {floor}" if row.floor_from == "jitter" else floor,
        "seeds": f"{row.n_seeds_a} + {row.n_seeds_b}",
        "noise from": "" if row.floor_from == "seeds" else row.floor_from.replace("_", " "),
    }
