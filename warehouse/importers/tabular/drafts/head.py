"""The head of a draft: what it is of, what each column was taken for, what is to be
decided."""

from __future__ import annotations

import re
from collections.abc import Iterator

from warehouse.importers.common.streams import members
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.found import Found
from warehouse.importers.tabular.drafts.paths import (
    asked_for_path,
    glob_line,
)
from warehouse.importers.tabular.drafts.toml import (
    safe,
    short,
    texts,
)
from warehouse.importers.tabular.evidence import Standing
from warehouse.records.credentials import MASK, without_credentials

#: Columns that are described.
_LISTED = 40


def head_lines(found: Found) -> Iterator[str]:
    name = found.table.path.name
    kind = found.table.format
    if found.table.delimiter not in ("", ",", "\t"):
        kind += f" with {found.table.delimiter!r}"
    yield (
        f"# A starting mapping for {safe(name)} ({kind}), by {found.table.rows} rows."
    )
    people = " --on-duplicate draws" if found.fields.scorers.are_draws else ""
    yield f"#   warehouse ingest {safe(name)} --map THIS_FILE{people}"
    yield from _other_ways(found, safe(name))
    yield from (f"# {safe(said)}" for said in filter(None, [found.table.above]))
    yield (
        "# Check every line: it was guessed from names and values. "
        "docs/mappings.md explains."
    )
    yield "#"
    yield "# column: what it holds, distinct values, an example = what it is taken for"
    for column in found.table.columns[:_LISTED]:
        yield f"#   {safe(column.path)}: {_described(column)}{_role(found, column)}"
    if len(found.table.columns) > _LISTED:
        yield f"#   … {len(found.table.columns)} columns in all"
    yield ""
    named = found.named_models() or found.named_scorers()
    yield glob_line(named.glob if named else re.sub(r"[*?\[]", "?", name))
    if found.fields.key and found.cells is None and found.figures is None:
        yield f"key = {texts(found.fields.key)}  # the content tells prompts apart"
    yield ""
    for choice in found.choices:
        yield from choice.lines()
    unnamed = found.unnamed_files()
    if unnamed is not None:
        yield from unnamed.lines()
    if named is not None:
        yield from named.lines()
    elif not found.knows_models():
        inside = name
        if name.endswith(".zip"):
            inside = members(found.table.path, name)[0].name
        yield from asked_for_path(inside)


def _other_ways(found: Found, name: str) -> Iterator[str]:
    """What reads the file without this mapping."""
    if found.importer:
        yield (
            f"# The importer {found.importer} reads this file without a mapping, "
            "and knows more of it:"
        )
        yield f"#   warehouse ingest {name}"
    if found.ready:
        yield (
            "# A mapping that comes with this program fits the file by its shape, "
            "and knows more of it:"
        )
        yield f"#   warehouse ingest {name} {found.ready}"


def _role(found: Found, column: ColumnProfile) -> str:
    """What a column is taken for, or why it is not, and by which test."""
    if found.run_table is not None:
        role = found.run_table.role(column)
        return f" = {role}, by its name" if role else ""
    reason = found.fields.reasons.get(column.path)
    if reason is not None:
        return f" = {safe(reason)}"
    role = ""
    for part in (found.fields.run, found.fields.sample, found.fields.metadata):
        names = [name for name, own in part.items() if own is column]
        role = role or ", ".join(names)
    if column.path in {score.column.path for score in found.scores.chosen}:
        role = "score"
    if column.path in found.settings.values():
        return f" = setting: {Standing.CONSTANT.value} of a run"
    standing = found.fields.evidence.standing_at(column.path)
    is_of_run = column.path in {own.path for own in found.fields.run.values()}
    if role and standing is not Standing.UNKNOWN and not is_of_run:
        return f" = {role}: {standing.value}"
    if role:
        return f" = {role}, by its name"
    if standing is Standing.OF_PROMPT:
        return f" = property of the prompt: {standing.value}"
    why = found.fields.why_not.get(column.path)
    return f" = no {safe(why)}" if why else ""


def _described(column: ColumnProfile) -> str:
    shown = "-"
    if column.values:
        shown = without_credentials({column.name: column.values[0]}).get(
            column.name, MASK
        )
    example = safe(short(shown))
    missing = ""
    if column.nulls:
        missing = f", {column.nulls} missing"
    return f"{column.kind}, {len(column.values)}{missing}, {example}"
