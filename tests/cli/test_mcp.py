"""``mcp`` through a real client and a real process: figures as the command has them,
pages, refusals, errors."""

from __future__ import annotations

import json
import os
import shlex
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from anyio import fail_after
from anyio.from_thread import start_blocking_portal

from tests.cli.test_query import (
    OF_DUCKDB,
    OF_DUCKDB_FUNCTIONS,
    OF_POSTGRESQL,
    SNEAKING,
    WRITING,
)
from tests.support.cli import COMMAND, Caller
from warehouse.cli.agents.incoming import with_whole_pairs
from warehouse.cli.agents.tools import SIZE
from warehouse.store.open import open_store

if TYPE_CHECKING:  # a second of each test process that only collects
    from mcp import types

pytestmark = pytest.mark.engine
Call = Callable[..., "types.CallToolResult"]

WEIGHTS = {"suite/one": 2, "suite/two/a": 1, "suite/two/b": 0.5}
QUESTIONS: list[tuple[str, dict[str, Any]]] = [
    ("describe", {}),
    ("describe", {"what": "models"}),
    ("describe", {"what": "metrics", "name": "quiz"}),
    ("describe", {"what": "views"}),
    ("describe", {"what": "views", "name": "score_summary"}),
    ("leaderboard", {"benchmark": "quiz"}),
    ("leaderboard", {"benchmark": "quiz", "metric": "acc,strict", "level": 0.9}),
    ("leaderboard", {"benchmark": "quiz", "where": ["model!=org/c"], "columns": ["*"]}),
    ("leaderboard", {"benchmark": "golden", "cluster": "none", "subset_ok": True}),
    ("leaderboard", {"benchmark": "essay", "estimand": "prompts_fixed"}),
    ("leaderboard", {"benchmark": "items", "n_resamples": 99, "seed": 3}),
    ("leaderboard", {"group": "suite", "partial_ok": True, "weights": WEIGHTS, "force": True}),
    ("leaderboard", {"group": "suite/one,items", "partial_ok": True}),
    ("leaderboard", {}),
    ("compare", {"a": "org/f", "b": "org/b", "benchmark": "quiz"}),
    ("compare", {"a": "org/b", "b": "org/c", "benchmark": "quiz", "method": "permutation", "n_resamples": 99}),
    ("compare", {"a": "org/b", "b": "org/c", "benchmark": "quiz", "equivalence": 0.2, "columns": ["difference"]}),
    ("compare", {"a": "org/b", "b": "org/c", "benchmark": "quiz", "flips": 5}),
    ("compare", {"a": "item/model0", "b": "item/model1"}),
    ("gate", {"candidate": "org/b", "baseline": "org/c", "margin": 0.1, "benchmarks": ["quiz"]}),
    ("gate", {"candidate": "org/c", "baseline": "org/b", "margin": 0.1, "margins": {"quiz": 0.01}}),
    ("plan", {"references": ["org/b", "org/c"], "benchmark": "quiz", "delta": 0.05}),
    ("plan", {"references": ["org/b"], "benchmark": "quiz", "n": 300, "k": [1, 3]}),
    ("samples", {"run": "run:1"}),
    ("samples", {"run": "run:1", "prompt": "w0"}),
    ("samples", {"run": "prompt:1"}),
    ("query", {"name": "score_summary"}),
    ("query", {"name": "runs_of_model", "parameters": {"model": "org/a"}}),
    ("query", {"sql": 'select name as "a -- b" from model where id < cast(:n as int)', "parameters": {"n": 7}}),
    ("query", {"sql": "select 'it''s' || chr(127) as s, 1.5 as f, cast('nan' as double precision) as n"}),
]  # fmt: skip


