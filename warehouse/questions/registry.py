"""Which questions there are: those of this package in one table, those of others by
their entry points.

The table is read for every help and every mistyped command, so it imports no question:
a module is loaded when its question is asked. A package of its own adds one as ``name =
"module:Class"`` under the entry points ``warehouse.questions``; it then has its
command, its method and all forms of output (``docs/reference/extending_questions.md``).
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache
from importlib import import_module
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from typing import TYPE_CHECKING

from warehouse.errors import WarehouseError

if TYPE_CHECKING:
    from warehouse.questions.question import Question

GROUP = "warehouse.questions"
#: Section of the help for questions of other packages.
ADDED = "added"


@dataclass(frozen=True)
class Entry:
    """A question as it is found, or the name that several share (``judge``), which asks
    nothing by itself."""

    name: str  #: of its command; a blank stands before the last word of one of several.
    section: str  #: of the help.
    #: its class, as ``module:Class``; empty for a name that several share.
    question: str
    sentence: str  #: what it answers.
    examples: tuple[str, ...]  #: command lines that can be pasted.


#: By section: name, ``folder:Class`` below ``warehouse.analysis`` (with a dot: whole),
#: sentence, examples.
_TABLE: dict[str, tuple[tuple[str, ...], ...]] = {
    "daily": (
        ("leaderboard", "suites:AnyLeaderboard", "Rank models on a benchmark or suite.",
         "warehouse leaderboard gsm8k", "warehouse leaderboard gsm8k --where temperature=0.7 --json",
         "warehouse leaderboard --group mmlu --weights prompts",
         "warehouse leaderboard mmlu_pro --by category --weights equal"),
        ("compare", "compare:Compare", "Compare two models on the prompts they share, beyond noise.",
         "warehouse compare model-a model-b --benchmark gsm8k",
         "warehouse compare model-a model-b --equivalence 0.02",
         "warehouse compare model-a model-b --benchmark gsm8k --flips 20",
         "warehouse compare model-a model-b --benchmark mgsm --by language"),
        ("pairs", "pairs:AllPairs", "Compare all models of a benchmark, pair by pair.",
         "warehouse pairs gsm8k", "warehouse pairs gsm8k --matrix"),
        ("gate", "gate:ReleaseGate", "Decide whether a candidate is no worse than a baseline.",
         "warehouse gate candidate baseline --margin 0.01",
         "warehouse gate --candidate model-b --baseline model-a -b gsm8k --margin 0.02 "
         "--markdown",
         "warehouse gate candidate baseline -b gsm8k --margin 0.02 --sequential "
         "--n-max 800",
         "warehouse gate candidate baseline -b mgsm --margin 0.02 --by language "
         "--no-slice-worse-than 0.05",
         "warehouse gate candidate baseline --margin 0.02 --sequential --follow logs/running.eval"),
        ("power", "power:PowerFromRuns", "Plan a comparison: prompts, draws, what can be found.",
         "warehouse power --delta 0.03 --omega2 0.111 --sigma2-a 0.167",
         "warehouse power --from model-a model-b --benchmark gsm8k --delta 0.02"),
        ("show", "show:Show", "Show a run, or one prompt of it with every response.",
         "warehouse show run:7", "warehouse show run:7 12"),
    ),
    "subjects": (
        ("training", "", "Over training: seeds, curves, which of two recipes is better.",
         "warehouse training seeds", "warehouse training decide mix-a mix-b"),
        ("training seeds", "seeds:Seeds", "What another training seed would have given: noise floors.",
         "warehouse training seeds", "warehouse training seeds lambada_openai --average 4"),
        ("training curves", "curves:Curves", "Tell where curves of training rise, fall and cross.",
         "warehouse training curves arc_easy", "warehouse training curves arc_easy mix-a mix-b --chance 0.25"),
        ("training decide", "decide:Decide", "Tell whether two recipes differ by more than seeds do.",
         "warehouse training decide mix-a mix-b",
         "warehouse training decide mix-a@step=2000 mix-b@step=2000 --benchmark arc_easy"),
        ("training recipes", "recipes:Recipes", "Find benchmarks that can decide between recipes.",
         "warehouse training recipes --small parameter_count=411616256 --large "
         "parameter_count=6889410560",
         "warehouse training recipes arc_easy --delta 0.02 --run-cost 107 --budget 1000"),
        ("noise", "", "Beside seeds, what moves a score: draws (pass@k), wordings.",
         "warehouse noise variance gsm8k", "warehouse noise templates mmlu"),
        ("noise variance", "variance:PassRates", "Split a run's variance: prompts, draws; pass@k.",
         "warehouse noise variance gsm8k", "warehouse noise variance run:7 --pass-at 1,5,10 --pass-hat 2",
         "warehouse noise variance model-a --benchmark gsm8k --seeds"),
        ("noise templates", "templates:Templates", "What the wording of prompts adds to a score's error.",
         "warehouse noise templates mmlu",
         "warehouse noise templates mmlu --factor fewshot --random templates --se 0.01"),
        ("noise total", "facets:TotalError", "A score's error that counts other templates, judges, backends.",
         "warehouse noise total mmlu --over template",
         "warehouse noise total mmlu --over template,judge --fixed order --half-width 0.02"),
        ("noise formulations", "formulations:Formulations",
         "Whether two formulations of a benchmark rank models alike.",
         "warehouse noise formulations mmlu mmlu_cloze",
         "warehouse noise formulations gsm8k gsm8k --first-where fewshot=0 --second-where "
         "fewshot=5",
         "warehouse noise formulations mmlu mmlu_cloze --crossings --json"),
        ("noise reliability", "reliability:Reliability", "How far a suite's verdicts hang on its prompts.",
         "warehouse noise reliability mmlu", "warehouse noise reliability mmlu_pro --scenarios category",
         "warehouse noise reliability mmlu --part models --csv"),
        ("subset", "", "Ask part of a benchmark: plans, anchors, a new model's place.",
         "warehouse subset plan gsm8k --size 200 --out plan.json", "warehouse subset export plan.json --to lm-eval"),
        ("subset plan", "subsets:PlanSubset", "Draw the prompts to ask, before a model is asked.",
         "warehouse subset plan gsm8k --size 200 --out plan.json",
         "warehouse subset plan mmlu --width 0.04 --against model-a"),
        ("subset export", "subsets:ExportSubset", "Write planned prompts as a harness takes them.",
         "warehouse subset export plan.json --to lm-eval",
         "warehouse subset export plan.json --to inspect --out ids.txt"),
        ("subset import", "subsets:ImportSubset", "Take in a plan that was made in another warehouse.",
         "warehouse subset import plan.json"),
        ("subset extend", "subsets:ExtendSubset", "Add the next prompts to a plan that has no results.",
         "warehouse subset extend plan.json --size 300 --out more.json"),
        ("subset anchors", "anchors:Anchors", "Pick a few prompts for all; the error that costs.",
         "warehouse subset anchors gsm8k", "warehouse subset anchors mmlu --sizes 100 --list --csv"),
        ("subset flash", "flash:Flash", "Rank a model with as few prompts as its place needs.",
         "warehouse subset flash mmlu", "warehouse subset flash mmlu --model model-a",
         "warehouse subset flash mmlu --model my/model --new --ids"),
        ("items", "", "Single prompts: how hard, keys that are wrong, where models vary.",
         "warehouse items difficulty gsm8k", "warehouse items audit mmlu_redux"),
        ("items difficulty", "items:Items", "How hard prompts are, and which go against the rest.",
         "warehouse items difficulty gsm8k", "warehouse items difficulty gsm8k --irt 2pl --csv",
         "warehouse items difficulty gsm8k --pruning",
         "warehouse items difficulty gsm8k --features --by length,metadata.subject"),
        ("items audit", "audit:Audit", "Keys that are probably wrong, by what models answer.",
         "warehouse items audit mmlu_redux --strata subject",
         "warehouse items audit mmlu_redux --effect --plan cleaned.json",
         "warehouse items audit mmlu_redux --against verdicts.csv",
         "warehouse items audit mmlu_redux --sample 200 --certain 50 --seed 3 --out "
         "judge.csv",
         "warehouse items audit mmlu_redux --verdicts judge.csv"),
        ("items datamap", "datamap:MapPrompts", "Map prompts by P(correct) and S(consistency).",
         "warehouse items datamap gpt-4 --benchmark cruxeval_output",
         "warehouse items datamap run:7 --group text --suspects --csv"),
        ("irt", "", "Fit item response models; one scale for all models.",
         "warehouse irt fit gsm8k", "warehouse irt ability gsm8k math"),
        ("irt fit", "irt:FitItems", "Fit prompts: how hard, how telling, which do not fit.",
         "warehouse irt fit gsm8k", "warehouse irt fit mmlu --model 1pl --family developer --csv"),
        ("irt ability", "irt:Abilities", "Put models on one scale over several benchmarks.",
         "warehouse irt ability gsm8k math", "warehouse irt ability gsm8k math --sensitivity"),
        ("irt scale", "irt:PublishedScale", "Put models on one scale by published figures, without samples.",
         "warehouse irt scale benchmark_stitching", "warehouse irt scale gsm8k math mmlu --reference model-a",
         "warehouse irt scale benchmark_stitching --predict o3-2025-04-16_high --json"),
        ("irt complete", "irt:PublishedCompletion", "Say what would be expected where a model was not run.",
         "warehouse irt complete benchmark_stitching --model o3-2025-04-16_high",
         "warehouse irt complete benchmark_stitching --model o3-2025-04-16_high --benchmark 'GPQA diamond'"),
        ("irt next", "irt:NextItems", "Choose the prompts that tell most of a model.",
         "warehouse irt next model-a gsm8k -n 50", "warehouse irt next my/model gsm8k --new --ids"),
        ("irt dimensions", "irt:Dimensions", "Tell how many abilities the answers show.",
         "warehouse irt dimensions gsm8k", "warehouse irt dimensions gsm8k --try 1,2,3 --sizes 50"),
        ("matrix", "", "All scores, prompts × models: tests, clusters, weights.",
         "warehouse matrix test gsm8k"),
        ("matrix test", "matrix:CorrelationTest", "Test whether prompts are correlated beyond chance.",
         "warehouse matrix test gsm8k",
         "warehouse matrix test gsm8k --similarity jaccard --permutations 200 --seed 7"),
        ("matrix cluster", "matrix:ClusterMatrix", "Cluster prompts that models find alike.",
         "warehouse matrix cluster gsm8k", "warehouse matrix cluster gsm8k --clusters 2-8 --store alike --default"),
        ("matrix weights", "matrix:WeightMatrix", "See ranks change as prompts weigh otherwise.",
         "warehouse matrix weights gsm8k", "warehouse matrix weights gsm8k --part pairs"),
        ("matrix grow", "matrix:GrowMatrix", "See scores settle as a benchmark grows.",
         "warehouse matrix grow gsm8k"),
        ("matrix explain", "matrix:ExplainMatrix", "Test whether what prompts ask explains scores.",
         "warehouse matrix explain gsm8k", "warehouse matrix explain gsm8k --part prompt --part metadata.reason"),
        ("judge", "", "Hold a judge against people; say what their labels correct.",
         "warehouse judge agreement essays --judge gpt --human people",
         "warehouse judge plan essays --judge gpt --human people --width 0.1",
         "warehouse judge next essays --judge gpt --n 50 --out sheet.csv"),
        ("judge agreement", "judge:HeldAgainstPeople", "Agreement, bias, and what people would say on average.",
         "warehouse judge agreement essays --judge gpt --human people",
         "warehouse judge agreement essays model-a model-b --judge gpt --svg judge.svg",
         "warehouse judge agreement essays --judge gpt --rogan-gladen pilot --transportable"),
        ("judge plan", "judge:PlanLabels", "Say how many labels of people a corrected figure takes.",
         "warehouse judge plan essays --judge gpt --correlation 0.6 --width 0.1",
         "warehouse judge plan essays model-a model-b --judge gpt --human people --difference 0.05"),
        ("judge next", "judge:NextLabels", "Draw the answers that people label next, by known chance.",
         "warehouse judge next essays --judge gpt --n 50 --seed 1 --out sheet.csv",
         "warehouse judge next essays --judge gpt --n 50 --dry-run"),
        ("answers", "answers:AnswerMetrics", "F1, kappa, MCC, confusions, R2: answers against targets.",
         "warehouse answers boolq", "warehouse answers boolq model-a", "warehouse answers boolq model-a model-b",
         "warehouse answers boolq --class yes --metric f1,recall --json"),
        ("prefer", "prefer:Prefer", "Tell which models are preferred, by votes on pairs.",
         "warehouse prefer arena", "warehouse prefer arena model-a model-b --scorer people",
         "warehouse prefer arena --by scorer --svg arena.svg",
         "warehouse prefer arena --covariate length --ties davidson --json"),
        ("frontier", "frontier:Frontier", "Hold scores against costs: who is beaten in both.",
         "warehouse frontier gsm8k", "warehouse frontier gsm8k --cost tokens --svg frontier.svg",
         "warehouse frontier gsm8k --prices prices.csv --margin 0.02 --cheaper 2"),
        ("horizon", "horizon:TimeHorizon", "How long tasks may be for a model to do them.",
         "warehouse horizon metr_horizon", "warehouse horizon metr_horizon --q 0.5,0.8 --trend --svg horizon.svg",
         "warehouse horizon metr_horizon --interval fieller --json"),
        ("text", "", "What is said and asked: search, similar prompts, clusters.",
         "warehouse text grep 'cannot help'", "warehouse text similar prompt:12", "warehouse text cluster gsm8k"),
        ("text grep", "grep:Grep", "Search prompts, responses and calls of tools; by model.",
         "warehouse text grep 'I (cannot|can.t) help' -i",
         "warehouse text grep 'No such file' --in tool-result --tool bash",
         "warehouse text grep -w Paris --role user -b gsm8k --count"),
        ("text embed", "text:EmbedPrompts", "Turn the text of prompts into vectors, where it is new.",
         "warehouse text embed gsm8k --embedder models/all-MiniLM-L6-v2",
         "warehouse text embed --embedder sentence-transformers/all-MiniLM-L6-v2 --device cuda"),
        ("text similar", "text:FindSimilar", "List the prompts nearest to a prompt or a text.",
         "warehouse text similar prompt:12", 'warehouse text similar "how many apples are left" --benchmark gsm8k'),
        ("text duplicates", "text:FindDuplicates", "List near-duplicates, and how alike models score them.",
         "warehouse text duplicates", "warehouse text duplicates gsm8k gsm8k_cot --threshold 0.98"),
        ("text cluster", "text:ClusterByText", "Group a benchmark's prompts by what they ask.",
         "warehouse text cluster gsm8k", "warehouse text cluster gsm8k --threshold 0.9 --default"),
        ("records", "records:RecordsOverTime", "Tell which records over time are more than luck.",
         "warehouse records gsm8k", "warehouse records gsm8k --steps --json"),
        ("card", "card:Card", "Write down every figure of a model, for people and for hubs.",
         "warehouse card model-a", "warehouse card model-a --against model-b --out card.md",
         "warehouse card model-a --format hf"),
        ("history", "warehouse.refresh.question:FigureHistory", "Show how stored figures have changed.",
         "warehouse history model-a gsm8k", "warehouse history model-a gsm8k --statistic score --last 5",
         "warehouse history gsm8k", "warehouse history model-a"),
    ),
}  # fmt: skip


def _class_of(question: str) -> str:
    """A class as ``module:Class``: each stands in the file `question.py` of its folder."""
    folder, _, kind = question.partition(":")
    if not folder or "." in folder:
        return question
    return f"warehouse.analysis.{folder}.question:{kind}"


#: The questions of this package by name, in the order of the help.
ENTRIES = {
    name: Entry(name, section, _class_of(question), sentence, tuple(examples))
    for section, questions in _TABLE.items()
    for name, question, sentence, *examples in questions
}


def added_names() -> list[str]:
    """Names of the questions of other packages; what is called like one of this
    package's is never asked."""
    return [name for name in _points() if name not in ENTRIES]


