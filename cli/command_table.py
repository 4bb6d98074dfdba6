"""The table of commands: section, module, one sentence, and an example that can be pasted.

`warehouse --help` is made from this table alone; a command's module is imported when it runs.
"""

from __future__ import annotations

from dataclasses import dataclass

#: What people need every day, first in the help.
EVERYDAY = ("ingest", "leaderboard", "compare", "gate", "power", "show", "report", "serve", "query", "shell")
SECTIONS = {
    "store": "The store itself",
    "ingest": "What goes into it",
    "look": "What it says",
    "inference": "What it proves, and what it would take",
    "items": "What prompts tell, alone and together",
    "text": "What prompts ask, and which belong together",
    "time": "What changes",
}


@dataclass(frozen=True)
class CommandEntry:
    """One command. ``name`` of a subcommand has a blank (``db upgrade``)."""

    name: str
    section: str
    module: str
    sentence: str
    examples: tuple[str, ...]


_STORE = (
    CommandEntry("init", "store", "store", "Create an empty store, also beside tables of others.", (
        "warehouse --db duckdb:///evals.duckdb init",
    )),
    CommandEntry("db", "store", "store", "Move the store's schema between versions, and check the store.", (
        "warehouse db check",
    )),
    CommandEntry("db upgrade", "store", "store", "Bring the schema to the newest version.", (
        "warehouse db upgrade",
    )),
    CommandEntry("db downgrade", "store", "store", "Take the schema down to an older version.", (
        "warehouse db downgrade base --yes",
    )),
    CommandEntry("db current", "store", "store", "Show the store's schema version and the program's.", (
        "warehouse db current",
    )),
    CommandEntry("db check", "store", "store", "Prove that schema and facts are what they should be.", (
        "warehouse db check",
        "warehouse db check --json",
    )),
    CommandEntry("db vacuum", "store", "store", "Remove prompts and texts that nothing holds.", (
        "warehouse db vacuum",
    )),
    CommandEntry("db reader", "store", "store", "Make a role of the server that can only read the store.", (
        "warehouse --db postgresql://owner@db/evals db reader",
    )),
    CommandEntry("publish", "store", "store", "Make a read-only copy that readers can keep open.", (
        "warehouse publish published.db",
        "warehouse publish published.db --after ingest,refresh",
    )),
    CommandEntry("serve", "store", "serve", "Show the store in the browser: pages that follow it, read-only.", (
        "warehouse serve --open",
        "warehouse --db postgresql://reader@db/evals serve --port 8321",
        "warehouse serve --host 0.0.0.0 --token-file token.txt",
    )),
    CommandEntry("config", "store", "schedule", "Show which settings hold and where they come from.", (
        "warehouse config",
    )),
    CommandEntry("completion", "store", "store", "Print what a shell needs to complete commands.", (
        "warehouse completion bash",
    )),
    CommandEntry("export", "store", "store", "Write the store as Parquet, or runs as Every Eval Ever.", (
        "warehouse export --parquet out/",
        "warehouse export --format every-eval-ever out/",
        "warehouse export --format inspect logs/",
    )),
    CommandEntry("lake", "store", "lake", "Keep the store as Delta tables, for engines beyond one machine.", (
        "warehouse lake sync /shared/lake",
    )),
    CommandEntry("lake sync", "store", "lake", "Bring a lake up to what the store holds.", (
        "warehouse lake sync /shared/lake",
        "warehouse --db published.db lake sync s3://team/evals",
    )),
    CommandEntry("lake check", "store", "lake", "Hold a lake against the store, row by row.", (
        "warehouse lake check /shared/lake",
    )),
    CommandEntry("lake versions", "store", "lake", "List the versions of a lake that can be asked.", (
        "warehouse lake versions /shared/lake",
    )),
    CommandEntry("lake vacuum", "store", "lake", "Remove old versions of a lake, and join small files.", (
        "warehouse lake vacuum /shared/lake",
        "warehouse lake vacuum /shared/lake --older-than 4w",
    )),
)  # fmt: skip

