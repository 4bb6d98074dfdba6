"""``print(result)`` shows what the command prints, of whatever kind the result is;
`--json` has the rows of Python."""

from __future__ import annotations

import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from importlib import import_module
from pathlib import Path
from pkgutil import walk_packages
from typing import Any

import pytest

import warehouse
import warehouse.analysis
import warehouse.refresh
from tests.support.cli import Caller, filled_url, on_a_terminal
from tests.support.full_store import STORE, copy_filled
from tests.support.world import build_world
from warehouse.analysis.results import Result, Row, StoredResult
from warehouse.tables.text import in_text
from warehouse.tables.view import Table, View

#: Characters of a line that has room for every column and sentence, and more rows than
#: any table here has.
ROOM = 2000

#: A result that no command shows.
PLAIN = {"BenchmarkCurves"}
#: What others are made of.
BASES = {"StoredResult", "IrtResult", "MatrixResult", "SubsetPlan", "_ItemsOfModels"}


@pytest.fixture(scope="module")
def url(request: pytest.FixtureRequest) -> Iterator[str]:
    with filled_url(request, "duckdb", build_world()) as filled:
        yield filled


def results(kind: type = Result) -> Iterator[type]:
    for below in kind.__subclasses__():
        yield below
        yield from results(below)


def test_every_result_says_itself_what_people_are_shown_of_it() -> None:
    for room in (warehouse.analysis, warehouse.refresh):
        for found in walk_packages(room.__path__, f"{room.__name__}."):
            import_module(found.name)
    own = {
        kind.__name__
        for kind in results()
        if kind.view not in (Result.view, StoredResult.view)
    }
    named = {
        kind.__name__ for kind in results() if kind.__module__.startswith("warehouse.")
    }
    assert named - own - PLAIN - BASES == set()


def test_print_is_what_a_terminal_of_80_columns_shows(url: str) -> None:
    store = warehouse.connect(url)
    asked: dict[tuple[str, ...], Any] = {
        ("gate", "run:14", "run:16", "--margin", "0.5"): store.gate(
            "run:14", "run:16", 0.5
        ),
        ("power", "--from", "run:14", "run:16", "--delta", "0.1"): store.power(
            "run:14", "run:16", delta=0.1
        ),
        (
            "training",
            "recipes",
        ): store.recipes(),
    }
    for command, result in asked.items():
        shown = on_a_terminal(80, "--db", url, "-q", *command)
        head = str(result).splitlines()[: len(shown)]
        assert [line for line in head if "left out" not in line][:6] == [
            line for line in shown if "--wide" not in line
        ][:6]
        assert "<table" in result._repr_html_()


def test_print_is_what_the_command_prints(url: str, run: Caller) -> None:
    store = warehouse.connect(url)
    asked: dict[tuple[str, ...], Any] = {
        ("show", "run:1"): store.show("run:1"),
        ("show", "prompt:1"): store.show("prompt:1"),
        ("noise", "variance", "essay", "--pass-at", "1"): store.pass_rates(
            "essay", at=[1]
        ),
    }
    run_1 = store.show("run:1")
    first = f"prompt:{run_1.rows[0].prompt_id}"
    asked["show", "run:1", first] = store.show("run:1", first)
    for command, result in asked.items():
        shown = run(*command, db=url).out.split()
        assert [word for word in str(result).split()[:12] if word in shown] == shown[
            :12
        ], command
        assert "<div" in result._repr_html_() and len(result.to_arrow()) == len(
            result.to_frame()
        )
    refreshed = store.refresh()
    assert str(refreshed).startswith("refresh ") and "recomputed" in str(refreshed)
    assert " failed" not in str(refreshed).splitlines()[1]  # 0 everywhere


ASKED: dict[str, Callable[[Any], Any]] = {
    "list runs": lambda store: store.runs(),
    "list sources": lambda store: store.sources(),
    "show run:1": lambda store: store.show("run:1"),
    "items difficulty probe": lambda store: store.items("probe"),
    "irt ability probe": lambda store: store.irt("probe").abilities(),
    "items datamap run:14": lambda store: store.datamap("run:14"),
    "judge agreement quiz": lambda store: store.judge("quiz"),
    "subset plan quiz --size 3 --no-store": lambda store: store.subset_plan(
        "quiz", size=3, store_result=False
    ),
}
ASKED_OF_MUCH: dict[str, Callable[[Any], Any]] = {
    "list models": lambda store: store.models(),
    "list benchmarks": lambda store: store.benchmarks(),
    "items difficulty exam --features": lambda store: store.item_features("exam"),
    "items difficulty exam --splits": lambda store: store.item_splits("exam"),
    "items difficulty exam --pruning": lambda store: store.item_pruning("exam"),
    "irt fit exam": lambda store: store.irt("exam").fit(),
    "irt dimensions exam": lambda store: store.irt("exam").dimensions(),
    "irt next org/new exam --new": lambda store: store.irt("exam").next_items(
        "org/new", new=True
    ),
    "matrix cluster exam": lambda store: store.matrix("exam").cluster(),
    "matrix grow exam": lambda store: store.matrix("exam").grow(),
    "matrix test exam --permutations 20": lambda store: store.matrix("exam").test(
        permutations=20
    ),
    "matrix weights exam --draws 50": lambda store: store.matrix("exam").weights(
        draws=50
    ),
    "matrix explain exam --permutations 20": lambda store: store.matrix("exam").explain(
        permutations=20
    ),
    "items datamap org/m0 -b gens": lambda store: store.datamap(
        "org/m0", benchmark="gens"
    ),
    "items audit exam --effect": lambda store: store.audit("exam", effect=True),
    "subset flash exam --model org/m3": lambda store: store.flash(
        "exam", model="org/m3"
    ),
    "subset anchors exam": lambda store: store.anchors("exam"),
    "text duplicates exam": lambda store: store.duplicates("exam"),
    "text grep apple": lambda store: store.grep("apple"),
    "text similar q00": lambda store: store.similar("q00"),
    "text cluster exam --no-store": lambda store: store.cluster_semantic(
        "exam", store_result=False
    ),
    "prefer voted --by scorer": lambda store: store.prefer("voted", by="scorer"),
    "judge plan exam --judge acc --correlation 0.5 --width 0.3": lambda store: (
        store.judge_plan("exam", judge="acc", correlation=0.5, width=0.3)
    ),
    "judge next exam --judge acc --n 9 --dry-run": lambda store: store.judge_next(
        "exam", judge="acc", n=9, dry_run=True
    ),
    "leaderboard reading --corrected --judge acc --human acc_norm": lambda store: (
        store.leaderboard_corrected("reading", judge="acc", human="acc_norm")
    ),
    "compare model-a model-b -b reading --corrected --judge acc --human acc_norm": lambda store: (
        store.compare_corrected(
            "model-a", "model-b", benchmark="reading", judge="acc", human="acc_norm"
        )
    ),
}


