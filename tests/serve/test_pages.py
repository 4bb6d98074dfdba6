"""Pages as a browser gets them: figures, forms of an answer, addresses that lead
nowhere."""

from __future__ import annotations

import re
import shlex
import time
from concurrent.futures import ThreadPoolExecutor
from html import unescape
from urllib.request import urlopen

import pytest

from tests.serve.test_browser import serving
from tests.support.builders import StoreRows
from tests.support.cli import Caller, filled_url
from tests.support.page_reader import PageReader
from tests.support.two_models import build_two_models
from warehouse.report.heat import Arrangement
from warehouse.serve.app import create_app
from warehouse.serve.page import link as address_of

ROWS = build_two_models()
_COLUMNS = dict.fromkeys(
    (
        "extracted_answer",
        "error",
        "explanation",
        "latency",
        "input_tokens",
        "output_tokens",
    )
)
PAID = "paid? 50% #1"
ROWS.describe(PAID, ROWS.metric())
for _place, _model in enumerate(("org/a", "org/b", "org/c"), 1):
    _run = ROWS.run(_model, PAID)
    ROWS.scores(_run, {f"paid{key}": float(key < 3 * _place) for key in range(10)})
    for _key in range(10):
        ROWS.generation(_run, f"paid{_key}", 0, "words", cost=0.25 * _place, **_COLUMNS)
ROWS.votes(1, "voted", ("org/a", "org/b"), ["a", "b", "tie", "a"] * 4)
ROWS.describe("..", ROWS.metric())
for _model, _step in (("org/a", 3), ("org/b", 3), ("solo/a", 2), ("solo/b", 4)):
    ROWS.scores(
        ROWS.run(_model, ".."),
        {f"dot{key}": float(key % _step == 0) for key in range(9)},
    )
ROWS.describe("called", ROWS.metric())
for _model, _step in (
    ("run:1", 3),
    ("run:900", 4),
):  # nothing is to be had under such a name but by the id
    ROWS.scores(
        ROWS.run(_model, "called"),
        {f"called{key}": float(key % _step == 0) for key in range(24)},
    )
for _prompt in ROWS.rows["prompt"]:
    _prompt.setdefault("choices", None)


def figures(page: str) -> set[float]:
    """All figures of a page, to the last digit."""
    return {float(value) for value in re.findall(r'data-v="([^"]+)"', page)}


@pytest.mark.rare
def test_scores_of_the_table_are_those_of_the_leaderboards(
    client: PageReader, run: Caller, url: str
) -> None:
    page = client.whole("/?order=name")
    boards = run("leaderboard", "--json", db=url).rows
    shown, known = (
        figures(page.partition("</form>")[2]),
        {row["estimate"] for row in boards},
    )
    assert len(shown) > 10
    assert all(
        min(abs(one - other) for other in known if other is not None) <= 1e-12
        for one in shown
    )


def test_json_of_a_benchmark_is_that_of_the_command(
    client: PageReader, run: Caller, url: str
) -> None:
    client.whole("/benchmark/quiz")
    assert (
        client.get("/benchmark/quiz?format=json").text
        == run("leaderboard", "quiz", "--json", db=url).out
    )


@pytest.mark.parametrize("name", ["quiz", "one", "marks"])
def test_a_page_of_a_benchmark_has_the_figures_of_leaderboard_and_pairs(
    client: PageReader, run: Caller, url: str, name: str
) -> None:
    shown = figures(client.whole(f"/benchmark/{name}"))
    first, *_ = pairs = run("pairs", name, "--json", db=url).rows
    for row in run("leaderboard", name, "--json", db=url).rows:
        for field in ("estimate", "ci_low", "ci_high"):
            assert (
                row[field] is None
                or min(abs(one - row[field]) for one in shown) <= 1e-12
            )
    for row in pairs:
        if row["runs_a"] == first["runs_a"] and row["difference"] is not None:
            for field in ("difference", "ci_low", "ci_high"):
                assert (
                    row[field] is None
                    or min(abs(one + row[field]) for one in shown) <= 1e-12
                )


