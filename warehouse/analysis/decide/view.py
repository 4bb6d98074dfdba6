"""Two recipes on every benchmark: sentences, a row for each benchmark, notes."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import chain
from typing import ClassVar

from warehouse.analysis.results import BenchmarkRow, Result
from warehouse.stats.training.noise_floor import Word
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
class DecisionRow(BenchmarkRow):
    """Two recipes on one benchmark. Figures are in the metric's reported unit."""

    model_a: str  #: name of the first model.
    recipe_a: str  #: its data mix or hyperparameters.
    model_b: str  #: name of the second.
    recipe_b: str  #: its data mix or hyperparameters.
    mean_a: float  #: mean over the seeds of the first.
    mean_b: float  #: mean over the seeds of the second.
    difference: float  #: mean_a − mean_b.
    #: what seeds alone exceed with probability 1 − level; where ``floor_from`` is
    #: ``jitter``, a lower bound of it; None where nothing tells it.
    noise_floor: float | None
    #: ``decides`` where the difference exceeds the noise floor, ``leans`` where the
    #: order is wrong with a probability of at most .1, else ``cannot tell``. Spreads of
    #: other benchmarks alone decide only where the threshold is above twice the largest
    #: of them; jitter alone leans where it is above twice the most that spreads over
    #: seeds were seen to be in multiples of jitter.
    verdict: Word
    #: ``a`` or ``b``, which is ahead by the metric's direction, where it decides or
    #: leans; empty else, and where nobody has said the direction.
    better: str
    #: ``seeds`` of these two recipes, ``other_recipes`` on the benchmark, ``pool`` of
    #: other benchmarks, ``jitter`` of the runs, or empty.
    floor_from: str
    n_seeds_a: int  #: seeds of the first.
    n_seeds_b: int  #: seeds of the second.
    degrees_of_freedom: float | None  #: of the floor.
    #: standard deviation over seeds of one run's figure, as the floor has it; None
    #: without one.
    seed_sd: float | None
    #: what other prompts make of one run's figure besides, as the floor has it: half
    #: the variance of the difference, by prompt, of single runs; None where the spread
    #: was seen on these very prompts, or nothing tells it.
    prompt_sd: float | None
    #: standard deviation of a run's figure by jitter alone; None below sixteen
    #: checkpoints.
    jitter: float | None
    #: difference − noise floor, within the metric's range; None where jitter is all
    #: there is.
    ci_low: float | None
    ci_high: float | None  #: difference + noise floor.
    #: probability that the true difference has the other sign, nothing being known of
    #: it beforehand.
    p_wrong_sign: float | None
    noise_if_sd_above: float  #: the difference is noise only if the standard deviation over seeds exceeds this.
    pool: str  #: whose spreads over seeds it is held against, in words; empty without any.
    #: benchmarks among them, without those of which all seeds are equal.
    pool_size: int | None
    #: of their standard deviations, at .05, .25, .5, .75 and .95.
    pool_quantiles: tuple[float, ...]
    #: this benchmark's own among them, of models of whatever size; None where it is
    #: not.
    pool_own_sd: float | None
    #: seeds of each recipe that would find a difference of this size with 80 % power;
    #: None if unknown.
    seeds_for_80: int | None
    #: further runs of both that this takes; 0 where it decides, None if unknown.
    runs_to_settle: int | None
    averaged: int  #: last checkpoints that are averaged in each run.
    #: ``pool_not_matched``: the spread is of another benchmark or another size of
    #: model; ``mixed_lengths``: runs end at different places in training;
    #: ``unequal_prompts``: their figures do not rest on as many prompts;
    #: ``mixed_scales``: figures of 0 to 1 beside others of up to 100.
    flags: tuple[str, ...]
    advice: str  #: what would settle it, and what that costs.
    sentence: str  #: all of this for a reader.


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

    def view(self, *, verbose: bool = False) -> View:
        """The verdicts in words, the command's table, and what was left out."""
        return decisions_view(self)


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