def lines_of(result: Any) -> list[str]:
    return in_text(View(result.view().parts), width=ROOM, rows=ROOM).splitlines()


def printed(url: str, command: str) -> list[str]:
    """Lines of a command on a terminal with room for all, without empty ones at the
    end."""
    return (
        "\n".join(
            on_a_terminal(ROOM, "--db", url, "-q", *shlex.split(command), codes=(0, 1))
        )
        .rstrip()
        .split("\n")
    )


@pytest.mark.parametrize("command", ASKED)
def test_a_notebook_shows_line_by_line_what_the_command_prints(
    url: str, command: str
) -> None:
    assert lines_of(ASKED[command](warehouse.connect(url))) == printed(url, command)


#: What `--json` gives, as rows of what Python gives.
ROWS: dict[str, Callable[[Any], Sequence[Row]]] = {
    "leaderboard quiz": lambda store: store.leaderboard("quiz").rows,
    "leaderboard --group suite --force": lambda store: (
        store.leaderboard(group="suite", force=True).rows
    ),
    "compare run:14 run:16": lambda store: store.compare("run:14", "run:16").rows,
    "pairs draws --resamples 99 --seed 1": lambda store: (
        store.pairs("draws", n_resamples=99, seed=1).rows
    ),
    "noise variance quiz": lambda store: store.variance("quiz").rows,
    "noise variance quiz --pass-at 1,2 --pass-hat 2": lambda store: (
        store.pass_rates("quiz", at=[1, 2], hat=[2]).rows
    ),
    "noise variance probe --seeds": lambda store: store.seed_variance("probe").rows,
    "show run:1": lambda store: store.show("run:1").rows,
    "items difficulty probe": lambda store: store.items("probe").rows,
    "irt ability probe": lambda store: store.irt("probe").abilities().rows,
    "items datamap run:14": lambda store: store.datamap("run:14").rows,
    "items datamap run:14 --distribution": lambda store: (
        store.datamap("run:14").distribution
    ),
    "judge agreement quiz": lambda store: store.judge("quiz").rows,
}


@pytest.mark.parametrize("command", ROWS)
def test_programs_get_the_rows_that_python_gives(
    url: str, run: Caller, command: str
) -> None:
    rows = ROWS[command](warehouse.connect(url))
    expected = [row.to_dict() for row in rows]
    assert run(*shlex.split(command), "--json", db=url).rows == expected
    heading = run(*shlex.split(command), "--csv", db=url).out.partition("\n")[0]
    assert heading.split(",") == list(expected[0]) == list(type(rows[0]).columns())


@pytest.mark.rare
def test_the_same_of_every_other_result(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    copy_filled(tmp_path)
    url = f"duckdb:///{STORE}"
    store = warehouse.connect(url)
    shown = {command: lines_of(ask(store)) for command, ask in ASKED_OF_MUCH.items()}
    assert shown == {command: printed(url, command) for command in ASKED_OF_MUCH}


def test_a_result_is_shown_without_the_command_line(url: str, tmp_path: Path) -> None:
    program = (
        f"import sys, warehouse; store = warehouse.connect({url!r}); "
        "print(store.show('run:1'), store.runs());print([name for name in sys.modules "
        "if name.startswith('warehouse.cli')])"
    )
    done = subprocess.run(
        [sys.executable, "-c", program], cwd=tmp_path, text=True, capture_output=True
    )
    assert done.stdout.splitlines()[-1] == "[]", done.stderr


def test_names_may_be_one_name(url: str) -> None:
    assert str(warehouse.connect(url).seeds("probe")) == str(
        warehouse.connect(url).seeds(["probe"])
    )
    assert any(
        isinstance(part, Table)
        for part in warehouse.connect(url).recipes("quiz").view().parts
    )
