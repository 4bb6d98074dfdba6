"""Is the difference of two recipes more than what another training seed makes?"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
from itertools import chain

from warehouse.analysis.decide.question import Decide
from warehouse.analysis.decide.row import UNSAID, DecisionRow
from warehouse.analysis.decide.view import Decisions
from warehouse.analysis.selection.benchmarks import find_benchmark
from warehouse.analysis.selection.conditions import Condition
from warehouse.analysis.selection.reference import (
    BySplit,
    by_benchmark_split,
    common_benchmarks,
)
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.selection.score_ranges import are_mixed
from warehouse.analysis.training.pools import (
    SEEN_OF_JITTER,
    Noise,
    Spread,
    noise_of,
    stored_spreads,
)
from warehouse.analysis.training.read import no_figure, read_difference, read_recipes
from warehouse.analysis.training.trajectories import RecipeScores, unequal_prompts
from warehouse.errors import MisuseError
from warehouse.questions.question import answers
from warehouse.records.score_span import ScoreSpan
from warehouse.stats.training.noise_floor import (
    WeighedDifference,
    Word,
    noise_only_above,
)
from warehouse.stats.training.seed_means import SeedMean
from warehouse.stats.training.seed_planning import seeds_needed
from warehouse.store.connection import Store
from warehouse.tables.words import (
    IF_LIKE_PROMPTS,
    IF_ONE_SCALE,
    MIXED_SCALES,
    UNEQUAL_PROMPTS,
    counted,
)

#: A difference that takes more seeds of each recipe is not looked for.
MANY_SEEDS = 100


@answers(Decide)
def decide(store: Store, question: Decide) -> Decisions:
    """One row for each benchmark that both have."""
    ids = None
    if question.benchmark is not None:
        ids = find_benchmark(store, question.benchmark).ids
    filters = parse_where(question.where)
    a, b = (
        (text, by_benchmark_split(store, text, ids, filters))
        for text in (question.a, question.b)
    )
    common = common_benchmarks(*a, *b)
    of_a = a[1]
    of_b = b[1]
    in_common = chain.from_iterable((*of_a[key], *of_b[key]) for key in common)
    numbers = sorted({recipe.setting("benchmark_id") for recipe in in_common})
    recipes = read_recipes(store, numbers, metric=question.metric)
    stored = stored_spreads(store, question.metric, question.averaged)
    return decide_of(
        a,
        b,
        recipes,
        question.averaged,
        question.level,
        stored,
        partial(read_difference, store),
    )


def decide_of(
    a: tuple[str, BySplit],
    b: tuple[str, BySplit],
    recipes: Sequence[RecipeScores],
    averaged: int = 1,
    level: float = 0.95,
    stored: Sequence[Spread] = (),
    by_prompt: Callable[[RecipeScores, RecipeScores], SeedMean | None] = lambda a, b: (
        None
    ),
) -> Decisions:
    """`decide` of recipes that were read (MisuseError: nothing can be compared).

    Args:
        a: the first reference, and the conditions that it means.
        b: the second.
        recipes: of the benchmarks that both have, with others as a measure of noise.
        stored: spreads over seeds on other benchmarks of the store.
        by_prompt: the difference of two recipes with its error over prompts, asked
            where a pool is the measure.
    """
    rows: list[DecisionRow] = []
    left_out: list[str] = []
    for key in common_benchmarks(*a, *b):
        here = [
            recipe
            for recipe in recipes
            if (recipe.benchmark, recipe.settings["split"] or "") == key
        ]
        try:
            first, second = (_side(text, side[key], here) for text, side in (a, b))
            names = _names(first, second, a[0], b[0])
            noise = noise_of(first, second, here, stored, averaged, level)
            if (
                noise.source == "pool"
                and (difference := by_prompt(first, second)) is not None
            ):
                noise = noise.with_prompts(difference)
            rows.append(_row(first, second, names, noise, level))
        except MisuseError as error:
            left_out.append(f"{key[0]}: {error}")
    if not rows:
        raise MisuseError("; ".join(left_out[:5]))
    is_share = all(recipe.width == 1.0 for recipe in recipes)
    others = {recipe.benchmark for recipe in recipes if recipe.width != 1.0}
    shares = {row.benchmark for row in rows} - others
    return Decisions(
        a=a[0],
        b=b[0],
        level=level,
        rows=tuple(rows),
        left_out=tuple(left_out),
        is_share=is_share,
        shares=tuple(sorted(shares)),
    )


def _side(
    text: str, conditions: Sequence[Condition], recipes: Sequence[RecipeScores]
) -> RecipeScores:
    """The recipe that a reference means, cut to the runs that it means."""
    runs = set(chain.from_iterable(condition.run_ids for condition in conditions))
    parts = (recipe.only(runs) for recipe in recipes)
    matching = [part for part in parts if part is not None]
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise MisuseError(no_figure(text))
    names = [f"{part.model} {part.recipe}".strip() for part in matching]
    way = "narrow it with --where field=value"
    if len(set(names)) == len(names):
        way = "say one of these"
    raise MisuseError(
        f"{text!r} means {len(matching)} recipes or settings ({', '.join(names[:4])}); "
        f"{way}"
    )


def _names(
    a: RecipeScores, b: RecipeScores, said_a: str, said_b: str
) -> tuple[str, str]:
    """Names of the two in a sentence: their recipes or models, or what was asked for
    where these are equal."""
    if a.recipe and b.recipe and a.recipe != b.recipe:
        return a.recipe, b.recipe
    if a.model != b.model:
        return (a.model, b.model)
    return (said_a, said_b)


def _row(
    a: RecipeScores, b: RecipeScores, names: tuple[str, str], noise: Noise, level: float
) -> DecisionRow:
    means = [float(values.mean()) for values in noise.figures]
    difference, counts, pool = means[0] - means[1], noise.counts, noise.pool
    weighed = noise.weigh(difference, level)
    is_bound = noise.source == "jitter"
    tested = None if is_bound else weighed
    ahead = 0 if a.sign * difference > 0 else 1
    verdict: Word = weighed.word if weighed else "cannot tell"
    needed = None
    if noise.total and difference and not is_bound:
        needed = seeds_needed(
            difference, seed_variance=noise.total**2, level=level
        ).n_seeds
    row = DecisionRow(
        benchmark=a.benchmark,
        split=a.settings["split"] or "",
        metric=a.metric,
        model_a=a.model,
        recipe_a=a.recipe,
        model_b=b.model,
        recipe_b=b.recipe,
        mean_a=means[0],
        mean_b=means[1],
        difference=difference,
        noise_floor=weighed.floor if weighed else None,
        verdict=verdict,
        better=""
        if verdict == "cannot tell" or a.higher_is_better is None
        else "ab"[ahead],
        floor_from=noise.source,
        n_seeds_a=counts[0],
        n_seeds_b=counts[1],
        degrees_of_freedom=noise.degrees_of_freedom,
        seed_sd=None if is_bound else noise.standard_deviation,
        prompt_sd=noise.prompt_sd,
        jitter=noise.jitter,
        **_ends(tested, a.width if a.width == b.width else None),
        p_wrong_sign=None if tested is None else tested.p_wrong_sign,
        noise_if_sd_above=noise_only_above(difference, *counts, level=level),
        pool=pool.name if pool else "",
        pool_size=pool.prior.n if pool else None,
        pool_quantiles=pool.prior.quantiles if pool else (),
        pool_own_sd=pool.own.standard_deviation if pool and pool.own else None,
        seeds_for_80=needed,
        runs_to_settle=0 if verdict == "decides" else _runs_to_settle(needed, counts),
        averaged=noise.averaged,
        flags=_flags(a, b, noise),
        advice="",
        sentence="",
    )
    is_unsaid = noise.source == "pool" and not (a.n_prompts and b.n_prompts)
    row = replace(
        row, advice="; ".join(filter(None, (_advice(row), UNSAID * is_unsaid)))
    )
    verb = "is above" if a.higher_is_better is None else "is ahead of"
    return replace(
        row, sentence=_sentence(row, f"{names[ahead]} {verb} {names[1 - ahead]}")
    )


def _ends(
    weighed: WeighedDifference | None, width: float | None
) -> dict[str, float | None]:
    """The interval, within ± the range of the metric."""
    if weighed is None:
        return {"ci_low": None, "ci_high": None}
    most = math.inf if width is None else width
    return {"ci_low": max(-most, weighed.ci_low), "ci_high": min(most, weighed.ci_high)}


def _flags(a: RecipeScores, b: RecipeScores, noise: Noise) -> tuple[str, ...]:
    ends = {(a.unit, run.positions[-1]) for run in a.trajectories}
    ends |= {(b.unit, run.positions[-1]) for run in b.trajectories}
    is_mixed = len(ends) > 1
    not_matched = bool(noise.source) and not noise.is_matched
    unequal = unequal_prompts((*a.trajectories, *b.trajectories), noise.averaged)
    scales = are_mixed([ScoreSpan.of(*figures.tolist())] for figures in noise.figures)
    return (
        ("pool_not_matched",) * not_matched
        + ("mixed_lengths",) * is_mixed
        + unequal
        + (MIXED_SCALES,) * scales
    )


def _runs_to_settle(needed: int | None, counts: tuple[int, int]) -> int | None:
    """Further runs that both need, one seed of each at least: with as many as needed,
    the spread itself was unlike."""
    if needed is None:
        return None
    return sum(max(needed - n, 1) for n in counts)


def _advice(row: DecisionRow) -> str:
    """Advice on what would settle it, and what that costs."""
    if row.verdict == "decides" or row.difference == 0:
        return ""
    if row.seeds_for_80 is None or row.runs_to_settle is None:
        return (
            "a second training seed of each would show how much is chance (2 more runs)"
        )
    if row.seeds_for_80 > MANY_SEEDS:
        return f"a gap this small takes {row.seeds_for_80:,} seeds of each to find"
    n = (row.runs_to_settle + row.n_seeds_a + row.n_seeds_b + 1) // 2
    return (
        f"{n} seeds of each would settle it in 8 of 10 cases ({row.runs_to_settle} "
        "more runs)"
    )


def _sentence(row: DecisionRow, ahead: str) -> str:
    """The verdict for a reader, in one sentence."""
    verdict = f"{row.benchmark} {row.verdict}"
    if row.difference == 0:
        return f"{verdict}: the two have the same figure."
    order = f"{verdict}: {ahead} by {_short(abs(row.difference))}"
    if MIXED_SCALES in row.flags:
        order += IF_ONE_SCALE
    if UNEQUAL_PROMPTS in row.flags:
        order += IF_LIKE_PROMPTS
    if row.p_wrong_sign is not None:
        order += (
            ", which is the wrong order with a probability of "
            f"{_percent(row.p_wrong_sign)}"
        )
    chance = "random seeds alone explain the gap "
    if row.verdict != "cannot tell":
        chance += "only "
    chance += "if they make runs spread by more than"
    limit = (
        f"{chance} {_short(row.noise_if_sd_above)} (standard deviation), {_known(row)}"
    )
    return "; ".join(filter(None, (order, limit, row.advice))) + "."


def _known(row: DecisionRow) -> str:
    """The spread over seeds, and how it is known."""
    if row.floor_from == "seeds":
        known = (
            f"and the {row.n_seeds_a + row.n_seeds_b} runs of the two do by "
            f"{_short(row.seed_sd)}"
        )
        if min(row.n_seeds_a, row.n_seeds_b) == 1:
            known += (
                ", those of the recipe with one run being taken to spread like the "
                "other's"
            )
        return known
    if row.floor_from == "other_recipes":
        return f"and the runs of other recipes here do by {_short(row.seed_sd)}"
    if row.floor_from == "jitter" and row.jitter:
        multiple, (least, most) = row.noise_if_sd_above / row.jitter, SEEN_OF_JITTER
        return (
            f"{multiple:.2g} times the spread of checkpoints of one run, where "
            f"{least:g} to {most:g} times was seen"
        )
    if not row.pool_quantiles or row.pool_size is None:
        return "which nothing tells"
    low = row.pool_quantiles[0]
    high = row.pool_quantiles[-1]
    benchmarks = counted(row.pool_size, "benchmark")
    reference = f"and on {benchmarks} {row.pool} they did by {_short(low)}"
    if row.pool_size != 1:
        reference += f" to {_short(high)}"
    if row.pool_own_sd:
        reference += f" (on this one by {_short(row.pool_own_sd)})"
    if row.jitter is not None and row.jitter == row.seed_sd:
        reference += f", checkpoints of one run by {_short(row.jitter)}"
    if row.prompt_sd is None:
        return reference
    return f"{reference}; other prompts do by another {_short(row.prompt_sd)}"


def _short(value: float | None) -> str:
    """A figure with two digits that say something."""
    if value is None:
        return "-"
    if abs(value) < 100:
        return f"{value:.2g}"
    return f"{value:,.0f}"


def _percent(share: float) -> str:
    """A probability in percent, with two digits that say something."""
    if share < 0.001:
        return "less than 0.1 %"
    return f"{100 * share:.2g} %"
