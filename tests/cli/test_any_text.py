"""No output fails on a name or a text, and none steers a terminal: whatever the store
holds, in every form."""

from __future__ import annotations

import csv
import io
import json
import os
import re
import shlex
import subprocess
import sys
from collections.abc import Iterable, Iterator
from itertools import cycle, product
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.cli import COMMAND, Caller
from tests.support.stores import ENGINES, empty_store
from warehouse import connect
from warehouse.cli.ui.output import Output
from warehouse.cli.ui.table import print_text
from warehouse.store.curate import upkeep
from warehouse.store.load.state import LoadOptions
from warehouse.store.open import open_store

#: Of every plane and kind; NUL and halves of pairs as a dump may have them.
TEXTS = (
    "plain",
    "\U0001f469\u200d\U0001f680 \U00020000",
    "\u202eright \u05d0\u0628 left\u2069",
    "\x1b]0;title\x07\x1b[31mred\x9b2J",
    "a\tb\r\nc\x85d\u2028e\x00f",
    "\ud800 half \udfff",
    "=cmd|' /C calc'!A1",
    "<script>alert('&\")</script>]]>",
    "[/bold] {x} %s %(y)s \\u0041 \\",
    "e\u0301\u0336" * 100,
    "\ufffe\uffff\ufeff",
    "../" * 100,
)
NAMES = [
    text.replace("\0", "") for text in TEXTS
]  # with it they are refused on a server
MODELS = [f"m{place} {text}" for place, text in enumerate(NAMES)]
FORMS = ("", "--json", "--jsonl", "--csv", "--csv-safe", "--parquet")
#: What a terminal obeys.
STEERS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")
anything = st.text(st.characters(), max_size=300)  # lone surrogates too


def dump(path: Path) -> None:
    """Two benchmarks with strange names, models, prompts and metadata; JSON writes
    halves of pairs as escapes."""
    rows = [
        {
            "model": model,
            "benchmark": f"b{number} {NAMES[3 + number]}",
            "prompt_id": f"p{place} {NAMES[place]}",
            "metric": "acc",
            "score": (place * (other + 1) + number) % 2,
            "prompt": text,
            "response": text[::-1],
        }
        for number in range(2)
        for other, model in enumerate(MODELS)
        for place, text in enumerate(TEXTS)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows))


