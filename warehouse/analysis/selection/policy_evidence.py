"""What the data prove of failures in a run: whether they can be read under a policy.

A run has *kept* its failures where rows without a score say why; it has them *baked*
where the dump says that an answer failed and the tool stored the worst score and no
status; it has *dropped* some where it says how many prompts it covers and has rows of
fewer: those absent count like errors where the benchmark has just as many prompts, so
that it is known which they are. Of every other run it is not known, which a note says.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from warehouse.analysis.selection.conditions import Run
from warehouse.analysis.selection.policies import absent_prompts
from warehouse.errors import MisuseError
from warehouse.records.policy import MISSING, WRONG, Policy
from warehouse.store.connection import Store
from warehouse.store.sql.query_files import query_text

#: A run, and the id of the metric that it is read by.
ReadRun = tuple[Run, int]
#: Runs that a refusal names.
_MOST_NAMED = 3
#: What a status is called in a refusal.
_WORDS = {"error": "errors", "limit": "limits"}


def require_readable(store: Store, policy: Policy, runs: Iterable[ReadRun]) -> None:
    """Refuse runs that are proven not to say what a policy asks for.

    Args:
        policy: that somebody asked for or stored.
        runs: each with its metric.

    Raises:
        MisuseError: a run has failures baked or dropped; names it, and the policy under
            which all can be read.
    """
    read = list(runs)
    _refuse_dropped(store, policy, read)
    _refuse_baked(store, policy, read)


def _refuse_dropped(store: Store, policy: Policy, runs: list[ReadRun]) -> None:
    """Refuse whole runs with fewer prompts than they say, where an error is wrong and
    nobody knows which prompts are absent."""
    if policy.statuses["error"] != WRONG:
        return
    dropped = []
    for run in {run["run_id"]: run for run, _ in runs}.values():
        n_said, n_found = run["n_requested"], run["n_found"] or 0
        if run["status"] == "complete" and n_said and n_found < n_said:
            dropped.append(run)
    if not dropped:
        return
    ids = [run["run_id"] for run in dropped]
    found = absent_prompts(store, ids, {metric for _, metric in runs})
    known = {row["run_id"] for row in found}
    for run in dropped:
        n_said, n_found = run["n_requested"], run["n_found"] or 0
        if run["run_id"] not in known:
            raise MisuseError(
                f"{_named(run)} has rows of {n_found:,} of the {n_said:,} prompts that "
                f"it says it covers: under `{policy.name}` the others would be wrong, "
                "and nobody knows which they are; all can be read under `missing`: "
                "--policy missing"
            )


def _refuse_baked(store: Store, policy: Policy, runs: list[ReadRun]) -> None:
    """Refuse runs whose failures have the worst score, where they are to be missing."""
    missing = {status for status in _WORDS if policy.statuses[status] == MISSING}
    by_id = {run["run_id"]: run for run, _ in runs}
    if not missing or not by_id:
        return
    wanted = {(run["run_id"], metric) for run, metric in runs}
    found = store.rows(
        query_text("analysis/selection", "policy_evidence"),
        {
            "run_ids": sorted(by_id),
            "metric_ids": sorted({metric for _, metric in runs}),
        },
    )
    baked: dict[int, list[str]] = {}
    for row in sorted(found, key=lambda row: (row["run_id"], row["status"])):
        is_read = (row["run_id"], row["metric_id"]) in wanted
        if is_read and row["status"] in missing:
            words = f"{row['n']:,} {_WORDS[row['status']]}"
            baked.setdefault(row["run_id"], []).append(words)
    if baked:
        raise MisuseError(_why_baked(policy, baked, by_id))


def _why_baked(
    policy: Policy, baked: dict[int, list[str]], runs: dict[int, Run]
) -> str:
    named = []
    for run, words in list(baked.items())[:_MOST_NAMED]:
        named.append(f"{_named(runs[run])}, {', '.join(words)}")
    more = ""
    if len(baked) > len(named):
        more = f"; and {len(baked) - len(named)} more"
    return (
        f"`{policy.name}` takes failed answers for missing, and these runs have them as "
        f"wrong ones: {'; '.join(named)}{more}; all can be read under `all-wrong`: "
        "--policy all-wrong"
    )


def _named(run: Any) -> str:
    return f"run:{run['run_id']} ({run['model']} on {run['benchmark']})"
