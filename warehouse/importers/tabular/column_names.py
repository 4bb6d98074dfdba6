"""Meanings of the names of columns: the usual names of fields
(docs/reference/mapping_language.md), and
the words of other names."""

from __future__ import annotations

import enum
import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

from warehouse.importers.tabular.field_paths import PathError, parse_path
from warehouse.importers.tabular.mapping_variants import (
    RECORD_FIELDS,
    RUN_FIELDS,
    SAMPLE_FIELDS,
)

#: Usual names of a run's fields, the likeliest first. A field's own name comes before
#: them.
RUN_NAMES: dict[str, tuple[str, ...]] = {
    "model": (
        *("model_name", "model_id"),
        *("modell", "modelo", "modèle", "modello", "модель", "模型", "モデル", "모델"),
    ),
    "benchmark": (
        "task",
        "dataset",
        "benchmark_name",
        "benchmark_id",
        "task_name",
        "dataset_name",
    ),
    "training_seed": ("seed",),
}
#: Usual names of a row's fields.
SAMPLE_NAMES: dict[str, tuple[str, ...]] = {
    "prompt_id": (
        "question_id",
        "example_id",
        "doc_id",
        "item_id",
        "sample_id",
        "id",
        "idx",
    ),
    "text": ("question", "prompt", "input", "problem", "instruction"),
    "target": (
        *("gold", "label", "answer"),
        *(
            "reference",
            "expected",
            "expected_answer",
            "correct_answer",
            "ground_truth",
            "truth",
            "gold_answer",
        ),
    ),
    "response": (
        "prediction",
        "output",
        "completion",
        "model_answer",
        "generated_text",
        "pred",
    ),
}
#: Usual names of the fields of a vote between two models. Both models and the outcome
#: make a table one of votes.
VOTE_NAMES: dict[str, tuple[str, ...]] = {
    "model_a": ("model_1", "left", "model_left", "first_model"),
    "model_b": ("model_2", "right", "model_right", "second_model"),
    "outcome": ("winner", "vote", "verdict"),
    "first": ("shown_first",),
    "voter": (
        "worker",
        "worker_id",
        "annotator",
        "annotator_id",
        "rater",
        "rater_id",
        "user",
        "user_id",
    ),
    "judge": (),
    "scorer": (),
    "scorer_kind": (),
    "judge_model": (),
    "weight": (),
    "created_at": ("tstamp", "timestamp"),
}
#: Usual names of the fields of its question. A column ``id`` is rather of the vote.
VOTE_SAMPLE_NAMES: dict[str, tuple[str, ...]] = {
    "prompt_id": tuple(
        name for name in SAMPLE_NAMES["prompt_id"] if name not in ("id", "idx")
    ),
    "text": SAMPLE_NAMES["text"],
    "perturbation": ("turn",),
    "draw": (),
}
#: Properties of a prompt that are kept as metadata.
METADATA_NAMES = (
    *(
        "category",
        "subcategory",
        "subject",
        "topic",
        "domain",
        "difficulty",
        "language",
    ),
    *("human_minutes", "task_family"),
)
#: Columns that say of which part of a benchmark a prompt is: ids may repeat in each.
_PART_NAMES = ("lang", "locale", "subset", "config")
#: Columns of scores and the metric that each is; ``value`` where a column names the
#: metric.
SCORE_NAMES = {
    "score": "score",
    "correct": "correct",
    "is_correct": "is_correct",
    "acc": "acc",
    "accuracy": "accuracy",
    "exact_match": "exact_match",
    "value": "score",
}
#: Usual names of columns that say who gave the scores of a row, by field of
#: ``[scorer]``.
SCORER_NAMES: dict[str, tuple[str, ...]] = {
    "judge_model": (
        "judge",
        "judge_name",
        "judge_id",
        "grader_model",
        "evaluator_model",
        "autograder",
    ),
    "annotator": (
        *(
            "annotator_id",
            "annotator_name",
            "rater",
            "rater_id",
            "labeler",
            "labeler_id",
            "labeller",
            "labeller_id",
        ),
    ),
    "scorer": ("scorer_name", "grader", "grader_name", "evaluator", "evaluator_name"),
    "scorer_kind": (),
}
#: Metrics that are better the higher they are, where all their values are 0 or 1.
OF_TRUTH = frozenset(
    {"score", "correct", "is_correct", "acc", "accuracy", "exact_match"}
)
#: Names that a run and a row both have: in a table of rows they are the row's.
_SHARED = {*SAMPLE_FIELDS, "status"}


