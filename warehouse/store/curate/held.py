"""How much a store holds, and the calls that ask for it."""

from __future__ import annotations

import json
from dataclasses import dataclass

from warehouse.store.connection import Store

_COUNTS = "select count(*) as runs, count(distinct model) as models, count(distinct benchmark) as benchmarks"
#: Whether a run has scores: others can be listed, and not compared.
_SCORED = "case when max(n_scores) > 0 then 0 else 1 end"
_BUSIEST = (
    f"select benchmark from run_current group by benchmark order by {_SCORED}, count(distinct model) desc, 1 limit 1"
)
_MODELS = f"""select model, count(*) as runs, {_SCORED} as unscored from run_current where benchmark = :name
group by model order by 3, 2, 1 limit 2"""


@dataclass(frozen=True)
class Held:
    """What a store holds.

    Attributes:
        models: that have current runs.
        benchmarks: that have some.
        runs: that count.
        benchmark: the one with the most models; empty without any.
        examples: two models with runs on it, or one.
        comparison: what a comparison of the two is told besides.
    """

    models: int
    benchmarks: int
    runs: int
    benchmark: str
    examples: tuple[str, ...]
    comparison: str = ""

    def __str__(self) -> str:
        counts = {"model": self.models, "benchmark": self.benchmarks, "run": self.runs}
        return ", ".join(f"{n:,} {name}{'s' * (n != 1)}" for name, n in counts.items()) if self.runs else "nothing yet"

    @property
    def next_calls(self) -> tuple[str, ...]:
        """Calls of a ``store`` that ask for it."""
        if not self.runs:
            return ('store.ingest("results/")', "store.runs()")
        first, *others = (json.dumps(name, ensure_ascii=False) for name in self.examples)
        named = json.dumps(self.benchmark, ensure_ascii=False)
        two = f"store.compare({first}, {others[0]}, benchmark={named}{self.comparison})" if others else "store.models()"
        return (f"store.leaderboard({named})", two, f"store.card({first})")


def held_in(store: Store) -> Held:
    """What an open store holds."""
    (counts,) = store.rows(f"{_COUNTS} from run_current")
    found = store.rows(_BUSIEST)
    name = str(found[0]["benchmark"]) if found else ""
    models = store.rows(_MODELS, {"name": name}) if found else []
    kept = models if all(row["unscored"] == 0 for row in models) else models[:1]
    several = ", latest=True" if any(row["runs"] > 1 for row in kept) else ""
    return Held(**counts, benchmark=name, examples=tuple(str(row["model"]) for row in kept), comparison=several)
