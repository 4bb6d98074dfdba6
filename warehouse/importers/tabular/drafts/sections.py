"""Sections of a draft: where rows are, what a run is, what a row is."""

from __future__ import annotations

from collections.abc import Iterator

from warehouse.importers.common.messages import listed
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import POSITIONS
from warehouse.importers.tabular.drafts.found import Found
from warehouse.importers.tabular.drafts.prompt_parts import template_of
from warehouse.importers.tabular.drafts.prompts import other_ids
from warehouse.importers.tabular.drafts.toml import (
    inline_table,
    safe,
    texts,
    toml_key,
    toml_text,
)
from warehouse.importers.tabular.mapping_variants import RECORD_FIELDS
from warehouse.records import parse_json

#: Columns that are offered as metadata.
_OFFERED = 60


#: Characters of what may be a name.
_NAME = 60


def vote_lines(found: Found) -> Iterator[str]:
    yield (
        "# Votes between two models. Without a mapping ingest takes them in the "
        "same way."
    )
    for part in ("run", "sample", "votes"):
        yield f"[{part}]"
        if part == "run" and "benchmark" not in found.votes[part]:
            yield (
                '# benchmark = { const = "NAME" }  # not known: fill in, or say '
                "--set benchmark=NAME"
            )
        yield from (
            f"{name} = {inline_table(values)}"
            for name, values in found.votes[part].items()
        )
        if part == "votes" and "const" in found.votes[part]["first"]:
            yield (
                "# taken for the one that was shown first; without this line that "
                "is not known"
            )
        yield ""


def row_lines(found: Found) -> Iterator[str]:
    if found.table.location.at or found.table.location.draws:
        yield "[rows]"
        if found.table.location.at:
            yield (
                f"at = {toml_text(found.table.location.at)}  # where the records are"
            )
        if found.table.location.draws:
            yield (
                f"draws = {toml_text(found.table.location.draws)}  # several "
                "generations per prompt"
            )
        yield ""
    if found.table.location.skipped:
        yield from ("[[rows.skip]]  # what lies beside them", 'path = "@key"')
        yield from (f"equal_to = {texts(found.table.location.skipped)}", "")
    if found.table.parent:
        yield from (
            "[[rows.skip]]  # parts of other rows, such as spans of a trace",
            f"path = {toml_text(found.table.parent)}",
        )
        yield from ("matching = '.'", "")
    if found.figures is not None:
        yield from found.figures.rows()
    if found.cells is not None:
        yield from found.cells.section()


def run_lines(found: Found) -> Iterator[str]:
    yield "[run]  # what was evaluated, on what, how"
    taken = {
        name: column.path
        for name, column in found.fields.run.items()
        if name not in RECORD_FIELDS
    }
    taken = found.fields.document | taken
    if found.figures is not None:
        taken |= found.figures.run()
    by_column = found.cells is not None and found.cells.orientation != ""
    is_named = found.named_models() is not None
    for name in ("model", "benchmark"):
        if name == "model" and is_named:
            continue
        if name not in taken and not (by_column and name == "model"):
            why = _why_not(found, name)
            yield (
                f'# {name} = {{ const = "NAME" }}  # not known{why}: fill in, or '
                "say "
                "--set "
                f"{name}=NAME{', or [path] above' if name == 'model' else ''}{_perhaps(found)}"
            )
    for name, path in taken.items():
        hint = "  # or sampling_seed" if name == "training_seed" else ""
        column = found.fields.run.get(name)
        in_text = name in POSITIONS and column is not None and not column.is_number
        value = (
            inline_table({"path": path, "pattern": r"\d+"})
            if in_text
            else toml_text(path)
        )
        yield f"{name} = {value}{hint}"
    yield ""
    if found.settings:
        yield (
            "[run.configuration]  # one value in all rows of a run: settings, "
            "which keep runs apart"
        )
        for name, path in found.settings.items():
            yield (
                f"{toml_key(name)} = {inline_table({'path': path, 'optional': True})}"
            )
        yield ""


