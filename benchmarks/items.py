"""Item response models, items with splits and pruning, wrong keys, and training seeds,
at the sizes that users have; a 2PL also by ``mirt``, discrimination also by loops of
numpy.
"""

from __future__ import annotations

import argparse
import random
from pathlib import Path

from measure import COMMAND, run_process, time_command, time_script

ANSWERS = """
import sys, time
import numpy as np
def answers(models, items, seed=3):
    dice = np.random.default_rng(seed)
    theta, a, d = dice.normal(size=models), np.exp(dice.normal(0, .3, items)), dice.normal(size=items)
    return (dice.random((models, items)) < 1 / (1 + np.exp(-(theta[:, None] * a + d)))).astype(float)
"""
FIT = """
from warehouse.stats.items.irt import fit_irt
from warehouse.stats.items.responses import as_responses
y = answers(*map(int, sys.argv[1:]))
started = time.perf_counter()
fit_irt(as_responses(y), "2pl")
print(time.perf_counter() - started)
"""
MIRT = """
from mirt import fit_mirt
y = answers(*map(int, sys.argv[1:])).astype(int)
started = time.perf_counter()
fit_mirt(y, model="2PL", compute_standard_errors=False)
print(time.perf_counter() - started)
"""
ITEMS = """
from warehouse.stats.items.discrimination import discrimination
from warehouse.stats.items.pruning import pruning_curve
from warehouse.stats.items.pruning import difficulty_split, random_split, split_agreement
y = answers(70, 12_000)
started = time.perf_counter()
discrimination(y)
split_agreement(y, difficulty_split(y))
for seed in range(20):
    split_agreement(y, random_split(70, seed=seed))
pruning_curve(y, difficulty_split(y), seed=0)
print(time.perf_counter() - started)
"""
PLAIN = """
y = answers(70, 12_000)
started = time.perf_counter()
total = y.sum(axis=1)
[np.corrcoef(y[:, j], total - y[:, j])[0, 1] for j in range(y.shape[1]) if y[:, j].std() > 0]
print(time.perf_counter() - started)
"""
AUDIT = """
from warehouse.stats.labels.votes import votes_for_options
from warehouse.stats.labels.wrong_keys import wrong_keys
dice = np.random.default_rng(1)
keys = dice.integers(0, 4, 12_000)
right = dice.random((12_000, 20)) < np.linspace(.4, .9, 20)
answers = np.where(right, keys[:, None], dice.integers(0, 4, (12_000, 20)))
started = time.perf_counter()
wrong_keys(votes_for_options(answers, keys, np.full(12_000, 4)))
print(time.perf_counter() - started)
"""
TRAJECTORIES, CHECKPOINTS, TASKS = 45, 27, 87


def write_training(path: Path) -> None:
    """Scores of 9 recipes with 5 seeds each at all checkpoints on all tasks, 20 prompts
    each."""
    dice = random.Random(4)
    with path.open("w") as file:
        file.write("model,recipe,benchmark,seed,step,prompt_id,score\n")
        for trajectory in range(TRAJECTORIES):
            recipe, seed = divmod(trajectory, 5)
            for step in range(1, CHECKPOINTS + 1):
                for task in range(TASKS):
                    run = (
                        f"mix-{recipe},mix-{recipe},task-{task:02},{seed},{step * 1000}"
                    )
                    chance = 0.3 + 0.4 * step / CHECKPOINTS
                    file.writelines(
                        f"{run},p{n},{dice.random() < chance:d}\n" for n in range(20)
                    )


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the times."""
    small, theirs = (
        time_script(ANSWERS + one, ["200", "500"], runs=options.runs)
        for one in (FIT, MIRT)
    )
    print(
        f"2PL, 200 models x 500 items: {small}; mirt: {theirs}: "
        f"{theirs.median / small.median:.1f} x"
    )
    print(
        "2PL, 2 000 models x 12 000 items: "
        f"{time_script(ANSWERS + FIT, ['2000', '12000'], runs=1)}"
    )
    items, plain = (
        time_script(ANSWERS + one, runs=options.runs) for one in (ITEMS, PLAIN)
    )
    print(
        f"items of 70 models x 12 000, 21 splits, pruning: {items}; loop over "
        f"correlations alone: {plain}"
    )
    print(
        "audit of 12 000 prompts x 20 models: "
        f"{time_script(ANSWERS + AUDIT, runs=options.runs)}"
    )
    table, url = folder / "training.csv", f"duckdb:///{folder}/training.duckdb"
    command = [COMMAND, "--db", url]
    if not table.exists():
        write_training(table)
        run_process([*command, "ingest", str(table), "--higher-is-better"])
    timing = time_command([*command, "seeds", "--json"], options.runs)
    print(
        f"seeds, {TRAJECTORIES} trajectories x {CHECKPOINTS} checkpoints x {TASKS} "
        f"tasks: {timing}"
    )