_HELP = CommandEntry("help", "store", "help", "Explain a command, a word, or the forms of output.", (
    "warehouse help rank-set",
    "warehouse help output",
    "warehouse help gate",
))  # fmt: skip

_INGEST = (
    CommandEntry("ingest", "ingest", "ingest", "Read dumps into the store.", (
        "warehouse ingest path/to/lm_eval_output",
        "warehouse ingest results/ --map mapping.toml --set temperature=0.7",
        "warehouse ingest results/ --map eval_arena",
        "warehouse ingest results/ --watch --publish published.db",
        "warehouse ingest hf://datasets/org/results/model-a",
        "warehouse ingest results/ --on sc://spark.example.org:15002 --lake /shared/lake",
    )),
    CommandEntry("mapping", "ingest", "ingest", "Begin a mapping from a table; list those that are shipped.", (
        "warehouse mapping results.csv -o mapping.toml",
        "warehouse mapping --list",
        "warehouse mapping mmlu_pro -o mapping.toml",
    )),
    CommandEntry("sources", "ingest", "catalogue", "List what was ingested, or show one source.", (
        "warehouse sources",
        "warehouse sources 3",
    )),
    CommandEntry("forget", "ingest", "catalogue", "Remove a source and what only it holds.", (
        "warehouse forget 3",
    )),
    CommandEntry("invalidate", "ingest", "catalogue", "Take a run out of every view; it stays stored.", (
        'warehouse invalidate run:7 --reason "wrong prompt template"',
    )),
    CommandEntry("link", "ingest", "catalogue", "Join equal prompts of two benchmarks or harnesses.", (
        "warehouse link gsm8k_cot gsm8k",
        "warehouse link gsm8k gsm8k --by id",
    )),
    CommandEntry("prices", "ingest", "catalogue", "List or store what tokens cost, for runs that only count them.", (
        "warehouse prices prices.csv",
        "warehouse prices --json",
    )),
    CommandEntry("models", "ingest", "catalogue", "List models; give two names of one model a common one.", (
        "warehouse models",
    )),
    CommandEntry("models alias", "ingest", "catalogue", "Show a model under another model's name.", (
        "warehouse models alias llama3-8b meta-llama/Meta-Llama-3-8B",
    )),
    CommandEntry("models unalias", "ingest", "catalogue", "Show a model under its own name again.", (
        "warehouse models unalias llama3-8b",
    )),
    CommandEntry("benchmarks", "ingest", "catalogue", "List benchmarks, alias them, say what counts.", (
        "warehouse benchmarks",
        "warehouse benchmarks gsm8k --metric exact_match,strict-match",
    )),
    CommandEntry("benchmarks metrics", "ingest", "catalogue", "List or choose what a benchmark goes by.", (
        "warehouse benchmarks metrics gsm8k",
        "warehouse benchmarks metrics gsm8k --metric exact_match,strict-match",
        "warehouse benchmarks metrics wikitext --metric perplexity --lower-is-better",
        "warehouse benchmarks metrics essays --metric rating --bounds 0 100",
    )),
    CommandEntry("benchmarks alias", "ingest", "catalogue", "Show a benchmark under another one's name.", (
        "warehouse benchmarks alias gsm8k_main gsm8k",
    )),
    CommandEntry("benchmarks unalias", "ingest", "catalogue", "Show a benchmark under its own name again.", (
        "warehouse benchmarks unalias gsm8k_main",
    )),
    CommandEntry("runs", "ingest", "catalogue", "List runs; tag them or write a note to them.", (
        "warehouse runs --where benchmark=gsm8k",
        "warehouse runs run:7 --tag paper --note 'final checkpoint'",
    )),
)  # fmt: skip

