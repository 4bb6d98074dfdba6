"""A claim of which anything was changed does not hold: every value, key and order, one
at a time."""

from __future__ import annotations

import copy
import json
import logging
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller
from warehouse.claims.bundle import read_claim
from warehouse.claims.verify import (
    NOT_COMPARED,
    Verdict,
    check_parameters,
    verify_claim,
)
from warehouse.cli.commands.claim import _parsed
from warehouse.errors import InputError
from warehouse.records.canonical_json import canonical_digest
from warehouse.store.curate import upkeep
from warehouse.store.open import open_store
from warehouse.store.shared_reads import SharedReads

QUESTIONS = [
    "leaderboard -b quiz --level 0.9 --where model!=lab/c --where split!=dev",
    "compare lab/a lab/b -b quiz --method permutation",
    "pairs quiz --resamples 99",
    "noise variance quiz",
    'query --sql "select model, estimate, n_prompts from score_summary"',
]
#: Of which every single change takes up to half a minute; the same code judges them
#: all.
LONG = QUESTIONS[:4]
#: So many changes are left out between two that are tried; all are at night.
STEPS = [
    (QUESTIONS[4], 1),
    *(pytest.param(text, 11, marks=pytest.mark.rare) for text in LONG),
    *(pytest.param(text, 1, marks=pytest.mark.slow) for text in LONG),
]
Path_ = tuple[Any, ...]


def changes(value: Any, path: Path_ = ()) -> Iterator[tuple[Path_, str, Any]]:
    """Where, how, and what stands there then: every single change of a JSON value."""
    if isinstance(value, dict):
        yield path, "a key more", value | {"comment": "the best"}
        for key in value:
            without = {name: one for name, one in value.items() if name != key}
            yield (*path, key), "removed", without
            yield (*path, key), "called otherwise", without | {f"{key}_": value[key]}
            for place, how, changed in changes(value[key], (*path, key)):
                yield place, how, value | {key: changed}
    elif isinstance(value, list):
        yield (
            path,
            "an entry more",
            [*value, copy.deepcopy(value[-1]) if value else "x"],
        )
        if value != value[::-1]:
            yield path, "another order", value[::-1]
        for number, one in enumerate(value):
            yield (*path, number), "removed", value[:number] + value[number + 1 :]
            for place, how, changed in changes(one, (*path, number)):
                yield place, how, [*value[:number], changed, *value[number + 1 :]]
    else:
        yield path, "changed", other(value)
        yield path, "of another kind", [value]


def other(value: Any) -> Any:
    if isinstance(value, bool):
        return not value
    if isinstance(value, int | float):
        return value * 1.01 + 1
    return 0 if value is None else f"{value}x"


def is_left_out(path: Path_) -> bool:
    """Whether a place is one of those that may differ, with their reason in the
    documentation."""
    words = [part for part in path if isinstance(part, str)]
    return ".".join(words).replace("sources.", "source.") in NOT_COMPARED


@pytest.mark.parametrize(("question", "step"), STEPS)
@pytest.mark.rare
def test_no_single_change_of_a_claim_holds(
    run: Caller, place: Path, question: str, step: int
) -> None:
    run("fix", "cluster", "quiz", "passage", "--default", db="s.db")
    assert run("claim", question, "-o", "c.json", db="s.db").code == 0
    content = json.loads((place / "c.json").read_text())
    del content["digest"]
    changed_file = place / "changed.json"
    n_changes = 0
    with open_store("s.db", guarded=True) as store:
        shared = SharedReads(store)

        def verdict(changed: Any) -> Verdict:
            changed_file.write_text(
                json.dumps(changed | {"digest": canonical_digest(changed)})
            )
            claim = read_claim(changed_file)
            check_parameters(claim, "c.json")
            return verify_claim(shared, claim, _parsed)

        assert verdict(content).holds
        held = []
        for path, how, changed in islice(changes(content), 0, None, step):
            n_changes += 1
            try:
                holds = verdict(changed).holds
            except InputError:
                continue
            if holds and not is_left_out(path):
                held.append((path, how))
    assert n_changes > 20 and held == []


