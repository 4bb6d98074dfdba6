"""Both engines hold the same of every small dump, and answer every command alike.

Most tests that load or ask run on the embedded engine alone by default
(`tests/conftest.py`): that the server does the same is proven here, over all that is
shipped.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from contextlib import ExitStack, chdir
from pathlib import Path
from shlex import split

import pyarrow.parquet as pq
import pytest

from tests.support.cli import Caller
from tests.support.dumps import DATA, small_dumps
from tests.support.full_store import CALLS, STORE, fill
from tests.support.same_stores import CLOCKS
from tests.support.stores import empty_store
from warehouse.export import export
from warehouse.ingest.pipeline import ingest
from warehouse.store.curate import upkeep
from warehouse.store.open import open_store

pytestmark = [pytest.mark.engine, pytest.mark.rare]
ENGINES = ("duckdb", "postgresql")
#: Commands that say how an engine does it, ask none, or name a run by its number:
#: engines number otherwise.
OF_ONE_ENGINE = re.compile(
    "store |config|completion|help |schedule|mapping|power "
    "--omega2|history|.*run:|list runs$|query( score_summary)?$"
)
TIMES = re.compile(
    r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?|\b\d+(\.\d+)? s\b|seconds +[\d.]+"
)
#: The number of a run, which says in which order it was stored.
RUN = re.compile(r"\brun \d+")
NUMBERS = re.compile(r'"(\w*ids?|runs(_[ab])?|sources|seconds)":(\[[\d,]*\]|[\d.]+)')
#: The same in a command that is pasted.
SHOWN = re.compile(r"(warehouse show run:)\d+")
LONG_FRACTION = re.compile(r"-?\d+(\.\d{6,}(e-?\d+)?|(\.\d+)?e-\d+)")
#: Times, and the sign of a variance that is zero but for rounding.
LEFT_OUT = CLOCKS | {"is_clipped"}
#: What the calls of `full_store` leave out: options that change what is asked of the
#: store.
MORE = (
    "leaderboard reading --where seed!=9 --cluster passage --json",
    "leaderboard exam --json --resamples 0",
    "list models --json",
    "list benchmarks --json",
    "items difficulty exam --json",
    "items audit exam --json",
    "prefer voted --scorer human --json",
    "training seeds --json",
    "noise variance sums --json",
    "query --sql \"select name from benchmark where name like 'e%' and name <> :b "
    'order by name" -p b=x --json',
    "refresh --json",
)


@pytest.fixture(scope="module")
def urls(request: pytest.FixtureRequest) -> Iterator[list[str]]:
    """An empty store of each engine."""
    with ExitStack() as stack:
        yield [stack.enter_context(empty_store(request, engine)) for engine in ENGINES]


def contents(folder: Path) -> dict[str, list[list[str]]]:
    """Rows of every table and view of an export, by natural keys and without times."""
    return {
        str(file.relative_to(folder)): rows_of(file)
        for file in sorted(folder.rglob("*.parquet"))
    }


def rows_of(file: Path) -> list[list[str]]:
    rows = pq.read_table(file).to_pylist()
    return sorted(
        [f"{name} {shown(row[name])}" for name in sorted(row) if name not in LEFT_OUT]
        for row in rows
    )


def shown(value: object) -> str:
    """A value without what rounding leaves of a zero, and without the number of a run."""
    if isinstance(value, float):
        return f"{round(value, 13) + 0.0:.9g}"
    return RUN.sub("run N", repr(value))


def test_every_small_dump_is_stored_alike(urls: list[str], tmp_path: Path) -> None:
    named = small_dumps()
    unnamed = [source["paths"][0] for source in named.values() if source.get("values")]
    paths = [
        source["paths"][0]
        for source in named.values()
        if not source.get("values") and "mapping" not in source
    ]
    # some of these decide about others, or are large: all that is given with them would
    # be loaded one by one
    apart = [
        path
        for path in paths
        if path.parent.name in ("inspect", "inspect_scout", "simple_evals")
    ]
    refused = []
    for url, engine in zip(urls, ENGINES, strict=True):
        with open_store(url, write=True) as store:
            reports = [
                ingest(store, [path for path in paths if path not in apart]),
                ingest(store, [*apart, DATA / "every_eval_ever", DATA / "inspect"]),
                ingest(store, unnamed, values={"model": "org/unnamed"}),
                ingest(store, **named["tabular/long.csv"]),
            ]
            errors = [item.error for report in reports for item in report.refused]
            refused.append([RUN.sub("run N", error) for error in errors])
            export(store, tmp_path / engine)
    assert refused[0] == refused[1]
    held, other = (contents(tmp_path / engine) for engine in ENGINES)
    assert sum(map(len, held.values())) > 5_000
    assert {
        name: differing(rows, other[name])
        for name, rows in held.items()
        if rows != other[name]
    } == {}


def differing(
    rows: list[list[str]], other: list[list[str]]
) -> tuple[list[list[str]], list[list[str]]]:
    """The first rows that only one has."""
    return [row for row in rows if row not in other][:2], [
        row for row in other if row not in rows
    ][:2]


@pytest.fixture(scope="module")
def full(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, Path]]:
    """Stores that every command finds something in, each with a folder of its files."""
    with ExitStack() as stack:
        folders = {}
        for engine in ENGINES:
            url = stack.enter_context(empty_store(request, engine))
            folders[url] = tmp_path_factory.mktemp(engine)
            with chdir(folders[url]):
                fill(folders[url], url)
            with open_store(url, write=True) as store:
                if store.dialect.roles:
                    upkeep.make_reader(store)
        yield folders


#: What is said in words is made of what `--json` gives, where that is called too.
BOTH = [
    call
    for call in (*CALLS, *MORE)
    if not OF_ONE_ENGINE.match(call) and f"{call} --json" not in (*CALLS, *MORE)
]


@pytest.mark.parametrize("call", BOTH)
def test_every_command_answers_alike(
    call: str, full: dict[str, Path], run: Caller
) -> None:
    """One after the other on the same two stores: what some change, the others read."""
    answers = []
    for url, folder in full.items():
        with chdir(folder):
            said = run(*split(call), db=url)
        text = TIMES.sub("TIME", f"{said.out}\n{said.err}".replace(url, STORE))
        text = SHOWN.sub(r"\1N", NUMBERS.sub(r'"\1":"N"', text))
        answers.append(
            (said.code, LONG_FRACTION.sub(lambda number: shown(float(number[0])), text))
        )
    assert answers[0][0] in (0, 1, 5), answers[0]
    assert answers[0] == answers[1]
