"""Metrics of whole sets on published answers, to the digits of an independent program."""

from __future__ import annotations

import csv
import json
import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from warehouse.stats import (
    LabelledAnswers,
    SetMetric,
    auroc,
    labelled_answers,
    numeric_metrics,
    set_metric,
    set_metric_difference,
)


def golden(value: float) -> object:
    """Equal at the digits that the golden has."""
    return pytest.approx(value, rel=5e-9, abs=6e-11)


def is_golden(
    found: SetMetric, value: float, error: float, low: float, high: float
) -> None:
    """Value, error and interval are those of the other program."""
    assert found.estimate == golden(value)
    assert found.standard_error == golden(error)
    assert (found.ci_low, found.ci_high) == (golden(low), golden(high))


def folder(data_dir: Path, name: str) -> Path:
    """A set of the data."""
    if not (data_dir / name).is_dir():
        pytest.skip(f"no {name} in {data_dir}")
    return data_dir / name


def bbq_kind(row: dict[str, Any], chosen: int | None) -> str | None:
    """Whether an answer is the one that it cannot be known."""
    if chosen is None:
        return None
    is_unknown = row["answer_info"][f"ans{chosen}"][1] == "unknown"
    return "unknown" if is_unknown else "other"


def bbq_chosen(row: dict[str, Any], form: str) -> int | None:
    """The answer that a prediction says."""

    def plain(text: str) -> str:
        return re.sub(r"[^\w\s]", "", text.lower()).strip()

    said = plain(row[f"unifiedqa-t5-11b_pred_{form}"])
    hits = [i for i in range(3) if plain(row[f"ans{i}"]) == said]
    return hits[0] if len(hits) == 1 else None


@pytest.fixture(scope="module")
def bbq(data_dir: Path) -> list[dict[str, Any]]:
    path = folder(data_dir, "bbq_unifiedqa") / "preds_Sexual_orientation.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()]


def bbq_answers(rows: Sequence[dict[str, Any]], form: str) -> LabelledAnswers:
    """Answers to one form of the questions."""
    targets = [str(bbq_kind(row, row["label"])) for row in rows]
    return labelled_answers(
        targets, [bbq_kind(row, bbq_chosen(row, form)) for row in rows]
    )


def test_bbq_with_and_without_clusters(bbq: list[dict[str, Any]]) -> None:
    held = bbq_answers(bbq, "race")
    clusters = [row["question_index"] for row in bbq]
    found = set_metric(held, "f", "unknown")
    is_golden(found, 0.7877984085, 0.016403446, 0.7539504456, 0.8181133671)
    found = set_metric(held, "f", "unknown", clusters=clusters)
    is_golden(found, 0.7877984085, 0.0337122392, 0.7104959789, 0.8488509156)
    assert found.degrees_of_freedom == golden(23.3)
    kappa = set_metric(held, "kappa", clusters=clusters)
    assert kappa.estimate == golden(0.6296296296)
    assert (kappa.ci_low, kappa.ci_high) == (golden(0.5108059462), golden(0.724847826))
    mcc = set_metric(held, "mcc", clusters=clusters)
    assert mcc.estimate == golden(0.6510904494)
    assert (mcc.ci_low, mcc.ci_high) == (golden(0.5361555323), golden(0.7423231))
    assert set_metric(held, "f", "unknown", beta=2).estimate == golden(0.7243902439)
    other = bbq_answers(bbq, "arc")
    pair = set_metric_difference(held, other, "f", "unknown")
    assert pair.difference == golden(0.1385989907)
    assert pair.standard_error == golden(0.0171467541)


@pytest.fixture(scope="module")
def redux(data_dir: Path) -> list[dict[str, str]]:
    """Rows of the files with 14 models, each with its subject."""
    rows = []
    outputs = folder(data_dir, "mmlu_redux") / "outputs" / "multi_expert_helm"
    for path in sorted(outputs.glob("*.csv")):
        with path.open(newline="", encoding="utf-8") as file:
            rows += [row | {"subject": path.stem} for row in csv.DictReader(file)]
    return rows