@pytest.mark.parametrize(
    ("command", "part"),
    [
        ("leaderboard quiz --level 0.9", "level"),
        ("pairs quiz", "pairs"),
        ("leaderboard quiz --json", "cannot have --json"),
        ("leaderboard quiz --wide", "cannot have --wide"),
        ("leaderboard quiz --db other.db", "cannot have --db"),
        ("leaderboard quiz -q", "cannot have --quiet"),
        ("leaderboard --help", "No such option"),
        ("report", "nothing can be claimed"),
    ],
)
def test_the_command_that_people_read_asks_what_is_recomputed(
    run: Caller, place: Path, command: str, part: str
) -> None:
    run("claim", "leaderboard quiz", "-o", "c.json", db="s.db")
    content = json.loads((place / "c.json").read_text()) | {"command": command}
    del content["digest"]
    (place / "c.json").write_text(
        json.dumps(content | {"digest": canonical_digest(content)})
    )
    found = run("claim", "verify", "c.json", "--json", db="s.db")
    (row,) = found.rows
    assert (
        found.code == 1
        and row["what"] == "command"
        and part in row["claimed"] + row["found"]
    ), row
    if "cannot" in part:
        run("claim", command, "-o", "d.json", db="s.db").fails(2, part)
    # a stranger's words silence nothing that this process says afterwards
    assert logging.getLogger("warehouse").level == logging.NOTSET


def test_the_same_question_in_other_words_holds(run: Caller, place: Path) -> None:
    for question in (
        "leaderboard -b quiz",
        "leaderboard quiz  --level 0.95",
        "leaderboard 'quiz'",
    ):
        assert run("claim", question, "-o", "c.json", db="s.db").code == 0
        assert read_claim(place / "c.json").parameters == {"benchmark": "quiz"}
        assert run("claim", "verify", "c.json", db="s.db").code == 0


def test_a_key_that_stands_twice_is_refused(run: Caller, place: Path) -> None:
    run("claim", "leaderboard quiz", "-o", "c.json", db="s.db")
    text = (place / "c.json").read_text()
    (place / "c.json").write_text('{"answer":"the best",' + text[1:])
    run("claim", "verify", "c.json", db="s.db").fails(3, "'answer' stands twice")


def test_other_files_with_the_same_samples_hold_where_the_caller_says_so(
    run: Caller, place: Path
) -> None:
    run("claim", "leaderboard quiz", "-o", "c.json", db="s.db")
    lines = (place / "new" / "b.csv").read_text().splitlines(keepends=True)
    (place / "new" / "b.csv").write_text(
        "".join([lines[0], *lines[:0:-1]])
    )  # the same rows, from the last
    assert run("ingest", "new", "--higher-is-better", db="t.db").code == 0
    refused = run("claim", "verify", "c.json", db="t.db")
    assert (
        refused.code == 1 and "--other-files" in refused.err and "b.csv" in refused.out
    )
    held = run("claim", "verify", "c.json", "--other-files", db="t.db")
    assert held.code == 0 and "1 of 2 source files are others: b.csv" in held.err


@pytest.mark.parametrize(
    "question",
    [
        pytest.param(text, marks=pytest.mark.rare) if text in LONG[1:] else text
        for text in QUESTIONS
    ],
)
def test_a_claim_of_one_engine_holds_on_every_other(
    run: Caller, place: Path, store_url: str, question: str
) -> None:
    assert run("ingest", "new", "--higher-is-better", db=store_url).code == 0
    with open_store(store_url, write=True) as store:
        if store.dialect.roles:
            upkeep.make_reader(store)
    assert run("claim", question, "-o", "c.json", db="s.db").code == 0
    held = run("claim", "verify", "c.json", db=store_url)
    assert held.code == 0, held


def test_rows_of_a_query_without_an_order_stand_in_one_of_their_own(
    run: Caller, place: Path
) -> None:
    for sql, ordered in (
        ("select n from (values (3), (1), (2)) as t(n)", [1, 2, 3]),
        ("select n from (values (3), (1), (2)) as t(n) order by n desc", [3, 2, 1]),
        (
            "select n, row_number() over (order by n desc) from (values (3), (1), (2)) "
            "as t(n) -- order by",
            [1, 2, 3],
        ),
    ):
        run("claim", f'query --sql "{sql}"', "-o", "c.json", db="s.db")
        assert [row["n"] for row in read_claim(place / "c.json").rows] == ordered, sql