_LOOK = (
    CommandEntry("leaderboard", "look", "leaderboard", "Rank models on a benchmark or suite.", (
        "warehouse leaderboard gsm8k",
        "warehouse leaderboard gsm8k --where temperature=0.7 --json",
        "warehouse leaderboard --group mmlu --weights prompts",
    )),
    CommandEntry("compare", "look", "compare", "Compare two models on the prompts they share.", (
        "warehouse compare model-a model-b --benchmark gsm8k",
        "warehouse compare model-a model-b --equivalence 0.02",
        "warehouse compare model-a model-b --benchmark gsm8k --flips 20",
    )),
    CommandEntry("frontier", "look", "pairs", "Hold scores against costs: who is beaten in both.", (
        "warehouse frontier gsm8k",
        "warehouse frontier gsm8k --cost tokens --svg frontier.svg",
        "warehouse frontier gsm8k --prices prices.csv --margin 0.02 --cheaper 2",
    )),
    CommandEntry("show", "look", "show", "Show a run, or one prompt of it with every response.", (
        "warehouse show run:7",
        "warehouse show run:7 12",
    )),
    CommandEntry("report", "look", "report", "Write all results as one page that needs no network.", (
        "warehouse report",
        "warehouse report gsm8k --out gsm8k.html",
        "warehouse report --split --out results",
    )),
    CommandEntry("card", "look", "card", "Write down every figure of a model, for people and for hubs.", (
        "warehouse card model-a",
        "warehouse card model-a --against model-b --out card.md",
        "warehouse card model-a --format hf",
    )),
    CommandEntry("claim", "look", "claim", "Write a figure down so that others can check it.", (
        'warehouse claim "leaderboard gsm8k" -o claim.json',
        'warehouse claim "compare model-a model-b -b gsm8k" -o claim.json',
    )),
    CommandEntry("claim verify", "look", "claim", "Recompute a claim, and say what differs.", (
        "warehouse claim verify claim.json",
        "warehouse claim verify claim.json --from results/",
    )),
    CommandEntry("query", "look", "query", "Run a view, a library query or one SELECT of your own.", (
        "warehouse query",
        "warehouse query score_summary --json",
        'warehouse query --sql "select model, estimate from score_summary"',
        "warehouse query --sql - --jsonl",
    )),
    CommandEntry("mcp", "look", "mcp", "Answer what agents ask over the Model Context Protocol.", (
        "warehouse --db evals.db mcp",
    )),
    CommandEntry("shell", "look", "query", "Type SELECT statements; nothing can be changed.", (
        "warehouse shell",
    )),
)  # fmt: skip

