"""What mutation campaigns found: dumps that importers failed on, now refused with the
reason."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest

from tests.campaign.units import FIXTURES
from tests.support.stores import store_at
from warehouse.importers.common.model_names import parse_arguments
from warehouse.ingest.pipeline import ingest
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check

MAPPING = """
files = ["*"]
[run]
model = "model"
benchmark = { const = "b" }
[sample]
prompt_id = "model"
[[scores]]
metric = "acc"
value = "score"
"""
FOUND = {
    "deep.json": "[" * 50_000 + "]" * 50_000 + "\n",
    "deep.jsonl": '{"model": ' + "[" * 50_000 + "]" * 50_000 + "}\n",
    "wide.csv": "model,score," + "9" * 200_000 + "\na,1,2\n",
    "return.csv": "model,benchmark\rodd,prompt_id,metric,score\na,b,1,acc,1\n",
}


@pytest.mark.parametrize("name", FOUND)
@pytest.mark.parametrize("mapped", [True, False])
def test_the_dump_is_refused_and_not_the_importer_blamed(
    tmp_path: Path, name: str, mapped: bool
) -> None:
    dump, mapping = tmp_path / "dump", tmp_path / "map.toml"
    dump.mkdir()
    (dump / name).write_text(FOUND[name])
    mapping.write_text(MAPPING)
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(
            store,
            [dump],
            values={"model": "org/m"},
            mapping=mapping if mapped else None,
        )
    assert report.total("n_runs") == 0
    for item in report.refused:
        assert name in item.error and "defect" not in item.error
    assert len(report.refused) + len(report.unclaimed) == 1


def test_a_key_that_stands_twice_in_a_line(tmp_path: Path) -> None:
    """The engine's message quotes the line, cut in the middle of a character."""
    name = "samples_demo_mc_2026-03-04T05-06-07.890123.jsonl"
    for path in (FIXTURES / "lm_eval" / "v0_4_13" / "org__demo-model").iterdir():
        shutil.copy(path, tmp_path)
    lines = (tmp_path / name).read_text().splitlines()
    document = json.loads(lines[1])
    said = f'"verdict": {json.dumps(document["verdict"])}'
    text = json.dumps(document)
    assert said in text and not document["verdict"].isascii()
    lines[1] = text.replace(said, f"{said}, {said}")
    (tmp_path / name).write_text("\n".join(lines))
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(store, [tmp_path], options=LoadOptions(max_rejected=1))
        assert report.refused == () and report.total("n_runs") > 0


@pytest.mark.parametrize(
    ("depth", "slowly"),
    [(60, False), (60, True), (300, True), (1100, False), (20_000, False)],
)
def test_a_question_of_lists_inside_lists(
    tmp_path: Path, depth: int, slowly: bool
) -> None:
    """Some parsers read what others cannot write: the dump is refused, no importer
    blamed."""
    name = "samples_demo_mc_2026-03-04T05-06-07.890123.jsonl"
    for path in (FIXTURES / "lm_eval" / "v0_4_13" / "org__demo-model").iterdir():
        shutil.copy(path, tmp_path)
    lines = (tmp_path / name).read_text().splitlines()
    row = json.loads(lines[1])
    row["doc"]["deep"] = "here"
    lines[1] = json.dumps(row).replace('"here"', "[" * depth + "]" * depth)
    if slowly:
        lines[0] = lines[0].replace('"doc_id": ', '"doc_id": "x", "doc_id": ', 1)
    (tmp_path / name).write_text("\n".join(lines) + "\n")
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(store, [tmp_path / name], values={"model": "org/m"})
    if depth < 250:
        assert not report.refused and report.total("n_runs") == 1
    else:
        (refused,) = report.refused
        assert "too deep" in refused.error and "defect" not in refused.error
        assert slowly or "row 2" in refused.error or "line 2" in refused.error