def test_a_tie_leads_to_the_plan_that_power_gives(
    client: PageReader, run: Caller, url: str
) -> None:
    page = client.whole("/benchmark/one")
    link = next(unescape(one) for one in re.findall(r'href="([^"#]*)#plan"', page))
    planned = client.whole(link)
    command = next(
        unescape(one)
        for one in re.findall(r"<code>(warehouse power [^<]*)</code>", planned)
    )
    answer = run("--explain", *shlex.split(command)[1:], db=url)
    assert answer.code == 0
    words = next(
        unescape(one)
        for one in re.findall(r'<p class="answer">(A difference[^<]*)</p>', planned)
    )
    assert " ".join(words.split()) in " ".join(answer.out.split())


def test_models_that_are_named_like_runs_are_planned_for(client: PageReader) -> None:
    page = client.whole("/benchmark/called")
    (address,) = (unescape(one) for one in re.findall(r'href="([^"#]*)#plan"', page))
    assert "A difference" in client.whole(address)


def test_a_browser_that_asks_for_an_icon_is_told_of_none(client: PageReader) -> None:
    assert client.get("/favicon.ico").status_code == 204


def test_cost_stands_against_score(client: PageReader) -> None:
    page = unescape(client.whole(address_of("benchmark", PAID)))
    picture = re.sub(
        r"<[^>]+>",
        " ",
        page.partition(f"Score against cost on {PAID}")[2].partition("</figure>")[0],
    )
    for cost in ("2.5", "5", "7.5"):  # of a run
        assert re.search(rf"(?<![\d.]){cost}(?![\d.])", picture), picture
    (as_json,) = re.findall(r'href="([^"]*format=json)"', page)
    assert client.get(as_json).json()[0]["benchmark"] == PAID
    assert "Score against cost" not in client.whole("/benchmark/one")


@pytest.mark.rare
def test_a_program_is_never_told_to_wait(url: str) -> None:
    with PageReader(create_app(url), base_url="http://localhost") as fresh:
        assert (
            fresh.get("/benchmark/many?format=json").json()[0]["estimate"] is not None
        )
        assert "computed" not in fresh.get("/benchmark/marks?export=html").text


def test_two_picked_models_have_their_verdict(
    client: PageReader, run: Caller, url: str
) -> None:
    page = client.whole("/?a=lab/x&b=lab/y")
    rows = run("compare", "lab/x", "lab/y", "--latest", "--json", db=url).rows
    assert figures(page) >= {
        (rows[-1] if rows[-1]["benchmark"] == "overall" else rows[0])["difference"]
    }
    own = page.partition('id="verdict"')[2]  # two scales: no mean over all
    assert f"Difference on {rows[0]['benchmark']}, " in own
    assert "x is better on many" in own
    assert "warehouse compare lab/x lab/y --latest" in unescape(page)


def test_the_verdict_leads_to_the_comparison_that_it_is_of(client: PageReader) -> None:
    verdict = client.whole("/?a=org/d&b=org/a").partition('id="verdict"')[
        2
    ]  # a name that means two conditions
    assert (
        "several conditions the newest is compared" in verdict
    )  # the table shows the best
    (address,) = re.findall(r'href="(/compare[^"]*)">Compare them', verdict)
    assert figures(verdict.partition("</section>")[0]) <= {
        float(one)
        for one in re.findall(r'<data value="([^"]+)"', client.whole(unescape(address)))
    }


def test_the_difference_of_two_models_on_one_benchmark_is_said_once(
    client: PageReader, run: Caller, url: str
) -> None:
    page = client.whole("/?a=solo/a&b=solo/b")
    (row,) = run("compare", "solo/a", "solo/b", "--latest", "--json", db=url).rows
    said = re.sub(
        r"<[^>]+>", "", page.partition('id="verdict"')[2].partition("</section>")[0]
    )
    assert figures(page) >= {row["difference"], row["ci_low"], row["ci_high"]}
    assert (
        "solo/a" in said
        and "solo/b" in said
        and "9 common questions" in said
        and "allowing for all pairs of" in said
    )
    assert "95 % interval [" in said and "first" not in said
    assert "] for these two alone; " in said
    store = re.escape(url)
    assert re.search(
        rf"warehouse compare solo/a solo/b --latest --db {store}<", unescape(page)
    )
    assert "SQL, run by run" in page and "agent" in page
    assert (
        len(
            {
                len(figure.partition(".")[2])
                for figure in re.findall(
                    r"-?\d+(?:\.\d+)?", said.partition("less b:")[2].partition("]")[0]
                )[:1]
                + re.findall(
                    r"-?\d+(?:\.\d+)?", said.partition("[")[2].partition("]")[0]
                )
            }
        )
        == 1
    ), said
    assert said.count("a less b") == 1 and said.count("[") == 1


