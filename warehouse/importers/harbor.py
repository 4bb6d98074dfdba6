"""Importer of job folders of Harbor."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from pathlib import Path
from typing import Any, NamedTuple

from warehouse.errors import InputError
from warehouse.importers.common.header_values import moment, seconds_between
from warehouse.importers.common.json_fields import (
    LARGEST_DRAW,
    Row,
    as_text,
    compact,
    number_or_none,
    objects_of,
    part_of,
    require_model,
    required_text,
    text_or_none,
    whole_count,
    whole_sum,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    batches_of,
    has_keys,
    head_of,
    read_document,
)
from warehouse.importers.common.run_settings import key_of_settings
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

HARNESS = "harbor"
RESULT = "result.json"
REWARD = "reward"
ADHOC = "adhoc"  # how Harbor calls tasks of no data set

#: Failures caused by the agent: a reward with one of these is a measurement.
_OF_THE_AGENT = frozenset(
    """
    AgentTimeoutError ContextWindowExceededError OutputTokenExceededError AgentSafetyRefusalError
    ContextLengthExceededError OutputLengthExceededError ContentPolicyViolationError
    """.split()
)
#: Those of them that are limits, by kind.
_LIMITS = {
    "AgentTimeoutError": "time",
    **dict.fromkeys(
        ("ContextWindowExceededError", "ContextLengthExceededError"), "context"
    ),
    **dict.fromkeys(("OutputTokenExceededError", "OutputLengthExceededError"), "token"),
}
_REFUSALS = frozenset(("AgentSafetyRefusalError", "ContentPolicyViolationError"))

#: Where the agent began, and where it went on with its context made shorter.
_TRAJECTORY = re.compile(r"trajectory(?:\.cont-(\d{1,6}))?\.json")

#: What of a trial's configuration is of the trial and not of the job.
_OF_THE_TRIAL = frozenset(
    {"task", "trial_name", "trials_dir", "job_id", "source_trial", "artifacts"}
)


class Condition(NamedTuple):
    """Settings that trials of one run have in common."""

    agent: str
    version: str
    model: str
    dataset: str
    settings: str  #: key over what the trials were configured with: a job may hold one agent with several arguments.


class Harbor:
    """A job: ``result.json`` of its own, and one in the folder of each trial."""

    name = "harbor"
    version = "4"  # 4: all that a job was configured with is a setting
    folders = 1

    def claim(self, candidates: Sequence[Candidate]) -> Iterable[SourceFiles]:
        """One source for each job; trials without job are one by the folder they are
        in."""
        jobs: dict[Path, Path] = {}
        trials = defaultdict[Path, list[Path]](list)
        trajectories = defaultdict[Path, list[Path]](list)
        for item in candidates:
            head = head_of(item)
            if (
                _TRAJECTORY.fullmatch(item.path.name)
                and item.path.parent.name == "agent"
                and '"ATIF-' in head
            ):
                trajectories[item.path.parent.parent].append(item.path)
            if item.path.name != RESULT:
                continue
            if has_keys(head, "task_name", "trial_name", "trial_uri"):
                trials[item.path.parent.parent].append(item.path)
            elif has_keys(head, "n_total_trials", "stats"):
                jobs[item.path.parent] = item.path
        for folder, paths in trials.items():
            job = (jobs[folder],) if folder in jobs else ()
            ordered = sorted(paths)
            transcripts = list(
                chain.from_iterable(
                    sorted(trajectories[trial.parent], key=_trajectory_number)
                    for trial in ordered
                )
            )
            yield SourceFiles(str(folder), folder, (*job, *ordered, *transcripts))

    def read(self, source: SourceFiles, settings: ImportSettings) -> Dump:
        """Open one job (InputError: a file is damaged, or a trial does not name its
        model)."""
        documents = [
            (path, read_document(path)) for path in source.files if path.name == RESULT
        ]
        job: Row = next(
            (document for path, document in documents if path.parent == source.root), {}
        )
        trials = [
            (str(path.relative_to(source.root)), document)
            for path, document in documents
            if path.parent != source.root
        ]
        groups: dict[Condition, list[Row]] = {}
        for _, trial in trials:
            groups.setdefault(_condition(trial), []).append(trial)
        if not groups:
            raise InputError(
                "holds no trial", path=source.name, expected="a job of Harbor"
            )
        model_setting = settings.model
        named = Counter(condition[:4] for condition in groups)
        headers = [
            _header(
                condition,
                trials,
                job,
                source.root,
                model_setting,
                is_alone=named[condition[:4]] == 1,
            )
            for condition, trials in groups.items()
        ]
        dump = Dump(tuple(headers), ())
        numbers = {condition: number for number, condition in enumerate(groups)}
        draws = _draws(trials)
        names = []
        for run in dump.runs:
            names.append([metric.name for metric in run.metrics])
        transcripts = _transcripts(source)

        def rows_of(item: tuple[str, Row]) -> list[Row]:
            name, trial = item
            row = _row(trial, numbers[_condition(trial)], draws, names)
            paths = transcripts[name]
            transcript = _transcript(trial, paths, source.root, dump.notes)
            return [{**row, "transcript": transcript}]

        items = ((name, (name, trial)) for name, trial in trials)
        dump.batches = batches_of(
            items, rows_of, dump.rejections, "a trial as Harbor writes it"
        )
        return dump


def _transcripts(source: SourceFiles) -> defaultdict[str, list[Path]]:
    """The files of transcripts, by the place of their trial's result."""
    found = defaultdict[str, list[Path]](list)
    for path in source.files:
        if path.name != RESULT:
            result = path.parent.parent / RESULT
            found[str(result.relative_to(source.root))].append(path)
    return found


