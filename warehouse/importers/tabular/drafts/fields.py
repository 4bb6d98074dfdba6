"""Which columns of a table are fields of runs and of rows, as a starting mapping takes
them: by their names, checked against what they hold. What a table does not tell is a
`Choice`.
"""

from __future__ import annotations

import re
from collections.abc import Sequence

from warehouse.importers.tabular.column_names import (
    ID_NAMES,
    METADATA_NAMES,
    MODEL_LABELS,
    SAMPLE_NAMES,
    are_models,
    is_metric,
    is_of_judge,
    is_of_prompt,
    is_setting,
    plain_name,
    row_names,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.boards import are_shares, is_rate
from warehouse.importers.tabular.drafts.columns import (
    Fields,
    says_something,
)
from warehouse.importers.tabular.drafts.heed import heed_rows, heed_turns
from warehouse.importers.tabular.drafts.looks import is_long, shown_text
from warehouse.importers.tabular.drafts.model_lists import (
    name_in_list,
)
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.prompt_parts import take_parts
from warehouse.importers.tabular.drafts.prompts import (
    named_as,
    rows_told,
    settle_prompts,
    tells_apart,
)
from warehouse.importers.tabular.drafts.record_locations import METRIC_NAMES
from warehouse.importers.tabular.drafts.run_fields import (
    is_of_run,
    of_document,
    take_run,
)
from warehouse.importers.tabular.drafts.scorers import (
    scorers_in,
)
from warehouse.importers.tabular.mapping_variants import (
    SAMPLE_FIELDS,
)

#: Further names of fields of a row, in a draft.
_ALSO = {
    "prompt_id": tuple(
        name for name in ID_NAMES if name not in SAMPLE_NAMES["prompt_id"]
    ),
    "text": (
        "user_input",
        "query",
        "inputs",
        "problem_statement",
        "statement",
        "frage",
        "pregunta",
        "pergunta",
        "domanda",
        "вопрос",
        "问题",
        "質問",
    ),
    "response": (
        "actual_output",
        "final_output",
        "actualoutput",
        "generation",
        "outputs",
        "model_output",
        "model_response",
        "predicted_answer",
        "generated_answer",
        "antwort",
        "respuesta",
        "resposta",
        "risposta",
        "réponse",
        "ответ",
        "回答",
    ),
    "target": (
        "expectedoutput",
        "expected_output",
        "expect",
        "gold_answer",
        "reference_answer",
        "reference_outputs",
        "standard_answer",
        "right_answer",
        "target_answer",
    ),
}
_WORDS = {
    name: (*SAMPLE_NAMES.get(name, ()), *_ALSO.get(name, ()))
    for name in dict.fromkeys((*SAMPLE_NAMES, *_ALSO))
}
#: Objects that hold what a model said, and no right answers.
_SAID = frozenset(
    {"output", "outputs", "prediction", "predictions", "response", "responses"}
)
_NUMBERS = frozenset(
    {
        "draw",
        "position",
        "fewshot_draw",
        "input_tokens",
        "output_tokens",
        "latency",
        "cost",
    }
)
_ID = re.compile(r".*id")


def fields_of(table: TableProfile) -> Fields:
    """The fields of a table."""
    fields = Fields()
    columns = sorted(
        (column for column in table.columns if says_something(column)),
        key=lambda c: c.depth,
    )
    _take_metric(table, columns, fields)
    _take_sample(table, columns, fields)
    take_run(table, columns, fields)
    _forget_parts(table, fields)
    _forget_counts(fields)
    fields.scorers = scorers_in(table, columns, fields.taken)
    free = [column for column in columns if column.path not in fields.taken]
    for name in METADATA_NAMES:
        if (column := named_as(free, (name,))) is not None:
            fields.metadata[name] = column
    fields.document = of_document(table, fields)
    heed_rows(table, columns, fields)
    take_parts(table, columns, fields)
    settle_prompts(table, columns, fields)
    heed_turns(fields)
    return fields


# --- fields of a row ------------------------------------------------------------------------------


def _take_metric(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that names the metric of each row: ``metric``, or the name of what
    lies beside others in a prompt."""
    top = [column for column in columns if not column.depth and column.kind == "text"]
    fields.metric = named_as(top, ("metric",))
    fields.filter = named_as(top, ("filter",))
    has_outer_fields = any(column.path.startswith("^.") for column in columns)
    if has_outer_fields and fields.metric is None and not table.location.draws:
        column = named_as(top, METRIC_NAMES) or _key_of_scores(table, columns)
        if column is not None and _names_models(table, column):
            fields.run["model"] = column
        elif column is not None:
            fields.metric = column
            _take_owner(columns, fields)
    elif fields.metric is None and not table.location.draws:
        _take_named_scores(table, top, fields)


#: Names of objects that hold a score by each of their keys.
_AROUND_SCORES = frozenset(
    "score metric rating grade rubric judgment judgement".split()
)
#: What numbers are called whose metric stands elsewhere.
_OF_ANY = frozenset(
    "score scores value rating grade points mark result mean average is correct passed "
    "pass success ok verdict".split()
)


def _key_of_scores(
    table: TableProfile, columns: Sequence[ColumnProfile]
) -> ColumnProfile | None:
    """The keys of objects that are called scores and lie in the records of prompts:
    each key comes back in several of them."""
    around = plain_name(table.location.at.removesuffix("{}").rpartition(".")[2])
    is_of_model = name_in_list(table, columns) is not None
    if around.removesuffix("s") not in _AROUND_SCORES or is_of_model:
        return None
    own = [c.name for c in columns if is_metric(c.name) and not c.path.startswith("^")]
    if any(not {*words_of(name)} <= _OF_ANY for name in own):
        return None  # which names the metric: the key is of a system, say, or a judge
    for column in columns:
        if column.path == "@key" and 1 < len(column.values) <= table.rows // 2:
            return column
    return None


def _take_owner(columns: Sequence[ColumnProfile], fields: Fields) -> None:
    """The id of the prompt that a list of scores lies in, where each score has an id of
    its own as well."""
    names = ("prompt_id", *ID_NAMES)
    own = named_as([column for column in columns if not column.depth], names)
    owner = named_as(
        [
            column
            for column in columns
            if column.path.startswith("^.") and not column.is_unique
        ],
        names,
    )
    if own is not None and own.is_unique and owner is not None:
        fields.sample["prompt_id"] = owner


def _take_named_scores(
    table: TableProfile, top: Sequence[ColumnProfile], fields: Fields
) -> None:
    """A row for each score of a prompt, as exports of scores have it: what names the
    score, and whose it is."""
    if (
        named_as(
            [column for column in table.columns if column.is_number], ("value", "score")
        )
        is None
    ):
        return
    name = named_as(
        [column for column in top if 1 < len(column.values) <= table.rows // 2],
        METRIC_NAMES,
    )
    if (
        name is None
        or _names_models(table, name)
        or not any(is_metric(shown_text(value)) for value in name.values)
    ):
        return
    names = rows_told(table, [name])
    ids = [
        c
        for c in table.columns
        if _ID.fullmatch(plain_name(c.name)) and not c.depth and not c.nulls
    ]
    owner = next(
        (c for c in ids if not c.is_unique and tells_apart(table, names, c)), None
    )
    if owner is not None:
        fields.metric, fields.sample["prompt_id"] = name, owner


def _names_models(table: TableProfile, column: ColumnProfile) -> bool:
    """True if what lies beside others in a prompt are answers of models, as their list
    or their names say."""
    around = table.location.at.removesuffix("[]").rpartition(".")[2].strip('"')
    texts = list(map(shown_text, column.values))
    named = are_models(texts) and not any(
        is_metric(text) or "score" in text.lower() for text in texts
    )
    return named or bool(MODEL_LABELS.fullmatch(plain_name(around).removesuffix("s")))


def _take_sample(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    keyed = next((column for column in columns if column.path == "@key"), None)
    usual = row_names(
        {plain_name(column.name) for column in columns if not column.depth}, _WORDS
    )
    fields.names = {name: (name, *_WORDS[name]) for name in _WORDS}
    for name in SAMPLE_FIELDS:
        if name == "choices" and table.is_flat or name in fields.sample:
            continue
        words = (name, *usual.get(name, ()))
        if name == "target" and fields.metric is not None:
            # what a judge says of the prompt
            words = tuple(word for word in words if word != "label")
        free = [
            column
            for column in columns
            if _may_be_sample(name, column) and column.path not in fields.taken
        ]
        if table.location.draws and name == "text":
            free = [
                column
                for column in free
                if not column.path.startswith(table.location.draws)
            ]
        elif table.location.draws and name == "response":
            words = (*words, "text")  # what is left of that name is in a generation
        if (column := named_as(free, words)) is not None:
            fields.sample[name] = column
    free = [
        column
        for column in columns
        if column.kind == "text" and column.path not in fields.taken
    ]
    said = [
        column
        for column in free
        if column.parents and plain_name(column.parents[-1]) in _SAID
    ]
    # whatever the application calls it: outputs.answer
    if "response" not in fields.sample and len(said) == 1:
        fields.sample["response"] = said[0]
    if (
        keyed is not None
        and "prompt_id" not in fields.sample
        and "text" not in fields.sample
    ):
        fields.sample["prompt_id"] = keyed


def _may_be_sample(name: str, column: ColumnProfile) -> bool:
    """True if what a column holds, and where, fits a field of a row."""
    if name in _NUMBERS:
        return column.is_number and (
            not is_setting(column.parents) or name.endswith("_tokens")
        )
    if is_setting(column.parents) or name == "response" and is_of_judge(column.parents):
        return False
    is_said = bool({plain_name(parent) for parent in column.parents} & _SAID)
    is_of_content = name in ("target", "text", "prompt_id")
    if is_of_content and (is_said or is_of_run(column)):
        return False
    if (
        name == "target"
        and plain_name(column.name) == "label"
        and column.scores.are_verdicts
    ):
        return False
    if (
        name == "response"
        and plain_name(column.name) == "generation"
        and column.is_number
    ):
        return False  # how many came before
    if name == "text" and len(column.values) == 1 and column.rows > 2:
        return False  # an instruction for all
    if name == "text" and _names_ways_to_ask(column):
        return False
    if name == "text":
        return not column.is_number and column.kind != "true/false"
    if name == "choices":
        return (
            column.kind in ("list", "object")
            and not column.parents
            or is_of_prompt(column.parents)
        )
    return name != "position" or not column.depth


#: Names of ways to ask at most, and characters of one.
_WAYS, _WAY = 6, 24


def _names_ways_to_ask(column: ColumnProfile) -> bool:
    """True if what is called as a prompt is one of a few single words, each in several
    rows: how prompts were put (``cautious``, ``plain``)."""
    is_repeated = 2 <= len(column.values) <= min(_WAYS, column.rows // 3)
    if not is_repeated or column.kind != "text":
        return False
    texts = [shown_text(value) for value in column.values]
    return all(re.fullmatch(rf"[^\W\d][\w-]{{0,{_WAY}}}", text) for text in texts)


def _forget_counts(fields: Fields) -> None:
    """Take no numbers for what was said where nothing was asked in words, and nothing
    is right: ``Output`` is then how much there was."""
    response = fields.sample.get("response")
    if response is None or {"text", "target"} & {*fields.sample}:
        return
    if response.is_number and not response.name.startswith("@"):
        fields.forget(response)
        fields.why_not[response.path] = "response: numbers without question or target"


def _forget_parts(table: TableProfile, fields: Fields) -> None:
    """Take no names for prompts where each row states a share of its own number of
    them: they name parts of a benchmark."""
    rates = [c for c in table.columns if is_rate(c.name) and c.is_number]
    names = [
        fields.sample[own] for own in ("text", "prompt_id") if own in fields.sample
    ]
    if not names or "response" in fields.sample or any(map(is_long, names)):
        return
    if not are_shares(table, rates):
        return
    for column in names:
        fields.forget(column)
        fields.why_not[column.path] = "prompt: its row states a share of several"


# --- fields of a run ------------------------------------------------------------------------------
