"""`warehouse.testing` proves parts of other packages: sound ones pass, and each kind of
fault is named."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from tests.docs.test_docs_questions import METADATA
from tests.support.pages import ROOT, blocks
from warehouse import importers
from warehouse.errors import MisuseError
from warehouse.ingest.pipeline import ingest
from warehouse.questions import registry
from warehouse.store.connection import Store
from warehouse.testing import check_family, check_importer, check_question
from warehouse.testing.same_rows import difference_from_sql
from warehouse.testing.stores import new_store

pytestmark = [pytest.mark.engine]

IMPORTERS = (ROOT / "docs" / "extending.md").read_text(encoding="utf-8")
QUESTIONS = (ROOT / "docs" / "reference" / "extending_questions.md").read_text(
    encoding="utf-8"
)
TESTING = (ROOT / "docs" / "reference" / "extending_testing.md").read_text(
    encoding="utf-8"
)
REFRESH = (ROOT / "docs" / "refresh.md").read_text(encoding="utf-8")


@pytest.fixture
def module_of(monkeypatch: pytest.MonkeyPatch) -> Callable[[str], ModuleType]:
    """Makes a module of code, which other processes do not know."""

    def made(code: str) -> ModuleType:
        module = ModuleType("of_a_stranger")
        monkeypatch.setitem(sys.modules, module.__name__, module)
        exec(compile(code, "of_a_stranger.py", "exec"), module.__dict__)
        return module

    return made


@pytest.fixture
def server(request: pytest.FixtureRequest) -> Iterator[str]:
    """A database that may be emptied."""
    cluster = request.getfixturevalue("postgres_cluster")
    name = cluster.create()
    renamed = f"{name}_test"
    cluster._run(f'alter database "{name}" rename to "{renamed}"')
    try:
        yield cluster.url(renamed).replace("+psycopg", "")
    finally:
        cluster.drop(renamed)


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """Puts a module among the packages, under an entry point."""
    site = tmp_path / "site"
    monkeypatch.syspath_prepend(site)
    monkeypatch.setenv("PYTHONPATH", str(site))
    installed: list[str] = []

    def put(name: str, code: str, points: str) -> None:
        about = site / f"{name}-1.dist-info"
        about.mkdir(parents=True)
        (site / f"{name}.py").write_text(code, encoding="utf-8")
        (about / "METADATA").write_text(METADATA)
        (about / "entry_points.txt").write_text(points)
        installed.append(name)
        sys.modules.pop(name, None)
        importlib.invalidate_caches()
        importers.refresh()
        registry.refresh()

    yield put
    for name in installed:  # a broken one is none for the tests that come
        sys.modules.pop(name, None)
    importers.refresh()
    registry.refresh()


# --- importers -------------------------------------------------------------------------------

QUIZ = blocks(IMPORTERS, "python")[0]
POINT = "[warehouse.importers]\nquiz = quiz:IMPORTER\n"


@pytest.fixture
def quiz(tmp_path: Path) -> Path:
    path = tmp_path / "capitals.quiz"
    path.write_text(blocks(IMPORTERS, "text")[0], encoding="utf-8")
    return path


@pytest.mark.rare
def test_the_importer_of_the_docs_is_proven(
    install: Any, quiz: Path, server: str
) -> None:
    install("quiz", QUIZ, POINT)
    checked = check_importer(quiz, format="quiz", server=server)
    assert checked.tried["the same on the server"] == 1
    (left_out,) = checked.left_out
    assert left_out.startswith("settings in capitals.quiz: ")
    assert "nothing wrong" in str(checked)


#: What is changed in the importer, and what the proof says then.
FAULTS = {
    "a line that is odd": (
        """        rejections.append(
            Rejection(f"line {place + 2}", line, "question | target | response")
        )
        return None
