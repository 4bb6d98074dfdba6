"""Examples before a question are a condition: the document is the same question,
whatever was sent."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.ingested import ingested
from tests.support.stores import select
from warehouse import connect

FIELDS = {"usual": "question", "in_capitals": "Sentence", "of_its_own": "Item"}


def write(folder: Path, shots: int, field: str, sent: str = "Say: {}\nAnswer:") -> Path:
    """A run of four documents with so many examples before each."""
    stamp = f"2024-06-17T1{shots}-00-00.000000"
    folder = folder / "org__m"
    folder.mkdir(exist_ok=True)
    examples = "".join(
        f"{sent.format(f'an example {number}')} A\n\n" for number in range(shots)
    )
    rows = [
        {
            "doc_id": number,
            "doc": {
                field: f"the sentence number {number}",
                "choices": ["A", "B"],
                "gold": "B",
            },
            "target": "B",
            "arguments": [
                [examples + sent.format(f"the sentence number {number}"), option]
                for option in (" A", " B")
            ],
            "resps": [[[-1.0, False]], [[-0.5, True]]],
            "filtered_resps": [[-1.0, False], [-0.5, True]],
            "acc": float(number % 2),
        }
        for number in range(4)
    ]
    (folder / f"samples_stereo_{stamp}.jsonl").write_text(
        "".join(json.dumps(row) + "\n" for row in rows)
    )
    config = {
        "task": "stereo",
        "output_type": "multiple_choice",
        "num_fewshot": shots,
        "metric_list": [],
    }
    document: dict[str, Any] = {
        "results": {"stereo": {"acc,none": 0.5}},
        "configs": {"stereo": config},
        "n-shot": {"stereo": shots},
        "n-samples": {"stereo": {"original": 4, "effective": 4}},
        "config": {"model_args": "pretrained=org/m"},
        "model_name": "org/m",
        "date": 1718618400.0 + shots,
    }
    path = folder / f"results_{stamp}.json"
    path.write_text(json.dumps(document))
    return path


#: The order matters to what is stored, and not to where in a document the question
#: stands.
ORDERED = [(field, (2, 0)) for field in FIELDS.values()] + [
    (next(iter(FIELDS.values())), (0, 2))
]


@pytest.mark.parametrize(("field", "order"), ORDERED)
@pytest.mark.rare
def test_the_document_is_one_question_whatever_the_examples(
    tmp_path: Path, field: str, order: tuple[int, int]
) -> None:
    url = f"duckdb:///{tmp_path}/s.duckdb"
    for shots in order:
        report = connect(url).ingest(write(tmp_path, shots, field).parent)
        assert not [
            note for note in report.all_notes if "question" in note or "forget" in note
        ]
    with ingested(url, tmp_path) as (store, _):
        prompts = select(store, "select text from prompt order by text")
        assert [row["text"] for row in prompts] == [
            f"the sentence number {number}" for number in range(4)
        ]
        assert (
            len(select(store, "select id from run_current join run on run.id = run_id"))
            == 2
        )


@pytest.mark.parametrize("order", [(0, 2), (2, 0)])
@pytest.mark.rare
def test_a_question_that_no_field_holds_is_taken_from_a_prompt_without_examples(
    tmp_path: Path, order: tuple[int, int]
) -> None:
    url = f"duckdb:///{tmp_path}/s.duckdb"
    for shots in order:
        folder = tmp_path / str(shots)
        folder.mkdir()
        path = write(folder, shots, "Item", "Weigh: a {} b")
        for samples in path.parent.glob(
            "samples*"
        ):  # a text that is made of the document, and holds none of its fields
            samples.write_text(
                samples.read_text().replace(
                    "Weigh: a the sentence number", "Weigh: the sum of"
                )
            )
        report = connect(url).ingest(path.parent)
        assert not [note for note in report.all_notes if "question" in note]
    with ingested(url, path.parent) as (store, _):
        prompts = select(store, "select text from prompt order by text")
        assert [row["text"] for row in prompts] == [
            f"Weigh: the sum of {number} b" for number in range(4)
        ]
