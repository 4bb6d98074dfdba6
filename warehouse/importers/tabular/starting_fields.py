"""Which columns of a table are fields of runs and of rows, as a starting mapping takes
them: by their names, checked against what they hold. What a table does not tell is a
`Choice`.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from warehouse.importers.tabular.column_names import (
    BACKENDS,
    ID_NAMES,
    METADATA_NAMES,
    MODEL_LABELS,
    PLACEHOLDERS,
    RUN_NAMES,
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
from warehouse.importers.tabular.columns import text_of
from warehouse.importers.tabular.mapping import RECORD_FIELDS, RUN_FIELDS, SAMPLE_FIELDS
from warehouse.importers.tabular.plain_tables import NULL_WORDS, plain
from warehouse.importers.tabular.profile import (
    METRIC_NAMES,
    ColumnProfile,
    TableProfile,
)
from warehouse.importers.tabular.starting_scorers import (
    OF_PEOPLE,
    Scorers,
    scorers_in,
    word_for,
)
from warehouse.importers.tabular.starting_toml import (
    Choice,
    inline_table,
    texts,
    toml_key,
    toml_text,
)

#: Further names of fields of a row, in a draft.
_ALSO = {
    "prompt_id": tuple(
        name for name in ID_NAMES if name not in SAMPLE_NAMES["prompt_id"]
    ),
    "text": ("user_input", "query", "inputs"),
    "response": ("actual_output", "actualoutput", "generation", "outputs"),
    "target": (
        "expectedoutput",
        "expected_output",
        "gold_answer",
        "reference_answer",
        "reference_outputs",
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
#: Fields of a run that differ between rows of one: when it began, what it cost, how it
#: went.
_OF_ONE_RUN = frozenset(
    {
        "started_at",
        "cost",
        "status",
        "note",
        "tags",
        "hardware",
        "n_benchmark",
        "n_requested",
        "tokens",
    }
)
_WHOLE = frozenset(
    {
        "step",
        "epoch",
        "tokens",
        "training_seed",
        "initialisation_seed",
        "data_order_seed",
        "fewshot",
    }
)
#: Fields of a run that are numbers, and how a text holds one: ``step1000``.
POSITIONS = ("step", "epoch", "tokens")
_ONE_NUMBER = re.compile(r"[^\d.,]*\d+[^\d.,]*")
#: Names of columns that number the generations of a prompt.
_DRAWS = (
    "draw",
    "trial",
    "attempt",
    "repeat",
    "repetition",
    "rollout",
    "epoch",
    "generation_index",
    "sample_index",
)
#: Tokens that a model is trained on, at least.
_LEAST_TOKENS = 1_000_000
#: Characters of what may be a name.
_NAME = 100
_ID = re.compile(r".*id")
#: Ids as programs draw them: many hexadecimal digits, with a word before them or not,
#: or letters and digits mixed.
_DRAWN = re.compile(
    r"(?:\w{1,20}[-_])?(?:[0-9a-f]{20,64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12})|"
    r"[a-z]{2,9}[-_]?(?=[^-_]*\d)(?=[^-_]*[A-Z])[0-9A-Za-z]{14,40}",
    re.IGNORECASE,
)


@dataclass
class Fields:
    """Fields of runs and of rows with the column of each."""

    run: dict[str, ColumnProfile] = field(default_factory=dict)
    sample: dict[str, ColumnProfile] = field(default_factory=dict)
    metadata: dict[str, ColumnProfile] = field(default_factory=dict)
    #: fields of a run that the document around the records holds: field -> path.
    document: dict[str, str] = field(default_factory=dict)
    metric: ColumnProfile | None = None
    filter: ColumnProfile | None = None
    scorers: Scorers = field(default_factory=Scorers)  #: who gave the scores.
    #: path of a column that its name makes a field -> why it is none.
    why_not: dict[str, str] = field(default_factory=dict)
    #: the fields that tell prompts apart where no column holds an id.
    key: tuple[str, ...] = ()
    draw: str = ""  #: an expression for the number of a generation.
    #: tells apart the prompts of one id: those of a conversation.
    turn: ColumnProfile | None = None
    choices: list[Choice] = field(default_factory=list)  #: what is to be decided.

    @property
    def taken(self) -> set[str]:
        """Paths of the columns that are fields."""
        columns = (
            *self.run.values(),
            *self.sample.values(),
            *self.metadata.values(),
            self.metric,
            self.filter,
        )
        return {
            column.path for column in columns if column is not None
        } | self.scorers.paths

    @property
    def names_prompts(self) -> bool:
        """True if a prompt is told by an id or by its text."""
        return (
            bool(self.key)
            or bool({"prompt_id", "position", "text"} & {*self.sample})
            or bool(self.choices)
        )


def fields_of(table: TableProfile) -> Fields:
    """The fields of a table."""
    fields = Fields()
    columns = sorted(
        (column for column in table.columns if says_something(column)),
        key=lambda c: c.depth,
    )
    _take_metric(table, columns, fields)
    _take_sample(table, columns, fields)
    _take_run(table, columns, fields)
    fields.scorers = scorers_in(table, columns, fields.taken)
    free = [column for column in columns if column.path not in fields.taken]
    for name in METADATA_NAMES:
        if (column := _named(free, (name,))) is not None:
            fields.metadata[name] = column
    fields.document = of_document(table, fields)
    _settle_prompts(table, columns, fields)
    return fields


def says_something(column: ColumnProfile) -> bool:
    """True if a column has values that are not all words for a missing one (``none``
    may be a filter's name)."""
    words = NULL_WORDS - {"none"}
    return any(
        not isinstance(value, str) or plain(value) not in words
        for value in column.values
    )


def _named(
    columns: Sequence[ColumnProfile], names: Collection[str]
) -> ColumnProfile | None:
    """The column that lies highest under one of some names, the likeliest of them
    first."""
    order = {name: number for number, name in enumerate(names)}
    candidates = [
        (c.depth, order[plain_name(c.name)], c)
        for c in columns
        if plain_name(c.name) in order
    ]
    if candidates:
        return min(candidates, key=lambda item: item[:2])[2]
    return None


# --- fields of a row ------------------------------------------------------------------------------


def _take_metric(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that names the metric of each row: ``metric``, or the name of what
    lies beside others in a prompt."""
    top = [column for column in columns if not column.depth and column.kind == "text"]
    fields.metric = _named(top, ("metric",))
    fields.filter = _named(top, ("filter",))
    has_outer_fields = any(column.path.startswith("^.") for column in columns)
    if has_outer_fields and fields.metric is None and not table.location.draws:
        column = _named(top, METRIC_NAMES)
        if column is not None and _names_models(table, column):
            fields.run["model"] = column
        elif column is not None:
            fields.metric = column
            _take_owner(columns, fields)
    elif fields.metric is None and not table.location.draws:
        _take_named_scores(table, top, fields)


def _take_owner(columns: Sequence[ColumnProfile], fields: Fields) -> None:
    """The id of the prompt that a list of scores lies in, where each score has an id of
    its own as well."""
    names = ("prompt_id", *ID_NAMES)
    own = _named([column for column in columns if not column.depth], names)
    owner = _named(
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
        _named(
            [column for column in table.columns if column.is_number], ("value", "score")
        )
        is None
    ):
        return
    name = _named(
        [column for column in top if 1 < len(column.values) <= table.rows // 2],
        METRIC_NAMES,
    )
    if (
        name is None
        or _names_models(table, name)
        or not any(is_metric(_text(value)) for value in name.values)
    ):
        return
    names = _rows(table, [name])
    ids = [
        c
        for c in table.columns
        if _ID.fullmatch(plain_name(c.name)) and not c.depth and not c.nulls
    ]
    owner = next((c for c in ids if not c.is_unique and _part(table, names, c)), None)
    if owner is not None:
        fields.metric, fields.sample["prompt_id"] = name, owner


def _names_models(table: TableProfile, column: ColumnProfile) -> bool:
    """True if what lies beside others in a prompt are answers of models, as their list
    or their names say."""
    around = table.location.at.removesuffix("[]").rpartition(".")[2].strip('"')
    texts = list(map(_text, column.values))
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
    for name in SAMPLE_FIELDS:
        if name == "choices" and table.is_flat or name in fields.sample:
            continue
        words = (name, *usual.get(name, ()))
        if name == "target" and fields.metric is not None:
            words = tuple(
                word for word in words if word != "label"
            )  # what a judge says of the prompt
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
        if (column := _named(free, words)) is not None:
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
    if (
        "response" not in fields.sample and len(said) == 1
    ):  # whatever the application calls it: outputs.answer
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
    if name == "target" and {plain_name(parent) for parent in column.parents} & _SAID:
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
    if name == "text":
        return not column.is_number and column.kind != "true/false"
    if name == "choices":
        return (
            column.kind in ("list", "object")
            and not column.parents
            or is_of_prompt(column.parents)
        )
    return name != "position" or not column.depth


# --- fields of a run ------------------------------------------------------------------------------


def _take_run(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    for name in RUN_FIELDS:
        if (
            name in (*SAMPLE_FIELDS, "status")
            or name in RECORD_FIELDS
            and table.is_flat
        ):
            continue
        words = (name, *RUN_NAMES.get(name, ()))
        anywhere = name in ("model", "benchmark")
        free = [
            c
            for c in columns
            if c.path not in fields.taken and (anywhere or not c.parents)
        ]
        if name == "model":
            free = [
                c
                for c in free
                if not is_of_prompt(c.parents) and not is_of_judge(c.parents)
            ]
        column = _named(free, words)
        if column is None and name == "model":
            column = next((c for c in free if _labels_models(c)), None)
        if column is None:
            continue
        why = _why_no_run(name, column)
        if name == "epoch" and any(plain_name(c.name) == "eval_id" for c in columns):
            fields.sample.setdefault(
                "draw", column
            )  # samples_df of Inspect numbers repeats so
        elif why:
            fields.why_not[column.path] = f"{name}: {why}"
        else:
            fields.run[name] = column


def _labels_models(column: ColumnProfile) -> bool:
    """True if the name of a column is one for models, beyond the usual ones."""
    is_short = all(len(str(value)) <= _NAME for value in column.values)
    return (
        not column.parents
        and is_short
        and bool(MODEL_LABELS.fullmatch(plain_name(column.name)))
    )


def _why_no_run(name: str, column: ColumnProfile) -> str:
    """Why what a column holds does not fit a field of a run; nothing if it does."""
    texts = {str(text_of(value)).strip().lower() for value in column.values}
    if name in ("model", "benchmark"):
        if column.kind != "text":
            return f"{column.kind}, where a name is expected"
        if texts <= PLACEHOLDERS:
            return f"{toml_text(min(texts))} names nothing"
        if name == "model" and texts <= BACKENDS:
            return f"{toml_text(min(texts))} is what runs models"
    if len(column.values) > 1 and column.rows > 2:
        if name in _OF_ONE_RUN:
            return "differs from row to row"
        if len(column.values) * 2 > column.rows and name != "model":
            return f"{len(column.values)} different in {column.rows} rows"
    if why := _why_no_number(name, column):
        return why
    if name not in RECORD_FIELDS or column.kind == "object":
        return ""
    return "no object"


def _why_no_number(name: str, column: ColumnProfile) -> str:
    """Why values are not the numbers that a field wants; nothing if they are, or it
    wants none."""
    if name == "tokens" and min(column.numbers, default=0) < _LEAST_TOKENS:
        return "too few for those of a training"
    if name in _WHOLE and not all(number.is_integer() for number in column.numbers):
        return "no whole numbers"
    if name in POSITIONS and not column.is_number:
        is_one = all(_ONE_NUMBER.fullmatch(_text(value)) for value in column.values)
        if is_one:
            return ""
        return "texts with more than a number, or none"
    return ""


def of_document(table: TableProfile, fields: Fields) -> dict[str, str]:
    """Fields of a run that the document around the records holds: field -> path."""
    paths: dict[str, list[str]] = {}
    for path in table.document:
        *around, last = (plain_name(step.strip('"')) for step in path.split("."))
        name = last
        if last in ("name", "id") and around[-1] == "model":
            name = f"model_{last}"
        if not is_of_judge(around):
            paths.setdefault(name, []).append(path)
    names = (
        "model",
        "benchmark",
        "temperature",
        "top_p",
        "max_tokens",
        "split",
        "revision",
    )
    chosen: dict[str, str] = {}
    for name in names:
        if name in fields.run:
            continue
        for word in (
            name,
            *RUN_NAMES.get(name, ()),
            *(("name",) if name == "benchmark" else ()),
        ):
            named = [
                path
                for path in paths.get(word, ())
                if word != "name" or path.count(".") == 1
            ]
            if named and not _is_no_name(name, table, named):
                chosen[name] = min(named, key=lambda path: path.count("."))
                break
    return chosen


def _is_no_name(name: str, table: TableProfile, paths: Sequence[str]) -> bool:
    """True if places of a document hold several names, or none."""
    if name not in ("model", "benchmark"):
        return False
    values = {str(table.document[path]).strip().lower() for path in paths}
    return (
        len(values) > 1
        or values <= PLACEHOLDERS
        or name == "model"
        and values <= BACKENDS
    )


# --- which prompt ---------------------------------------------------------------------------------


def _settle_prompts(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """Find the columns that tell prompts apart, and the generations of one."""
    content = tuple(name for name in ("text", "target") if name in fields.sample)
    column = fields.sample.get("prompt_id")
    if column is not None and "text" in fields.sample:
        verdict = _ids_against_texts(table, fields)
        if verdict != "ids":
            del fields.sample["prompt_id"]
        if verdict == "either":
            fields.choices.append(_which_key(column, content))
        elif verdict == "texts":
            fields.why_not[column.path] = (
                "prompt_id: the same prompt has several, or several prompts the same"
            )
    elif column is not None and _is_drawn(table, fields, column):
        _replace_drawn(table, columns, fields, column)
    elif (
        column is not None
        and column.is_unique
        and len(getattr(fields.run.get("model"), "values", ())) > 1
    ):
        del fields.sample["prompt_id"]
        fields.choices.append(_which_ids(column))
    if (
        not {"prompt_id", "position"} & {*fields.sample}
        and not fields.choices
        and "text" in fields.sample
    ):
        fields.key = content
    _settle_draws(table, columns, fields)
    _settle_people(table, fields)
    if (
        fields.key
        and not table.location.draws
        and not fields.draw
        and "draw" not in fields.sample
        and fields.metric is None
    ):
        _settle_repeated(table, fields)


def _replace_drawn(
    table: TableProfile,
    columns: Sequence[ColumnProfile],
    fields: Fields,
    column: ColumnProfile,
) -> None:
    """Another column that names prompts in place of ids that look drawn."""
    free = [
        c for c in columns if c.path not in fields.taken and c.depth <= column.depth
    ]
    others = [c for c in free if not _is_drawn(table, fields, c)]
    names = ("prompt_id", *SAMPLE_NAMES["prompt_id"], *ID_NAMES)
    other = _named(others, names) or next((c for c in others if _ends_with_id(c)), None)
    if other is None and column.depth:  # rows of one prompt, whose numbers tell nothing
        fields.choices.append(_which_ids(column))
        return
    del fields.sample["prompt_id"]
    fields.why_not[column.path] = "prompt_id: looks drawn for each row"
    if other is not None:
        fields.sample["prompt_id"] = other


def _settle_repeated(table: TableProfile, fields: Fields) -> None:
    """Rows of one run with the same content are generations of a prompt, or prompts
    that happen to be equal."""
    apart = [fields.sample[name] for name in fields.key]
    others = (*fields.run.values(), *fields.scorers.columns, fields.filter)
    apart += [column for column in others if column is not None]
    rows = _rows(table, apart)
    repeated = len(rows) - len({*rows})
    if repeated:
        key, fields.key = fields.key, ()
        fields.choices.append(
            Choice(
                f"what rows of the same {' and '.join(key)} are ({repeated} of "
                f"{len(rows)} repeat another)",
                (
                    "generations of one prompt",
                    "different prompts, in the same order in all files",
                ),
                (f"key = {texts(key)}", '[sample] position = "@index"'),
            )
        )


def _which_key(column: ColumnProfile, content: Sequence[str]) -> Choice:
    path = toml_text(column.path)
    return Choice(
        f"what tells prompts apart: {path} differs where the content is the same",
        (f"each {path} is a prompt", "prompts of the same content are one prompt"),
        (f"[sample] prompt_id = {path}", f"key = {texts(content)}"),
    )


def _which_ids(column: ColumnProfile) -> Choice:
    path = toml_text(column.path)
    return Choice(
        f"what tells prompts apart: {path} is another in each row, so that no two "
        "models have a prompt in common",
        (
            f"each {path} is a prompt, of one model only",
            "another column, or part of this one, names the prompts",
        ),
        (
            f"[sample] prompt_id = {path}",
            '[sample] prompt_id = "COLUMN", or { path = "COLUMN", pattern = "…" }',
        ),
    )


def _ids_against_texts(table: TableProfile, fields: Fields) -> str:
    """The word for what tells prompts apart, ``ids`` or ``texts``, or ``either``
    may."""
    column, text = fields.sample["prompt_id"], fields.sample["text"]
    ids = list(map(_text, table.values(column)))
    contents = list(map(_text, table.values(text)))
    texts_by_id: dict[str, set[str]] = {}
    ids_by_text: dict[str, set[str]] = {}
    for identifier, content, value in zip(
        ids, contents, table.values(text), strict=True
    ):
        if value in (None, ""):
            continue  # of a row that failed, say
        texts_by_id.setdefault(identifier, set()).add(content)
        ids_by_text.setdefault(content, set()).add(identifier)
    if _is_drawn(table, fields, column):
        return "texts"
    n_several = sum(len(texts) > 1 for texts in texts_by_id.values())
    if n_several * 20 > len(texts_by_id):
        return "texts"
    repeated = sum(len(with_text) > 1 for with_text in ids_by_text.values())
    if repeated * 20 > len(ids_by_text):
        return "either"
    return "ids"


def _ends_with_id(column: ColumnProfile) -> bool:
    """True if a name ends with that of an id of prompts: ``datasource_item_id``,
    ``datasetItemId``."""
    endings = tuple(f"_{name}" for name in ID_NAMES if "_" in name)
    name = "_".join(words_of(column.name))
    return len(column.values) > 1 and name.endswith(endings)


def _is_drawn(table: TableProfile, fields: Fields, column: ColumnProfile) -> bool:
    """True if ids look drawn for each record, which has a row of each metric, or for
    what rows lie in."""
    if not all(_DRAWN.fullmatch(_text(value)) for value in column.values):
        return False
    if column.is_unique or column.path.startswith("^"):
        return True
    parts = (column, fields.metric, fields.filter, *fields.scorers.columns)
    apart = [part for part in parts if part is not None]
    return len({*_rows(table, apart)}) == table.rows


def _settle_draws(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that numbers the generations of a prompt, where rows of one are told
    apart by it alone."""
    if table.location.draws or "draw" in fields.sample or fields.choices:
        return
    names = fields.key or ("prompt_id",)
    prompts = [fields.sample[name] for name in names if name in fields.sample]
    if not prompts or table.rows < 2:
        return
    others = [c for name, c in fields.run.items() if plain_name(c.name) not in _DRAWS]
    told = (fields.metric, fields.filter, *fields.scorers.columns)
    others += [column for column in told if column is not None]
    numbers = [c for c in columns if c.is_number and c.path not in fields.sample]
    turn, column = _named(numbers, ("turn",)), _named(numbers, _DRAWS)
    rows = _rows(table, (*prompts, *others))
    if len({*rows}) == len(rows):
        seed = fields.run.get("training_seed")
        rows = _rows(
            table, (*prompts, *(other for other in others if other is not seed))
        )
        if (
            seed is None
            or plain_name(seed.name) != "seed"
            or column is None
            or len({*rows}) == len(rows)
        ):
            return
        if _part(table, rows, column):  # each repeat has its seed: one of sampling
            del fields.run["training_seed"]
    if turn is not None and not fields.key and _part(table, rows, turn):
        fields.turn = turn
        return
    if column is None or not _part(table, rows, column):
        groups = len({*rows})
        asked = fields.scorers.asked
        taken = fields.taken - {c.path for c in (*fields.metadata.values(), *asked)}
        free = [
            c
            for c in columns
            if c.path not in taken and not c.nulls and not is_metric(c.name)
        ]
        apart = [
            c
            for c in free
            if 1 < len(c.values) <= groups // 2 and _part(table, rows, c)
        ]
        if apart:
            of_one = min(apart, key=lambda c: (c not in asked, len(c.values)))
            fields.scorers.asked = [column for column in asked if column is not of_one]
            repeated = len(rows) - groups, len(rows)
            is_scorer = of_one in asked
            paths = [c.path for c in prompts]
            fields.choices.append(
                _which_rows(of_one, paths, *repeated, "model" in fields.run, is_scorer)
            )
        return
    draw = _numbered(column)
    if fields.run.get("epoch") is column:
        del fields.run["epoch"]
        fields.choices.append(
            Choice(
                f"what {toml_text(column.path)} counts",
                (
                    "generations of each prompt",
                    "epochs of training, each a run of its own",
                ),
                (f"[sample] draw = {draw}", f"[run] epoch = {toml_text(column.path)}"),
            )
        )
    else:
        fields.draw = draw


def _settle_people(table: TableProfile, fields: Fields) -> None:
    """Settle whether rows are told apart by the person alone who scored."""
    people = fields.scorers.people
    names = fields.key or ("prompt_id",)
    prompts = [fields.sample[name] for name in names if name in fields.sample]
    if people is None or not prompts or fields.draw or "draw" in fields.sample:
        return
    told = (fields.metric, fields.filter, *fields.run.values(), *fields.scorers.columns)
    others = [column for column in told if column is not None and column is not people]
    rows = _rows(table, (*prompts, *others))
    are_twice = len({*rows}) < len(rows)
    fields.scorers.are_draws = are_twice and _part(table, rows, people)


def _rows(
    table: TableProfile, columns: Sequence[ColumnProfile]
) -> list[tuple[str, ...]]:
    return list(
        zip(*(map(_text, table.values(column)) for column in columns), strict=True)
    )


def _numbered(column: ColumnProfile) -> str:
    """An expression that numbers what a column tells apart, from 0."""
    if not column.is_number:
        return inline_table(
            {
                "path": column.path,
                "values": dict(zip(map(_text, column.values), range(99), strict=False)),
            }
        )
    first = min(column.numbers)
    if first:
        return inline_table({"path": column.path, "add": -int(first)})
    return toml_text(column.path)


def _which_rows(
    column: ColumnProfile,
    prompts: Sequence[str],
    repeated: int,
    rows: int,
    has_model: bool,
    is_scorer: bool,
) -> Choice:
    path = toml_text(column.path)
    by = f"filter = {{ path = {path} }} in each of the [[scores]]"
    if is_scorer:
        by = f"[scorer] {word_for(column)} = {path}{OF_PEOPLE[word_for(column)]}"
    template = " ".join(f"{{{name}}}" for name in (*prompts, column.path))
    kinds = [
        "generations of each prompt",
        "judges or ways to score, a figure each",
        "runs, a figure each",
        "prompts",
    ]
    lines = [
        f"[sample] draw = {_numbered(column)}",
        by,
        f"[run.configuration] {toml_key(column.name)} = {path}",
        f"[sample] prompt_id = {{ template = {toml_text(template)} }}",
    ]
    if not has_model:
        kinds.insert(0, "models")
        lines.insert(0, f"[run] model = {path}")
    return Choice(
        f"what {path} tells apart, where rows are of one prompt ({repeated} of {rows} "
        "repeat another)",
        tuple(kinds),
        tuple(lines),
    )


def _part(table: TableProfile, rows: Sequence[Any], column: ColumnProfile) -> bool:
    """True if a column tells rows apart that are equal without it."""
    texts = map(_text, table.values(column))
    return len({*zip(rows, texts, strict=True)}) == len(rows)


def _text(value: Any) -> str:
    return str(text_of(value))


def other_ids(table: TableProfile, fields: Fields) -> Iterator[ColumnProfile]:
    """Further columns that have a value of their own in each row."""
    for column in table.columns:
        if column.path not in fields.taken and column.is_unique and not column.parents:
            yield column