@dataclass(frozen=True)
class Guess:
    """The fields that columns of a table most likely are: field -> column, for runs and
    rows.

    ``scores`` are pairs of metric and column; the metric is ``""`` where the column
    ``metric`` names it. ``scorer`` are the columns that say who gave them. ``unused``
    are the columns that no name tells.
    """

    run: dict[str, str] = field(default_factory=dict)
    sample: dict[str, str] = field(default_factory=dict)
    metadata: dict[str, str] = field(default_factory=dict)
    scores: tuple[tuple[str, str], ...] = ()
    metric: str = ""
    filter: str = ""
    scorer: dict[str, str] = field(default_factory=dict)
    unused: tuple[str, ...] = ()

    @property
    def renamed(self) -> dict[str, str]:
        """Fields whose column is called otherwise than the field: field -> column."""
        both = {**self.run, **self.sample}
        return {
            name: column for name, column in both.items() if plain_name(column) != name
        }

    def with_metadata(self, names: Collection[str]) -> Guess:
        """With unused columns that are wanted as properties of the prompt."""
        found = {name: name for name in names if name in self.unused}
        unused = tuple(name for name in self.unused if name not in found)
        return replace(self, metadata={**self.metadata, **found}, unused=unused)

    @property
    def key(self) -> tuple[str, ...]:
        """The fields that tell prompts apart where no column holds an id: an answer
        alone is that of several prompts."""
        if {"prompt_id", "position"} & {*self.sample} or "text" not in self.sample:
            return ()
        return tuple(name for name in ("text", "target") if name in self.sample)


def row_names(
    columns: Collection[str], usual: Mapping[str, tuple[str, ...]] = SAMPLE_NAMES
) -> Mapping[str, tuple[str, ...]]:
    """Usual names of the fields of a row in a table with some columns: ``answer`` is
    what the model said where nothing else is that and the right answer has a column of
    its own, as in tables of retrieval (question, answer, truth). Beside
    ``correct_answer`` it may be a key that was corrected, and stays one. A ``label``
    with an ``explanation`` is a judge's, as in evaluations of Phoenix. In
    ``samples_df`` of Inspect, ``id`` names a prompt, ``sample_id`` an epoch of it."""
    if {"sample_id", "eval_id", "epoch", "id"} <= {*columns}:
        usual = {**usual, "prompt_id": ("id",)}
    if "explanation" in columns:
        usual = {
            **usual,
            "target": tuple(name for name in usual["target"] if name != "label"),
        }
    target = usual["target"]
    response = {"response", *usual["response"]}
    right = {*target[target.index("answer") + 1 :]} - {"correct_answer"}
    if "answer" not in columns or not right & {*columns} or response & {*columns}:
        return usual
    return {
        **usual,
        "target": tuple(name for name in target if name != "answer"),
        "response": ("answer",),
    }


