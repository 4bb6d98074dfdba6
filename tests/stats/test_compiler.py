"""Without a compiler: the same figures, by numpy."""

from __future__ import annotations

import json
import os
import subprocess
import sys

import numpy as np
import pytest

from warehouse.stats.matrix.similarity import generator
from warehouse.stats.matrix.tables import permuted_rows

FIGURES = """
import json, sys
import numpy as np
from warehouse.stats.matrix.similarity import summarise_similarity
from warehouse.stats.multiple.all_pairs import all_pairs
import warehouse.stats.multiple.all_pairs as max_t
max_t.MANY = 0
rng = np.random.default_rng(7)
scores = (rng.random((300, 12)) < rng.random(12)).astype(float)
clusters = rng.integers(0, 60, 300)
pairs = [all_pairs(scores, given, n_resamples=999) for given in (None, clusters)]
gaps = np.where(rng.random(scores.shape) < 0.1, np.nan, scores)
pairs.append(all_pairs(gaps, n_resamples=999))
fields = ("simultaneous_low", "simultaneous_high", "p_max_t")
figures = [getattr(found, name).tolist() for found in pairs for name in fields]
found = summarise_similarity(scores.astype(np.uint8))
print(json.dumps([figures, found.mean, found.percentile_75, found.percentile_95, "numba" in sys.modules]))
"""


def figures(compile: str) -> list[object]:
    done = subprocess.run(
        [sys.executable, "-c", FIGURES],
        env=os.environ | {"WAREHOUSE_COMPILE": compile},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    found: list[object] = json.loads(done.stdout)
    return found


@pytest.mark.rare
def test_figures_are_the_same_without_a_compiler() -> None:
    pytest.importorskip("numba")
    compiled, plain = figures("1"), figures("0")
    assert (compiled[-1], plain[-1]) == (True, False)
    assert compiled[:-1] == plain[:-1]  # to the last digit


def test_compiled_shuffles_are_numpys() -> None:
    """Whichever of both shuffles: the same answers, and one seed."""
    pytest.importorskip("numba")
    for shuffle, n in enumerate((1, 2, 3, 64, 65, 1000)):
        rows = np.random.default_rng(n).integers(0, 256, (4, n), dtype=np.uint8)
        expected = generator(7, shuffle).permuted(rows, axis=1)
        np.testing.assert_array_equal(permuted_rows(rows, 7, shuffle), expected)


def test_a_shuffle_says_where_numbers_do_not_suffice() -> None:
    pytest.importorskip("numba")
    from warehouse.stats.core.kernels import shuffle_rows

    drawn = np.arange(40, dtype=np.uint32)
    assert shuffle_rows(drawn, np.zeros((1, 9), np.uint8))
    assert not shuffle_rows(drawn[:8], np.zeros((1, 9), np.uint8))


def test_many_small_comparisons_are_worth_compiled_code_together() -> None:
    pytest.importorskip("numba")
    found = []
    for n_benchmarks in (6, 7):
        code = (
            "import sys; from warehouse.stats.multiple.sign_sums import load_compiler;"
            f"load_compiler([100] * {n_benchmarks}, 1999); print('numba' in "
            "sys.modules)"
        )
        environment = os.environ | {"WAREHOUSE_COMPILE": "1"}
        done = subprocess.run(
            [sys.executable, "-c", code],
            env=environment,
            capture_output=True,
            text=True,
            check=True,
        )
        found.append(done.stdout.strip())
    assert found == ["False", "True"]
