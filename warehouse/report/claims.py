"""Under each headline figure the command that writes it down for others to check (docs/claims.md)."""

from __future__ import annotations

import shlex

from warehouse.analysis.report_data.benchmark import BenchmarkPart
from warehouse.analysis.report_data.partial_runs import NEWEST, SuitePart

#: What the commands use where nothing is said.
LEVEL, PAIR_RESAMPLES, SEED = 0.95, 9999, 0


def benchmark_claims(part: BenchmarkPart, level: float, n_resamples: int, seed: int) -> dict[str, str]:
    """Commands by what they claim: ``board``, ``pairs``, ``variance``; those that the part has.

    Args:
        level, n_resamples, seed: of the report.
    """
    name = shlex.quote(part.name)
    commands = {}
    if part.board is not None and part.board.rows:
        commands["board"] = _claim(f"leaderboard {name}{_level(level)}")
    if part.pairs is not None:
        draws = f" --resamples {n_resamples}" if n_resamples != PAIR_RESAMPLES else ""
        commands["pairs"] = _claim(f"pairs {name}{_level(level)}{draws}{f' --seed {seed}' if seed != SEED else ''}")
    if part.variance is not None:
        commands["variance"] = _claim(f"variance * -b {name}")
    return commands


def suite_claim(part: SuitePart, level: float) -> str:
    """The command for a suite; empty where it has no figure."""
    if part.board is None:
        return ""
    newest = " --latest" if NEWEST in part.board.notes else ""
    return _claim(f"leaderboard --group {shlex.quote(part.name)}{_level(level)}{newest}")


def _level(level: float) -> str:
    return f" --level {level:g}" if level != LEVEL else ""


def _claim(question: str) -> str:
    quoted = shlex.quote(question) if set(question) & set('"$`\\!') else f'"{question}"'
    return f"warehouse claim {quoted} -o claim.json"
