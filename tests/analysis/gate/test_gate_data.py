"""The release gate on published dumps, against scipy and statsmodels on the files
themselves."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import cycle, permutations
from pathlib import Path

import numpy as np
import pytest
from scipy import stats
from statsmodels.stats.weightstats import DescrStatsW

from tests.conftest import ROOT
from tests.support.cli import Caller
from tests.support.statsmodels import adjusted
from warehouse.api import Warehouse, connect

pytestmark = pytest.mark.rare

SYSTEMS = ("6b_finetuning", "6b_verification", "175b_finetuning", "175b_verification")


@pytest.fixture(scope="module")
def house(
    tmp_path_factory: pytest.TempPathFactory, data_dir: Path
) -> Iterator[Warehouse]:
    found = connect(f"duckdb:///{tmp_path_factory.mktemp('gate') / 'gate.duckdb'}")
    for name in ("gsm8k_openai", "eval_arena"):
        found.ingest(
            data_dir / name, mapping=ROOT / "docs" / "mappings" / f"{name}.toml"
        )
    yield found


@pytest.fixture(scope="module")
def solved(data_dir: Path) -> dict[str, np.ndarray]:
    """Right (1) or wrong (0) of each system of gsm8k, by question."""
    text = (data_dir / "gsm8k_openai" / "example_model_solutions.jsonl").read_text()
    rows = [json.loads(line) for line in text.splitlines()]
    return {
        name: np.array([float(row[name]["is_correct"]) for row in rows])
        for name in SYSTEMS
    }


@pytest.fixture(scope="module")
def arena(data_dir: Path) -> dict[str, dict[str, dict[str, float]]]:
    """Pass rates of eval-arena: benchmark, model, problem."""
    found: dict[str, dict[str, dict[str, float]]] = {}
    for name in ("humaneval+", "mbpp+", "lcb_codegen"):
        for line in (
            (data_dir / "eval_arena" / f"{name}.jsonl").read_text().splitlines()
        ):
            row = json.loads(line)
            models = found.setdefault(name, {})
            models.setdefault(row["model"], {})[row["example_id"]] = float(row["pass1"])
    return found


def verdict(p_pass: float, p_fail: float, alpha: float = 0.05) -> str:
    return "pass" if p_pass <= alpha else "fail" if p_fail <= alpha else "undecided"


def test_every_pair_of_systems_on_gsm8k(
    house: Warehouse, solved: dict[str, np.ndarray]
) -> None:
    seen = set()
    for (candidate, baseline), margin in zip(
        permutations(SYSTEMS, 2), cycle([0.0, 0.02, 0.3]), strict=False
    ):
        d = solved[candidate] - solved[baseline]
        p_pass = stats.ttest_1samp(d, -margin, alternative="greater").pvalue
        p_fail = stats.ttest_1samp(d, -margin, alternative="less").pvalue
        found = house.gate(
            f"openai/{candidate}", f"openai/{baseline}", margin, benchmarks=["gsm8k"]
        )
        (row,) = found.rows
        assert (row.p_pass, row.p_fail) == pytest.approx(
            (p_pass, p_fail), rel=1e-9, abs=1e-15
        )
        low = DescrStatsW(d).tconfint_mean(alpha=0.05, alternative="larger")[0]
        assert row.low == pytest.approx(low, rel=1e-10)
        assert row.verdict == verdict(p_pass, p_fail) == found.verdict
        assert found.exit_code == {"pass": 0, "fail": 1, "undecided": 5}[found.verdict]
        assert row.n_prompts == len(d) == 1319
        seen.add((found.verdict, margin))
    assert {("pass", 0.0), ("fail", 0.0), ("pass", 0.3)} <= seen


def test_prompts_that_would_decide(
    house: Warehouse, solved: dict[str, np.ndarray]
) -> None:
    """Miller's equation 9, one-sided, with the variance of the differences as it was
    seen."""
    d = solved["175b_finetuning"] - solved["6b_verification"]  # 458 and 515 of 1319
    margin = 0.06
    (row,) = house.gate(
        "openai/175b_finetuning", "openai/6b_verification", margin, benchmarks=["gsm8k"]
    ).rows
    assert row.verdict == "undecided"
    z = stats.norm.ppf(0.95) + stats.norm.ppf(0.8)
    expected = [
        z**2 * d.var(ddof=1) / distance**2 for distance in (margin, d.mean() + margin)
    ]
    assert [row.prompts_if_equal, row.prompts_as_seen] == [
        int(np.ceil(n)) for n in expected
    ]


def test_two_benchmarks_of_eval_arena_under_holm(
    house: Warehouse, arena: dict[str, dict[str, dict[str, float]]]
) -> None:
    names = ["humaneval+", "mbpp+"]  # the third has other models
    shared = set(arena[names[0]]) & set(arena[names[1]])
    by_skill = sorted(shared, key=lambda model: sum(arena["mbpp+"][model].values()))
    models = [by_skill[0], by_skill[len(shared) // 2], by_skill[-2], by_skill[-1]]
    seen = set()
    for (candidate, baseline), margin in zip(
        permutations(models, 2), cycle([0.0, 0.1]), strict=False
    ):
        p: dict[str, list[float]] = {"greater": [], "less": []}
        for name in names:
            of, against = arena[name][candidate], arena[name][baseline]
            d = np.array([of[key] - against[key] for key in of])
            for side, values in p.items():
                values.append(stats.ttest_1samp(d, -margin, alternative=side).pvalue)
        p_pass, p_fail = (adjusted(p[side], "holm") for side in p)
        found = house.gate(candidate, baseline, margin, benchmarks=names)
        assert [row.benchmark for row in found.rows] == names
        assert [row.p_pass for row in found.rows] == pytest.approx(
            p_pass, rel=1e-9, abs=1e-15
        )
        assert [row.p_fail for row in found.rows] == pytest.approx(
            p_fail, rel=1e-9, abs=1e-15
        )
        each = [verdict(*both) for both in zip(p_pass, p_fail, strict=True)]
        assert [row.verdict for row in found.rows] == each
        whole = (
            "fail"
            if "fail" in each
            else "pass"
            if set(each) == {"pass"}
            else "undecided"
        )
        assert found.verdict == whole
        seen.add(whole)
    assert "undecided" in seen and "fail" in seen


def test_exit_codes_and_markdown(
    house: Warehouse, capsys: pytest.CaptureFixture[str]
) -> None:
    run, url = Caller(capsys), str(house.url)
    against = (
        "--baseline",
        "openai/6b_verification",
        "--benchmark",
        "gsm8k",
        "--markdown",
    )
    for candidate, margin, code, word in (
        ("175b_verification", "0.01", 0, "✅ pass"),
        ("6b_finetuning", "0.01", 1, "❌ fail"),
        ("175b_finetuning", "0.06", 5, "❔ undecided"),
    ):
        found = run(
            "gate",
            "--candidate",
            f"openai/{candidate}",
            "--margin",
            margin,
            *against,
            db=url,
        )
        assert found.code == code and found.out.startswith(f"### {word}: ")
        assert (
            len([line for line in found.out.splitlines() if line.startswith("| gsm8k")])
            == 1
        )
