"""The table of commands: section, module, one sentence, and an example that can be
pasted.

`warehouse --help` is made from this table and from that of the questions alone
(`warehouse.questions.registry`); a command's module is imported when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

from warehouse.questions.registry import ADDED, ENTRIES, added, added_names

#: What people need every day, first in the help.
EVERYDAY = (
    "ingest",
    "leaderboard",
    "compare",
    "gate",
    "power",
    "show",
    "report",
    "serve",
    "query",
    "shell",
)
SECTIONS = {
    "store": "The store itself",
    "ingest": "What goes into it",
    "look": "What it says",
    "inference": "What it proves, and what it would take",
    "items": "What prompts tell, alone and together",
    "text": "What prompts ask, and which belong together",
    "time": "What changes",
    ADDED: "What packages of others answer",
}


@dataclass(frozen=True)
class CommandEntry:
    """One command."""

    name: str  #: that of a subcommand has a blank (``db upgrade``).
    section: str
    module: str  #: of its function; empty where it asks a question and does nothing else (`cli/ask.py`).
    sentence: str
    examples: tuple[str, ...]


#: By section: name, module, sentence, examples.
_COMMANDS: dict[str, tuple[tuple[str, ...], ...]] = {
    "store": (
        ("init", "store", "Create an empty store, also beside tables of others.",
         "warehouse --db duckdb:///evals.duckdb init"),
        ("db", "store", "Move the store's schema between versions, and check the store.", "warehouse db check"),
        ("db upgrade", "store", "Bring the schema to the newest version.", "warehouse db upgrade"),
        ("db downgrade", "store", "Take the schema down to an older version.", "warehouse db downgrade base --yes"),
        ("db current", "store", "Show the store's schema version and the program's.", "warehouse db current"),
        ("db check", "store", "Prove that schema and facts are what they should be.",
         "warehouse db check", "warehouse db check --json"),
        ("db vacuum", "store", "Remove prompts and texts that nothing holds.", "warehouse db vacuum"),
        ("db reader", "store", "Make a role of the server that can only read the store.",
         "warehouse --db postgresql://owner@db/evals db reader"),
        ("publish", "store", "Make a read-only copy that readers can keep open.",
         "warehouse publish published.db", "warehouse publish published.db --after ingest,refresh"),
        ("serve", "serve", "Show the store in the browser: pages that follow it, read-only.",
         "warehouse serve --open", "warehouse --db postgresql://reader@db/evals serve --port 8321",
         "warehouse serve --host 0.0.0.0 --token-file token.txt"),
        ("config", "schedule", "Show which settings hold and where they come from.", "warehouse config"),
        ("completion", "store", "Print what a shell needs to complete commands.", "warehouse completion bash"),
        ("export", "store", "Write the store as Parquet, or runs as Every Eval Ever.",
         "warehouse export --parquet out/", "warehouse export --format every-eval-ever out/",
         "warehouse export --format inspect logs/"),
        ("lake", "lake", "Keep the store as Delta tables, for engines beyond one machine.",
         "warehouse lake sync /shared/lake"),
        ("lake sync", "lake", "Bring a lake up to what the store holds.",
         "warehouse lake sync /shared/lake", "warehouse --db published.db lake sync s3://team/evals"),
        ("lake check", "lake", "Hold a lake against the store, row by row.", "warehouse lake check /shared/lake"),
        ("lake versions", "lake", "List the versions of a lake that can be asked.",
         "warehouse lake versions /shared/lake"),
        ("lake vacuum", "lake", "Remove old versions of a lake, and join small files.",
         "warehouse lake vacuum /shared/lake", "warehouse lake vacuum /shared/lake --older-than 4w"),
        ("help", "help", "Explain a command, a word, or the forms of output.",
         "warehouse help rank-set", "warehouse help output", "warehouse help gate"),
    ),
    "ingest": (
        ("ingest", "ingest", "Read dumps into the store.",
         "warehouse ingest path/to/lm_eval_output",
         "warehouse ingest results/ --map mapping.toml --set temperature=0.7",
         "warehouse ingest results/ --map eval_arena", "warehouse ingest results/ --watch --publish published.db",
         "warehouse ingest hf://datasets/org/results/model-a",
         "warehouse ingest results/ --on sc://spark.example.org:15002 --lake /shared/lake"),
        ("mapping", "ingest", "Begin a mapping from a table; list those that are shipped.",
         "warehouse mapping results.csv -o mapping.toml", "warehouse mapping --list",
         "warehouse mapping mmlu_pro -o mapping.toml"),
        ("sources", "catalogue", "List what was ingested, or show one source.",
         "warehouse sources", "warehouse sources 3"),
        ("forget", "catalogue", "Remove a source and what only it holds.", "warehouse forget 3"),
        ("invalidate", "catalogue", "Take a run out of every view; it stays stored.",
         'warehouse invalidate run:7 --reason "wrong prompt template"'),
        ("link", "catalogue", "Join equal prompts of two benchmarks or harnesses.",
         "warehouse link gsm8k_cot gsm8k", "warehouse link gsm8k gsm8k"),
        ("prices", "catalogue", "List or store what tokens cost, for runs that only count them.",
         "warehouse prices prices.csv", "warehouse prices --json"),
        ("models", "catalogue", "List models; give two names of one model a common one.", "warehouse models"),
        ("models alias", "catalogue", "Show a model under another model's name.",
         "warehouse models alias llama3-8b meta-llama/Meta-Llama-3-8B"),
        ("models unalias", "catalogue", "Show a model under its own name again.", "warehouse models unalias llama3-8b"),
        ("benchmarks", "catalogue", "List benchmarks, alias them, say what counts.",
         "warehouse benchmarks", "warehouse benchmarks gsm8k --metric exact_match,strict-match"),
        ("benchmarks metrics", "catalogue", "List or choose what a benchmark goes by.",
         "warehouse benchmarks metrics gsm8k", "warehouse benchmarks metrics gsm8k --metric exact_match,strict-match",
         "warehouse benchmarks metrics wikitext --metric perplexity --lower-is-better",
         "warehouse benchmarks metrics essays --metric rating --bounds 0 100"),
        ("benchmarks settings", "catalogue", "List settings that tell runs apart; say which do not matter.",
         "warehouse benchmarks settings gsm8k", "warehouse benchmarks settings gsm8k --ignore note --reason 'a remark'",
         "warehouse benchmarks settings --count note"),
        ("benchmarks alias", "catalogue", "Show a benchmark under another one's name.",
         "warehouse benchmarks alias gsm8k_main gsm8k"),
        ("benchmarks unalias", "catalogue", "Show a benchmark under its own name again.",
         "warehouse benchmarks unalias gsm8k_main"),
        ("runs", "catalogue", "List runs; tag them or write a note to them.",
         "warehouse runs --where benchmark=gsm8k", "warehouse runs run:7 --tag paper --note 'final checkpoint'"),
    ),
    "look": (
        ("report", "report", "Write all results as one page that needs no network.",
         "warehouse report", "warehouse report gsm8k --out gsm8k.html", "warehouse report --split --out results"),
        ("claim", "claim", "Write a figure down so that others can check it.",
         'warehouse claim "leaderboard gsm8k" -o claim.json',
         'warehouse claim "compare model-a model-b -b gsm8k" -o claim.json'),
        ("claim verify", "claim", "Recompute a claim, and say what differs.",
         "warehouse claim verify claim.json", "warehouse claim verify claim.json --from results/"),
        ("query", "query", "Run a view, a library query or one SELECT of your own.",
         "warehouse query", "warehouse query score_summary --json",
         'warehouse query --sql "select model, estimate from score_summary"', "warehouse query --sql - --jsonl"),
        ("mcp", "mcp", "Answer what agents ask over the Model Context Protocol.", "warehouse --db evals.db mcp"),
        ("shell", "query", "Type SELECT statements; nothing can be changed.", "warehouse shell"),
    ),
    "text": (
        ("cluster by", "text", "Group a benchmark's prompts by fields of theirs.",
         "warehouse cluster by squad passage --default"),
        ("cluster show", "text", "List clusterings: how many clusters, and how large.",
         "warehouse cluster show", "warehouse cluster show gsm8k"),
    ),
    "time": (
        ("refresh", "refresh", "Recompute stored figures that are out of date.",
         "warehouse refresh --baseline model-a", "warehouse refresh --dry-run",
         "warehouse refresh gsm8k --family matrix --prune-older-than 90d", "warehouse refresh --lake /shared/lake"),
        ("schedule", "schedule", "Ingest, refresh and report at the times you say.",
         'warehouse schedule --cron "0 * * * *" --watch results/ --report report.html',
         'warehouse schedule --cron "30 6 * * mon-fri" --timezone Europe/Berlin '
         '--show-next 5',
         "warehouse schedule --once --watch results/"),
    ),
}  # fmt: skip

#: Former names of commands, which go on working unseen: module and function, and
#: today's name.
FORMER = {"cluster-semantic": ("text", "former_text", "cluster text")}
#: Modules of the commands that ask a question and have options beside it: a part of the
#: answer, a file, a switch.
_MODULES = {
    "anchors": ("anchors",),
    "audit": ("audit",),
    "card": ("card",),
    "compare": ("compare",),
    "curves": ("curves",),
    "datamap": ("datamap",),
    "flash": ("flash",),
    "formulations": ("formulations",),
    "frontier": ("frontier",),
    "gate": ("gate",),
    "horizon": ("horizon",),
    "irt": ("irt", "irt ability", "irt dimensions", "irt fit", "irt next", "irt scale"),
    "items": ("items",),
    "judge": ("judge", "judge agreement", "judge next", "judge plan"),
    "leaderboard": ("leaderboard",),
    "matrix": (
        "matrix",
        "matrix cluster",
        "matrix explain",
        "matrix grow",
        "matrix test",
        "matrix weights",
    ),
    "pairs": ("pairs",),
    "power": ("power",),
    "prefer": ("prefer",),
    "refresh": ("history",),
    "reliability": ("reliability",),
    "show": ("show",),
    "subset": (
        "subset",
        "subset export",
        "subset extend",
        "subset import",
        "subset plan",
    ),
    "text": ("cluster", "cluster text", "duplicates", "embed"),
    "variance": ("variance",),
}


def _table() -> dict[str, CommandEntry]:
    """Every command by name, in the order of the help: in each section first what is
    asked."""
    module_of = {name: module for module, names in _MODULES.items() for name in names}
    entries: dict[str, CommandEntry] = {}
    for section in SECTIONS:
        for entry in ENTRIES.values():
            if entry.section == section:
                module = module_of.get(entry.name, "")
                entries[entry.name] = CommandEntry(
                    entry.name, section, module, entry.sentence, entry.examples
                )
        for name, module, sentence, *examples in _COMMANDS.get(section, ()):
            entries[name] = CommandEntry(
                name, section, module, sentence, tuple(examples)
            )
    return entries


#: Every command of this package by name, in the order of the help.
COMMANDS = _table()


def all_names() -> list[str]:
    """Names of all commands, with those of the questions of other packages."""
    return [
        *COMMANDS,
        *(
            name
            for name in added_names()
            if name not in COMMANDS and name not in FORMER
        ),
    ]


def entry_of(name: str) -> CommandEntry | None:
    """A command by name; None where there is none.

    Raises:
        WarehouseError: it asks a question of another package that does not load.
    """
    if name in COMMANDS:
        return COMMANDS[name]
    found = None
    if name not in FORMER:
        found = added(name)
    if found:
        return CommandEntry(name, found.section, "", found.sentence, found.examples)
    return None
