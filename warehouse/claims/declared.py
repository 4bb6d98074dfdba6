"""What people had said of the benchmarks of a claim when it was made, and the same said
again of a store that is made for its check."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from warehouse.claims.bundle import Claim
from warehouse.errors import MisuseError
from warehouse.store.connection import Store
from warehouse.store.curate.declarations import (
    METRIC_ALIAS,
    POLICY,
    SLICES,
    declarations,
    names_beside,
)

#: Columns of a declaration that a claim has, beside its day.
COLUMNS = ("about", "benchmark", "subject", "said", "wrong_value", "digest")


def declared_behind(store: Store, benchmarks: Sequence[str]) -> list[dict[str, Any]]:
    """What was said of some benchmarks, or of every one, with the day as a text."""
    said = declarations(store)
    if not said:
        return []
    names = {""}
    for benchmark in benchmarks:
        names |= {*names_beside(store, benchmark)}
    rows: list[dict[str, Any]] = []
    for one in said:
        if one.benchmark in names and benchmarks:
            row = {name: getattr(one, name) for name in COLUMNS}
            rows.append(row | {"declared_at": one.declared_at.isoformat()})
    return rows


def fields_were_named(store: Store, claim: Claim) -> None:
    """Name the fields of a claim before its scores come, where they were: no row calls
    one exploratory that was named.

    Args:
        store: open for writing, without scores.
        claim: in which nothing is trusted.
    """
    from warehouse.store.curate.declared_slices import declare_slices

    late = any(
        row.get("declared_at") and row.get("label") == "exploratory"
        for row in claim.rows
    )
    for row in claim.declared:
        if row.get("about") == SLICES and not late:
            try:
                declare_slices(store, str(row["benchmark"]), [str(row["subject"])])
            except (MisuseError, KeyError):
                continue


def say_again(store: Store, declared: Sequence[Mapping[str, Any]]) -> None:
    """Say of a store what a claim says was said; what it has no place for is left out,
    and differs then.

    Args:
        store: open for writing.
        declared: as a claim has it, in which nothing is trusted.
    """
    from warehouse.store.curate.declared_slices import declare_slices
    from warehouse.store.curate.metric_aliases import alias_metric
    from warehouse.store.curate.policies import set_policy

    for row in declared:
        about, benchmark, subject, said = (
            str(row.get(name) or "") for name in COLUMNS[:4]
        )
        wrong = row.get("wrong_value")
        try:
            if about == METRIC_ALIAS:
                alias_metric(store, subject, said, benchmark=benchmark)
            elif about == POLICY and isinstance(wrong, int | float | None):
                set_policy(store, benchmark, said, metric=subject, wrong_value=wrong)
            elif about == SLICES:
                declare_slices(store, benchmark, [subject])
        except MisuseError:
            continue


def name_of(row: Mapping[str, Any]) -> str:
    """What a declaration is called where it differs."""
    of = row.get("benchmark") or "every benchmark"
    return f"{row.get('about')} of {of}: {row.get('subject')}".removesuffix(": ")
