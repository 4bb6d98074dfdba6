"""Model cards of the Hugging Face Hub, and files of .eval_results/."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.setting_leaves import dumps_of
from tests.support.tabular import candidate
from warehouse.errors import InputError
from warehouse.importers.model_cards import IMPORTER
from warehouse.records import Dump

DATA = Path(__file__).parents[1] / "data" / "model_cards"
CARD = """---
model-index:
- name: m
  results:
  - dataset: {type: d}
    metrics: [METRICS]
---
"""


def dump(folder: Path, **values: str) -> Dump:
    (found,) = dumps_of(IMPORTER, folder, values)
    return found


def test_a_card_states_figures_by_data_set_and_setting() -> None:
    card = dump(DATA / "card")
    stated = [
        (run.benchmark, run.split, run.fewshot, run.configuration.get("verified"))
        for run in card.runs
    ]
    assert stated == [
        ("glue_sst2", "validation", None, None),
        ("glue_sst2", "validation", None, "true"),
        ("ai2_arc_ARC-Challenge", "test", 25, None),
        ("librispeech_asr", "", None, None),
    ]
    figures = [{f.metric: f.value for f in run.published} for run in card.runs]
    assert figures[0] == {"accuracy": 0.9128440366972477, "f1": 0.91}
    assert figures[2:] == [{"acc_norm": 64.59}, {"wer": 3.42}]
    ways = [run.metrics[0].higher_is_better for run in card.runs]
    assert ways == [True, True, True, False]


def test_files_of_results_name_no_model() -> None:
    with pytest.raises(InputError, match="--default model=ORG/NAME"):
        dump(DATA / "eval_results")
    gpqa, hle = dump(DATA / "eval_results", model="acme/fox").runs
    assert (gpqa.benchmark, gpqa.suite) == ("gpqa_diamond", ("Idavidrein/gpqa",))
    assert (hle.benchmark, hle.configuration["notes"]) == ("cais/hle", "With tools")
    assert [run.published[0].value for run in (gpqa, hle)] == [63.3, 21.4]


def test_a_card_that_was_written_here_is_read(tmp_path: Path, run: Caller) -> None:
    store = f"duckdb:///{tmp_path}/s.duckdb"
    rows = "\n".join(f"q{n},org/m,sums,{n % 4 and 1}" for n in range(40))
    (tmp_path / "r.csv").write_text(f"prompt_id,model,benchmark,score\n{rows}\n")
    run("ingest", str(tmp_path / "r.csv"), db=store)
    written = run("card", "org/m", "--format", "hf", db=store)
    (tmp_path / "repo").mkdir()
    (tmp_path / "repo" / "README.md").write_text(written.out)
    (read,) = dump(tmp_path / "repo").runs
    assert (read.model, read.benchmark) == ("org/m", "sums")
    assert read.published[0].value == pytest.approx(0.75)


def test_what_contradicts_itself_or_is_no_number_is_noted(tmp_path: Path) -> None:
    metrics = "{type: acc, value: 1}, {type: acc, value: 2}, {type: bleu, value: good}"
    (tmp_path / "README.md").write_text(CARD.replace("METRICS", metrics))
    card = dump(tmp_path)
    assert [f.value for f in card.runs[0].published] == [1]
    assert card.notes == [
        "m on d: acc is 1.0, and 2.0 where it stands again; the first counts",
        "m on d: bleu is no number: good",
    ]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (CARD.replace("METRICS", ""), "states no figure"),
        (CARD.replace("METRICS", "{type: acc, value: [[[["), "line 7"),
        (CARD.replace("METRICS", "!!python/object:os.system {}"), "line 6"),
    ],
)
def test_a_card_without_figures_or_sense_is_refused(
    tmp_path: Path, text: str, said: str
) -> None:
    (tmp_path / "README.md").write_text(text)
    with pytest.raises(InputError, match=said):
        dump(tmp_path)


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("README.md", "# A model\n\nmodel-index:\n"),
        ("README.md", "---\ntitle: x\n---\n"),
        ("conf.yaml", "- dataset: x\n  value: 1\n"),
        ("README.txt", CARD),
    ],
)
def test_other_texts_are_left_alone(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert [*IMPORTER.claim([candidate(tmp_path / name)])] == []
