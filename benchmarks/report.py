"""Size and speed of the report: 10 000 cases of 800 Chinese characters, 2 000 of them changed.

    python benchmarks/report.py [--cases 10000] [--changed 2000] [--browser /usr/bin/chromium]

The writer runs in a process of its own, so that its memory is its own. Budgets: file ≤ 20 MB, writer ≤ 15 s and
< 300 MB resident; in the browser: summary ≤ 1 s, filter ≤ 200 ms, open a case ≤ 150 ms, search ≤ 2 s, ≤ 500 MB.
"""

from __future__ import annotations

import argparse
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from playwright.sync_api import sync_playwright

from promptreg.answer.model import Answer
from promptreg.report.answers import paired_groups
from promptreg.report.html import write_html
from promptreg.report.payload import CaseView, ChannelView, SpreadView
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterator

CHARACTERS = 800
SOURCE_PASSES, TARGET_PASSES = 10, 5


def texts(count: int) -> Iterator[str]:
    """Chinese texts whose characters follow Zipf's law, with a sentence end every twenty characters or so."""
    chance = np.random.default_rng(7)
    alphabet = np.array([chr(code) for code in range(0x4E00, 0x4E00 + 3000)])
    chance.shuffle(
        alphabet
    )  # in the order of Unicode the most frequent ones would be 一, 七 and 万: numbers everywhere
    cumulative = np.cumsum(1 / np.arange(1, len(alphabet) + 1))
    for _ in range(count):
        letters = alphabet[np.searchsorted(cumulative, chance.random(CHARACTERS) * cumulative[-1])]
        letters[chance.integers(12, 28) :: 20] = "。"
        yield letters.tobytes().decode("utf-32")


def cases(count: int, changed: int) -> Iterator[CaseView]:
    """Cases as a comparison would give them, differences included: computing them is part of the writer's time."""
    chance = random.Random(7)
    alphabet = [chr(code) for code in range(0x4E00, 0x4E00 + 3000)]
    for number, golden in enumerate(texts(count)):
        is_changed = number % (count // changed) == 0
        candidate = list(golden)
        if is_changed:
            for _ in range(8):
                candidate[chance.randrange(CHARACTERS)] = chance.choice(alphabet)
        answers = [Answer(golden)] * SOURCE_PASSES, [Answer("".join(candidate))] * TARGET_PASSES
        groups = paired_groups(*answers)
        spread = SpreadView((0.1,) * SOURCE_PASSES, (0.1 + chance.random(),) * TARGET_PASSES)
        yield CaseView(
            suite="support",
            case_id=f"case-{number:05}",
            verdict="drift" if is_changed else "pass",
            severity=chance.random() + is_changed,
            sentence=Sentence(
                "The wording moved by more than the source's own noise.", "措辞的变化超出了源部署自身的波动。"
            ),
            tags=(f"tag-{number % 20}",),
            channels=(ChannelView("edit", 1.0, 2.0, spread=spread),),
            golden=groups.golden,
            candidate=groups.candidate,
            messages=({"role": "user", "content": golden[:60]},),
            golden_sha256=groups.golden[0].sha256,
            candidate_sha256=groups.candidate[0].sha256,
        )


def write(path: Path, count: int, changed: int, details: Any) -> None:
    """Writes the report and prints seconds, resident memory and size as JSON."""
    cpu, start = time.process_time(), time.perf_counter()
    written = write_html(replace(sample_payload(), cases=cases(count, changed)), path, details=details)
    took = time.perf_counter() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    cpu = time.process_time() - cpu
    print(json.dumps({"seconds": took, "cpu": cpu, "resident_mb": peak, "size_mb": written.size_bytes / 1e6}))


def browse(path: Path, chromium: str) -> dict[str, float]:
    """Milliseconds of what a reader does (the best of six where it can be repeated), and the page's memory."""
    options = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=options)
        page = browser.new_page(viewport={"width": 1440, "height": 900})
        start = time.perf_counter()
        page.goto(path.as_uri(), wait_until="commit")
        page.wait_for_selector("#verdict-heading")
        result = {"summary visible": (time.perf_counter() - start) * 1000}
        result["first paint"] = page.evaluate("performance.getEntriesByName('first-contentful-paint')[0].startTime")
        page.wait_for_load_state("load")
        result["everything loaded"] = (time.perf_counter() - start) * 1000
        result["filter by verdict"] = min(page.evaluate(_TIMED, [".facet.v-drift", None]) for _ in range(6))
        result["open a case, cold"] = page.evaluate(_TIMED, ["#case-rows a", "#case-heading"])
        result["open a case, warm"] = min(
            page.evaluate(_TIMED, [".step:last-child", "#case-heading"]) for _ in range(6)
        )
        result["search all texts"] = page.evaluate(_SEARCH, "没有这个词")
        result["memory MB"] = page.evaluate("performance.memory.usedJSHeapSize / 1e6")
        browser.close()
    return result


# From the click to the frame after the next, when what was asked for is painted.
_TIMED = """async ([click, wanted]) => {
    const start = performance.now();
    const before = document.querySelector(wanted || "body")?.textContent;
    document.querySelector(click).click();
    while (wanted && !(document.querySelector(wanted) && document.querySelector(wanted).textContent !== before)) {
        await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)));
    return performance.now() - start;
}"""

_SEARCH = """async (query) => {
    const start = performance.now();
    const box = document.getElementById("search");
    box.value = query;
    box.dispatchEvent(new InputEvent("input", {bubbles: true}));
    const wait = (ms) => new Promise((resolve) => setTimeout(resolve, ms));
    while (!/^0 /.test(document.getElementById("found").textContent)) await wait(5);
    // The list alone answers with nothing at once; the texts have been read when no chunk is left.
    let last = "";
    for (let calm = 0; calm < 3; calm += last === document.getElementById("found").textContent ? 1 : 0) {
        last = document.getElementById("found").textContent;
        await wait(200);
        if (/:/.test(last)) calm = 0;
    }
    return performance.now() - start - 600;
}"""


def main() -> None:
    """Prints the figures for all details and for changed cases only."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--changed", type=int, default=2_000)
    parser.add_argument("--browser", default="/usr/bin/chromium")
    parser.add_argument("--write", nargs=2, help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.write:
        write(Path(arguments.write[0]), arguments.cases, arguments.changed, arguments.write[1])
        return
    with tempfile.TemporaryDirectory() as folder:
        for details in ("all", "changed"):
            path = Path(folder) / f"{details}.html"
            command = [sys.executable, __file__, "--cases", str(arguments.cases), "--changed", str(arguments.changed)]
            output = subprocess.run(
                [*command, "--write", str(path), details], check=True, capture_output=True, text=True
            )
            figures = json.loads(output.stdout)
            print(f"details {details}: " + ", ".join(f"{name} {value:.1f}" for name, value in figures.items()))
            if Path(arguments.browser).exists():
                for name, value in browse(path, arguments.browser).items():
                    print(f"  {name:<20} {value:8.0f}")


if __name__ == "__main__":
    main()