def guess(columns: Sequence[str], objects: bool = False) -> Guess:
    """The fields that columns most likely are, by their names alone.

    Args:
        columns: names as they stand in the file.
        objects: whether a column may hold lists and objects (not so in CSV).
    """
    names = {plain_name(column): column for column in reversed(columns)}
    run_fields = [name for name in RUN_FIELDS if name not in _SHARED]
    sample_fields: Sequence[str] = SAMPLE_FIELDS
    if not objects:
        run_fields = [name for name in run_fields if name not in RECORD_FIELDS]
        sample_fields = [name for name in SAMPLE_FIELDS if name != "choices"]
    run = _chosen(run_fields, RUN_NAMES, names)
    sample = _chosen(sample_fields, row_names(names), names)
    metadata = {
        name: names[name] for name in (*METADATA_NAMES, *_PART_NAMES) if name in names
    }
    metric = names.get("metric", "")
    filter_ = names.get("filter", "")
    scores = _scores(names, bool(metric))
    scorer = _chosen(SCORER_NAMES, SCORER_NAMES, names)
    used = {
        *run.values(),
        *sample.values(),
        *metadata.values(),
        *scorer.values(),
        metric,
        filter_,
    }
    used |= {column for _, column in scores}
    unused = tuple(column for column in columns if column not in used)
    return Guess(run, sample, metadata, scores, metric, filter_, scorer, unused)


def guess_votes(columns: Sequence[str]) -> dict[str, dict[str, str]]:
    """The fields that columns of a table of votes most likely are: field -> column, for
    ``votes``, ``sample`` and ``run``; empty where it is none."""
    names = {plain_name(column): column for column in reversed(columns)}
    votes = _chosen(VOTE_NAMES, VOTE_NAMES, names)
    if not {"model_a", "model_b", "outcome"} <= votes.keys():
        return {}
    sample = _chosen(VOTE_SAMPLE_NAMES, VOTE_SAMPLE_NAMES, names)
    return {
        "votes": votes,
        "sample": sample,
        "run": _chosen(("benchmark", "split"), RUN_NAMES, names),
    }


def plain_name(column: str) -> str:
    """A column's name as it is compared: ``Question ID`` is ``question_id``."""
    return re.sub(r"[\s\-.]+", "_", column.strip()).lower()


def path_of(column: str) -> str:
    """The field path of a column, in quotes where its name has characters with a
    meaning."""
    try:
        path = parse_path(column)
    except PathError:
        path = None
    if (
        path is not None
        and path.root == "row"
        and not path.up
        and path.steps == (column,)
    ):
        return column
    return '"' + re.sub(r'(["\\])', r"\\\1", column) + '"'


def _chosen(
    fields: Collection[str], usual: Mapping[str, tuple[str, ...]], names: dict[str, str]
) -> dict[str, str]:
    columns = {}
    for name in fields:
        usual_name = next(
            (word for word in (name, *usual.get(name, ())) if word in names), None
        )
        if usual_name is not None:
            columns[name] = names[usual_name]
    return columns


def _scores(names: dict[str, str], named: bool) -> tuple[tuple[str, str], ...]:
    """Metric and column of each column of scores."""
    names_here = [name for name in SCORE_NAMES if name in names]
    if named:
        first = next(
            (name for name in ("score", "value", *names_here) if name in names), None
        )
        if first:
            return (("", names[first]),)
        return ()
    if "value" in names_here and (len(names_here) > 1 or "prompt_id" not in names):
        names_here.remove("value")  # which may be anything
    return tuple((SCORE_NAMES[name], names[name]) for name in names_here)


class Grade(enum.IntEnum):
    """How much a name says for a column of numbers being scores."""

    NEVER = 0  # a setting, a count, a time, a price, a rank …
    POSSIBLE = 1  # nothing is said
    LIKELY = 2  # the name of a metric
    USUAL = 3  # a usual name of scores (docs/reference/mapping_language.md)


def _words(text: str) -> frozenset[str]:
    return frozenset(text.split())


