"""Spreads over training seeds that are known of other benchmarks: those of the store,
and published ones."""

from __future__ import annotations

import csv
import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cache, cached_property
from importlib.resources import files

import numpy as np
from numpy.typing import NDArray

from warehouse.analysis.groups import grouped
from warehouse.analysis.training.read import read_recipes
from warehouse.analysis.training.trajectories import RecipeScores
from warehouse.errors import MisuseError
from warehouse.stats.core.quantiles import t_quantile
from warehouse.stats.training.noise_floor import (
    LEAST_POOLED,
    SeedPool,
    WeighedDifference,
    jitter,
    noise_only_above,
    recipe_difference,
    seed_pool,
    weigh_difference,
)
from warehouse.stats.training.seed_means import SeedMean
from warehouse.store.connection import Store

#: Sizes of models whose ratio is within this are alike.
ALIKE = 2.0
#: Of fewer prompts, spreads on benchmarks of more say nothing: the published ones have
#: so many at least (COPA).
FEW_PROMPTS = 100
#: A benchmark that is not in the pool is taken to spread by at most so many times the
#: largest of it.
BEYOND = 2.0
#: Spreads over seeds that were seen (arc_challenge, copa, hellaswag, piqa, triviaqa:
#: published spreads, and jitter of Pythia and two runs of BigScience; a map of training
#: with ten seeds), in multiples of jitter: least and most.
SEEN_OF_JITTER = (0.4, 2.1)


@dataclass(frozen=True)
class Spread:
    """Standard deviation over seeds on one benchmark, of the last checkpoint or the
    mean of the last few."""

    names: frozenset[str]  #: of the benchmark, as `plain_name` has them.
    metric: str  #: that it is of; empty: any rate of right answers.
    parameters: float | None  #: of the models; None where unknown.
    standard_deviation: float  #: ddof 1.
    degrees_of_freedom: float  #: seeds minus recipes.
    n_prompts: int | None  #: at least; None where unknown.

    def is_alike(self, parameters: float | None) -> bool:
        """True if its models are of about that size; no, where either is unknown."""
        if not (self.parameters and parameters):
            return False
        return 1 / ALIKE <= self.parameters / parameters <= ALIKE


@dataclass(frozen=True)
class Pool:
    """Spreads that measure one more."""

    spreads: tuple[Spread, ...]  #: of the benchmarks.
    name: str  #: what they are, in words that follow a number of benchmarks.
    #: of the benchmark itself, of the likest size; None where it is not among them.
    own: Spread | None
    is_matched: bool  #: whether that is of about its size.

    @cached_property
    def prior(self) -> SeedPool:
        """The prior that they give for one more."""
        return seed_pool(
            [part.standard_deviation for part in self.spreads],
            [part.degrees_of_freedom for part in self.spreads],
        )

    @property
    def figures(self) -> tuple[float, float] | None:
        """Standard deviation of one run and its degrees of freedom; None for fewer than
        three benchmarks."""
        prior = self.prior
        if prior.standard_deviation is None or prior.degrees_of_freedom is None:
            return None
        if self.own is not None and self.is_matched:
            return prior.with_own(
                self.own.standard_deviation, self.own.degrees_of_freedom
            )
        return prior.standard_deviation, prior.degrees_of_freedom

    def may_decide(self, difference: float) -> bool:
        """True if it is about this benchmark, or the difference is beyond one of twice
        the largest spread."""
        largest = max(spread.standard_deviation for spread in self.spreads)
        return self.own is not None or noise_only_above(difference) > BEYOND * largest


def plain_name(benchmark: str) -> str:
    """A name without case and signs: ``ARC-C`` is ``arc_c``."""
    return re.sub(r"[^a-z0-9]", "", benchmark.lower())


@cache
def published_spreads() -> tuple[Spread, ...]:
    """Spreads that papers have, as this package was made."""
    text = files(__package__).joinpath("published_sds.csv").read_text(encoding="utf-8")
    return tuple(
        Spread(
            frozenset(map(plain_name, (row["benchmark"], *row["other_names"].split()))),
            "",
            float(row["parameters"]),
            float(row["standard_deviation"]),
            float(row["seeds"]) - 1,
            FEW_PROMPTS,
        )
        for row in csv.DictReader(text.splitlines())
    )


def stored_spreads(store: Store, metric: str | None, averaged: int) -> list[Spread]:
    """The spreads of the store's recipes with several seeds, one per benchmark, metric
    and size.

    Args:
        metric: as of `read_recipes`.
        averaged: m, last checkpoints whose mean is a run's figure.
    """
    rows = store.rows(
        "select distinct benchmark_id from run_current where training_seed <> ''"
    )
    ids = [row["benchmark_id"] for row in rows]
    if ids:
        return spreads_of(read_recipes(store, ids, metric=metric), averaged)
    return []


