"""Episodes of verifiers since 0.4: a line of ``traces.jsonl`` is one episode with the
trace of each agent."""

from __future__ import annotations

import json
import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, NamedTuple

from warehouse.errors import InputError
from warehouse.importers.common.bounds import refuse_large
from warehouse.importers.common.header_values import fingerprint, unix_time
from warehouse.importers.common.json_fields import (
    LARGEST_DRAW,
    Row,
    as_text_or_none,
    compact,
    first_text,
    is_local,
    items_of,
    number_or_none,
    objects_of,
    other_sampling,
    part_of,
    require_model,
    sampling_fields,
    text_of_any,
    text_or_none,
    whole_count,
    whole_or_none,
    whole_sum,
    without_empty,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    batches_of,
    has_keys,
    read_document,
)
from warehouse.importers.common.run_settings import key_of_settings
from warehouse.importers.common.transcripts import (
    content_of,
    given,
    question_of,
    text_of,
    transcript_of,
)
from warehouse.records import Dump, MetricSpec, RunHeader
from warehouse.records.canonical_json import sha256_of

HARNESS = "verifiers"
REWARD = "reward"

# num_turns, total_tool_calls, search_pages_calls   counters that rubrics record beside
# their scores
_COUNTER = re.compile(r"(?:num|n|total)_\w+|\w+_(?:calls|turns|steps|tokens|errors)")
_ADDRESS = re.compile(r"\w+://")


def specs(
    names: Iterable[str], weights: Mapping[str, float] | None = None
) -> Iterator[MetricSpec]:
    """The reward, and what it is made of. A counter measures nothing: which way it
    points, nobody knows."""
    yield MetricSpec(
        REWARD, scorer_kind="execution", higher_is_better=True, is_default=True
    )
    for name in names:
        counts = _COUNTER.fullmatch(name) is not None
        weight = (weights or {}).get(name)
        if weight is None:
            scorer_parameters = {}
        else:
            scorer_parameters = {"weight": weight}
        unit = ""
        low = None
        if counts:
            unit = "count"
            low = 0
        higher_is_better = None
        if _is_reward(name, weight) and not counts:
            higher_is_better = True
        yield MetricSpec(
            name,
            scorer_kind="execution",
            scorer_parameters=scorer_parameters,
            unit=unit,
            kind="continuous" if counts else None,
            low=low,
            higher_is_better=higher_is_better,
            is_default=False,
        )


def _is_reward(name: str, weight: float | None) -> bool:
    """True if more of it is better: its weight says so, else its name."""
    if weight:
        return weight > 0
    return "reward" in name


def score(metric: str, content: Any, lacking: str | None = None) -> Row:
    """One score; where nothing was measured (``lacking`` says why) the number is kept
    as text only."""
    if lacking:
        value = None
    else:
        value = number_or_none(content)
    if value is not None:
        return {"metric": metric, "value": value}
    raw = as_text_or_none(content)
    return {
        "metric": metric,
        "value": None,
        "raw": raw,
        "status": lacking or ("not_scalar" if raw else "error"),
    }


def reply_of(message: Mapping[str, Any] | None) -> str | None:
    """The text of a message of the model; its calls of tools where it says nothing."""
    if message is None:
        return None
    said = text_of(message.get("content"))
    calls = message.get("tool_calls")
    if calls and not (said and said.strip()):
        return compact(calls)
    return said


def public(arguments: Mapping[str, Any]) -> Row:
    """Arguments without those that are places on a machine or in a network."""
    return {
        name: value
        for name, value in arguments.items()
        if not _is_address(value) and value is not None
    }


def _is_address(value: Any) -> bool:
    return is_local(value) or (
        isinstance(value, str) and _ADDRESS.match(value) is not None
    )


