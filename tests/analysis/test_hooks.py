"""What rare rooms add to daily answers: found by one table, loaded where it is needed."""

from __future__ import annotations

import subprocess
import sys
from importlib import import_module

from tests.support.builders import StoreRows
from tests.test_layers import DAILY, ROOT, is_rare
from warehouse.analysis.selection.hook_table import FILLED_BY, Hook

#: Runs command lines, one after the other, and says which modules are there at the end.
LOADED = """
import sys
from shlex import split
from warehouse.cli.main import main
for line in sys.argv[1:]:
    assert main(split(line)) in (0, 5), line
print("\\n".join(["MODULES", *sys.modules]))
"""
PLAIN = (
    "leaderboard quiz",
    "leaderboard",
    "leaderboard --group suite",
    "compare org/a org/b",
    "pairs quiz",
    "gate org/a org/b --margin 0.05",
    "power --from org/a org/b --benchmark quiz --delta 0.1",
    "power --delta 0.03 --omega2 0.111",
)


def build() -> StoreRows:
    """Three models on a benchmark, two of them on two more, which are a suite."""
    rows = StoreRows()
    for name, models, parent in (
        ("quiz", "abc", None),
        ("suite/one", "ab", "suite"),
        ("suite/two", "ab", "suite"),
    ):
        if parent is not None:
            rows.benchmark(name, parent=parent)
        rows.describe(name, rows.metric())
        for place, model in enumerate(models):
            scores = {
                f"{name}{n}": float((n * 7 + place * 3) % 5 > place) for n in range(30)
            }
            rows.scores(rows.run(f"org/{model}", name), scores)
    return rows


def modules_after(*lines: str) -> set[str]:
    """Modules that a new process has loaded after these command lines."""
    done = subprocess.run(
        [sys.executable, "-c", LOADED, *lines],
        capture_output=True,
        text=True,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    return set(done.stdout.partition("MODULES\n")[2].split())


def test_daily_commands_load_nothing_rare(url: str) -> None:
    """On a store without plans, without stopped runs, and where nobody asks for costs."""
    loaded = modules_after(*(f"--db {url} {line}" for line in PLAIN))
    for answers in (
        "leaderboard.answer",
        "suites.answer",
        "pairs.answer",
        "power.answer",
    ):
        assert f"warehouse.analysis.{answers}" in loaded
    assert sorted(filter(is_rare, loaded)) == []


def test_every_hook_is_filled_by_a_rare_file() -> None:
    rooms = [
        import_module(f"{room}.hooks")
        for room in DAILY
        if (ROOT / room.replace(".", "/") / "hooks.py").exists()
    ]
    hooks = [
        value
        for room in rooms
        for value in vars(room).values()
        if isinstance(value, Hook)
    ]
    assert {hook.module for hook in hooks} == {*FILLED_BY.values()}
    assert all(is_rare(hook.module) and hook.load() is not None for hook in hooks)
