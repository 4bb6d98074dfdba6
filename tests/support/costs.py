"""What tests cost: seconds of the processor, of the test process and of the commands
that it started and waited for.

In processor seconds, since the clock says how busy the machine is. Servers and browsers
live longer than a test: they are counted together (`not_counted`), else the last test
of a process would seem to have taken what they took. What several tests share is
counted to the first that asks for it.
"""

from __future__ import annotations

import os
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from tests.support import forked
from tests.support.dear import write_list

#: What a test of `make test` may cost (CONTRIBUTING.md); one that takes more is rare,
#: or is made smaller.
MOST_SECONDS = 3.0
#: Marks of tests that `make test` leaves out, or that need an extra.
ELSEWHERE = {"rare", "slow", "spark", "lake", "embed"}
BEGUN = pytest.StashKey[float]()
#: Seconds of servers and browsers of this process that have ended.
of_servers = 0.0


class Costs:
    """Measures where a test runs, and says what was found where the summary is printed."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}
        self.too_dear: dict[str, float] = {}
        self.of_servers = 0.0  # of all test processes

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_setup(self, item: pytest.Item) -> None:
        item.stash[BEGUN] = spent()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_makereport(
        self, item: pytest.Item, call: pytest.CallInfo[None]
    ) -> None:
        begun = item.stash.get(BEGUN, None)
        if call.when == "teardown" and begun is not None:
            item.user_properties.append(("processor seconds", spent() - begun))

    def pytest_runtest_logreport(self, report: pytest.TestReport) -> None:
        for name, seconds in (
            report.user_properties if report.when == "teardown" else ()
        ):
            if name == "processor seconds" and isinstance(seconds, float):
                self.seconds[report.nodeid] = seconds
                if seconds > MOST_SECONDS and not ELSEWHERE & report.keywords.keys():
                    self.too_dear[report.nodeid] = seconds

    def pytest_sessionfinish(self, session: pytest.Session) -> None:
        told = getattr(session.config, "workeroutput", None)
        if told is None:
            self.of_servers += of_servers
        else:
            told["of servers"] = of_servers

    @pytest.hookimpl(optionalhook=True)
    def pytest_testnodedown(self, node: Any) -> None:
        self.of_servers += getattr(node, "workeroutput", {}).get("of servers", 0.0)

    def pytest_terminal_summary(
        self, terminalreporter: pytest.TerminalReporter
    ) -> None:
        write = terminalreporter.write_line
        if terminalreporter.config.getoption("--write-costs"):
            write_list(self.seconds)
        if os.environ.get("WAREHOUSE_COSTS"):
            folders: dict[str, float] = defaultdict(float)
            for test, seconds in self.seconds.items():
                folders["/".join(test.partition("::")[0].split("/")[:2])] += seconds
            for folder, seconds in sorted(folders.items(), key=lambda pair: -pair[1]):
                write(f"{seconds:8.1f} s of the processor  {folder}")
            write(f"{self.of_servers:8.1f} s of the processor  servers and browsers")
        for test, seconds in sorted(self.too_dear.items(), key=lambda pair: -pair[1]):
            write(
                f"{seconds:8.1f} s of the processor, more than {MOST_SECONDS:.0f}: "
                f"mark it rare?  {test}"
            )


def spent() -> float:
    """Seconds of the processor until now, of this process and of its children that have
    ended."""
    return sum(os.times()[:4]) + forked.spent - of_servers


@contextmanager
def not_counted() -> Iterator[None]:
    """A server or a browser ends meanwhile."""
    global of_servers
    before = sum(os.times()[2:4])
    yield
    of_servers += sum(os.times()[2:4]) - before