def letters(rows: Sequence[dict[str, str]], model: str) -> LabelledAnswers:
    """Letters of a model; other text is no class."""
    targets = ["ABCD"[int(row["groundtruth_answer"])] for row in rows]
    return labelled_answers(targets, [row[model].strip() for row in rows])


def test_mmlu_redux_with_and_without_clusters(redux: list[dict[str, str]]) -> None:
    held = letters(redux, "openai_gpt-4o-2024-05-13")
    clusters = [row["subject"] for row in redux]
    assert held.n == 2900
    found = set_metric(held, "f", "A")
    is_golden(found, 0.8488888889, 0.0104602064, 0.8272535493, 0.8682461085)
    found = set_metric(held, "f", "A", clusters=clusters)
    is_golden(found, 0.8488888889, 0.0251440592, 0.7902794903, 0.8933298837)
    assert found.degrees_of_freedom == golden(27.33202507)
    macro = set_metric(held, "macro_f", clusters=clusters)
    assert macro.estimate == golden(0.8579544955)
    assert (macro.ci_low, macro.ci_high) == (golden(0.8036163162), golden(0.8991445569))
    kappa = set_metric(held, "kappa", clusters=clusters)
    assert kappa.estimate == golden(0.8109062018)
    assert (kappa.ci_low, kappa.ci_high) == (golden(0.7374209036), golden(0.8654189432))
    other = letters(redux, "anthropic_claude-3-opus-20240229")
    pair = set_metric_difference(held, other, "macro_f", n_resamples=999)
    assert pair.difference == golden(0.0065887278)
    assert pair.standard_error == golden(0.0061415686)
    assert pair.p_t == golden(0.2834462766)


def test_share_of_wrong_models_finds_wrong_keys(redux: list[dict[str, str]]) -> None:
    rows = [row for row in redux if row["error_type"].strip().lower() != "expert"]
    first = list(rows[0]).index("error_type") + 1
    models = list(rows[0])[first : first + 14]
    wrong = []
    for row in rows:
        key = "ABCD"[int(row["groundtruth_answer"])]
        wrong.append(np.mean([row[model].strip() != key for model in models]))
    kinds = [row["error_type"].strip().lower().replace("_", " ") for row in rows]
    found = auroc(wrong, [kind == "wrong groundtruth" for kind in kinds])
    assert (found.n_prompts, found.n_right) == (2893, 47)
    assert found.estimate == golden(0.8497779638)
    assert found.standard_error == golden(0.0338343012)
    assert found.n_effective == golden(105.7251643)
    assert (found.ci_low, found.ci_high) == (golden(0.7694995084), golden(0.90552965))


def test_likelihoods_of_two_models(data_dir: Path) -> None:
    columns = []
    for model in ("pythia-1b", "Qwen2.5-1.5B"):
        files = folder(data_dir, "hellaswag_loglik").glob(f"full_prompt/*{model}*.csv")
        with next(files).open(newline="") as file:
            columns.append([float(row["nll_0"]) for row in csv.DictReader(file)][:500])
    found = {row.metric: row for row in numeric_metrics(*columns)}
    pearson, spearman, r2 = (found[name] for name in ("pearson", "spearman", "r2"))
    assert (pearson.estimate, pearson.standard_error) == (
        golden(0.914583383),
        golden(0.008263685),
    )
    assert (pearson.ci_low, pearson.ci_high) == (
        golden(0.8967902964),
        golden(0.9294231241),
    )
    assert (spearman.estimate, spearman.standard_error) == (
        golden(0.8943321853),
        golden(0.0117733592),
    )
    assert (spearman.ci_low, spearman.ci_high) == (
        golden(0.8686619066),
        golden(0.9152128107),
    )
    assert (r2.estimate, r2.standard_error) == (
        golden(0.7098407669),
        golden(0.0268443937),
    )
    clustered = numeric_metrics(*columns, clusters=np.arange(500) // 5)[4]
    assert clustered.standard_error == golden(0.0089994188)
    assert (clustered.ci_low, clustered.ci_high) == (
        golden(0.8948326191),
        golden(0.9307604324),
    )
