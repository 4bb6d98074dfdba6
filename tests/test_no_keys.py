"""A dump full of made-up keys: none is in the store, or in anything that comes out of
it."""

from __future__ import annotations

import io
import json
import re
import shutil
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from tests.support.cli import Caller
from tests.support.key_rules import STATED, found_in, keys
from tests.support.page_reader import PageReader
from warehouse.cli.agents.server import Tools
from warehouse.cli.agents.tools import TOOLS, Context
from warehouse.cli.state import State
from warehouse.importers.common.model_names import parse_arguments
from warehouse.ingest.masked_rows import samples_without_credentials
from warehouse.records.credentials import masked, masked_name, without_credentials
from warehouse.schedule.log import Health, JobLog
from warehouse.serve.app import create_app
from warehouse.store.engines import Limits

DATA = Path(__file__).parent / "data"
KEYS = keys()
#: In names of files and folders, which take no slash or quote.
IN_NAMES = (KEYS["huggingface"], KEYS["github"])
#: In tables, of as many kinds, of which each has one more of its kind that ends
#: otherwise.
TABLE_KEYS = [
    KEYS[rule]
    for rule in (
        "aws",
        "gcp",
        "github",
        "groq",
        "huggingface",
        "jwt",
        "openai",
        "stripe",
        "npm",
    )
]


@pytest.mark.parametrize("rule", KEYS)
def test_a_key_of_each_rule_is_masked_wherever_it_stands(rule: str) -> None:
    key = KEYS[rule]
    assert found_in(key)
    for text in (
        key,
        f"failed: {key}.",
        f'"{key}"',
        f"a={key},b=1",
        f"{key}\u200b",
        f"https://host.example/x?y={key}",
    ):
        assert found_in(masked(text)) == [], masked(text)
    assert (
        found_in(
            json.dumps(
                without_credentials({"a": {key: 1}, "b": [key], "c": {"d": {"e": key}}})
            )
        )
        == []
    )


@pytest.mark.parametrize("text", STATED)
def test_a_value_is_masked_by_what_stands_before_it(text: str) -> None:
    assert found_in(text) and found_in(masked(text)) == [], masked(text)


def full_of_keys() -> dict[str, Any]:
    """Settings as somebody may have made them: by names, looks and forms, as keys,
    texts and objects."""
    return {
        "temperature": 0.5,
        "by_looks": dict(KEYS),
        "as_names": dict.fromkeys(KEYS.values(), True),
        "stated": list(STATED),
        "in_json": json.dumps(
            {"api_key": "plainwordhidden7", "top_k": 3, "others": list(KEYS.values())}
        ),
        "user": "me",
        "pass": "plainwordhidden7",
        "pw": "plainwordhidden7",
        "creds": "plainwordhidden7",
        "secret": {"of": {"somebody": "plainwordhidden7"}},
    }


def lm_eval(folder: Path) -> None:
    shutil.copytree(DATA / "lm_eval/v0_4_9", folder)
    (path,) = folder.glob("run*.json")
    document = json.loads(path.read_text())
    joined = ",".join(f"arg{number}={key}" for number, key in enumerate(KEYS.values()))
    document["config"] |= {
        "model_args": f"{document['config']['model_args']},{joined},api_key=plainwordhidden7",
        "gen_kwargs": json.dumps(
            {
                "api_key": "plainwordhidden7",
                "temperature": 0.25,
                "extra": list(KEYS.values()),
            }
        ),
        "metadata": full_of_keys(),
    }
    document["pretty_env_info"] = " ".join(KEYS.values())
    document["git_hash"] = KEYS["github"]
    for task in document["configs"].values():
        task["metadata"] = {**(task.get("metadata") or {}), "mine": full_of_keys()}
        task["generation_kwargs"] = {
            **(task.get("generation_kwargs") or {}),
            "extra_body": full_of_keys(),
        }
    path.write_text(json.dumps(document))


