"""Importer of NeMo Evaluator since 0.3: the bundle of a benchmark with its results and
its log of inference."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.base import source_of
from warehouse.importers.common.header_values import moment
from warehouse.importers.common.json_fields import (
    LARGEST_DRAW,
    Row,
    as_text,
    as_text_or_none,
    compact,
    compact_or_none,
    endpoint_host,
    first_text,
    number_or_none,
    object_of,
    objects_of,
    part_of,
    require_model,
    text_of_any,
    text_or_none,
    whole_count,
    whole_or_none,
    without_empty,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    batches_of,
    has_keys,
    head_of,
    read_document,
)
from warehouse.importers.common.transcripts import trajectory_transcript
from warehouse.records import (
    Candidate,
    Dump,
    ImportSettings,
    MetricSpec,
    PublishedScore,
    RunHeader,
    SourceFiles,
)

HARNESS = "nemo_evaluator"
REWARD = "reward"
RESULTS, LOG = "results.jsonl", "inference_log.jsonl"
#: What 0.2 and earlier write around the files of another harness.
WRAPPERS = ("results.yml", "run_config.yml", "eval_factory_metrics.json")
_KEYS = ("problem_idx",)

#: Failures that the tool counts as 0 and that are the agent's own: out of turns, no
#: output.
_OF_THE_AGENT = "graceful"
#: Published figures are rounded to so many decimals.
_DECIMALS = 4


class NemoEvaluator:
    """One run for each bundle; rows alone where there is none."""

    name = "nemo_evaluator"
    version = "3"  # 3: the whole configuration is a setting
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """A bundle with the rows and the log beside it; the rows of a folder are those
        of its last bundle."""
        heads = {item.path: head_of(item) for item in candidates}
        bundles = defaultdict[Path, list[Path]](list)
        for path, head in heads.items():
            if has_keys(head, "run_id", "config_hash", "sdk_version", "benchmark"):
                bundles[path.parent].append(path)
        for paths in bundles.values():
            *older, last = sorted(paths)
            companions = [last.with_name(name) for name in (RESULTS, LOG)]
            yield source_of(last, *(path for path in companions if path in heads))
            yield from map(source_of, older)
        for path, head in heads.items():
            if path.name == RESULTS and path.parent not in bundles and _is_row(head):
                log = path.with_name(LOG)
                if log in heads:
                    own_log = [log]
                else:
                    own_log = []
                yield source_of(path, *own_log)
        if len(heads) == 1 and next(iter(heads)).name in WRAPPERS:
            yield source_of(next(iter(heads)))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one benchmark.

        Raises:
            InputError: a file is damaged, nothing names the model, or it is what
                earlier versions write.
        """
        first = source.files[0]
        _refuse_wrapper(first)
        files = {path.name: path for path in source.files}
        if first.name == RESULTS:
            bundle = {}
        else:
            bundle = read_document(first)
        dump = Dump((), ())
        rows = files.get(RESULTS)
        log = _read_log(files.get(LOG), dump)
        survey = _Survey()
        if rows:
            for row, _ in RowSource(rows, rows.name, _KEYS).rows():
                survey.add(row)
        dump.runs = (_header(bundle, survey, log, source, settings.model),)
        dump.notes += survey.against(
            part_of(part_of(bundle, "benchmark"), "categories")
        )
        if rows:
            dump.batches = batches_of(
                RowSource(
                    rows, rows.name, _KEYS, dump.rejections, dump.notes
                ).located(),
                partial(
                    _rows,
                    log=log,
                    scorers=tuple(survey.scorers),
                    drawn=defaultdict(int),
                ),
                dump.rejections,
                "a result as NeMo Evaluator writes it",
            )
        return dump


IMPORTER = NemoEvaluator()


