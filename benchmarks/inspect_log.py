"""An Inspect log of 10 000 samples into the full schema, against Inspect's own data
frame."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

from measure import INGEST, Row, interleaved, run_process, script, spaced

SAMPLES = 10_000

#: Samples that are really asked, which takes long; the others are these again under
#: other numbers, packed as they are.
ASKED = 100

#: Runs with the package's own interpreter: a real evaluation, answered by its mock
#: model.
MAKE = """
import json, shutil, sys, tempfile
from zipfile import ZipFile
from inspect_ai import Task, eval
from inspect_ai.dataset import MemoryDataset, Sample
from inspect_ai.model import ModelOutput, ModelUsage, get_model
from inspect_ai.scorer import includes, match
from inspect_ai.solver import chain_of_thought, generate, system_message
path, count, asked = sys.argv[1], int(sys.argv[2]), int(sys.argv[3])
words = [f"{chr(97 + n % 26)}{n * 7919 % 9973}" for n in range(3000)]
def text(seed, length):
    return " ".join(words[(seed * 31 + n * n * 17 + n) % 3000] for n in range(length))
samples = [Sample(id=n, input=f"Question {n}: {text(n, 60)}?", target=words[n % 3000],
                  metadata={"subject": words[n % 40], "source": text(n % 100, 8)})
           for n in range(min(count, asked))]
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
    shutil.copy(log.location.removeprefix("file://"), path + ".asked")
with ZipFile(path + ".asked") as source, ZipFile(path, "w", source.infolist()[0].compress_type) as out:
    def again(text, n):
        sample = json.loads(text.replace(f"Question {n % asked}:", f"Question {n}:"))
        return sample | {"id": n, "uuid": f"{n:022}"}
    texts = [source.read(f"samples/{n}_epoch_1.json").decode() for n in range(min(count, asked))]
    for n in range(count):
        out.writestr(f"samples/{n}_epoch_1.json", json.dumps(again(texts[n % asked], n)))
    shown = {one["id"]: json.dumps(one) for one in json.loads(source.read("summaries.json"))}
    out.writestr("summaries.json", json.dumps([again(shown[n % asked], n) for n in range(count)]))
    header = json.loads(source.read("header.json"))
    header["eval"]["dataset"] |= {"samples": count, "sample_ids": list(range(count))}
    header["results"] |= {"total_samples": count, "completed_samples": count}
    out.writestr("_journal/start.json", source.read("_journal/start.json"))
    out.writestr("header.json", json.dumps(header))
"""

PEER = """
import sys
from inspect_ai.analysis import SampleMessages, SampleSummary, SampleScores, samples_df
started = now()
frame = samples_df(sys.argv[1], columns=[*SampleSummary, *SampleScores, *SampleMessages],
                   full=True, quiet=True)
assert len(frame) == int(sys.argv[2]) and "messages" in frame
spent(started)
"""


def run(folder: Path, options: argparse.Namespace) -> Iterator[Row]:
    """Needs a Python that has inspect-ai."""
    if options.peer is None:
        print("skipped: name the Python that has inspect-ai with --peer PYTHON")
        return
    log, small = folder / "bench.eval", folder / "small.eval"
    for file, samples in ((log, SAMPLES), (small, 5)):
        if not file.exists():
            run_process(
                [str(options.peer), "-c", MAKE, str(file), str(samples), str(ASKED)]
            )
    peer, ours = interleaved(
        options.runs,
        script(PEER, [str(log), str(SAMPLES)], str(options.peer)),
        script(INGEST, [str(folder / "inspect.duckdb"), str(log), str(small)]),
    )
    work = f"Inspect log of {spaced(SAMPLES)} samples"
    yield Row(
        work, ours, {"times as fast": 12}, "inspect_ai.analysis.samples_df, full", peer
    )
