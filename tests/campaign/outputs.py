"""What the program answers, written down before and after a change that must change
nothing.

    python tests/campaign/outputs.py before/
    ... move code ...
    python tests/campaign/outputs.py after/
    diff -r before after

One folder per set of dumps and engine holds the answers of the commands (JSON), and the
rows of the tables without times; ``help`` holds every ``--help``. Sets are those of
``docs/reference/tried_dumps.md`` (where the real dumps are present) and the demo.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.conftest import PostgresCluster

ROOT = Path(__file__).resolve().parents[2]
COMMAND = (str(Path(sys.executable).with_name("warehouse")),)
#: Tables of which whole rows are kept as a digest; the columns that tell times are left
#: out.
TABLES = (
    *(
        "model",
        "training_seed",
        "checkpoint",
        "agent",
        "benchmark",
        "prompt",
        "prompt_variant",
        "clustering",
    ),
    *(
        "cluster",
        "prompt_cluster",
        "scorer",
        "metric",
        "benchmark_metric",
        "run_group",
        "run",
        "run_source",
    ),
    *(
        "rejection",
        "content",
        "generation",
        "choice",
        "score",
        "prompt_score",
        "published_score",
    ),
)
KEYS = "select condition_key, run_key, content_digest, status from run order by 1, 3"
FIGURES = (
    "select subject, benchmark, metric, statistic, method, method_version, estimate,"
    " standard_error, low, high, n, n_clusters, input_fingerprint from metric_value "
    "order by"
    " benchmark, metric, statistic, subject, method, input_fingerprint"
)
#: In place of a URL, where none is opened.
NO_STORE = "-"
SOURCES = "select sha256, settings_key, format, state from source order by 1, 2"


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("out", type=Path)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument(
        "--only", default="", help="regular expression on names of sets"
    )
    parser.add_argument("--engines", default="duckdb,postgresql")
    chosen = parser.parse_args()
    chosen.out.mkdir(parents=True, exist_ok=True)
    write_help(chosen.out / "help")
    wanted = {
        name: lines
        for name, lines in sets(chosen.data).items()
        if re.search(chosen.only, name)
    }
    for engine in chosen.engines.split(","):
        with urls(engine) as url_of:
            for name, lines in wanted.items():
                print(engine, name, flush=True)
                write_set(chosen.out / engine / name, url_of(name), lines)


def sets(data: Path) -> dict[str, list[list[str]]]:
    """Name of a set -> arguments of each of its ingests."""
    found = {"demo": [["docs/demo/results", "--cluster-by", "passage"]]}
    text = (
        (ROOT / "docs" / "reference" / "tried_dumps.md")
        .read_text(encoding="utf-8")
        .replace("\\\n", " ")
    )
    for line in (
        re.findall(r"^warehouse ingest (\$DATA/.*)$", text, re.MULTILINE)
        if data.exists()
        else ()
    ):
        words = [
            word.replace("$DATA", str(data))
            for word in shlex.split(line, comments=True)
        ]
        name = Path(words[0]).relative_to(data).parts[0]
        found.setdefault(name, []).append(words)
    return found


@contextlib.contextmanager
def urls(engine: str) -> Iterator[Callable[[str], str]]:
    """How to get the URL of an empty store."""
    if engine == "duckdb":
        with tempfile.TemporaryDirectory() as folder:
            yield lambda name: f"duckdb:///{folder}/{name}.duckdb"
        return
    sys.path.insert(0, str(ROOT))
    from tests.conftest import PostgresCluster, _postgres_programs

    cluster = PostgresCluster(_postgres_programs(), Path(tempfile.mkdtemp()))
    try:
        cluster.start()
        cluster._run("create role plain login")
        yield lambda name: owned(cluster, cluster.create())
    finally:
        cluster.stop()


def owned(cluster: PostgresCluster, database: str) -> str:
    """URL of a database for a role that is not the server's superuser."""
    cluster._run(f'alter database "{database}" owner to plain')
    return cluster.url(database).replace("postgres@", "plain@")


def call(url: str, *words: str) -> str:
    """Output and exit code, without what changes by itself."""
    done = subprocess.run(
        [*COMMAND, "--db", url, *words],
        cwd=ROOT,
        text=True,
        capture_output=True,
        env=os.environ | {"COLUMNS": "200"},
    )
    text = f"{done.stdout}\n--- exit {done.returncode}\n{done.stderr}"
    text = text if url == NO_STORE else text.replace(url, "URL")
    text = re.sub(
        r"\b\d+(\.\d+)? s\b|seconds +[\d.]+|\"seconds\":[\d.e-]+", "N s", text
    )
    return re.sub(r"\d{4}-\d\d-\d\d[T ]\d\d:\d\d(:\d\d)?(\.\d+)?", "TIME", text)


def write_help(folder: Path) -> None:
    folder.mkdir(exist_ok=True)
    from warehouse.cli.command_table import COMMANDS

    (folder / "warehouse.txt").write_text(call(NO_STORE, "--help"))
    for name in COMMANDS:
        (folder / f"{name.replace(' ', '_')}.txt").write_text(
            call(NO_STORE, *name.split(), "--help")
        )


def write_set(folder: Path, url: str, ingests: list[list[str]]) -> None:
    folder.mkdir(parents=True, exist_ok=True)

    def keep(name: str, *words: str) -> str:
        text = call(url, *words)
        (folder / f"{name}.txt").write_text(text)
        return text

    for number, words in enumerate(ingests):
        keep(f"ingest{number}", "ingest", *words)
    for name, query in (("keys", KEYS), ("sources", SOURCES)):
        keep(name, "query", "--sql", query, "--csv")
    digests = {}
    for table in TABLES:
        rows = sorted(
            call(url, "query", "--sql", f"select * from {table}", "--csv").splitlines()
        )
        digests[table] = (
            len(rows),
            hashlib.sha256("\n".join(rows).encode()).hexdigest(),
        )
    (folder / "tables.json").write_text(json.dumps(digests, indent=1))
    for name in ("models", "benchmarks", "runs"):
        keep(name, "list", name, "--json")
    for view in (
        "score_summary",
        "published_against_recomputed",
        "variance_components",
    ):
        keep(f"view_{view}", "query", view, "--csv")
    board = keep("leaderboard", "leaderboard", "--json")
    keep("leaderboard_text", "leaderboard")
    rows = (
        json.loads(board.split("\n--- exit")[0] or "[]")
        if board.startswith("[")
        else []
    )
    largest = max(
        sorted({row["benchmark"] for row in rows}),
        default="",
        key=lambda n: sum(r["benchmark"] == n for r in rows),
    )
    models = sorted({row["model"] for row in rows if row["benchmark"] == largest})
    if len(models) > 1:
        keep("compare", "compare", *models[:2], "--benchmark", largest, "--json")
        keep("compare_text", "compare", *models[:2], "--benchmark", largest)
        keep("pairs", "pairs", largest, "--json")
        keep(
            "gate",
            "gate",
            "--candidate",
            models[0],
            "--baseline",
            models[1],
            "--margin",
            "0.02",
        )
        keep("matrix_test", "matrix", "test", largest, "--permutations", "50", "--json")
        keep("datamap", "items", "datamap", models[0], "--benchmark", largest, "--json")
    keep("variance", "noise", "variance", largest, "--json")
    keep("show", "show", "run:1", "--json")
    keep("refresh", "refresh", "--json")
    keep("figures", "query", "--sql", FIGURES, "--csv")
    keep("again", "refresh", "--json")
    keep("check", "store", "check")


if __name__ == "__main__":
    main()