def test_a_page_can_be_taken_along(client: PageReader) -> None:
    client.whole("/benchmark/quiz")
    alone = client.get("/benchmark/quiz?export=html")
    assert alone.headers["content-disposition"] == 'attachment; filename="quiz.html"'
    assert len(alone.text) < 5_000_000 and figures(alone.text)
    assert not re.search(r'(?:href|src|action)="(?!data:|#)', alone.text)


@pytest.mark.parametrize(
    "address",
    [
        "/nowhere",
        "/benchmark/qiuz",
        "/benchmark/%00",
        "/benchmark/../../etc/passwd",
        "/static/../app.py",
    ],
)
def test_what_is_not_there_is_a_plain_page(client: PageReader, address: str) -> None:
    answer = client.get(address)
    assert answer.status_code == 404 and "Traceback" not in answer.text
    assert "did you mean quiz?" in answer.text or "qiuz" not in address


@pytest.mark.parametrize(
    "query",
    ["row=-1", "row=x", "order=;", "date=yesterday", "a=%00&b=%ff", "row=99999999999999999999", "model=%F0%9F%A6%84",
     "plan=a&plan=b&delta=nan", "a=run:1&b=run:2", "column=80", "row=4000&column=4000"],
)  # fmt: skip
@pytest.mark.parametrize("path", ["/", "/benchmark/quiz"])
def test_no_query_breaks_a_page(client: PageReader, path: str, query: str) -> None:
    answer = client.get(f"{path}?{query}")
    assert answer.status_code in (200, 400) and "Traceback" not in answer.text


def test_a_part_beyond_the_end_is_the_last_one(client: PageReader) -> None:
    rows = '<th scope="row">'
    last = client.whole("/?row=4000&column=4000")
    assert last.count(rows) == client.whole("/?row=40").count(rows) > 0


def test_facets_narrow_the_table(client: PageReader) -> None:
    page = client.whole("/?benchmark=quiz&model=org/a").partition("</form>")[2]
    assert (
        page.count('<th scope="row">') == 2
    )  # its two settings, of which none stands for the model
    assert "No run fits" in client.get("/?date=2990-01-01").text


def test_a_benchmark_of_votes_alone_has_its_strengths(client: PageReader) -> None:
    page = client.whole("/benchmark/voted")
    assert (
        "16 votes over 2 models: org/a and org/b cannot be told apart." in page
        and "warehouse prefer voted" in page
    )
    assert '<a href="/benchmark/voted"><bdi>voted</bdi></a>' in client.whole("/")
    assert client.get("/benchmark/voted?format=json").json()[0]["model"] == "org/a"


def test_a_benchmark_that_is_named_like_a_folder_has_its_page(
    client: PageReader,
) -> None:
    address = address_of("benchmark", "..")
    assert f'<a href="{address}"><bdi>..</bdi></a>' in client.whole("/")
    assert "<h1><bdi>..</bdi></h1>" in client.whole(address)


def test_two_models_are_compared_on_chosen_benchmarks(
    client: PageReader, run: Caller, url: str
) -> None:
    address = address_of(
        "compare", a="org/a", b="org/b", benchmark=[PAID, ".."], latest=1
    )
    rows = client.get(f"{address}&format=json").json()["rows"]
    assert {row["benchmark"] for row in rows} == {PAID, "..", "overall"}
    own = run(
        "compare", "org/a", "org/b", "--latest", "--benchmark", PAID, "--json", db=url
    ).rows
    assert [row["difference"] for row in rows if row["benchmark"] == PAID] == [
        row["difference"] for row in own
    ]
    assert f"{PAID}\n..</textarea>" in unescape(client.whole(address))


