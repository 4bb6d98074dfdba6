"""Scores of models on suites that the tests of their statistics share."""

from __future__ import annotations

import numpy as np

from warehouse.stats.suites.score_table import SuiteScores, subscenario, suite_scores


def suite_of(scores: np.ndarray, names: str = "ABCDEFGH") -> SuiteScores:
    """Scenario scores as a suite with one prompt in each."""
    parts = [subscenario(f"s{c}", f"s{c}", row[None]) for c, row in enumerate(scores)]
    return suite_scores(list(names[: scores.shape[1]]), parts)


def simulated(
    seed: int, *, models: int = 6, scenarios: int = 6, prompts: int = 40, parts: int = 1
) -> SuiteScores:
    """Answers of models whose skill rises, a little otherwise on each scenario."""
    rng = np.random.default_rng(seed)
    skill = np.linspace(-1, 1, models)
    found = []
    for c in range(scenarios):
        for p in range(parts):
            own = skill + rng.normal(0, 0.3, models) + rng.normal(0, 1, (prompts, 1))
            scores = (rng.random((prompts, models)) < 1 / (1 + np.exp(-own))).astype(
                float
            )
            found.append(subscenario(f"s{c}", f"s{c}p{p}", scores))
    return suite_scores([f"m{i}" for i in range(models)], found)