_INFERENCE = (
    CommandEntry("pairs", "inference", "pairs", "Compare all models of a benchmark, pair by pair.", (
        "warehouse pairs gsm8k",
        "warehouse pairs gsm8k --matrix",
    )),
    CommandEntry("prefer", "inference", "prefer", "Tell which models are preferred, by votes on pairs.", (
        "warehouse prefer arena",
        "warehouse prefer arena model-a model-b --scorer people",
        "warehouse prefer arena --by scorer --svg arena.svg",
        "warehouse prefer arena --covariate length --ties davidson --json",
    )),
    CommandEntry("variance", "inference", "variance", "Split a run's variance: prompts, draws; pass@k.", (
        "warehouse variance gsm8k",
        "warehouse variance run:7 --pass-at 1,5,10 --pass-hat 2",
        "warehouse variance model-a --benchmark gsm8k --seeds",
    )),
    CommandEntry("templates", "inference", "variance", "What the wording of prompts adds to a score's error.", (
        "warehouse templates mmlu",
        "warehouse templates mmlu --factor fewshot --random templates --se 0.01",
    )),
    CommandEntry("formulations", "inference", "pairs", "Whether two formulations of a benchmark rank models alike.", (
        "warehouse formulations mmlu mmlu_cloze",
        "warehouse formulations gsm8k gsm8k --first-where fewshot=0 --second-where fewshot=5",
        "warehouse formulations mmlu mmlu_cloze --crossings --json",
    )),
    CommandEntry("horizon", "inference", "horizon", "How long tasks may be for a model to do them.", (
        "warehouse horizon metr_horizon",
        "warehouse horizon metr_horizon --q 0.5,0.8 --trend --svg horizon.svg",
        "warehouse horizon metr_horizon --interval fieller --json",
    )),
    CommandEntry("seeds", "inference", "seeds", "What another training seed would have given: noise floors.", (
        "warehouse seeds",
        "warehouse seeds lambada_openai --average 4",
    )),
    CommandEntry("curves", "inference", "curves", "Tell where curves of training rise, fall and cross.", (
        "warehouse curves arc_easy",
        "warehouse curves arc_easy mix-a mix-b --chance 0.25",
    )),
    CommandEntry("decide", "inference", "seeds", "Tell whether two recipes differ by more than seeds do.", (
        "warehouse decide mix-a mix-b",
        "warehouse decide mix-a@step=2000 mix-b@step=2000 --benchmark arc_easy",
    )),
    CommandEntry("recipes", "inference", "seeds", "Find benchmarks that can decide between recipes.", (
        "warehouse recipes --small parameter_count=411616256 --large parameter_count=6889410560",
        "warehouse recipes arc_easy --delta 0.02 --run-cost 107 --budget 1000",
    )),
    CommandEntry("reliability", "inference", "reliability", "How far a suite's verdicts hang on its prompts.", (
        "warehouse reliability mmlu",
        "warehouse reliability mmlu_pro --scenarios category",
        "warehouse reliability mmlu --part models --csv",
    )),
    CommandEntry("flash", "inference", "flash", "Rank a model with as few prompts as its place needs.", (
        "warehouse flash mmlu",
        "warehouse flash mmlu --model model-a",
        "warehouse flash mmlu --model my/model --new --ids",
    )),
    CommandEntry("power", "inference", "power", "Plan a comparison: prompts, draws, what can be found.", (
        "warehouse power --delta 0.03 --omega2 0.111 --sigma2-a 0.167",
        "warehouse power --from model-a model-b --benchmark gsm8k --delta 0.02",
    )),
    CommandEntry("gate", "inference", "gate", "Decide whether a candidate is no worse than a baseline.", (
        "warehouse gate candidate baseline --margin 0.01",
        "warehouse gate --candidate model-b --baseline model-a -b gsm8k --margin 0.02 --markdown",
        "warehouse gate candidate baseline -b gsm8k --margin 0.02 --sequential --n-max 800",
        "warehouse gate candidate baseline --margin 0.02 --sequential --follow logs/running.eval",
    )),
    CommandEntry("subset", "inference", "subset", "Ask a part of a benchmark in place of all of it.", (
        "warehouse subset plan gsm8k --size 200 --out plan.json",
        "warehouse subset export plan.json --to lm-eval",
    )),
    CommandEntry("subset plan", "inference", "subset", "Draw the prompts to ask, before a model is asked.", (
        "warehouse subset plan gsm8k --size 200 --out plan.json",
        "warehouse subset plan mmlu --width 0.04 --against model-a",
    )),
    CommandEntry("subset export", "inference", "subset", "Write planned prompts as a harness takes them.", (
        "warehouse subset export plan.json --to lm-eval",
        "warehouse subset export plan.json --to inspect --out ids.txt",
    )),
    CommandEntry("subset import", "inference", "subset", "Take in a plan that was made in another warehouse.", (
        "warehouse subset import plan.json",
    )),
    CommandEntry("subset extend", "inference", "subset", "Add the next prompts to a plan that has no results.", (
        "warehouse subset extend plan.json --size 300 --out more.json",
    )),
)  # fmt: skip

