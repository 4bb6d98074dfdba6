"""Fields of a draft held against what the rows say: which columns name prompts and
models, and which fields that were taken by their names the rows contradict."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

import numpy as np

from warehouse.importers.tabular.column_names import (
    ID_NAMES,
    SAMPLE_NAMES,
    are_models,
    are_numbered,
    is_metric,
    plain_name,
    words_of,
)
from warehouse.importers.tabular.column_profiles import ColumnProfile
from warehouse.importers.tabular.drafts.columns import Fields
from warehouse.importers.tabular.drafts.files_beside import are_counted, rows_beside
from warehouse.importers.tabular.drafts.profile import TableProfile
from warehouse.importers.tabular.drafts.prompts import named_as, shown_text
from warehouse.importers.tabular.drafts.toml import Choice, toml_key, toml_text
from warehouse.importers.tabular.evidence import Evidence, Rows, Standing, bounds
from warehouse.importers.tabular.verdict_words import (
    numbers_of_letters,
    numbers_of_words,
)

#: Models and prompts of which a table needs so many, before its rows say which is which.
_MODELS, _PROMPTS = 50, 10
#: Characters of what may be a name or an id; of more it is a text.
_NAME = 80
#: A day, with a time behind it or not.
_TIME = re.compile(r"\d{4}-\d\d-\d\d([T ]|$)|\d\d?[./]\d\d?[./]\d{4}")
#: Endings of the names of ids.
_IDS = frozenset("id ids idx index nr no number key uid uuid qid".split())
#: Distinct responses, as a share of the rows, from which on a text is no verdict.
_RESPONSES = 0.2
#: Tasks from which on they are prompts where each is right or wrong, and from which on
#: they may be prompts whatever their scores are.
_TASKS, _MANY_TASKS = 10, 40


def heed_rows(
    table: TableProfile, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """Correct fields that were taken by the names of columns by what the rows say.

    Args:
        columns: those that say something, the highest first.
        fields: what their names say, which is changed.
    """
    rows = _rows(table, fields)
    _take_models(table, rows, columns, fields)
    _take_tasks(table, rows, fields)
    _take_model_of_files(rows, columns, fields)
    fields.evidence = _evidence(rows, columns, fields)
    if not fields.evidence.compares:
        return
    _take_prompts(fields.evidence, fields)
    response = fields.sample.get("response")
    if response is not None and _are_same_answers(response, columns, fields.evidence):
        fields.same_answers = True
        return
    for name in ("target", "text", "response", *fields.metadata):
        _settle(name, columns, fields)


def _are_same_answers(
    response: ColumnProfile, columns: Sequence[ColumnProfile], evidence: Evidence
) -> bool:
    """True if files beside the table hold the same responses, and other scores."""
    if evidence.rows.n_files < 2:
        return False
    is_same = evidence.standing(response) is Standing.OF_PROMPT
    return is_same and any(
        evidence.standing(column) is Standing.OUTCOME
        for column in columns
        if is_metric(column.name) or is_verdict(column)
    )


def heed_turns(fields: Fields) -> None:
    """Compare rows of one turn of a conversation, where turns are prompts."""
    ids = fields.sample.get("prompt_id")
    if fields.turn is not None and ids is not None:
        evidence = fields.evidence
        fields.evidence = Evidence(evidence.rows, evidence.models, [ids, fields.turn])


def _rows(table: TableProfile, fields: Fields) -> Rows:
    """The rows of the table, and of files beside it where it holds one model."""
    model = fields.run.get("model")
    alone = Rows(
        {column.path: column.codes for column in table.columns},
        Evidence.one_file(table.rows),
    )
    if model is not None and len(model.values) > 1:
        return alone
    return rows_beside(table)


# --- models and prompts ---------------------------------------------------------------------------


def _evidence(rows: Rows, columns: Sequence[ColumnProfile], fields: Fields) -> Evidence:
    """What the rows say, by the column that names prompts best."""
    models = [fields.run[name] for name in ("model",) if name in fields.run]
    told = (fields.metric, fields.filter, *fields.scorers.columns)
    models += [column for column in told if column is not None]
    bare = Evidence(rows, models)
    ids = fields.sample.get("prompt_id")
    text = fields.sample.get("text")
    named = [column for column in (ids, text) if column is not None]
    keys = [column for column in named if bare.names_prompts(column)]
    if not keys:
        keys = sorted(
            (column for column in columns if _may_name_prompts(bare, column, fields)),
            key=_unlikeliness,
        )
    if not keys or _is_row_number(keys[0]):
        keys = _with_draws(bare, columns, fields) or keys
    if not keys:
        # several answers of one model, say
        keys = [column for column in reversed(named) if not column.is_unique]
    return Evidence(rows, models, keys[:1])


def _is_row_number(column: ColumnProfile) -> bool:
    """True if keys of records are numbers of rows."""
    return column.path == "@key" and are_counted(column.values)


def _with_draws(
    evidence: Evidence, columns: Sequence[ColumnProfile], fields: Fields
) -> list[ColumnProfile]:
    """The column that names prompts of which each model has equally many rows."""
    found = []
    for column in columns:
        if not _is_free_of_prompt(column, fields):
            continue
        n_draws = evidence.repeats(column)
        if n_draws and len(column.values) >= max(_PROMPTS, n_draws):
            found.append((n_draws, _unlikeliness(column), column))
    if not found:
        return []
    return [min(found, key=lambda item: item[:2])[2]]


def _is_free_of_prompt(column: ColumnProfile, fields: Fields) -> bool:
    """True if no name says of a column that it is something else than a prompt."""
    others = {column.path for column in fields.run.values()} | fields.scorers.paths
    others |= {
        column.path for column in (fields.metric, fields.filter) if column is not None
    }
    others |= {
        column.path
        for name, column in fields.sample.items()
        if name not in ("prompt_id", "text")
    }
    is_of_prompts = column.path not in others and not are_times(column)
    return is_of_prompts and column.kind not in ("list", "object", "true/false")


def are_times(column: ColumnProfile) -> bool:
    """True if values are days or times, which name no prompt."""
    return all(_TIME.match(str(value)) for value in column.values)


def _may_name_prompts(
    evidence: Evidence, column: ColumnProfile, fields: Fields
) -> bool:
    if not _is_free_of_prompt(column, fields):
        return False
    if len(column.values) < _PROMPTS and column.rows >= 2 * _PROMPTS:
        return False
    is_whole = all(number.is_integer() for number in column.numbers)
    return is_whole and evidence.names_prompts(column)


def _unlikeliness(column: ColumnProfile) -> tuple[bool, bool, bool, int]:
    """Evidence against a column as the one that names prompts, the strongest first."""
    is_named = plain_name(column.name) in (*ID_NAMES, *SAMPLE_NAMES["prompt_id"])
    is_called = bool({*words_of(column.name)[-1:]} & _IDS)
    return (
        not (is_named or is_called),
        is_long(column),
        are_counted(column.values),
        column.depth,
    )


def is_long(column: ColumnProfile) -> bool:
    """True if values are texts rather than names."""
    texts = [shown_text(value) for value in column.values]
    longest = max(map(len, texts), default=0)
    has_sentences = sum(len(text.split()) > 3 for text in texts) * 2 > len(texts)
    return longest > _NAME or has_sentences


def _take_prompts(evidence: Evidence, fields: Fields) -> None:
    """The column that names prompts by the rows, where names say none or a wrong
    one."""
    key = evidence.prompts[0]
    named = fields.sample.get("prompt_id")
    if key in fields.sample.values():
        if named is not None and named is not key and _is_of_row(evidence, named):
            del fields.sample["prompt_id"]
            fields.why_not[named.path] = "prompt_id: another in each row"
        return
    if named is not None and not _is_of_row(evidence, named):
        return
    if is_verdict(key):
        return
    fields.forget(key)
    if named is not None:
        fields.why_not[named.path] = "prompt_id: another in each row"
        del fields.sample["prompt_id"]
    if is_long(key) and "text" not in fields.sample:
        fields.sample["text"] = key
    else:
        fields.sample["prompt_id"] = key
    fields.say(key, f"prompt: {_how_many(evidence)}")


def _is_of_row(evidence: Evidence, column: ColumnProfile) -> bool:
    """True if a column has other values in all rows, of all models."""
    return evidence.n_differing(column) == evidence.n_repeated


def _how_many(evidence: Evidence) -> str:
    if evidence.rows.n_files > 1:
        return f"{evidence.n_repeated} also stand in files beside this one"
    return f"{evidence.n_repeated} stand in rows of several models"


def _take_tasks(table: TableProfile, rows: Rows, fields: Fields) -> None:
    """Take tasks for prompts, not for benchmarks, where each stands once a model and is
    right or wrong."""
    task = fields.run.get("benchmark")
    ids = fields.sample.get("prompt_id")
    is_row = ids is not None and _is_row_number(ids)
    if task is None or "text" in fields.sample or ids is not None and not is_row:
        return
    if len(task.values) < _TASKS or task.nulls:
        return
    models = [fields.run["model"]] if "model" in fields.run else []
    bare = Evidence(rows, models)
    if models and len(models[0].values) > 1:
        is_prompt = bare.names_prompts(task)
    else:
        is_prompt = task.is_unique
    if not is_prompt and not bare.repeats(task):
        return
    evidence = Evidence(rows, models, [task])
    free = [column for column in table.columns if column.path not in fields.taken]
    is_right_or_wrong = any(map(is_verdict, free)) and not any(
        _are_means(column, evidence) for column in free
    )
    is_numbered = are_numbered([str(value) for value in task.values])
    if is_right_or_wrong or is_numbered:
        del fields.run["benchmark"]
        fields.sample["prompt_id"] = task
        why = "right or wrong" if is_right_or_wrong else "numbered as items are"
        fields.say(task, f"prompt: each stands once a model, {why}")
    elif len(task.values) >= _MANY_TASKS:
        fields.questions.append(_what_tasks_are(task))


def _are_means(column: ColumnProfile, evidence: Evidence) -> bool:
    """True if a column has the name of a metric and other numbers than 0 and 1, which
    differ between models."""
    is_named = is_metric(column.name) and column.is_number
    standing = evidence.standing(column)
    return is_named and not is_verdict(column) and standing is not Standing.OF_PROMPT


def _what_tasks_are(task: ColumnProfile) -> Choice:
    path = toml_text(task.path)
    return Choice(
        f"what the {len(task.values)} values of {path} are, each once a model",
        ("benchmarks, of which figures are published", "prompts of one benchmark"),
        (
            f"leave [run] benchmark = {path} as it is",
            f"[sample] prompt_id = {path} in its place, and [[scores]] for "
            "[[published]]",
        ),
    )


def is_verdict(column: ColumnProfile) -> bool:
    """True if values are right or wrong, as numbers or in words."""
    if len(column.values) < 2:
        return False
    if column.kind == "true/false" or column.scores.is_truth:
        return True
    words = numbers_of_words(column.values) or numbers_of_letters(column.values)
    return bool(words)


def _take_models(
    table: TableProfile, rows: Rows, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that names models by the rows, where no name says so: each of its few
    values has all prompts once."""
    if "model" in fields.run or rows.n_files > 1 or fields.metric is not None:
        return
    if table.location.draws:
        return  # which are answers of one model
    found = list(_crossing(rows, columns, fields))
    models = [column for column in found if are_models(list(map(str, column.values)))]
    if len(models) != 1 and len(found) != 1:
        return
    model = (models or found)[0]
    fields.forget(model)
    fields.run["model"] = model
    if models:
        fields.say(model, "model: names of models, each with all prompts")
    else:
        fields.questions.append(_what_crosses(model))


