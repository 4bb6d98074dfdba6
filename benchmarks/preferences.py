"""Strengths of 300 models by a million votes: fit, errors by voter and prompt, band of
all pairs, position."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import time_script

SCRIPT = """
import sys, time
import numpy as np
from warehouse.stats.preferences.ballots import ballots
from warehouse.stats.preferences.contrasts import simultaneous
from warehouse.stats.preferences.errors import preference_errors
from warehouse.stats.preferences.fit import fit_preferences
from warehouse.stats.preferences.contrasts import position_bias
n, m, prompts = 1_000_000, 300, 1000
voters, rng = int(sys.argv[1]), np.random.default_rng(0)
a = rng.integers(0, m, n)
b = (a + rng.integers(1, m, n)) % m
beta = rng.normal(0, 0.6, m)
u, p = rng.random(n), 1 / (1 + np.exp(beta[b] - beta[a]))
outcome = np.where(u < 0.8 * p, 0, np.where(u < 0.8, 1, 2))
who = rng.integers(0, voters, n) if voters else None
started = time.perf_counter()
votes = ballots(a, b, outcome, n_models=m, voters=who, prompts=rng.integers(0, prompts, n))
fit = fit_preferences(votes)
simultaneous(fit.strengths, preference_errors(fit))
position_bias(votes)
print(time.perf_counter() - started)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the time with thousands of voters, and with unknown ones."""
    del folder
    for voters in (5000, 0):
        print(
            f"{voters or 'unknown'} voters: "
            f"{time_script(SCRIPT, [str(voters)], options.runs)}"
        )
