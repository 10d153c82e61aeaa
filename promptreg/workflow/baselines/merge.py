"""Recordings that keep part of an earlier baseline: `--select` records some cases again, `--top-up` what is missing."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.baseline.model import Baseline, Golden, golden_of
from promptreg.baseline.paths import baseline_path
from promptreg.baseline.read import read_baseline
from promptreg.canonical import canonical_json
from promptreg.deployment.fingerprint import Fingerprint, differences
from promptreg.errors import BaselineError, UsageError
from promptreg.text.counted import counted, part_of
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from promptreg.answer.model import Answer
    from promptreg.canonical import JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.suite.model import Case, Suite

_LACKING = "an answer in at least one pass."
_APART = "in another run than the rest."


def earlier_baselines(
    config: Config, suites: Iterable[Suite], deployment: Deployment, request_defaults: JsonObject
) -> dict[str, Baseline]:
    """The baselines that a recording would add to, by suite; suites without one are left out.

    Raises:
        BaselineError: a baseline is damaged.
        UsageError: a baseline was recorded with another model or other request defaults: one file cannot hold both.
    """
    found = {}
    for suite in suites:
        path = baseline_path(config.root / config.paths.baselines, suite.name, deployment.name)
        if not path.exists():
            continue
        baseline = read_baseline(path)
        header = baseline.header
        if header.model != deployment.model:
            what = f"the model {header.model!r}, not {deployment.model!r}"
        elif canonical_json(header.request_defaults) != canonical_json(request_defaults):
            what = f"other request defaults than deployment {deployment.name!r} has now"
        else:
            found[suite.name] = baseline
            continue
        raise UsageError(
            f"The baseline of suite {suite.name!r} was recorded with {what}. Record the whole suite again, without "
            "--select and --top-up."
        )
    return found


def held_passes(
    suites: Iterable[Suite], earlier: Mapping[str, Baseline], passes: int
) -> frozenset[tuple[str, str, int]]:
    """What need not be asked again: (suite, case id, pass) with a recorded answer to the very same request.

    Of a golden that a reviewer approved, all passes: its answers are a target's, and those of the source are no more
    of the same.
    """
    return frozenset(
        (suite.name, case.case_id, pass_index)
        for suite in suites
        for case in suite.cases
        for pass_index in _not_asked(case, earlier.get(suite.name), passes)
    )


def replaced_approvals(config: Config, cases: Iterable[Case], deployment: str) -> Sentence | None:
    """The sentence about goldens that a reviewer approved and a recording of these cases replaces; None for none."""
    by_suite: dict[str, list[Case]] = {}
    for case in cases:
        by_suite.setdefault(case.suite, []).append(case)
    found: list[str] = []
    for suite, members in by_suite.items():
        try:
            baseline = read_baseline(baseline_path(config.root / config.paths.baselines, suite, deployment))
        except BaselineError:
            continue  # there is none, or the recording mends a damaged one
        found += [f"{suite}/{case.case_id}" for case in members if _approved(case, baseline)]
    if not found:
        return None
    shown = ", ".join(found[:5]) + (", …" if len(found) > 5 else "")
    return Sentence(
        f"Goldens that reviewers approved ({shown}) are replaced by what {deployment} answers now. `promptreg baseline "
        "diff` shows them; --select leaves cases out.",
        f"评审人批准的基准输出（{shown}）将被 {deployment} 现在的回答替换。用 `promptreg baseline diff` 查看；"
        "用 --select 可排除用例。",
    )


def added_to(golden: Golden, case: Case, earlier: Baseline | None) -> Golden:
    """A golden of the new run with the passes that the earlier baseline holds of the same request."""
    held = _held(case, earlier)
    if not held:
        return golden
    taken: dict[int, Answer | None] = dict.fromkeys(golden.failed_passes)
    taken.update({index: part.answer for part in golden.answers for index in part.passes})
    variants = {} if earlier is None else {**golden.variants, **earlier.goldens[case.case_id].variants}
    whole = golden_of(golden.case_id, golden.request_sha256, {**taken, **held}, variants)
    told = {} if earlier is None else earlier.goldens[case.case_id].calls
    # What all calls show together is not known: nobody looked at those of both runs side by side.
    return replace(whole, calls={**golden.calls, **{index: told[index] for index in held if index in told}})


def merge_warnings(
    goldens: Mapping[str, Golden], kept: int, earlier: Baseline | None, now: Fingerprint
) -> list[Sentence]:
    """What a reader of a baseline must know about how its parts came together.

    Args:
        goldens: of the new run, by case id.
        kept: how many goldens of the earlier baseline stay, whole or in part.
        earlier: the baseline that the new goldens were added to.
        now: the deployment's fingerprint at the new run.
    """
    found: list[Sentence] = []
    if earlier is not None and kept:
        found += [said for said in earlier.header.warnings if not said.en.endswith((_LACKING, _APART))]
        were = "was" if len(goldens) == 1 else "were"
        found.append(
            Sentence(
                f"{counted(len(goldens), 'case')} {were} recorded, or topped up, {_APART}",
                f"{len(goldens)} 个用例是在另一次运行中录制或补录的，与其余用例不同。",
            )
        )
        found += differences(Fingerprint.from_json(earlier.header.fingerprint or {}), now)
    lacking = sum(bool(golden.failed_passes) for golden in goldens.values())
    if lacking:
        found.append(
            Sentence(
                f"{part_of(lacking, len(goldens), 'case', 'lacks', 'lack')} {_LACKING}",
                f"{len(goldens)} 个用例中有 {lacking} 个至少有一遍没有回答。",
            )
        )
    return found


def _not_asked(case: Case, earlier: Baseline | None, passes: int) -> Iterable[int]:
    return range(passes) if _approved(case, earlier) else _held(case, earlier)


def _approved(case: Case, earlier: Baseline | None) -> bool:
    golden = None if earlier is None else earlier.goldens.get(case.case_id)
    return golden is not None and golden.approved is not None and golden.request_sha256 == case.request.sha256


def _held(case: Case, earlier: Baseline | None) -> dict[int, Answer]:
    golden = None if earlier is None else earlier.goldens.get(case.case_id)
    if golden is None or (golden.request_sha256, golden.noise) != (case.request.sha256, case.noise):
        return {}
    return {index: part.answer for part in golden.answers for index in part.passes}