def inspect(path: Path) -> None:
    log = json.loads((DATA / "inspect/grid.json").read_text())
    log["eval"] |= {
        "model_args": full_of_keys(),
        "task_args": full_of_keys(),
        "metadata": full_of_keys(),
        "model_base_url": f"https://me:plainwordhidden7@host.example/v1?key={KEYS['gcp']}",
        "tags": [KEYS["npm"], *STATED],
        "revision": {
            "type": "git",
            "origin": f"https://{KEYS['github']}@github.com/o/r.git",
            "commit": "abc",
        },
    }
    log["eval"]["model_generate_config"] |= {
        "extra_headers": full_of_keys(),
        "extra_body": full_of_keys(),
    }
    for sample in log["samples"]:
        said = " ".join([*KEYS.values(), *STATED])
        sample["error"] = {"message": said, "traceback": said, "traceback_ansi": said}
    path.parent.mkdir(exist_ok=True)
    path.write_text(json.dumps(log))


def table(path: Path) -> None:
    rows = ["model,benchmark,prompt_id,score,note,api_key,launched_with"]
    command = f"OPENAI_API_KEY=plainwordhidden7 run --token {KEYS['openai']}"
    for model in ("org/a", "org/b"):
        for prompt in range(6):
            score = int(prompt > 2) if model == "org/a" else int(prompt > 3)
            rows.append(
                f"{model},quiz,q{prompt},{score},{KEYS['slack']},plainwordhidden7,{command}"
            )
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(rows) + "\n")


def named_by_keys(path: Path, keys: Sequence[str] = TABLE_KEYS) -> None:
    """A table in which every name holds a key; those of the two models of a benchmark
    differ in it alone."""
    rows = ["model,benchmark,metric,prompt_id,score,template"]
    for place, key in enumerate(keys):
        other = f"{key[:-1]}{'b' if key[-1] == 'a' else 'a'}"
        for model in (key, other):
            rows += [
                f"org/{model},suite-{key},acc-{key},q{n},{(n + place + len(model)) % 2},{key}"
                for n in range(6)
            ]
    path.parent.mkdir(exist_ok=True)
    path.write_text("\n".join(rows) + "\n")


def broken(path: Path) -> None:
    """A log whose message repeats what it holds, and rows that are rejected."""
    path.parent.mkdir(exist_ok=True)
    lines = [
        {"model": "org/c", "benchmark": "quiz", "prompt_id": str(number), "score": 1}
        for number in range(5)
    ]
    text = "\n".join(json.dumps(line) for line in lines)
    path.write_text(
        f"{text}\n"
        f'{{"api_key": "plainwordhidden7", "k": "{KEYS["anthropic"]}"\n'
        f"{KEYS['stripe']}\n"
    )


def test_arguments_that_are_written_as_json_are_arguments() -> None:
    """They were one long name, with the key in it, and the temperature was lost."""
    read = parse_arguments('{"temperature": 0.25, "api_key": "plainwordhidden7"}')
    assert without_credentials(read) == {"temperature": 0.25}
    assert parse_arguments("{'top_k': 5}") == {"top_k": 5}


def test_names_that_differ_in_their_keys_alone_stay_apart() -> None:
    one, other = (f"org/{KEYS['github'][:-1]}{last}" for last in "ab")
    assert masked_name(one) != masked_name(other)
    assert found_in(masked_name(one) + masked_name(other)) == []
    for name in (one, f"api_key={KEYS['openai']}", "org/model,token=plainwordhidden7"):
        assert masked_name(masked_name(name)) == masked_name(name) != name
    for name in (
        "org/model",
        "babi_qa:task=15",
        "mmlu:subject=abstract_algebra,method=joint",
        "pass@1",
        "a***b",
    ):
        assert masked_name(name) == name


@pytest.mark.rare
def test_a_name_with_a_key_is_masked_in_the_store_and_stays_one_of_its_own(
    run: Caller, tmp_path: Path
) -> None:
    """Models whose names differ in a key were one, and names of benchmarks and metrics
    were stored as they were."""
    store = str(tmp_path / "s.duckdb")
    named_by_keys(tmp_path / "named.csv", TABLE_KEYS[:4])
    run(
        "ingest",
        str(tmp_path / "named.csv"),
        "--higher-is-better",
        "--set",
        f"suite={KEYS['npm']}",
        db=store,
    )
    tables = ("model", "benchmark", "metric")
    counts = [
        run("query", f"select name from {table}", "--json", db=store).rows
        for table in tables
    ]
    assert [len({row["name"] for row in rows}) for rows in counts] == [8, 5, 4]
    assert not [
        leak
        for where, text in texts_of(tmp_path / "s.duckdb")
        for leak in leaks(where, text)
    ]
    assert run("store", "check", "--deep", db=store).code == 0


