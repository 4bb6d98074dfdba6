"""Which files the lm-evaluation-harness importers take, and which of them belong
together."""

from __future__ import annotations

import gzip
import json
import shutil
from pathlib import Path

import pytest

from tests.support.lm_eval import (
    FIXTURES,
    IMPORTER_V03,
    STAMP,
    candidates,
    claimed,
    take,
)
from warehouse.importers.lm_eval.importer import IMPORTER

SAMPLES = FIXTURES / "v0_4_13" / "org__demo-model"
FOREIGN = {
    "lighteval": '{"config_general": {"model_name": "m"}, "results": {"a|b|0": {"em": 1.0}}, '
    '"versions": {"a": 1}, "config_tasks": {}, "summary_tasks": {}}',
    "promptfoo": '{"evalId": "e", "results": {"version": 3, "stats": {"a, b": "x"}}}',
    "evalplus": '{"date": "2026", "hash": "h", "eval": {"T/0": []}}',
    "livecodebench": '[{"question_id": 1, "code_list": [], "graded_list": []}]',
    "plain rows": '{"doc_id": 1, "text": "an index of documents"}\n',
    "scores": '{"results": {"a": {"b": 1.0}}, "versions": {}}',
    "text": "results\nversions\n",
    "nothing": "",
}


def names(source_files: list[Path] | tuple[Path, ...]) -> list[str]:
    return [path.name for path in source_files]


def test_results_and_samples_of_one_time_stamp_are_one_source() -> None:
    (source,) = claimed(FIXTURES / "v0_4_13")
    assert names(source.files) == [
        f"results_{STAMP}.json",
        f"samples_demo_gen_{STAMP}.jsonl",
        f"samples_demo_mc_{STAMP}.jsonl",
        f"samples_demo_ppl_{STAMP}.jsonl",
    ]
    assert source.name.endswith(f"v0_4_13/org__demo-model/results_{STAMP}.json")


def test_other_time_stamps_and_folders_are_other_sources(tmp_path: Path) -> None:
    for folder, stamp in (("a", STAMP), ("a", "2026-03-04T05-06-08"), ("b", STAMP)):
        for path in SAMPLES.iterdir():
            (tmp_path / folder).mkdir(exist_ok=True)
            shutil.copy(path, tmp_path / folder / path.name.replace(STAMP, stamp))
    found = claimed(tmp_path)
    assert [(source.root.name, len(source.files)) for source in found] == [
        ("a", 4),
        ("a", 4),
        ("b", 4),
    ]


def test_an_output_path_with_a_file_name(tmp_path: Path) -> None:
    (source,) = claimed(FIXTURES / "v0_4_9")
    assert names(source.files)[0] == "run:7_2025-07-21T14-41-47.json"
    assert len(source.files) == 3


def test_arrays_join_the_results_whose_arguments_name_them(tmp_path: Path) -> None:
    (source,) = claimed(FIXTURES / "v0_4_2")
    assert names(source.files)[0] == "results.json"
    assert len(source.files) == 3
    # two results files in one folder: each takes the samples of its own model
    shutil.copytree(FIXTURES / "v0_4_2", tmp_path, dirs_exist_ok=True)
    other = json.loads((tmp_path / "results.json").read_text())
    other["config"]["model_args"] = "pretrained=org/huge"
    (tmp_path / "other.json").write_text(json.dumps(other))
    shutil.copy(
        tmp_path / "pretrained__org__tiny,revision__main_lists.jsonl",
        tmp_path / "pretrained__org__huge_lists.jsonl",
    )
    first, second = claimed(tmp_path)
    assert names(first.files) == ["other.json", "pretrained__org__huge_lists.jsonl"]
    assert len(second.files) == 3


def test_arrays_of_another_model_do_not_join_the_results_that_replaced_theirs(
    tmp_path: Path,
) -> None:
    shutil.copytree(FIXTURES / "v0_4_2", tmp_path, dirs_exist_ok=True)
    own = tmp_path / "pretrained__org__tiny,revision__main_lists.jsonl"
    shutil.copy(own, tmp_path / "pretrained__org__huge_lists.jsonl")
    own.rename(
        tmp_path / own.name.replace("pretrained__org", "pretrained=org")
    )  # as some versions write it
    other, run = sorted(claimed(tmp_path), key=lambda source: len(source.files))
    assert len(run.files) == 3 and names(other.files) == [
        "pretrained__org__huge_lists.jsonl"
    ]


