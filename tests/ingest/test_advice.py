"""What ingest advises is tried: each note's command is taken out of the note, run, and leaves what is right."""

from __future__ import annotations

import re
import shlex
from pathlib import Path

import pytest

from tests.support.cli import Caller, Outcome

SCORES = "select model, benchmark, round(estimate, 3) as estimate, n_prompts from score_summary order by 2, 1"


class Shell:
    """A store, and the command line as a reader of notes uses it."""

    def __init__(self, run: Caller, folder: Path) -> None:
        self.run, self.folder = run, folder
        self.db = f"duckdb:///{folder}/s.duckdb"

    def write(self, name: str, *lines: str) -> str:
        path = self.folder / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(lines) + "\n")
        return str(path)

    def ingest(self, *arguments: str) -> Outcome:
        found = self.run("ingest", *arguments, db=self.db)
        return Outcome(found.code, found.out, " ".join(found.err.split()))

    def follow(self, said: str, pattern: str) -> None:
        """Run the commands of a note that fit a pattern."""
        commands = re.findall(pattern, said)
        assert commands, said
        for command in commands:
            for part in command.split(" && "):
                done = self.run(*shlex.split(part)[1:], db=self.db)
                assert done.code == 0, (part, done.err)

    @property
    def scores(self) -> list[tuple[object, ...]]:
        rows = self.run("query", "--sql", SCORES, "--json", db=self.db).rows
        return [tuple(row.values()) for row in rows]


@pytest.fixture
def shell(run: Caller, tmp_path: Path) -> Shell:
    return Shell(run, tmp_path)


FORGET = r"warehouse forget \d+(?: && warehouse forget \d+)*"
HEAD = "model,benchmark,prompt_id,score"


def rows(model: str, *scores: float, benchmark: str = "quiz") -> list[str]:
    return [f"{model},{benchmark},q{number},{score}" for number, score in enumerate(scores)]


def test_other_questions_under_the_ids_of_a_benchmark(shell: Shell) -> None:
    head = "model,benchmark,prompt_id,question,score"
    first = shell.write("a.csv", head, "ada,quiz,q1,2+2?,1", "ada,quiz,q2,3+3?,0")
    other = shell.write("b.csv", head, "bob,quiz,q1,capital of Peru?,1", "bob,quiz,q2,capital of Chile?,1")
    assert shell.ingest(first).code == 0
    before = shell.scores
    said = shell.ingest(other).err
    assert "another question in the store" in said and "`warehouse forget` this source" in said
    assert shell.run("forget", other, db=shell.db).code == 0
    assert shell.scores == before
    assert shell.ingest(other, "--set", "benchmark=capitals").code == 0
    assert shell.scores == [("bob", "capitals", 1.0, 2), *before]


def test_a_corrected_file(shell: Shell) -> None:
    path = shell.write("a.csv", HEAD, *rows("ada", 1, 0, 0, 0))
    assert shell.ingest(path).code == 0
    shell.write("a.csv", HEAD, *rows("ada", 1, 1, 1, 0))
    said = shell.ingest(path).err
    assert "was read before with other content" in said
    shell.follow(said, FORGET)
    assert shell.scores == [("ada", "quiz", 0.75, 4)]


def test_one_name_for_the_models_of_several_files(shell: Shell) -> None:
    head = "benchmark,prompt_id,score"
    first = shell.write("a.csv", head, "quiz,q0,1", "quiz,q1,0")
    other = shell.write("b.csv", head, "quiz,q0,1", "quiz,q1,1")
    said = shell.ingest(first, other, "--set", "model=ada").err
    assert "became repeats of one model" in said
    shell.follow(said, FORGET)
    assert shell.scores == []
    for path, name in ((first, "ada"), (other, "bob")):
        assert shell.ingest(path, "--set", f"model={name}").code == 0
    assert shell.scores == [("ada", "quiz", 0.5, 2), ("bob", "quiz", 1.0, 2)]


def test_names_that_differ_in_how_they_are_written(shell: Shell) -> None:
    assert shell.ingest(shell.write("a.csv", HEAD, *rows("Ada-2", 1, 0))).code == 0
    said = shell.ingest(shell.write("b.csv", HEAD, *rows("ada_2", 1, 1))).err
    assert "differ only in how they are written" in said
    shell.follow(said, r"warehouse models alias \S+ \S+")
    assert {row[0] for row in shell.scores} == {"Ada-2"}


def test_scores_on_two_scales(shell: Shell) -> None:
    shares = [0.12, 0.5, 0.75, 0.31, 0.9, 0.44]
    assert shell.ingest(shell.write("a.csv", HEAD, *rows("ada", *shares))).code == 0
    percent = shell.write("b.csv", HEAD, *rows("bob", *[100 * share for share in shares]))
    said = shell.ingest(percent).err
    assert "if these are per cent" in said
    shell.follow(said, FORGET)
    draft = shell.run("mapping", percent)
    assert draft.code == 0
    text = re.sub(r'^value = "score"', 'value = { path = "score", scale = 0.01 }', draft.out, flags=re.MULTILINE)
    assert "scale = 0.01" in text
    shell.write("m.toml", text)
    assert shell.ingest(percent, "--map", str(shell.folder / "m.toml")).code == 0
    assert shell.scores == [("ada", "quiz", 0.503, 6), ("bob", "quiz", 0.503, 6)]


@pytest.mark.parametrize(
    ("advice", "estimate"),
    [(("--on-conflict", "supersede"), 1.0), (("--on-conflict", "skip"), 0.5), (("--set", "run_id=r2"), 0.75)],
)
def test_a_run_id_with_other_values(shell: Shell, advice: tuple[str, str], estimate: float) -> None:
    first = shell.write("a.csv", HEAD, *rows("ada", 1, 0))
    other = shell.write("b.csv", HEAD, *rows("ada", 1, 1))
    assert shell.ingest(first, "--set", "run_id=r1").code == 0
    said = shell.ingest(other, "--set", "run_id=r1")
    assert said.code != 0 and "--on-conflict supersede replaces it, skip keeps it" in said.err
    arguments = advice if advice[0] == "--set" else ("--set", "run_id=r1", *advice)
    assert shell.ingest(other, *arguments).code == 0
    runs = shell.run("query", "--sql", "select estimate from score_summary", "--json", db=shell.db).rows
    assert sum(row["estimate"] for row in runs) / len(runs) == estimate


@pytest.mark.parametrize(("keeps", "estimate"), [("draws", 0.75), ("first", 1.0), ("last", 0.5)])
def test_a_prompt_that_stands_twice(shell: Shell, keeps: str, estimate: float) -> None:
    path = shell.write("a.csv", HEAD, "ada,quiz,q0,1", "ada,quiz,q0,0", "ada,quiz,q1,1")
    said = shell.ingest(path)
    assert said.code != 0
    assert "--on-duplicate draws takes them as generations; first or last keeps one" in said.err
    assert shell.ingest(path, "--on-duplicate", keeps).code == 0
    assert shell.scores == [("ada", "quiz", estimate, 2)]


def test_a_name_for_files_that_have_names(shell: Shell) -> None:
    first = shell.write("a.csv", HEAD, *rows("ada", 1, 0))
    other = shell.write("b.csv", HEAD, *rows("bob", 1, 1))
    said = shell.ingest(first, other, "--set", "model=eve")
    assert said.code != 0 and "--default model=eve names only what lacks a name" in said.err
    assert shell.ingest(first, other, "--default", "model=eve").code == 0
    assert [row[0] for row in shell.scores] == ["ada", "bob"]