def test_names_of_scores_are_masked_in_a_part_of_a_batch_too() -> None:
    kind = pa.list_(
        pa.struct(
            [("metric", pa.string()), ("filter", pa.string()), ("value", pa.float64())]
        )
    )
    said = [
        [{"metric": KEYS["github"], "filter": None, "value": float(n)}]
        if n % 3
        else None
        for n in range(9)
    ]
    batch = pa.record_batch([pa.array(said, kind)], names=["scores"]).slice(3, 5)
    masked_batch = samples_without_credentials(batch)
    masked_batch.validate(full=True)
    expected = [
        row and [{**row[0], "metric": masked_name(KEYS["github"])}] for row in said[3:8]
    ]
    assert masked_batch.column(0).to_pylist() == expected
    plain = pa.record_batch(
        [pa.array([[{"metric": "acc", "filter": "", "value": 1.0}]], kind)],
        names=["scores"],
    )
    assert samples_without_credentials(plain) is plain


def test_votes_name_nobody_by_a_key(run: Caller, tmp_path: Path) -> None:
    store = str(tmp_path / "s.duckdb")
    keys = [KEYS[name] for name in ("github", "gcp", "aws")]
    rows = [
        f"{left},{right},a,{keys[2]}"
        for left in keys[:2]
        for right in keys[:2]
        if left != right
    ]
    (tmp_path / "votes.csv").write_text("\n".join(["left,right,winner,voter", *rows]))
    (tmp_path / "votes.toml").write_text(VOTES.replace("NAME", keys[0]))
    run(
        "ingest",
        str(tmp_path / "votes.csv"),
        "--map",
        str(tmp_path / "votes.toml"),
        db=store,
    )
    assert len(run("query", "select * from preference", "--json", db=store).rows) == 2
    assert len(run("query", "select * from model", "--json", db=store).rows) == 2
    assert not [
        leak
        for where, text in texts_of(tmp_path / "s.duckdb")
        for leak in leaks(where, text)
    ]


@pytest.mark.rare
def test_what_people_say_of_runs_and_what_errors_repeat_is_masked(
    run: Caller, tmp_path: Path
) -> None:
    """Tags, notes and reasons were stored with the keys in them; errors repeated a
    password in an address."""
    store, address = (
        str(tmp_path / "s.duckdb"),
        "postgresql://me:plainwordhidden7@host.example/x",
    )
    table(tmp_path / "scores.csv")
    run("ingest", str(tmp_path / "scores.csv"), "--higher-is-better", db=store)
    found: list[str] = []
    for words in (
        (
            "fix",
            "tag",
            "run:1",
            KEYS["github"],
            "--note",
            f"launched with {KEYS['openai']} at {address}",
        ),
        ("fix", "invalidate", "run:2", "--reason", f"a wrong key: {KEYS['gcp']}"),
        (
            "fix",
            "settings",
            "quiz",
            "--ignore",
            "fewshot",
            "--reason",
            KEYS["aws"],
        ),
        ("list", "runs", "--all", "--json"),
        ("leaderboard", address),
        ("compare", address, "org/b", "--json"),
        ("query", f'select "{address}"'),
        ("ingest", str(tmp_path / "scores.csv"), "--set", f"nothing={address}"),
    ):
        outcome = run(*words, db=store)
        found += leaks(words[0], outcome.out + outcome.err)
    for where, text in texts_of(tmp_path / "s.duckdb"):
        found += leaks(where, text)
    (marked,) = (
        row
        for row in run("list", "runs", "--json", db=store).rows
        if row["run_id"] == 1
    )
    assert marked["tags"] == [masked_name(KEYS["github"])] and marked[
        "note"
    ].startswith("launched with ***")
    tools = Tools(Context(State(db=store), Limits()))
    found += leaks("mcp", tools.page_or_error("leaderboard", {"benchmark": address})[0])
    with PageReader(
        create_app(f"duckdb:///{store}"), base_url="http://127.0.0.1:8321"
    ) as client:
        for path in ("/compare", "/benchmark/nobody", "/sample"):
            text = client.get(
                path,
                params={
                    "a": address,
                    "b": KEYS["aws"],
                    "run": address,
                    "metric": address,
                },
            ).text
            found += leaks(
                f"page {path}", re.sub(r'(?:href|value)="[^"]*"', "", text)
            )  # what was asked for comes back
        found += leaks("no page", client.get(f"/benchmark/{KEYS['aws']}").text)
    assert not found, "\n".join(found)


