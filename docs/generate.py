"""Writes pages out of data: ``python docs/generate.py``.

``views.md`` of ``docs/reference`` from the headers of the SQL files, ``glossary.md``
from the words that ``warehouse help`` knows, ``docs/llms.txt`` from the commands of every day and the
order of the pages, ``performance.md`` from the rows that ``benchmarks/run.py
--write`` keeps in ``performance.json`` beside it and from what
``benchmarks/floors.toml`` says of them.
"""

from __future__ import annotations

import json
import runpy
import sys
import tomllib
from collections import Counter
from collections.abc import Collection, Iterable, Sequence
from fnmatch import fnmatchcase
from pathlib import Path
from textwrap import fill
from typing import Any

from warehouse.cli.command_table import COMMANDS, EVERYDAY
from warehouse.records.setting_names import ANY_TOOL, table_rows
from warehouse.store.sql import query_files
from warehouse.store.sql.query_files import NamedQuery, Parameter
from warehouse.tables.glossary import columns, terms

#: Views that have a column of one meaning, from which on it is said once.
MANY = 3
_HEAD = "| column | meaning |\n| --- | --- |\n"
DOCS = Path(__file__).parent
#: Pages that are looked up, not read.
REFERENCE = DOCS / "reference"
OPENING = """\
# Views and library queries

Made from the headers of `queries/views` and `queries/library` by `python docs/generate.py`; do not
edit it here.

    warehouse query                                  # lists all of them
    warehouse query score_summary --json             # a view
    warehouse query hardest_prompts -p benchmark=gsm8k -p limit=5     # a library query
    warehouse query --sql "select model, estimate from score_summary where benchmark = 'gsm8k'"

Views are made in the store and can be joined in SQL of your own; library queries take parameters.
Superseded and invalidated runs are in none of them. Each file is one SELECT that runs as it stands
on every engine. Query connections can neither write nor reach files or the network.
"""


GLOSSARY = """\
# Glossary

The words of tables and pages, in plain sentences; `warehouse help rank-set` prints the same. Made from
`warehouse/tables/glossary.toml` by `python docs/generate.py`; do not edit it here.
"""

PERFORMANCE = """\
# Performance

Made from `performance.json`, which `python benchmarks/run.py --write docs/reference/performance.md` writes, and from
`benchmarks/floors.toml`; do not edit it here. Each work is run in turn with what it is held against, in processes of
their own, on the same files; medians. Verdicts are by **processor seconds** (of the process and its children, of all
cores together; of PostgreSQL the server's as well), which other programs on the machine change least; seconds by the
clock are those of the load that the row names. Peak memory is that of the process that asks, or of its largest child.
`python benchmarks/run.py NAME` repeats a row; quote ratios, machines differ. 100 million scores and Spark, with the
fixed cost of a statement there, are in [scale](methods_scale.md#what-it-costs) until `--large` has been run.
"""
FLOORS = """\
## What is slower than wanted, and why

Where the time goes, as a profile has it, and the floor of this way of doing it.
"""
GROWTH = """
## How cost grows

The exponent of the last step of sizes: 1 is in proportion, 0 not at all. Counts are those of the program alone (Python
calls, statements, rows that the engine read for them, bytes that were written), so no other program changes them; they
are held against bounds by `tests/test_growth.py`.
"""

#: Pages of the reference that an agent may need.
LOOKED_UP = tuple(
    f"docs/reference/{name}.md"
    for name in (
        "cli",
        "glossary",
        "views",
        "schema",
        "mapping_language",
        "calibration",
    )
)
#: What a language model reads first.
LLMS_OPENING = """\
# eval-warehouse

> The command `warehouse` and the Python package of the same name read the result files of LLM evaluation tools into one
> store (a DuckDB file, or PostgreSQL), and say which model is better, by how much, and how sure that is.

Install: `pip install .` from a checkout, Python 3.11 or newer. An agent asks through `warehouse mcp`, a program with
`--json`: rows on standard output, an error as `{"error", "kind", "advice", "exit_code"}` on standard error. In Python:
`store = warehouse.connect(URL)`, then `store.leaderboard("gsm8k")`. Models that share a letter of `group` cannot be
told apart; a score that is missing is no 0; which way a metric points may be unknown, and then nobody leads.

## Commands
"""