def _refuse_wrapper(path: Path) -> None:
    if path.name in WRAPPERS:
        raise InputError(
            "what NeMo Evaluator up to 0.2 writes around another harness, without "
            "samples",
            path=str(path),
            advice=(
                "ingest what the harness itself (lm-evaluation-harness, simple-evals "
                "…) wrote below it"
            ),
        )


def _is_row(head: str) -> bool:
    line = head.partition("\n")[0]
    return line.startswith("{") and has_keys(line, "problem_idx", "reward")


@dataclass
class _Survey:
    """A survey of all rows: their scorers, problems, and sums of rewards by
    category."""

    scorers: dict[str, None] = field(default_factory=dict)
    problems: set[Any] = field(default_factory=set)
    rewards: dict[str, list[float]] = field(
        default_factory=lambda: defaultdict(lambda: [0, 0.0])
    )
    benchmark: str | None = None

    def add(self, row: Row) -> None:
        """Look at one row."""
        self.scorers |= dict.fromkeys(part_of(row, "scorer_rewards"))
        self.problems.add(whole_count(row.get("problem_idx")))
        metadata = part_of(row, "metadata")
        self.benchmark = self.benchmark or text_or_none(metadata.get("benchmark"))
        category = metadata.get(
            "category", part_of(row, "scoring_details").get("category")
        )
        if category is not None:
            sums = self.rewards[as_text(category)]
            sums[0] += 1
            sums[1] += number_or_none(row.get(REWARD)) or 0.0

    def against(self, categories: Row) -> Iterator[str]:
        """Where the published mean of a category, over rows and not problems, is not
        that of the rows."""
        for name, category in categories.items():
            n, total = self.rewards.get(name, (0, 0.0))
            published = object_of(category)
            mean = number_or_none(published.get("mean_reward"))
            if (
                n
                and mean is not None
                and (
                    abs(mean - total / n) > 0.6 * 10**-_DECIMALS
                    or published.get("n") != n
                )
            ):
                yield (
                    f"category {name}: published are {mean:g} of {published.get('n')} "
                    f"rows, the rows give {total / n:.{_DECIMALS}f} of {int(n)}"
                )


# --- the run -------------------------------------------------------------------------------------


def _header(
    bundle: Row,
    survey: _Survey,
    log: Mapping[tuple[int, int], Row],
    source: SourceFiles,
    declared: str | None,
) -> RunHeader:
    config = part_of(bundle, "config")
    benchmark = part_of(bundle, "benchmark")
    logged = next(
        (text for row in log.values() if (text := text_or_none(row.get("model")))), None
    )
    model = text_or_none(config.get("model")) or logged
    require_model(declared or model, source.name)
    shuffle = part_of(config, "shuffle")
    scores = part_of(benchmark, "scores")
    scorers = dict.fromkeys(
        (*survey.scorers, *(name for name in scores if name.startswith("scorer:")))
    )
    return RunHeader(
        harness=HARNESS,
        model=model or "",
        benchmark=first_text(benchmark, "name")
        or text_or_none(config.get("benchmark"))
        or survey.benchmark
        or HARNESS,
        temperature=number_or_none(config.get("temperature")),
        top_p=number_or_none(config.get("top_p")),
        max_tokens=whole_count(config.get("max_tokens")),
        endpoint=endpoint_host(config.get("base_url")),
        metrics=tuple(_metrics(scorers)),
        run_id=text_or_none(bundle.get("run_id")),
        harness_version=text_or_none(bundle.get("sdk_version")),
        started_at=moment(bundle.get("timestamp")),
        configuration=_configuration(bundle),
        n_benchmark=whole_count(shuffle.get("ds_full_size")),
        n_requested=whole_count(config.get("max_problems"))
        or whole_count(benchmark.get("samples")),
        published=tuple(
            _published(scores, scorers, whole_count(benchmark.get("samples")))
        ),
        place=source.files[0].name,
    )


#: What of a bundle is outcome, or stands in fields of the header.
_READ = frozenset({"benchmark", "run_id", "timestamp", "sdk_version", "n_results"})