def test_a_log_and_its_health_file_hold_no_key(tmp_path: Path) -> None:
    """They repeated names of files that a job writes, and messages of what it calls."""
    stream, said = io.StringIO(), " ".join([*KEYS.values(), *STATED])
    for form in ("text", "json"):
        log = JobLog(form, stream)
        log.write(
            "published",
            path=f"copy-{KEYS['github']}.duckdb",
            tried=[{"error": said}],
            at=Path(KEYS["aws"]),
        )
        log.relay(f"Traceback: {said}")
    health = Health(tmp_path / "health.json", log, log.clock, cron="* * * * *")
    health.tell(
        last={
            "result": "failed",
            "error": said,
            "n_sources": 3,
            "ok": False,
            "copy": None,
        }
    )
    text = (tmp_path / "health.json").read_text()
    assert leaks("log", stream.getvalue()) + leaks("health", text) == []
    assert json.loads(text)["last"] | {"error": ""} == {
        **{"result": "failed", "error": "", "n_sources": 3},
        **{"ok": False, "copy": None},
    }


VOTES = """
files = "votes.csv"
[run]
benchmark = { const = "voted-NAME" }
[votes]
model_a = "left"
model_b = "right"
first = { const = "a" }
outcome = "winner"
voter = "voter"
scorer = { const = "human" }
scorer_kind = { const = "human" }
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    made = tmp_path_factory.mktemp("keys")
    lm_eval(made / IN_NAMES[0])
    inspect(
        made
        / "api_key=plainwordhidden7"
        / f"2026-01-01T00-00-00+00-00_grid_{IN_NAMES[1]}.json"
    )
    table(made / f"scores-{IN_NAMES[0]}.csv")
    broken(made / f"broken-{IN_NAMES[1]}.jsonl")
    named_by_keys(made / "named.csv")
    return made


def leaks(where: str, text: str) -> list[str]:
    return [f"{where}: {rule}: {_around(text, rule)}" for rule in found_in(text)]


def _around(text: str, rule: str) -> str:
    from tests.support.key_rules import PLAIN, RULES

    found = re.search(PLAIN if rule == "stated" else RULES[rule][0], text)
    assert found is not None
    return text[max(0, found.start() - 60) : found.end() + 10]


def texts_of(path: Path) -> Iterator[tuple[str, str]]:
    """Every text of a store, by table and column; what prompts and responses say stays
    as it is."""
    with duckdb.connect(str(path), read_only=True) as raw:
        kinds = "data_type in ('VARCHAR', 'JSON')"
        named = (
            "select table_name, column_name from duckdb_columns() where not internal "
            f"and {kinds}"
        )
        columns: dict[str, list[str]] = {}
        for name, column in raw.execute(named).fetchall():
            columns.setdefault(name, []).append(column)
        for (
            name,
            texts,
        ) in columns.items():  # at once: to plan a view takes longer than to read it
            wanted = ", ".join(f'cast("{column}" as varchar)' for column in texts)
            rows = raw.execute(f'select {wanted} from "{name}"').fetchall()
            for column, values in zip(
                texts, zip(*rows, strict=True), strict=False
            ):  # none where there is no row
                yield f"{name}.{column}", "\n".join({value or "" for value in values})


@pytest.mark.rare
def test_no_key_comes_into_the_store_or_out_of_it(
    folder: Path, run: Caller, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    found: list[str] = []

    def look(*words: str) -> None:
        outcome = run(*words, db="s.duckdb")
        found.extend(
            leaks(f"stdout of {words[0]}", outcome.out)
            + leaks(f"stderr of {words[0]}", outcome.err)
        )

    look(
        "-v",
        "ingest",
        str(folder),
        "--higher-is-better",
        "--set",
        f"note={KEYS['gitlab']}",
    )
    assert len(run("list", "sources", "--json", db="s.duckdb").rows) == 5
    look(
        "ingest",
        str(folder / f"broken-{IN_NAMES[1]}.jsonl"),
        "--max-rejected",
        "9",
        "--json",
    )
    for where, text in texts_of(tmp_path / "s.duckdb"):
        found += leaks(where, text)
    states = [
        row["state"] for row in run("list", "sources", "--json", db="s.duckdb").rows
    ]
    assert states.count("loaded") == 5
    for words in OUTPUTS:
        look(*words)
    for file in ("report.html", "c.json", "card.json", "card.md"):
        if (tmp_path / file).exists():
            found += leaks(file, (tmp_path / file).read_text())
    for path in (tmp_path / "out").rglob("*.parquet"):
        found += leaks(
            path.name, json.dumps(pq.read_table(path).to_pylist(), default=str)
        )
    for form in ("eee", "inspect_logs"):
        for path in (tmp_path / form).rglob("*.json*"):
            found += leaks(f"{form} {path.name}", f"{path}\n{path.read_text()}")
    assert (
        (tmp_path / "report.html").exists()
        and (tmp_path / "c.json").exists()
        and (tmp_path / "out").exists()
    )
    found += [*of_agents(), *of_pages(tmp_path / "s.duckdb")]
    assert not found, "\n".join(found)


OUTPUTS = (
    ("leaderboard",),
    ("leaderboard", "quiz", "--json"),
    ("list", "runs", "--json"),
    ("list", "runs", "run:1"),
    ("list", "sources", "--json"),
    ("list", "sources", "1"),
    ("show", "run:1"),
    ("list", "settings", "quiz", "--json"),
    ("store", "check", "--deep"),
    ("report", "-o", "report.html"),
    ("store", "export", "--parquet", "out"),
    ("store", "export", "--format", "every-eval-ever", "eee"),
    ("store", "export", "--format", "inspect", "inspect_logs"),
    ("claim", "compare org/a org/b -b quiz", "-o", "c.json"),
    ("card", "org/a"),
    ("query", "ingest_log", "--json"),
    ("fix", "forget", f"nowhere/{KEYS['github']}"),
    ("ingest", f"nowhere/{KEYS['github']}.json"),
)


def of_agents() -> Iterator[str]:
    """What agents are told."""
    tools = Tools(Context(State(db="s.duckdb"), Limits()))
    questions: list[tuple[str, dict[str, Any]]] = [
        ("describe", {}),
        ("leaderboard", {"benchmark": "quiz", "columns": ["*"]}),
        ("compare", {"a": "org/a", "b": "org/b", "benchmark": "quiz"}),
        ("samples", {"run": "run:1"}),
        ("query", {"sql": "select * from run"}),
        ("query", {"sql": "select * from source"}),
        ("query", {"sql": f"select {KEYS['openai']}"}),
    ]
    assert {name for name, _ in questions} <= TOOLS.keys()
    for name, arguments in questions:
        text, _ = tools.page_or_error(name, arguments)
        yield from leaks(f"mcp {name}", text)


def of_pages(store: Path) -> Iterator[str]:
    """What a browser is shown: every page that a page leads to."""
    with PageReader(
        create_app(f"duckdb:///{store}"), base_url="http://127.0.0.1:8321"
    ) as client:
        seen: set[str] = set()
        waiting = ["/"]
        while waiting and len(seen) < 60:
            address = waiting.pop(0)
            if address in seen:
                continue
            seen.add(address)
            text = client.get(address).text
            yield from leaks(f"page {address}", text)
            waiting += [
                found.replace("&amp;", "&")
                for found in re.findall(r'href="(/[^"#]*)"', text)
            ]
        assert len(seen) > 5, seen