def test_samples_alone_and_results_alone_are_sources(tmp_path: Path) -> None:
    (source,) = claimed(FIXTURES / "samples_only")
    assert names(source.files) == ["samples_echo_2026-01-02T03-04-05.000001.jsonl"]
    (source,) = claimed(SAMPLES / f"results_{STAMP}.json")
    taken = take(SAMPLES / f"results_{STAMP}.json")
    assert [run.benchmark for run in taken.dump.runs] == [
        "demo_mc",
        "demo_gen",
        "demo_ppl",
    ]
    assert taken.rows == []


def test_packed_samples(tmp_path: Path) -> None:
    for path in SAMPLES.iterdir():
        if "demo_mc" in path.name:
            (tmp_path / f"{path.name}.gz").write_bytes(gzip.compress(path.read_bytes()))
        else:
            shutil.copy(path, tmp_path)
    packed, plain = take(tmp_path), take(FIXTURES / "v0_4_13")
    assert len(packed.dump.runs) == len(plain.dump.runs) == 3
    assert packed.rows_of("demo_mc") == plain.rows_of("demo_mc")


def test_a_renamed_sample_file_is_known_by_its_rows(tmp_path: Path) -> None:
    shutil.copy(SAMPLES / f"samples_demo_mc_{STAMP}.jsonl", tmp_path / "mine.jsonl")
    taken = take(tmp_path, model="org/m", benchmark="quiz")
    assert taken.mean("quiz", "acc") == pytest.approx(2 / 3)


@pytest.mark.parametrize("content", FOREIGN.values(), ids=FOREIGN)
@pytest.mark.parametrize(
    "name", ["results_2026-03-04T05-06-07.json", "results.json", "a.jsonl"]
)
def test_files_of_other_tools_are_left_alone(
    tmp_path: Path, name: str, content: str
) -> None:
    (tmp_path / name).write_text(content)
    assert claimed(tmp_path) == []
    assert claimed(tmp_path, importer=IMPORTER_V03) == []


def test_each_version_has_one_importer() -> None:
    files = candidates([FIXTURES])
    old = {path for source in IMPORTER_V03.claim(files) for path in source.files}
    new = {path for source in IMPORTER.claim(files) for path in source.files}
    assert names(sorted(old)) == [
        "say_write_out_info.json",
        "tiny_step300.json",
        "yes_write_out_info.json",
    ]
    assert old.isdisjoint(new)
    assert old | new == {candidate.path for candidate in files}


def embedded(tmp_path: Path, **changes: list[object]) -> Path:
    """What ``json.dump(simple_evaluate(..., log_samples=True))`` writes: results that
    hold their samples."""
    document = json.loads((SAMPLES / f"results_{STAMP}.json").read_text())
    tasks = ("demo_gen", "demo_mc", "demo_ppl")
    document["samples"] = {
        task: [
            json.loads(line)
            for line in (SAMPLES / f"samples_{task}_{STAMP}.jsonl")
            .read_text()
            .splitlines()
        ]
        for task in tasks
    } | changes
    path = tmp_path / "evaluation.json"
    path.write_text(json.dumps(document, indent=1))
    return path


def test_results_that_hold_their_samples_are_as_those_beside_them(
    tmp_path: Path,
) -> None:
    apart, together = take(FIXTURES / "v0_4_13"), take(embedded(tmp_path))
    assert [run.benchmark for run in together.dump.runs] == [
        run.benchmark for run in apart.dump.runs
    ]
    for run in together.dump.runs:
        assert together.scores(run.benchmark) == apart.scores(run.benchmark) != {}
    by_prompt = [
        sorted(
            taken.rows,
            key=lambda row: (
                row["run"],
                row["prompt_id"],
                row["draw"],
                str(row["scores"]),
            ),
        )
        for taken in (apart, together)
    ]
    assert by_prompt[0] == by_prompt[1]


def test_samples_in_results_as_python_has_them(tmp_path: Path) -> None:
    """Likelihoods as numbers, arguments as lists; a row without a number is named by
    its place."""
    row = {
        "doc_id": 0,
        "doc": {"question": "2 + 2?"},
        "target": "1",
        "filter": "none",
        "metrics": ["acc"],
        "acc": 1.0,
        "arguments": [["2 + 2?", " 3"], ["2 + 2?", " 4"]],
        "resps": [[[-3.5, False]], [[-0.25, True]]],
        "filtered_resps": [[-3.5, False], [-0.25, True]],
    }
    taken = take(embedded(tmp_path, demo_mc=[row, {**row, "doc_id": None}]))
    (only,) = taken.rows_of("demo_mc")
    assert [
        (one["loglikelihood"], one["is_greedy"], one["is_target"])
        for one in only["choice_scores"]
    ] == [
        (-3.5, False, False),
        (-0.25, True, True),
    ]
    assert [one.place for one in taken.dump.rejections] == [
        "evaluation.json samples.demo_mc row 2"
    ]