_ITEMS = (
    CommandEntry("items", "items", "items", "How hard prompts are, and which go against the rest.", (
        "warehouse items gsm8k",
        "warehouse items gsm8k --irt 2pl --csv",
        "warehouse items gsm8k --pruning",
        "warehouse items gsm8k --features --by length,metadata.subject",
    )),
    CommandEntry("judge", "items", "judge", "Hold a judge against people; say what their labels correct.", (
        "warehouse judge essays --judge gpt --human people",
        "warehouse judge plan essays --judge gpt --human people --width 0.1",
        "warehouse judge next essays --judge gpt --n 50 --out sheet.csv",
    )),
    CommandEntry("judge agreement", "items", "judge", "Agreement, bias, and what people would say on average.", (
        "warehouse judge agreement essays --judge gpt --human people",
        "warehouse judge agreement essays model-a model-b --judge gpt --svg judge.svg",
        "warehouse judge agreement essays --judge gpt --rogan-gladen pilot --transportable",
    )),
    CommandEntry("judge plan", "items", "judge", "Say how many labels of people a corrected figure takes.", (
        "warehouse judge plan essays --judge gpt --correlation 0.6 --width 0.1",
        "warehouse judge plan essays model-a model-b --judge gpt --human people --difference 0.05",
    )),
    CommandEntry("judge next", "items", "judge", "Draw the answers that people label next, by known chance.", (
        "warehouse judge next essays --judge gpt --n 50 --seed 1 --out sheet.csv",
        "warehouse judge next essays --judge gpt --n 50 --dry-run",
    )),
    CommandEntry("irt", "items", "irt", "Fit item response models; one scale for all models.", (
        "warehouse irt fit gsm8k",
        "warehouse irt ability gsm8k math",
    )),
    CommandEntry("irt fit", "items", "irt", "Fit prompts: how hard, how telling, which do not fit.", (
        "warehouse irt fit gsm8k",
        "warehouse irt fit mmlu --model 1pl --family developer --csv",
    )),
    CommandEntry("irt ability", "items", "irt", "Put models on one scale over several benchmarks.", (
        "warehouse irt ability gsm8k math",
        "warehouse irt ability gsm8k math --sensitivity",
    )),
    CommandEntry("irt scale", "items", "irt", "Put models on one scale by published figures, without samples.", (
        "warehouse irt scale benchmark_stitching",
        "warehouse irt scale gsm8k math mmlu --reference model-a",
        "warehouse irt scale benchmark_stitching --predict o3-2025-04-16_high --json",
    )),
    CommandEntry("irt next", "items", "irt", "Choose the prompts that tell most of a model.", (
        "warehouse irt next model-a gsm8k -n 50",
        "warehouse irt next my/model gsm8k --new --ids",
    )),
    CommandEntry("irt dimensions", "items", "irt", "Tell how many abilities the answers show.", (
        "warehouse irt dimensions gsm8k",
        "warehouse irt dimensions gsm8k --try 1,2,3 --sizes 50",
    )),
    CommandEntry("anchors", "items", "flash", "Pick a few prompts for all; the error that costs.", (
        "warehouse anchors gsm8k",
        "warehouse anchors mmlu --sizes 100 --list --csv",
    )),
    CommandEntry("audit", "items", "audit", "Keys that are probably wrong, by what models answer.", (
        "warehouse audit mmlu_redux --strata subject",
        "warehouse audit mmlu_redux --effect --plan cleaned.json",
        "warehouse audit mmlu_redux --against verdicts.csv",
        "warehouse audit mmlu_redux --sample 200 --certain 50 --seed 3 --out judge.csv",
        "warehouse audit mmlu_redux --verdicts judge.csv",
    )),
    CommandEntry("datamap", "items", "datamap", "Map prompts by P(correct) and S(consistency).", (
        "warehouse datamap gpt-4 --benchmark cruxeval_output",
        "warehouse datamap run:7 --group text --suspects --csv",
    )),
)  # fmt: skip

