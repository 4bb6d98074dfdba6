"""Family ``training``: how much figures change with the training seed and from
checkpoint to checkpoint."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from typing import TYPE_CHECKING

from warehouse.analysis.families.benchmark_data import BenchmarkData
from warehouse.analysis.families.family import (
    RECIPE,
    FamilySettings,
    RefreshQuestion,
    Value,
)
from warehouse.errors import MisuseError
from warehouse.records.canonical_json import short_digest

if TYPE_CHECKING:
    from warehouse.analysis.seeds.row import SeedsRow
    from warehouse.analysis.training.trajectories import RecipeScores

_KEY_LENGTH = 12


class Training:
    """One question for each benchmark with seeds or checkpoints: they are read
    together."""

    name, version = "training", "5"

    def questions(
        self, data: BenchmarkData, settings: FamilySettings
    ) -> Sequence[RefreshQuestion]:
        """One, where a model has two seeds or two places in training."""
        checkpoints: dict[str, set[tuple[object, object]]] = {}
        for condition in data.conditions.values():
            checkpoint = (
                condition.setting("training_seed"),
                condition.setting("position"),
            )
            checkpoints.setdefault(condition.model, set()).add(checkpoint)
        if all(len(own) < 2 for own in checkpoints.values()):
            return []
        keys = tuple(
            key
            for key, condition in data.conditions.items()
            if len(checkpoints[condition.model]) > 1
        )
        return [RefreshQuestion("all recipes", keys, {"level": settings.level})]

    def compute(
        self, data: BenchmarkData, question: RefreshQuestion, settings: FamilySettings
    ) -> Sequence[Value]:
        """Values of each recipe by the headline metric (MisuseError: no recipe has two
        seeds or two checkpoints after all)."""
        from warehouse.analysis.seeds.answer import seeds_row
        from warehouse.analysis.training.read import read_recipes

        with data.opened() as store:
            recipes = read_recipes(store, data.benchmark.ids)
        runs = set(
            chain.from_iterable(
                data.conditions[key].run_ids for key in question.conditions
            )
        )
        cut = (recipe.only(runs) for recipe in recipes)
        replicated = []
        for recipe in cut:
            if recipe is None:
                continue
            if len(recipe.trajectories) > 1 or len(recipe.common) > 1:
                replicated.append(recipe)
        if not replicated:
            raise MisuseError(
                "no recipe has two training seeds or two checkpoints by the headline "
                "metric"
            )
        return list(
            chain.from_iterable(
                _values(recipe, seeds_row(recipe, level=settings.level))
                for recipe in replicated
            )
        )


def _subject(recipe: RecipeScores) -> str:
    """``model#`` and a digest of what its runs share, the same in every store."""
    shared = [recipe.unit, *(str(value) for value in recipe.settings.values())]
    return f"{recipe.model}#{short_digest(shared)[:_KEY_LENGTH]}"


def _values(recipe: RecipeScores, row: SeedsRow) -> Iterator[Value]:
    details = {
        "n_seeds": row.n_seeds,
        "n_checkpoints": row.n_checkpoints,
        "flags": list(row.flags),
    }
    figures = {
        "noise_floor": (row.noise_floor, None, None, {}),
        "seed_sd": (row.seed_sd, row.seed_sd_low, row.seed_sd_high, {}),
        "jitter": (row.jitter, None, None, {}),
        "monotonicity": (row.tau, None, None, {"p_value": row.p_monotone}),
    }
    for statistic, (estimate, low, high, more) in figures.items():
        none = ""
        if estimate is None:
            none = row.reason or "too few checkpoints"
        yield Value(
            RECIPE,
            _subject(recipe),
            row.metric,
            statistic,
            "seeds",
            estimate=estimate,
            low=low,
            high=high,
            reason=none,
            details=details | more,
        )


FAMILY = Training()