@pytest.fixture(scope="module", params=ENGINES)
def filled(
    request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[str]:
    """URL of a store of it, from a file and a folder whose names are no UTF-8."""
    folder = Path(
        os.fsdecode(bytes(tmp_path_factory.mktemp("dumps")) + b"/f\xff\x1b[31m")
    )
    folder.mkdir()
    dump(folder / os.fsdecode(b"d\xfe\n\xe2\x80\xae.jsonl"))
    with empty_store(request, request.param) as url:
        report = connect(url).ingest(
            folder, options=LoadOptions(max_rejected=100)
        )  # rows with halves of pairs
        assert [one.state for one in report.sources] == ["loaded"], report
        with open_store(url, write=True) as store:
            if store.dialect.roles:
                upkeep.make_reader(
                    store
                )  # typed queries do not run as the superuser of the tests
        yield url


@pytest.fixture(scope="module")
def names(filled: str) -> tuple[str, str, str]:
    """A benchmark and two models as the store calls them."""
    house = connect(filled)
    benchmark = house.arrow("select min(name) as n from benchmark")["n"][0].as_py()
    models = house.arrow("select name from model order by name")["name"].to_pylist()
    return benchmark, models[3], models[4]


def calls(benchmark: str, one: str, other: str) -> list[list[str]]:
    """Every command that answers in rows."""
    b = ["-b", benchmark]
    return [
        ["list", "runs"],
        ["list", "models"],
        ["list", "benchmarks"],
        ["list", "metrics", benchmark],
        ["list", "sources"],
        ["list", "sources", "1"],
        ["leaderboard", benchmark],
        ["leaderboard"],
        ["compare", one, other, *b],
        ["compare", one, other],
        ["compare", one, other, *b, "--flips", "3"],
        ["pairs", benchmark, "--resamples", "99"],
        ["noise", "variance", benchmark],
        ["show", "run:1"],
        ["show", "run:1", "1"],
        ["gate", one, other, *b, "--margin", "0.1"],
        ["items", "difficulty", benchmark],
        ["irt", "fit", benchmark],
        ["subset", "anchors", benchmark, "--sizes", "4"],
        ["items", "datamap", one, *b],
        ["items", "audit", benchmark],
        ["matrix", "test", benchmark, "--permutations", "20"],
        ["subset", "plan", benchmark, "--size", "4", "--no-store"],
        ["power", "--from", one, other, *b, "--delta", "0.2"],
        ["noise", "reliability", benchmark, "--resamples", "20"],
        ["subset", "flash", benchmark, "--resamples", "20"],
        ["history", one],
        ["refresh", "--dry-run"],
        ["query", "score_summary"],
        ["query", "--sql", "select * from prompt"],
        ["list", "clusters"],
        ["config"],
        ["store", "check"],
    ]


#: What no store has, asked for by name: in one form each, for it is said in words or
#: JSON whatever the form.
STRANGE = [
    [name, text]
    for name in ("leaderboard", "show", "sources", "items")
    for text in TEXTS
    if "\0" not in text
]


def read(form: str, text: str, target: Path) -> Any:
    """An answer, as a program reads it."""
    if form == "--json":
        return json.loads(text)
    if form == "--jsonl":
        return [json.loads(line) for line in text.split("\n") if line]
    if form == "--parquet":
        return pq.read_table(io.BytesIO(target.read_bytes())).to_pylist()
    return [*csv.reader(io.StringIO(text))] if form else text


def hold(
    filled: str, run: Caller, folder: Path, called: Iterable[tuple[list[str], str]]
) -> None:
    """Of calls, each with its form, none fails or steers a terminal."""
    target = folder / os.fsdecode(b"\xff\x1b[2J.parquet")
    for call, form in called:
        target.unlink(missing_ok=True)
        outcome = run(
            *call,
            *filter(None, [form]),
            *([str(target)] if form == "--parquet" else []),
            db=filled,
        )
        assert not STEERS.search(outcome.out + outcome.err), (call, form)
        assert "Traceback" not in outcome.err, (call, form, outcome.err)
        if outcome.code == 0:
            read(form, outcome.out, target)


@pytest.mark.rare
def test_rows(
    filled: str, names: tuple[str, str, str], run: Caller, tmp_path: Path
) -> None:
    """Each call as people read it and some in the forms for programs: one writer of
    rows serves all calls, and `test_any_text_in_any_form` tries it in all forms. Each
    text is asked for by one command."""
    found = calls(*names)
    hold(
        filled,
        run,
        tmp_path,
        [*zip(found, cycle([""])), *zip(found[::3], cycle(FORMS[1:]))],
    )
    hold(filled, run, tmp_path, zip(STRANGE[::4], cycle(FORMS)))


@pytest.mark.slow
def test_rows_in_every_form(
    filled: str, names: tuple[str, str, str], run: Caller, tmp_path: Path
) -> None:
    hold(filled, run, tmp_path, product([*calls(*names), *STRANGE], FORMS))


@pytest.mark.slow_on_server
def test_files(
    filled: str, names: tuple[str, str, str], run: Caller, tmp_path: Path
) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/\xff\x1b[31m"))
    folder.mkdir()
    benchmark, one, other = names
    question = ["claim", shlex.join(["compare", one, other, "-b", benchmark])]
    for call in (
        ["report", "-o", str(folder / "page.html")],
        ["report", "--split", "-o", str(folder / "pages")],
        [*question, "-o", str(folder / "claim.json")],
        [
            "subset",
            "plan",
            benchmark,
            "--size",
            "4",
            "--no-store",
            "-o",
            str(folder / "plan.json"),
        ],
        ["subset", "export", str(folder / "plan.json"), "--to", "csv"],
        ["store", "export", "--parquet", str(folder / "out")],
        ["store", "export", "--format", "every-eval-ever", str(folder / "eee")],
        ["store", "publish", str(folder / "copy.db")],
        ["report", "-o", str(folder / "page.html"), "--json"],
    ):
        outcome = run(*call, db=filled)
        assert not STEERS.search(outcome.out + outcome.err), call
        assert outcome.code == (2 if "publish" in call else 0), (call, outcome.err)


def test_words_of_the_user(filled: str, run: Caller) -> None:
    """What is typed is stored as it can be, and found again by the same words."""
    for text in map(
        os.fsdecode, (b"x\xff\x1b[31m", "\U0001f469\u202e".encode(), b"n" * 300)
    ):
        assert run("fix", "tag", "run:1", "--note", text, text, db=filled).code == 0
        (row,) = run("list", "runs", "run:1", "--json", db=filled).rows
        assert row["note"] == text.encode("utf-8", "backslashreplace").decode()
        assert run(
            "list", "runs", "--where", f"tag={text}", "--json", db=filled
        ).code in (0, 2)
        for call in (
            ["fix", "alias", text, text],
            ["query", "--sql", f"select '{text}'"],
            ["fix", "forget", text],
        ):
            outcome = run(*call, db=filled)
            assert outcome.code in (0, 2) and not STEERS.search(
                outcome.out + outcome.err
            )


#: What one process is asked after the ingest of another.
OTHERS = [["list", "sources"], ["leaderboard"], ["list", "runs", "--csv"]]


@pytest.mark.parametrize(
    "environment",
    [
        pytest.param({"PYTHONIOENCODING": "ascii"}, marks=pytest.mark.slow),
        pytest.param({"LC_ALL": "C", "PYTHONUTF8": "0"}, marks=pytest.mark.rare),
    ],
)
def test_a_terminal_that_knows_little(
    environment: dict[str, str], tmp_path: Path
) -> None:
    folder = Path(os.fsdecode(bytes(tmp_path) + b"/f\xff\x1b[31m"))
    folder.mkdir()
    dump(folder / os.fsdecode(b"d\xff\x1b[31m.jsonl"))
    ingest = ["ingest", str(folder), "--json", "--max-rejected", "100"]
    others = (
        "import sys; from warehouse.cli.main import main; sys.exit(any(map(main, "
        f"{OTHERS} + [sys.argv[1:]])))"
    )
    for call in (
        [str(COMMAND), *ingest],
        [sys.executable, "-c", others, "ingest", str(folder)],
    ):
        done = subprocess.run(
            call,
            cwd=tmp_path,
            text=True,
            capture_output=True,
            env=os.environ | environment,
        )
        assert done.returncode == 0 and "Traceback" not in done.stderr, (
            call,
            done.stderr,
        )
        assert not STEERS.search(done.stdout + done.stderr), call
        if "--json" in call:
            assert (
                json.loads(done.stdout)[0]["source"]
                == f"{tmp_path}/f\\udcff\x1b[31m/d\\udcff\x1b[31m.jsonl"
            )


@given(
    st.lists(st.tuples(anything, anything), min_size=1, max_size=3),
    st.sampled_from(FORMS),
)
@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_text_in_any_form(
    capsys: pytest.CaptureFixture[str],
    tmp_path: Path,
    rows: list[tuple[str, str]],
    form: str,
) -> None:
    capsys.readouterr()
    sys.stdout.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]  (as the program does)
    target = tmp_path / "out.parquet"
    output = Output(
        form.strip("-").replace("csv-safe", "csv") or "table",
        target,
        form == "--csv-safe",
    )  # type: ignore[arg-type]
    if form != "--parquet":
        output = Output(output.form, None, output.safe)
    output.emit(["a", "b"], [{"a": one, "b": [other, one]} for one, other in rows])
    print_text(rows[0][0])
    printed = capsys.readouterr().out
    assert not STEERS.search(printed)
    if form == "--json":
        expected = [one.encode("utf-8", "backslashreplace").decode() for one, _ in rows]
        assert [
            row["a"] for row in json.JSONDecoder().raw_decode(printed)[0]
        ] == expected