def _trajectory_number(path: Path) -> int:
    """The place of a trajectory among those of its trial."""
    found = _TRAJECTORY.fullmatch(path.name)
    if found and found[1]:
        return int(found[1])
    return 0


def _condition(trial: Row) -> Condition:
    agent = part_of(trial, "agent_info")
    info = part_of(agent, "model_info")
    parts = (text_or_none(info.get("provider")), text_or_none(info.get("name")))
    return Condition(
        agent=text_or_none(agent.get("name")) or "",
        version=text_or_none(agent.get("version")) or "",
        model="/".join(part for part in parts if part),
        dataset=text_or_none(trial.get("source")) or "",
        settings=key_of_settings(HARNESS, _configuration(trial)),
    )


def _configuration(trial: Row) -> Row:
    """The configuration of a trial, without what is its own."""
    config = {
        name: value
        for name, value in part_of(trial, "config").items()
        if name not in _OF_THE_TRIAL
    }
    mode = trial.get("verifier_environment_mode")
    return {"config": config, **({"verifier_environment_mode": mode} if mode else {})}


def _header(
    condition: Condition,
    trials: Sequence[Row],
    job: Row,
    folder: Path,
    model_set: str | None,
    *,
    is_alone: bool,
) -> RunHeader:
    """The run of some trials; the job's figures are theirs where no others share agent,
    model and data set."""
    agent, version, model, dataset, _ = condition
    require_model(model_set or model or None, str(folder))
    agent_settings = part_of(part_of(trials[0], "config"), "agent")
    arguments = part_of(agent_settings, "kwargs")
    started = [start for trial in trials if (start := moment(trial.get("started_at")))]
    if is_alone:
        published = tuple(_published(condition, trials, job))
    else:
        published = ()
    return RunHeader(
        harness=HARNESS,
        model=model,
        benchmark=dataset or ADHOC,
        agent=agent or None,
        agent_version=None if version in ("", "unknown") else version,
        agent_parameters=without_nulls(arguments),
        metrics=tuple(_metrics(trials)),
        run_id=(
            f"{text_or_none(job.get('id')) or folder.name}/{'/'.join(condition[:4])}"
        ),
        started_at=moment(job.get("started_at")) or min(started, default=None),
        cost=whole_sum(_usage(trial)[2] for trial in trials),
        configuration=_configuration(trials[0]),
        published=published,
        place=folder.name,
    )


def _rewards(trial: Row) -> Row:
    """Rewards of a trial by name; empty where there is no verdict."""
    return part_of(part_of(trial, "verifier_result"), "rewards")


def _metrics(trials: Iterable[Row]) -> Iterator[MetricSpec]:
    values_by_metric: dict[str, list[Any]] = {}
    for trial in trials:
        for name, value in _rewards(trial).items():
            values_by_metric.setdefault(name, []).append(value)
    names = list(values_by_metric) or [REWARD]
    if REWARD in names:
        default = REWARD
    else:
        default = names[0]
    for name in names:
        is_binary = all(value in (0, 1) for value in values_by_metric.get(name, ()))
        low = None
        high = None
        if is_binary:
            low = 0
            high = 1
        yield MetricSpec(
            name,
            kind="binary" if is_binary else None,
            low=low,
            high=high,
            higher_is_better=True,
            scorer_kind="execution",
            is_default=name == default,
        )


def _published(
    condition: Condition, trials: Iterable[Row], job: Row
) -> Iterator[PublishedScore]:
    """Means of the job's statistics, in which a trial without verdict counts 0, and
    pass@k."""
    agent, _, model, dataset, _ = condition
    name = model.partition("/")[2] or model
    metric_names = {metric.name for metric in _metrics(trials)}
    stats = part_of(part_of(job, "stats"), "evals")
    for key in dict.fromkeys((model, name)):
        evaluation = part_of(
            stats, "__".join(part for part in (agent, key, dataset or ADHOC) if part)
        )
        if [whole_count(evaluation.get(name)) for name in ("n_trials", "n_errors")] == [
            0,
            0,
        ]:
            continue  # a mean of no trial is written as 0
        for entry in objects_of(evaluation.get("metrics")):
            for metric, value in entry.items():
                if metric == "mean" and len(metric_names) == 1:
                    metric = next(iter(metric_names))
                if metric in metric_names and number_or_none(value) is not None:
                    yield PublishedScore(metric, number_or_none(value))
        for k, value in part_of(evaluation, "pass_at_k").items():
            if number_or_none(value) is not None and len(metric_names) == 1:
                yield PublishedScore(
                    next(iter(metric_names)),
                    number_or_none(value),
                    statistic=f"pass@{k}",
                )


