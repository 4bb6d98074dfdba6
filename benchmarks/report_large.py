"""Reports of large stores, 1 000 benchmarks x 100 models and 20 x 500: seconds, memory, bytes, and what a browser has
to do to open them."""

from __future__ import annotations

import argparse
import resource
import shutil
import sys
from pathlib import Path
from typing import Any

import report
from measure import run_process, time_script

#: Benchmarks, models and prompts of each store.
SIZES = ((1000, 100, 50), (20, 500, 100))


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print what a report of each size costs, and the index and the largest page of it in a browser."""
    command = str(Path(sys.executable).with_name("warehouse"))
    for benchmarks, models, prompts in SIZES:
        store, pages = folder / f"report-{benchmarks}.duckdb", folder / f"report-{benchmarks}"
        url = f"duckdb:///{store}"
        if not store.exists():
            filled = time_script(report.FILL, [url, *map(str, (benchmarks, models, prompts, 1))], 1)
            print(f"filling {benchmarks} benchmarks x {models} models x {prompts} prompts: {filled}")
        shutil.rmtree(pages, ignore_errors=True)
        before = _processor()
        seconds, peak, _ = run_process([command, "--db", url, "report", "--split", "--out", str(pages)])
        files = sorted(pages.iterdir(), key=lambda path: path.stat().st_size)
        size = sum(path.stat().st_size for path in files)
        print(
            f"report of {benchmarks} benchmarks x {models} models: {seconds:.1f} s, {_processor() - before:.1f} s of"
            f" processor, peak {peak:.0f} MiB, {len(files)} pages, {size / 1e6:.1f} MB"
        )
        for page in (pages / "index.html", files[-1]):
            print(f"  {page.name}, {page.stat().st_size / 1e6:.2f} MB: {_opened(page, options.runs)}")


def _processor() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _opened(page: Path, runs: int) -> str:
    """Milliseconds until a page is loaded, and nodes of it, in a browser without a window."""
    browser = _browser()
    if browser is None:
        return "no chromium and chromedriver to open it with"
    try:
        times = []
        for _ in range(runs):
            browser.get(page.as_uri())
            times.append(browser.execute_script("return performance.getEntriesByType('navigation')[0].loadEventEnd"))
        nodes = browser.execute_script("return document.querySelectorAll('*').length")
    finally:
        browser.quit()
    return f"opens in {' '.join(f'{one:.0f}' for one in times)} ms, {nodes} nodes"


def _browser() -> Any:
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if not (chromium and driver):
        return None
    from selenium import webdriver

    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    for switch in ("headless=new", "no-sandbox", "disable-gpu", "disable-dev-shm-usage", "no-first-run"):
        options.add_argument(f"--{switch}")
    return webdriver.Chrome(options=options, service=webdriver.ChromeService(executable_path=driver))