""",
        "        raise KeyError(line)\n",
        "damaged files: capitals.quiz cut to two thirds",
    ),
    "bytes that are no text": (
        "except UnicodeDecodeError as error",
        "except EOFError as error",
        "with twenty other",
    ),
    "rows that are rejected": (
        "if len(parts) != 3",
        "if len(parts) != 4",
        "read whole: 3 rows",
    ),
}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.rare
def test_faults_of_an_importer_are_named(install: Any, quiz: Path, fault: str) -> None:
    right, wrong, said = FAULTS[fault]
    assert right in QUIZ
    install("quiz", QUIZ.replace(right, wrong), POINT)
    with pytest.raises(AssertionError, match=said):
        check_importer(quiz, format="quiz")


def test_a_dump_that_no_importer_takes(tmp_path: Path) -> None:
    (tmp_path / "a.bin").write_bytes(bytes(range(256)))
    with pytest.raises(AssertionError, match="1 wrong\n- read: "):
        check_importer(tmp_path / "a.bin")


def test_a_database_that_may_be_needed_is_not_emptied(quiz: Path) -> None:
    with pytest.raises(
        MisuseError,
        match="would be dropped; name a database whose name ends with _test",
    ):
        check_importer(
            ROOT / "tests" / "data" / "aider", server="postgresql://host/evals"
        )


# --- questions -------------------------------------------------------------------------------

TELLING = blocks(QUESTIONS, "python")[0]
CSV = "model,benchmark,prompt_id,score\nada,quiz,q1,1\nada,quiz,q2,0\nbob,quiz,q1,1\nbob,quiz,q2,1\n"


@pytest.fixture
def store() -> Iterator[Store]:
    with new_store() as opened:
        yield opened


@pytest.fixture
def dumps(tmp_path: Path) -> list[Path]:
    (tmp_path / "a.csv").write_text(CSV)
    (tmp_path / "b.csv").write_text(
        CSV.replace("ada", "cy").replace("bob", "dan").replace("q2,1", "q2,0")
    )
    return [tmp_path / "a.csv", tmp_path / "b.csv"]


#: What the question counts, in SQL.
IN_SQL = """
    SQL = "select metric, count(*) as n_prompts from prompt_difficulty \\
where benchmark = :benchmark and n_conditions > 1 group by metric"
"""


def with_sql(sql: str) -> str:
    """The question with SQL that gives its figures."""
    name = '    NAME = "telling"\n'
    assert name in TELLING
    return TELLING.replace(name, name + sql)


@pytest.mark.rare
def test_the_question_of_the_docs_is_proven(
    install: Any, dumps: list[Path], server: str
) -> None:
    install(
        "telling",
        with_sql(IN_SQL),
        "[warehouse.questions]\ntelling = telling:Telling\n",
    )
    telling = registry.question_of("telling")
    checked = check_question(
        telling("quiz"), telling("quiz", level=0.9), sources=dumps, server=server
    )
    assert checked.tried["the same on the server"] == 2 and not checked.left_out
    assert checked.tried["the command line"] >= 2
    assert checked.tried["the rows of SQL"] == 4  # of two questions, on two engines


#: SQL that does not give what the question answers, and what the proof says then.
FAULTS_OF_SQL = {
    "another figure": (
        IN_SQL.replace("count(*) as", "1 + count(*) as"),
        "n_prompts is 2.0, and 3.0 in SQL, of {'metric': 'score', 'n_prompts': 2.0}",
    ),
    "other rows": ('    SQL = "prompt_difficulty"\n', "1 rows, and 2 in SQL"),
    "no figure": (
        '    SQL = "select 1 as nothing"\n',
        "SQL calls no column like one of metric, n_prompts",
    ),
    "no field": (
        IN_SQL.replace(":benchmark", ":suite"),
        "SQL needs suite, which is no field of telling",
    ),
    "no view": (
        '    SQL = "prompt_hardship"\n',
        "no query is called 'prompt_hardship'",
    ),
}


@pytest.mark.parametrize("fault", FAULTS_OF_SQL)
def test_sql_that_gives_other_figures_is_named(
    module_of: Any, dumps: list[Path], fault: str, store: Store
) -> None:
    sql, said = FAULTS_OF_SQL[fault]
    ingest(store, dumps[:1])
    question = module_of(with_sql(sql)).Telling("quiz")
    try:
        differs = difference_from_sql(store, question, question.ask(store))
    except MisuseError as error:
        differs = str(error)
    assert differs.startswith(said)


def test_the_proof_holds_a_question_to_its_sql(
    module_of: Any, dumps: list[Path]
) -> None:
    sql, said = FAULTS_OF_SQL["no field"]
    telling = module_of(with_sql(sql)).Telling
    with pytest.raises(AssertionError, match=f"1 wrong\n- the rows of SQL: .*{said}"):
        check_question(telling("quiz"), sources=dumps[:1])


def test_rows_of_large_ids_stand_where_they_belong(
    module_of: Any, dumps: list[Path], store: Store
) -> None:
    """Numbers that differ beyond the sixth digit tell rows apart, in whatever order."""
    module = module_of(TELLING)
    figures = [(12_345_670 + at, 0.5 + at / 1e7) for at in range(9)]
    rows = [
        module.TellingRow("score", n_prompts, 1, share, 0.0, 1.0)
        for n_prompts, share in figures
    ]
    result = module.TellingReport("quiz", tuple(rows))
    values = ", ".join(f"({n}, {share!r})" for n, share in reversed(figures))
    sql = f"select * from (values {values}) as given(n_prompts, share)"
    assert difference_from_sql(store, module.Telling("quiz"), result, sql) == ""


def test_a_question_whose_answer_rests_on_no_run_says_so(
    module_of: Any, dumps: list[Path]
) -> None:
    lacking = "a claim: neither the result nor its rows have run_ids"
    telling = module_of(TELLING).Telling
    assert lacking not in check_question(telling("quiz"), sources=dumps[:1]).left_out
    telling = module_of(TELLING.replace(", tuple(runs))", ")")).Telling
    assert lacking in check_question(telling("quiz"), sources=dumps[:1]).left_out


def test_a_question_without_sql_says_so(module_of: Any, dumps: list[Path]) -> None:
    telling = module_of(TELLING).Telling
    checked = check_question(telling("quiz"), sources=dumps[:1])
    assert "SQL: the class names none that gives the same" in checked.left_out


#: What is changed in the question, and what the proof says then.
FAULTS_OF_QUESTIONS = {
    "another answer each time": (
        "n_telling / n_prompts",
        "next(COUNTER)",
        "asked again",
    ),
    "rows of another class": (
        "                TellingRow(\n",
        "                OtherRow(\n",
        "rows of other classes",
    ),
    "no result": (
        "return TellingReport(self.benchmark, tuple(rows), tuple(runs))",
        "return rows",
        "gives list, no Result",
    ),
    "no view": (
        "        return View(",
        "        return self.nothing(",
        "where it is shown",
    ),
    "no sentence": (
        '"""How many prompts tell models apart.\n\n    R',
        '"""telling\n\n    R',
        "begins with no sentence",
    ),
    "a store that is changed": (
        "        asked, rows = ",
        "        write(store)\n        asked, rows = ",
        "the store stays",
    ),
    "an empty store": (
        "        return TellingReport(",
        "        rows[0]\n        return TellingReport(",
        "an empty store",
    ),
    "the order of sources": (
        "tuple(rows), ",
        "tuple(rows) * first_id(store), ",
        "sources in another order",
    ),
}
#: What the faults need.
OTHERS = """
from itertools import count

COUNTER = count()


@dataclass(frozen=True)
class OtherRow(Row):
    metric: str  #: name of the metric.
    n_prompts: int  #: prompts.
    n_telling: int  #: of these.
    share: float  #: of them.
    low: float  #: an end.
    high: float  #: the other.


def write(store):
    store.connection.exec_driver_sql("update run set note = 'x'")
    store.connection.commit()


def first_id(store):
    return store.rows("select min(id) as n from model where name = 'ada'")[0]["n"] or 1
"""


