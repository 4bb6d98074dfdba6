"""Sample files in bulk: one query over all files of one layout, with explicit columns.

The query gives the same records as :mod:`lm_eval_rows`. What it cannot know to be of the layout
(another metric, another filter, more options, numbers that JSON cannot hold) makes it fail, and
then the files are read row by row.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa

from warehouse.importers.common.gzip_stream import refuse_bomb
from warehouse.importers.common.json_fields import compact
from warehouse.importers.lm_eval import bulk_sql as sql
from warehouse.importers.lm_eval.layout import ROW_KEYS, Layout, measured
from warehouse.records import BulkQuery, literal_path

#: A number beyond 64 bits, or a token that strict JSON lacks, outside of a text.
_UNFIT_NUMBER = r"[:\[,](-?[0-9]{19,}|-?Infinity|NaN)[,\]}]"
_FILE_COLUMN = "filename"
_MOST_REQUESTS = 64


@dataclass(frozen=True)
class SampleFile:
    """A file with its layout and the index of its run."""

    path: Path
    layout: Layout
    run: int


def can_read(layout: Layout) -> bool:
    """Whether the query understands rows of this layout."""
    names = [*ROW_KEYS, _FILE_COLUMN, *(name.lower() for name in layout.metrics)]
    return (
        layout.bulk
        and layout.labelled
        and layout.requests <= _MOST_REQUESTS
        and len(names) == len(set(names))  # column names do not tell upper from lower case
        and layout.target != "several"
        and (layout.kind == "choice" or layout.requests == 1)
    )


def reading(files: Sequence[SampleFile], fallback: Callable[[], Iterable[pa.RecordBatch]]) -> BulkQuery:
    """The query over files of one layout.

    Args:
        files: at least one; all layouts equal, and understood (:func:`can_read`).
        fallback: reads the same files row by row.

    Raises:
        InputError: a packed file unpacks to more than its size allows.
    """
    for file in files:
        if file.path.suffix == ".gz":
            refuse_bomb(file.path)
    return BulkQuery(
        sql=_query(files[0].layout),
        parameters={
            "files": [literal_path(file.path) for file in files],
            "names": [str(file.path) for file in files],
            "runs": [file.run for file in files],
        },
        fallback=fallback,
    )


# Three layers: columns of the files under names of our own; values derived from them; records.


def _query(layout: Layout) -> str:
    columns = ", ".join(f"{sql.text(n)}: {sql.text(kind)}" for n, kind in _columns(layout).items())
    files = f"read_json($files, columns = {{{columns}}}, format = 'newline_delimited', filename = true)"
    source = f"(select {_raw(layout)} from {files}) r"
    draw = f"unnest({_draws(layout)})" if layout.repeats > 1 else "0"
    source = f"(select *, {draw} as draw from {source}) d"
    values = f"select *, {_derived(layout)} from {source}"
    return f"select {_records(layout)} from ({values}) v"


def _columns(layout: Layout) -> dict[str, str]:
    prompt = "varchar[]" if layout.boxed else "varchar"
    if layout.kind == "choice":
        rest = [f"gen_args_{n} struct(arg_1 varchar)" for n in range(1, layout.requests)]
        arguments = [f"gen_args_0 struct(arg_0 {prompt}, arg_1 varchar)", *rest]
    else:
        arguments = [f"gen_args_0 struct(arg_0 {prompt})"]
    return {
        "doc_id": "bigint",
        "doc": "json",
        "target": "varchar",
        "arguments": f"struct({', '.join(arguments)})",
        **({} if layout.kind == "choice" else {"resps": "varchar[][]"}),
        "filtered_resps": "varchar[][]" if layout.kind == "choice" else "varchar[]",
        "filter": "varchar",
        "metrics": "varchar",
        **dict.fromkeys(measured(layout), "json"),
    }


def _raw(layout: Layout) -> str:
    prompt = "arguments.gen_args_0.arg_0" + ("[1]" if layout.boxed else "")
    parts = [
        f"list_position($names, {_FILE_COLUMN}) as file",
        "doc_id",
        "doc::varchar as doc",
        "coalesce(target, 'None') as target",
        f"{prompt} as prompt",
        *(["resps"] if layout.kind != "choice" else []),
        "filtered_resps as filtered",
        "filter as label",
        "metrics as names",
        *(f"{sql.quoted(metric)}::varchar as m{n}" for n, metric in enumerate(measured(layout))),
    ]
    if layout.kind == "choice":
        asked = (f"arguments.gen_args_{n}.arg_1" for n in range(layout.requests))
        parts += [f"ltrim({continuation}) as o{n}" for n, continuation in enumerate(asked)]
    return ", ".join(parts)


def _derived(layout: Layout) -> str:
    parts = []
    for n, metric in enumerate(measured(layout)):
        if metric in layout.paired:
            pair = f"json_array_length(m{n}) = 2"
            count = f"case when {pair} then {sql.number(f'm{n}->>1')} end"
            parts += [f"nullif({count}, 0) as w{n}", f"case when {pair} then {sql.number(f'm{n}->>0')} end as v{n}"]
        else:
            number = f"case m{n} when 'true' then 1 when 'false' then 0 else {sql.number(f'm{n}')} end"
            parts.append(f"{number} as v{n}")
    if layout.kind == "choice":
        names = ", ".join(f"o{n}" for n in range(sql.option_columns(layout)))
        parts += [f"[{names}][:{sql.option_count(layout)}] as options", f"{sql.gold(layout)} as gold"]
    return ", ".join(parts or ["null as nothing"])


def _records(layout: Layout) -> str:
    asked = [f"doc->>{sql.text(key)}" for key in layout.question]
    question = f"concat_ws(chr(10), {', '.join(asked)})" if len(asked) > 1 else "".join(asked)
    parts = {
        "run": "$runs[file]",
        "position": f"case when {_fits(layout)} then doc_id else error('another form of row') end",
        "prompt_id": "doc_id::varchar",
        "identity": "'{\"doc\":' || doc || ',\"target\":' || to_json(target) || '}'",
        "text": f"coalesce(nullif({question}, ''), prompt)" if question else "prompt",
        "target": "target",
        "choices": "to_json(options)::varchar" if layout.options else "null",
        "metadata": "doc",
        "draw": "draw::integer",
        "prompt_sent": sql.where(sql.is_generated(layout), "prompt"),
        **sql.generation(layout),
        "scores": sql.where(sql.is_scored(layout), f"[{', '.join(sql.scores(layout))}]"),
        **sql.likelihoods(layout),
    }
    return ", ".join(f"{expression} as {name}" for name, expression in parts.items())


def _fits(layout: Layout) -> str:
    """Whether a row is of the layout, as far as the declared columns let one see."""
    names = [item.name for item in layout.filters]
    tests = [
        "doc_id is not null",
        "file is not null",
        f"names = {sql.text(compact(list(layout.listed)))}",
        f"label in ({', '.join(map(sql.text, names))})",
        "starts_with(doc, '{')",
        f"not regexp_matches(doc, {sql.text(_UNFIT_NUMBER)})",
    ]
    if layout.kind == "choice":
        least = layout.requests if layout.mutual else 1
        tests.append(f"len(filtered) between {least} and {layout.requests}")
    else:
        tests.append(f"len(resps) = 1 and len(resps[1]) between 1 and {layout.repeats}")
    return " and ".join(tests)


def _draws(layout: Layout) -> str:
    """The draws that a row stands for."""
    scored = sql.by_filter(layout, "draw")
    every = "range(greatest(coalesce(len(resps[1]), 1), 1))"
    return (
        f"case when not {sql.is_first(layout)} then [{scored}] "
        f"when {scored} = 0 then {every} else list_append({every}, {scored}) end"
    )
