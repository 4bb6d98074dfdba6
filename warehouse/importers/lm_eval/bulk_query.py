"""Sample files in bulk: one query over all files of one layout, with explicit columns.

The query gives the same records as :mod:`lm_eval_rows`. What it cannot know to be of
the layout (another metric, another filter, more options, numbers that JSON cannot hold)
makes it fail, and then the files are read row by row.

Expressions over the columns that :mod:`lm_eval_reading` derives: ``label`` (filter),
``draw``, ``prompt``, ``resps``, ``filtered``; ``m<n>`` (text), ``v<n>`` and ``w<n>``
(number and weight) of metric n; ``o<n>`` (text of option n), ``options``, ``gold``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

import pyarrow as pa

from warehouse.importers.common.json_fields import compact
from warehouse.importers.common.streams import refuse_bomb
from warehouse.importers.lm_eval.layout import ROW_KEYS, Layout, measured
from warehouse.importers.lm_eval.metrics import filter_label
from warehouse.importers.lm_eval.rows import NO_MATCH
from warehouse.records import BulkQuery, literal_path

#: A number beyond 64 bits, or a token that strict JSON lacks, outside of a text.
_UNFIT_NUMBER = r"[:\[,](-?[0-9]{19,}|-?Infinity|NaN)[,\]}]"
_FILE_COLUMN = "filename"
_MOST_REQUESTS = 64


def can_read(layout: Layout) -> bool:
    """True if the query understands rows of this layout."""
    names = [*ROW_KEYS, _FILE_COLUMN, *(name.lower() for name in layout.metrics)]
    return (
        layout.bulk
        and layout.labelled
        and layout.requests <= _MOST_REQUESTS
        and len(names)
        == len(set(names))  # column names do not tell upper from lower case
        and layout.target != "several"
        and (layout.kind == "choice" or layout.requests == 1)
    )


def reading(
    layout: Layout,
    runs: Mapping[Path, int],
    fallback: Callable[[], Iterable[pa.RecordBatch]],
) -> BulkQuery:
    """The query over files of one layout (InputError: a packed file unpacks to more
    than its size allows).

    Args:
        layout: of all of them, and understood (:func:`can_read`).
        runs: the index of the run of each file.
        fallback: reads the same files row by row.
    """
    for path in runs:
        if path.suffix == ".gz":
            refuse_bomb(path)
    return BulkQuery(
        sql=_query(layout),
        parameters={
            "files": [literal_path(path) for path in runs],
            "names": [str(path) for path in runs],
            "runs": list(runs.values()),
        },
        fallback=fallback,
        unfit=f"regexp_matches(identity, {text(_UNFIT_NUMBER)})",
    )


# Three layers: columns of the files under names of our own; values derived from them;
# records.


def _query(layout: Layout) -> str:
    columns = ", ".join(
        f"{text(n)}: {text(kind)}" for n, kind in _columns(layout).items()
    )
    files = (
        f"read_json($files, columns = {{{columns}}}, format = 'newline_delimited', "
        "filename = true)"
    )
    source = f"(select {_raw(layout)} from {files}) r"
    draw = "0"
    if layout.repeats > 1:
        draw = f"unnest({_draws(layout)})"
    source = f"(select *, {draw} as draw from {source}) d"
    values = f"select *, {_derived(layout)} from {source}"
    return f"select {_records(layout)} from ({values}) v"


def _columns(layout: Layout) -> dict[str, str]:
    prompt = "varchar"
    if layout.boxed:
        prompt = "varchar[]"
    if layout.kind == "choice":
        rest = [
            f"gen_args_{n} struct(arg_1 varchar)" for n in range(1, layout.requests)
        ]
        arguments = [f"gen_args_0 struct(arg_0 {prompt}, arg_1 varchar)", *rest]
    else:
        arguments = [f"gen_args_0 struct(arg_0 {prompt})"]
    filtered_resps = "varchar[]"
    if layout.kind == "choice":
        answers = {}
        filtered_resps = "varchar[][]"
    else:
        answers = {"resps": "varchar[][]"}
    return {
        "doc_id": "bigint",
        "doc": "json",
        "target": "varchar",
        "arguments": f"struct({', '.join(arguments)})",
        **answers,
        "filtered_resps": filtered_resps,
        "filter": "varchar",
        "metrics": "varchar",
        **dict.fromkeys(measured(layout), "json"),
    }


def _raw(layout: Layout) -> str:
    box = ""
    if layout.boxed:
        box = "[1]"
    prompt = "arguments.gen_args_0.arg_0" + box
    if layout.kind != "choice":
        answers = ["resps"]
    else:
        answers = []
    parts = [
        f"list_position($names, {_FILE_COLUMN}) as file",
        "doc_id",
        "doc::varchar as doc",
        "coalesce(target, 'None') as target",
        f"{prompt} as prompt",
        *answers,
        "filtered_resps as filtered",
        "filter as label",
        "metrics as names",
        *(
            f"{quoted(metric)}::varchar as m{n}"
            for n, metric in enumerate(measured(layout))
        ),
    ]
    if layout.kind == "choice":
        generation_args = (
            f"arguments.gen_args_{n}.arg_1" for n in range(layout.requests)
        )
        parts += [
            f"ltrim({continuation}) as o{n}"
            for n, continuation in enumerate(generation_args)
        ]
    return ", ".join(parts)


def _derived(layout: Layout) -> str:
    parts = []
    for n, metric in enumerate(measured(layout)):
        if metric in layout.paired:
            pair = f"json_array_length(m{n}) = 2"
            count = f"case when {pair} then {as_number(f'm{n}->>1')} end"
            parts += [
                f"nullif({count}, 0) as w{n}",
                f"case when {pair} then {as_number(f'm{n}->>0')} end as v{n}",
            ]
        else:
            number = (
                f"case m{n} when 'true' then 1 when 'false' then 0 else "
                f"{as_number(f'm{n}')} end"
            )
            parts.append(f"{number} as v{n}")
    if layout.kind == "choice":
        names = ", ".join(f"o{n}" for n in range(option_columns(layout)))
        parts += [
            f"[{names}][:{option_count(layout)}] as options",
            f"{gold(layout)} as gold",
        ]
    return ", ".join(parts or ["null as nothing"])


def _records(layout: Layout) -> str:
    texts = [f"doc->>{text(key)}" for key in layout.question]
    if len(texts) > 1:
        question = f"concat_ws(chr(10), {', '.join(texts)})"
    else:
        question = "".join(texts)
    sent = "prompt"
    if layout.shows_examples:
        sent = "null"
    question_text = sent
    if question:
        question_text = f"coalesce(nullif({question}, ''), {sent})"
    choices = "null"
    if layout.options:
        choices = "to_json(options)::varchar"
    parts = {
        "run": "$runs[file]",
        "position": (
            f"case when {_fits(layout)} then doc_id else error('another form of row') "
            "end"
        ),
        "prompt_id": "doc_id::varchar",
        "identity": "'{\"doc\":' || doc || ',\"target\":' || to_json(target) || '}'",
        "text": question_text,
        "target": "target",
        "choices": choices,
        "metadata": "doc",
        "draw": "draw::integer",
        "prompt_sent": where(is_generated(layout), "prompt"),
        **generation(layout),
        "scores": where(is_scored(layout), f"[{', '.join(scores(layout))}]"),
        **likelihoods(layout),
    }
    return ", ".join(f"{expression} as {name}" for name, expression in parts.items())


def _fits(layout: Layout) -> str:
    """SQL that tells whether a row is of the layout, as far as the declared columns let
    one see."""
    names = [item.name for item in layout.filters]
    tests = [
        "doc_id is not null",
        "file is not null",
        f"names = {text(compact(list(layout.listed)))}",
        f"label in ({', '.join(map(text, names))})",
        "starts_with(doc, '{')",
    ]
    if layout.kind == "choice":
        least = 1
        if layout.mutual:
            least = layout.requests
        tests.append(f"len(filtered) between {least} and {layout.requests}")
    else:
        tests.append(f"len(resps) = 1 and len(resps[1]) between 1 and {layout.repeats}")
    return " and ".join(tests)


def _draws(layout: Layout) -> str:
    """The draws that a row stands for."""
    scored = by_filter(layout, "draw")
    all_draws = "range(greatest(coalesce(len(resps[1]), 1), 1))"
    return (
        f"case when not {is_first(layout)} then [{scored}] when {scored} = 0 then "
        f"{all_draws} else list_append({all_draws}, {scored}) end"
    )


def is_first(layout: Layout) -> str:
    """SQL that tells whether a row's filter is the one whose rows carry prompt and
    responses."""
    if len(layout.filters) == 1:
        return "true"
    return f"label = {text(layout.filters[0].name)}"


def is_scored(layout: Layout) -> str:
    """SQL that tells whether a draw of a row is the one that its scores belong to."""
    if layout.repeats == 1:
        return "true"
    return f"draw = {by_filter(layout, 'draw')}"


def is_generated(layout: Layout) -> str:
    """SQL that tells whether a draw of a row is a generation, which the first filter's
    rows carry."""
    is_single = layout.repeats == 1
    if is_single:
        return is_first(layout)
    return f"{is_first(layout)} and draw >= 0"


def where(condition: str, expression: str) -> str:
    """The expression where the condition holds; a condition that always does costs
    nothing."""
    if condition == "true":
        return expression
    return f"case when {condition} then {expression} end"


def by_filter(layout: Layout, field: str) -> str:
    """A property (``draw``, ``n_draws``) of the filter of a row."""
    values = {item.name: getattr(item, field) for item in layout.filters}
    if len(set(values.values())) == 1:
        return _sql(next(iter(values.values())))
    cases = " ".join(
        f"when {text(name)} then {_sql(value)}" for name, value in values.items()
    )
    return f"(case label {cases} end)"


def generation(layout: Layout) -> dict[str, str]:
    """Columns of what the model wrote."""
    if layout.kind != "text":
        return {}
    parts = {"response": where(is_generated(layout), "resps[1][draw + 1]")}
    if layout.extract and layout.filters[0].draw == 0:
        differs = f"filtered[1] <> resps[1][1] and filtered[1] <> {text(NO_MATCH)}"
        first = f"{is_first(layout)} and draw = 0 and {differs}"
        parts["extracted_answer"] = where(first, "filtered[1]")
    return parts


def scores(layout: Layout) -> list[str]:
    """One struct for each metric that measures something."""
    return [
        (_paired_score if metric in layout.paired else _plain_score)(layout, metric, n)
        for n, metric in enumerate(measured(layout))
    ]


def _plain_score(layout: Layout, metric: str, n: int) -> str:
    if layout.kind == "choice":
        unanswered = "false"
    else:
        unanswered = f"filtered[1] = {text(NO_MATCH)}"
    status = (
        f"case when v{n} = 0 and {unanswered} then 'no_answer' when v{n} is not null "
        f"then null when m{n} is null or m{n} in ('NaN', 'Infinity', '-Infinity') then "
        "'error' else 'not_scalar' end"
    )
    raw = f"case when v{n} is null then m{n} end"
    return _score(layout, metric, f"v{n}", "null", raw, status)


def _paired_score(layout: Layout, metric: str, n: int) -> str:
    value = f"v{n} / w{n}"
    status = (
        f"case when {value} is null then if(m{n} is null, 'error', 'not_scalar') end"
    )
    weight = f"if({value} is null, null, w{n})"
    return _score(layout, metric, value, weight, f"m{n}", status)


def _score(
    layout: Layout, metric: str, value: str, weight: str, raw: str, status: str
) -> str:
    labels = {item.name: filter_label(item.name) for item in layout.filters}
    cases = " ".join(
        f"when {text(name)} then {text(new)}" for name, new in labels.items()
    )
    if len(labels) == 1:
        label = text(next(iter(labels.values())))
    else:
        label = f"case label {cases} end"
    parts = {
        "metric": text(metric),
        "filter": label,
        "value": f"({value})::double",
        "weight": f"({weight})::double",
        "n_draws": f"{by_filter(layout, 'n_draws')}::integer",
        "raw": f"({raw})::varchar",
        "status": f"({status})::varchar",
        "origin": "null::varchar",
    }
    return _struct(parts)


def likelihoods(layout: Layout) -> dict[str, str]:
    """The column of log-likelihoods."""
    if layout.kind == "text":
        return {}
    if layout.kind == "rolling":
        only_choice = _choice(
            "0", "resps[1][1]", "null", "null", "strlen(prompt)", "true"
        )
        return {"choice_scores": where(is_first(layout), f"[{only_choice}]")}
    half = option_columns(layout)
    rows = [
        _choice(
            str(n),
            f"filtered[{n + 1}][1]",
            f"filtered[{n + 1 + half}][1]" if layout.mutual else "null",
            f"filtered[{n + 1}][2]",
            f"strlen(o{n})",
            _is_target(layout, n),
        )
        for n in range(half)
    ]
    choices = f"[{', '.join(rows)}][:{option_count(layout)}]"
    return {"choice_scores": where(is_first(layout), choices)}


def _choice(
    index: str, value: str, alone: str, greedy: str, size: str, target: str
) -> str:
    flag = f"case {greedy} when 'True' then true when 'False' then false end"
    is_greedy = flag
    if greedy == "null":
        is_greedy = "null::boolean"
    parts = {
        "choice_index": f"{index}::integer",
        "loglikelihood": as_number(value),
        "unconditional_loglikelihood": as_number(alone),
        "is_greedy": is_greedy,
        "n_tokens": "null::integer",
        "n_bytes": f"({size})::integer",
        "is_target": f"({target})::boolean",
    }
    return _struct(parts)


def option_columns(layout: Layout) -> int:
    """Most options that a row may have."""
    if layout.mutual:
        return layout.requests // 2
    return layout.requests


def option_count(layout: Layout) -> str:
    """Options of a row."""
    if layout.mutual:
        return "len(filtered) // 2"
    return "len(filtered)"


def gold(layout: Layout) -> str:
    """The expression that the target of a row is compared with."""
    if layout.target == "index":
        index = "try_cast(target as integer)"
        return (
            f"case when {index} >= 0 and {index} < {option_count(layout)} then {index} "
            "end"
        )
    return "case when list_contains(options, target) then target end"


def _is_target(layout: Layout, n: int) -> str:
    if layout.target == "continuation":
        return "true"
    if layout.target == "index":
        return f"gold = {n}"
    if layout.options:
        return f"gold = o{n}"
    return "null"


def as_number(expression: str) -> str:
    """A text as a finite number, else null."""
    if expression == "null":
        return "null::double"
    cast = f"try_cast({expression} as double)"
    return f"case when isfinite({cast}) then {cast} end"


def text(value: str) -> str:
    """A text literal."""
    return "'" + value.replace("'", "''") + "'"


def quoted(value: str) -> str:
    """A column name."""
    return '"' + value.replace('"', '""') + '"'


def _sql(value: int | None) -> str:
    if value is None:
        return "null"
    return str(value)


def _struct(parts: Mapping[str, str]) -> str:
    entries = [f"{text(key)}: {part}" for key, part in parts.items()]
    return "{" + ", ".join(entries) + "}"
