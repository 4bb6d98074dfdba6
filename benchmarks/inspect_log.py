"""An Inspect log of 10 000 samples into the full schema, against Inspect's own data frame."""

from __future__ import annotations

import argparse
from pathlib import Path

from measure import run_process, time_script

SAMPLES = 10_000

#: Runs with the package's own interpreter: a real evaluation, answered by its mock model.
MAKE = """
import shutil, sys, tempfile
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import chain_of_thought, generate, system_message
path, count = sys.argv[1], int(sys.argv[2])
words = [f"{chr(97 + n % 26)}{n * 7919 % 9973}" for n in range(3000)]
def text(seed, length):
    return " ".join(words[(seed * 31 + n * n * 17 + n) % 3000] for n in range(length))
samples = [Sample(id=n, input=f"Question {n}: {text(n, 60)}?", target=words[n % 3000],
                  metadata={"subject": words[n % 40], "source": text(n % 100, 8)})
           for n in range(count)]
task = Task(dataset=MemoryDataset(samples, name="bench"), scorer=[match(), includes()],
            solver=[system_message("Answer with care. " + text(1, 80)), chain_of_thought(),
                    generate()])
def answer(messages, *rest):
    seed = len(messages[-1].text) + ord(messages[-1].text[-40])
    output = ModelOutput.from_content("mock", text(seed, 150) + " ANSWER: " + words[seed % 40])
    output.usage = ModelUsage(input_tokens=300, output_tokens=160, total_tokens=460)
    return output
model = get_model("mockllm/model", custom_outputs=answer)
with tempfile.TemporaryDirectory() as scratch:
    (log,) = eval(task, model=model, log_dir=scratch, display="none", max_samples=50)
    assert log.status == "success", log.error
    shutil.copy(log.location.removeprefix("file://"), path)
"""

PEER = """
import sys, time
started = time.monotonic()
from inspect_ai.analysis import SampleMessages, SampleSummary, SampleScores, samples_df
import_seconds = time.monotonic() - started
started = time.monotonic()
frame = samples_df(sys.argv[1], columns=[*SampleSummary, *SampleScores, *SampleMessages],
                   full=True, quiet=True)
assert len(frame) == int(sys.argv[2]) and "messages" in frame
print(time.monotonic() - started)
"""

INGEST = """
import sys, time
from pathlib import Path
log, count, store = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3])
store.unlink(missing_ok=True)
import warehouse, warehouse.ingest.pipeline
started = time.monotonic()
report = warehouse.connect(f"duckdb:///{store}").ingest(log)
seconds = time.monotonic() - started
assert not report.refused, report.refused[0].error
assert report.total("n_samples") == count and report.reconciliation[0].verdict == "exact"
print(seconds)
"""


def run(folder: Path, options: argparse.Namespace) -> None:
    """Print time and memory of both, and the ratios."""
    if options.peer is None:
        print("skipped: name the Python that has inspect-ai with --peer PYTHON")
        return
    log = folder / "bench.eval"
    if not log.exists():
        seconds, _, _ = run_process([str(options.peer), "-c", MAKE, str(log), str(SAMPLES)])
        print(f"made by the real package in {seconds:.0f} s")
    print(f"{SAMPLES} samples, {log.stat().st_size / 1e6:.1f} MB packed")
    arguments = [str(log), str(SAMPLES)]
    peer = time_script(PEER, arguments, options.runs, python=str(options.peer))
    print(f"inspect_ai.analysis.samples_df, full: {peer}")
    ours = time_script(INGEST, [*arguments, str(folder / "bench.duckdb")], options.runs)
    print(f"warehouse ingest: {ours}")
    print(f"speed: {peer.median / ours.median:.1f} x; memory: {ours.peak / peer.peak:.2f} of it")