def _take_model_of_files(
    rows: Rows, columns: Sequence[ColumnProfile], fields: Fields
) -> None:
    """The column that holds one name of a model in each of the files beside another."""
    if {"model"} & {*fields.run, *fields.document} or rows.n_files < 2:
        return
    for column in columns:
        codes = rows.codes[column.path]
        is_alone = len(column.values) == 1 and not column.nulls
        names = np.unique(codes)
        files_of_names = np.unique(np.stack([codes, rows.files]), axis=1).shape[1]
        is_told = names.size == files_of_names == rows.n_files
        if is_alone and is_told and are_models([str(column.values[0])]):
            fields.forget(column)
            fields.run["model"] = column
            fields.say(column, "model: another name in each file beside this one")
            return


def _what_crosses(column: ColumnProfile) -> Choice:
    path = toml_text(column.path)
    shown = ", ".join(map(str, column.values[:3]))
    return Choice(
        f"what {path} names ({shown}), of which each has all prompts once",
        ("models", "settings of one model, a run each", "who gave the scores"),
        (
            f"leave [run] model = {path} as it is",
            f"[run.configuration] {toml_key(column.name)} = {path}, without [run] "
            f"model = {path}",
            f"[scorer] scorer = {path}, without [run] model = {path}",
        ),
    )


