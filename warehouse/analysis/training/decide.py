"""Is the difference of two recipes more than what another training seed makes?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.results import Result, Row
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.reference import BySplit, by_benchmark_split, common_benchmarks, parse_where
from warehouse.analysis.training.read import read_recipes
from warehouse.analysis.training.trajectories import RecipeScores
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.questions.training import Decide
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.training.noise_floor import jitter, jitter_only_lower_bound, recipe_difference
from warehouse.stats.training.seed_planning import seeds_needed
from warehouse.store.connection import Store

Verdict = Literal["more than noise", "within noise", "cannot tell"]


@dataclass(frozen=True)
class DecisionRow(Row):
    """Two recipes on one benchmark. Figures are in the metric's reported unit.

    Attributes:
        benchmark: its name.
        split: part of the benchmark.
        metric: name of the metric, with its filter.
        model_a: name of the first model.
        recipe_a: its data mix or hyperparameters.
        model_b: name of the second.
        recipe_b: its data mix or hyperparameters.
        mean_a: mean over the seeds of the first.
        mean_b: mean over the seeds of the second.
        difference: mean_a − mean_b.
        noise_floor: what seeds alone exceed with probability 1 − level; where ``floor_from`` is
            ``jitter``, a lower bound of it; None where nothing tells it.
        verdict: whether the difference is more than noise.
        better: ``a`` or ``b`` where it is, by the metric's direction; empty else.
        floor_from: ``seeds`` of these two recipes, ``other_recipes`` on the benchmark,
            ``jitter`` of the runs, or empty.
        n_seeds_a: seeds of the first.
        n_seeds_b: seeds of the second.
        degrees_of_freedom: of the floor.
        seeds_for_80: seeds of each recipe that would find a difference of this size with 80 %
            power; None if unknown.
        averaged: last checkpoints that are averaged in each run.
        advice: what would tell, or what to do.
    """

    benchmark: str
    split: str
    metric: str
    model_a: str
    recipe_a: str
    model_b: str
    recipe_b: str
    mean_a: float
    mean_b: float
    difference: float
    noise_floor: float | None
    verdict: Verdict
    better: str
    floor_from: str
    n_seeds_a: int
    n_seeds_b: int
    degrees_of_freedom: float | None
    seeds_for_80: int | None
    averaged: int
    advice: str


@dataclass(frozen=True)
class Decisions(Result):
    """Two recipes on every benchmark that both have.

    Attributes:
        a: the first reference, as given.
        b: the second.
        level: 1 − the share of false alarms of each verdict, not corrected over benchmarks.
        left_out: what was not compared, each with the reason.
    """

    notebook_columns: ClassVar[tuple[str, ...]] = (
        "benchmark",
        "mean_a",
        "mean_b",
        "difference",
        "noise_floor",
        "verdict",
        "better",
        "seeds_for_80",
    )
    a: str
    b: str
    level: float
    rows: tuple[DecisionRow, ...]
    left_out: tuple[str, ...]

    @property
    def one_line(self) -> str:
        """The result in one line."""
        counts = Counter(row.verdict for row in self.rows)
        verdicts = ", ".join(f"{word} on {n}" for word, n in counts.items())
        return f"{self.a} against {self.b}, {len(self.rows)} benchmark{'s' * (len(self.rows) > 1)}: {verdicts}"


@answers(Decide)
def decide(store: Store, question: Decide) -> Decisions:
    """One row for each benchmark that both have."""
    ids = None if question.benchmark is None else find_benchmark(store, question.benchmark).ids
    filters = parse_where(question.where)
    a, b = ((text, by_benchmark_split(store, text, ids, filters)) for text in (question.a, question.b))
    places = common_benchmarks(*a, *b)
    numbers = sorted({one.setting("benchmark_id") for key in places for _, side in (a, b) for one in side[key]})
    recipes = read_recipes(store, numbers, metric=question.metric)
    return decide_of(a, b, recipes, question.averaged, question.level)


def decide_of(
    a: tuple[str, BySplit],
    b: tuple[str, BySplit],
    recipes: Sequence[RecipeScores],
    averaged: int = 1,
    level: float = 0.95,
) -> Decisions:
    """`decide` of recipes that were read.

    Args:
        a: the first reference, and the conditions that it means.
        b: the second.
        recipes: of the benchmarks that both have, with others as a measure of noise.

    Raises:
        MisuseError: nothing can be compared.
    """
    rows: list[DecisionRow] = []
    left_out: list[str] = []
    for key in common_benchmarks(*a, *b):
        here = [one for one in recipes if (one.benchmark, one.settings["split"] or "") == key]
        try:
            first, second = (_side(text, side[key], here) for text, side in (a, b))
            rows.append(_row(first, second, here, averaged, level))
        except MisuseError as error:
            left_out.append(f"{key[0]}: {error}")
    if not rows:
        raise MisuseError("; ".join(left_out[:5]))
    return Decisions(a[0], b[0], level, tuple(rows), tuple(left_out))


def _side(text: str, conditions: Sequence[Condition], recipes: Sequence[RecipeScores]) -> RecipeScores:
    """The recipe that a reference means, cut to the runs that it means."""
    runs = {run for condition in conditions for run in condition.run_ids}
    matching = [one for one in (recipe.only(runs) for recipe in recipes) if one is not None]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise MisuseError(f"{text!r} has no figure by this metric")
    names = ", ".join(f"{one.model} {one.recipe}".strip() for one in matching[:4])
    raise MisuseError(
        f"{text!r} means {len(matching)} recipes or settings ({names}); narrow it with --where field=value"
    )


def _row(a: RecipeScores, b: RecipeScores, others: Sequence[RecipeScores], averaged: int, level: float) -> DecisionRow:
    figures = [_figures(one, averaged) for one in (a, b)]
    difference = float(figures[0].mean() - figures[1].mean())
    floor, source, nu, variance = _floor(a, b, figures, others, averaged, level)
    verdict = _verdict(difference, floor, source)
    ahead = "" if verdict != "more than noise" else "a" if a.sign * difference > 0 else "b"
    needed = None
    if variance and difference:
        needed = seeds_needed(difference, seed_variance=variance, level=level).n_seeds
    return DecisionRow(
        benchmark=a.benchmark,
        split=a.settings["split"] or "",
        metric=a.metric,
        model_a=a.model,
        recipe_a=a.recipe,
        model_b=b.model,
        recipe_b=b.recipe,
        mean_a=float(figures[0].mean()),
        mean_b=float(figures[1].mean()),
        difference=difference,
        noise_floor=floor,
        verdict=verdict,
        better=ahead,
        floor_from=source,
        n_seeds_a=len(figures[0]),
        n_seeds_b=len(figures[1]),
        degrees_of_freedom=nu,
        seeds_for_80=needed,
        averaged=averaged,
        advice=_advice(verdict, source, needed, len(figures[0]), len(figures[1])),
    )


def _figures(recipe: RecipeScores, averaged: int) -> NDArray[np.float64]:
    """The figure of each seed: the mean of its last checkpoints."""
    short = [one.seed for one in recipe.trajectories if len(one.scores) < averaged]
    if short:
        raise MisuseError(f"{recipe.model} has fewer than {averaged} checkpoints to average")
    return np.array([np.mean(one.scores[-averaged:]) for one in recipe.trajectories])


def _floor(
    a: RecipeScores,
    b: RecipeScores,
    figures: Sequence[NDArray[np.float64]],
    others: Sequence[RecipeScores],
    averaged: int,
    level: float,
) -> tuple[float | None, str, float | None, float | None]:
    """Noise floor, where it is from, its degrees of freedom, and one run's variance over seeds."""
    if len(figures[0]) + len(figures[1]) > 2:
        difference = recipe_difference(*figures, level=level)
        if difference.is_more_than_noise is not None:
            scale = 1 / len(figures[0]) + 1 / len(figures[1])
            t = t_quantile(level, difference.degrees_of_freedom)
            return difference.floor, "seeds", difference.degrees_of_freedom, (difference.floor / t) ** 2 / scale
    pooled = pooled_seed_variance([one for one in others if one.metric == a.metric and one.unit == a.unit], averaged)
    if pooled is not None:
        variance, nu = pooled
        scale = 1 / len(figures[0]) + 1 / len(figures[1])
        return t_quantile(level, nu) * float(np.sqrt(variance * scale)), "other_recipes", nu, variance
    jitters = [jitter(one.scores, one.positions) for side in (a, b) for one in side.trajectories if len(one.scores) > 1]
    estimated = [(one.variance, one.degrees_of_freedom) for one in jitters if one.variance and one.degrees_of_freedom]
    if estimated:
        nu = float(sum(df for _, df in estimated))
        variance = float(sum(v * df for v, df in estimated)) / nu
        return jitter_only_lower_bound(variance, nu, averaged=averaged, level=level), "jitter", nu, None
    return None, "", None, None