#: Usual names of scores, and words of the names of metrics.
_USUAL = frozenset(SCORE_NAMES) - {"value"} | {"reward"}
_METRIC = _words(
    "score scores reward rewards accuracy acc correct correctness exact em f1 bleu "
    "sacrebleu rouge rouge1 rouge2 rougel chrf bertscore bleurt comet meteor pass "
    "passed passes pass1 success successful succeeded solved resolved win winrate right match "
    "matched ok hit grade graded rating quality faithfulness relevancy relevance precision "
    "recall similarity factuality factual helpfulness hallucination toxicity ndcg mrr "
    "auc loss ppl perplexity bpb bpc spearman pearson verdict metric wer cer mse rmse mae "
    "brier elo recall verified compliance compliant "
    # in other languages
    "punkte punktzahl bewertung nota puntuación puntaje puntos calificación pontuação "
    "punteggio voto wynik ocena poäng оценка балл баллы 分数 得分 评分 評価 点数 スコア 점수"
)
#: Numbers that are no results of a prompt, whatever else their name says.
_OTHER = _words(
    "count counts num n number rank ranking index idx id ids uid uuid position seed "
    "epoch step steps time times timestamp latency duration elapsed seconds second sec "
    "secs ms millis minutes minute hours cost costs price usd dollars token tokens "
    "length len size chars characters words bytes pvalue pval stderr std stdev se sem "
    "ci lower upper year month day date temperature version attempt attempts retry "
    "retries trial trials turn turns worker annotator weight threshold param params "
    "parameters layers flops memory gpu likes votes downloads co2 emissions kg fewshot "
    "shot shots iteration batch row line page offset start end created updated error "
    "stop finish max min tries samples trains stddev variance spread million savings "
    "files loc tok toks sd tpm rpm tps qps rps fps throughput"
)
#: Last words of names of metrics, whatever stands before: ``length_compliance``.
_KEPT = _words("compliance")
#: The same, unless the name of a metric stands beside.
_UNLESS_METRIC = _words(
    "total sum level age depth order place column top entropy confidence logprob hub "
    "hf prediction predicted answer extracted target gold label choice choices option "
    "options reference code context"
)
_ANSWERS = _words(
    "answer answers option options choice choices label labels target gold response "
    "prediction pred index letter"
)
#: Words for what went well: a prompt, where nothing else is named.
_DONE = _words("success successful succeeded pass passed passes")
_ABOUT = _words("is was test tests all rate task at k score strict loose")
_NEVER = re.compile(
    r"p|p_?val(ue)?|.*_p|n|k|[#№].*|.*[❤⭐$€].*|column_\d+|unnamed:?_\d+|generation"
)
#: How a benchmark was put, behind its name: ``GSM8K (8-shot, CoT)``.
_SHOTS = re.compile(
    r"(?<=\w)[ _-]*(\([^()]*\d+[- ]?shots?\b[^()]*\)|[ _-]\d+[- ]?shots?\b)"
    r"|(?<![^\W_])(zero|one|two|three|five|few)[ _-]?shots?(?![^\W_])",
    re.IGNORECASE,
)
#: What ends or begins the name of a metric that a length is taken out of:
#: ``acc_per_token``.
_PER = re.compile(r"_per_(token|char|byte|word)$|\blength_controlled_")
#: Words that a truth value's name begins with, and that it has, where it is a property
#: rather than a result.
_FLAG = _words("is has was are can needs use uses should supports")
_FLAGS = _words(
    "flagged available truncated completed cached merged finished valid invalid "
    "refused skipped hidden moe template deleted gated enabled open official distilled "
    "reasoning multimodal flag agreement stopped binary optimized first swapped flipped "
    "reversed shuffled abstained"
)
#: Objects around scores, and around figures of a whole run, settings and the like.
_SCORES = _words(
    "scores score assertions evaluations evaluation review reward_info grades "
    "sample_score results_scores"
)
AGGREGATES = _words(
    "average averages avg mean aggregate aggregates aggregated summary report overall "
    "final total stats"
)
_SETTINGS = _words(
    "config configs usage spec args kwargs arguments request settings params "
    "parameters hyperparameters options timing timings perf tokens generation sampling "
    "model_args usage_metadata logprobs"
)
#: Properties of a prompt, whose fields are no fields of the run.
_OF_PROMPT = _words(
    "doc document raw_input metadata seed_metadata sample_metadata input example item "
    "question vars"
)
#: What judges answers, and is not what was evaluated.
_JUDGES = _words(
    "judge judges judging grader graders grading scorer evaluator autograder annotator "
    "rater"
)
#: Names of ids of prompts, beyond the usual ones.
ID_NAMES = (
    *SAMPLE_NAMES["prompt_id"],
    "task_id",
    "instance_id",
    "problem_id",
    "case_id",
    "qid",
    "datasource_item_id",
    "question_idx",
    "index",
)
#: Texts that stand where a name might stand, and name nothing.
PLACEHOLDERS = _words(
    "default none null unknown na n/a - main all test train validation val"
) | {""}
#: Kinds of programs that run models, which some dumps write where a model's name is
#: expected.
BACKENDS = _words(
    "hf hf-causal hf-causal-experimental hf-auto hf-multimodal vllm sglang gguf "
    "local-completions local-chat-completions openai-completions "
    "openai-chat-completions anthropic-chat huggingface api local mock"
)
#: Names of columns with numbers of prompts.
SIZE = re.compile(
    r"n|num|count|size|(task|item|sample|question|test|example|prompt)_count|"
    r"(n|num|number_of|total)_(total|samples|prompts|examples|questions|instances|items|"
    r"tasks|cases|tests|problems)"
)
#: Names of columns that name models, those that may, and those that name benchmarks.
MODEL_LABELS = re.compile(
    r"(the_)?(model|models|llm|system|checkpoint|submission)(_(name|version|id|versions)|/adapter)?|full_?name|.*_model_name|"
    r"(generation|generator|target|subject|evaluated|candidate|answer|response|tested)_model(_(name|id))?"
)
WEAK_LABELS = re.compile(r"name|agent|method|label|")
BENCHMARK_LABELS = re.compile(
    r"(benchmark|task|dataset|metric|category|subset|eval|evaluation|test)s?(_name|_id)?"
)
_MODEL = re.compile(
    r"^[\w.-]+/[\w.:+-]+$|gpt|claude|llama|gemini|gemma|qwen|mi[sx]tral|\bphi\b|phi[-_ ]?\d|deepseek|falcon|\byi\b|yi-|"
    r"command|palm|grok|\bnova|olmo|pythia|vicuna|wizard|starcoder|granite|\bglm|kimi|nemotron|bert\b|\bt5|bloom|\bopt\b|"
    r"\bo[134]\b|\d[bm]\b|model|instruct|-chat|sonnet|opus|haiku",
    re.IGNORECASE,
)


