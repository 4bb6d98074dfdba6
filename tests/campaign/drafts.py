"""What drafts of mappings make of made-up tables: right, asked, refused or wrong.

    python tests/campaign/drafts.py --tables 100 --seed 1

A draft is *right* if it can be used as it stands (with the names that the command
line asks for) and gives the true mean of each model over the true number of prompts;
*asked* if it says what is to be decided and names the column of scores; *refused* if it
takes nothing and does not name it; *wrong* if it gives any other figure.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import tomllib
from collections import Counter, defaultdict
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT))  # behind the installed package

from tests.campaign.made_tables import MadeTable, make  # noqa: E402
from tests.support.tabular import Taken, candidate  # noqa: E402
from warehouse.errors import InputError  # noqa: E402
from warehouse.importers.tabular.drafts.draft import starting_mapping  # noqa: E402
from warehouse.importers.tabular.importer import IMPORTER  # noqa: E402
from warehouse.records import ImportSettings  # noqa: E402


@dataclass(frozen=True)
class Outcome:
    """What became of one table."""

    seed: int
    word: str  #: ``right``, ``asked``, ``refused`` or ``wrong``.
    why: str
    table: MadeTable
    draft: str = ""


def tried(seed: int, folder: Path) -> Outcome:
    """The outcome of the draft for the first file of a table."""
    table = make(seed, folder)
    try:
        draft = starting_mapping(table.files[0])
    except InputError as error:
        return Outcome(seed, "refused", str(error), table)
    if "[[choose]]" in draft:
        return _asked(seed, table, draft)
    try:
        why = _fault(table, draft)
    except InputError as error:
        return Outcome(seed, "refused", str(error), table, draft)
    word = "wrong" if why else "right"
    return Outcome(seed, word, why, table, draft)


def _asked(seed: int, table: MadeTable, draft: str) -> Outcome:
    """The outcome of a draft that asks: helped if the question, or what is taken,
    names the column of scores."""
    choices = tomllib.loads(draft)["choose"]
    lines = draft.splitlines()
    first = lines.index(next(line for line in lines if line.startswith("[[choose]]")))
    last = lines.index(next(line for line in lines if line.startswith("[run]")))
    said = "\n".join(line for line in lines[first:last] if not line.startswith("# ["))
    path = table.columns["score"]
    is_named = f'"{path}"' in said or f"{path} (" in said
    if table.layout == "wide":
        is_named = any(model in said for model in table.means)
    is_taken = any(line.startswith("value =") and f'"{path}"' in line for line in lines)
    word = "asked" if is_named or is_taken else "unhelped"
    if len(choices) > 1:
        word = f"{word} twice"
    why = "; ".join(f"{choice['what']}: {choice['between']}" for choice in choices)
    return Outcome(seed, word, why, table, draft)


def _fault(table: MadeTable, draft: str) -> str:
    """What differs between the figures of a draft and the truth; nothing if nothing
    does."""
    means, prompts = _figures(table, draft)
    if not means:
        return "no figures"
    sizes = {len(found) for found in prompts.values()}
    shared = set.intersection(*prompts.values())
    if sizes != {table.n_prompts} or len(shared) != table.n_prompts:
        return f"prompts {sizes}, {len(shared)} shared; true {table.n_prompts}"
    for metric, by_model in means.items():
        if not _agrees(by_model, table.means) and not _agrees(by_model, table.shares):
            return f"{metric}: {by_model}; true {table.means}"
    return ""


def _agrees(found: dict[str, float], true: dict[str, float]) -> bool:
    return found.keys() == true.keys() and all(
        abs(found[model] - true[model]) < 1e-6 for model in true
    )


def _figures(
    table: MadeTable, draft: str
) -> tuple[dict[str, dict[str, float]], dict[str, set[object]]]:
    """Means by metric and model, and the prompts of each model."""
    mapping = tomllib.loads(draft)
    mapping["files"] = [f"*{table.files[0].suffix}"]
    importer = IMPORTER.for_mapping(mapping, "draft.toml")
    values: dict[tuple[str, str], list[float]] = defaultdict(list)
    prompts: dict[str, set[object]] = defaultdict(set)
    for path in table.files:
        taken = _taken(importer, path)
        for row in taken.rows:
            model = taken.run_of(row).model
            prompts[model].add(_prompt(row))
            for score in row["scores"] or ():
                if score["value"] is not None:
                    values[score["metric"], model].append(score["value"])
    means: dict[str, dict[str, float]] = defaultdict(dict)
    for (metric, model), found in values.items():
        means[metric][model] = sum(found) / len(found)
    return dict(means), dict(prompts)


def _prompt(row: dict[str, object]) -> object:
    """What tells the prompt of a row apart."""
    for names in (("prompt_id",), ("text", "target"), ("position",)):
        found = tuple(str(row.get(name)) for name in names)
        if row.get(names[0]) is not None:
            return found
    return None


def _taken(importer: object, path: Path) -> Taken:
    names = {"model": path.stem, "benchmark": "b"}
    taken = Taken()
    for source in importer.claim([candidate(path)]):  # type: ignore[attr-defined]
        dump = importer.read(source, ImportSettings(defaults=names))  # type: ignore[attr-defined]
        taken.runs += dump.runs
        for batch in dump.batches:
            taken.rows += batch.to_pylist()
    return taken


def main() -> int:
    """The share of each outcome over many tables."""
    parser = argparse.ArgumentParser(description="see the head of the file")
    parser.add_argument("--tables", type=int, default=100)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--show", default="wrong", help="outcomes that are shown")
    options = parser.parse_args()
    counts: Counter[str] = Counter()
    for seed in range(options.seed, options.seed + options.tables):
        with tempfile.TemporaryDirectory() as folder:
            outcome = tried(seed, Path(folder))
        counts[outcome.word] += 1
        if outcome.word in options.show.split(","):
            table = outcome.table
            print(f"{seed} {outcome.word} {table.layout} {table.kind} {table.columns}")
            print(f"    {table.extra}")
            print(f"    {outcome.why[:400]}")
    print(dict(counts))
    return int(bool(counts["wrong"]))


if __name__ == "__main__":
    sys.exit(main())
