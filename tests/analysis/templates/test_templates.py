"""``templates``: conditions whose prompts were asked in several forms."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import pytest

import warehouse
from tests.support.cli import Caller
from tests.support.stores import filled_once
from warehouse.errors import MisuseError

A = [
    "111001",
    "110010",
    "010110",
    "111111",
]  # a row for each template, a letter for each prompt
B = ["011000", "110000", "110111", "000111"]


def _frame(**more: Any) -> pd.DataFrame:
    rows = [
        {
            "model": model,
            "benchmark": "quiz",
            "prompt_id": f"q{prompt}",
            "template": f"t{form}",
            "score": int(score),
        }
        for model, table in (("org/a", A), ("org/b", B))
        for form, line in enumerate(table)
        for prompt, score in enumerate(line)
    ]
    return pd.DataFrame(rows).assign(**more)


@pytest.fixture
def url(store_url: str) -> Iterator[str]:
    yield filled_once(
        store_url, __file__, lambda: warehouse.connect(store_url).ingest(_frame())
    )


def test_each_condition_with_its_parts(url: str) -> None:
    report = warehouse.connect(url).templates("quiz", se=0.2)
    one, other = report.rows
    assert [row.model for row in report.rows] == ["org/a", "org/b"]
    assert (
        one.estimate == pytest.approx(sum(map(int, "".join(A))) / 24)
        and one.n_templates == 4
    )
    assert (one.best_template, one.best, one.worst_template) == ("t3", 1.0, "t1")
    assert 0 <= (one.ci_low or 0) < one.estimate < (one.ci_high or 1) <= 1
    means = (
        [[int(score) for score in line] for line in A],
        [[int(score) for score in line] for line in B],
    )
    signs = [sum(a) - sum(b) for a, b in zip(*means, strict=True)]
    assert report.flip_share == pytest.approx(sum(sign < 0 for sign in signs) / 4)
    assert report.templates == ("t0", "t1", "t2", "t3") and report.n_top == (
        2 if any(s < 0 for s in signs) else 1
    )
    assert other.flags == ("few_templates",)


def test_errors_allow_for_clusters(run: Caller, tmp_path: Path) -> None:
    """Of 20 clusters of 10 prompts the intervals covered .70, and the errors of seeds
    were as short."""
    db, frame = str(tmp_path / "clusters.duckdb"), _frame()
    frame["passage"] = frame.prompt_id.map(lambda name: "xyz"[int(name[1]) // 2])
    for name, factor in (("forms", "template"), ("seeds", "training_seed")):
        part = frame.rename(columns={"template": factor}).assign(benchmark=name)
        part.to_csv(tmp_path / f"{name}.csv", index=False)
        assert (
            run(
                "ingest",
                str(tmp_path / f"{name}.csv"),
                "--cluster-by",
                "passage",
                db=db,
            ).code
            == 0
        )
    store = warehouse.connect(f"duckdb:///{db}")
    board = {row.model: row for row in store.leaderboard("forms").rows}
    for row in store.templates("forms", random="prompts").rows:
        assert (row.n_clusters, row.df) == (3, pytest.approx(2))
        assert row.standard_error == pytest.approx(board[row.model].standard_error)
    (plain,) = store.templates("org/a", benchmark="forms", cluster="none").rows
    assert (
        plain.n_clusters is None
        and "clusters"
        not in run("noise", "templates", "forms", "--cluster", "none", db=db).out
    )
    for seeds in store.seed_variance("seeds").rows:
        assert (seeds.n_clusters, seeds.se_seeds_fixed) == (
            3,
            pytest.approx(board[seeds.model].standard_error),
        )


def test_prompts_without_a_score_under_some_template_are_counted(
    store_url: str,
) -> None:
    frame = _frame()
    warehouse.connect(store_url).ingest(
        frame[~((frame.prompt_id == "q2") & (frame.template == "t1"))]
    )
    row = warehouse.connect(store_url).templates("quiz").rows[0]
    assert (row.n_prompts, row.n_left_out) == (5, 1)


def test_what_varies_by_two_factors_is_refused(store_url: str) -> None:
    store = warehouse.connect(store_url)
    frame = _frame()
    store.ingest(frame.assign(fewshot_draw=[str(n % 2) for n in range(len(frame))]))
    with pytest.raises(MisuseError, match="one factor at a time"):
        store.templates("quiz")


def test_what_has_one_template_names_the_other_factors(
    run: Caller, tmp_path: Path
) -> None:
    db = str(tmp_path / "one.duckdb")
    warehouse.connect(f"duckdb:///{db}").ingest(
        _frame(template="t0").drop_duplicates(["model", "prompt_id"])
    )
    run("noise", "templates", "quiz", db=db).fails(2, "fewshot, perturbation")


def test_the_command(run: Caller, url: str) -> None:
    brief = run("noise", "templates", "quiz", "--se", "0.2", db=url).out
    assert brief.startswith("The template moves a score by up to 50 points: most org/a")
    assert "error from templates" in brief and "V prompts" not in brief
    shown = run("noise", "templates", "quiz", "--se", "0.2", "--explain", db=url).out
    assert "quiz by score" in shown and "few_templates: fewer than 9 templates" in shown
    assert "1.000 t3" in shown.replace("1.00 t3", "1.000 t3")
    rows = run(
        "noise", "templates", "quiz", "--random", "prompts", "--json", db=url
    ).rows
    assert [row["random"] for row in rows] == ["prompts", "prompts"] and rows[0][
        "df"
    ] == 5


def test_judge_templates_of_llmbar(data_dir: Path, tmp_path: Path) -> None:
    folder = data_dir / "llmbar" / "Natural"
    items = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    rows = []
    for path in sorted((folder / "evaluators" / "GPT-4").glob("*/result.json")):
        for number, (item, judged) in enumerate(
            zip(items, json.loads(path.read_text(encoding="utf-8")), strict=True)
        ):
            winner = judged["results"][-1]["swap = False"]["winner"]
            told = {
                "model": "GPT-4",
                "benchmark": "llmbar",
                "prompt_id": str(number),
                "template": path.parent.name,
            }
            rows.append(told | {"score": int(str(winner) == str(item["label"]))})
    store = warehouse.connect(f"duckdb:///{tmp_path}/llmbar.duckdb")
    store.ingest(pd.DataFrame(rows))
    (row,) = store.templates("llmbar").rows
    kept = [
        95,
        94,
        92,
        95,
        92,
        96,
        94,
        91,
        95,
        95,
        94,
        94,
        94,
        94,
        92,
    ]  # the README's column, order kept
    assert (row.n_prompts, row.n_templates) == (
        100,
        15,
    ) and row.estimate == pytest.approx(sum(kept) / 1500)
    assert (row.best, row.best_template) == (0.96, "Rating_Metrics")
    assert (row.worst, row.worst_template) == (0.91, "Rating_NoRules")
    assert row.ci_low is not None and row.ci_low == pytest.approx(
        0.8856, abs=1e-4
    )  # t alone: .9038


def test_an_error_of_nothing_is_refused(run: Caller, url: str) -> None:
    run("noise", "templates", "quiz", "--se", "0", db=url).fails(2, "--se")
