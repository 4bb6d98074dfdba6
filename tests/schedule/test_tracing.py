"""Spans of a job and of a refresh, as the SDK of OpenTelemetry takes them."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.cli import Caller, in_subprocess
from tests.support.pages import ROOT
from warehouse.tracing import span

pytest.importorskip("opentelemetry.sdk", reason="needs the extra otel")

from opentelemetry import trace
from opentelemetry.sdk.trace import TracerProvider
from opentelemetry.sdk.trace.export import SimpleSpanProcessor
from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter

DEMO = ROOT / "docs" / "demo" / "results"


@pytest.fixture
def exporter(monkeypatch: pytest.MonkeyPatch) -> Iterator[InMemorySpanExporter]:
    """What takes the spans of this process; it can be set once, and is taken back."""
    found = InMemorySpanExporter()
    provider = TracerProvider()
    provider.add_span_processor(SimpleSpanProcessor(found))
    monkeypatch.setattr(trace, "_TRACER_PROVIDER", provider)
    yield found
    provider.shutdown()


def named(spans: Any) -> dict[str, Any]:
    return {one.name: one for one in spans}


@pytest.mark.rare
def test_a_job_and_its_steps(
    exporter: InMemorySpanExporter, run: Caller, tmp_path: Path
) -> None:
    missing = str(tmp_path / "missing")
    done = run(
        "schedule",
        "--once",
        "--watch",
        str(DEMO),
        "--watch",
        missing,
        db=str(tmp_path / "s.duckdb"),
    )
    assert done.code == 2
    spans = exporter.get_finished_spans()
    (job,) = [one for one in spans if one.name == "warehouse.job"]
    assert job.parent is None and job.attributes["warehouse.result"] == "failed"
    assert job.attributes["warehouse.sources_loaded"] == 6 and not job.status.is_ok
    good, bad = [one for one in spans if one.name == "warehouse.ingest"]
    assert good.parent.span_id == bad.parent.span_id == job.context.span_id
    assert (
        good.attributes["warehouse.folder"],
        good.attributes["warehouse.sources"],
    ) == (str(DEMO), 6)
    assert good.status.is_unset and "no file or folder" in bad.status.description
    refresh = named(spans)["warehouse.refresh.figures"]
    assert refresh.parent.span_id == named(spans)["warehouse.refresh"].context.span_id
    figures = [one for one in spans if one.name == "warehouse.refresh.figure"]
    assert len(figures) == refresh.attributes["warehouse.recomputed"] > 0
    assert {one.attributes["warehouse.benchmark"] for one in figures} == {
        "reading",
        "sums",
    }
    assert all(one.parent.span_id == refresh.context.span_id for one in figures)


def test_a_failure_is_told_by_its_class(exporter: InMemorySpanExporter) -> None:
    with (
        pytest.raises(ValueError),
        span("outer", count=1, nothing=None, path=Path("x")),
    ):
        with span("inner"):
            pass
        raise ValueError("a secret")
    spans = named(exporter.get_finished_spans())
    assert dict(spans["outer"].attributes) == {
        "warehouse.count": 1,
        "warehouse.path": "x",
    }
    assert (spans["outer"].status.description, spans["outer"].events) == (
        "ValueError",
        (),
    )
    assert spans["inner"].parent.span_id == spans["outer"].context.span_id


def test_the_variables_of_the_sdk_are_enough(tmp_path: Path) -> None:
    caller = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01"
    done = in_subprocess(
        "--db", "s.duckdb", "schedule", "--once", folder=tmp_path,
        environment={"OTEL_TRACES_EXPORTER": "console,nowhere", "TRACEPARENT": caller},
    )  # fmt: skip
    assert "no exporter 'nowhere'" in done.stderr
    decoder, text, spans = json.JSONDecoder(), done.stdout.strip(), []
    while text:
        found, end = decoder.raw_decode(text)
        spans.append(found)
        text = text[end:].strip()
    job = next(one for one in spans if one["name"] == "warehouse.job")
    assert (job["context"]["trace_id"], job["parent_id"]) == (
        f"0x{caller[3:35]}",
        f"0x{caller[36:52]}",
    )
    assert job["resource"]["attributes"]["service.name"] == "warehouse"