def llms() -> str:
    """``llms.txt``: what this is, the commands for every day, the pages that people read
    in their order."""
    commands = [
        f"- `{COMMANDS[name].examples[0]}`: {COMMANDS[name].sentence}"
        for name in (*EVERYDAY, "mcp")
    ]
    parts = [LLMS_OPENING, *commands]
    order = runpy.run_path(str(DOCS / "site" / "conf.py"))["ORDER"]
    for title, pages in order.items():
        own = [
            DOCS / name.removeprefix("docs/")
            for name in (f"{page}.md" for page in pages)
            if name.startswith("docs/")
            and ("/reference/" not in name or name in LOOKED_UP)
        ]
        heads = [
            file.read_text(encoding="utf-8").partition("\n")[0].removeprefix("# ")
            for file in own
        ]
        if own:
            parts += ["", f"## {title}", ""]
        parts += [
            f"- [{head}]({file.relative_to(DOCS).as_posix()})"
            for head, file in zip(heads, own, strict=True)
        ]
    return "\n".join(parts) + "\n"


def views_page() -> str:
    """The page of the views and library queries, as Markdown."""
    views, library = query_files.views(), query_files.library()
    times = Counter(column for query in (*views, *library) for column in query.columns)
    shared = {column for column, n in times.items() if n >= MANY}
    said = "".join(_row(*column) for column in times if column in shared)
    parts = [
        OPENING,
        "## Columns of many of them\n"
        "\n"
        "Said once; each names which of these it has.\n"
        "\n"
        f"{_HEAD}{said}",
    ]
    for title, queries in (("Views", views), ("Library queries", library)):
        parts += [
            f"## {title}\n",
            _contents(queries),
            *(_section(query, shared) for query in queries),
        ]
    return "\n".join(parts)


def _contents(queries: Iterable[NamedQuery]) -> str:
    return ", ".join(f"[{q.name}](#{q.name})" for q in queries) + ".\n"


def _row(name: str, text: str) -> str:
    return f"| `{name}` | {_cell(text)} |\n"


def _section(query: NamedQuery, shared: Collection[tuple[str, str]]) -> str:
    own = "".join(_row(*column) for column in query.columns if column not in shared)
    also = ", ".join(f"`{column[0]}`" for column in query.columns if column in shared)
    return (
        f"### {query.name}\n"
        "\n"
        f"{query.description}\n"
        "\n"
        f"{query.grain[0].upper()}{query.grain[1:]}.\n"
        "\n"
        f"{_parameters(query.parameters)}{_HEAD * bool(own)}{own}"
        + (f"\nAlso {also}.\n" if also else "")
    )


def _parameters(parameters: Iterable[Parameter]) -> str:
    rows = "".join(
        f"| `{p.name}` | {p.type} | {'required' if p.required else _default(p)} | "
        f"{_cell(p.description)} |\n"
        for p in parameters
    )
    heading = "| parameter | type | default | meaning |\n| --- | --- | --- | --- |\n"
    return f"{heading}{rows}\n" if rows else ""


def _default(parameter: Parameter) -> str:
    return "none" if parameter.default in (None, "") else str(parameter.default)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


def glossary_page() -> str:
    """The page of the words, as Markdown."""
    entries = [
        f"## {term.name}\n\n{term.says} [{term.page}](../{term.page}.md)\n"
        + (f"\nAlso: {', '.join(term.also)}.\n" if term.also else "")
        for term in terms().values()
    ]
    return "\n".join([GLOSSARY, *entries, _columns()])


