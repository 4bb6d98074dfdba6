"""Keys that the stored answers of models speak against, as a report shows them."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from warehouse.analysis.audit.audit import audit_of
from warehouse.analysis.audit.row import AuditRow
from warehouse.analysis.leaderboard.leaderboard import Leaderboard
from warehouse.analysis.selection.scored_conditions import BenchmarkScores
from warehouse.errors import MisuseError
from warehouse.stats.labels.wrong_keys import FEWEST_MODELS
from warehouse.store.connection import Store

#: Keys that are shown.
TOP = 5
#: Prompts times models beyond which a page does not wait for an audit.
MOST_VOTES = 150_000


@dataclass(frozen=True)
class Suspects:
    """What `audit` says of a benchmark, in short.

    Attributes:
        n_judged: prompts whose key can be judged.
        n_models: models that were heard.
        n_listed: keys that are suspect.
        expected_fdr: share of them that is expected to be right; None without any.
        threshold: posterior from which on a key is suspect.
        rows: the most suspect, at most 5.
    """

    n_judged: int
    n_models: int
    n_listed: int
    expected_fdr: float | None
    threshold: float
    rows: tuple[AuditRow, ...]


def suspects(store: Store, board: Leaderboard, scores: BenchmarkScores) -> Suspects | None:
    """The keys of a benchmark that its models' answers speak against; None where no three models have
    answers, where keys cannot be judged, and beyond `MOST_VOTES`.

    Args:
        board: its leaderboard.
        scores: that it is made of.
    """
    runs = [run for run in scores.runs if _has_answers(run)]
    models = {run["model"] for run in runs}
    most = max((row.n_prompts for row in board.rows), default=0)
    if len(models) < FEWEST_MODELS or most * len(models) > MOST_VOTES:
        return None
    try:
        found = audit_of(store, scores)
    except MisuseError:
        return None
    listed = found.listed
    return Suspects(found.n_judged, len(found.models), len(listed), found.expected_fdr, found.threshold, listed[:TOP])


def _has_answers(run: Mapping[str, Any]) -> bool:
    return bool(run["n_generations"] or run["n_choices"])