#: Fields of a task that say where it runs, or its place in a list: not what is asked.
_CIRCUMSTANCES = frozenset(
    """
    idx image workdir agent_user skills network_allow network_block artifacts artifact_max_bytes timeout resources
    """.split()
)
_LIMITS = ("max_turns", "max_input_tokens", "max_output_tokens", "max_total_tokens")
#: What stops an agent that did nothing wrong otherwise, and the kind of limit;
#: time-outs are told apart.
_STOPPED = {name: "turn" if name == "max_turns" else "token" for name in _LIMITS} | {
    "compaction_failed": "context"
}
_KEYS = ("task",)


class _Condition(NamedTuple):
    """Settings that tell one run of a file from another."""

    env: str
    model: str
    agent: str
    harness: str
    step: int | None
    split: str
    run_id: str
    settings: str  #: key over what its agent was configured with: a file may hold one agent with several.


@dataclass
class _Run:
    """A survey of the episodes of one condition."""

    metrics: dict[str, None] = field(default_factory=dict)
    weights: dict[str, float] = field(default_factory=dict)
    config: Row = field(default_factory=dict)
    version: Row = field(default_factory=dict)
    begun: list[float] = field(default_factory=list)
    systems: set[str | None] = field(default_factory=set)

    def add(self, trace: Row, task: Row) -> None:
        """Look at one trace."""
        for name, reward in part_of(trace, "rewards").items():
            weight = None
            if isinstance(reward, dict):
                weight = number_or_none(reward.get("weight", 1))
            if weight is not None:
                self.weights[_part(name)] = weight
        self.metrics |= dict.fromkeys(_parts(trace))
        self.config = self.config or part_of(part_of(trace, "agent"), "config")
        self.version = self.version or part_of(trace, "verifiers")
        self.systems.add(text_or_none(part_of(task, "data").get("system_prompt")))
        start = number_or_none(part_of(trace, "timing").get("start"))
        if start:
            self.begun = [min((*self.begun, start))]


def is_episode(head: str) -> bool:
    """True if a file begins with an episode."""
    line = head.partition("\n")[0]
    return line.startswith("{") and has_keys(
        line, "env", "task", "data", "type", "traces"
    )


def read_episodes(path: Path, configs: Sequence[Path], declared: str | None) -> Dump:
    """All runs of a file (InputError: a file is damaged, or nothing names a model)."""
    config = _config(configs[0]) if configs else {}
    usual = text_or_none(config.get("model"))
    runs: dict[_Condition, _Run] = {}
    for row, _ in RowSource(path, path.name, _KEYS).rows():
        for condition, trace in _traces(row, usual, path):
            runs.setdefault(condition, _Run()).add(trace, part_of(row, "task"))
    if not runs:
        raise InputError(
            "holds no episode",
            path=str(path),
            expected="episodes as verifiers writes them",
        )
    adopted = _adopted(runs)
    for condition in adopted:
        del runs[condition]
    headers = []
    for condition, run in runs.items():
        require_model(declared or condition.model or None, str(path))
        headers.append(_header(condition, run, config, path))
    dump = Dump(tuple(headers), ())
    source = RowSource(path, path.name, _KEYS, dump.rejections, dump.notes)
    numbers = {condition: number for number, condition in enumerate(runs)}
    numbers |= {condition: numbers[agent] for condition, agent in adopted.items()}
    names = [_metric_names(header) for header in headers]
    dump.batches = batches_of(
        source.located(),
        partial(
            _rows,
            usual=usual,
            path=path,
            numbers=numbers,
            names=names,
            drawn=defaultdict(int),
        ),
        dump.rejections,
        "an episode as verifiers writes it",
    )
    return dump


def _without_agent(condition: _Condition, model: str) -> _Condition:
    """The part of a condition that is known before any agent began."""
    return condition._replace(model=model, agent="", harness="", settings="")


def _adopted(runs: Iterable[_Condition]) -> dict[_Condition, _Condition]:
    """Episodes that ended before any agent began, where all others of their environment
    are of one agent: it is its failure."""
    found: dict[_Condition, _Condition] = {}
    for condition in runs:
        if not (condition.agent or condition.harness):
            alike = [
                other
                for other in runs
                if other != condition
                and _without_agent(other, condition.model) == condition
            ]
            if len(alike) == 1:
                found[condition] = alike[0]
    return found


