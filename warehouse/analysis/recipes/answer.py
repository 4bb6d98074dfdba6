"""Which benchmarks can decide between recipes at a small scale, and with how many
seeds?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from itertools import chain

from warehouse.analysis.recipes.question import Recipes, ScalePlan
from warehouse.analysis.recipes.row import RecipesRow, Verdict
from warehouse.analysis.recipes.scales import HELD, Key, Scale, scales
from warehouse.analysis.recipes.view import RecipesReport
from warehouse.analysis.results import part_fields
from warehouse.analysis.selection.benchmarks import find_benchmark, metrics_of
from warehouse.analysis.selection.clusterings import cluster_map, clusters_under_links
from warehouse.analysis.selection.prompt_links import read_links
from warehouse.analysis.selection.reference_text import parse_where
from warehouse.analysis.suites.tree import ids_named
from warehouse.analysis.training.pools import Spread, pool_for, stored_spreads
from warehouse.analysis.training.read import (
    check_metric,
    read_checkpoints,
    read_recipes,
)
from warehouse.analysis.training.trajectories import (
    RecipeScores,
    describe_others,
    prompt_variance,
    settings_in_groups,
)
from warehouse.errors import MisuseError, StatisticsError
from warehouse.questions.question import answers
from warehouse.stats.training.seed_planning import (
    DECIDES_FROM,
    CheapestPlan,
    DecisionAccuracy,
    cheapest_plan,
    decision_accuracy,
    decision_ceiling,
    least_prompts,
    reliability,
)
from warehouse.stats.training.signal_to_noise import signal_to_noise
from warehouse.store.connection import Store
from warehouse.tables.words import counted

#: ω² of the difference of two recipes on one prompt, and the prompts; None where they
#: are not stored.
PromptPart = tuple[float | None, int | None]
#: How pairs that are tied enter the accuracy.
TIE_RULE = (
    "a pair tied at the large scale is left out, one tied at the small scale only "
    "counts one half"
)
#: A ceiling below this: the benchmark cannot decide.
LEAST_CEILING = 0.6


@answers(Recipes)
def recipes(store: Store, question: Recipes) -> RecipesReport:
    """One row for each benchmark and metric with two recipes at the small scale."""
    small = [*question.where, *question.small]
    large = [*question.where, *question.large]
    metric, averaged = question.metric, question.averaged
    ids = ids_named(store, question.benchmarks)
    at_small = _read(store, ids, metric, small, averaged)
    if not small:
        check_metric(at_small, metric)
    at_large = {}
    if question.large:
        at_large = _read(store, ids, metric, large, averaged)
    several = _several(at_small)
    if metric:
        elsewhere = {}
    else:
        elsewhere = _by_other_metrics(store, ids, small, averaged, several.values())
    if not several:
        advice = "recipes are told apart by the field recipe, else by the model"
        if elsewhere:
            advice = f"there are some {describe_others(elsewhere)}"
        named = [*question.small, *question.where]
        what = ""
        if named:
            what = f" with {', '.join(named)}"
        raise MisuseError(f"no benchmark has two recipes{what}; {advice}")
    if question.delta is None:
        prompts = {}
    else:
        prompts = {key: _of_prompts(store, at) for key, at in several.items()}
    stored = []
    if question.large:
        stored = stored_spreads(store, metric, averaged)
    return _report(at_small, at_large, question, prompts, elsewhere, stored)


def recipes_of(
    recipes: Sequence[RecipeScores], level: float = 0.95
) -> RecipesReport | None:
    """`recipes` of those that were read, at one scale and without a plan; None for
    fewer than two."""
    at_small = scales(recipes, 1)
    if _several(at_small):
        return _report(at_small, {}, ScalePlan(level=level), {}, {})
    return None


def _read(
    store: Store,
    ids: Sequence[int] | None,
    metric: str | None,
    where: Sequence[str],
    averaged: int,
) -> dict[Key, Scale]:
    return scales(
        read_recipes(store, ids, metric=metric, where=parse_where(where)), averaged
    )


def _several(by_key: Mapping[Key, Scale]) -> dict[Key, Scale]:
    """Scales with two recipes."""
    return {key: scale for key, scale in by_key.items() if len(scale.figures) > 1}


def _report(
    at_small: Mapping[Key, Scale],
    at_large: Mapping[Key, Scale],
    plan: ScalePlan,
    prompts: Mapping[Key, PromptPart],
    elsewhere: Mapping[str, tuple[str, ...]],
    stored: Sequence[Spread] = (),
) -> RecipesReport:
    """The rows, ``prompts`` being what the choice of prompts makes at each scale."""
    several = _several(at_small)
    settings = settings_in_groups(
        [at.example for at in several.values()], lambda r: (r.benchmark, r.metric)
    )
    rows = [
        _row(
            at,
            at_large.get(key) if plan.large else None,
            plan,
            prompts.get(key, (None, None)),
            setting,
            stored,
        )
        for (key, at), setting in zip(several.items(), settings, strict=True)
    ]
    rows.sort(
        key=lambda row: (
            -(row.accuracy or 0),
            -(row.ceiling or 0),
            row.benchmark,
            row.metric,
        )
    )
    left_out = len(at_small) - len(several)
    return RecipesReport(
        tuple(rows),
        plan.level,
        plan.delta,
        plan.power,
        bool(plan.large),
        left_out,
        elsewhere,
        is_share=all(at.example.width == 1.0 for at in several.values()),
    )


def _by_other_metrics(
    store: Store,
    ids: Sequence[int] | None,
    where: Sequence[str],
    averaged: int,
    shown: Iterable[Scale],
) -> dict[str, tuple[str, ...]]:
    """Benchmarks that have two recipes only by other metrics, with those metrics."""
    if ids is None:
        there = {
            row["benchmark_id"]
            for row in store.rows("select distinct benchmark_id from run")
        }
    else:
        there = set(ids)
    missing = sorted(there.difference(*(at.example.benchmark_ids for at in shown)))
    metrics: dict[str, list[str]] = {}
    for at in (
        _several(_read(store, missing, "*", where, averaged)).values()
        if missing
        else ()
    ):
        metrics.setdefault(at.example.benchmark, []).append(at.example.metric)
    return {name: tuple(sorted(metrics[name])) for name in sorted(metrics)}


def _row(
    small: Scale,
    large: Scale | None,
    plan: ScalePlan,
    prompts: PromptPart,
    setting: str,
    stored: Sequence[Spread],
) -> RecipesRow:
    example = small.example
    noise, source = small.noise()
    ceiling = _ceiling(small, large)
    found, n_both, why = _accuracy(small, large, plan)
    held: Mapping[str, int | None] = dict.fromkeys(HELD)
    if large and found:
        held = small.held(large, pool_for(example, stored), plan.level)
    table = small.table()
    snr = None if table is None else signal_to_noise(table, level=plan.level)
    parts = small.components()
    omega, n_prompts = prompts
    cheapest, reason = _cheapest(small, plan, omega, n_prompts)
    row = RecipesRow(
        benchmark=example.benchmark,
        split=example.settings["split"] or "",
        metric=example.metric,
        setting=setting,
        n_recipes=len(small.figures),
        n_both=n_both,
        recipe_sd=None if small.spread is None else math.sqrt(small.spread),
        noise_sd=None if noise is None else math.sqrt(noise),
        noise_from=source,
        ceiling=ceiling,
        verdict=_verdict(ceiling, source, found, two_scales=bool(plan.large)),
        n_pairs=found.n_pairs if found else 0 if plan.large else None,
        tie_rule=TIE_RULE if found else "",
        **part_fields(
            found,
            "accuracy",
            "agreements",
            "ties_small",
            "ties_large",
            "recipes_to_settle",
        ),
        **part_fields(found, accuracy_low="ci_low", accuracy_high="ci_high"),
        **held,
        **part_fields(
            snr,
            signal_to_noise="snr",
            signal_to_noise_low="ci_low",
            signal_to_noise_high="ci_high",
        ),
        seed_sd=math.sqrt(parts.seed_variance) if parts else None,
        jitter=math.sqrt(parts.jitter_variance)
        if parts and parts.most_averaged > 1
        else None,
        **part_fields(
            cheapest, "n_seeds", "averaged", "power", "cost", "power_in_budget"
        ),
        least_prompts=_least_prompts(plan, omega),
        n_prompts=n_prompts,
        flags=("mixed_lengths",)
        if any(scale.is_mixed for scale in filter(None, (small, large)))
        else (),
        accuracy_reason=why,
        plan_reason=reason,
        sentence="",
    )
    return replace(row, sentence=_sentence(row))


def _ceiling(small: Scale, large: Scale | None) -> float | None:
    """From the noise at both scales; a large one without seeds or jitter counts as
    without noise."""
    shares = []
    for scale in filter(None, (small, large)):
        noise, source = scale.noise()
        if noise is None or (scale is large and source == "items"):
            if scale is small:
                return None
            continue
        if scale.spread is None:
            reliable = 0.0
        else:
            reliable = reliability(noise, scale.spread)
        shares.append(reliable)
    if len(shares) > 1:
        share = shares[1]
    else:
        share = 1.0
    return decision_ceiling(shares[0], share)


def _verdict(
    ceiling: float | None,
    source: str,
    found: DecisionAccuracy | None,
    *,
    two_scales: bool,
) -> Verdict:
    if found is not None and found.word != "cannot tell":
        return found.word
    if ceiling is None or (source == "items" and ceiling < LEAST_CEILING):
        return "cannot tell"
    if ceiling < LEAST_CEILING:
        return "cannot decide"
    if two_scales:
        return "cannot tell"
    return "may decide"


def _accuracy(
    small: Scale, large: Scale | None, plan: ScalePlan
) -> tuple[DecisionAccuracy | None, int | None, str]:
    """With the recipes at both scales, and why there is none; nothing without a large
    scale."""
    if not plan.large:
        return None, None, ""
    if large is None:
        return None, 0, "nothing at the large scale"
    before, after = small.figures, large.figures
    both = [name for name in before if name in after]
    if len(both) < 2:
        return None, len(both), f"{counted(len(both), 'recipe')} at both scales"
    accuracy = decision_accuracy(
        [before[name] for name in both],
        [after[name] for name in both],
        level=plan.level,
    )
    return accuracy, len(both), accuracy.reason


def _sentence(row: RecipesRow) -> str:
    """The verdict for a reader, in one sentence."""
    verdict = f"{row.benchmark} {row.verdict}"
    if row.verdict == "better than chance":
        verdict = f"{row.benchmark} ranks recipes {row.verdict}"
    if row.n_both is None:
        return f"{verdict}: {_by_noise(row)}."
    if not row.n_pairs or row.agreements is None:
        return f"{verdict}: {row.accuracy_reason}."
    ties = ""
    if row.ties_small:
        ties = f", {row.ties_small} tied at the small one"
    pairs = (
        f"the small scale has {row.agreements} of {row.n_pairs} pairs of recipes in "
        f"the order of the large one{ties}"
    )
    if row.accuracy is None or row.accuracy_low is None or row.accuracy_high is None:
        return f"{verdict}: {pairs}, but of {row.accuracy_reason}."
    low = 100 * row.accuracy_low
    high = 100 * row.accuracy_high
    ends = f"{low:.0f} to {high:.0f} %"
    share = f"{100 * row.accuracy:.0f} %; {ends} for other recipes like these"
    return (
        "; ".join(
            filter(None, (f"{verdict}: {pairs} ({share})", _settling(row), _held(row)))
        )
        + "."
    )


def _by_noise(row: RecipesRow) -> str:
    """The verdict of the noise at one scale, and what would say more."""
    if row.ceiling is None:
        return (
            "how far runs of one recipe spread is not known; a second training seed of "
            "one would show (1 more run)"
        )
    most = (
        f"by what runs of one recipe spread, at most {100 * row.ceiling:.0f} % of "
        "pairs come out in the right order"
    )
    if row.verdict == "may decide":
        return f"{most}; figures at a large scale (--large) would show how many do"
    return most


def _settling(row: RecipesRow) -> str:
    """How many recipes would show more."""
    limit = f"{100 * DECIDES_FROM:.0f} %"
    if row.recipes_to_settle is None:
        if row.verdict == "better than chance":
            return f"to decide by it takes {limit}, which is not in sight"
        return ""
    better = row.verdict == "better than chance"
    what = "whether that is better than chance"
    if better:
        what = f"whether it is {limit}, enough to decide by"
    return f"about {row.recipes_to_settle} recipes at both scales would show {what}"


def _held(row: RecipesRow) -> str:
    """How often `decide` at the small scale was right at the large one."""
    counts = (
        ("decides", row.n_decides, row.n_decides_right),
        ("leans", row.n_leans, row.n_leans_right),
    )
    words = []
    for word, n, right in counts:
        if n:
            words.append(f"{right} of {n} pairs where it {word}")
    if words:
        return f"`warehouse training decide` at the small scale is right in {' and in '.join(words)}"
    return ""


def _cheapest(
    small: Scale, plan: ScalePlan, omega: float | None, n_prompts: int | None
) -> tuple[CheapestPlan | None, str]:
    if plan.delta is None:
        return None, ""
    parts = small.components()
    if parts is None:
        return (
            None,
            "no recipe has a second training seed: how many are needed cannot be told",
        )
    if plan.prompts_sampled and (omega is None or not n_prompts):
        return (
            None,
            "the scores of the prompts are not stored: what their choice makes cannot "
            "be told",
        )
    try:
        if plan.prompts_sampled and omega and n_prompts:
            of_prompts = omega / n_prompts
        else:
            of_prompts = 0.0
        cheapest = cheapest_plan(
            plan.delta,
            seed_variance=parts.seed_variance,
            jitter_variance=parts.jitter_variance,
            most_averaged=parts.most_averaged,
            prompt_variance=of_prompts,
            run_cost=plan.run_cost,
            checkpoint_cost=plan.checkpoint_cost,
            budget=plan.budget,
            power=plan.power,
            level=plan.level,
        )
    except StatisticsError as error:
        return None, str(error)
    return cheapest, cheapest.reason


def _least_prompts(plan: ScalePlan, omega: float | None) -> int | None:
    if plan.delta is None or omega is None:
        return None
    return least_prompts(plan.delta, omega, power=plan.power, level=plan.level)


def _of_prompts(store: Store, scale: Scale) -> PromptPart:
    """ω² of two recipes at their last common checkpoints, clusters allowed for, and the
    prompts; None for fewer."""
    trained = [recipes[0] for recipes in scale.members.values() if recipes[0].common]
    if len(trained) < 2:
        return None, None
    benchmark_ids = sorted(
        set(chain.from_iterable(recipe.benchmark_ids for recipe in trained))
    )
    metrics = {metric.id: metric for metric in metrics_of(store, benchmark_ids)}
    benchmark = find_benchmark(store, trained[0].benchmark)
    links = read_links(store)
    clusters = clusters_under_links(
        cluster_map(store, benchmark.ids, benchmark.clusterings, None), links
    )
    tables = read_checkpoints(
        store, [recipe.last() for recipe in trained], metrics, links
    )
    return prompt_variance([next(iter(table.values())) for table in tables], clusters)
