"""Cases under a context: what a deployment is sent of each, by its own window and its own counter.

The request of such a case is the whole conversation. What goes out is what the case's strategy leaves of it, and that
is what has a hash: the baseline holds the hash of what the source was sent, so another strategy or window makes a case
new only where the source would be sent something else.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

from promptreg.text.counted import counted, part_of
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config
    from promptreg.context.budget import Budget
    from promptreg.context.fit import Fitted
    from promptreg.suite.model import Case, Suite

UNSENT: Final = Sentence("Nothing was sent: ", "未发送：")
"""Begins the problem of a case that cannot be shortened enough."""


@dataclass(frozen=True, slots=True)
class Refused:
    """A refusal for length of a prompt that was counted as fitting. Numbers in tokens."""

    counted: int
    """Of the prompt, by promptreg's counter."""
    served: int | None
    """Of the prompt, by the server; None where it does not tell."""
    window: int | None
    """What the server says that its window is."""
    sentence: Sentence

    def to_json(self) -> dict[str, Json]:
        """The form used in JSON output."""
        return {
            "counted": self.counted,
            "served": self.served,
            "window": self.window,
            "sentence": self.sentence.to_json(),
        }


@dataclass(frozen=True, slots=True)
class FittedCase:
    """A case under a context, for one deployment."""

    case: Case
    """With the request that is sent. Of a case that cannot be shortened enough, one without messages: nothing is."""
    written: tuple[JsonObject, ...]
    """The messages of the whole conversation."""
    strategy: str
    """As the suite names it."""
    budget: Budget
    counter: str
    exact: bool
    """Whether the counter knows the prompt format; else it estimates."""
    provable: bool
    """Whether what goes out can be seen; not where a function of the user's own sends it on."""
    guessed: Sentence | None = None
    """What was guessed about the counter."""
    fitted: Fitted | None = None
    """None where it cannot be shortened enough."""
    problem: Sentence | None = None
    """Why not, with the numbers."""
    refused: Refused | None = None
    """With which count the deployment refused it as too long, where a run says so."""

    @property
    def shortened(self) -> bool:
        """Whether anything is missing or changed in what is sent."""
        return self.fitted is not None and bool(self.fitted.ledger.entries)

    @property
    def dropped(self) -> tuple[int, ...]:
        """Places of the messages that are not sent, ascending."""
        return () if self.fitted is None else tuple(sorted(self.fitted.ledger.absent))

    @property
    def changed(self) -> tuple[int, ...]:
        """Places of the messages that are sent cut or replaced, ascending."""
        entries = () if self.fitted is None else self.fitted.ledger.entries
        gone = self.dropped
        return tuple(entry.index for entry in entries if entry.index not in gone)

    def to_json(self) -> dict[str, Json]:
        """One side of a case in `compare --json`."""
        fitted = self.fitted
        return {
            "counter": self.counter,
            "window": self.budget.window,
            "reserve": self.budget.reserve,
            "budget": self.budget.tokens,
            "total": None if fitted is None else fitted.total,
            "whole": None if fitted is None else fitted.ledger.before,
            "messages": len(self.written),
            "dropped": list(self.dropped),
            "changed": list(self.changed),
            "inserted": 0 if fitted is None else sum(origin is None for origin in fitted.origins),
            "provable": self.provable,
            "problem": None if self.problem is None else self.problem.en,
            "problem_zh": None if self.problem is None else self.problem.zh,
            "refused": None if self.refused is None else self.refused.to_json(),
        }

    def stored(self) -> JsonObject:
        """The form in the store, with the whole ledger."""
        ledger = None if self.fitted is None else self.fitted.ledger.to_json()
        return {"strategy": self.strategy, **self.to_json(), "ledger": ledger}


@dataclass(frozen=True, slots=True)
class Contexts:
    """The cases under a context, for one deployment."""

    deployment: str = ""
    cases: Mapping[tuple[str, str], FittedCase] = field(default_factory=lambda: MappingProxyType({}))
    """By suite and case id; a case without a context is not in it."""

    def of(self, case: Case) -> FittedCase | None:
        """How the case is fitted; None for one without a context."""
        return self.cases.get((case.suite, case.case_id))

    def sent(self, case: Case) -> Case:
        """The case with the request that is sent."""
        found = self.of(case)
        return case if found is None else found.case

    def suite(self, suite: Suite) -> Suite:
        """The suite with the requests that are sent."""
        return replace(suite, cases=tuple(map(self.sent, suite.cases)))

    def only(self, cases: Iterable[Case]) -> Contexts:
        """Those of some cases."""
        keys = {(case.suite, case.case_id) for case in cases}
        return replace(self, cases={key: fitted for key, fitted in self.cases.items() if key in keys})

    def stored(self) -> dict[tuple[str, str], JsonObject]:
        """What the store keeps of them, by suite and case id."""
        return {key: fitted.stored() for key, fitted in self.cases.items()}


NO_CONTEXTS: Final = Contexts()


def contexts_of(config: Config, suites: Sequence[Suite], deployments: Sequence[str]) -> tuple[Contexts, ...]:
    """What each deployment is sent of the cases under a context. Where there are none, none needs to be configured.

    Raises:
        ConfigError: a deployment's window or tokenizer is not known, or a request asks for several samples.
        SuiteError: nothing of a window is left for the prompt of a case, whatever it says.
    """
    if not any(case.context is not None for suite in suites for case in suite.cases):
        return tuple(NO_CONTEXTS for _ in deployments)
    # Only now: what shortens conversations takes a while to load, and most projects have none to shorten.
    from promptreg.workflow.context.case_contexts import CaseFitter  # noqa: PLC0415 - see above

    fitter = CaseFitter(config)
    return tuple(fitter.fit(config.deployment(name), suites) for name in deployments)


def summary_of(contexts: Contexts, cases: Sequence[Case]) -> tuple[Sentence, ...]:
    """What was shortened for a deployment, in a line; none where no case has a context.

    Args:
        contexts: of the deployment.
        cases: the ones that it is asked.
    """
    found = [fitted for case in cases if (fitted := contexts.of(case)) is not None]
    if not found:
        return ()
    total, name = len(cases), contexts.deployment
    shortened = [fitted for fitted in found if fitted.shortened]
    unsent = sum(fitted.problem is not None for fitted in found)
    messages = sum(len(fitted.written) for fitted in shortened)
    dropped = sum(len(fitted.dropped) for fitted in shortened)
    changed = sum(len(fitted.changed) for fitted in shortened)
    lines = [
        Sentence(
            f"{part_of(len(shortened), total, 'case', 'was', 'were')} shortened for `{name}`: "
            f"{dropped} of {counted(messages, 'message')} dropped{f', {changed} cut or replaced' if changed else ''}.",
            f"{total} 个用例中有 {len(shortened)} 个为“{name}”缩短：{messages} 条消息中移除 {dropped} 条"
            f"{f'，截短或替换 {changed} 条' if changed else ''}。",
        )
        if shortened
        else Sentence(
            f"No conversation had to be shortened for `{name}`.",
            f"没有对话需要为“{name}”缩短。",
        )
    ]
    if unsent:
        lines.append(
            Sentence(
                f"{unsent} of {counted(total, 'case')} cannot be shortened enough for `{name}` and "
                f"{'was' if unsent == 1 else 'were'} not sent.",
                f"{total} 个用例中有 {unsent} 个无法缩短到“{name}”的窗口之内，未发送。",
            )
        )
    return tuple(lines)