def _config(path: Path) -> Row:
    """The settings of the run: JSON, or TOML of earlier writers."""
    if path.suffix != ".toml":
        return dict(read_document(path))
    refuse_large(path)
    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except (ValueError, RecursionError) as error:
        raise InputError(
            f"cannot be read: {error}", path=str(path), expected="a complete TOML file"
        ) from None


# --- runs ----------------------------------------------------------------------------------------


def _traces(
    episode: Row, usual: str | None, path: Path
) -> Iterator[tuple[_Condition, Row]]:
    """The traces of an episode with the conditions of their agents; an episode that
    ended before any agent began is that of a run whose agent nobody names."""
    run = part_of(episode, "run")
    work = part_of(run, "work")
    env = part_of(episode, "env")
    for trace in objects_of(episode.get("traces")) or [{}]:
        agent = part_of(trace, "agent")
        config = part_of(agent, "config")
        called = next(
            (
                text_or_none(call.get("model"))
                for call in objects_of(trace.get("calls"))
            ),
            None,
        )
        split = ""
        if work.get("type") == "train":
            split = "train"
        yield (
            _Condition(
                env=first_text(env, "id", "name") or HARNESS,
                model=text_or_none(config.get("model")) or called or usual or "",
                agent=text_or_none(agent.get("name")) or "",
                harness=_harness(config),
                step=whole_count(work.get("step")),
                split=split,
                run_id=text_or_none(run.get("id")) or path.parent.name,
                settings=_key_of(compact(config)),
            ),
            trace,
        )


def _harness(config: Row) -> str:
    harness = config.get("harness")
    return (
        text_or_none(harness) or first_text(part_of(config, "harness"), "id", "name")
    ) or ""


def _settings_of_agent(config: Row) -> Row:
    """The configuration of an agent, without what is read by itself."""
    return {
        name: value
        for name, value in config.items()
        if name not in ("model", "sampling", *_LIMITS)
    }


@lru_cache(maxsize=1000)
def _key_of(config: str) -> str:
    """A key of what an agent was configured with; empty where nothing says it."""
    settings: Row = json.loads(config)
    if settings:
        return key_of_settings(HARNESS, {"traces": {"agent": {"config": settings}}})
    return ""


def _header(condition: _Condition, run: _Run, config: Row, path: Path) -> RunHeader:
    sampling = {**part_of(config, "sampling"), **part_of(run.config, "sampling")}
    limits = {name: run.config.get(name) for name in _LIMITS}
    others = {
        name: value
        for name, value in config.items()
        if name not in ("model", "sampling")
    }
    others["traces"] = {"agent": {"config": _settings_of_agent(run.config)}}
    system = None
    if len(run.systems) == 1:
        system = next(iter(run.systems))
    select = part_of(config, "select")
    # a training has one id for all of its steps
    position = "" if condition.step is None else f"step {condition.step}"
    return RunHeader(
        harness=HARNESS,
        model=condition.model,
        benchmark=condition.env,
        split=condition.split,
        step=condition.step,
        agent=condition.harness or None,
        agent_parameters=without_nulls({"agent": condition.agent or None, **limits}),
        system_prompt_hash=fingerprint({"system": system}) if system else None,
        **sampling_fields(sampling),
        sampling=without_empty(other_sampling(sampling)),
        metrics=tuple(specs(run.metrics, run.weights)),
        run_id="/".join(
            filter(None, (condition.run_id, condition.agent, condition.split, position))
        ),
        harness_version=text_or_none(run.version.get("version")),
        harness_commit=text_or_none(run.version.get("commit")),
        started_at=unix_time(run.begun[0]) if run.begun else None,
        configuration=without_empty(others),
        n_requested=whole_count(select.get("limit")) or None,
        place=path.name,
    )


