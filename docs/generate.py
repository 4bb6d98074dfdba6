"""Writes ``docs/views.md`` from the headers of the SQL files: ``python docs/generate.py``."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from warehouse.store.sql import query_files
from warehouse.store.sql.query_files import NamedQuery
from warehouse.store.sql.query_parameters import Parameter

PAGE = Path(__file__).with_name("views.md")
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


def page() -> str:
    """The whole page, as Markdown."""
    parts = [OPENING]
    for title, queries in (("Views", query_files.views()), ("Library queries", query_files.library())):
        parts += [f"## {title}\n", _contents(queries), *map(_section, queries)]
    return "\n".join(parts)


def _contents(queries: Iterable[NamedQuery]) -> str:
    rows = (f"| [{q.name}](#{q.name}) | {_cell(_first_sentence(q))} |\n" for q in queries)
    return "| name | meaning |\n| --- | --- |\n" + "".join(rows)


def _first_sentence(query: NamedQuery) -> str:
    return query.description.partition(". ")[0].removesuffix(".")


def _section(query: NamedQuery) -> str:
    columns = "".join(f"| `{name}` | {_cell(text)} |\n" for name, text in query.columns)
    return (
        f"### {query.name}\n\n{query.description}\n\n{query.grain[0].upper()}{query.grain[1:]}.\n\n"
        f"{_parameters(query.parameters)}| column | meaning |\n| --- | --- |\n{columns}"
    )


def _parameters(parameters: Iterable[Parameter]) -> str:
    rows = "".join(
        f"| `{p.name}` | {p.type} | {'required' if p.required else _default(p)} | {_cell(p.description)} |\n"
        for p in parameters
    )
    heading = "| parameter | type | default | meaning |\n| --- | --- | --- | --- |\n"
    return f"{heading}{rows}\n" if rows else ""


def _default(parameter: Parameter) -> str:
    return "none" if parameter.default in (None, "") else str(parameter.default)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
