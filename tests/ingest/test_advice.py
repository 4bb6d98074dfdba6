"""What ingest advises is tried: each note's command is taken out of the note, run, and
leaves what is right."""

from __future__ import annotations

import ast
import re
import shlex
from collections import defaultdict
from pathlib import Path

import pytest

from tests.support.cli import Caller, Outcome
from warehouse import ingest as ingest_package
from warehouse.store.open import open_store

SCORES = (
    "select model, benchmark, round(estimate, 3) as estimate, n_prompts from "
    "score_summary order by 2, 1"
)


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


FORGET = r"warehouse fix forget \d+(?: && warehouse fix forget \d+)*"
HEAD = "model,benchmark,prompt_id,score"


def rows(model: str, *scores: float, benchmark: str = "quiz") -> list[str]:
    return [
        f"{model},{benchmark},q{number},{score}" for number, score in enumerate(scores)
    ]


def test_other_questions_under_the_ids_of_a_benchmark(shell: Shell) -> None:
    head = "model,benchmark,prompt_id,question,score"
    first = shell.write("a.csv", head, "ada,quiz,q1,2+2?,1", "ada,quiz,q2,3+3?,0")
    other = shell.write(
        "b.csv",
        head,
        "bob,quiz,q1,capital of Peru?,1",
        "bob,quiz,q2,capital of Chile?,1",
    )
    assert shell.ingest(first).code == 0
    before = shell.scores
    said = shell.ingest(other).err
    assert (
        "another question in the store" in said
        and "`warehouse fix forget` this source" in said
    )
    assert shell.run("fix", "forget", other, db=shell.db).code == 0
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
    shell.follow(said, r"warehouse fix alias \S+ \S+")
    assert {row[0] for row in shell.scores} == {"Ada-2"}


def test_scores_on_two_scales(shell: Shell) -> None:
    shares = [0.12, 0.5, 0.75, 0.31, 0.9, 0.44]
    assert shell.ingest(shell.write("a.csv", HEAD, *rows("ada", *shares))).code == 0
    percent = shell.write(
        "b.csv", HEAD, *rows("bob", *[100 * share for share in shares])
    )
    said = shell.ingest(percent).err
    assert "if these are per cent" in said
    shell.follow(said, FORGET)
    draft = shell.run("mapping", percent)
    assert draft.code == 0
    text = re.sub(
        r'^value = "score"',
        'value = { path = "score", scale = 0.01 }',
        draft.out,
        flags=re.MULTILINE,
    )
    assert "scale = 0.01" in text
    shell.write("m.toml", text)
    assert shell.ingest(percent, "--map", str(shell.folder / "m.toml")).code == 0
    assert shell.scores == [("ada", "quiz", 0.503, 6), ("bob", "quiz", 0.503, 6)]


@pytest.mark.parametrize(
    ("advice", "estimate"),
    [
        (("--on-conflict", "supersede"), 1.0),
        (("--on-conflict", "skip"), 0.5),
        (("--set", "run_id=r2"), 0.75),
    ],
)
def test_a_run_id_with_other_values(
    shell: Shell, advice: tuple[str, str], estimate: float
) -> None:
    first = shell.write("a.csv", HEAD, *rows("ada", 1, 0))
    other = shell.write("b.csv", HEAD, *rows("ada", 1, 1))
    assert shell.ingest(first, "--set", "run_id=r1").code == 0
    said = shell.ingest(other, "--set", "run_id=r1")
    assert (
        said.code != 0
        and "--on-conflict supersede replaces it, skip keeps it" in said.err
    )
    arguments = advice if advice[0] == "--set" else ("--set", "run_id=r1", *advice)
    assert shell.ingest(other, *arguments).code == 0
    runs = shell.run(
        "query", "--sql", "select estimate from score_summary", "--json", db=shell.db
    ).rows
    assert sum(row["estimate"] for row in runs) / len(runs) == estimate


@pytest.mark.parametrize(
    ("keeps", "estimate"), [("draws", 0.75), ("first", 1.0), ("last", 0.5)]
)
def test_a_prompt_that_stands_twice(shell: Shell, keeps: str, estimate: float) -> None:
    path = shell.write("a.csv", HEAD, "ada,quiz,q0,1", "ada,quiz,q0,0", "ada,quiz,q1,1")
    said = shell.ingest(path)
    assert said.code != 0
    assert (
        "--on-duplicate draws takes them as generations; first or last keeps one"
        in said.err
    )
    assert shell.ingest(path, "--on-duplicate", keeps).code == 0
    assert shell.scores == [("ada", "quiz", estimate, 2)]


