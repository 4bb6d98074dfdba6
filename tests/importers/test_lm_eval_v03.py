"""lm-evaluation-harness 0.3: aggregates without filters, and the samples of
``--write_out``."""

from __future__ import annotations

import json
import shutil
from pathlib import Path

import pytest

from tests.support.lm_eval import FIXTURES, claimed, take_v03
from warehouse.errors import InputError
from warehouse.importers.lm_eval.v03 import IMPORTER
from warehouse.records import PublishedScore

FOLDER = FIXTURES / "v0_3"


def test_aggregates() -> None:
    dump = take_v03(FOLDER / "tiny_step300.json").dump
    quiz, prose = dump.runs
    assert (quiz.model, quiz.revision, quiz.step) == ("org/tiny-v1", "step300", 300)
    assert (quiz.harness, quiz.fewshot, quiz.task_version, quiz.n_requested) == (
        "lm_eval",
        5,
        "2",
        40,
    )
    assert quiz.sampling == {"backend": "hf-causal"}
    assert quiz.template_hash is not None and prose.template_hash is None
    assert (quiz.run_id, quiz.harness_version, quiz.suite) == (None, None, ())
    assert quiz.published == (
        PublishedScore("acc", 0.75, standard_error=0.25),
        PublishedScore("acc_norm", 0.5, standard_error=0.28),
    )
    (spec,) = prose.metrics
    assert (spec.name, spec.higher_is_better, spec.link) == ("ppl", False, "exp_neg")
    assert list(dump.batches) == []


def test_the_step_may_stand_in_the_name_alone(tmp_path: Path) -> None:
    text = (FOLDER / "tiny_step300.json").read_text().replace(",revision=step300", "")
    (tmp_path / "tiny_step512.json").write_text(text)
    run, _ = take_v03(tmp_path).dump.runs
    assert (run.revision, run.step) == (None, 512)


@pytest.mark.parametrize("found", [1 << 63, True, "40", 0.5])
def test_a_limit_that_no_column_holds_is_unknown(tmp_path: Path, found: object) -> None:
    document = json.loads((FOLDER / "tiny_step300.json").read_text())
    document["config"] |= {"limit": found, "num_fewshot": found}
    (tmp_path / "tiny_step300.json").write_text(json.dumps(document))
    run, _ = take_v03(tmp_path).dump.runs
    assert (run.n_requested, run.fewshot) == (None, None)


def test_write_out_samples() -> None:
    taken = take_v03(FOLDER / "yes_write_out_info.json", model="org/tiny")
    first, second = taken.rows
    assert taken.run("yes").formulation == "multiple_choice"
    assert json.loads(first["identity"]) == {
        "prompts": ["Ex one. A\n\nBig? no", "Ex one. A\n\nBig? yes"],
        "target": 1,
    }
    assert (first["text"], first["target"], first["position"]) == ("Big? no", "1", 0)
    assert [(c["loglikelihood"], c["is_target"]) for c in first["choice_scores"]] == [
        (-6.5, False),
        (-2.25, True),
    ]
    acc, margin = second["scores"]
    assert (acc["value"], acc["raw"], acc["origin"]) == (0.0, "False", "mapped")
    assert (margin["value"], margin["status"], margin["raw"]) == (None, "error", "nan")
    assert first["scores"][1]["value"] == 4.25


@pytest.mark.parametrize("found", [True, 7.5, "7a"])
def test_an_id_that_is_no_place(tmp_path: Path, found: object) -> None:
    rows = json.loads((FOLDER / "yes_write_out_info.json").read_text())
    rows[1]["doc_id"] = found
    (tmp_path / "yes_write_out_info.json").write_text(json.dumps(rows))
    second = take_v03(tmp_path / "yes_write_out_info.json", model="org/tiny").rows[1]
    assert (second["position"], second["prompt_id"]) == (None, str(found))