def pooled_seed_variance(recipes: Sequence[RecipeScores], averaged: int = 1) -> tuple[float, float] | None:
    """Variance over seeds of one run's figure, pooled over recipes, and its degrees of freedom; None
    without seeds that differ.

    Args:
        recipes: of one benchmark by one metric.
        averaged: m, last checkpoints whose mean is the figure.
    """
    squares, nu = 0.0, 0
    for one in recipes:
        positions = one.common
        if len(one.trajectories) > 1 and len(positions) >= averaged:
            finals = one.table(positions[-averaged:]).mean(axis=1)
            squares += float(np.sum((finals - finals.mean()) ** 2))
            nu += len(finals) - 1
    return (squares / nu, float(nu)) if nu and squares else None


def _verdict(difference: float, floor: float | None, source: str) -> Verdict:
    if floor is None:
        return "cannot tell"
    if abs(difference) <= floor:
        return "within noise"
    return "cannot tell" if source == "jitter" else "more than noise"


def _advice(verdict: Verdict, source: str, needed: int | None, n_a: int, n_b: int) -> str:
    if verdict == "more than noise":
        return ""
    if source in ("", "jitter"):
        return "a second training seed of either recipe, or of a like one, would tell"
    if needed is not None and needed > min(n_a, n_b):
        return f"a difference of this size needs {needed} seeds of each recipe for 80 % power"
    return ""