def spreads_of(recipes: Iterable[RecipeScores], averaged: int) -> list[Spread]:
    """Spreads of recipes that were read."""
    groups = grouped(
        recipes, lambda recipe: (recipe.benchmark, recipe.metric, recipe.parameters)
    )
    found = []
    for (benchmark, metric, parameters), members in groups.items():
        pooled = pooled_seed_variance(members, averaged)
        if pooled is not None:
            name = frozenset({plain_name(benchmark)})
            n = min((m.n_prompts for m in members if m.n_prompts), default=None)
            found.append(
                Spread(name, metric, parameters, pooled[0] ** 0.5, pooled[1], n)
            )
    return found


def pooled_seed_variance(
    recipes: Sequence[RecipeScores], averaged: int = 1
) -> tuple[float, float] | None:
    """Variance over seeds of one run's figure, pooled over recipes, and its degrees of
    freedom; None without seeds that differ.

    Args:
        recipes: of one benchmark by one metric.
        averaged: m, last checkpoints whose mean is the figure.
    """
    squares, nu = seed_squares(recipes, averaged)
    if nu and squares:
        return (squares / nu, float(nu))
    return None


def seed_squares(recipes: Sequence[RecipeScores], averaged: int) -> tuple[float, int]:
    """The sum of squares over seeds of such figures, and its degrees of freedom; zeros
    without seeds."""
    squares, nu = 0.0, 0
    for recipe in recipes:
        positions = recipe.common
        if len(recipe.trajectories) > 1 and len(positions) >= averaged:
            finals = recipe.table(positions[-averaged:]).mean(axis=1)
            squares += float(((finals - finals.mean()) ** 2).sum())
            nu += len(finals) - 1
    return squares, nu


def pool_for(recipe: RecipeScores, stored: Sequence[Spread]) -> Pool | None:
    """The spreads that fit a benchmark best: the store's or the published ones; None
    where neither is by its metric.

    The store's are of any training; of other benchmarks and models of unknown size, the
    published ones are nearer.

    Args:
        recipe: of the benchmark, by its metric.
        stored: of the store, of all benchmarks.
    """
    own = _pool(
        [spread for spread in stored if spread.metric == recipe.metric],
        recipe,
        "in this store",
    )
    if not recipe.is_rate:
        return own
    published = _pool(published_spreads(), recipe, "of a 7B model (Madaan et al. 2024)")
    found = [pool for pool in (own, published) if pool is not None]

    def fit(pool: Pool) -> tuple[bool, ...]:
        is_alike = any(spread.is_alike(recipe.parameters) for spread in pool.spreads)
        return (
            pool.figures is not None,
            pool.is_matched,
            pool.own is not None,
            is_alike,
            pool is published,
        )

    return max(found, key=fit, default=None)


def _pool(spreads: Sequence[Spread], recipe: RecipeScores, name: str) -> Pool | None:
    """The pool of one source, of models of about that size where enough are."""
    n_prompts = recipe.n_prompts or FEW_PROMPTS
    spreads = [
        spread
        for spread in spreads
        if n_prompts >= min(spread.n_prompts or 0, FEW_PROMPTS)
    ]
    alike = [spread for spread in spreads if spread.is_alike(recipe.parameters)]
    pooled = spreads
    if len(alike) >= LEAST_POOLED:
        pooled = alike
    kept = tuple(pooled)
    if not kept:
        return None
    plain = plain_name(recipe.benchmark)
    own = [spread for spread in kept if plain in spread.names]
    own.sort(key=lambda spread: not spread.is_alike(recipe.parameters))
    return Pool(
        kept,
        name,
        own[0] if own else None,
        bool(own) and own[0].is_alike(recipe.parameters),
    )