def test_a_name_for_files_that_have_names(shell: Shell) -> None:
    first = shell.write("a.csv", HEAD, *rows("ada", 1, 0))
    other = shell.write("b.csv", HEAD, *rows("bob", 1, 1))
    said = shell.ingest(first, other, "--set", "model=eve")
    assert (
        said.code != 0
        and "--default model=eve names only what lacks a name" in said.err
    )
    assert shell.ingest(first, other, "--default", "model=eve").code == 0
    assert [row[0] for row in shell.scores] == ["ada", "bob"]


def test_a_setting_that_does_not_matter(shell: Shell) -> None:
    head = "model,benchmark,prompt_id,score,temperature,worker_note"
    mapping = shell.write("m.toml", *MAPPING_WITH_SETTING)
    first = shell.write(
        "a.csv", head, "ada,my quiz,q0,1,0.5,left", "ada,my quiz,q1,0,0.5,left"
    )
    other = shell.write(
        "b.csv", head, "ada,my quiz,q0,1,0.5,right", "ada,my quiz,q1,1,0.5,right"
    )
    assert shell.ingest(first, "--map", mapping).code == 0
    said = shell.ingest(other, "--map", mapping).err
    assert "kept apart by settings" in said
    board = shell.run("leaderboard", "my quiz", "--json", db=shell.db)
    assert len(board.rows) == 2
    shell.follow(said, r"warehouse fix settings '[^']+' --ignore \S+")
    (row,) = shell.run("leaderboard", "my quiz", "--json", db=shell.db).rows
    assert (row["runs"], row["estimate"]) == (2, 0.75)
    shell.follow(
        said.replace("--ignore", "--count"),
        r"warehouse fix settings '[^']+' --count \S+",
    )
    assert shell.run("leaderboard", "my quiz", "--json", db=shell.db).rows == board.rows


MAPPING_WITH_SETTING = [
    "[run]",
    'model = "model"',
    'benchmark = "benchmark"',
    'temperature = "temperature"',
    "[run.configuration]",
    'worker_note = "worker_note"',
    "[sample]",
    'prompt_id = "prompt_id"',
    "[[scores]]",
    'metric = "score"',
    'value = "score"',
]


def test_a_direction_that_two_sources_say_otherwise(shell: Shell) -> None:
    first = shell.write("a.csv", HEAD, *rows("ada", 1, 0.25, benchmark="my quiz"))
    other = shell.write("b.csv", HEAD, *rows("bob", 0, 0.5, benchmark="my quiz"))
    assert shell.ingest(first, "--higher-is-better").code == 0
    said = shell.ingest(other, "--lower-is-better").err
    assert "lower is better holds until a person says otherwise" in said.replace(
        "lower in another", ""
    )
    leader = ("leaderboard", "my quiz", "--json")
    assert shell.run(*leader, db=shell.db).rows[0]["model"] == "bob"
    shell.follow(said, r"warehouse fix metric '[^']+' --metric \S+ --higher-is-better")
    assert shell.run(*leader, db=shell.db).rows[0]["model"] == "ada"


def test_the_same_as_an_invalidated_run(shell: Shell) -> None:
    first = shell.write("a.csv", HEAD, *rows("ada", 1, 0))
    other = shell.write("b.csv", HEAD, *reversed(rows("ada", 1, 0)))
    assert shell.ingest(first).code == 0
    before = shell.scores
    assert (
        shell.run("fix", "invalidate", "run:1", "--reason", "wrong", db=shell.db).code
        == 0
    )
    said = shell.ingest(other).err
    assert "does not count" in said and shell.scores == []
    shell.follow(said, r"warehouse fix invalidate run:\d+ --undo")
    assert shell.scores == before