def added(name: str) -> Entry | None:
    """A question of another package, by name; None where there is none.

    Raises:
        WarehouseError: it does not load, or is no question.
    """
    if name in ENTRIES or name not in _points():
        return None
    question = question_of(name)
    sentence = (question.__doc__ or "").strip().partition("\n")[0]
    return Entry(name, ADDED, _points()[name].value, sentence, question.EXAMPLES)


def question_of(name: str) -> type[Question]:
    """The class of a question, by the name of its command.

    Raises:
        KeyError: there is none.
        WarehouseError: that of another package does not load, or is no question.
    """
    if name in ENTRIES:
        module, _, kind = ENTRIES[name].question.partition(":")
        question: type[Question] = getattr(import_module(module), kind)
        return question
    return _loaded(_points()[name])


def refresh() -> None:
    """Look again for packages, which may have been installed meanwhile."""
    _points.cache_clear()
    _loaded.cache_clear()


@cache
def _points() -> dict[str, EntryPoint]:
    return {
        point.name: point
        for point in sorted(entry_points(group=GROUP), key=lambda point: point.name)
    }


@cache
def _loaded(point: EntryPoint) -> type[Question]:
    from warehouse.questions.question import Question

    where = f"the question '{point.name}' ({point.value})"
    try:
        question = point.load()
    except Exception as error:
        raise WarehouseError(f"{where} does not load: {error}") from error
    if not (isinstance(question, type) and issubclass(question, Question)):
        raise WarehouseError(
            f"{where} is no question; expected a class that derives from "
            "warehouse.questions.Question"
        )
    named = getattr(question, "NAME", "")
    if named != point.name:
        raise WarehouseError(
            f"{where} calls itself {named!r}; its NAME has to be that of its entry "
            "point"
        )
    if (
        question.answer is Question.answer
        and find_spec(question.answered_by()[0]) is None
    ):
        raise WarehouseError(
            f"{where} has no answer; expected a method answer(self, store), or "
            "`answer.py` beside it"
        )
    return question
