"""Whole outputs of commands as files: `pytest tests/cli/test_golden.py --write-golden`
writes them anew.

What is held here is the words and the layout; that the figures are right is proven
where they are made.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support import two_models
from tests.support.cli import Caller, filled_url
from tests.support.golden import Golden, golden_files, shown

TESTS = Path(__file__).resolve().parents[1]


@pytest.fixture
def world_url(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """The store of the world is that of the environment."""
    monkeypatch.setenv("WAREHOUSE_URL", url)


@pytest.fixture(scope="module")
def two_models_url(request: pytest.FixtureRequest) -> object:
    with filled_url(request, "duckdb", two_models.ROWS) as filled:
        yield filled


def test_every_golden_file_has_a_test() -> None:
    named = {
        (path.parent, name)
        for path in TESTS.glob("**/test_*.py")
        for name in re.findall(
            r"^def test_(\w+)\([^)]*golden",
            path.read_text(encoding="utf-8"),
            re.MULTILINE,
        )
    }
    assert [
        path
        for path in golden_files(TESTS)
        if (path.parent.parent, path.stem) not in named
    ] == []


# --- variance ---------------------------------------------------------------------------------------


def test_variance_of_one_run(golden: Golden, run: Caller, world_url: None) -> None:
    golden(shown(run, "noise variance run:3"))


def test_variance_of_a_benchmark_and_of_a_model(
    golden: Golden, run: Caller, world_url: None
) -> None:
    golden(
        shown(
            run,
            "noise variance draws",
            "noise variance org/a",
            "noise variance org/a --benchmark quiz",
        )
    )


def test_pass_rates(golden: Golden, run: Caller, world_url: None) -> None:
    call = "noise variance run:3 --pass-at 2,3"
    golden(shown(run, call, f"{call} --estimand prompts-fixed --level 0.9"))


def test_variance_of_seeds(golden: Golden, run: Caller, world_url: None) -> None:
    golden(shown(run, "noise variance lab/seeds --benchmark probe --seeds"))


# --- leaderboard and show ---------------------------------------------------------------------------


def test_leaderboards(golden: Golden, run: Caller, world_url: None) -> None:
    golden(
        shown(run, "leaderboard quiz", "leaderboard quiz --subset", "leaderboard essay")
    )


def test_runs_and_prompts_that_are_shown(
    golden: Golden, run: Caller, world_url: None
) -> None:
    golden(
        shown(
            run,
            "show run:1",
            "show run:1 w1",
            "compare org/a org/b --benchmark golden",
            "compare run:14 run:16",
        )
    )


# --- compare ----------------------------------------------------------------------------------------


def test_comparisons(
    golden: Golden, run: Caller, two_models_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WAREHOUSE_URL", two_models_url)
    pair = f"compare {' '.join(two_models.MODELS)}"
    golden(
        shown(
            run,
            f"{pair} --benchmark one",
            f"{pair} --benchmark many --seed 9",
            f"{pair} --benchmark one --method wilcoxon",
            f"{pair} --benchmark many --method mcnemar",
            f"{pair} --where temperature= --equivalence 0.3",
            f"{pair} --benchmark one --flips 4",
            "compare lab/r lab/s --benchmark doc/1",
            pair,
        )
    )


# --- further questions ------------------------------------------------------------------------------


def test_pairs(golden: Golden, run: Caller, world_url: None) -> None:
    golden(
        shown(
            run,
            "pairs quiz --resamples 99",
            "pairs golden --subset --resamples 99",
            "pairs quiz --resamples 99 --matrix",
        )
    )


def test_gates_and_power(golden: Golden, run: Caller, world_url: None) -> None:
    golden(
        shown(
            run,
            "gate run:14 run:16 --margin 0.5",
            "gate run:14 run:16 --margin 0.01",
            "power --from run:14 run:16 --delta 0.1",
            "power --omega2 0.11 --delta 0.03",
        )
    )


def test_items_and_data_maps(golden: Golden, run: Caller, world_url: None) -> None:
    golden(
        shown(
            run, "items difficulty items", "items datamap run:14", "irt ability items"
        )
    )


def test_suites_and_training(golden: Golden, run: Caller, world_url: None) -> None:
    golden(
        shown(
            run,
            "leaderboard --group suite --force",
            "training seeds",
            "list benchmarks",
            "list models",
        )
    )


# --- search -----------------------------------------------------------------------------------------


def test_text_grep(golden: Golden, run: Caller, world_url: None) -> None:
    golden(shown(run, "text grep 'it is' -i", "text grep zebra"))