def test_an_invalidated_run_in_whose_place_another_came(shell: Shell) -> None:
    first, other = (shell.write(f"{n}.csv", HEAD, *rows("ada", 1, n)) for n in (0, 1))
    assert shell.ingest(first, "--set", "run_id=r").code == 0
    assert (
        shell.run("fix", "invalidate", "run:1", "--reason", "wrong", db=shell.db).code
        == 0
    )
    assert shell.ingest(other, "--set", "run_id=r").code == 0
    refused = shell.run("fix", "invalidate", "run:1", "--undo", db=shell.db)
    assert refused.code != 0 and [row[2] for row in shell.scores] == [1.0]
    shell.follow(
        " ".join(refused.err.split()).replace("TEXT", "why"),
        r"warehouse fix invalidate run:\d+ --reason why",
    )
    assert shell.run("fix", "invalidate", "run:1", "--undo", db=shell.db).code == 0
    assert [row[2] for row in shell.scores] == [0.5]


@pytest.mark.parametrize("order", [(0, 1), (1, 0)])
def test_rows_that_stand_in_another_run_too(
    shell: Shell, order: tuple[int, int]
) -> None:
    """Taken for one; a name makes each an execution of its own."""
    files = [
        shell.write(f"{n}.csv", HEAD, *rows("ada", 1, 0, *[1] * n)) for n in (0, 2)
    ]
    said = [shell.ingest(files[number]).err for number in order][1]
    assert "--set run_id=NAME" in said and len(shell.scores) == 1
    shell.run("fix", "forget", files[order[1]], db=shell.db)
    assert shell.ingest(files[order[1]], "--set", "run_id=second").code == 0
    assert [row[2] for row in shell.scores] in ([0.5, 0.75], [0.75, 0.5])


def test_equal_responses_with_other_scores(shell: Shell) -> None:
    head = "model,benchmark,prompt_id,response,score"
    answers = [f"a long answer, number {n}" for n in range(12)]
    for name, threshold in (("a", 6), ("b", 9)):
        lines = [
            f'ada,quiz,q{n},"{text}",{int(n < threshold)}'
            for n, text in enumerate(answers)
        ]
        shell.write(f"{name}.csv", head, *lines)
    first, other = (str(shell.folder / f"{name}.csv") for name in "ab")
    assert shell.ingest(first).code == 0
    said = shell.ingest(other)
    assert (
        said.code != 0 and "--set run_id=NAME takes them for two executions" in said.err
    )
    text = (shell.folder / "b.csv").read_text().splitlines()
    scored = shell.write(
        "c.csv", text[0] + ",scorer", *[f"{line},lenient" for line in text[1:]]
    )
    assert shell.ingest(scored).code == 0
    assert sorted(row[2] for row in shell.scores) == [0.5, 0.75]


def test_rows_that_are_rejected(shell: Shell) -> None:
    path = shell.write("a.csv", HEAD, *rows("ada", 1, 0), "ada,quiz")
    said = shell.ingest(path)
    assert said.code != 0
    (allowed,) = re.findall(r"--max-rejected \d+", said.err)
    assert shell.ingest(path, *allowed.split()).code == 0
    assert shell.scores == [("ada", "quiz", 0.5, 2)]


def test_a_file_that_was_read_otherwise(shell: Shell) -> None:
    """What it said is replaced; both stand only where that is asked for."""
    path = shell.write("a.csv", "benchmark,prompt_id,score", "quiz,q0,1", "quiz,q1,0")
    assert shell.ingest(path, "--set", "model=ada").code == 0
    assert "--beside keeps both" in shell.ingest(path, "--set", "model=bob").err
    assert [row[0] for row in shell.scores] == ["bob"]
    assert shell.ingest(path, "--set", "model=ada", "--beside").code == 0
    assert [row[0] for row in shell.scores] == ["ada", "bob"]


def test_a_source_that_an_earlier_version_has_loaded(shell: Shell) -> None:
    """What it said of prompts is not known apart from what a forgotten source said: it
    is read again."""
    head = "model,benchmark,prompt_id,score,target"
    for number, model in enumerate(("ada", "bob"), 1):
        path = shell.write(
            f"{number}.csv", head, f"{model},quiz,q0,1,{'A' if number == 1 else ''}"
        )
        assert shell.ingest(path).code == 0
    with open_store(shell.db, write=True) as store, store.begin() as connection:
        connection.exec_driver_sql("delete from statement where source_id = 2")
        connection.exec_driver_sql(
            "insert into statement values (2, 'earlier version', 2, null)"
        )
    said = shell.run("fix", "forget", "1.csv", db=shell.db)
    assert "forget that source too and ingest it again" in " ".join(said.err.split())
    target = ("query", "--sql", "select target from prompt", "--json")
    assert [row["target"] for row in shell.run(*target, db=shell.db).rows] == ["A"]
    assert (
        shell.run("fix", "forget", "2.csv", db=shell.db).code == 0
        and shell.ingest(path).code == 0
    )
    assert [row["target"] for row in shell.run(*target, db=shell.db).rows] == [None]


