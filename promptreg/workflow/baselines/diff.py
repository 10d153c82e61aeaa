"""The baselines as they are against the last commit, or another file: which goldens changed, and how, in words."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from promptreg.baseline.diff import ChangeKind, GoldenChange, fault_counts, golden_changes
from promptreg.baseline.paths import safe_name
from promptreg.baseline.read import MOST_BYTES, parse_baseline
from promptreg.config.encoding import UnreadableTextError, read_limited
from promptreg.errors import UsageError
from promptreg.report.answers import answer_groups
from promptreg.review.decisions import CHINESE_VERBS
from promptreg.review.standing import parse_standing
from promptreg.suite.files import shown_path
from promptreg.text.counted import counted
from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence
from promptreg.workflow.baselines.told_answers import told_answers, told_facts
from promptreg.workflow.git import committed, committed_below

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from promptreg.baseline.model import Baseline, Golden, Header
    from promptreg.canonical import JsonObject
    from promptreg.config import Config
    from promptreg.report.payload import AnswerGroup
    from promptreg.review.standing import StandingCase

BASELINE_DIFF_SCHEMA: Final = "promptreg.baseline-diff/1"

_NEW = Sentence("; the file is new", "；文件是新的")
_GONE = Sentence("; the file is gone", "；文件已删除")


@dataclass(frozen=True, slots=True)
class CaseChange:
    """One case's change in words."""

    case_id: str
    kind: str
    sentence: Sentence


@dataclass(frozen=True, slots=True)
class FileChange:
    """The changes of one file."""

    path: str
    title: Sentence
    cases: tuple[CaseChange, ...]

    def to_json(self) -> JsonObject:
        """The file in `baseline diff --json`."""
        return {
            "path": self.path,
            "title": self.title.en,
            "title_zh": self.title.zh,
            "cases": [
                {
                    "case_id": case.case_id,
                    "kind": case.kind,
                    "sentence": case.sentence.en,
                    "sentence_zh": case.sentence.zh,
                }
                for case in self.cases
            ],
        }


def baseline_changes(config: Config, suites: Sequence[str], against: Path | None) -> tuple[FileChange, ...]:
    """The files under baselines/ that changed, by path.

    Args:
        config: the project.
        suites: names of suites; none for all.
        against: a file to hold the only baseline of the suite against; None for the last commit.

    Raises:
        UsageError: there is no commit to compare with, no such suite, or several baselines for one file.
        BaselineError: a file is damaged.
    """
    root = config.root / config.paths.baselines
    folders = [root / safe_name(suite) for suite in suites] or [root]
    files = {path for folder in folders for path in folder.rglob("*.jsonl")}
    if against is not None:
        files = {path for path in files if path.parent.name != "decisions"}
        if len(files) != 1:
            raise UsageError(
                f"--against holds one baseline against one file, and {len(files)} are meant: name a suite with exactly "
                "one."
            )
        (path,) = files
        return (_baseline_change(config, path, _read(path), _read(against), str(against)),)
    files |= {path for folder in folders for path in committed_below(folder)}
    for suite, folder in zip(suites, folders, strict=False):
        if not any(path.is_relative_to(folder) for path in files):
            raise UsageError(f"Suite {suite!r} has no baseline, neither now nor in the last commit.")
    changes = (_against_commit(config, path) for path in sorted(files))
    return tuple(change for change in changes if change is not None)


def _read(path: Path) -> bytes:
    try:
        return read_limited(path, MOST_BYTES)
    except UnreadableTextError as error:
        raise UsageError(f"{path} cannot be read. {error}") from None


def _against_commit(config: Config, path: Path) -> FileChange | None:
    new = _read(path) if path.exists() else None
    old = committed(path)
    if new == old:
        return None
    if path.parent.name == "decisions":
        return _standing_change(config, path, new, old)
    return _baseline_change(config, path, new, old, f"HEAD:{shown_path(path, config.root)}")


def _baseline_change(config: Config, path: Path, new: bytes | None, old: bytes | None, old_name: str) -> FileChange:
    shown = shown_path(path, config.root)
    after = None if new is None else parse_baseline(new, shown)
    before = None if old is None else parse_baseline(old, old_name)
    changes = golden_changes(before, after)
    said = _header(before, after)
    number = len(after.goldens) if after is not None else 0
    return FileChange(
        path=shown,
        title=Sentence(
            f"{len(changes)} changed, {number} goldens now{said.en}",
            f"{len(changes)} 个有改动，现有 {number} 个基准输出{said.zh}",
        ),
        cases=tuple(_case_change(change, before, after) for change in changes),
    )


def _header(before: Baseline | None, after: Baseline | None) -> Sentence:
    """What changed of the recording itself."""
    if before is None or after is None:
        return _NEW if before is None else _GONE
    old, new = before.header, after.header
    parts = [
        (f"{name} {was} → {now}", f"{zh} {was} → {now}")
        for name, zh, was, now in (
            ("passes", "遍数", old.passes, new.passes),
            ("model", "模型", old.model, new.model),
            ("run", "运行", old.run_id, new.run_id),
            ("fault rules", "故障规则", _rules(old), _rules(new)),
        )
        if was != now
    ]
    return Sentence("".join(f"; {en}" for en, _ in parts), "".join(f"；{zh}" for _, zh in parts))


