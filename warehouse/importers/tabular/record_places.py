"""Where the records of evaluations lie in JSON documents: in lists, below keys, several generations in each."""

from __future__ import annotations

import enum
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from warehouse.importers.tabular.columns import Unfit, number_of
from warehouse.importers.tabular.plain_tables import (
    METADATA_NAMES,
    RUN_NAMES,
    SAMPLE_NAMES,
    SCORE_NAMES,
    path_of,
    plain_name,
)


class Grade(enum.IntEnum):
    """How much a name says for a column of numbers being scores."""

    NEVER = 0  # a setting, a count, a time, a price, a rank …
    POSSIBLE = 1  # nothing is said
    LIKELY = 2  # the name of a metric
    USUAL = 3  # a usual name of scores (docs/mappings.md)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Usual names of scores, and words of the names of metrics.
_USUAL = frozenset(SCORE_NAMES) - {"value"} | {"reward"}
_METRIC = _words(
    "score scores reward rewards accuracy acc correct correctness exact em f1 bleu sacrebleu rouge rouge1 rouge2 rougel"
    " chrf bertscore bleurt comet meteor pass passed passes pass1 success successful succeeded solved resolved win"
    " right match matched grade graded rating quality faithfulness relevancy relevance precision recall similarity"
    " factuality factual helpfulness hallucination toxicity ndcg mrr auc loss ppl perplexity spearman pearson"
    " verdict metric wer cer mse rmse mae brier elo recall"
)
#: Numbers that are no results of a prompt, whatever else their name says.
_OTHER = _words(
    "count counts num n number rank ranking index idx id ids uid uuid position seed epoch step steps time times"
    " timestamp latency duration elapsed seconds second sec secs ms millis minutes minute hours cost costs price usd"
    " dollars token tokens length len size chars characters words bytes pvalue pval stderr std stdev se sem ci lower"
    " upper year month day date temperature version attempt attempts retry retries trial trials turn turns worker"
    " annotator weight threshold param params parameters layers flops memory gpu context likes votes downloads co2"
    " emissions kg fewshot shot shots iteration batch row line page offset start end created updated error stop"
    " finish max min tries samples trains"
)
#: The same, unless the name of a metric stands beside.
_UNLESS_METRIC = _words(
    "total sum level age depth order place column top entropy confidence logprob hub hf prediction predicted answer"
    " extracted target gold label choice choices option options reference"
)
_ANSWERS = _words(
    "answer answers option options choice choices label labels target gold response prediction pred index letter"
)
#: Words for what went well: a prompt, where nothing else is named.
_DONE = _words("success successful succeeded pass passed passes")
_ABOUT = _words("is was test tests all rate task at k score strict loose")
_NEVER = re.compile(r"p|p_?val(ue)?|.*_p|n|k|[#№].*|.*[❤⭐$€].*|column_\d+")
#: Words that a truth value's name begins with, and that it has, where it is a property rather than a result.
_FLAG = _words("is has was are can needs use uses should supports")
_FLAGS = _words(
    "flagged available truncated completed cached merged finished valid invalid refused skipped hidden moe template"
    " deleted gated enabled open official distilled reasoning multimodal flag agreement stopped binary optimized"
)
#: Objects around scores, and around figures of a whole run, settings and the like.
_SCORES = _words("scores score assertions evaluations evaluation review reward_info grades sample_score results_scores")
_AGGREGATES = _words(
    "average averages avg mean aggregate aggregates aggregated summary report overall final total stats"
)
_SETTINGS = _words(
    "config configs usage spec args kwargs arguments request settings params parameters hyperparameters options"
    " timing timings perf tokens generation sampling model_args usage_metadata logprobs"
)
#: Properties of a prompt, whose fields are no fields of the run.
_OF_PROMPT = _words("doc document raw_input metadata seed_metadata sample_metadata input example item question vars")

#: What judges answers, and is not what was evaluated.
_JUDGES = _words("judge judges judging grader graders grading scorer evaluator autograder annotator rater")

#: Names of ids of prompts, beyond the usual ones.
ID_NAMES = (
    *SAMPLE_NAMES["prompt_id"],
    "task_id",
    "instance_id",
    "problem_id",
    "case_id",
    "qid",
    "question_idx",
    "index",
)
#: Texts that stand where a name might stand, and name nothing.
PLACEHOLDERS = _words("default none null unknown na n/a - main all test train validation val") | {""}
#: Kinds of programs that run models, which some dumps write where a model's name is expected.
BACKENDS = _words(
    "hf hf-causal hf-causal-experimental hf-auto hf-multimodal vllm sglang gguf local-completions"
    " local-chat-completions openai-completions openai-chat-completions anthropic-chat huggingface api local mock"
)

