"""DIoR of a suite of 14 scenarios × 28 models × 12 000 prompts, all granularities, and
the check of Flash on 40 models, against straightforward numpy.

Straightforward code is measured on 20 instances of the prompts and on 2 orders, and
scaled to the sizes, instances and orders of ours; the lines say so.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import time_script

DATA = """
import time
import numpy as np
def made(models, prompts, seed=0):
    rng = np.random.default_rng(seed)
    sizes = rng.multinomial(prompts, rng.dirichlet(np.ones(14) * 8))
    skill = np.linspace(-1, 1, models)
    return [(rng.random((n, models)) < 1 / (1 + np.exp(-(skill + rng.normal(0, .2, models)
            + rng.normal(0, 1.5, (n, 1)))))).astype(float) for n in sizes]
"""
SUITE = """
from warehouse.stats.suites.score_table import subscenario, suite_scores
def suite_of(tables, parts=1):
    subs = []
    for c, table in enumerate(tables):
        cube = np.stack([table, np.roll(table, 1, axis=0), np.roll(table, 2, axis=0)])
        for p, rows in enumerate(np.array_split(np.arange(len(table)), parts)):
            subs.append(subscenario(f"s{c:02}", f"s{c:02}p{p}", cube[:, rows].mean(axis=0), seeds=cube[:, rows]))
    return suite_scores([f"m{i:02}" for i in range(tables[0].shape[1])], subs)
"""
DIOR = """
from warehouse.stats.suites.dior import reliability, sizes_of
suite = suite_of(made(28, 12_000), 2)
started = time.perf_counter()
done = 0
for granularity in ("scenarios", "subscenarios", "prompts", "seeds"):
    for size in (*sizes_of(suite, granularity), None):
        assert reliability(suite, granularity, size, n_resamples=1000).ranking.value is not None
        done += 1
print(done, "sizes")
print(time.perf_counter() - started)
"""
PLAIN = """
from scipy.stats import kendalltau, weightedtau
tables = made(28, 12_000)
rng = np.random.default_rng(1)
def win_rates(means):
    rates = [[np.mean(row[m] > np.delete(row, m)) for m in range(len(row))] for row in np.round(means, 12)]
    return np.mean(rates, axis=0)
full = win_rates([table.mean(axis=0) for table in tables])
best = np.argsort(-full)
started = time.perf_counter()
for _ in range(20):
    means = np.array([table[rng.integers(0, len(table), len(table))].mean(axis=0) for table in tables])
    rates = win_rates(means)
    kendalltau(full, rates).statistic, weightedtau(full, rates, rank=True).statistic, np.abs(full - rates).mean()
    for j in range(5):
        win_rates(means[:, best[j:]])[:2]
print(time.perf_counter() - started)
"""
FLASH = """
from warehouse.stats.suites.flash import flash_check
suite = suite_of(made(40, 12_000))
started = time.perf_counter()
flash_check(suite)
print(time.perf_counter() - started)
"""
PLAIN_FLASH = """
tables = made(40, 12_000)
rng = np.random.default_rng(1)
def ranks(means):
    means = np.round(means, 12)
    rates = [[np.mean((row[m] > np.delete(row, m)) + .5 * (row[m] == np.delete(row, m))) for m in range(len(row))]
             for row in means]
    mean = np.round(np.mean(rates, axis=0), 12)
    return np.array([1 + np.sum(mean > one) for one in mean])
started = time.perf_counter()
whole = np.array([table.mean(axis=0) for table in tables])
full = ranks(whole)
orders = [[rng.permutation(len(table)) for table in tables] for _ in range(2)]
for gone in range(40):
    others = np.delete(np.arange(40), gone)
    without = ranks(whole[:, others])
    for size, tier in ((20, 20), (50, 10), (200, 5), (1000, 2)):
        cut = [np.array([t[o[:size]].mean(axis=0) for t, o in zip(tables, order)]) for order in orders]
        res = np.quantile(np.abs([ranks(means[:, others]) - without for means in cut]), .95, method="higher")
        [ranks(means)[gone] - res >= tier for means in cut]
print(time.perf_counter() - started)
"""
#: Orders of ours over those of the straightforward check of Flash.
_ORDERS = 200 / 2
#: Sizes that ours looks at, and prompts of them; and instances of the straightforward
#: code.
_PROMPT_SIZES, _INSTANCES = 8, 1000 / 20


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print the times, and the ratio for the prompts."""
    del folder
    ours = time_script(DATA + SUITE + DIOR, runs=options.runs)
    print(f"DIoR, four granularities at all sizes, 1 000 instances each: {ours}")
    plain = time_script(DATA + PLAIN, runs=1)
    scaled = plain.median * _INSTANCES * _PROMPT_SIZES
    print(
        f"numpy and scipy, loops over instances, the prompts alone: {scaled:.0f} s (20 "
        "instances, scaled)"
    )
    print(f"at least {scaled / ours.median:.0f} x")
    flash = time_script(DATA + SUITE + FLASH, runs=options.runs)
    print(f"check of Flash, 40 models, 200 orders: {flash}")
    scaled = time_script(DATA + PLAIN_FLASH, runs=1).median * _ORDERS
    print(
        f"numpy, loops over models and orders: {scaled:.0f} s (2 orders, scaled); "
        f"{scaled / flash.median:.0f} x"
    )
