"""What is read first of weightings: who is best however prompts weigh."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from warehouse.analysis.matrix.weights_view import (
    MatrixWeights,
    RandomWeightRow,
    WeightRow,
)
from warehouse.tables.text import in_text


def row(scheme: str, model: str, rank: int, worth: float = 40.0) -> WeightRow:
    return WeightRow(scheme, model, 1 - rank / 10, rank, 0, worth)


def drawn(model: str, best: float) -> RandomWeightRow:
    return RandomWeightRow(model, 0.5, 0.1, 0.2, 0.5, 0.8, 0.9, 0.1, best)


def told(rows: list[WeightRow], random: list[RandomWeightRow]) -> str:
    given: dict[str, Any] = {
        **{"benchmark": "quiz", "metric": "acc", "n_prompts": 40, "seed": 0},
        **{"models": tuple(one.model for one in random), "notes": ()},
        **{"rows": tuple(rows), "random": tuple(random), "n_draws": 50},
        **{"outranks": (), "clustering": "performance"},
    }
    known = {name: given.get(name) for name in MatrixWeights.__dataclass_fields__}
    return in_text(MatrixWeights(**known).view(), width=2000)


UNIFORM = [row("uniform", "a", 1), row("uniform", "b", 2)]
DRAWN = [drawn("a", 0.8), drawn("b", 0.2)]


def test_the_first_stays_first() -> None:
    same = [replace(one, scheme="distance") for one in UNIFORM]
    first, second, *_ = told(UNIFORM + same, DRAWN).splitlines()
    assert (
        first == "a is best in 80 % of 50 random weightings of the prompts, b in 20 %."
    )
    assert second.startswith("a, which has the highest plain mean, stays first under")


def test_another_is_first_by_another_scheme() -> None:
    turned = [row("distance", "a", 2), row("distance", "b", 1)]
    told_of = told(UNIFORM + turned, DRAWN)
    assert "under 1 of 1 other scheme another is first: b by distance." in told_of
    assert "1-2" in told_of


def test_schemes_of_a_few_prompts_say_nothing_of_places() -> None:
    few = [row("medoid", "a", 2, worth=2.0), row("medoid", "b", 1, worth=2.0)]
    told_of = told(UNIFORM + few, DRAWN)
    assert "another is first" not in told_of and "1-2" not in told_of


def test_one_model_that_is_always_best() -> None:
    assert told(UNIFORM[:1], [drawn("a", 1.0)]).startswith(
        "a is best in 100 % of 50 random weightings of the prompts.\n"
    )