def _configuration(bundle: Row) -> Row:
    """All that a bundle says of how it was made; the sandbox is a text with the fields
    of an object."""
    return without_empty(
        {name: value for name, value in bundle.items() if name not in _READ}
    )


def _metrics(scorers: Iterable[str]) -> Iterator[MetricSpec]:
    yield MetricSpec(
        REWARD, scorer_kind="execution", higher_is_better=True, is_default=True
    )
    for name in scorers:
        yield MetricSpec(
            name, scorer_kind="execution", higher_is_better=True, is_default=False
        )


def _published(
    scores: Row, scorers: Iterable[str], n: int | None
) -> Iterator[PublishedScore]:
    """Rounded figures: the mean reward, or pass@k (1 - C(n-c, k) / C(n, k), averaged
    over problems). Its two kinds of intervals are no standard errors and not taken;
    ``summary`` is over rows, and the mean of another weighting."""
    for name, entry in scores.items():
        value = None
        if isinstance(entry, dict):
            value = number_or_none(entry.get("value"))
        if value is None:
            continue
        if name == "mean_reward":
            yield PublishedScore(REWARD, value, n=n)
        elif name.startswith("pass@") and name[5:].isdigit():
            yield PublishedScore(REWARD, value, statistic=name, n=n)
        elif name in scorers:
            yield PublishedScore(name, value, n=n)
    mean = number_or_none(part_of(scores, "summary").get("mean"))
    if mean is not None and "mean_reward" not in scores:
        yield PublishedScore(REWARD, mean, n=n)


def _read_log(path: Path | None, dump: Dump) -> dict[tuple[int, int], Row]:
    """Tokens and errors by problem and repeat; of a try that was made again, the
    last."""
    if path is None:
        return {}
    fields = (
        "model",
        "finish_reason",
        "prompt_tokens",
        "completion_tokens",
        "reasoning_tokens",
        "error",
        "error_kind",
    )
    found = {}
    for row, _ in RowSource(path, path.name, (), notes=dump.notes).rows():
        problem = whole_count(row.get("problem_idx"))
        repeat = whole_count(row.get("repeat", 0))
        if problem is not None and repeat is not None:
            found[problem, repeat] = {
                name: row[name] for name in fields if row.get(name) not in (None, "")
            }
            found[problem, repeat] |= _of_model(part_of(row, "model_stats"))
    return found


def _of_model(stats: Row) -> Row:
    """Requests, and calls of each tool; those whose name was not written are of a tool
    without name."""
    turns = whole_count(stats.get("model_calls"))
    calls = part_of(stats, "tool_calls")
    total = whole_count(calls.get("count"))
    counts: dict[str | None, int] = {
        name: count
        for name, item in part_of(calls, "names").items()
        if (count := whole_count(item))
    }
    if (total or 0) > sum(counts.values()):
        counts[None] = (total or 0) - sum(counts.values())
    if max((turns or 0, *counts.values())) > LARGEST_DRAW:
        return {}
    tools = [{"tool": name, "n_calls": count} for name, count in counts.items()]
    told_tools = None
    if counts or total is not None:
        told_tools = tools
    return without_nulls({"n_turns": turns, "tools": told_tools})


# --- rows ----------------------------------------------------------------------------------------