def _columns() -> str:
    """Headings of tables that no word explains, a list for each page."""
    lines = ["## Columns", ""]
    page = ""
    for term in columns().values():
        if term.page != page:
            page = term.page
            lines += ["", f"Of [{page}](../{page}.md):", ""]
        lines.append(f"- `{term.name}`: {term.says}")
    return "\n".join(lines).replace("\n\n\n", "\n\n") + "\n"


def performance_page(file: Path = REFERENCE / "performance.json") -> str:
    """The page of what was measured, as Markdown."""
    kept = json.loads(file.read_text(encoding="utf-8"))
    rows, growth = (
        [row for row in kept if ("exponents" in row) is grows]
        for grows in (False, True)
    )
    head = (
        "work",
        "is",
        "wanted",
        "",
        "clock s",
        "processor s",
        "peak MiB",
        "against",
        "its processor s",
        "measured",
    )
    parts = [
        PERFORMANCE,
        *_where(rows),
        _table(head, (line for row in rows for line in _measured(row))),
    ]
    if floors := _floors(rows):
        parts += [FLOORS, *floors]
    if growth:
        names = list(growth[0]["exponents"])
        exponents = (
            [
                row["work"],
                _sizes(row),
                *(_exponent(row, name) for name in names),
                _when(row),
            ]
            for row in growth
        )
        parts += [
            GROWTH,
            *_where(growth),
            _table(("work", "sizes", *names, "measured"), exponents),
        ]
    return "\n".join(parts)


def _where(rows: Sequence[dict[str, Any]]) -> list[str]:
    """The machines and versions of rows, each once."""
    return [
        f"- {where}"
        for where in dict.fromkeys(
            f"{row['machine']}; {row['versions']}" for row in rows
        )
    ] + [""]


def _measured(row: dict[str, Any]) -> Iterable[Sequence[str]]:
    """A line for each figure; what stands in the first is not said again."""
    ours, reference = row["ours"], row["reference"]
    numbers = (f"{ours['seconds']:g}", f"{ours['processor']:g}", f"{ours['peak']:.0f}")
    more = (
        *numbers,
        row["against"],
        f"{reference['processor']:g}",
        f"{_when(row)}, n = {ours['times']}",
    )
    for number, figure in enumerate(row["figures"]):
        verdict = "reached" if figure["reached"] else "**missed**"
        own = (
            f"{figure['value']:g} {figure['figure']}",
            f"{figure['wanted']:g}",
            verdict,
        )
        yield (
            (row["work"], *own, *more) if number == 0 else ("", *own, *[""] * len(more))
        )


def _floors(rows: Sequence[dict[str, Any]]) -> list[str]:
    """A paragraph for each text about works that miss what is wanted, and the names of
    those without one."""
    texts = tomllib.loads(
        (DOCS.parent / "benchmarks" / "floors.toml").read_text(encoding="utf-8")
    )
    about: dict[str, list[str]] = {}
    for row in rows:
        if not all(figure["reached"] for figure in row["figures"]):
            text = next(
                (
                    text.strip()
                    for works, text in texts.items()
                    if fnmatchcase(row["work"], works)
                ),
                "",
            )
            about.setdefault(text or "not profiled yet.", []).append(row["work"])
    paragraphs = (
        f"- **{'; '.join(works)}**: {' '.join(text.split())}"
        for text, works in about.items()
    )
    return [
        f"{fill(text, 118, subsequent_indent='  ', break_long_words=False)}\n"
        for text in paragraphs
    ]


def _when(row: dict[str, Any]) -> str:
    return f"`{row['run']}`, {row['when']}, load {row['load']:g}"


def _sizes(row: dict[str, Any]) -> str:
    return ", ".join(f"{size:,}".replace(",", " ") for size in row["sizes"])


def _exponent(row: dict[str, Any], name: str) -> str:
    return (
        f"{row['exponents'][name]:.2f} ({row['largest'][name]:.4g})"
        if name in row["exponents"]
        else ""
    )


def _table(head: Sequence[str], lines: Iterable[Sequence[str]]) -> str:
    return "".join(
        f"| {' | '.join(line)} |\n" for line in (head, ["---"] * len(head), *lines)
    )


