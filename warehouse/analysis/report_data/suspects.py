"""Keys that the stored answers of models speak against, as a report shows them."""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.analysis.audit.audit import audit_of
from warehouse.analysis.audit.read import StoredAnswers
from warehouse.analysis.audit.row import AuditRow
from warehouse.errors import MisuseError

#: Keys that are shown.
TOP = 5


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


def suspects(stored: StoredAnswers) -> Suspects | None:
    """The keys of a benchmark that its models' answers speak against; None where keys cannot be judged."""
    try:
        report = audit_of(stored)
    except MisuseError:
        return None
    listed = report.listed
    return Suspects(
        report.n_judged, len(report.models), len(listed), report.expected_fdr, report.threshold, listed[:TOP]
    )