@pytest.mark.parametrize(
    "version, part, value",
    [
        ("v0_4_2", "config", None),
        ("v0_4_2", "configs", None),
        ("v0_4_2", "configs", [{}]),
        (
            "v0_4_13/org__demo-model",
            "group_subtasks",
            {"demo": [{"task": "demo_mc"}, None]},
        ),
        ("v0_4_13/org__demo-model", "group_subtasks", None),
    ],
)
def test_a_part_of_the_results_that_is_another_kind_of_value(
    tmp_path: Path, version: str, part: str, value: object
) -> None:
    folder = shutil.copytree(FIXTURES / "lm_eval" / version, tmp_path / "run")
    (path,) = folder.glob("results*.json")
    path.write_text(json.dumps(json.loads(path.read_text()) | {part: value}))
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(store, [folder], values={"model": "org/m"})
    assert not any("defect" in item.error for item in report.refused)
    assert report.total("n_runs") > 0


@pytest.mark.parametrize("text", [[1], 7, ["a", {"content": "b"}], {"a": 1}])
def test_the_text_of_a_helm_instance_that_is_none(tmp_path: Path, text: object) -> None:
    """Once a list of numbers was taken for one of messages."""
    source = (
        FIXTURES
        / "helm"
        / "runs"
        / "v1"
        / "simple_classification-model=simple_model1,max_train_instances=1"
    )
    folder = shutil.copytree(source, tmp_path / source.name)
    document = json.loads((folder / "scenario_state.json").read_text())
    for state in document["request_states"]:
        state["instance"]["input"]["text"] = text
    (folder / "scenario_state.json").write_text(json.dumps(document))
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(store, [folder])
    assert not any("defect" in item.error for item in report.refused)


def test_a_filter_that_is_no_text_counts_as_none(tmp_path: Path) -> None:
    row = {
        "doc": {"q": 1},
        "target": "a",
        "arguments": [],
        "resps": [["a"]],
        "filtered_resps": ["a"],
        "metrics": ["acc"],
        "acc": 1.0,
    }
    rows = [
        row | {"doc_id": n, "filter": label}
        for n, label in enumerate(({}, "none", 7, None))
    ]
    dump = tmp_path / "samples_quiz_2025-05-31T14-30-51.983293.jsonl"
    dump.write_text("".join(json.dumps(item) + "\n" for item in rows))
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(store, [dump], values={"model": "org/m"})
        assert report.refused == () and report.total("n_scores") == 4
        labels = store.arrow(
            "select distinct m.filter from score join metric m on m.id = metric_id"
        )
        assert labels["filter"].to_pylist() == [""]


def test_a_score_that_nothing_can_calculate_with_leaves_the_views_alone(
    store_url: str, tmp_path: Path
) -> None:
    dump = tmp_path / "huge.csv"
    rows = [
        f"org/a,quiz,p{n},acc,{value}"
        for n, value in enumerate(("1e308", "-1e308", "0.5"))
    ]
    dump.write_text("\n".join(["model,benchmark,prompt_id,metric,score", *rows]))
    with open_store(store_url, create=True) as store:
        assert ingest(store, [dump]).refused == ()
        assert store.arrow("select estimate from score_summary")[
            "estimate"
        ].to_pylist() == [0.5]
        found = store.arrow(
            "select value, raw, status from score order by prompt_id"
        ).to_pylist()
        assert [(row["value"], row["status"]) for row in found] == [
            (None, "error"),
            (None, "error"),
            (0.5, "scored"),
        ]
        assert [float(row["raw"]) for row in found[:2]] == [1e308, -1e308]
        dump.write_text(
            dump.read_text().replace("0.5", "0.25").replace("org/a", "org/b")
        )
        assert ingest(store, [dump]).refused == ()


@pytest.mark.parametrize("split", ["x" * 30_000, -float("inf")])
def test_names_and_settings_that_an_engine_cannot_hold(
    store_url: str, tmp_path: Path, split: object
) -> None:
    """A name beyond what an index takes is refused in words; an infinite setting is
    null."""
    dump, mapping = tmp_path / "dump.jsonl", tmp_path / "map.toml"
    row = {"model": "m", "score": 1, "split": split, "setting": split}
    dump.write_text(json.dumps(row) + "\n")
    fields = (
        'split = "split"' if isinstance(split, str) else 'sampling.top_k = "setting"'
    )
    mapping.write_text(MAPPING.replace("[sample]", f"{fields}\n[sample]"))
    with open_store(store_url, create=True) as store:
        report = ingest(store, [dump], mapping=mapping)
    for item in report.refused:
        assert "dump.jsonl" in item.error and "defect" not in item.error
    assert isinstance(split, str) or not report.refused


