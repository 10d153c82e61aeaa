"""What a comparison warns of: what its parts were recorded under, and what is not known of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.text.counted import counted
from promptreg.text.sentence import Sentence
from promptreg.workflow.judging.unknown_faults import unknown_warning
from promptreg.workflow.judging.unscored import judge_rates, unscored_warning
from promptreg.workflow.judging.varied import recorded_otherwise
from promptreg.workflow.load import load_warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from promptreg.baseline.model import FaultRules
    from promptreg.store.runs import RunRecord
    from promptreg.workflow.judging.judge import JudgedSuite
    from promptreg.workflow.judging.judge_calls import Judges
    from promptreg.workflow.load import SuiteLoad
    from promptreg.workflow.pairing import Pairing


def large_report(size_bytes: int) -> Sentence:
    """What to say of a report that browsers open slowly."""
    size = f"{size_bytes / 1_000_000:.0f} MB"
    return Sentence(
        f"The report is {size}, which browsers open slowly. `promptreg report RUN --details changed` leaves out what "
        "passed.",
        f"报告有 {size}，浏览器打开较慢。`promptreg report RUN --details changed` 会省略通过的用例。",
    )


def comparison_warnings(
    record: RunRecord,
    judged: tuple[JudgedSuite, ...],
    judges: Judges,
    rules: FaultRules,
    loads: Sequence[SuiteLoad],
) -> tuple[Sentence, ...]:
    """What a reader of a comparison must know beside the verdicts, each once.

    Args:
        record: the target's run.
        judged: its suites.
        judges: those who were asked.
        rules: of faults, as they are now.
        loads: under which the suites were measured.
    """
    told = [load_warning(loads)]
    told += [unknown_warning(suite.pairing.baseline.header, suite.untold, len(suite.pairs), rules) for suite in judged]
    pairings = [suite.pairing for suite in judged]
    told += [_of("Source", "源部署", said) for each in pairings for said in each.baseline.header.warnings]
    told += [_of("Target", "目标部署", said) for said in record.warnings]
    told += [_unscored(suite, record, judges) for suite in judged]
    told += [recorded_otherwise(each.suite, each.varied_otherwise) for each in pairings if each.varied_otherwise]
    told += [_unasked(each, record) for each in pairings if each.unasked]
    return tuple(dict.fromkeys(sentence for sentence in told if sentence is not None))


def _of(en: str, zh: str, said: Sentence) -> Sentence:
    return Sentence(f"{en}: {said.en}", f"{zh}：{said.zh}")


def _unscored(suite: JudgedSuite, record: RunRecord, judges: Judges) -> Sentence | None:
    rates = (rate for scores in suite.scores.values() for rate in judge_rates(scores))
    said = unscored_warning(suite.pairing.suite.name, rates)
    if said is None or not judges.failed:
        return said
    command = f"`promptreg compare --run {record.run_id}`"
    return Sentence(
        f"{said.en} {command} asks those again whose call failed.", f"{said.zh}{command} 会重新询问调用失败的部分。"
    )


def _unasked(pairing: Pairing, record: RunRecord) -> Sentence:
    number = len(pairing.unasked)
    shown = ", ".join(pairing.unasked[:5]) + (", …" if number > 5 else "")
    they, them = ("it is", "it") if number == 1 else ("they are", "them")
    return Sentence(
        f"Suite {pairing.suite.name}: run {record.run_id} did not ask {counted(number, 'recorded case')} as {they} now "
        f"({shown}), so {they} not compared. Compare again without --run to ask {them}.",
        f"测试集 {pairing.suite.name}：运行 {record.run_id} 没有按现在的样子询问 {number} 个已录制的用例（{shown}），"
        "因此未作比较。不带 --run 重新比较即可询问。",
    )
