"""Query text for the parts of a sample record: generations, scores, likelihoods.

Expressions over the columns that :mod:`lm_eval_reading` derives: ``label`` (filter), ``draw``,
``prompt``, ``resps``, ``filtered``; ``m<n>`` (text), ``v<n>`` and ``w<n>`` (number and weight) of
metric n; ``o<n>`` (text of option n), ``options``, ``gold``.
"""

from __future__ import annotations

from collections.abc import Mapping

from warehouse.importers.lm_eval.layout import Layout, measured
from warehouse.importers.lm_eval.metrics import filter_label
from warehouse.importers.lm_eval.rows import NO_MATCH


def is_first(layout: Layout) -> str:
    """Whether a row's filter is the one whose rows carry prompt and responses."""
    if len(layout.filters) == 1:
        return "true"
    return f"label = {text(layout.filters[0].name)}"


def is_scored(layout: Layout) -> str:
    """Whether a draw of a row is the one that its scores belong to."""
    return "true" if layout.repeats == 1 else f"draw = {by_filter(layout, 'draw')}"


def is_generated(layout: Layout) -> str:
    """Whether a draw of a row is a generation, which the first filter's rows carry."""
    one = layout.repeats == 1
    return is_first(layout) if one else f"{is_first(layout)} and draw >= 0"


def where(condition: str, expression: str) -> str:
    """The expression where the condition holds; a condition that always does costs nothing."""
    return expression if condition == "true" else f"case when {condition} then {expression} end"


def by_filter(layout: Layout, field: str) -> str:
    """A property (``draw``, ``n_draws``) of the filter of a row."""
    values = {item.name: getattr(item, field) for item in layout.filters}
    if len(set(values.values())) == 1:
        return _sql(next(iter(values.values())))
    cases = " ".join(f"when {text(name)} then {_sql(value)}" for name, value in values.items())
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
    unanswered = "false" if layout.kind == "choice" else f"filtered[1] = {text(NO_MATCH)}"
    status = (
        f"case when v{n} = 0 and {unanswered} then 'no_answer' when v{n} is not null then null "
        f"when m{n} is null or m{n} in ('NaN', 'Infinity', '-Infinity') then 'error' "
        "else 'not_scalar' end"
    )
    raw = f"case when v{n} is null then m{n} end"
    return _score(layout, metric, f"v{n}", "null", raw, status)


def _paired_score(layout: Layout, metric: str, n: int) -> str:
    value = f"v{n} / w{n}"
    status = f"case when {value} is null then if(m{n} is null, 'error', 'not_scalar') end"
    weight = f"if({value} is null, null, w{n})"
    return _score(layout, metric, value, weight, f"m{n}", status)


def _score(layout: Layout, metric: str, value: str, weight: str, raw: str, status: str) -> str:
    labels = {item.name: filter_label(item.name) for item in layout.filters}
    cases = " ".join(f"when {text(name)} then {text(new)}" for name, new in labels.items())
    label = text(next(iter(labels.values()))) if len(labels) == 1 else f"case label {cases} end"
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
        one = _choice("0", "resps[1][1]", "null", "null", "strlen(prompt)", "true")
        return {"choice_scores": where(is_first(layout), f"[{one}]")}
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


def _choice(index: str, value: str, alone: str, greedy: str, size: str, target: str) -> str:
    flag = f"case {greedy} when 'True' then true when 'False' then false end"
    parts = {
        "choice_index": f"{index}::integer",
        "loglikelihood": number(value),
        "unconditional_loglikelihood": number(alone),
        "is_greedy": "null::boolean" if greedy == "null" else flag,
        "n_tokens": "null::integer",
        "n_bytes": f"({size})::integer",
        "is_target": f"({target})::boolean",
    }
    return _struct(parts)


def option_columns(layout: Layout) -> int:
    """Most options that a row may have."""
    return layout.requests // 2 if layout.mutual else layout.requests


def option_count(layout: Layout) -> str:
    """Options of a row."""
    return "len(filtered) // 2" if layout.mutual else "len(filtered)"


def gold(layout: Layout) -> str:
    """What the target of a row is compared with."""
    if layout.target == "index":
        index = "try_cast(target as integer)"
        return f"case when {index} >= 0 and {index} < {option_count(layout)} then {index} end"
    return "case when list_contains(options, target) then target end"


def _is_target(layout: Layout, n: int) -> str:
    if layout.target == "continuation":
        return "true"
    if layout.target == "index":
        return f"gold = {n}"
    return f"gold = o{n}" if layout.options else "null"


def number(expression: str) -> str:
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
    return "null" if value is None else str(value)


def _struct(parts: Mapping[str, str]) -> str:
    return "{" + ", ".join(f"{text(key)}: {part}" for key, part in parts.items()) + "}"