def test_write_out_of_generated_text() -> None:
    taken = take_v03(FOLDER / "say_write_out_info.json", model="org/tiny")
    (row,) = taken.rows
    assert (row["response"], row["target"], row["choice_scores"]) == (" A", " A", None)
    em, words, tags = row["scores"]
    assert (em["value"], em["origin"]) == (1.0, None)
    assert (words["value"], words["weight"], words["raw"]) == (-1.5, 3.0, "[-4.5,3]")
    assert (tags["status"], tags["raw"]) == ("not_scalar", "['x']")
    links = {spec.name: spec.link for spec in taken.run("say").metrics}
    assert links == {"em": "identity", "word_perplexity": "exp_neg", "tags": "none"}


def test_the_model_is_asked_for() -> None:
    with pytest.raises(InputError, match="--default model="):
        take_v03(FOLDER / "yes_write_out_info.json")


def test_a_bad_element_ends_the_list(tmp_path: Path) -> None:
    text = (FOLDER / "yes_write_out_info.json").read_text()
    path = tmp_path / "yes_write_out_info.json"
    path.write_text(text.replace('"logit_0": -1.5', '"logit_0": -1.5.5'))
    taken = take_v03(path, model="org/m")
    assert len(taken.rows) == 1
    assert [item.place for item in taken.dump.rejections] == [
        "yes_write_out_info.json line 12"
    ]


def test_samples_join_the_only_aggregates_of_their_folder(tmp_path: Path) -> None:
    assert (
        len(claimed(FOLDER, importer=IMPORTER)) == 3
    )  # its aggregates are of other tasks
    document = json.loads((FOLDER / "tiny_step300.json").read_text())
    document["results"] |= {
        "yes": {"acc": 0.5, "acc_stderr": 0.5},
        "other": {"acc": 0.25},
    }
    (tmp_path / "results.json").write_text(json.dumps(document))
    shutil.copy(FOLDER / "yes_write_out_info.json", tmp_path)
    taken = take_v03(tmp_path)
    assert [run.benchmark for run in taken.dump.runs] == [
        "quiz",
        "prose",
        "yes",
        "other",
    ]
    assert [row["run"] for row in taken.rows] == [2, 2] and taken.mean(
        "yes", "acc"
    ) == 0.5
    run = taken.run("yes")
    assert (run.model, run.step, run.fewshot) == (
        "org/tiny-v1",
        300,
        5,
    ) and run.published[0].value == 0.5
    assert [spec.name for spec in run.metrics] == [
        "acc",
        "margin",
    ] and taken.dump.notes == []
    shutil.copy(FOLDER / "say_write_out_info.json", tmp_path)  # of none of its tasks
    assert len(claimed(tmp_path, importer=IMPORTER)) == 2
    shutil.copy(
        tmp_path / "results.json", tmp_path / "again.json"
    )  # of which run are the samples?
    assert len(claimed(tmp_path, importer=IMPORTER)) == 4
    (tmp_path / "again.json").unlink()
    (tmp_path / "results.json").write_text(json.dumps(document)[:200])
    assert len(claimed(tmp_path, importer=IMPORTER)) == 3


def test_bad_rows_beside_aggregates_are_recorded(tmp_path: Path) -> None:
    document = json.loads((FOLDER / "tiny_step300.json").read_text())
    document["results"]["yes"] = {"acc": 0.5}
    (tmp_path / "results.json").write_text(json.dumps(document))
    text = (FOLDER / "yes_write_out_info.json").read_text()
    (tmp_path / "yes_write_out_info.json").write_text(
        text.replace('"logit_0": -1.5', '"logit_0": -1.5.5')
    )
    taken = take_v03(tmp_path)
    assert [item.place for item in taken.dump.rejections] == [
        "yes_write_out_info.json line 12"
    ]


def test_an_aggregate_cut_short_is_claimed_and_refused(tmp_path: Path) -> None:
    text = (FOLDER / "tiny_step300.json").read_text()
    (tmp_path / "tiny.json").write_text(text[:200])
    with pytest.raises(InputError, match="complete JSON object"):
        take_v03(tmp_path)