def _why_not(found: Found, name: str) -> str:
    reasons = [
        f"{toml_text(path)} is none: {why.removeprefix(f'{name}: ')}"
        for path, why in found.fields.why_not.items()
        if why.startswith(f"{name}: ")
    ]
    if reasons:
        return safe(f" ({'; '.join(reasons)})")
    return ""


def _perhaps(found: Found) -> str:
    """Columns of few different texts, which may name models or benchmarks."""
    few = [column.path for column in found.unused() if _may_hold_names(column)]
    if not few:
        return ""
    return f"; perhaps {listed(map(toml_text, map(safe, few)), 4)}"


def sample_lines(found: Found) -> Iterator[str]:
    yield "[sample]  # each row"
    scores = {
        candidate.column.path
        for candidate in (*found.scores.chosen, *found.scores.offered)
    }
    others = [
        column.path
        for column in other_ids(found.table, found.fields)
        if column.path not in scores
    ]
    sample = found.fields.sample
    if found.fields.parts:
        yield f"prompt_id = {template_of(found.fields.parts)}"
    elif "prompt_id" not in sample and found.cells is None:
        without_id = "the row's number counts"
        if found.fields.key:
            without_id = "the content is the key"
        column = safe(toml_text(others[0] if others else "ID"))
        yield (
            f"# prompt_id = {column}  # without it "
            f"{without_id}{_why_not(found, 'prompt_id')}"
        )
    for name, taken in sample.items():
        if (
            found.cells is not None
            and taken.path == found.cells.label.path
            and name == "prompt_id"
        ):
            continue  # the label of the matrix
        if found.fields.turn is not None and name == "prompt_id":
            yield (
                f"prompt_id = {{ template = "
                f"{toml_text(f'{{{taken.path}}} turn {{{found.fields.turn.path}}}')} "
                f"}}"
            )
            continue
        also = [other for other in others if name == "prompt_id"]
        hint = f"  # or {listed(map(toml_text, also), 3)}" if also else ""
        value = toml_text(taken.path)
        if name == "text" and taken.nulls and name not in found.fields.key:
            value = inline_table({"path": taken.path, "optional": True})
        yield f"{name} = {value}{hint}"
    if found.fields.draw:
        yield f"draw = {found.fields.draw}"
    choices = next(
        (column for column in found.table.columns if column.name == "choices"), None
    )
    if choices is not None and "choices" not in sample and _is_json(choices):
        yield f"choices = {{ path = {toml_text(choices.path)}, json = true }}"
    yield ""


def metadata_lines(found: Found) -> Iterator[str]:
    yield "[metadata]  # properties of the prompt, to filter or cluster by"
    if found.figures is None:
        for name, column_of_field in found.fields.metadata.items():
            path = inline_table({"path": column_of_field.path, "optional": True})
            yield f"{name} = {path}"
        if found.fields.turn is not None:
            yield (
                "conversation = "
                f"{toml_text(found.fields.sample['prompt_id'].path)}  # to cluster "
                "by"
            )
    seen: set[str] = {*found.fields.metadata}
    free = [
        column
        for column in found.unused()
        if column.path not in found.settings.values()
    ]
    for column in [c for c in free if not c.path.lstrip("^").startswith("@")][
        :_OFFERED
    ]:
        name = column.name
        if column.name in seen:
            name = "_".join((*column.parents, column.name))
        seen.add(name)
        key = safe(toml_key(name))
        path = safe(toml_text(column.path))
        yield f"# {key} = {path}  # not used: {column.kind}"
    yield ""


def _may_hold_names(column: ColumnProfile) -> bool:
    most = min(50, max(1, column.rows // 2))
    if column.kind != "text" or not 1 <= len(column.values) <= most:
        return False
    return all(len(str(value)) <= _NAME for value in column.values)


def _is_json(column: ColumnProfile) -> bool:
    """True if the texts of a column are JSON lists."""
    if not all(isinstance(value, str) for value in column.values):
        return False
    try:
        return all(isinstance(parse_json(value), list) for value in column.values)
    except (ValueError, TypeError):
        return False