@dataclass(frozen=True)
class Noise:
    """The noise that the difference of two recipes is held against."""

    #: of each run of both: the mean of its last checkpoints.
    figures: tuple[NDArray[np.float64], NDArray[np.float64]]
    averaged: int  #: m, how many.
    #: ``seeds`` of the two, ``other_recipes``, ``pool``, ``jitter``, or empty.
    source: str
    #: of one run's figure; of its jitter alone where that is the source; None without.
    standard_deviation: float | None
    degrees_of_freedom: float | None  #: of it.
    pool: Pool | None  #: of other benchmarks, where there is one.
    is_matched: bool  #: whether it is of this benchmark and size of model.
    #: standard deviation of a figure by jitter alone; None where it is not known.
    jitter: float | None
    #: what other prompts make of one run's figure; None where that is not counted.
    prompt_sd: float | None = None

    @property
    def total(self) -> float | None:
        """Standard deviation of one run's figure, by seeds and by prompts; None without
        the former."""
        if self.standard_deviation is None:
            return None
        return math.hypot(self.standard_deviation, self.prompt_sd or 0.0)

    def with_prompts(self, difference: SeedMean) -> Noise:
        """With the error over prompts of the difference, where the spread over seeds
        was seen on others: of few it is larger, as which of them a seed gets right
        varies too. Degrees of freedom are Satterthwaite's. Errors that are reported of
        single runs do not count: they are not of the pair, and much too large for it.
        """
        scale = sum(1 / n for n in self.counts)
        prompts = difference.prompt_variance / scale
        nu = self.degrees_of_freedom
        is_known = self.source == "pool" and difference.basis != "reported errors"
        if not (is_known and prompts and nu and self.standard_deviation is not None):
            return self
        seeds = self.standard_deviation**2
        of_both = (seeds + prompts) ** 2 / (
            seeds**2 / nu + prompts**2 / (difference.prompt_df or math.inf)
        )
        return replace(self, prompt_sd=math.sqrt(prompts), degrees_of_freedom=of_both)

    @property
    def counts(self) -> tuple[int, int]:
        """Seeds of both."""
        return len(self.figures[0]), len(self.figures[1])

    def by_pool_or_jitter(self, of_jitter: float) -> Noise:
        """Measured by the pool, whose spreads over seeds hold the jitter too, else by
        the jitter, which has ``of_jitter`` degrees of freedom.
        """
        measure = None
        if self.pool:
            measure = self.pool.figures
        if self.pool is not None and measure is not None:
            return replace(
                self,
                source="pool",
                standard_deviation=max(measure[0], self.jitter or 0.0),
                degrees_of_freedom=measure[1],
                is_matched=self.pool.is_matched,
            )
        if self.jitter is None:
            return self
        return replace(
            self,
            source="jitter",
            standard_deviation=self.jitter,
            degrees_of_freedom=of_jitter,
        )

    def weigh(self, difference: float, level: float) -> WeighedDifference | None:
        """The difference against this noise; None without. By jitter alone nothing
        decides, and leans where seeds would have to spread by more than twice the most
        that was seen, in multiples of jitter.
        """
        if (
            self.total is None
            or self.standard_deviation is None
            or self.degrees_of_freedom is None
        ):
            return None
        weighed = weigh_difference(
            difference, self.total, self.degrees_of_freedom, *self.counts, level=level
        )
        if self.source == "jitter":
            threshold = noise_only_above(difference, *self.counts, level=level)
            leans = threshold > BEYOND * SEEN_OF_JITTER[1] * self.standard_deviation
            return replace(weighed, word="leans" if leans else "cannot tell")
        if (
            self.source == "pool"
            and self.pool
            and weighed.word == "decides"
            and not self.pool.may_decide(difference)
        ):
            return replace(weighed, word="leans")
        return weighed


def noise_of(
    a: RecipeScores,
    b: RecipeScores,
    others: Sequence[RecipeScores],
    stored: Sequence[Spread] = (),
    averaged: int = 1,
    level: float = 0.95,
) -> Noise:
    """The best measure that there is: seeds of the two, of others on the benchmark, on
    other benchmarks, jitter.

    Args:
        others: recipes on the benchmark.
        stored: spreads over seeds on other benchmarks of the store.

    Raises:
        MisuseError: fewer checkpoints than are to be averaged.
    """
    figures = (_figures(a, averaged), _figures(b, averaged))
    within, within_nu = _jitter((a, b), averaged)
    noise = Noise(
        figures,
        averaged,
        "",
        None,
        None,
        pool_for(a, stored),
        is_matched=True,
        jitter=within,
    )
    if sum(noise.counts) > 2:
        difference = recipe_difference(*figures, level=level)
        if difference.is_more_than_noise is not None:
            nu = difference.degrees_of_freedom
            scale = math.sqrt(sum(1 / n for n in noise.counts))
            return replace(
                noise,
                source="seeds",
                standard_deviation=difference.floor / t_quantile(level, nu) / scale,
                degrees_of_freedom=nu,
            )
    alike = [
        recipe
        for recipe in others
        if recipe.metric == a.metric and recipe.unit == a.unit
    ]
    sizes = {recipe.parameters for recipe in alike if len(recipe.trajectories) > 1}
    pooled = pooled_seed_variance(alike, averaged)
    if pooled is not None:
        return replace(
            noise,
            source="other_recipes",
            standard_deviation=math.sqrt(pooled[0]),
            degrees_of_freedom=pooled[1],
            is_matched=sizes <= {a.parameters},
        )
    return noise.by_pool_or_jitter(within_nu)


def _jitter(sides: Sequence[RecipeScores], averaged: int) -> tuple[float | None, float]:
    """Standard deviation of a figure by jitter alone, pooled over the runs, and its
    degrees of freedom."""
    jitters = []
    for side in sides:
        for run in side.trajectories:
            if len(run.scores) > 1:
                jitters.append(jitter(run.scores, run.positions))
    estimated = [
        (j.variance, j.degrees_of_freedom)
        for j in jitters
        if j.variance and j.degrees_of_freedom
    ]
    nu = float(sum(df for _, df in estimated))
    if estimated:
        return (math.sqrt(sum(v * df for v, df in estimated) / nu / averaged), nu)
    return (None, nu)


def _figures(recipe: RecipeScores, averaged: int) -> NDArray[np.float64]:
    """The figure of each seed: the mean of its last checkpoints."""
    short = [run.seed for run in recipe.trajectories if len(run.scores) < averaged]
    if short:
        raise MisuseError(
            f"{recipe.model} has fewer than {averaged} checkpoints to average"
        )
    return np.array([np.mean(run.scores[-averaged:]) for run in recipe.trajectories])