def _rows(
    row: Row,
    log: Mapping[tuple[int, int], Row],
    scorers: Sequence[str],
    drawn: dict[int, int],
) -> Iterator[Row]:
    problem = whole_count(row.get("problem_idx"))
    if problem is None:
        raise ValueError(f"problem_idx is no whole number: {compact(row)[:200]}")
    repeat_given = whole_count(row.get("repeat"))
    if repeat_given is None:
        repeat = drawn[problem]
    else:
        repeat = repeat_given
    drawn[problem] += 1
    said = log.get((problem, repeat), {})
    milliseconds = number_or_none(row.get("latency_ms"))
    latency = None
    if milliseconds:
        latency = milliseconds / 1000
    yield {
        "run": 0,
        "position": problem,
        "prompt_id": str(problem),
        "draw": min(repeat, LARGEST_DRAW),
        **_question(row),
        "response": text_or_none(row.get("model_response")),
        "extracted_answer": text_of_any(row.get("extracted_answer")),
        "finish_reason": text_or_none(said.get("finish_reason")),
        "input_tokens": whole_or_none(said.get("prompt_tokens")),
        "output_tokens": whole_or_none(said.get("completion_tokens")),
        "latency": latency,
        "error": _error(row, said),
        "explanation": _explanation(row),
        "transcript": _transcript(row, said),
        "scores": list(_scores(row, said, scorers)),
    }


def _question(row: Row) -> Row:
    prompt = row.get("prompt")
    expected = row.get("expected_answer")
    metadata = {
        name: value
        for name, value in part_of(row, "metadata").items()
        if name not in ("source", "benchmark")
    }
    question = {"prompt": prompt, "expected_answer": expected}
    identity = None
    text = None
    if prompt:
        identity = compact(question)
        text = as_text(prompt)
    return {
        "identity": identity,
        "text": text,
        "target": as_text_or_none(expected),
        "metadata": compact_or_none(metadata),
    }


def _transcript(row: Row, said: Row) -> Row | None:
    """The way to the response, by the trajectory; what the log says of it, which counts
    the calls of tools by name."""
    listed = objects_of(row.get("trajectory"))
    whole = [item for item in listed if "steps" in item]
    limit_hit = None
    if _failure(row, said) == "limit":
        limit_hit = "time"
    found = trajectory_transcript(
        whole or [{"steps": listed}],
        tools=said.get("tools") or None,
        reasoning_tokens=whole_count(said.get("reasoning_tokens")),
        limit_hit=limit_hit,
    )
    totals: Row = {name: said[name] for name in ("n_turns", "tools") if name in said}
    return {**totals, **(found or {})} or None


def _failure(row: Row, said: Row) -> str | None:
    """Why a reward is no measurement: ``limit`` or ``error``; none where it is one."""
    details = part_of(row, "scoring_details")
    words = " ".join(str(details.get(name)) for name in ("method", "error_category"))
    judge = part_of(details, "judge")
    if "timeout" in words:
        return "limit"
    if _OF_THE_AGENT in words:
        return None
    has_failed = (
        first_text(details, "error_category", "error")
        or judge.get("error")
        or said.get("error")
    )
    if has_failed:
        return "error"
    return None


def _scores(row: Row, said: Row, scorers: Sequence[str]) -> Iterator[Row]:
    failure = _failure(row, said)
    is_empty = not text_or_none(row.get("model_response", "unknown"))
    own = part_of(row, "scorer_rewards")
    for name, figure in (
        (REWARD, row.get(REWARD)),
        *((name, own.get(name)) for name in scorers),
    ):
        if failure:
            value = None
        else:
            value = number_or_none(figure)
        if value is not None:
            status = None
            if is_empty and value == 0:
                status = "no_answer"
            yield {
                "metric": name,
                "value": value,
                "status": status,
            }
        elif name == REWARD or figure is not None:
            raw = as_text_or_none(figure)
            yield {
                "metric": name,
                "value": None,
                "raw": raw,
                "status": failure or "error",
            }


def _error(row: Row, said: Row) -> str | None:
    details = part_of(row, "scoring_details")
    message = (
        details.get("error")
        or part_of(details, "judge").get("error")
        or said.get("error")
    )
    kind = first_text(details, "error_category") or text_or_none(said.get("error_kind"))
    if message:
        return ": ".join(part for part in (kind, as_text(message)) if part)
    return None


def _explanation(row: Row) -> str | None:
    judge = part_of(row, "scoring_details").get("judge")
    return compact_or_none(judge)