def _draws(trials: Iterable[tuple[str, Row]]) -> dict[int, int]:
    """The number of each trial among those of its task and condition, by the time they
    began."""
    ordered = sorted(
        (trial for _, trial in trials),
        key=lambda trial: (str(trial.get("started_at")), str(trial.get("trial_name"))),
    )
    counts: dict[tuple[Condition, str], int] = {}
    numbers: dict[int, int] = {}
    for trial in ordered:
        key = _condition(trial), str(trial.get("task_name"))
        numbers[id(trial)] = min(counts.get(key, 0), LARGEST_DRAW)
        counts[key] = counts.get(key, 0) + 1
    return numbers


def _usage(trial: Row) -> tuple[int | None, int | None, float | None]:
    """Tokens read (cached ones among them), tokens written, dollars; steps are added
    up."""
    own = part_of(trial, "agent_result")
    steps = objects_of(trial.get("step_results"))
    parts = (
        [own]
        if own
        else [part for step in steps if (part := part_of(step, "agent_result"))]
    )
    return (
        _total(parts, "n_input_tokens"),
        _total(parts, "n_output_tokens"),
        whole_sum(number_or_none(part.get("cost_usd")) for part in parts),
    )


def _total(parts: Iterable[Mapping[str, Any]], key: str) -> int | None:
    return whole_count(whole_sum(whole_count(part.get(key)) for part in parts))


def _row(
    trial: Row, run: int, draws: Mapping[int, int], names: Sequence[Sequence[str]]
) -> Row:
    task = required_text(trial, "task_name")
    exception = part_of(trial, "exception_info") or next(
        (
            info
            for step in objects_of(trial.get("step_results"))
            if (info := part_of(step, "exception_info"))
        ),
        {},
    )
    kind = text_or_none(exception.get("exception_type"))
    message = text_or_none(exception.get("exception_message"))
    timing = part_of(trial, "agent_execution")
    read, written, cost = _usage(trial)
    others = {
        "task_checksum": text_or_none(trial.get("task_checksum")),
        "task_id": trial.get("task_id"),
    }
    return {
        "run": run,
        "prompt_id": task,
        "metadata": compact(without_nulls(others)),
        "draw": draws[id(trial)],
        "input_tokens": read,
        "output_tokens": written,
        "latency": seconds_between(timing.get("started_at"), timing.get("finished_at")),
        "cost": cost,
        "error": ": ".join(part for part in (kind, message) if part) or None,
        "scores": _scores(trial, kind, names[run]),
    }


def _transcript(
    trial: Row, paths: Sequence[Path], folder: Path, notes: list[str]
) -> Row | None:
    """The steps of the agent, by its trajectory; what the trial itself says of it,
    where there is none."""
    documents: list[Mapping[str, Any]] = []
    for path in paths:
        try:
            documents.append(read_document(path))
        except InputError as error:
            documents = []
            notes.append(
                f"{path.relative_to(folder)}: {error.found}; the trial has no "
                "transcript"
            )
            break
    own = part_of(trial, "agent_result")
    if own:
        parts = [own]
    else:
        parts = [
            part_of(step, "agent_result")
            for step in objects_of(trial.get("step_results"))
        ]
    kind = str(part_of(trial, "exception_info").get("exception_type"))
    extra = {
        "uuid": text_or_none(trial.get("id")),
        "cached_tokens": _total(parts, "n_cache_tokens"),
    }
    return trajectory_transcript(
        documents, keep=True, **extra, limit_hit=_LIMITS.get(kind)
    )


def _scores(trial: Row, exception: str | None, names: Sequence[str]) -> list[Row]:
    """Rewards as scores. A reward next to an infrastructure failure is not a
    measurement and is only kept raw."""
    rewards = _rewards(trial)
    valid = exception is None or exception in _OF_THE_AGENT
    if exception in _OF_THE_AGENT - _REFUSALS:
        lacking = "limit"
    elif exception in _REFUSALS:
        lacking = "refused"
    else:
        lacking = "error"
    scores = []
    for name in names:
        reward = rewards.get(name)
        value = None
        if valid:
            value = number_or_none(reward)
        if value is not None or reward is None:
            raw = None
        else:
            raw = as_text(reward)
        status = lacking
        if value is not None:
            status = "scored"
        scores.append({"metric": name, "value": value, "status": status, "raw": raw})
    return scores


IMPORTER = Harbor()
