"""HELM through the whole path: what the package wrote, damaged folders, and real runs,
which must give the figures of their README."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.helm import (
    FIXTURES,
    by_prompt,
    instance,
    plain,
    spec,
    stat,
    state,
    stats_of,
    take,
    values,
    write,
)
from tests.support.ingested import ingested
from tests.support.lm_eval import Taken
from tests.support.stores import select
from warehouse.importers.helm import run_folder
from warehouse.ingest.pipeline import ingest
from warehouse.store.open import open_store
from warehouse.store.schema.migrate import check


def written(name: str) -> Taken:
    (folder,) = FIXTURES.glob(f"{name}*")
    return take(folder)


def test_a_joint_question_of_the_real_writer() -> None:
    taken = written("quiz-way=multiple_choice_joint")
    (run,) = taken.dump.runs
    assert (run.model, run.benchmark) == (
        "simple/model1",
        "quiz:way=multiple_choice_joint",
    )
    assert (run.suite, run.fewshot) == (("quiz",), 1)
    assert run.run_id is not None
    assert run.run_id.startswith(
        "v1/quiz:way=multiple_choice_joint,model=simple_model1"
    )
    rows = by_prompt(taken)
    assert {key[1:3] for key in rows} == {
        (label, trial) for label in ("", "space(max_spaces=3)") for trial in "01"
    }
    # the client says A for 70, which leaves 1 when divided by 3, and B for 38; both are
    # even
    said = rows["id60", "", "1", 0]
    assert (said["text"], said["target"]) == ("Is 70 even or odd?", "Even")
    assert (said["response"], said["extracted_answer"]) == (" A", "Even")
    assert (said["latency"], said["finish_reason"]) == (70.25, "length")
    assert values(said)["exact_match"] == 1.0
    missed = rows["id38", "space(max_spaces=3)", "0", 0]
    assert (missed["extracted_answer"], values(missed)["exact_match"]) == ("Odd", 0.0)
    assert missed["prompt_sent"] != rows["id38", "", "0", 0]["prompt_sent"]


def test_separate_options_of_the_real_writer() -> None:
    """The last token of a prompt of n words has -(number + (n - 1) / 8 + its length /
    64)."""
    rows = by_prompt(written("quiz-way=multiple_choice_separate_calibrated"))
    row = rows["id60", "", "", 0]
    even, odd = row["choice_scores"]
    n = len(row["prompt_sent"].split(" "))
    assert even["loglikelihood"] == -(70 + (n - 1) / 8 + len(" Even") / 64)
    assert odd["loglikelihood"] == -(70 + (n - 1) / 8 + len(" Odd") / 64)
    assert even["unconditional_loglikelihood"] == -(1 + 1 / 8 + len(" Even") / 64)
    assert odd["unconditional_loglikelihood"] == -(1 + 1 / 8 + len(" Odd") / 64)
    assert (even["is_target"], odd["is_target"]) == (True, False)
    assert values(row) == {"exact_match": 0.0}


def test_a_row_without_id_is_rejected_with_its_place(tmp_path: Path) -> None:
    run = plain(tmp_path)
    document = json.loads((run / "per_instance_stats.json").read_text())
    document[2]["instance_id"] = 7
    (run / "per_instance_stats.json").write_text(json.dumps(document))
    (rejection,) = take(run).dump.rejections
    assert rejection.place == "per_instance_stats.json entry 2"


def test_numbers_next_to_nothing_can_be_calculated_with(
    tmp_path: Path, store_url: str
) -> None:
    """BLEU gives the smallest of all floats for no match; one engine fails to square
    it."""
    asked = [instance(1), instance(2)]
    tiny = 2.2250738585072014e-308
    run = write(
        tmp_path,
        run_spec=spec(),
        stats=[stat("bleu_4", tiny / 2 + 0.25)],
        scenario_state={"request_states": [state(item) for item in asked]},
        per_instance_stats=[
            stats_of(asked[0], {"bleu_4": tiny}),
            stats_of(asked[1], {"bleu_4": 0.5}),
        ],
    )
    with open_store(store_url, create=True, write=True) as store:
        assert ingest(store, [run]).reconciliation[0].verdict == "exact"
        (row,) = select(store, "select estimate, se_clt from score_summary")
        assert row == {"estimate": 0.25, "se_clt": pytest.approx(0.25)}
        raw = select(store, "select value, raw from score order by value")
        assert raw == [
            {"value": 0.0, "raw": "2.2250738585072014e-308"},
            {"value": 0.5, "raw": None},
        ]


@pytest.mark.rare
def test_made_and_real_runs_in_a_store(
    tmp_path: Path, request: pytest.FixtureRequest, store_url: str
) -> None:
    with ingested(store_url, plain(tmp_path), FIXTURES) as (store, report):
        assert report.total("n_runs") == 6
        assert check(store).ok
        found = select(
            store,
            "select metric, perturbation, verdict from published_against_recomputed "
            "where statistic = 'mean' and perturbation not like '%, %'",
        )
        assert {row["verdict"] for row in found} == {"exact"}
        data: Path = request.getfixturevalue("data_dir") / "helm_runs"
        if not data.is_dir():
            pytest.skip("no HELM runs among the real dumps")
        report = ingest(store, [data, data.parent / "writers" / "helm_0.5.16"])
        assert [item.error for item in report.refused] == []
        figures = {
            (row["benchmark"], row["split"], row["metric"]): row["estimate"]
            for row in select(
                store, "select benchmark, split, metric, estimate from score_summary"
            )
        }
        assert figures["commonsense:dataset=hellaswag", "valid", "exact_match"] == 0.3
        f1 = figures["narrative_qa", "test", "f1_score"]
        assert f1 == pytest.approx(0.17424242424242425, rel=1e-12)
        assert figures["narrative_qa", "valid", "f1_score"] == 0.0
        assert figures["narrative_qa", "test", "rouge_l"] == pytest.approx(
            0.05365510777881912, rel=1e-12
        )
        assert figures["narrative_qa", "valid", "rouge_l"] == pytest.approx(
            0.03636363636363636, rel=1e-12
        )
        verdicts = select(
            store,
            "select distinct verdict from published_against_recomputed "
            "where statistic = 'mean' and perturbation not like '%, %'",
        )
        assert verdicts == [{"verdict": "exact"}]


VALUES = st.recursive(
    st.none() | st.booleans() | st.integers(-9, 9) | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=4), inner)
    ),
    max_leaves=6,
)
LISTS = st.lists(st.dictionaries(st.text(max_size=6), VALUES, max_size=4), max_size=8)


@pytest.mark.rare
@given(LISTS, st.sampled_from([None, 1, 2, 4]), st.integers(1, 60))
def test_elements_are_those_of_the_whole(
    items: list[Any], indent: int | None, block: int
) -> None:
    """Whatever the indentation and the size of blocks."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(run_folder, "BLOCK_BYTES", block)
        alone = json.dumps(items, indent=indent).encode()
        assert list(run_folder.elements(alone)) == items
        inside = json.dumps(
            {"a": [{}], "list": items, "z": {"list": 1}}, indent=indent
        ).encode()
        assert list(run_folder.elements(inside, "list")) == items


@pytest.mark.parametrize(
    "raw", [b"[\n  {},\n  {\n  }]", b"[\n  {\n  }\n] x", b'[\n  {"a": \n  }\n]']
)
def test_lists_that_only_look_whole(raw: bytes) -> None:
    if raw.endswith(b"}]"):
        assert list(run_folder.elements(raw)) == [{}, {}]
    else:
        with pytest.raises(ValueError, match=r".+"):
            list(run_folder.elements(raw))
