"""From the rows of a file to votes between two models."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from warehouse.importers.tabular.chunks import RowView
from warehouse.importers.tabular.column_names import looks_like_model
from warehouse.importers.tabular.columns import Unfit, encode, text_of, to_number
from warehouse.importers.tabular.expressions import Literal, Source
from warehouse.importers.tabular.mapping_rules import TabularMapping, Variant
from warehouse.importers.tabular.readers import RowFault
from warehouse.importers.tabular.rows import (
    converted,
    documents_of,
    json_rows,
    stray_rows,
    without_faults,
)
from warehouse.importers.tabular.runs import header_value
from warehouse.importers.tabular.score_columns import Faults, taken
from warehouse.importers.tabular.scorers import PEOPLE
from warehouse.records import VOTE_SCHEMA, ImportSettings

#: Who judges where nothing else is said.
_OF_RUN = ("benchmark", "split")
_OF_SAMPLE = ("prompt_id", "text", "target", "perturbation", "template", "draw")
_TEXTS = ("model_a", "model_b", "voter", "scorer", "scorer_kind", "judge_model")
_KINDS = ("human", "model", "match", "execution")
#: How an outcome is written, in small letters without punctuation.
OUTCOMES: Mapping[str, str | None] = {
    **dict.fromkeys(
        (
            "a",
            "1",
            "model_a",
            "model_1",
            "left",
            "first",
            "output_a",
            "assistant_a",
            "response_a",
        ),
        "a",
    ),
    **dict.fromkeys(
        (
            "b",
            "2",
            "model_b",
            "model_2",
            "right",
            "second",
            "output_b",
            "assistant_b",
            "response_b",
        ),
        "b",
    ),
    **dict.fromkeys(
        ("tie", "draw", "equal", "same", "both", "both_good", "tie_bothgood"), "tie"
    ),
    **dict.fromkeys(
        ("both_bad", "bothbad", "tie_bothbad", "tie_both_bad", "neither"), "both_bad"
    ),
    **dict.fromkeys(("", "error", "none", "null", "unknown"), None),
}
_SHOWN_FIRST = {
    word: side for word, side in OUTCOMES.items() if side in ("a", "b", None)
}


def votes_of(
    view: RowView,
    mapping: TabularMapping,
    variant: Variant,
    settings: ImportSettings,
    reject: RowFault,
) -> pa.RecordBatch | None:
    """The votes in the rows of a view, without those that are rejected; ``None`` if
    none is left."""
    assert variant.votes is not None
    given, size, faults = variant.votes.fields, view.size, Faults()
    sources: dict[str, Source] = {
        name: variant.sample[name] for name in _OF_SAMPLE if name in variant.sample
    }
    sources |= {name: variant.run[name] for name in _OF_RUN if name in variant.run}
    sources |= {
        name: Literal("--set", settings.values[name])
        for name in _OF_RUN
        if name in settings.values
    }
    sources |= {name: given[name] for name in (*_TEXTS, "weight") if name in given}
    columns = {
        name: taken(
            converted(source.column(view), size, VOTE_SCHEMA.field(name)),
            source.where,
            faults,
        )
        for name, source in sources.items()
    }
    for name in _OF_RUN:
        if name in settings.defaults:
            said = columns.get(name, pa.nulls(size, pa.string()))
            columns[name] = pc.fill_null(said, str(settings.defaults[name]))
    columns |= documents_of(view, mapping, variant, columns, faults)
    faults |= stray_rows(view, mapping, variant, columns)
    _require(columns, faults, size)
    columns["outcome"] = _side(given["outcome"], OUTCOMES, view, columns, faults)
    if "first" in given:
        columns["first"] = _side(given["first"], _SHOWN_FIRST, view, columns, faults)
    if "judge" in given:
        columns |= _judges(given["judge"], view, columns)
    columns["scorer"] = pc.fill_null(
        columns.get("scorer", pa.nulls(size, pa.string())), PEOPLE
    )
    if "created_at" in given:
        columns["created_at"] = _times(given["created_at"], view, faults)
    for number, side in enumerate("ab" if variant.votes.covariates else ""):
        numbers = {
            name: taken(
                to_number(pair[number].column(view), size), pair[number].where, faults
            ).to_pylist()
            for name, pair in variant.votes.covariates.items()
        }
        columns[f"covariates_{side}"] = json_rows(numbers, faults)
    return without_faults(columns, VOTE_SCHEMA, size, faults, reject)


def _require(columns: Mapping[str, pa.Array], faults: Faults, size: int) -> None:
    """Note the rows that lack what a vote must have."""
    for name in ("model_a", "model_b", "benchmark"):
        if name not in columns:
            faults |= {
                row: Unfit(f"no {name}", f"a {name}: say --default {name}=…")
                for row in range(size)
            }
            continue
        blank = pc.equal(pc.utf8_trim_whitespace(columns[name]), "")
        for row in np.flatnonzero(
            pc.fill_null(blank, True).to_numpy(zero_copy_only=False)
        ).tolist():
            faults.setdefault(row, Unfit(f"no {name}", f"a {name} in each row"))
    if "weight" in columns:
        wrong = pc.fill_null(pc.less_equal(columns["weight"], 0), False).to_numpy(
            zero_copy_only=False
        )
        for row in np.flatnonzero(wrong).tolist():
            faults.setdefault(
                row, Unfit(f"the weight {columns['weight'][row]}", "a weight above 0")
            )
    if "scorer_kind" in columns:
        for row, kind in enumerate(columns["scorer_kind"].to_pylist()):
            if kind is not None and kind not in _KINDS:
                faults.setdefault(
                    row,
                    Unfit(
                        repr(kind)[:60],
                        f"[votes] scorer_kind: one of {', '.join(_KINDS)}",
                    ),
                )


def _side(
    source: Source,
    words: Mapping[str, str | None],
    view: RowView,
    columns: Mapping[str, pa.Array],
    faults: Faults,
) -> pa.Array:
    """Which of the two models is meant, by a usual word or its name."""
    codes, values = encode(source.column(view), view.size)
    sides: list[str | None] = []
    unknown: dict[int, str] = {}
    for code, value in enumerate(values):
        text = text_of(value)
        if isinstance(text, Unfit):
            faults |= dict.fromkeys(np.flatnonzero(codes == code).tolist(), text)
        plain = (
            ""
            if text is None or isinstance(text, Unfit)
            else re.sub(r"[^a-z0-9]+", "_", text.lower()).strip("_")
        )
        sides.append(words.get(plain))
        if plain not in words and isinstance(text, str):
            unknown[code] = text
    array = pa.array(sides, pa.string()).take(pa.array(codes))
    if not unknown:
        return array
    by_row = array.to_pylist()
    for row in np.flatnonzero(np.isin(codes, list(unknown))).tolist():
        text = unknown[int(codes[row])]
        named = [
            side
            for side in "ab"
            if f"model_{side}" in columns
            and columns[f"model_{side}"][row].as_py() == text
        ]
        if len(named) == 1:
            by_row[row] = named[0]
        else:
            there = ", ".join(dict.fromkeys(filter(None, words.values())))
            expected = f"{source.where}: {there}, or the name of one of both models"
            faults.setdefault(row, Unfit(repr(text)[:60], expected))
    return pa.array(by_row, pa.string())


def _judges(
    source: Source, view: RowView, columns: Mapping[str, pa.Array]
) -> dict[str, pa.Array]:
    """Who judges where one column names people and models: a model by a name that looks
    like one, or first in a list; else a person."""
    codes, values = encode(source.column(view), view.size)
    names = [
        value[0] if isinstance(value, list) and value else value for value in values
    ]
    texts = [None if value is None else str(text_of(value)) for value in names]
    are_models = [
        isinstance(value, list) or (text is not None and looks_like_model(text))
        for value, text in zip(values, texts, strict=True)
    ]
    pairs = list(zip(texts, are_models, strict=True))
    at = pa.array(codes)

    def spread(found: list[str | None]) -> pa.Array:
        return pa.array(found, pa.string()).take(at)

    models = spread([text if is_model else None for text, is_model in pairs])
    persons = spread([None if is_model else text for text, is_model in pairs])
    scorer = models
    if "scorer" in columns:
        scorer = pc.coalesce(columns["scorer"], models)
    voter = persons
    if "voter" in columns:
        voter = pc.coalesce(columns["voter"], persons)
    return {
        "scorer": scorer,
        "scorer_kind": spread(
            ["model" if is_model else "human" for is_model in are_models]
        ),
        "judge_model": models,
        "voter": voter,
    }


def _times(source: Source, view: RowView, faults: Faults) -> pa.Array:
    codes, values = encode(source.column(view), view.size)
    times: list[Any] = [header_value("started_at", value) for value in values]
    wrong = {code: time for code, time in enumerate(times) if isinstance(time, Unfit)}
    for code, unfit in wrong.items():
        rows = np.flatnonzero(codes == code).tolist()
        faults |= dict.fromkeys(
            rows, Unfit(unfit.found, f"{source.where}: {unfit.expected}")
        )
    fit = [None if code in wrong else time for code, time in enumerate(times)]
    return pa.array(fit, pa.timestamp("us")).take(pa.array(codes))