_TEXT = (
    CommandEntry("embed", "text", "text", "Turn the text of prompts into vectors, where it is new.", (
        "warehouse embed gsm8k --embedder models/all-MiniLM-L6-v2",
        "warehouse embed --embedder sentence-transformers/all-MiniLM-L6-v2 --device cuda",
    )),
    CommandEntry("similar", "text", "text", "List the prompts nearest to a prompt or a text.", (
        "warehouse similar prompt:12",
        'warehouse similar "how many apples are left" --benchmark gsm8k',
    )),
    CommandEntry("duplicates", "text", "text", "List near-duplicates, and how alike models score them.", (
        "warehouse duplicates",
        "warehouse duplicates gsm8k gsm8k_cot --threshold 0.98",
    )),
    CommandEntry("cluster", "text", "text", "Group prompts that are not independent, for error bars.", (
        "warehouse cluster by squad passage --default",
        "warehouse cluster text gsm8k",
        "warehouse cluster show",
    )),
    CommandEntry("cluster by", "text", "text", "Group a benchmark's prompts by fields of theirs.", (
        "warehouse cluster by squad passage --default",
    )),
    CommandEntry("cluster text", "text", "text", "Group a benchmark's prompts by what they ask.", (
        "warehouse cluster text gsm8k",
        "warehouse cluster text gsm8k --threshold 0.9 --default",
    )),
    CommandEntry("cluster show", "text", "text", "List clusterings: how many clusters, and how large.", (
        "warehouse cluster show",
        "warehouse cluster show gsm8k",
    )),
)  # fmt: skip

_MATRIX = (
    CommandEntry("matrix", "items", "matrix", "Ask the matrix of scores, prompts × models.", (
        "warehouse matrix test gsm8k",
    )),
    CommandEntry("matrix test", "items", "matrix", "Test whether prompts are correlated beyond chance.", (
        "warehouse matrix test gsm8k",
        "warehouse matrix test gsm8k --similarity jaccard --permutations 200 --seed 7",
    )),
    CommandEntry("matrix cluster", "items", "matrix", "Cluster prompts that models find alike.", (
        "warehouse matrix cluster gsm8k",
        "warehouse matrix cluster gsm8k --clusters 2-8 --store alike --default",
    )),
    CommandEntry("matrix weights", "items", "matrix", "See ranks change as prompts weigh otherwise.", (
        "warehouse matrix weights gsm8k",
        "warehouse matrix weights gsm8k --part pairs",
    )),
    CommandEntry("matrix grow", "items", "matrix", "See scores settle as a benchmark grows.", (
        "warehouse matrix grow gsm8k",
    )),
    CommandEntry("matrix explain", "items", "matrix", "Test whether what prompts ask explains scores.", (
        "warehouse matrix explain gsm8k",
        "warehouse matrix explain gsm8k --part prompt --part metadata.reason",
    )),
)  # fmt: skip

_TIME = (
    CommandEntry("refresh", "time", "refresh", "Recompute stored figures that are out of date.", (
        "warehouse refresh --baseline model-a",
        "warehouse refresh --dry-run",
        "warehouse refresh gsm8k --family matrix --prune-older-than 90d",
        "warehouse refresh --lake /shared/lake",
    )),
    CommandEntry("history", "time", "refresh", "Show how stored figures have changed.", (
        "warehouse history model-a gsm8k",
        "warehouse history model-a gsm8k --statistic score --last 5",
        "warehouse history gsm8k",
        "warehouse history model-a",
    )),
    CommandEntry("schedule", "time", "schedule", "Ingest, refresh and report at the times you say.", (
        'warehouse schedule --cron "0 * * * *" --watch results/ --report report.html',
        'warehouse schedule --cron "30 6 * * mon-fri" --timezone Europe/Berlin --show-next 5',
        "warehouse schedule --once --watch results/",
    )),
)  # fmt: skip

#: Former names of commands, which go on working unseen: module and function, and today's name.
FORMER = {"cluster-semantic": ("text", "former_text", "cluster text")}
#: Every command by name, in the order of the help.
COMMANDS = {
    entry.name: entry for entry in (*_STORE, _HELP, *_INGEST, *_LOOK, *_INFERENCE, *_ITEMS, *_MATRIX, *_TEXT, *_TIME)
}
