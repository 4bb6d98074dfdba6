"""Stores of answers that judges scored and people labelled in part, with the truth
known."""

from __future__ import annotations

import csv
from collections.abc import Collection, Mapping
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

import warehouse
from warehouse.analysis.judge.next import LabelWave
from warehouse.api import Warehouse

Scores = Mapping[str, NDArray[np.float64]]


def truth(
    rates: Mapping[str, float], n: int = 400, seed: int = 0
) -> dict[str, NDArray[np.float64]]:
    """What people would say of each model's answers, 0/1; prompts are easy or hard for
    all of them."""
    rng = np.random.default_rng(seed)
    ease = rng.random(n)
    return {
        model: ((0.6 * ease + 0.4 * rng.random(n)) > 1 - rate).astype(np.float64)
        for model, rate in rates.items()
    }


def biased(
    labels: NDArray[np.float64], seed: int, agreement: float = 0.7, up: float = 0.25
) -> NDArray[np.float64]:
    """A judge that sees what people see in part, and likes a share of what they do not."""
    rng = np.random.default_rng(seed)
    own = np.where(
        rng.random(len(labels)) < agreement,
        labels,
        rng.random(len(labels)) < labels.mean(),
    )
    return np.where(rng.random(len(labels)) < up, 1.0, own)


def ingest_judged(
    url: str,
    folder: Path,
    judges: Mapping[str, Scores],
    benchmark: str = "essays",
    kind: str = "binary",
) -> Warehouse:
    """A run of each model, with an answer to each prompt that each judge has scored
    0/1."""
    models = list(next(iter(judges.values())))
    metrics = "\n".join(
        "[[scores]]\n"
        f'metric = "{judge}"\n'
        f'value = "{judge}"\n'
        f"[metrics.{judge}]\n"
        f'kind = "{kind}"\n'
        f'scorer = "{judge}"\n'
        'scorer_kind = "model"\n'
        f'judge_model = "{judge}-model"\n'
        f"higher_is_better = true\nis_default = {str(number == 0).lower()}\n"
        for number, judge in enumerate(judges)
    )
    run = '[run]\nmodel = "model"\nbenchmark = "benchmark"\n'
    run += '[sample]\nprompt_id = "id"\ntext = "question"\nresponse = "said"\n'
    (folder / "judged.toml").write_text(f'files = ["judged.csv"]\n{run}{metrics}')
    with (folder / "judged.csv").open("w", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(["model", "benchmark", "id", "question", "said", *judges])
        for model in models:
            for prompt in range(len(next(iter(judges.values()))[model])):
                scores = [
                    "" if np.isnan(own[model][prompt]) else float(own[model][prompt])
                    for own in judges.values()
                ]
                writer.writerow(
                    [
                        model,
                        benchmark,
                        f"p{prompt}",
                        f"Question {prompt}?",
                        f"{model} says {prompt}",
                        *scores,
                    ]
                )
    store = warehouse.connect(url)
    store.ingest(folder / "judged.csv", mapping=folder / "judged.toml")
    return store


def take_labels(
    store: Warehouse,
    wave: LabelWave,
    folder: Path,
    people: Scores,
    without: Collection[int] = (),
) -> None:
    """A sheet of `judge next`, filled in by the truth but for some rows, as a source of
    the store."""
    sheet = folder / "sheet.csv"
    sheet.write_text(wave.sheet_csv())
    label_sheet(sheet, people, without)
    store.ingest(sheet, mapping="label_sheet")


def label_sheet(sheet: Path, people: Scores, without: Collection[int] = ()) -> None:
    """Fill in a sheet of `judge next` by the truth, some of its rows not at all."""
    with sheet.open(newline="") as file:
        rows = list(csv.DictReader(file))
    for number, row in enumerate(rows):
        label = int(people[row["model"]][int(row["prompt_id"][1:])])
        row["label"] = "" if number in without else str(label)
    with sheet.open("w", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)