def words_of(name: str) -> list[str]:
    """The words of a name: of ``rougeL``, ``IFEval Raw``, ``n_correct``."""
    parts = re.sub(r"(?<=[a-z0-9])(?=[A-Z][a-z])", "_", name)
    return [word for word in re.split(r"[\W_]+", plain_name(parts)) if word]


#: Names in an object of scores that say whether the scoring itself went well.
_OF_SCORING = frozenset(("status", "state"))


def grade_of(name: str, parents: Sequence[str] = ()) -> Grade:
    """How much the name of a column of numbers, and those of the objects it lies in,
    say for scores."""
    name = _SHOTS.sub("", name).strip(" _-") or name
    plain = plain_name(name)
    words = {*words_of(_PER.sub("", name))}
    around = {plain_name(parent) for parent in parents}
    is_scored = bool(around & _SCORES) and not around & _OF_PROMPT
    is_of_other = bool(words & _OTHER) and words_of(name)[-1] not in _KEPT
    if _NEVER.fullmatch(plain) or is_of_other or around & _SETTINGS:
        return Grade.NEVER
    if words_of(name)[-1:] and words_of(name)[-1] in _ANSWERS:
        return Grade.NEVER
    if words & _UNLESS_METRIC and not words & _METRIC and not is_scored:
        return Grade.NEVER
    if around & _OF_PROMPT or any(
        {*words_of(parent)} & AGGREGATES for parent in parents
    ):
        return Grade.POSSIBLE
    if plain in _OF_SCORING and is_scored:
        return Grade.POSSIBLE
    if plain in _USUAL or is_scored:
        return Grade.USUAL
    if plain == "value":
        return Grade.LIKELY
    if words & _DONE and not words - _DONE <= _ABOUT:
        words = words - _DONE  # of a request, a conversation …
    stems = {word.rstrip("0123456789") for word in words}  # chrf2, bleu4, ndcg10
    if (words | stems) & _METRIC or re.search(r"pass_?(at_?|@|\^)?\d", plain):
        return Grade.LIKELY
    return Grade.POSSIBLE