#: Names of columns that name models, those that may, and those that name benchmarks.
MODEL_LABELS = re.compile(
    r"(the_)?(model|models|llm|system|checkpoint|submission)(_(name|version|id|versions))?|full_?name|.*_model_name"
)
WEAK_LABELS = re.compile(r"name|agent|method|label|")
BENCHMARK_LABELS = re.compile(r"(benchmark|task|dataset|metric|category|subset|eval|evaluation|test)s?(_name|_id)?")
_MODEL = re.compile(
    r"^[\w.-]+/[\w.:+-]+$|gpt|claude|llama|gemini|gemma|qwen|mi[sx]tral|\bphi\b|phi[-_ ]?\d|deepseek|falcon|\byi\b|yi-|"
    r"command|palm|grok|\bnova|olmo|pythia|vicuna|wizard|starcoder|granite|\bglm|kimi|nemotron|bert\b|\bt5|bloom|\bopt\b|"
    r"\bo[134]\b|\d[bm]\b|model|instruct|-chat|sonnet|opus|haiku",
    re.IGNORECASE,
)


def words_of(name: str) -> list[str]:
    """The words of a name: of ``rougeL``, ``IFEval Raw``, ``n_correct``."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name)
    return [word for word in re.split(r"[^0-9a-zé]+", plain_name(parts)) if word]


def grade_of(name: str, parents: Sequence[str] = ()) -> Grade:
    """How much the name of a column of numbers, and those of the objects it lies in, say for scores."""
    plain, words = plain_name(name), {*words_of(name)}
    around = {plain_name(parent) for parent in parents}
    is_scored = bool(around & _SCORES) and not around & _OF_PROMPT
    if _NEVER.fullmatch(plain) or words & _OTHER or around & _SETTINGS:
        return Grade.NEVER
    if words_of(name)[-1:] and words_of(name)[-1] in _ANSWERS:
        return Grade.NEVER
    if words & _UNLESS_METRIC and not words & _METRIC and not is_scored:
        return Grade.NEVER
    if around & _OF_PROMPT or any({*words_of(parent)} & _AGGREGATES for parent in parents):
        return Grade.POSSIBLE
    if plain in _USUAL or is_scored:
        return Grade.USUAL
    if plain == "value":
        return Grade.LIKELY
    if words & _DONE and not words - _DONE <= _ABOUT:
        words = words - _DONE  # of a request, a conversation …
    if words & _METRIC or re.search(r"pass_?(at_?|@|\^)?\d", plain):
        return Grade.LIKELY
    return Grade.POSSIBLE


def is_flag(name: str) -> bool:
    """Whether truth values under a name are a property of something rather than a result."""
    words = words_of(name)
    if {*words} & _METRIC or not words:
        return False
    return words[0] in _FLAG or bool({*words} & _FLAGS) and not looks_like_model(name)


def is_metric(name: str) -> bool:
    """Whether a word of a name is one for a metric."""
    return grade_of(name) >= Grade.LIKELY


def is_setting(parents: Iterable[str]) -> bool:
    """Whether one of the objects around a value holds settings, usage and the like."""
    return any(plain_name(parent) in _SETTINGS or {*words_of(parent)} & {"tokens", "usage"} for parent in parents)


def is_of_prompt(parents: Iterable[str]) -> bool:
    """Whether one of the objects around a value describes the prompt."""
    return any(plain_name(parent) in _OF_PROMPT for parent in parents)


def is_of_judge(parents: Iterable[str]) -> bool:
    """Whether one of the objects around a value describes who judged."""
    return any({*words_of(parent)} & _JUDGES for parent in parents)


def looks_like_model(text: str) -> bool:
    """Whether a text looks like the name of a model."""
    return bool(_MODEL.search(text))


def are_models(texts: Sequence[str]) -> bool:
    """Whether most of some texts look like names of models."""
    return bool(texts) and sum(map(looks_like_model, texts)) >= len(texts) / 2


def are_numbered(texts: Sequence[str]) -> bool:
    """Whether texts are the same but for their numbers, as ids are: ``q1``, ``q2`` …"""
    stems = {re.sub(r"\d+", "#", text) for text in texts}
    return len(texts) > 1 and len(stems) <= max(1, len(texts) // 20) and all("#" in stem for stem in stems)


_DEPTH, _LOOKED_AT, _MANY = 5, 50, 20
#: What names the elements of a list that are metrics of one generation.
METRIC_NAMES = ("metric", "metric_name", "name", "scorer", "evaluator", "grader", "key")
_CONTENT = {"text", "target", *SAMPLE_NAMES["text"], *SAMPLE_NAMES["target"], "user_input", "task_id", "question_id"}
_OF_PROMPTS = {*ID_NAMES, "prompt_id", *_CONTENT}
_KNOWN = {
    *_OF_PROMPTS,
    *SAMPLE_NAMES["response"],
    *METADATA_NAMES,
    *(word for name, words in RUN_NAMES.items() for word in (name, *words)),
}


@dataclass(frozen=True)
class Place:
    """Where records are: paths as ``[rows]`` has them, and what else the document holds of such records.

    Attributes:
        beside: paths of other records with the same fields.
        parallel: paths of objects with the same keys, which may hold further fields of the records.
    """

    at: str = ""
    draws: str = ""
    beside: tuple[str, ...] = ()
    parallel: tuple[str, ...] = ()


def place_of(document: Any) -> Place:
    """The likeliest place of records in a document; the document itself where none is likelier."""
    found = list(_places(document, "", None))
    if not found:
        return Place()
    best = max(enumerate(found), key=lambda item: (_weight(*item[1]), -item[0]))[1]
    return replace(best[0], beside=tuple(_beside(best, found)), parallel=tuple(_parallel(best[2], best[0].at)))


def _beside(best: Any, found: Sequence[Any]) -> Iterator[str]:
    """Places apart from one whose records have mostly the same fields."""
    place, record = best[0], best[1]
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return
    for other, inner, *_ in found:
        apart = not (other.at.startswith(place.at) or place.at.startswith(other.at))
        if apart and not other.draws and isinstance(inner, dict):
            common = record.keys() & inner.keys()
            if len(common) * 2 > max(len(record), len(inner)) and _score_grade({key: inner[key] for key in common}):
                yield other.at


def _parallel(around: Any, at: str) -> Iterator[str]:
    """Objects beside one of values by key that hold single values by the same keys, as tables by column do."""
    if not isinstance(around, dict) or not at.endswith("{}"):
        return
    folder = at[: at.rfind(".") + 1]
    inner_of = {f"{folder}{path_of(str(key))}": inner for key, inner in around.items()}
    values = inner_of.get(at.removesuffix("{}"))
    if not isinstance(values, dict) or keyed_kind(values) != "values":
        return
    for path, inner in inner_of.items():
        same_keys = inner is not values and isinstance(inner, dict) and inner.keys() == values.keys()
        if same_keys and all(map(_is_scalar, inner.values())):
            yield path


def keyed_kind(value: Any) -> str:
    """What an object holds under keys that are no names of fields: ``objects``, ``lists``, ``values``, or nothing."""
    if not isinstance(value, dict) or len(value) < 2:
        return ""
    inner = list(value.values())
    if all(isinstance(item, dict) for item in inner):
        return "objects" if _are_alike(list(value), inner) else ""
    keys_are_ids = len(inner) > 2 and are_numbered(list(map(str, value))) or len(inner) >= _MANY
    if not keys_are_ids:
        return ""
    if all(isinstance(item, list) for item in inner):
        return "lists" if all(_is_scalar(part) for item in inner[:_LOOKED_AT] for part in item) else ""
    kinds = {type(item) for item in inner}
    return "values" if kinds <= {int, float, bool} and not any(_is_field(key) for key in value) else ""


def _are_alike(keys: Sequence[str], records: Sequence[Mapping[str, Any]]) -> bool:
    """Whether objects have most of their fields in common, and are no objects with keys of the same kind."""
    if any(_is_field(key) for key in keys) or not any(records):
        return False
    if len(records) < 3 and not are_numbered(keys):
        return False
    looked_at = records[:_LOOKED_AT]
    times = Counter(key for record in looked_at for key in record)
    common = {key for key, count in times.items() if count * 5 >= len(looked_at) and count > 1}
    if len(common) > 2 and are_numbered(sorted(common)):
        return False
    fits = sum(len(common & record.keys()) * 2 >= len(record) for record in looked_at)
    return fits * 5 >= len(looked_at) * 4


def _is_field(key: str) -> bool:
    return plain_name(str(key)) in _KNOWN


def _places(value: Any, path: str, outer: Any, depth: int = 0) -> Iterator[tuple[Place, Any, Any, int]]:
    """Places, with the first record of each, what it lies in, and how many there are."""
    if depth > _DEPTH:
        return
    if isinstance(value, list):
        records = [item for item in value[:_LOOKED_AT] if isinstance(item, dict)]
        if records and len(records) * 2 > len(value[:_LOOKED_AT]):
            yield from _of_records(f"{path}[]", records, outer, len(value), depth)
    elif isinstance(value, dict):
        kind = keyed_kind(value)
        if kind == "objects":
            records = [item for item in value.values() if isinstance(item, dict)]
            yield from _of_records(f"{path}{{}}", records, value, len(value), depth)
            return
        if kind:
            if _grade_of_keyed(value) and grade_of(path.rpartition(".")[2]) > Grade.NEVER:
                yield Place(f"{path}{{}}", "[]" if kind == "lists" else ""), value, outer, len(value)
            return
        if _are_lists_of_one_kind(value):
            records = [item for items in value.values() for item in items]
            yield from _of_records(f"{path}{{}}[]", records, value, len(records), depth)
            return
        yield from _below(value, f"{path}." if path else "", depth)


def _are_lists_of_one_kind(value: Mapping[str, Any]) -> bool:
    """Whether an object holds nothing but lists of records with the same fields: of several models, tasks, prompts."""
    lists = list(value.values())
    if len(lists) < 2 or not all(map(_is_list_of_records, lists)) or any(map(_is_field, map(str, value))):
        return False
    first = {*lists[0][0]}
    return all(len(first & {*items[0]}) * 2 > max(len(first), len(items[0])) for items in lists)


def _of_records(path: str, records: Sequence[Any], outer: Any, count: int, depth: int) -> Iterator[Any]:
    record = max(records, key=len)
    yield Place(path), record, outer, count
    names_prompts = any(plain_name(str(key)) in _OF_PROMPTS for key in record)
    for key, inner in record.items() if names_prompts else ():
        if not _is_list_of_records(inner) or not _score_grade(inner[0]):
            continue
        if {plain_name(str(name)) for name in inner[0]} & _CONTENT - {"text"}:
            continue  # prompts of their own; a text may be that of a generation
        if not names_of_metrics([item.get(key) for item in records if isinstance(item.get(key), list)]):
            yield Place(path, f"{path_of(str(key))}[]"), {**inner[0], **record}, outer, count
    yield from _below(record, f"{path}.", depth)


def _below(record: Mapping[str, Any], prefix: str, depth: int) -> Iterator[Any]:
    for key, inner in record.items():
        if isinstance(inner, list | dict):
            yield from _places(inner, f"{prefix}{path_of(str(key))}", record, depth + 1)


def names_of_metrics(lists: Sequence[Sequence[Any]]) -> str:
    """The field that names the elements of lists, where they are metrics and no generations; else nothing."""
    filled = [items for items in lists[:_LOOKED_AT] if items and all(isinstance(item, dict) for item in items)]
    for name in METRIC_NAMES:
        named = [[item.get(name) for item in items] for items in filled]
        texts = [text for names in named for text in names]
        if not texts or not all(isinstance(text, str) for text in texts):
            continue
        if all(len({*names}) == len(names) for names in named) and len({*texts}) <= max(map(len, named)) * 2:
            return name
    return ""


def _is_list_of_records(value: Any) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(item, dict) for item in value)


def _weight(place: Place, record: Any, outer: Any, count: int) -> tuple[int, ...]:
    """How much speaks for a place: scores beside prompts, scores, known names, how many records."""
    if not isinstance(record, dict) or keyed_kind(record) in ("lists", "values"):
        return (2, _grade_of_keyed(record), 0, count)
    grade, known = _score_grade(record), {plain_name(str(key)) for key in record} & _KNOWN
    of_prompts = bool(known & _OF_PROMPTS) or place.at.endswith("{}") and count > 2
    if not of_prompts and isinstance(outer, dict) and any(plain_name(str(key)) in _OF_PROMPTS for key in outer):
        of_prompts = bool(names_of_metrics([_siblings(place, outer)]))
    return (1 + bool(of_prompts) if grade else 0, grade, len(known), count)


def _siblings(place: Place, outer: Mapping[str, Any]) -> list[Any]:
    last = place.at.rpartition(".")[2].removesuffix("[]").strip('"')
    value = outer.get(last)
    return value if isinstance(value, list) else []


def _grade_of_keyed(record: Any) -> int:
    parts = [part for item in record.values() for part in (item if isinstance(item, list) else [item])]
    return int(Grade.LIKELY) if parts and all(_is_unit(part) for part in parts[:1000]) else 0


def _score_grade(record: Any, parents: tuple[str, ...] = ()) -> int:
    """The best grade of a number in a record; 0 where it has none that may well be a score."""
    best = 0
    for key, value in record.items() if isinstance(record, dict) else ():
        if isinstance(value, dict) and len(parents) < 3 and not keyed_kind(value):
            best = max(best, _score_grade(value, (*parents, str(key))))
        elif _is_scalar(value) and value is not None and not isinstance(number_of(value), Unfit | None):
            grade = grade_of(str(key), parents)
            best = max(best, int(grade) if grade >= Grade.LIKELY else 0)
    return best


def _is_scalar(value: Any) -> bool:
    return not isinstance(value, list | dict)


def _is_unit(value: Any) -> bool:
    return isinstance(value, bool | int | float) and 0 <= value <= 1
