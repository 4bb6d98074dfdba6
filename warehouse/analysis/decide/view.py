"""Two recipes on every benchmark: sentences, a row for each benchmark, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from warehouse.analysis.decide.brief import brief_view
from warehouse.analysis.decide.row import DecisionRow
from warehouse.analysis.results import Result
from warehouse.tables.view import Table, View, constants
from warehouse.tables.words import (
    counted,
    decimals,
    left_out,
    meanings,
    number,
    p_value,
)

#: Rows whose sentences are told one by one.
MOST_SENTENCES = 6
_HIDE_EMPTY = (
    "split",
    "better",
    "noise from",
    "wrong order",
    "more runs",
    "noise floor",
)
#: Columns that a narrow terminal does without, the first of them first.
_MINOR = ("noise floor", "noise from", "split", "seeds", "metric", "B", "A")


@dataclass(frozen=True)
class Decisions(Result):
    """Two recipes on every benchmark that both have."""

    notebook_columns: ClassVar[tuple[str, ...]] = (
        *(
            "benchmark",
            "mean_a",
            "mean_b",
            "difference",
            "noise_if_sd_above",
            "verdict",
            "better",
            "p_wrong_sign",
        ),
        "runs_to_settle",
    )
    a: str  #: the first reference, as given.
    b: str  #: the second.
    level: float  #: 1 − the share of false alarms of each verdict, not corrected over benchmarks.
    rows: tuple[DecisionRow, ...]
    left_out: tuple[str, ...]  #: what was not compared, each with the reason.
    is_share: bool = False  #: scores lie between 0 and 1: people read them in percent.
    #: benchmarks of which that holds, where it does not hold of all.
    shares: tuple[str, ...] = ()

    @property
    def one_line(self) -> str:
        counts = Counter(row.verdict for row in self.rows)
        told = [f"{word} on {n}" for word, n in counts.items()]
        verdicts = ", ".join(told)
        benchmarks = "benchmark"
        if len(self.rows) > 1:
            benchmarks = "benchmarks"
        number = len(self.rows)
        return f"{self.a} against {self.b}, {number} {benchmarks}: {verdicts}"

    @property
    def notes(self) -> tuple[str, ...]:
        """Notes on what was left out, and what flags mean."""
        return decision_notes(self)

    def _shares(self) -> frozenset[str]:
        """Benchmarks whose scores people read in percent."""
        if not self.is_share:
            return frozenset(self.shares)
        return frozenset(row.benchmark for row in self.rows)

    def view(self, *, verbose: bool = False) -> View:
        """Who is better where, and what was left out.

        Args:
            verbose: a sentence for each benchmark, and every column.
        """
        if verbose:
            return decisions_view(self)
        return brief_view((self.a, self.b), self.rows, self.notes, self._shares())


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
    """Notes on what was left out, and what flags mean."""
    notes = left_out(decisions.left_out)
    n_mixed = sum("mixed_lengths" in row.flags for row in decisions.rows)
    if n_mixed:
        many = counted(n_mixed, "benchmark")
        notes.append(
            f"the runs end at different places in training on {many}; MODEL@step=N "
            "ends them at one"
        )
    return (*notes, *meanings(chain.from_iterable(row.flags for row in decisions.rows)))


def _in_words(rows: Sequence[DecisionRow]) -> str:
    """The meaning of the columns, and how far others spread."""
    pools = {(row.pool, row.pool_size): row for row in rows if row.floor_from == "pool"}
    pool_sentences = [
        f"On {size} benchmarks {name} they did by {row.pool_quantiles[0]:.2g} to "
        f"{row.pool_quantiles[-1]:.2g}."
        for (name, size), row in pools.items()
    ]
    words = (
        "Random seeds alone explain a gap if they make runs spread by more than the "
        "standard deviation in `chance if above`.",
        *pool_sentences,
        "`wrong order` is the probability that the other one is better; `more runs` "
        "would settle it in 8 of 10 cases.",
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
        "noise from": ""
        if row.floor_from == "seeds"
        else row.floor_from.replace("_", " "),
    }
