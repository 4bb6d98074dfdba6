"""The methods of a warehouse: keywords and defaults are those of the functions that
answer them and of the commands, although all three are written out."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, assert_type

import click
import pytest

import warehouse.api
from tests.support.method_stub import STUB, stub_text
from warehouse.analysis.compare.answer import Comparison
from warehouse.analysis.gate.view import Gate
from warehouse.analysis.items.view import ItemReport
from warehouse.analysis.leaderboard.answer import Leaderboard
from warehouse.analysis.leaderboard.every import Leaderboards
from warehouse.analysis.sequential.view import SequentialGate
from warehouse.analysis.show.view import PromptRuns, PromptView, RunView
from warehouse.analysis.suites.answer import SuiteBoard
from warehouse.analysis.text.duplicates_view import Duplicates
from warehouse.analysis.variance.answer import VarianceReport
from warehouse.api import Warehouse
from warehouse.cli.main import cli
from warehouse.questions import registry
from warehouse.questions.question import Answer

ROOT = Path(__file__).resolve().parents[1]
#: The most lines of a file of the face.
MOST_LINES = 400


@dataclass(frozen=True)
class Use:
    """A method, what answers it, and the command that asks the same.

    Attributes:
        functions: ``module:name``; together they have the keywords of the method. The
            first parameter of each is how the store is reached.
        command: its name; empty: none.
        own: keywords of the method that no function has, or that it passes on under
            another name.
        fixed: parameters of the functions that the method sets itself.
        silent: keywords of the method that the command does not have.
        flags: parameters of the command that the method does not have.
        renamed: parameter of the command -> keyword of the method.
    """

    functions: tuple[str, ...]
    command: str = ""
    own: tuple[str, ...] = ()
    fixed: tuple[str, ...] = ()
    silent: tuple[str, ...] = ()
    flags: tuple[str, ...] = ()
    renamed: Mapping[str, str] = field(default_factory=dict)


ANALYSIS = "warehouse.analysis"
#: What makes one row of a model.
OF_ROWS = ("each", "repeats", "seeds_are", "policy")
#: Options of ``items`` that go with ``--features`` alone.
FEATURES = ("features", "by", "cluster", "level")
SUBSET = {"subset": "subset_ok"}
#: Options of ``leaderboard`` that ask another question in its place.
INSTEAD = ("carried_by", "is_winner")
CORRECTED = ("corrected", "judge", "human")
#: Options of ``leaderboard`` and ``compare`` that go with ``--over``.
OVER = ("over", "fixed", "two_levels", "as_sampled")
#: Options of results by a field of the prompts.
SLICED_BOARD = ("by", "bins", "rank_by", *OVER)
SLICED_GATE = ("no_slice_worse_than", "by", "bins")
SLICED_PAIR = ("by", "bins", "slope", "per_doubling", "show_all", *OVER)
#: Options of ``leaderboard``, ``compare`` and ``gate`` that corrected figures do not
#: know.
OF_LEADERBOARDS = (
    *(
        "method",
        "estimand",
        "max_unscored",
        "subset_ok",
        "n_resamples",
        "seed",
        "group",
        "weights",
        "partial_ok",
    ),
    "force",
)
OF_COMPARISONS = (
    *(
        "method",
        "estimand",
        "equivalence",
        "flips",
        "n_resamples",
        "seed",
        "across_links",
        "second_metric",
        "cost",
        "prices",
        "force",
    ),
)
SEQUENTIAL = ("sequential", "obf", "follow", "mapping", "values")
USES = {
    "ingest": Use(
        ("warehouse.ingest.pipeline:ingest",),
        "ingest",
        own=(
            "max_files",
            "max_bytes",
            "max_time",
            "allow_private",
        ),  # of what is fetched
        silent=("options", "progress", "only", "rules"),
        flags=(
            *(
                "beside",
                "cluster_by",
                "on_conflict",
                "on_duplicate",
                "max_rejected",
                "text",
            ),  # fields of options
            *("publish", "watch", "settle", "as_json"),
            "no_map",  # a field of rules
        ),
        renamed={"format_name": "format"},
    ),
    "card": Use(
        (f"{ANALYSIS}.card.answer:card",),
        "card",
        flags=("form", "out", "claim", "datasets"),
    ),
    "models": Use(("warehouse.store.curate.aliases:models",), "list models"),
    "benchmarks": Use(
        ("warehouse.store.curate.aliases:benchmarks",), "list benchmarks"
    ),
    "runs": Use(
        ("warehouse.store.curate.catalogue:runs",),
        "list runs",
        flags=("run",),
    ),
    "sources": Use(
        ("warehouse.store.curate.catalogue:sources",),
        "list sources",
        renamed={"source": "reference"},
    ),
    "declared": Use(
        ("warehouse.store.curate.declarations:declarations",), "list declared"
    ),
    "alias_metric": Use(
        ("warehouse.store.curate.metric_aliases:alias_metric",),
        "fix alias",
        fixed=("at",),
        flags=("kind", "undo"),
        renamed={"on": "benchmark", "canonical": "counts_as"},
    ),
    "set_policy": Use(
        ("warehouse.store.curate.policies:set_policy",),
        "fix policy",
        fixed=("at",),
        flags=("undo",),
    ),
    "declare_slices": Use(
        ("warehouse.store.curate.declared_slices:declare_slices",),
        "fix slices",
        own=("undo",),
        fixed=("at",),
    ),
    "lake_sync": Use(
        ("warehouse.store.lake.sync:sync",), "lake sync", fixed=("now", "say")
    ),
    "lake_check": Use(
        ("warehouse.store.lake.check:check",), "lake check", fixed=("progress",)
    ),
    "show": Use((f"{ANALYSIS}.show.answer:show",), "show", flags=("full",)),
    "leaderboard": Use(
        (
            f"{ANALYSIS}.leaderboard.answer:leaderboard",
            f"{ANALYSIS}.suites.answer:suite_leaderboard",
            f"{ANALYSIS}.leaderboard.every:leaderboards",
        ),
        "leaderboard",
        flags=(*CORRECTED, *SLICED_BOARD, *INSTEAD, "top", "show_all"),
        renamed=SUBSET | {"partial": "partial_ok"},
    ),
    "leaderboard_corrected": Use(
        (f"{ANALYSIS}.judge.corrected_figures:corrected_leaderboard",),
        "leaderboard",
        flags=(
            *("corrected", *INSTEAD, "top", "show_all"),
            *(*SLICED_BOARD, *OF_LEADERBOARDS, *OF_ROWS),
        ),
    ),
    "leaderboard_by": Use(
        (f"{ANALYSIS}.slices.board:leaderboard_by",),
        "leaderboard",
        flags=(
            *("method", "estimand", "max_unscored", "n_resamples", "group"),
            *("partial_ok", "force", *CORRECTED, *INSTEAD, "top", "show_all", *OVER),
            "weights",  # of a suite's benchmarks others are the default
        ),
        silent=("weights",),
        renamed=SUBSET | {"partial": "partial_ok"},
    ),
    "compare": Use(
        (f"{ANALYSIS}.compare.answer:compare",),
        "compare",
        flags=("only_overall", "unpaired", "carried_by", *CORRECTED, *SLICED_PAIR),
    ),
    "compare_by": Use(
        (f"{ANALYSIS}.slices.answer:compare_by",),
        "compare",
        flags=(
            *("method", "estimand", "equivalence", "flips", "pair_seeds"),
            *("across_links", "second_metric", "cost", "prices"),
            *("only_overall", "unpaired", "carried_by", *CORRECTED, *OVER),
            *("slope", "per_doubling", "show_all"),
        ),
    ),
    "compare_slope": Use(
        (f"{ANALYSIS}.slices.slopes:compare_slope",),
        "compare",
        flags=(
            *("method", "estimand", "equivalence", "flips", "pair_seeds"),
            *("across_links", "second_metric", "cost", "prices"),
            *(
                "only_overall",
                "unpaired",
                "carried_by",
                *CORRECTED,
                "n_resamples",
                "seed",
            ),
            *("by", "bins", "show_all", *OVER),
        ),
    ),
    "compare_corrected": Use(
        (f"{ANALYSIS}.judge.corrected_figures:corrected_comparison",),
        "compare",
        flags=(
            "corrected",
            "only_overall",
            "unpaired",
            "carried_by",
            *OF_COMPARISONS,
            *OF_ROWS,
            *SLICED_PAIR,
            "pair_seeds",
        ),
    ),
    "judge": Use(
        (f"{ANALYSIS}.judge.answer:judge",),
        "judge agreement",
        flags=("svg", "top", "show_all"),
    ),
    "judge_plan": Use((f"{ANALYSIS}.judge.plan:plan",), "judge plan"),
    "judge_next": Use(
        (f"{ANALYSIS}.judge.next:next_labels",), "judge next", flags=("out",)
    ),
    "compare_unpaired": Use(
        (f"{ANALYSIS}.compare.unpaired:compare_unpaired",),
        "compare",
        flags=(
            *(
                "method",
                "estimand",
                "equivalence",
                "flips",
                "n_resamples",
                "seed",
                "only_overall",
                "unpaired",
                "carried_by",
            ),
            *("across_links", "second_metric", "cost", "prices"),
            *(*OF_ROWS, "pair_seeds"),
            *(*CORRECTED, *SLICED_PAIR),
        ),
    ),
    "handful": Use(
        (f"{ANALYSIS}.handful.answer:handful",),
        "compare",
        flags=(
            *("method", "estimand", "equivalence", "flips", "pair_seeds"),
            *("across_links", "second_metric", "cost", "prices"),
            *("only_overall", "unpaired", "carried_by", "n_resamples", "seed"),
            *(*CORRECTED, *SLICED_PAIR),
        ),
    ),
    "leaderboard_handful": Use(
        (f"{ANALYSIS}.handful.board:leaderboard_handful",),
        "leaderboard",
        flags=(
            *("method", "level", "estimand", "max_unscored", "n_resamples", "seed"),
            *("group", "weights", "partial_ok", "force", *INSTEAD),
            *(*CORRECTED, *SLICED_BOARD, "top", "show_all"),
        ),
        renamed=SUBSET | {"partial": "partial_ok"},
    ),
    "winner": Use(
        (f"{ANALYSIS}.winner.answer:winner",),
        "leaderboard",
        flags=(
            *("method", "estimand", "max_unscored", "n_resamples"),
            *("group", "weights", "partial_ok", "force", *INSTEAD),
            *(*CORRECTED, *SLICED_BOARD, "top", "show_all"),
        ),
        renamed=SUBSET | {"partial": "partial_ok"},
    ),
    "formulations": Use(
        (f"{ANALYSIS}.formulations.answer:formulations",),
        "noise formulations",
        flags=("models", "crossings"),
        renamed=SUBSET,
    ),
    "records": Use((f"{ANALYSIS}.records.answer:records",), "records", renamed=SUBSET),
    "frontier": Use(
        (f"{ANALYSIS}.frontier.answer:frontier",),
        "frontier",
        flags=("svg",),
        renamed=SUBSET,
    ),
    "pairs": Use(
        (f"{ANALYSIS}.pairs.answer:pairs",),
        "pairs",
        silent=("with_flags",),
        flags=("matrix", "top", "show_all", "by"),
        renamed=SUBSET,
    ),
    "gate": Use(
        (f"{ANALYSIS}.gate.answer:gate",),
        "gate",
        silent=("margin",),
        flags=(
            "models",
            "markdown",
            *SEQUENTIAL,
            "n_max",
            "seed",
            "estimand",
            "looks",
            "use_history",
            *(*CORRECTED, *SLICED_GATE),
        ),
    ),
    "gate_by": Use(
        (f"{ANALYSIS}.slices.gate:gate_by",),
        "gate",
        silent=("margin",),
        flags=(
            *("models", "markdown", *SEQUENTIAL, "n_max", "seed", "estimand"),
            *("looks", "use_history", *CORRECTED),
            *("cheaper", "cost", "prices", "pair_seeds"),
        ),
    ),
    "gate_corrected": Use(
        (f"{ANALYSIS}.judge.corrected_figures:corrected_gate",),
        "gate",
        silent=("margin",),
        flags=(
            *(
                "models",
                "markdown",
                "corrected",
                *SEQUENTIAL,
                "n_max",
                "seed",
                "estimand",
                "looks",
                "use_history",
            ),
            *("cheaper", "cost", "prices", *SLICED_GATE),
            *(*OF_ROWS, "pair_seeds"),
        ),
    ),
    "sequential_gate": Use(
        (f"{ANALYSIS}.sequential.answer:sequential_gate",),
        "gate",
        silent=("margin",),
        flags=(
            *(
                "models",
                "markdown",
                "max_unscored",
                "cheaper",
                "cost",
                "prices",
                *SEQUENTIAL,
                *(*CORRECTED, *SLICED_GATE),
            ),
            *(*OF_ROWS, "pair_seeds"),
        ),
    ),
    "follow_gate": Use(
        (
            f"{ANALYSIS}.sequential.answer:sequential_gate",
            "warehouse.ingest.pipeline:ingest",
        ),
        "gate",
        own=("log", "benchmark", "pause", "say"),
        fixed=(
            *("margins", "benchmarks", "cluster", "estimand", "paths"),
            *(
                "options",
                "defaults",
                "dry_run",
                "progress",
                "only",
                "higher_is_better",
                "on",
                "lake",
                "rules",
            ),
        ),
        silent=("margin", "format", "benchmark", "pause", "say"),
        flags=(
            *(
                "models",
                "markdown",
                "max_unscored",
                "cheaper",
                "cost",
                "prices",
                "sequential",
                "obf",
            ),
            *("margins", "benchmarks", "cluster", "estimand", *CORRECTED),
            *SLICED_GATE,
            *(*OF_ROWS, "pair_seeds"),
        ),
        renamed={"follow": "log"},
    ),
    "variance": Use(
        (f"{ANALYSIS}.variance.answer:variance",),
        "noise variance",
        silent=("single_draws",),
        flags=("at", "hat", "estimand", "level", "seeds"),
    ),
    "pass_rates": Use(
        (f"{ANALYSIS}.variance.answer:pass_rates",),
        "noise variance",
        flags=("seeds", "by"),
    ),
    "items": Use(
        (f"{ANALYSIS}.items.answer:items",),
        "items difficulty",
        flags=("top", "splits", "pruning", "seed", "svg", *FEATURES),
    ),
    "item_splits": Use(
        (f"{ANALYSIS}.items.pruning:item_splits",),
        "items difficulty",
        silent=("n_splits",),
        flags=("irt", "top", "splits", "pruning", "svg", *FEATURES),
    ),
    "item_pruning": Use(
        (f"{ANALYSIS}.items.pruning:item_pruning",),
        "items difficulty",
        silent=("shares", "n_random"),
        flags=("irt", "top", "splits", "pruning", "svg", *FEATURES),
    ),
    "item_features": Use(
        (f"{ANALYSIS}.items.features:item_features",),
        "items difficulty",
        flags=("irt", "top", "splits", "pruning", "features", "seed", "svg"),
    ),
    "audit": Use(
        (f"{ANALYSIS}.audit.answer:audit",),
        "items audit",
        flags=("top", "plan", "force", "out"),
    ),
    "seeds": Use((f"{ANALYSIS}.seeds.answer:seeds",), "training seeds", flags=("svg",)),
    "curves": Use(
        (f"{ANALYSIS}.curves.answer:curves",),
        "training curves",
        flags=("points", "svg"),
    ),
    "recipes": Use((f"{ANALYSIS}.recipes.answer:recipes",), "training recipes"),
    "decide": Use((f"{ANALYSIS}.decide.answer:decide",), "training decide"),
    "templates": Use((f"{ANALYSIS}.templates.answer:templates",), "noise templates"),
    "total_error": Use((f"{ANALYSIS}.facets.answer:total_error_of",), "noise total"),
    "total_difference": Use(
        (f"{ANALYSIS}.facets.difference:total_difference_of",),
        "compare",
        flags=(
            *("method", "estimand", "equivalence", "flips", "n_resamples", "seed"),
            *("across_links", "second_metric", "cost", "prices", "force"),
            *("only_overall", "unpaired", "carried_by", "pair_seeds", "latest"),
            *(*OF_ROWS, *CORRECTED),
            *("by", "bins", "slope", "per_doubling", "show_all"),
        ),
    ),
    "seed_variance": Use(
        (f"{ANALYSIS}.variance.answer:seed_variance",),
        "noise variance",
        flags=("at", "hat", "estimand", "level", "seeds", "by"),
    ),
    "cost_power": Use(
        (f"{ANALYSIS}.power.costs:cost_power",),
        "power",
        silent=(
            "references",
            "cost",
        ),  # the command plans by scores where it is not given
        flags=(
            *("more", "pilot", "cost"),
            *(
                "omega2",
                "sigma2_a",
                "sigma2_b",
                "icc",
                "cluster_size",
                "cost_prompt",
                "cost_generation",
            ),
            *("delta", "k", "k_b", "n_values", "budget", "available"),
        ),
    ),
    "power": Use(
        (
            f"{ANALYSIS}.power.pilot:read_pilot",
            f"{ANALYSIS}.power.answer:PowerQuestion",
        ),
        "power",
        own=("parts", "cost"),
        fixed=("cost",),  # None in the method, which would have to import it
        silent=("references", "parts", "cost"),
        flags=(
            *("more", "pilot"),  # references
            *("omega2", "sigma2_a", "sigma2_b", "icc", "cluster_size"),  # parts
            *("cost_prompt", "cost_generation", "prices", "cheaper", "seed", "cost"),
        ),
    ),
    "reliability": Use(
        (f"{ANALYSIS}.reliability.answer:reliability",),
        "noise reliability",
        silent=("datasets",),  # --part datasets
        flags=("part", "svg"),
    ),
    "flash": Use(
        (f"{ANALYSIS}.flash.answer:flash",), "subset flash", flags=("ids", "check")
    ),
    "horizon": Use((f"{ANALYSIS}.horizon.answer:horizon",), "horizon", flags=("svg",)),
    "answer_metrics": Use(
        (f"{ANALYSIS}.answers.answer:answer_metrics",),
        "answers",
        flags=("confusion", "svg"),
        renamed={"of_class": "of_class"},
    ),
    "prefer": Use(
        (f"{ANALYSIS}.prefer.answer:prefer",),
        "prefer",
        flags=("elo", "carried_by", "svg", "top", "show_all"),
    ),
    "prefer_handful": Use(
        (f"{ANALYSIS}.handful.votes:prefer_handful",),
        "prefer",
        flags=(
            *("elo", "carried_by", "svg", "top", "show_all", "models", "by"),
            *("reference", "ties", "errors", "ridge", "level", "seed"),
        ),
    ),
    "anchors": Use(
        (f"{ANALYSIS}.anchors.answer:anchors",),
        "subset anchors",
        flags=("listed", "ids", "svg"),
    ),
    "irt": Use(
        (f"{ANALYSIS}.irt.answer:irt",), "irt fit", flags=("family", "seed", "top")
    ),
    "published_scale": Use(
        (f"{ANALYSIS}.irt.published:published_scale",),
        "irt scale",
        flags=("by_benchmark", "top"),
    ),
    "published_completion": Use(
        (f"{ANALYSIS}.irt.completed:published_completion",), "irt complete"
    ),
    "subset_plan": Use(
        (f"{ANALYSIS}.subsets.make:plan_subset",),
        "subset plan",
        silent=("now",),
        flags=("out",),
    ),
    "subset_export": Use(
        (f"{ANALYSIS}.subsets.exchange:export_subset",), "subset export", flags=("out",)
    ),
    "subset_import": Use(
        (f"{ANALYSIS}.subsets.exchange:import_plans",),
        "subset import",
        silent=("now",),
        renamed={"file": "path"},
    ),
    "subset_extend": Use(
        (f"{ANALYSIS}.subsets.exchange:extend_plan",),
        "subset extend",
        silent=("now",),
        flags=("out",),
    ),
    "matrix": Use(
        (f"{ANALYSIS}.matrix.answer:matrix",),
        "matrix test",
        silent=("progress",),
        flags=("similarities", "permutations", "seed", "histogram"),  # of its methods
    ),
    "datamap": Use(
        (f"{ANALYSIS}.datamap.answer:datamap",),
        "items datamap",
        silent=("progress",),
        flags=("suspects", "distribution"),
    ),
    "embed": Use(
        (f"{ANALYSIS}.text.embed:embed",), "text embed", silent=("chunk", "progress")
    ),
    "grep": Use((f"{ANALYSIS}.grep.answer:grep",), "text grep", flags=("samples",)),
    "similar": Use((f"{ANALYSIS}.text.similar:similar",), "text similar"),
    "duplicates": Use(
        (f"{ANALYSIS}.text.duplicates:duplicates",),
        "text duplicates",
        silent=("progress",),
    ),
    "cluster_semantic": Use(
        (f"{ANALYSIS}.text.semantic_clusters:cluster_semantic",),
        "text cluster",
        silent=("progress",),
    ),
    "refresh": Use(
        ("warehouse.analysis.families.family:FamilySettings",),
        "refresh",
        own=(
            "benchmarks",
            "families",
            "progress",
            "lake",
        ),  # of the function ``refresh`` and its ``RefreshRequest``
        silent=("n_resamples", "progress"),
        flags=("dry_run", "prune", "only_alerts"),
    ),
    "history": Use(
        ("warehouse.refresh.history:history",),
        "history",
        silent=("model",),
        flags=("names",),
    ),
    "report": Use(
        (f"{ANALYSIS}.report_data.report:ReportReading",),
        "report",
        own=("out", "split", "jobs", "force"),
        silent=("progress", "force"),
    ),
}
#: Methods that no analysis answers.
OTHERS = {
    "arrow",
    "board",
    "check",
    "query",
    "publish",
    "export_every_eval_ever",
    "export_inspect",
    "lake_versions",
    "lake_vacuum",
}
#: Parameters of commands that say how an answer is shown, and a second way to name the
#: benchmark.
SHOWN = {"named", "as_json", "as_jsonl", "as_csv", "csv_safe", "parquet", "help"}
SHOWN |= {"as_markdown", "as_latex", "as_html", "percent"}


def parameters(function: Callable[..., Any]) -> dict[str, inspect.Parameter]:
    """Parameters but for ``self``."""
    return {
        name: found
        for name, found in inspect.signature(function).parameters.items()
        if name != "self"
    }


def answered_by(use: Use) -> dict[str, Any]:
    """Keyword -> default, of the functions; the first parameter of a function is how to
    reach the store."""
    merged: dict[str, Any] = {}
    for path in use.functions:
        module, name = path.split(":")
        function = getattr(import_module(module), name)
        function = function.question if isinstance(function, Answer) else function
        store, *others = parameters(function).values()
        if store.name not in {"store", "opener"}:
            others.insert(0, store)
        for found in others:
            assert merged.setdefault(found.name, found.default) == found.default, (
                f"{path}: {found.name}"
            )
    return {name: default for name, default in merged.items() if name not in use.fixed}


def leaf_command(name: str) -> click.Command:
    found: click.Command = cli
    for word in name.split():
        assert isinstance(found, click.Group)
        found = found.get_command(click.Context(found), word) or pytest.fail(
            f"no command {name}"
        )
    return found


def defaults_of(use: Use) -> Iterator[tuple[str, Any, str]]:
    """Keyword of the method, what the command has for it where nothing is given, and
    the help."""
    command = leaf_command(use.command)
    given = command.make_context(
        use.command,
        [],
        resilient_parsing=True,
        help_option_names=["-h", "--help"],  # a command keeps them
    ).params
    for found in command.params:
        if found.name in given and found.name not in {*SHOWN, *use.flags}:
            yield (
                use.renamed.get(found.name, found.name),
                given[found.name],
                getattr(found, "help", None) or "",
            )


def agree(default: Any, value: Any, text: str) -> bool:
    """Whether a command has the default of a method; one that it leaves open is said in
    its help."""
    if default is inspect.Parameter.empty or not default:
        return not value
    if value is not None:
        return bool(value == default) or str(value).replace("-", "_") == default
    said = str(default).replace("_", "-")
    return f"[default: {said}" in text or f"{said} (default)" in text


def test_every_method_is_in_the_table() -> None:
    public = {
        name
        for name, _ in inspect.getmembers(Warehouse, inspect.isfunction)
        if not name.startswith("_")
    }
    assert public == set(USES) | OTHERS


def test_a_store_has_no_other_public_names_and_says_so_of_those_that_it_had(
    tmp_path: Path,
) -> None:
    store: Any = warehouse.api.connect(tmp_path / "s.db")
    installed = {*registry.added_names()}  # by whoever runs the tests
    assert set(dir(store)) - installed == set(USES) | OTHERS | {"url", "wait", "reader"}
    for name in ("reading", "writing", "opener"):
        with pytest.warns(
            DeprecationWarning, match=f"{name} of a warehouse is internal"
        ):
            assert getattr(store, name)
    with pytest.raises(AttributeError, match="no attribute 'leaderbord'"):
        store.leaderbord  # noqa: B018


@pytest.mark.parametrize("name", USES)
def test_keywords_and_defaults_are_those_of_what_answers(name: str) -> None:
    use = USES[name]
    method = {
        key: found.default
        for key, found in parameters(getattr(Warehouse, name)).items()
    }
    expected = answered_by(use)
    either = (
        ("benchmark", "group") if name == "leaderboard" else ()
    )  # None: the other one is meant
    assert set(method) - set(use.own) == set(expected)
    for key in set(expected) - set(either):
        without = (
            (),
            inspect.Parameter.empty,
        )  # any number of names, or a sequence of them
        assert method[key] == expected[key] or {method[key], expected[key]} == set(
            without
        ), key


@pytest.mark.parametrize("name", USES)
def test_keywords_and_defaults_are_those_of_the_command(name: str) -> None:
    use = USES[name]
    method = parameters(getattr(Warehouse, name))
    asked = list(defaults_of(use))
    assert sorted(key for key, _, _ in asked) == sorted(set(method) - set(use.silent))
    for key, value, text in asked:
        assert agree(method[key].default, value, text), key


@pytest.mark.parametrize("name", sorted({*USES, *OTHERS} - {"query", "writing"}))
def test_every_keyword_is_explained(name: str) -> None:
    method = getattr(Warehouse, name)
    text = inspect.getdoc(method) or ""
    documented = re.findall(
        r"^    (\w+): ", text.partition("Args:")[2].partition("\n\n")[0], re.MULTILINE
    )
    assert documented == list(parameters(method))
    assert "Raises:\n    " in text
    assert not any(
        found.annotation in ("Any", Any)
        and not (found.kind is found.VAR_KEYWORD and name in ("arrow", "query"))
        for found in parameters(method).values()
    )


def test_what_is_explained_here_only_is_here() -> None:
    texts = [
        path.read_text(encoding="utf-8") for path in (ROOT / "warehouse").rglob("*.py")
    ]
    named = {
        name
        for text in texts
        for name in re.findall(r":meth:`warehouse\.api\.Warehouse\.(\w+)`", text)
    }
    assert named
    assert named <= {*USES, *OTHERS}


def types_that_a_notebook_sees(store: Warehouse) -> None:
    """Read by the type checker: methods made from questions have their keywords and
    answers."""
    assert_type(store.compare("a", "b", level=0.9), Comparison)
    assert_type(store.gate("a", "b", 0.01), Gate)
    assert_type(store.leaderboard("exam"), Leaderboard)
    assert_type(store.leaderboard(group="exam", weights="prompts"), SuiteBoard)
    assert_type(store.leaderboard(seed=1), Leaderboards)
    assert_type(store.items("exam", irt="1pl"), ItemReport)
    assert_type(store.variance("exam"), VarianceReport)
    assert_type(store.duplicates("exam", "quiz", threshold=0.9), Duplicates)
    assert_type(store.duplicates(["exam", "quiz"]), Duplicates)
    assert_type(store.show("run:7"), RunView | PromptView | PromptRuns)
    assert_type(store.sequential_gate("a", "b", 0.01, n_max=9), SequentialGate)
    store.pairs("exam", levle=0.9)  # type: ignore[call-arg]  # refused


def test_type_checkers_are_told_of_the_questions_that_there_are() -> None:
    assert STUB.read_text(encoding="utf-8") == stub_text(), (
        "make it anew: python -m tests.support.method_stub"
    )


def test_a_file_of_the_face_can_be_read_in_one_go() -> None:
    files: Sequence[Path] = sorted(Path(warehouse.api.__file__).parent.glob("*.py"))
    assert len(files) > 5
    for path in files:
        assert len(path.read_text(encoding="utf-8").splitlines()) <= MOST_LINES, (
            path.name
        )


def test_the_face_loads_nothing_that_computes() -> None:
    code = (
        "import sys, warehouse.api; print(*(name for name in sys.modules if "
        "name.startswith('warehouse')))"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "warehouse.api.questions" in done.stdout
    # the fields of questions are the parameters of the methods; with their folders
    without = {f"warehouse.{name}" for name in ("analysis", "refresh")}
    loaded = done.stdout.split()
    questions = [name for name in loaded if name.endswith(".question")]
    without |= {*questions, *(name.rpartition(".")[0] for name in questions)}
    rest = "\n".join(name for name in loaded if name not in without)
    assert not re.search(
        r"warehouse\.(analysis|stats|refresh|report|ingest|embeddings)", rest
    )
