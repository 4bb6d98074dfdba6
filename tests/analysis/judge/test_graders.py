"""On what scale judge and people score, and how far three or more graders agree."""

from __future__ import annotations

import shlex
from pathlib import Path

import numpy as np
import pytest

from tests.support.cli import Caller
from warehouse.stats import graders_agreement

HEAD = """
files = ["grades.csv"]
[run]
model = "model"
benchmark = { const = "essays" }
[sample]
prompt_id = "question_id"
"""
GRADER = """
[[scores]]
metric = "{metric}"
value = "{name}"
[metrics.{metric}]
higher_is_better = true
scorer = "{name}"
scorer_kind = "{kind}"
{judge}
{bounds}
"""
BOUNDS = 'kind = "bounded"\nlow = {}\nhigh = {}'


def write(
    folder: Path, ranges: dict[str, tuple[int, int] | None], seed: int = 1
) -> list[str]:
    """Answers of two models graded by people from 5 to 10, by judges from 0 to 5;
    ranges as they are declared."""
    rng = np.random.default_rng(seed)
    lines = [",".join(("model", "question_id", *ranges))]
    for model in "ab":
        for number in range(20):
            people = int(rng.integers(5, 11))
            judges = [
                max(0, people - int(rng.integers(3, 6))) for _ in range(len(ranges) - 1)
            ]
            lines.append(",".join(map(str, (model, f"q{number}", people, *judges))))
    (folder / "grades.csv").write_text("\n".join(lines) + "\n")
    text = HEAD
    for name, bounds in ranges.items():
        kind = "human" if name == "people" else "model"
        judge = f'judge_model = "{name}"' if kind == "model" else ""
        text += GRADER.format(
            name=name,
            metric=f"by_{name}",
            kind=kind,
            judge=judge,
            bounds=BOUNDS.format(*bounds) if bounds else "",
        )
    (folder / "m.toml").write_text(text)
    return [str(folder / "grades.csv"), "--map", str(folder / "m.toml")]


@pytest.fixture
def db(tmp_path: Path) -> str:
    return f"duckdb:///{tmp_path}/s.duckdb"


ASK = ("judge", "agreement", "essays", "--judge", "gpt", "--human", "people")


def test_declared_ranges_decide_whatever_was_seen(
    run: Caller, db: str, tmp_path: Path
) -> None:
    assert (
        run("ingest", *write(tmp_path, {"people": (0, 10), "gpt": (0, 10)}), db=db).code
        == 0
    )
    found = run(*ASK, db=db)
    assert "agree on 0.0% of 40 answers" in found.out and "κ" in found.out
    other = f"{db}2"
    assert (
        run(
            "ingest", *write(tmp_path, {"people": (0, 10), "gpt": (0, 5)}), db=other
        ).code
        == 0
    )
    assert "judge and people do not score on one scale" in run(*ASK, db=other).out


def test_where_nothing_is_declared_the_way_to_say_it_is_told_and_works(
    run: Caller, db: str, tmp_path: Path
) -> None:
    assert (
        run("ingest", *write(tmp_path, {"people": None, "gpt": None}), db=db).code == 0
    )
    found = " ".join(run(*ASK, db=db).out.split())
    command = "warehouse fix metric essays --metric NAME --bounds LOW HIGH"
    assert command in found
    for metric in ("by_people", "by_gpt"):
        words = shlex.split(
            command.replace("NAME", metric).replace("LOW", "0").replace("HIGH", "10")
        )
        assert run(*words[1:], db=db).code == 0
    assert "agree on 0.0% of 40 answers" in run(*ASK, db=db).out


def test_alpha_of_all_graders_of_one_scale(
    run: Caller, db: str, tmp_path: Path
) -> None:
    ranges = {"people": (0, 10), "gpt": (0, 10), "claude": (0, 10), "toxicity": (0, 1)}
    arguments = write(tmp_path, {**ranges, "toxicity": (0, 100)})
    assert run("ingest", *arguments, db=db).code == 0
    rows = [
        line.split(",")
        for line in (tmp_path / "grades.csv").read_text().splitlines()[1:]
    ]
    grades = np.array([[float(row[3]), float(row[2]), float(row[4])] for row in rows])
    expected = graders_agreement(grades, [row[1] for row in rows])
    brief = " ".join(run(*ASK, db=db).out.split())
    interval = expected.figure("alpha_interval").estimate
    assert interval is not None
    said = f"(gpt, claude and people): Krippendorff's alpha (interval) {interval:.2f}"
    assert f"All 3 graders {said}" in brief
    found = " ".join(run("--explain", *ASK, db=db).out.split())
    assert (
        "Krippendorff's alpha of 3 graders (gpt, claude, people) on 40 answers" in found
    )
    for of in ("nominal", "ordinal", "interval"):
        assert f"{of} {expected.figure(f'alpha_{of}').estimate:.3f}" in found


def test_two_graders_have_no_alpha_of_several(
    run: Caller, db: str, tmp_path: Path
) -> None:
    assert (
        run("ingest", *write(tmp_path, {"people": (0, 10), "gpt": (0, 10)}), db=db).code
        == 0
    )
    assert "Krippendorff" not in run(*ASK, db=db).out
