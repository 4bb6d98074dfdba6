"""Reliability, subsets and sequential gates at the command line, with what makes no
sense: one line, a code."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.builders import StoreRows
from tests.support.cli import Caller
from tests.support.stores import store_at
from warehouse.store.open import open_store

N = 60


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> str:
    """A suite of two benchmarks of which one model lacks one, one of one model, and a
    baseline of which only the figure is known."""
    rows, dice = StoreRows(), random.Random(4)
    for name in ("exam/a", "exam/b"):
        rows.benchmark(name, "exam")
        rows.describe(name, rows.metric())
        for m in range(5):
            if (m, name) != (4, "exam/b"):
                scores = {
                    f"{name}{i}": float(dice.random() < 0.3 + 0.1 * m) for i in range(N)
                }
                rows.scores(rows.run(f"lab/m{m}", name), scores)
    rows.published(rows.run("lab/figure", "exam/a"), 0.5, rows.metric())
    rows.describe("solo", rows.metric())
    rows.scores(rows.run("lab/m0", "solo"), {f"s{i}": 1.0 for i in range(10)})
    url = store_at(tmp_path_factory.mktemp("cheaper") / "s.duckdb")
    with open_store(url, write=True) as store:
        rows.write(store)
    return url


GATE = ("gate", "lab/m3", "lab/m2", "-b", "exam/a", "--sequential")


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (
            (*GATE, "--margin", "0.02", "--n-max", "61"),
            2,
            "`n_max` is 61, but the benchmark has 60 prompts",
        ),
        ((*GATE, "--margin", "0.02", "--n-max", "0"), 2, "--n-max"),
        ((*GATE, "--margin", "1"), 2, "below the width 1"),
        ((*GATE, "--margin", "-0.1"), 2, "below 0, infinite"),
        ((*GATE, "--margin", "inf"), 2, "below 0, infinite"),
        ((*GATE, "--margin", "nan"), 2, "below 0, infinite"),
        ((*GATE, "--margin", "0.02", "--alpha", "0"), 2, "--alpha"),
        ((*GATE, "--margin", "0.02", "--alpha", "0.5"), 2, "--alpha"),
        (
            (*GATE, "--margin", "0.02", "--alpha", "nan"),
            2,
            "alpha must be in (0, 0.5), found nan",
        ),
        ((*GATE, "--margin", "0.02", "--seed", "-1"), 2, "--seed"),
        ((*GATE, "--margin", "0.02", "--obf", "--looks", "0"), 2, "--looks"),
        (
            (
                "gate",
                "lab/m3",
                "lab/figure",
                "-b",
                "exam/a",
                "--margin",
                "0.02",
                "--sequential",
            ),
            2,
            "no scored prompt",
        ),
        (
            (
                "gate",
                "lab/m3",
                "lab/m3",
                "-b",
                "exam/a",
                "--margin",
                "0.02",
                "--sequential",
            ),
            2,
            "both references",
        ),
        (("subset", "plan", "exam/a"), 2, "one of --size, --width and --budget"),
        (("subset", "plan", "exam/a", "--size", "61"), 2, "from 1 to all 60"),
        (("subset", "plan", "exam/a", "--size", "0"), 2, "from 1 to all 60"),
        (("subset", "plan", "exam/a", "--width", "inf"), 2, "number above 0"),
        (("subset", "plan", "exam/a", "--width", "nan"), 2, "number above 0"),
        (
            ("subset", "plan", "exam/a", "--budget", "inf"),
            2,
            "number of generations above 0",
        ),
        (
            ("subset", "plan", "exam/a", "--size", "10", "--against", "lab/figure"),
            2,
            "no scores of prompts",
        ),
        (
            ("subset", "plan", "exam/a", "--size", "10", "--against", "nobody"),
            2,
            "no model with runs is called",
        ),
        (("subset", "plan", "exam", "--size", "7"), 2, "take from 16"),
        (
            ("subset", "export", "nothing", "--to", "csv"),
            2,
            "neither a file nor the key of a plan",
        ),
        (
            ("subset", "extend", "nothing", "--size", "5"),
            2,
            "neither a file nor the key of a plan",
        ),
        (
            ("noise", "reliability", "solo"),
            2,
            "1 model(s) with scores of prompts; 2 are needed",
        ),
        (("noise", "reliability", "exam", "--resamples", "0"), 2, "--resamples"),
        (("subset", "flash", "exam", "--sizes", "0"), 2, "--sizes"),
        (("subset", "anchors", "solo"), 2, "needs at least 2"),
    ],
)
def test_what_makes_no_sense(
    run: Caller, url: str, words: tuple[str, ...], code: int, message: str
) -> None:
    run(*words, db=url).fails(code, message)


def test_one_scenario_and_models_that_lack_some(run: Caller, url: str) -> None:
    call = ("noise", "reliability", "exam/a", "--resamples", "20", "--explain")
    one = run(*call, db=url)
    assert one.code == 0 and "scenarios: no figure: 1 scenario: their choice" in one.out
    lacking = run("noise", "reliability", "exam", "--resamples", "20", db=url)
    assert lacking.code == 0 and "lab/m4" in lacking.err and "lack" in lacking.err


def test_a_model_with_an_infinite_score_has_no_reliability(
    run: Caller, tmp_path: Path
) -> None:
    lines = [
        f"{m},wild,{p},{'inf' if (m, p) == ('a', 2) else 0.1 * p + (m == 'b')}"
        for m in "ab"
        for p in range(12)
    ]
    (tmp_path / "inf.csv").write_text(
        "\n".join(["model,benchmark,prompt_id,score", *lines]) + "\n"
    )
    url = f"duckdb:///{tmp_path / 'inf.duckdb'}"
    assert (
        "1 value of 'score', infinite"
        in run("ingest", str(tmp_path / "inf.csv"), db=url).err
    )
    run("noise", "reliability", "wild", "--resamples", "20", db=url).fails(
        2, "1 model(s) with scores of prompts; 2 are needed"
    )
    planned = run("subset", "plan", "wild", "--size", "8", "--no-store", db=url)
    assert planned.code == 0 and "Ask 8 of 12 prompts" in planned.out


def test_a_plan_needs_no_store_to_be_exported(
    run: Caller, url: str, tmp_path: Path
) -> None:
    plan = tmp_path / "plan.json"
    assert (
        run("subset", "plan", "exam/a", "--size", "16", "--out", str(plan), db=url).code
        == 0
    )
    shown = run("subset", "export", str(plan), "--to", "csv")
    assert shown.code == 0 and len(shown.out.splitlines()) == 17
    text = plan.read_text().replace('"level": 0.95', '"level": Infinity')
    plan.write_text(text)
    run("subset", "export", str(plan), "--to", "csv").fails(
        3, "Infinity is no number that a plan can hold"
    )