# --- rows ----------------------------------------------------------------------------------------


def _rows(
    episode: Row,
    usual: str | None,
    path: Path,
    numbers: dict[_Condition, int],
    names: Sequence[Sequence[str]],
    drawn: dict[tuple[int, str], int],
) -> Iterator[Row]:
    task = part_of(episode, "task")
    if not part_of(task, "data"):
        raise ValueError(f"a task without data: {compact(episode.get('task'))[:200]}")
    question = _question(task)
    key = sha256_of(question["identity"])
    for condition, trace in _traces(episode, usual, path):
        number = numbers.get(condition)
        if number is None:
            raise ValueError("the file has changed while it was read")
        draw = drawn[number, key]
        drawn[number, key] += 1
        yield {
            "run": number,
            "draw": min(draw, LARGEST_DRAW),
            **question,
            **_generation(trace, episode),
            "transcript": _transcript(trace, episode),
            "scores": _scores(trace, episode, names[number]),
        }


def _question(task: Row) -> Row:
    """The question, by the fields of the task; what its class leaves out of its own
    key is no part of it."""
    data = part_of(task, "data")
    question = {
        name: value for name, value in data.items() if name not in _CIRCUMSTANCES
    }
    prompt = data.get("prompt")
    key = text_or_none(task.get("key"))
    own = None
    if key and key != task.get("hash"):
        own = key
    spoken = (
        question_of(content_of(prompt))
        if prompt is not None
        else first_text(data, "question", "description")
    )
    metadata = {
        name: value
        for name, value in question.items()
        if name not in ("prompt", "system_prompt")
    }
    return {
        "prompt_id": own
        or first_text(data, "id", "name")
        or text_of_any(data.get("idx")),
        "identity": compact(question),
        "text": spoken or None,
        "target": text_of_any(
            next(
                (
                    data[name]
                    for name in ("answer", "target")
                    if data.get(name) is not None
                ),
                None,
            )
        ),
        "metadata": compact(without_empty(metadata)),
    }


def _generation(trace: Row, episode: Row) -> Row:
    calls = objects_of(trace.get("calls"))
    usages = [usage for call in calls if (usage := part_of(call, "usage"))]
    span = part_of(part_of(trace, "timing"), "agent")
    start = number_or_none(span.get("start"))
    end = number_or_none(span.get("end"))
    latency = None
    if start and end and end >= start:
        latency = end - start
    return {
        "response": text_or_none(trace.get("root_reply"))
        or reply_of(_last_reply(trace)),
        "finish_reason": text_or_none(trace.get("stop_condition")),
        # the tokens that were read from a cache are no part of `prompt_tokens`
        "input_tokens": _total(usages, "prompt_tokens", "cached_input_tokens"),
        "output_tokens": _total(usages, "completion_tokens"),
        "latency": latency,
        "cost": whole_sum(
            number_or_none(part_of(call, "usage").get("cost")) for call in calls
        ),
        "error": _error(trace, episode),
    }


def _transcript(trace: Row, episode: Row) -> Row:
    """The conversation that ends in the last reply; tokens are those of all calls, of
    other branches too."""
    usages = [part_of(call, "usage") for call in objects_of(trace.get("calls"))]
    messages = _conversation(trace)
    totals: Row = {
        "uuid": text_or_none(trace.get("id")),
        "limit_hit": _limit(trace, episode),
        "cached_tokens": _total(usages, "cached_input_tokens"),
        "reasoning_tokens": _total(usages, "reasoning_tokens"),
    }
    if messages:
        return transcript_of(messages, says_errors=False, **totals)
    return totals


