"""Real dumps of lm-evaluation-harness: the figures that their README lists come out of
the rows."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.lm_eval import alike, candidates, claimed, take, take_v03
from warehouse.importers.lm_eval.importer import IMPORTER
from warehouse.importers.lm_eval.v03 import IMPORTER as IMPORTER_V03
from warehouse.records import ImportSettings

QWEN = "lm_eval_logs/negotiationtom/Qwen__Qwen3-8B"


@pytest.mark.parametrize("clock", ["16-04", "17-38", "17-52", "18-15"])
def test_negotiationtom(data_dir: Path, clock: str) -> None:
    taken = take(*(data_dir / QWEN).glob(f"*_2026-07-08T{clock}*"))
    assert taken.mean("negotiationtom_belief", "acc") == pytest.approx(0.45, rel=1e-12)
    assert taken.mean("negotiationtom_desire", "acc") == pytest.approx(0.6, rel=1e-12)
    assert taken.mean("negotiationtom_intention", "exact_match") == pytest.approx(
        0.2, rel=1e-12
    )
    intention = taken.run("negotiationtom_intention")
    figures = {score.metric: score.value for score in intention.published}
    last = clock == "18-15"
    assert figures["micro_f1"] == (0.2857142857142857 if last else 0.30188679245283023)
    assert (intention.n_benchmark, intention.n_requested) == (4618, 20)
    assert intention.suite == ("negotiationtom",)


def test_asdiv_and_its_checkpoints(data_dir: Path) -> None:
    folder = data_dir / "lm_eval_logs" / "asdiv"
    sources = claimed(folder)
    dumps = [IMPORTER.read(source, ImportSettings()) for source in sources]
    assert sorted(run.epoch for dump in dumps for run in dump.runs if run.epoch) == [
        5,
        20,
        62,
    ]
    for path in folder.rglob("samples_asdiv_*"):
        stamp = path.stem.rpartition("_")[2]
        taken = take(*path.parent.glob(f"*{stamp}*"))
        assert taken.mean("asdiv", "acc") == pytest.approx(0.92, rel=1e-12)
        (score,) = taken.run("asdiv").published
        assert score.standard_error == pytest.approx(0.0387561713321444, rel=1e-12)


def test_truthfulqa_without_results(data_dir: Path) -> None:
    (path,) = (data_dir / "lm_eval_logs" / "truthfulqa_gen").glob("*T13-51*")
    taken = take(path, model="org/m")
    means = {
        m: taken.mean("truthfulqa_gen", m)
        for m in ("bleu_max", "rouge1_max", "rougeL_max")
    }
    assert means == {
        "bleu_max": pytest.approx(13.827668, abs=5e-7),
        "rouge1_max": pytest.approx(34.233899, abs=5e-7),
        "rougeL_max": pytest.approx(31.690464, abs=5e-7),
    }
    assert taken.mean("truthfulqa_gen", "bleu_acc") == pytest.approx(0.391677, abs=5e-7)
    labels = [
        score
        for row in taken.rows
        for score in row["scores"]
        if score["metric"] == "hallucination"
    ]
    assert {score["status"] for score in labels} == {"not_scalar"}
    assert labels[0]["raw"] == '"truthful"'


@pytest.mark.parametrize(
    ("folder", "correct"), [("llama13", 965), ("llama13shuffle", 620)]
)
def test_write_out(data_dir: Path, folder: str, correct: int) -> None:
    taken = take_v03(
        data_dir / "lm_eval_logs" / "write_out_v0_3" / folder, model="llama-2-13b"
    )
    values = [row["scores"][0]["value"] for row in taken.rows]
    assert (len(values), sum(values)) == (1267, correct)


@pytest.mark.rare
def test_pythia(data_dir: Path) -> None:
    folder = data_dir / "pythia" / "evals" / "pythia-v1"
    figures = {}
    steps: dict[str, set[int | None]] = {}
    for source in IMPORTER_V03.claim(candidates([folder])):
        for run in IMPORTER_V03.read(source, ImportSettings()).runs:
            steps.setdefault(run.model, set()).add(run.step)
            for score in run.published:
                figures[run.model, run.step, run.benchmark, score.metric] = score.value
    assert {len(found) for found in steps.values()} == {27} and len(steps) == 8
    expected = {
        ("70m", "lambada_openai", "acc"): 0.18455268775470599,
        ("1.4b", "lambada_openai", "acc"): 0.6161459344071415,
        ("12b", "lambada_openai", "acc"): 0.7046380749078207,
        ("70m", "lambada_openai", "ppl"): 142.42891015470678,
        ("1.4b", "lambada_openai", "ppl"): 6.0857145325729105,
        ("12b", "lambada_openai", "ppl"): 3.9236415916124625,
        ("70m", "piqa", "acc"): 0.5946681175190425,
        ("1.4b", "piqa", "acc"): 0.7089227421109902,
        ("12b", "piqa", "acc"): 0.7600652883569097,
    }
    for (size, task, metric), value in expected.items():
        assert figures[f"EleutherAI/pythia-v1.1-{size}", 143000, task, metric] == value


def test_in_bulk_and_row_by_row_agree_on_everything(data_dir: Path) -> None:
    folders = [data_dir / "lm_eval_logs", data_dir / "writers" / "lm_eval_0.4.13"]
    compared = 0
    for source in IMPORTER.claim(candidates(folders)):
        taken = take(*source.files, model="org/m")
        assert alike(taken.bulk) == alike(taken.slow)
        compared += len(taken.bulk)
    assert compared > 1000


def test_no_file_of_another_tool_is_claimed(data_dir: Path) -> None:
    files = candidates([data_dir])
    for importer in (IMPORTER, IMPORTER_V03):
        taken = [path for source in importer.claim(files) for path in source.files]
        assert taken != []
        assert {path.relative_to(data_dir).parts[0] for path in taken} <= {
            "lm_eval_logs",
            "pythia",
            "writers",
        }
