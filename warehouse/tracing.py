"""Spans of OpenTelemetry, where it is installed: what ran, how long, and how it ended.

Without ``opentelemetry-api`` nothing happens. Where the SDK is installed too and nobody
has set it up, it is set up by its own variables (``OTEL_TRACES_EXPORTER``,
``OTEL_EXPORTER_OTLP_ENDPOINT`` …), if the first of them is there; the span of the
caller is taken from ``TRACEPARENT``.
"""

from __future__ import annotations

import logging
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from importlib.metadata import entry_points
from typing import Any

_log = logging.getLogger(__name__)

#: Who the spans are from.
NAME = "warehouse"


class Span:
    """What is said of a piece of work; nothing, if nobody listens."""

    def __init__(self, inner: Any = None) -> None:
        self.inner = inner

    def set(self, **attributes: Any) -> None:
        """More on it; None is left out."""
        if self.inner is not None:
            self.inner.set_attributes(_plain(attributes))

    def failed(self, reason: str) -> None:
        """It did not do what it should."""
        if self.inner is not None:
            from opentelemetry.trace import StatusCode

            self.inner.set_status(StatusCode.ERROR, reason)


@contextmanager
def span(name: str, **attributes: Any) -> Iterator[Span]:
    """A span around a piece of work; what is raised inside is its failure, by its class
    alone.

    Args:
        name: of the span.
        attributes: each ``warehouse.NAME`` of the span.
    """
    tracer = _tracer()
    if tracer is None:
        yield Span()
        return
    with tracer.start_as_current_span(
        name,
        _caller(),
        attributes=_plain(attributes),
        record_exception=False,
        set_status_on_exception=False,
    ) as inner:
        about = Span(inner)
        try:
            yield about
        except BaseException as error:
            about.failed(type(error).__name__)
            raise


def _tracer() -> Any:
    """Whoever makes spans; None without the package."""
    try:
        from opentelemetry import trace
    except ImportError:
        return None
    _set_up()
    return trace.get_tracer(NAME)


@cache
def _set_up() -> None:
    """Set up the SDK as its variables say, where nobody has."""
    from opentelemetry import trace

    listed = [
        name.strip() for name in os.environ.get("OTEL_TRACES_EXPORTER", "").split(",")
    ]
    listed = [name for name in listed if name and name != "none"]
    if not listed or not isinstance(
        trace.get_tracer_provider(), trace.ProxyTracerProvider
    ):
        return
    try:
        from opentelemetry.sdk.resources import Resource
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor
    except ImportError:
        _log.warning(
            "OTEL_TRACES_EXPORTER is set, but opentelemetry-sdk is not installed: no "
            "spans"
        )
        return
    named = "OTEL_SERVICE_NAME" in os.environ or "service.name" in os.environ.get(
        "OTEL_RESOURCE_ATTRIBUTES", ""
    )
    provider = TracerProvider(
        resource=Resource.create({} if named else {"service.name": NAME})
    )
    exporters = {
        entry.name: entry
        for entry in entry_points(group="opentelemetry_traces_exporter")
    }
    for name in listed:
        if name in exporters:
            provider.add_span_processor(BatchSpanProcessor(exporters[name].load()()))
        else:
            _log.warning(
                "no exporter %r of OpenTelemetry is installed: no spans go there", name
            )
    trace.set_tracer_provider(provider)


def _caller() -> Any:
    """The context that a first span of this process is in: that of the process which
    started it."""
    from opentelemetry import context, trace

    header = os.environ.get("TRACEPARENT", "")
    if not header or trace.get_current_span().get_span_context().is_valid:
        return None  # that of this thread
    from opentelemetry.trace.propagation.tracecontext import (
        TraceContextTextMapPropagator,
    )

    return TraceContextTextMapPropagator().extract(
        {"traceparent": header}, context.get_current()
    )


def _plain(attributes: Mapping[str, Any]) -> dict[str, Any]:
    """Attributes as OpenTelemetry takes them."""
    named = {
        f"{NAME}.{name}": value
        for name, value in attributes.items()
        if value is not None
    }
    return {
        name: value if isinstance(value, str | bool | int | float) else str(value)
        for name, value in named.items()
    }