#: Words that say of a truth value that true is what is wanted, and that it is not.
_GOOD = _words(
    "correct right solved resolved success successful succeeded pass passed passes "
    "match matched hit ok accuracy acc correctness"
)
_BAD = _words("not no in un error errors wrong incorrect fail failed without")


def says_good(name: str) -> bool:
    """True if a truth value of that name is better true than false."""
    words = {*words_of(name)}
    return bool(words & _GOOD) and not words & _BAD


def is_counted(name: str) -> bool:
    """True if a word of a name is one for counts, places, times and the like."""
    words = {*words_of(name)}
    return bool(words & _OTHER) or bool(_NEVER.fullmatch(plain_name(name)))


def is_flag(name: str) -> bool:
    """True if truth values under a name are a property of something rather than a
    result."""
    words = words_of(name)
    if {*words} & _METRIC or not words:
        return False
    if words[0] in _FLAG:
        return True
    return not _FLAGS.isdisjoint(words) and not looks_like_model(name)


def is_metric(name: str) -> bool:
    """True if a word of a name is one for a metric."""
    return grade_of(name) >= Grade.LIKELY


def is_setting(parents: Iterable[str]) -> bool:
    """True if one of the objects around a value holds settings, usage and the like."""
    return any(
        plain_name(parent) in _SETTINGS or {*words_of(parent)} & {"tokens", "usage"}
        for parent in parents
    )


def is_of_prompt(parents: Iterable[str]) -> bool:
    """True if one of the objects around a value describes the prompt."""
    return any(plain_name(parent) in _OF_PROMPT for parent in parents)


def is_of_judge(parents: Iterable[str]) -> bool:
    """True if one of the objects around a value describes who judged."""
    return any({*words_of(parent)} & _JUDGES for parent in parents)


#: Ends of names of columns, behind who scored: ``exact_match/value`` (MLflow).
_OF_SCORERS = ("/value", "/score", "/rationale", "/justification", "/error_message")


def looks_like_model(text: str) -> bool:
    """True if a text looks like the name of a model."""
    return bool(_MODEL.search(text)) and not text.endswith(_OF_SCORERS)


def are_models(texts: Sequence[str]) -> bool:
    """True if most of some texts look like names of models."""
    return bool(texts) and sum(map(looks_like_model, texts)) >= len(texts) / 2


#: Names of benchmarks that tables of many models have, and what names of others end in.
_BENCHMARK = re.compile(
    r"mmlu|gpqa|gsm|\bmath|aime|amc\d|\barc|hella_?swag|wino_?grande|truthful|mbpp|bbh|big_?bench|"
    r"\bdrop\b|squad|piqa|siqa|lambada|copa|\bwsc|\brte\b|\bmnli|sst-?2|xnli|ruler|musr|\bhle\b|"
    r"last_exam|aider|bfcl|tau2?\b|gaia|web_?arena|mmmu|math_?vista|arena|bird\b|spider|"
    r"(bench|eval|qa|nli|glue)(?![a-z])",
    re.IGNORECASE,
)


def are_benchmarks(texts: Sequence[str]) -> bool:
    """True if most of some texts look like names of benchmarks."""
    named = [text for text in texts if _BENCHMARK.search(text)]
    return bool(texts) and len(named) >= len(texts) / 2


def are_numbered(texts: Sequence[str]) -> bool:
    """True if texts are the same but for their numbers, as ids are: ``q1``, ``q2`` …"""
    stems = {re.sub(r"\d+", "#", text) for text in texts}
    return (
        len(texts) > 1
        and len(stems) <= max(1, len(texts) // 20)
        and all("#" in stem for stem in stems)
    )