SETTINGS_OPENING = """\
# Which names are settings

Made from `warehouse/records/settings_table.tsv` by `python docs/generate.py`; do not edit it here.

All that a dump says of how a run was made is a [setting](../identity.md#settings), part of the condition, unless it
stands here. A tool's own rows come before the general ones: of a whole path, then of its last two names, then of its
last name. A row of several names (`eval.config.epochs`) says nothing of the last one elsewhere. `*` stands for any
name. Rows of tools that no importer reads hold where a mapping says their name as `harness`.

- **mark**: tells two executions of one condition apart.
- **version**: of harness and libraries; stored, and no part of the condition.
- **subset**: which prompts were asked. The prompts say it; where a run has figures only, it is a setting.
- **ignore**: says nothing of what was measured.
- **setting**, **model**, **prompt**, **scorer** are part of the condition; they are listed where a value is the same as
  none (*absent*), or where a general row says otherwise.
"""


def settings_page() -> str:
    """The table of names that are no settings, by tool."""
    by_tool: dict[str, list[list[str]]] = {}
    for tool, rule, names in table_rows():
        code = ", ".join(f"`{name}`" for name in names)
        absent = ", ".join(f"`{value}`" for value in sorted(rule.absent))
        by_tool.setdefault(tool, []).append(
            [rule.kind, code, absent, rule.reason.replace("|", "\\|")]
        )
    sections = []
    for tool, lines in by_tool.items():
        title = "Every tool" if tool == ANY_TOOL else f"`{tool}`"
        ordered = sorted(lines, key=lambda line: _CLASSES.index(line[0]))
        sections.append(
            f"\n## {title}\n\n{_table(['class', 'names', 'absent', 'reason'], ordered)}"
        )
    return SETTINGS_OPENING + "".join(sections)


TAKEN_OPENING = """\
# What importers take of a run

Made from the small dumps of the tests by `python docs/generate.py`; do not edit it here. For each importer the names
that its dumps have, by what is made of them: [settings](../identity.md#settings) are part of the condition, marks tell
executions of it apart, versions are stored. Any other name that a dump has is a setting, unless
[the table](settings.md) leaves it out: a name that is not here is not lost. `model`, `benchmark`, `harness` and `split`
are settings of all; `scorers` stands for who scored and how. Names of one word are fields of a run (`temperature`),
those with points stand in the files.
"""

#: Settings that every run has.
_OF_ALL = frozenset(("model", "benchmark", "harness", "split"))


def taken_page() -> str:
    """What each importer takes as a setting, a mark, a version, and what it leaves out."""
    sys.path.insert(0, str(DOCS.parent))  # the small dumps belong to the tests
    from tests.support.dump_settings import taken_by_importers

    sections = []
    for name, taken in taken_by_importers():
        parts = {
            "Settings": taken.settings - _OF_ALL,
            "Marks": taken.marks,
            "Versions": taken.versions,
            "Left out": taken.left_out,
        }
        lines = [
            f"- **{title}**: {_in_code(names)}\n" for title, names in parts.items()
        ]
        sections.append(f"\n## `{name}`\n\n{''.join(lines)}")
    return TAKEN_OPENING + "".join(sections)


def _in_code(names: Collection[str]) -> str:
    return ", ".join(f"`{name}`" for name in sorted(names)) or "none"


#: In this order on the page: what is no setting first.
_CLASSES = (
    "ignore",
    "subset",
    "mark",
    "version",
    "model",
    "setting",
    "prompt",
    "scorer",
)

PAGES = {
    "reference/settings.md": settings_page,
    "reference/importer_settings.md": taken_page,
    "reference/views.md": views_page,
    "reference/glossary.md": glossary_page,
    "reference/performance.md": performance_page,
    "llms.txt": llms,
}

if __name__ == "__main__":
    for name, made in PAGES.items():
        (DOCS / name).write_text(made(), encoding="utf-8")
