"""Shares of one file beside per cent of another, in one metric of one benchmark."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.stores import filled_once, store_at
from warehouse import connect
from warehouse.api import Warehouse


def table(path: Path, model: str, scores: list[float]) -> Path:
    lines = [f"{model},mix,q{i},{score}" for i, score in enumerate(scores)]
    path.write_text("\n".join(["model,benchmark,prompt_id,score", *lines]))
    return path


@pytest.fixture
def store(tmp_path: Path) -> Warehouse:
    url, first = (
        store_at(tmp_path / "mix.duckdb"),
        table(tmp_path / "a.csv", "a", [i % 3 > 0 for i in range(60)]),
    )
    return connect(filled_once(url, __file__, lambda: connect(url).ingest(first)))


def notes(store: Warehouse) -> list[str]:
    answers = (
        store.leaderboard("mix"),
        store.pairs("mix"),
        store.compare("a", "b", benchmark="mix"),
        store.gate("b", "a", 0.05),
    )
    return [note for answer in answers for note in answer.notes if "per cent" in note]


def test_every_comparison_says_so_until_the_advice_is_taken(
    store: Warehouse, tmp_path: Path, run: Caller
) -> None:
    percent = table(tmp_path / "b.csv", "b", [100 * (i % 4 > 0) for i in range(60)])
    store.ingest(percent)
    found = notes(store)
    assert (
        len(found) == 4
        and "1 of 2 conditions have scores from 0 to 1, 1 from 0 to 100" in found[0]
    )
    assert (
        run("fix", "forget", "2", db=f"duckdb:///{tmp_path / 'mix.duckdb'}").code == 0
    )
    mapping = (
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = { path = "score", scale = 0.01 }\n'
    )
    (tmp_path / "share.toml").write_text(mapping)
    store.ingest(percent, mapping=tmp_path / "share.toml")
    assert notes(store) == [] and store.compare("a", "b").rows[
        0
    ].mean_b == pytest.approx(0.75)


def test_pairs_have_the_flag_one_by_one(store: Warehouse, tmp_path: Path) -> None:
    store.ingest(table(tmp_path / "b.csv", "b", [100 * (i % 4 > 0) for i in range(60)]))
    store.ingest(table(tmp_path / "c.csv", "c", [i % 2 for i in range(60)]))
    rows = store.pairs("mix").groups[0].columns
    found = {(row.model_a, row.model_b): "mixed_scales" in row.flags for row in rows}
    assert found == {("b", "a"): True, ("b", "c"): True, ("a", "c"): False}


@pytest.mark.parametrize(
    "scores", [[0.0] * 60, [i % 3 - 1 for i in range(60)], [i % 7 for i in range(60)]]
)
def test_other_ranges_are_left_alone(
    store: Warehouse, tmp_path: Path, scores: list[float]
) -> None:
    store.ingest(table(tmp_path / "b.csv", "b", scores), higher_is_better=True)
    assert notes(store) == []


def flags(store: Warehouse) -> list[bool]:
    return ["mixed_scales" in row.flags for row in store.leaderboard("mix").rows]


@pytest.mark.parametrize("files", ["ab", "ba", "one call"])
def test_ingest_names_both_sources_and_figures_have_a_flag(
    tmp_path: Path, files: str
) -> None:
    store = connect(store_at(tmp_path / "mix.duckdb"))
    shares = table(tmp_path / "a.csv", "a", [i % 3 / 2 for i in range(60)])
    percent = table(tmp_path / "b.csv", "b", [i % 4 * 25.0 for i in range(60)])
    order = (
        [[shares, percent]]
        if files == "one call"
        else [[shares], [percent]][:: 1 if files == "ab" else -1]
    )
    said = [
        note
        for paths in order
        for note in store.ingest(*paths, higher_is_better=True).notes
    ]
    assert (
        len(said) == 1
        and "from 0 to 1 in" in said[0]
        and "a.csv, from 0 to 75 in" in said[0]
    )
    assert f"warehouse fix forget {1 if files == 'ba' else 2}" in said[0]
    board, comparison = (
        store.leaderboard("mix"),
        store.compare("a", "b", benchmark="mix"),
    )
    assert flags(store) == [True, True] and "leads" in board.sentence
    assert all(
        "if all scores are on one scale" in text
        for text in (board.sentence, board.one_line)
    )
    assert (
        "mixed_scales" in comparison.rows[0].flags
        and "on one scale" in comparison.sentence
    )
    assert store.gate("b", "a", 0.05).verdict == "undecided"


def test_repeats_of_one_model_are_not_pooled_without_a_word(
    store: Warehouse, tmp_path: Path
) -> None:
    assert store.ingest(
        table(tmp_path / "b.csv", "a", [100 * (i % 3 > 0) for i in range(60)])
    ).notes
    # and none that advises bounds from 0 to 50.5
    doubt, few, note = store.leaderboard("mix").notes
    assert "differ by more than chance" in doubt and "2 runs" in few
    assert (
        flags(store) == [True]
        and "1 of 2 runs have scores from 0 to 1, 1 from 0 to 100" in note
    )


def test_declared_bounds_do_not_silence_it(store: Warehouse, tmp_path: Path) -> None:
    mapping = (
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[sample]\n"
        'prompt_id = "prompt_id"\n'
        "[[scores]]\n"
        'metric = "score"\n'
        'value = "score"\n'
        "[metrics.score]\n"
        'kind = "bounded"\n'
        "low = 0\n"
        "high = 100\n"
        "higher_is_better = true\n"
    )
    (tmp_path / "marks.toml").write_text(mapping)
    percent = table(tmp_path / "b.csv", "b", [100 * (i % 4 > 0) for i in range(60)])
    assert store.ingest(percent, mapping=tmp_path / "marks.toml").notes
    assert flags(store) == [True, True] and len(notes(store)) == 4


def test_published_figures(tmp_path: Path) -> None:
    store = connect(store_at(tmp_path / "mix.duckdb"))
    mapping = (
        "[run]\n"
        'model = "model"\n'
        'benchmark = "benchmark"\n'
        "[[published]]\n"
        'metric = "acc"\n'
        'value = "acc"\n'
    )
    (tmp_path / "stated.toml").write_text(mapping)
    for model, figure in (("a", 0.71), ("b", 68), ("c", 0)):
        (tmp_path / f"{model}.csv").write_text(
            f"model,benchmark,acc\n{model},mix,{figure}\n"
        )
    said = [
        store.ingest(tmp_path / f"{model}.csv", mapping=tmp_path / "stated.toml").notes
        for model in "abc"
    ]
    assert [len(of) for of in said] == [0, 1, 0]
    assert flags(store) == [True, True, False]


def test_of_a_dump_that_no_mapping_reads_the_advice_is_another_benchmark(
    tmp_path: Path,
) -> None:
    store = connect(store_at(tmp_path / "mix.duckdb"))
    said = []
    for model, figure in (("a", 0.71), ("b", 68.0)):
        path = tmp_path / f"results_{model}.json"
        results = {
            "mix": {"alias": "mix", "score,none": figure, "score_stderr,none": "N/A"}
        }
        configuration = {
            "config": {"model": "hf", "model_args": f"pretrained={model}"},
            "configs": {},
            "n-shot": {},
        }
        path.write_text(
            json.dumps({"results": results, "versions": {}} | configuration)
        )
        said += store.ingest(path).notes
    (note,) = [note for note in said if "per cent" in note]
    assert (
        "warehouse fix forget 2, then ingest again with --set benchmark=mix_percent, which "
        "keeps" in note
    )


def test_counts_beside_a_model_that_has_few_are_no_per_cent(
    store: Warehouse, tmp_path: Path
) -> None:
    report = store.ingest(
        table(tmp_path / "b.csv", "b", [i % 5 + 9 * (i % 20 == 3) for i in range(60)])
    )
    assert report.notes == () and notes(store) == [] and flags(store) == [False, False]
