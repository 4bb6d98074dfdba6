"""How much a store holds, and calls that ask for it."""

from __future__ import annotations

import json

from warehouse.store.connection import Store

_COUNTS = (
    "select count(distinct model) as model, count(distinct benchmark) as benchmark, count(*) as run from run_current"
)
#: Last what has no scores, which can be listed and not compared.
_SCORED = "case when max(n_scores) > 0 then 0 else 1 end"
_BUSIEST = (
    f"select benchmark from run_current group by benchmark order by {_SCORED}, count(distinct model) desc, 1 limit 1"
)
_MODELS = f"""select model, count(*) as runs, {_SCORED} as unscored from run_current where benchmark = :name
group by model order by 3, 2, 1 limit 2"""


def held_in(store: Store) -> tuple[str, ...]:
    """What an open store holds in a line, and three calls of a ``store`` that work on it."""
    (counts,) = store.rows(_COUNTS)
    found = store.rows(_BUSIEST)
    if not found:
        return "nothing yet", 'store.ingest("results/")', "store.runs()"
    models = store.rows(_MODELS, {"name": found[0]["benchmark"]})
    benchmark, *names = (
        json.dumps(name, ensure_ascii=False) for name in (found[0]["benchmark"], *(m["model"] for m in models))
    )
    latest = ", latest=True" if any(row["runs"] > 1 for row in models) else ""
    two = f"store.compare({', '.join(names)}, benchmark={benchmark}{latest})"
    pairs = len(models) == 2 and not any(row["unscored"] for row in models)
    said = ", ".join(f"{n:,} {name}{'s' * (n != 1)}" for name, n in counts.items())
    return said, f"store.leaderboard({benchmark})", two if pairs else "store.models()", f"store.card({names[0]})"