def test_whole_numbers_that_no_column_holds(store_url: str, tmp_path: Path) -> None:
    target = FIXTURES / "lm_eval" / "v0_3" / "say_write_out_info.json"
    text = re.sub(r'"doc_id": \d+', f'"doc_id": {1 << 63}', target.read_text())
    (tmp_path / target.name).write_text(text)
    with open_store(store_url, create=True) as store:
        (refused,) = ingest(store, [tmp_path], values={"model": "org/m"}).refused
        assert (
            f"position of item {1 << 63} is {1 << 63}; expected a whole"
            in refused.error
        )
        assert "repair" in refused.error and "defect" not in refused.error
        assert check(store).ok


@pytest.mark.parametrize("strange", ["1e308", "1e999", "NaN"])
def test_counts_beyond_all_bounds_are_not_known(
    store_url: str, tmp_path: Path, strange: str
) -> None:
    (run, *_) = sorted((FIXTURES / "helm").glob("runs/v1/simple*"))
    shutil.copytree(run, tmp_path / "dump" / run.name)
    for path in (tmp_path / "dump").rglob("stats.json"):
        path.write_text(
            re.sub(r'"mean": [-+\w.]+', f'"mean": {strange}', path.read_text())
        )
        path.with_name("per_instance_stats.json").unlink()  # which would be counted
    with open_store(store_url, create=True) as store:
        report = ingest(store, [tmp_path / "dump"])
        assert report.refused == () and report.total("n_runs") > 0
        assert (
            store.arrow("select count(n) as known from published_score")["known"][
                0
            ].as_py()
            == 0
        )
        assert check(store).ok


#: Each key with what once broke its reading; of all keys all values are `make sweep`.
STRANGE = {
    "date": f"{1 << 63}",
    "filter_list": f"{1 << 63}",
    "model_args": '"k=' + "9" * 5000 + '"',
    "base_url": '"http://["',
}


@pytest.mark.parametrize(("key", "strange"), STRANGE.items(), ids=list(STRANGE))
def test_strange_values_of_what_lm_eval_says_of_itself(
    tmp_path: Path, key: str, strange: str
) -> None:
    shutil.copytree(FIXTURES / "lm_eval" / "v0_4_13", tmp_path / "dump")
    for path in (tmp_path / "dump").rglob("results_*.json"):
        document = json.loads(path.read_text())
        for part in (document, document["config"], *document["configs"].values()):
            part[key] = "@@"
        path.write_text(json.dumps(document).replace('"@@"', strange))
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(store, [tmp_path / "dump"], values={"model": "org/m"})
    assert report.sources and not [
        one for one in report.refused if "defect" in one.error
    ]


def test_another_encoding_is_named(tmp_path: Path) -> None:
    shutil.copytree(FIXTURES / "lm_eval" / "v0_4_13", tmp_path / "dump")
    path = next((tmp_path / "dump").rglob("samples_demo_mc_*.jsonl"))
    path.write_text(path.read_text(), encoding="utf-16")
    with open_store(store_at(tmp_path / "store"), write=True) as store:
        report = ingest(store, [tmp_path / "dump"])
    (refused,) = report.refused
    assert path.name in refused.error
    assert (
        "text in UTF-16; expected text in UTF-8; save the file again" in refused.error
    )


def test_long_numbers_among_the_arguments_of_lm_eval_stay_what_they_are() -> None:
    said = {
        "a": 1234567890123456789,
        "b": -(1 << 63) + 1,
        "c": "9" * 19,
        "d": "9" * 5000,
    }
    assert (
        parse_arguments(",".join(f"{key}={value}" for key, value in said.items()))
        == said
    )