def _rules(header: Header) -> str:
    rules = header.fault_rules
    return "–" if rules is None else " ".join((rules.release, *rules.own))


def _case_change(change: GoldenChange, before: Baseline | None, after: Baseline | None) -> CaseChange:
    old, new = _told(change.old, before), _told(change.new, after)
    if change.kind is ChangeKind.ADDED:
        said = Sentence(f"added: {new.en}", f"新增：{new.zh}")
    elif change.kind is ChangeKind.REMOVED:
        said = Sentence(f"removed: {old.en}", f"移除：{old.zh}")
    elif change.kind is ChangeKind.FAULTS:
        was, now = _faults(change.old), _faults(change.new)
        said = Sentence(
            f"the same answers, other serving faults in their calls: {was.en} → {now.en}",
            f"回答相同，调用中的服务故障不同：{was.zh} → {now.zh}",
        )
    else:
        why = _why(change)
        facts = _facts(change)
        said = Sentence(f"{why.en}: {old.en} → {new.en}{facts.en}", f"{why.zh}：{old.zh} → {new.zh}{facts.zh}")
    return CaseChange(change.case_id, change.kind.value, said)


def _why(change: GoldenChange) -> Sentence:
    if change.kind is ChangeKind.APPROVED and change.new is not None and change.new.approved is not None:
        by = change.new.approved
        return Sentence(
            f"approved by {by.reviewer} on {by.decided_at[:10]} (run {by.run_id} on {by.deployment})",
            f"{by.reviewer} 于 {by.decided_at[:10]} 批准（{by.deployment} 的运行 {by.run_id}）",
        )
    if change.kind is ChangeKind.ASKED_OTHERWISE:
        return Sentence("another request was recorded", "录制了另一个请求")
    if change.kind is ChangeKind.PASSES:
        return Sentence("the same answers in other passes", "回答相同，所在的遍不同")
    return Sentence("recorded again", "重新录制")


def _told(golden: Golden | None, baseline: Baseline | None) -> Sentence:
    """The most frequent answer of a golden, and how many others it has."""
    if golden is None or baseline is None:
        return Sentence("", "")
    passes = sum(len(part.passes) for part in golden.answers) + len(golden.failed_passes)
    return told_answers(_groups(golden), passes)


def _faults(golden: Golden | None) -> Sentence:
    """Which faults the calls of a golden show, and how many of them each."""
    counts = {} if golden is None else fault_counts(golden)
    if not counts:
        return Sentence("none", "无")
    told = [
        (f"{kind} in {counted(count, 'call')}", f"{kind} 见于 {count} 次调用")
        if count
        else (f"{kind} in all calls together", f"{kind} 见于全部调用的对比")
        for kind, count in counts.items()
    ]
    return Sentence(", ".join(en for en, _ in told), "、".join(zh for _, zh in told))


def _facts(change: GoldenChange) -> Sentence:
    if change.old is None or change.new is None or change.kind is ChangeKind.ASKED_OTHERWISE:
        return Sentence("", "")
    return told_facts(_groups(change.old), _groups(change.new))


def _groups(golden: Golden) -> tuple[AnswerGroup, ...]:
    taken = [*golden.failed_passes, *(index for part in golden.answers for index in part.passes)]
    return answer_groups(golden.by_pass(1 + max(taken, default=-1)))


def _standing_change(config: Config, path: Path, new: bytes | None, old: bytes | None) -> FileChange:
    shown = shown_path(path, config.root)
    after = {} if new is None else parse_standing(new, shown)
    before = {} if old is None else parse_standing(old, f"HEAD:{shown}")
    return FileChange(
        path=shown,
        title=Sentence("decisions", "决定"),
        cases=tuple(_standing_changes(before, after)),
    )


def _standing_changes(before: Mapping[str, StandingCase], after: Mapping[str, StandingCase]) -> Iterator[CaseChange]:
    for case_id in sorted({*before, *after}):
        old, new = before.get(case_id), after.get(case_id)
        if old == new:
            continue
        if new is None:
            assert old is not None, "unreachable because the id comes from one of the two"  # noqa: S101 - for mypy
            yield CaseChange(case_id, "removed", Sentence(f"no longer: {_line(old).en}", f"不再有效：{_line(old).zh}"))
        else:
            yield CaseChange(case_id, new.decision, _line(new))


def _line(case: StandingCase) -> Sentence:
    day, until = case.decided_at[:10], case.expires_on
    reason_en = f": {preview(case.reason, 100)}" if case.reason else ""
    reason_zh = f"，理由：{preview(case.reason, 100)}" if case.reason else ""
    return Sentence(
        f"{case.decision}{'' if until is None else f' until {until}'} by {case.reviewer} on {day}{reason_en}",
        f"{case.reviewer} 于 {day} {CHINESE_VERBS[case.decision]}{'' if until is None else f'至 {until}'}{reason_zh}",
    )