def _conversation(trace: Row) -> list[Row]:
    """Messages from the first to the last reply of the model, by the nodes' parents;
    empty where it wrote none."""
    nodes = items_of(trace.get("nodes"))
    number = next(
        (index for index in reversed(range(len(nodes))) if _is_sampled(nodes[index])),
        None,
    )
    messages: list[Row] = []
    for _ in nodes:  # parents that lead in a circle end here too
        if (
            number is None
            or number >= len(nodes)
            or not isinstance(nodes[number], dict)
        ):
            break
        message = part_of(nodes[number], "message")
        if _is_sampled(nodes[number]):
            messages += [message]
        else:
            messages += given([message])
        number = whole_count(nodes[number].get("parent"))
    return messages[::-1]


def _is_sampled(node: Any) -> bool:
    return isinstance(node, dict) and node.get("sampled") is True


def _limit(trace: Row, episode: Row) -> str | None:
    """The limit that stopped an agent, in the words that other formats have for it."""
    if trace.get("is_timeout") is True or episode.get("is_timeout") is True:
        return "time"
    return _STOPPED.get(str(trace.get("stop_condition")))


def _total(usages: Iterable[Row], *keys: str) -> int | None:
    counts: list[int] = []
    for usage in usages:
        own = [whole_count(usage.get(key)) for key in keys]
        counts += [count for count in own if count is not None]
    if counts:
        return whole_or_none(sum(counts))
    return None


def _last_reply(trace: Row) -> Row | None:
    """The message that the model wrote last; a conversation may branch, the last node
    ends its last branch."""
    sampled = [node for node in objects_of(trace.get("nodes")) if _is_sampled(node)]
    if sampled:
        return part_of(sampled[-1], "message")
    return None


def _error(trace: Row, episode: Row) -> str | None:
    """The last error of what failed; errors of tries that were made again are
    history."""
    failed = [part for part in (trace, episode) if part.get("ok") is not True]
    last = next(
        (errors[-1] for part in failed if (errors := objects_of(part.get("errors")))),
        {},
    )
    return (
        ": ".join(
            text for key in ("type", "message") if (text := text_or_none(last.get(key)))
        )
        or None
    )


def _part(name: str) -> str:
    """The name of a reward among the metrics: their sum has the plain one."""
    if name == REWARD:
        return f"{REWARD}_part"
    return name


def _parts(trace: Row) -> Row:
    """Rewards, unweighted, and metrics."""
    rewards = {
        _part(name): item.get("score") if isinstance(item, dict) else item
        for name, item in part_of(trace, "rewards").items()
    }
    metrics = {
        name: value
        for name, value in part_of(trace, "metrics").items()
        if name != REWARD
    }
    return {**metrics, **rewards}


def _reward(trace: Row) -> tuple[float | None, bool]:
    """The weighted sum of what was scored, and whether that is all: what was not scored
    is not 0."""
    rewards = part_of(trace, "rewards")
    scored = [item for item in rewards.values() if isinstance(item, dict)]
    pairs = [
        (number_or_none(item.get("score")), number_or_none(item.get("weight", 1)))
        for item in scored
    ]
    weighted = [
        value * weight
        for value, weight in pairs
        if value is not None and weight is not None
    ]
    return sum(weighted) if weighted else None, len(weighted) == len(rewards)


def _metric_names(header: RunHeader) -> list[str]:
    return [metric.name for metric in header.metrics]


def _scores(trace: Row, episode: Row, names: Sequence[str]) -> list[Row]:
    parts = _parts(trace)
    reward, is_whole = _reward(trace)
    is_limit = trace.get("is_timeout") is True or episode.get("is_timeout") is True
    lacking = "error"
    if is_limit or trace.get("stop_condition") in _STOPPED:
        lacking = "limit"
    is_scored = is_whole and reward is not None
    # an agent of several may have no reward of its own: nothing is lacking there
    has_none = trace.get("ok") is True and not part_of(trace, "rewards")
    if has_none:
        scores = []
    else:
        scores = [score(REWARD, reward, None if is_scored else lacking)]
    for name in names:
        if name in parts:  # others do not apply to this task
            scores.append(
                score(name, parts[name], lacking if parts[name] is None else None)
            )
    return scores