@pytest.mark.parametrize("fault", FAULTS_OF_QUESTIONS)
@pytest.mark.rare
def test_faults_of_a_question_are_named(
    module_of: Any, dumps: list[Path], fault: str
) -> None:
    right, wrong, said = FAULTS_OF_QUESTIONS[fault]
    assert right in TELLING
    telling = module_of(TELLING.replace(right, wrong) + OTHERS).Telling
    with pytest.raises(AssertionError, match=said):
        check_question(telling("quiz"), sources=dumps)


@pytest.mark.rare  # what it calls is proven of the same importer and question above
def test_the_page_says_what_is_printed(
    install: Any,
    quiz: Path,
    dumps: list[Path],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    install("telling", TELLING, "[warehouse.questions]\ntelling = telling:Telling\n")
    install("quiz", QUIZ, POINT)
    (quiz.parent / "tests").mkdir()
    for path in (quiz, *dumps):
        path.rename(quiz.parent / "tests" / path.name)
    monkeypatch.chdir(quiz.parent)
    known: dict[str, Any] = {}
    exec(blocks(TESTING, "python")[0], known)
    known["test_importer"]()
    assert capsys.readouterr().out == blocks(TESTING, "text")[0]
    known["test_question"]()


# --- families --------------------------------------------------------------------------------

FAMILY = blocks(REFRESH, "python")[0]


@pytest.mark.rare
def test_the_family_of_the_docs_is_proven(
    module_of: Any, dumps: list[Path], server: str
) -> None:
    family = module_of(FAMILY).FAMILY
    checked = check_family(family, sources=dumps, server=server)
    assert (
        checked.tried["the same on the server"] == 1
        and checked.tried["found fresh"] == 1
    )