def test_rows_go_by_the_scores_of_a_benchmark(client: PageReader) -> None:
    page = client.whole(address_of("", sort=PAID, benchmark=PAID))
    places = [
        page.index(f"<bdi>{name}</bdi></a>")
        for name in ("org/<wbr>c", "org/<wbr>b", "org/<wbr>a")
    ]
    assert places == sorted(places)


@pytest.mark.rare
def test_fifty_readers_at_once_have_what_one_has(url: str) -> None:
    places = [
        "/?format=json",
        "/benchmark/one?format=json",
        "/compare?a=lab/x&b=lab/y&format=json&latest=1",
        "/health",
    ]
    with serving(url) as address, ThreadPoolExecutor(50) as readers:

        def read(place: str) -> bytes:
            with urlopen(f"{address}{place}", timeout=60) as answer:
                content: bytes = answer.read()
            return content

        while b'"n_leaderboards_to_go":0' not in read(places[0]):
            time.sleep(0.2)
        alone = {
            place: re.sub(rb"as of <time.*?</time>", b"", read(place))
            for place in places
        }
        found = readers.map(read, places * 13)
        for place, content in zip(places * 13, found, strict=True):
            assert re.sub(rb"as of <time.*?</time>", b"", content) == alone[place]


def test_what_comes_late_does_not_move_what_a_reader_has_before_them(url: str) -> None:
    app = create_app(url)
    heat = app._pages.site.heat
    with PageReader(app, base_url="http://127.0.0.1:8321") as fresh:
        first = _heads_and_rows(fresh.whole("/"))
        heads, rows = first
        assert len(heads) > 2 and len(rows) > 2
        seen = Arrangement(
            tuple(reversed(rows[1:])), tuple((head, False) for head in heads[1:])
        )
        page = heat.keep_order("", seen)
        text = fresh.whole(f"/?seen={page}")
        again = _heads_and_rows(text)
        assert again[1] == [*reversed(rows[1:]), rows[0]]  # what is new stands below
        assert set(again[0]) == set(heads)
        assert "seen=" not in re.sub(r'data-seen="[^"]*"', "", text)
        assert _heads_and_rows(fresh.whole("/")) == first  # loaded anew: by its rule


def _heads_and_rows(page: str) -> tuple[list[str], list[str]]:
    heat = page[page.index('class="scroll heat"') :].partition("</table>")[0]
    head, _, body = heat.partition("</thead>")
    heads = re.findall(r'<th scope="col" class="n.*?<bdi>(.*?)</bdi>', head)
    rows = re.findall(r'<th scope="row">.*?<bdi>(.*?)</bdi>', body)
    plain = re.compile("<[^>]+>")
    return (
        [unescape(plain.sub("", one)) for one in heads],
        [unescape(plain.sub("", one)) for one in rows],
    )


def test_the_mean_over_benchmarks_stands_first(
    request: pytest.FixtureRequest, run: Caller
) -> None:
    rows = StoreRows()
    metric = rows.metric()
    for place in range(4):
        name = f"quiz{place}"
        rows.describe(name, metric)
        for model, right in (("good", 30), ("fair", 20), ("poor", 5)):
            rows.scores(
                rows.run(model, name),
                {f"{name}-{key}": float(key < right + place) for key in range(40)},
            )
    with filled_url(request, "duckdb", rows) as url:
        with PageReader(create_app(url), base_url="http://127.0.0.1:8321") as fresh:
            page = fresh.whole("/")
            narrowed = fresh.whole("/?benchmark=quiz1")
        said = run("leaderboard", db=url).out
    heads, models = _heads_and_rows(page)
    assert heads[0] == "mean"
    assert set(heads[1:]) == {f"quiz{place}" for place in range(4)}
    assert models == ["good", "fair", "poor"]
    assert "By the mean of 4 benchmarks: <bdi>good</bdi> leads with 78.8 %" in page
    assert "By the mean of 4 benchmarks: good leads with 78.8 %" in said
    assert "By the mean" not in narrowed
