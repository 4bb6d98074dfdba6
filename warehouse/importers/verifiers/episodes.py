"""Episodes of verifiers since 0.4: a line of ``traces.jsonl`` is one episode with the
trace of each agent."""

from __future__ import annotations

import re
import tomllib
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from warehouse.errors import InputError
from warehouse.importers.common.bounds import refuse_large
from warehouse.importers.common.header_values import fingerprint, unix_time
from warehouse.importers.common.json_fields import (
    Row,
    is_local,
    number_or_none,
    other_sampling,
    part_of,
    require_model,
    sampling_fields,
    text_or_none,
    whole_count,
    without_empty,
    without_nulls,
)
from warehouse.importers.common.jsonl import (
    RowSource,
    batches_of,
    has_keys,
    read_document,
)
from warehouse.importers.verifiers.episode_rows import (
    HARNESS,
    LIMITS,
    REWARD,
    Condition,
    part_of_reward,
    parts_of_reward,
    rows_of,
    traces,
)
from warehouse.records import Dump, MetricSpec, RunHeader

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


_KEYS = ("task",)


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
                self.weights[part_of_reward(name)] = weight
        self.metrics |= dict.fromkeys(parts_of_reward(trace))
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
    runs: dict[Condition, _Run] = {}
    for row, _ in RowSource(path, path.name, _KEYS).rows():
        for condition, trace in traces(row, usual, path):
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
            rows_of,
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


def _without_agent(condition: Condition, model: str) -> Condition:
    """The part of a condition that is known before any agent began."""
    return condition._replace(model=model, agent="", harness="", settings="")


def _adopted(runs: Iterable[Condition]) -> dict[Condition, Condition]:
    """Episodes that ended before any agent began, where all others of their environment
    are of one agent: it is its failure."""
    found: dict[Condition, Condition] = {}
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


def _settings_of_agent(config: Row) -> Row:
    """The configuration of an agent, without what is read by itself."""
    return {
        name: value
        for name, value in config.items()
        if name not in ("model", "sampling", *LIMITS)
    }


def _header(condition: Condition, run: _Run, config: Row, path: Path) -> RunHeader:
    sampling = {**part_of(config, "sampling"), **part_of(run.config, "sampling")}
    limits = {name: run.config.get(name) for name in LIMITS}
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


def _metric_names(header: RunHeader) -> list[str]:
    return [metric.name for metric in header.metrics]