@contextmanager
def talking(url: str, folder: Path) -> Iterator[Call]:
    """Calls of tools of a server on a store, in a process of its own."""
    from mcp import Client
    from mcp.client.stdio import StdioServerParameters

    server = StdioServerParameters(
        command=str(COMMAND),
        args=["--db", url, "mcp"],
        env=dict(os.environ),
        cwd=folder,
    )
    with (
        start_blocking_portal() as portal,
        portal.wrap_async_context_manager(Client(server)) as client,
    ):

        async def within(
            name: str, arguments: dict[str, Any], seconds: float
        ) -> types.CallToolResult:
            with fail_after(seconds):
                return await client.call_tool(name, arguments)

        def call(
            name: str, arguments: dict[str, Any], seconds: float = 60
        ) -> types.CallToolResult:
            return portal.call(within, name, arguments, seconds)

        call.list = lambda: portal.call(client.list_tools).tools  # type: ignore[attr-defined]
        yield call


@pytest.fixture(scope="module")
def call(url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Call]:
    with talking(url, tmp_path_factory.mktemp("mcp")) as calls:
        yield calls


def text_of(answer: types.CallToolResult) -> str:
    from mcp.types import TextContent

    (content,) = answer.content
    assert isinstance(content, TextContent)
    assert len(content.text.encode()) <= SIZE
    return content.text