def test_what_was_said_of_a_run_that_is_not_there_again(shell: Shell) -> None:
    """It is said again of the run that stands for it."""
    head = "model,benchmark,prompt_id,score"
    path = shell.write("t.csv", head, "ada,quiz,q0,1", "ada,quiz,q1,0")
    assert shell.ingest(path).code == 0
    assert shell.run("fix", "tag", "run:1", "kept", db=shell.db).code == 0
    assert (
        shell.run("fix", "invalidate", "run:1", "--reason", "odd", db=shell.db).code
        == 0
    )
    said = " ".join(shell.ingest(path, "--set", "benchmark=exam").err.split())
    assert (
        "had the tags kept and been invalidated (odd); no run that is read now is "
        "surely the same" in said
    )
    assert shell.run("fix", "tag", "run:2", "kept", db=shell.db).code == 0
    assert (
        shell.run("fix", "invalidate", "run:2", "--reason", "odd", db=shell.db).code
        == 0
    )


#: What notes and errors of an ingest advise to type, and the test that types it.
TRIED = {
    "--beside": test_a_file_that_was_read_otherwise,
    "--default": test_a_name_for_files_that_have_names,
    "--force": "tests/ingest/test_defaults.py",
    "--higher-is-better": test_a_direction_that_two_sources_say_otherwise,
    "--ignore": test_a_setting_that_does_not_matter,
    "--map": "tests/ingest/test_drafted.py",
    "--max-rejected": test_rows_that_are_rejected,
    "--metric": test_a_direction_that_two_sources_say_otherwise,
    "--no-map": "tests/ingest/test_drafted.py",
    "--on-conflict": test_a_run_id_with_other_values,
    "--on-duplicate": test_a_prompt_that_stands_twice,
    "--reason": test_an_invalidated_run_in_whose_place_another_came,
    "--set": test_a_run_id_with_other_values,
    "--undo": test_the_same_as_an_invalidated_run,
    "warehouse fix alias": test_names_that_differ_in_how_they_are_written,
    "warehouse fix metric": test_a_direction_that_two_sources_say_otherwise,
    "warehouse fix settings": test_a_setting_that_does_not_matter,
    "warehouse fix forget": test_a_corrected_file,
    "warehouse fix invalidate": test_the_same_as_an_invalidated_run,
    "warehouse fix tag": test_what_was_said_of_a_run_that_is_not_there_again,
    "warehouse mapping": test_scores_on_two_scales,
    "warehouse list sources": test_a_source_that_an_earlier_version_has_loaded,
}
#: What ``db check`` advises is tried by ``tests/cli/test_store.py``, limits of
#: addresses by ``test_remote.py``, what is said where nothing is found by
#: ``tests/cli/test_ingest.py``.
TRIED_ELSEWHERE = ("outdated.py", "remote.py", "remote_hosts.py", "nothing_found.py")
_ADVICE = re.compile(r"warehouse [a-z]+(?: [a-z]+)?|(?<![\w-])--[a-z][a-z-]+")


def test_whatever_is_advised_is_tried() -> None:
    """A note that names another command or option needs a test that runs it, and its
    line in the table."""
    package = Path(str(ingest_package.__file__)).parent
    advised: dict[str, set[str]] = defaultdict(set)
    for path in (
        *package.glob("*.py"),
        *(package.parent / "store" / "load").glob("*.py"),
    ):
        if path.name in TRIED_ELSEWHERE:
            continue
        tree = ast.parse(path.read_text())
        documented = {
            id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)
        }
        for node in ast.walk(tree):
            if (
                isinstance(node, ast.Constant)
                and isinstance(node.value, str)
                and id(node) not in documented
            ):
                for advice in _ADVICE.findall(node.value):
                    advised[advice].add(path.name)
    assert {
        advice: where for advice, where in advised.items() if advice not in TRIED
    } == {}
    assert TRIED.keys() <= advised.keys()
