"""`baseline recheck`: the present fault rules look at the stored calls that baselines came from; nobody is called."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptreg.baseline.paths import safe_name
from promptreg.baseline.read import read_baseline
from promptreg.baseline.write import baseline_lines
from promptreg.errors import UsageError
from promptreg.review.write import replace_files
from promptreg.suite.files import shown_path
from promptreg.workflow.baselines.stored_goldens import stored_goldens
from promptreg.workflow.judging.call_faults import present_rules, told_by
from promptreg.workflow.plugins import load_extensions

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from promptreg.baseline.model import Baseline, FaultRules, Golden, Header
    from promptreg.config import Config
    from promptreg.store.store import Store


@dataclass(frozen=True, slots=True)
class RecheckedBaseline:
    """One baseline after the present rules looked at its calls."""

    path: str
    """From the project's folder."""
    cases: int
    told: int
    """Cases of whose every recorded answer the baseline tells now what the call shows."""
    changes: bool


@dataclass(frozen=True, slots=True)
class Recheck:
    """What `baseline recheck` did, or would do."""

    baselines: tuple[RecheckedBaseline, ...]
    written: bool


def recheck(config: Config, store: Store, suites: Sequence[str], *, write: bool) -> Recheck:
    """Let baselines tell what the present rules find in their calls, as far as the store has the very calls.

    Of calls that it does not have, what the very same rules found stays, and what other rules found goes. A baseline
    of which it has no call at all stays as it is.

    Args:
        config: the project.
        store: open.
        suites: names of suites; none for all.
        write: False to change nothing.

    Raises:
        UsageError: there is no baseline, or none of a named suite.
        BaselineError: a baseline is damaged.
        OutputError: a file cannot be written; nothing was changed.
    """
    root = config.root / config.paths.baselines
    rules = present_rules(load_extensions(config.root))
    files: dict[Path, bytes | None] = {}
    found = []
    for path in _paths(root, suites):
        before = read_baseline(path)
        after = _rechecked(config, store, before, rules)
        if after != before:
            files[path] = b"".join(baseline_lines(after))
        told = sum(
            all(index in golden.calls for part in golden.answers for index in part.passes)
            for golden in told_by(after, rules).goldens.values()
        )
        found.append(RecheckedBaseline(shown_path(path, config.root), len(after.goldens), told, after != before))
    if write:
        replace_files(files)
    return Recheck(tuple(found), write)


def _paths(root: Path, suites: Sequence[str]) -> list[Path]:
    found = []
    for suite in suites or ("",):
        paths = sorted((root / safe_name(suite) if suite else root).rglob("*.jsonl"))
        paths = [path for path in paths if path.parent.name != "decisions"]
        if not paths:
            raise UsageError(f"Suite {suite!r} has no baseline." if suite else f"There is no baseline below {root}.")
        found += paths
    return found


def _rechecked(config: Config, store: Store, baseline: Baseline, rules: FaultRules) -> Baseline:
    header = baseline.header
    wanted = {_run_of(golden, header) for golden in baseline.goldens.values()}
    runs = {
        record.run_id: stored_goldens(config, store, record, header.suite)
        for record in store.runs()
        if record.run_id in wanted
    }
    before = told_by(baseline, rules).goldens
    goldens = {
        case_id: _with_calls(golden, runs.get(_run_of(golden, header), {}).get(case_id))
        for case_id, golden in before.items()
    }
    if goldens == before:
        return baseline  # nothing new is known: what other rules found may still serve those who have them
    return replace(baseline, header=replace(header, fault_rules=rules), goldens=goldens)


def _run_of(golden: Golden, header: Header) -> str:
    return header.run_id if golden.approved is None else golden.approved.run_id


def _with_calls(golden: Golden, stored: Golden | None) -> Golden:
    """The golden with what is found in stored calls, where they gave its very answers."""
    if stored is None:
        return golden
    passes = 1 + max((*golden.tried, *stored.tried), default=-1)
    both = zip(golden.by_pass(passes), stored.by_pass(passes), strict=True)
    same = {index for index, (told, now) in enumerate(both) if told == now}.intersection(golden.tried, stored.tried)
    calls = {**golden.calls, **{index: call for index, call in stored.calls.items() if index in same}}
    whole = same == set(golden.tried) == set(stored.tried)
    return replace(golden, calls=calls, together=stored.together if whole else golden.together)