def found(call: Call, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """A page."""
    answer = call(tool, arguments)
    page: dict[str, Any] = json.loads(text_of(answer))
    assert not answer.is_error, page
    return page


def refused(call: Call, tool: str, /, **arguments: Any) -> dict[str, Any]:
    """An error."""
    answer = call(tool, arguments)
    error: dict[str, Any] = json.loads(text_of(answer))
    assert answer.is_error and list(error) == ["error", "kind", "advice", "exit_code"]
    return error


def few(things: list[Any]) -> list[Any]:
    """Some of them, and the others where time is no matter."""
    others = [thing for place, thing in enumerate(things) if place % 5]
    return [
        pytest.param(things[::5], id="few"),
        pytest.param(others, marks=pytest.mark.rare, id="others"),
    ]


@pytest.mark.parametrize("questions", few(QUESTIONS))
@pytest.mark.rare
def test_every_answer_is_that_of_the_command_it_names(
    call: Call, run: Caller, questions: list[tuple[str, dict[str, Any]]]
) -> None:
    for name, arguments in questions:
        texts = [text_of(call(name, arguments))]
        while "next_offset" in (page := json.loads(texts[-1])):
            texts.append(
                text_of(call(name, arguments | {"offset": page["next_offset"]}))
            )
        pages = [json.loads(text) for text in texts]
        assert "error" not in pages[0], (arguments, pages[0])
        program, *words = shlex.split(pages[0]["command"])
        ended = run(*words)
        assert program == "warehouse" and ended.code in (0, 1, 5), (
            arguments,
            ended.err,
        )
        lines = (
            ended.out.removeprefix("[\n").removesuffix("\n]\n").split(",\n")
            if ended.out != "[]\n"
            else []
        )
        place = 0
        for text, page in zip(texts, pages, strict=True):
            own = lines[place : place + len(page["rows"])]
            if "cut" not in page:
                assert f'"rows":[{",".join(own)}]' in text
            place += len(own)
            assert (
                page["verdict"]
                and page["n_rows"] == len(lines)
                and page["command"] == pages[0]["command"]
            )
        assert place == len(lines)
        assert [page.get("more", 0) for page in pages] == [
            len(lines) - page.get("offset", 0) - len(page["rows"]) for page in pages
        ]


def test_the_tools_take_what_the_questions_take(call: Call) -> None:
    tools = {tool.name: tool for tool in call.list()}  # type: ignore[attr-defined]
    assert list(tools) == [
        "describe",
        "leaderboard",
        "compare",
        "gate",
        "plan",
        "samples",
        "query",
    ]
    assert all(
        tool.annotations.read_only_hint and tool.description for tool in tools.values()
    )
    schema = tools["compare"].input_schema
    assert schema["required"] == ["a", "b"] and not schema["additionalProperties"]
    assert schema["properties"]["level"]["exclusiveMaximum"] == 1
    assert schema["properties"]["max_bytes"]["default"] == SIZE


@pytest.mark.parametrize(
    ("on_files", "on_servers"),
    [
        (
            WRITING[::4] + OF_DUCKDB[::4] + OF_DUCKDB_FUNCTIONS[::4],
            WRITING[::4] + OF_POSTGRESQL[::4],
        ),
        pytest.param(
            WRITING + SNEAKING + OF_DUCKDB + OF_DUCKDB_FUNCTIONS,
            WRITING + SNEAKING + OF_POSTGRESQL,
            marks=pytest.mark.rare,
        ),
    ],
    ids=["few", "all"],
)
def test_nothing_can_be_written_or_reached(
    call: Call, url: str, tmp_path: Path, on_files: list[str], on_servers: list[str]
) -> None:
    (tmp_path / "secret.csv").write_text("word\nhush\n")
    with open_store(url) as store:
        before = store.rows("select count(*) as n, min(name) as name from model")
    for statement in on_servers if url.startswith("postgresql") else on_files:
        sql = (
            statement.format(folder=tmp_path) if "{folder}" in statement else statement
        )
        error = refused(call, "query", sql=sql)
        assert error["exit_code"] == 2 and "hush" not in json.dumps(error), statement
    assert [path.name for path in tmp_path.iterdir()] == ["secret.csv"]
    with open_store(url) as store:
        assert (
            store.rows("select count(*) as n, min(name) as name from model") == before
        )


def test_a_mistake_is_an_error_with_what_to_do(call: Call) -> None:
    assert refused(call, "leaderboard", benchmark="quizz")["advice"].startswith(
        "did you mean quiz"
    )
    assert refused(call, "leaderboard", benchmrk="quiz") == {
        "error": "no argument 'benchmrk'",
        "kind": "misuse",
        "advice": "did you mean benchmark?",
        "exit_code": 2,
    }
    assert refused(call, "compare", a="org/a")["error"].startswith("b is missing")
    assert (
        refused(call, "compare", a="org/a", b="org/b", level=95)["kind"] == "statistics"
    )
    assert "no tool 'drop'" in refused(call, "drop")["error"]
    assert (
        refused(call, "describe", what="benchmarks", offset=10_000)["advice"]
        == "leave it out"
    )
    assert (
        "'size'"
        in refused(call, "query", name="score_summary", columns=["size"])["error"]
    )
    for wrong in (
        {"offset": -1},
        {"offset": "1"},
        {"max_bytes": 10**9},
        {"columns": 1},
        {"offset": True},
    ):
        assert refused(call, "query", name="score_summary", **wrong)["exit_code"] == 2
    both = {"candidate": "org/b", "baseline": "org/c", "margin": 0.1}
    assert (
        refused(call, "gate", **both, margins={"quiz": "x"})["error"]
        == "margins of quiz must be a number, found 'x'"
    )
    assert refused(call, "describe", what="tables")["error"].startswith(
        "unknown what 'tables'"
    )
    assert (
        "null"
        in refused(call, "query", sql="select :n as n", parameters={"n": None})["error"]
    )
    assert (
        refused(call, "query", name="score_summary", sql="select 1")["kind"] == "misuse"
    )


def test_a_call_that_is_cancelled_ends_its_statement(call: Call, url: str) -> None:
    numbers = (
        "generate_series(1, 1000000)"
        if url.startswith("postgresql")
        else "range(1000000)"
    )
    slow = (
        f"select count(*) as n from {numbers} as a(i), {numbers} as b(j) where (a.i * "
        "b.j) % 7 = 3"
    )
    with pytest.raises(TimeoutError):
        call("query", {"sql": slow}, seconds=1)
    assert (
        call("query", {"sql": "select 1 as n"}, seconds=5).is_error is False
    )  # one runs at a time


def test_a_store_that_is_not_there_yet_and_one_that_is_written_to(
    run: Caller, tmp_path: Path
) -> None:
    (tmp_path / "a.csv").write_text(
        "model,benchmark,id,score\n"
        + "".join(f"m{n % 2},b,{n // 2},{n % 3 % 2}\n" for n in range(40))
    )
    with talking("s.duckdb", tmp_path) as call:
        assert (
            refused(call, "describe")["advice"]
            == "create it with: warehouse store init, or warehouse ingest"
        )
        db = str(tmp_path / "s.duckdb")
        assert run("store", "init", db=db).code == 0
        assert found(call, "describe")["n_rows"] == 0
        assert (
            run("ingest", str(tmp_path / "a.csv"), db=db).code == 0
        )  # the server does not hold the store
        assert found(call, "describe")["rows"][0]["n_prompts"] == 20
        long = "x" * 20_000
        page = found(call, "query", sql=f"select '{long}' as s, [1, 2] as l")
        assert (
            page["rows"][0]["s"].endswith("more]")
            and "cut" in page
            and "--sql=-" in page["command"]
        )
        assert refused(
            call,
            "query",
            sql="select range(100000) as l, "
            + ", ".join(f"{n} as n{n}" for n in range(600)),
        )


def test_without_the_package_it_says_what_to_run(
    run: Caller, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "mcp.server.lowlevel", None)
    run("mcp").fails(2, "an MCP server needs the package mcp", "-m pip install")


@pytest.mark.slow  # by day each answer of a small store is held, page by page, against that of its command
def test_pages_of_a_store_of_real_size(
    run: Caller, data_dir: Path, tmp_path: Path
) -> None:
    """86 models with long responses, and agents with transcripts; the size of each page
    is looked at by ``found``."""
    db = str(tmp_path / "real.db")
    assert (
        run("ingest", str(data_dir / "eq_bench"), "--map", "eq_bench", db=db).code == 0
    )
    assert run("ingest", str(data_dir / "inspect_agents"), db=db).code == 0
    with talking(db, tmp_path) as call:
        whole: list[dict[str, Any]] = []
        while "next_offset" in (
            page := found(
                call, "leaderboard", benchmark="eq_bench_v2", offset=len(whole)
            )
        ):
            assert len(page["rows"]) >= 5
            whole += page["rows"]
        whole += page["rows"]
        assert len(whole) == page["n_rows"] == 86 and {
            row["model"] for row in whole[:3]
        } > {"gpt-4-0314"}
        both = {"a": "gpt-4-0314", "b": "gpt-4-0613"}
        assert "cannot be told apart" in found(call, "compare", **both)["verdict"]
        assert "cut" in found(call, "compare", flips=20, **both)
        every = found(
            call,
            "query",
            sql="select run_id from run_current order by run_id",
            max_bytes=100_000,
        )
        for run_id in [row["run_id"] for row in every["rows"]][-4:]:
            prompt = found(call, "samples", run=f"run:{run_id}")["rows"][0]["prompt_id"]
            assert (
                found(call, "samples", run=f"run:{run_id}", prompt=f"prompt:{prompt}")[
                    "n_rows"
                ]
                == 1
            )


def test_half_of_a_pair_of_surrogates_is_answered(url: str) -> None:
    """The protocol's package drops such a line without a word, and whoever asked waits."""
    hello = {
        "protocolVersion": "2025-03-26",
        "capabilities": {},
        "clientInfo": {"name": "x", "version": "1"},
    }
    half = {"name": "leaderboard", "arguments": {"benchmark": "\ud800"}}
    messages = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": half},
    ]
    server = subprocess.Popen(
        [str(COMMAND), "--db", url, "mcp"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
    )
    assert server.stdin is not None and server.stdout is not None
    with server:
        for message in messages:
            server.stdin.write(json.dumps(message).encode() + b"\n")
            server.stdin.flush()
        answers = [json.loads(server.stdout.readline()) for _ in range(2)]
        server.stdin.close()
    assert [answer["id"] for answer in answers] == [1, 2]
    assert "no benchmark is called" in answers[1]["result"]["content"][0]["text"]


def test_pairs_stay_and_what_stands_alone_is_replaced() -> None:
    line = r'{"a": "\ud83d\ude00 \ud800 \\ud800 \udc00 \n"}'
    assert json.loads(with_whole_pairs(line)) == {
        "a": "\U0001f600 \ufffd \\ud800 \ufffd \n"
    }
