"""The next step after an answer: what follows which, with figures of the answer, as a
line that can be pasted."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli import Caller
from tests.support.pages import ROOT

DECIDES = "how many prompts would decide"
FLIPS = "the prompts on which they differ most"
MODELS = [*enumerate(("ada", "bob", "cy"))]
CLAIM = "a file by which others check it"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """With the demo's store, and one of a suite of two benchmarks and three models."""
    made = tmp_path_factory.mktemp("next")
    rows = [
        f"{model},{'words' if prompt % 3 else 'sums'},{prompt},{int(prompt * step % 11 < right)}\n"
        for prompt in range(120)
        for model, step, right in (("ada", 7, 8), ("bob", 7, 6), ("cy", 5, 6))
    ]
    rows += [
        f"{model},apart,{prompt + start},{prompt % 2}\n"
        for prompt in range(40)
        for model, start in (("ada", 0), ("bob", 90))
    ]
    (made / "scores.csv").write_text(
        "model,benchmark,prompt_id,score\n" + "".join(rows)
    )
    alone = [
        f"only,{name},{prompt},{prompt % 2}\n"
        for name in ("x", "y", "z")
        for prompt in range(12)
    ]
    (made / "alone.csv").write_text(
        "model,benchmark,prompt_id,score\n" + "".join(alone)
    )
    odd = [f"{model},single,q,{right}" for model, right in (("ada", 1), ("bob", 0))]
    odd += [
        f"{model},even,{prompt},{(prompt + step) % 2}"
        for prompt in range(40)
        for step, model in MODELS[:2]
    ]
    by = (1, 1, -1)  # the first two differ by 9 on each prompt
    odd += [
        f"{name},shift,{n},{n * by[step] + 9 * step}"
        for n in range(30)
        for step, name in MODELS
    ]
    odd += [
        f"{model},close,{prompt},{int(prompt % 12 < 8 - step)}"
        for prompt in range(36)
        for step, model in MODELS
    ]
    (made / "odd.csv").write_text(
        "\n".join(["model,benchmark,prompt_id,score", *odd, ""])
    )
    from warehouse.cli.main import main

    for db, dumps in (
        ("demo", ROOT / "docs/demo/results"),
        ("suite", made / "scores.csv"),
        ("one", made / "alone.csv"),
        ("odd", made / "odd.csv"),
    ):
        assert (
            main(["-q", "--db", str(made / f"{db}.duckdb"), "ingest", str(dumps)]) == 0
        )
    return made


@pytest.fixture
def terminal(run: Caller, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Caller:
    monkeypatch.chdir(folder)
    monkeypatch.setattr("warehouse.cli.ui.next_step.reads_along", lambda: True)
    return run


def next_of(err: str) -> tuple[str, str]:
    found = re.findall(r"^next, (.*?): (warehouse .*)$", err, re.MULTILINE)
    assert len(found) == 1, err
    return found[0]


POWER = "power --from model-a --from model-b"
OF_SUITE = "claim 'leaderboard --group sums,words' -o claim.json"
READING = "compare model-b model-a --benchmark reading"
SUMS = "compare model-a model-b --benchmark sums"


@pytest.mark.parametrize(
    ("db", "line", "why", "follows"),
    [
        ("demo", "leaderboard", DECIDES, f"{POWER} --benchmark reading --delta 0.0444"),
        ("demo", "leaderboard sums", FLIPS, f"{SUMS} --flips 10"),
        ("demo", f"{SUMS} --level 0.9", FLIPS, f"{SUMS} --level 0.9 --flips 10"),
        ("demo", f"{SUMS} --flips", CLAIM, f"claim '{SUMS}' -o claim.json"),
        (
            "demo",
            "pairs reading --cluster none",
            DECIDES,
            f"{POWER} --cluster none --benchmark reading --delta 0.0444",
        ),
        ("demo", "pairs sums", CLAIM, "claim 'pairs sums' -o claim.json"),
        (
            "demo",
            "matrix test sums --permutations 20",
            "which prompts models find alike",
            "matrix cluster sums",
        ),
        (
            "demo",
            "matrix weights sums --draws 50 --metric exact_match,strict-match",
            "from how many prompts on models stand as on all",
            "matrix grow sums --metric exact_match,strict-match",
        ),
        (
            "suite",
            "irt fit sums",
            "where the models stand on this scale",
            "irt ability sums",
        ),
        (
            "suite",
            "irt ability sums words",
            "what the order is without each benchmark",
            "irt ability sums words --sensitivity",
        ),
        (
            "suite",
            "irt ability sums",
            "every two of them, by their scores",
            "pairs sums",
        ),
        (
            "demo",
            "gate model-b model-a --margin 0.02",
            FLIPS,
            "compare model-b model-a --benchmark sums --flips 10",
        ),
        (
            "demo",
            "gate model-b model-a -b reading --margin 0.02",
            FLIPS,
            f"{READING} --flips 10",
        ),
        (
            "odd",
            "compare ada bob -b even --flips",
            CLAIM,
            "claim 'compare ada bob --benchmark even' -o claim.json",
        ),
        (
            "odd",
            "leaderboard single",
            FLIPS,
            "compare ada bob --benchmark single --flips 10",
        ),
        (
            "odd",
            "leaderboard shift",
            FLIPS,
            "compare bob ada --benchmark shift --flips 10",
        ),
        ("demo", "show run:1", "one prompt of it", "show run:1 0"),
        ("suite", "leaderboard --group sums,words", CLAIM, OF_SUITE),
        (
            "suite",
            "leaderboard words",
            "every two of them, by one family of tests",
            "pairs words",
        ),
        ("suite", "leaderboard apart", "prompt by prompt", "show run:3"),
        ("one", "leaderboard", "all of this as a page with pictures", "report"),
        ("one", "leaderboard x", "prompt by prompt", "show run:1"),
    ],
)
def test_the_next_step_fits_the_answer_and_works(
    terminal: Caller, db: str, line: str, why: str, follows: str
) -> None:
    reason, command = next_of(terminal(*shlex.split(line), db=f"{db}.duckdb").err)
    assert (reason, command) == (why, f"warehouse --db {db}.duckdb {follows}")
    done = terminal(
        *shlex.split(command)[1:], *(["--force"] if "claim" in command else [])
    )
    assert done.code == 0, done.err


def test_the_plan_is_by_tests_as_strict_as_the_answers(terminal: Caller) -> None:
    """Among three pairs: else as many prompts as there are would seem enough to tell a
    pair that they left open."""
    line = next_of(terminal("leaderboard", "close", db="odd.duckdb").err)[1]
    assert "--delta 0.0833 --alpha 0.0167" in line


@pytest.mark.parametrize("silent", ["--json", "--csv", "-q"])
def test_programs_and_the_quiet_get_none(terminal: Caller, silent: str) -> None:
    assert "next, " not in terminal("leaderboard", silent, db="demo.duckdb").err


def test_benchmarks_with_one_model_each_are_one_table(terminal: Caller) -> None:
    shown = terminal("leaderboard", db="one.duckdb").out
    assert shown.startswith(
        "3 benchmarks with one model each, so nothing is ranked\nbenchmark  model"
    )
    assert len([line for line in shown.splitlines() if " only " in line]) == 3
    assert not {"first", "leads", "rank"} & {*shown.split()}
