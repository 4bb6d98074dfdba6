"""MMLU-Redux: answers of 20 models to 2 900 items whose keys people have checked."""

from __future__ import annotations

import ast
import csv
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from warehouse.stats.labels.votes import NOT_ASKED, UNPARSED

_LETTERS = {"A": 0, "B": 1, "C": 2, "D": 3}
_MODELS = ("anthropic", "google", "meta", "mistralai", "openai", "qwen", "writer")


@dataclass(frozen=True)
class Audited:
    """Answers as options 0 to 3, 20 independent models in the order of the files."""

    answers: NDArray[np.int64]
    keys: NDArray[np.int64]
    subjects: NDArray[Any]
    verdicts: NDArray[Any]

    def wrong(self) -> NDArray[np.float64]:
        """1 where the audit found the key wrong, 0 elsewhere, NaN where it did not
        decide."""
        return self.marked("wrong_groundtruth")

    def faulty(self) -> NDArray[np.float64]:
        """1 where the key is not the one right answer: another is, none is, or several
        are."""
        return self.marked(
            "wrong_groundtruth", "no_correct_answer", "multiple_correct_answers"
        )

    def marked(self, *verdicts: str) -> NDArray[np.float64]:
        """1 where the verdict is one of these, NaN where the audit did not decide, else
        0."""
        return np.where(
            self.verdicts == "expert", np.nan, np.isin(self.verdicts, verdicts)
        )


def read_mmlu_redux(folder: Path) -> Audited:
    """The audit joined to both files of answers; four models that are in both count
    once."""
    answers, keys, subjects, verdicts = [], [], [], []
    for path in sorted((folder / "mmlu_redux").glob("*.csv")):
        subject = path.stem.removeprefix("mmlu_")
        newer = _rows(folder / "outputs" / "multi_expert_helm" / f"{subject}.csv")
        older = {
            _question(row): row
            for row in _rows(
                folder / "outputs" / "original_helm_combined" / f"{subject}.csv"
            )
        }
        for audit, new in zip(_rows(path), newer, strict=True):
            old = older.get(_question(audit), {})
            own = [_option(new[name]) for name in new if name.startswith(_MODELS)]
            # The names stand in the header of every subject; an item that is missing
            # has no row.
            also = [
                name
                for name in next(iter(older.values()))
                if name.startswith(_MODELS) and name not in new
            ]
            answers.append(
                own + [_option(old[name]) if old else NOT_ASKED for name in also]
            )
            keys.append(int(audit["answer"]))
            subjects.append(subject)
            verdicts.append(audit["error_type"].strip().lower().replace(" ", "_"))
    return Audited(
        np.array(answers), np.array(keys), np.array(subjects), np.array(verdicts)
    )


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="", encoding="utf-8-sig", errors="replace") as file:
        header = file.readline()
        file.seek(0)
        return list(
            csv.DictReader(
                file, delimiter=";" if header.count(";") > header.count(",") else ","
            )
        )


def _question(row: dict[str, str]) -> tuple[str, ...]:
    """Question and choices, runs of white space made one blank."""
    return tuple(
        " ".join(str(text).split())
        for text in (row["question"], *ast.literal_eval(row["choices"]))
    )


def _option(answer: str) -> int:
    return _LETTERS.get(answer.strip(), UNPARSED)
