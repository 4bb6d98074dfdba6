"""``noise total``, ``compare --over``, ``leaderboard --over``: scores with the error that
counts other templates, judges and settings."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

import warehouse
from tests.support.cli import Caller
from tests.support.stores import filled_once
from warehouse.errors import MisuseError

TEMPLATES = ("plain", "list", "chat", "terse")
PROMPTS = 12


def _frame() -> pd.DataFrame:
    """Two models by four templates at two temperatures, with a setting that goes with
    the template."""
    random = np.random.default_rng(11)
    rows = []
    for model, ability in (("org/a", 1.2), ("org/b", 0.0)):
        for temperature in (0.0, 0.7):
            for place, template in enumerate(TEMPLATES):
                for prompt in range(PROMPTS):
                    logit = ability + 0.8 * (place - 1.5) + 2 * np.sin(prompt)
                    rows.append(
                        {
                            "model": model,
                            "benchmark": "quiz",
                            "prompt_id": f"q{prompt:02}",
                            "prompt_style": template,
                            "style_file": f"{template}.txt",
                            "temperature": temperature,
                            "score": int(random.random() < 1 / (1 + np.exp(-logit))),
                        }
                    )
    return pd.DataFrame(rows)


@pytest.fixture
def url(store_url: str) -> Iterator[str]:
    yield filled_once(
        store_url, __file__, lambda: warehouse.connect(store_url).ingest(_frame())
    )


def cells(model: str, temperature: float | None = None) -> np.ndarray:
    """Prompts × templates, over temperatures or at one of them."""
    frame = _frame()
    frame = frame[frame["model"] == model]
    if temperature is not None:
        frame = frame[frame["temperature"] == temperature]
    table = frame.pivot_table("score", "prompt_id", "prompt_style", "mean")
    return np.asarray(table[list(TEMPLATES)], dtype=float)


def test_what_varies_besides_keeps_rows_apart(url: str) -> None:
    report = warehouse.connect(url).total_error("quiz", over=["prompt_style"])
    assert [row.model for row in report.rows] == ["org/a", "org/a", "org/b", "org/b"]
    assert {row.condition for row in report.rows} == {
        "temperature=0.0",
        "temperature=0.7",
    }
    assert any("rows apart by temperature" in note for note in report.notes)
    row = next(r for r in report.rows if r.condition == "temperature=0.7")
    table = cells(row.model, 0.7)
    assert row.estimate == pytest.approx(table.mean())
    means = table.mean(axis=0)
    assert row.v["prompt_style"] == pytest.approx(means.var(ddof=1) / 4)
    (facet,) = row.facets
    assert (facet.role, set(facet.levels)) == ("random", set(TEMPLATES))
    assert sorted(facet.means) == pytest.approx(sorted(means))


def test_a_fixed_setting_is_averaged_over(url: str) -> None:
    report = warehouse.connect(url).total_error(
        "quiz", over=["prompt_style"], fixed=["temperature"], half_width=0.3
    )
    first, second = report.rows
    assert (first.model, first.n_conditions) == ("org/a", 8)
    assert first.estimate == pytest.approx(cells("org/a").mean())
    ends = (first.ci_low, first.prompts_low, first.prompts_high, first.ci_high)
    assert None not in ends and list(ends) == sorted(ends)
    roles = {one.name: one.role for one in first.facets}
    assert roles == {"prompt_style": "random", "temperature": "fixed"}
    now, more, *_ = first.designs
    assert now.n_answers == PROMPTS * 8 and more.n_answers == PROMPTS * 10
    assert more.half_width < now.half_width and more.low < more.high
    parts = sum(first.variance_parts.values())
    whole = first.v_prompts + first.v_settings - first.noise
    assert parts == pytest.approx(whole) and second.model == "org/b"


def test_two_models(url: str) -> None:
    store = warehouse.connect(url)
    (row,) = store.total_difference(
        "org/a", "org/b", over=["prompt_style"], fixed=["temperature"]
    ).rows
    gaps = cells("org/a") - cells("org/b")
    assert row.difference == pytest.approx(gaps.mean())
    assert row.p_settings >= row.p_prompts and row.better == "org/a"
    (other,) = store.total_difference(
        "org/b", "org/a", over=["prompt_style"], fixed=["temperature"]
    ).rows
    assert other.difference == pytest.approx(-row.difference)
    assert (other.p_settings, other.better) == (pytest.approx(row.p_settings), "org/a")


def test_two_values_are_named_and_count_on_request(url: str) -> None:
    store = warehouse.connect(url)
    chosen = {"as_sampled": True, "fixed": ["prompt_style"]}
    row = store.total_error("quiz", over=["temperature"], **chosen).rows[0]
    assert row.ci_low is None and "temperature has 2" in row.reason
    row = store.total_error(
        "quiz", over=["temperature"], two_levels=True, **chosen
    ).rows[0]
    assert row.ci_low is not None and "two_levels" in row.flags
    with pytest.raises(MisuseError, match="chosen"):
        store.total_error("quiz", over=["temperature"])
    with pytest.raises(
        MisuseError,
        match="no run tells flavour; runs of a model differ in: prompt_style",
    ):
        store.total_error("quiz", over=["flavour"])
    with pytest.raises(MisuseError, match="name the settings"):
        store.total_error("quiz")
    with pytest.raises(MisuseError, match="one of --over and --fixed|one of over"):
        store.total_error("quiz", over=["prompt_style"], fixed=["prompt_style"])


def test_what_people_see(url: str, run: Caller) -> None:
    one = run("noise", "total", "org/a", "-b", "quiz", "--over", "prompt_style",
              "--fixed", "temperature", db=url).out  # fmt: skip
    first = one.splitlines()[0]
    assert first.startswith("org/a ") and "on prompts like these; ±" in first
    assert len(first) <= 80
    assert "counting other prompt_styles (4)" in " ".join(one.split())
    assert "averaged over: temperature (2: 0.0, 0.7)" in one
    board = run(
        "leaderboard",
        "quiz",
        "--over",
        "prompt_style",
        "--fixed",
        "temperature",
        db=url,
    )
    assert "prompts like these" in board.out and "place" not in board.out
    both = run("compare", "org/a", "org/b", "-b", "quiz", "--over", "prompt_style",
               "--fixed", "temperature", db=url).out  # fmt: skip
    assert (
        both.startswith("org/a less org/b on quiz: +")
        and "prompts, these settings" in both
    )
    run("compare", "org/a", "org/b", "--fixed", "temperature", db=url).fails(
        2, "goes with --over"
    )
    alone = run(
        "leaderboard", "--over", "prompt_style", "--fixed", "temperature", db=url
    )
    assert alone.out == board.out  # the only benchmark of the store
    rows = run("noise", "total", "quiz", "--over", "prompt_styles,temperature",
               "--as-sampled", "--json", db=url)  # fmt: skip
    rows.fails(2, "no run tells prompt_styles")


def test_judges(duckdb_url: str) -> None:
    """Three judges of the same answers; the settings of each go with it."""
    random = np.random.default_rng(2)
    rows = []
    for prompt in range(40):
        for judge, strict in (("j1", 0.3), ("j2", 0.5), ("j3", 0.7)):
            rows.append(
                {
                    "model": "m",
                    "benchmark": "essays",
                    "prompt_id": str(prompt),
                    "metric": "good",
                    "judge_model": judge,
                    "score": int(random.random() > strict),
                }
            )
    store = warehouse.connect(duckdb_url)
    store.ingest(pd.DataFrame(rows))
    (row,) = store.total_error("essays", over=["judges"]).rows
    table = pd.DataFrame(rows).pivot_table("score", "prompt_id", "judge_model")
    means = np.asarray(table.mean())
    assert row.estimate == pytest.approx(means.mean())
    assert row.v["judge"] == pytest.approx(means.var(ddof=1) / 3)
    assert row.n_prompts == 40 and row.facets[0].levels == ("j1", "j2", "j3")
    named = store.total_error("essays", over=["judge"], judges=["j1", "j2", "j3"])
    assert named.rows[0].estimate == row.estimate
    with pytest.raises(MisuseError, match="nobody called 'j9'"):
        store.total_error("essays", over=["judge"], judges=["j9", "j1"])


def test_judges_that_are_columns(data_dir: Path, tmp_path: Path) -> None:
    """Four judges of one wide table; −1 is no rating."""
    folder = data_dir / "wild" / "ja-mt-bench-harness"
    (file,) = folder.rglob("judge_comparison_details.csv")
    judges = ["GPT-4-Turbo", "GPT-4o", "GPT-4.1", "GPT-4.1-mini"]
    store = warehouse.connect(f"duckdb:///{tmp_path}/ja.duckdb")
    store.ingest(str(file), defaults={"benchmark": "ja-mt"})
    rows = store.total_error("ja-mt", over=["judge"], judges=judges).rows
    table = pd.read_csv(file)
    table[judges] = table[judges].where(table[judges] >= 0)
    for row in rows:
        own = table[table["model"] == row.model]
        assert row.metric == "each judge's score" and row.n_conditions == 4
        if own[judges].notna().all(axis=None):
            assert row.estimate == pytest.approx(own[judges].mean().mean())


def test_revisions_of_a_model_stay_apart(duckdb_url: str) -> None:
    """Nobody averages two of them; the second comes later, and changes no figure."""
    frame = _frame()
    frame = frame[(frame["model"] == "org/a") & (frame["temperature"] == 0.0)]
    store = warehouse.connect(duckdb_url)
    store.ingest(frame.assign(revision="main"))
    (alone,) = store.total_error("quiz", over=["prompt_style"]).rows
    store.ingest(frame.assign(revision="v2", score=1 - frame["score"]))
    report = store.total_error("quiz", over=["prompt_style"])
    assert len(report.rows) == 2 and len({row.condition for row in report.rows}) == 2
    assert alone.estimate in {row.estimate for row in report.rows}
    assert any("revision" in note for note in report.notes)


def test_templates_of_llmbar(data_dir: Path, tmp_path: Path) -> None:
    """Goldens GT7 and GT11, through a store."""
    folder = data_dir / "llmbar" / "Natural"
    items = json.loads((folder / "dataset.json").read_text(encoding="utf-8"))
    rows: list[dict[str, Any]] = []
    for judge in ("ChatGPT", "GPT-4"):
        for path in sorted((folder / "evaluators" / judge).glob("*/result.json")):
            judged = json.loads(path.read_text(encoding="utf-8"))
            for number, (item, one) in enumerate(zip(items, judged, strict=True)):
                for order in ("swap = False", "swap = True"):
                    winner = one["results"][-1][order]["winner"]
                    rows.append(
                        {
                            "model": judge,
                            "benchmark": "llmbar",
                            "prompt_id": str(number),
                            "template": path.parent.name,
                            "order": order,
                            "score": int(str(winner) == str(item["label"])),
                        }
                    )
    store = warehouse.connect(f"duckdb:///{tmp_path}/llmbar.duckdb")
    store.ingest(pd.DataFrame(rows))
    asked = {"over": ["template"], "fixed": ["order"]}
    (row,) = store.total_error("ChatGPT", benchmark="llmbar", **asked).rows
    found = (row.prompts_low, row.prompts_high, row.ci_low, row.ci_high)
    assert found == pytest.approx(
        (0.7185753642, 0.8210822763, 0.7100921598, 0.8301466728), abs=1e-7
    )
    assert row.designs[0].n_answers == 2400
    (pair,) = store.total_difference("GPT-4", "ChatGPT", **asked).rows
    assert pair.p_settings == pytest.approx(9.729877534e-07)
    assert pair.verdict == "both"