def _crossing(
    rows: Rows, columns: Sequence[ColumnProfile], fields: Fields
) -> Iterator[ColumnProfile]:
    """Columns of a few names of which each has all prompts once."""
    evidence = Evidence(rows)
    few = [
        column
        for column in columns
        if column.kind == "text"
        and 2 <= len(column.values) <= min(_MODELS, column.rows // 2)
        and not is_long(column)
        and not is_verdict(column)
    ]
    keys = [
        column
        for column in columns
        if column.kind not in ("list", "object", "true/false")
        and _PROMPTS <= len(column.values) < column.rows
    ]
    for column in few:
        if any(evidence.crosses(column, key) for key in keys if key is not column):
            yield column


# --- fields that the rows contradict --------------------------------------------------------------


def _settle(name: str, columns: Sequence[ColumnProfile], fields: Fields) -> None:
    """Give up a field that the rows contradict, and take the next that is called so."""
    evidence = fields.evidence
    taken = fields.metadata if name in fields.metadata else fields.sample
    column = taken.get(name)
    while column is not None and not _fits(name, evidence.standing(column)):
        del taken[name]
        standing = evidence.standing(column).value
        fields.why_not[column.path] = f"{name}: {standing}"
        if name in ("target", "text") and "response" not in fields.sample:
            _say_response(column, fields)
        if name == "response":
            _say_target(column, fields)
        column = _next(name, columns, fields)
        if column is not None:
            taken[name] = column
    if name == "response" and column is None:
        _find_response(columns, fields)


def _fits(name: str, standing: Standing) -> bool:
    if name == "response":
        return standing is not Standing.OF_PROMPT
    if name in ("target", "text"):
        return standing is not Standing.OUTCOME
    return standing not in (Standing.OUTCOME, Standing.OF_MODEL)


def _next(
    name: str, columns: Sequence[ColumnProfile], fields: Fields
) -> ColumnProfile | None:
    """The next column that a field is called as and that nothing takes."""
    names = fields.names.get(name, ())
    free = [
        column
        for column in columns
        if column.path not in fields.taken and column.path not in fields.why_not
    ]
    return named_as(free, names)


def _say_response(column: ColumnProfile, fields: Fields) -> None:
    """Take what was called a target for the response, where it holds many texts."""
    if column.kind == "text" and len(column.values) >= _RESPONSES * column.rows:
        fields.sample["response"] = column
        fields.say(column, f"response: {Standing.OUTCOME.value}")


def _say_target(column: ColumnProfile, fields: Fields) -> None:
    """Take what was called a response for the target, where it is equal for all."""
    is_called = plain_name(column.name) in fields.names.get("target", ())
    if "target" not in fields.sample and is_called:
        fields.sample["target"] = column
        fields.say(column, f"target: {Standing.OF_PROMPT.value}")


def _find_response(columns: Sequence[ColumnProfile], fields: Fields) -> None:
    """The one column of many texts that differs between rows of one prompt."""
    found = [
        column
        for column in columns
        if column.path not in fields.taken
        and column.kind == "text"
        and (is_long(column) or column.path.endswith("[@draw]"))
        and fields.evidence.standing(column) is Standing.OUTCOME
    ]
    if len(found) == 1:
        fields.sample["response"] = found[0]
        fields.say(found[0], f"response: a text that {Standing.OUTCOME.value}")


# --- full marks -----------------------------------------------------------------------------------


def full_marks(
    table: TableProfile, score: ColumnProfile, fields: Fields
) -> ColumnProfile | None:
    """The column of what could be earned of each prompt, beside a column of what was
    earned."""
    if is_verdict(score) or max(score.numbers, default=0) <= 1:
        return None
    for column in table.columns:
        if column.path in fields.taken or column is score:
            continue
        words = {*words_of(column.name)}
        is_called = bool(words & _POSSIBLE) and not words & _COUNTED
        standing = fields.evidence.standing(column)
        is_of_prompt = standing in (
            Standing.OF_PROMPT,
            Standing.CONSTANT,
            Standing.UNKNOWN,
        )
        if is_called and is_of_prompt and bounds(score, column):
            return column
    return None


#: Words of the names of full marks.
_POSSIBLE = frozenset(
    "max maximum full possible total points marks punkte maximal available out".split()
)
#: Words of the names of other limits.
_COUNTED = frozenset(
    "turn turns digit digits token tokens step steps option options time seconds "
    "attempt attempts retry retries length chars words call calls".split()
)


def of_full_marks(score: ColumnProfile, marks: ColumnProfile) -> Choice:
    """The question whether a score is a share of what could be earned."""
    path = toml_text(score.path)
    possible = toml_text(marks.path)
    return Choice(
        f"what {path} is beside {possible}, which no row exceeds",
        (
            f"points of which each prompt gives up to {possible}: their share",
            "a score of its own: its mean",
        ),
        (
            f"value = {{ quotient = [{path}, {possible}] }} in its [[scores]]",
            "leave its [[scores]] as it is",
        ),
    )
