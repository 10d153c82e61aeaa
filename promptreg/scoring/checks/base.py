"""What a check is: a fact about one answer, and the rule that makes it pass or fail."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from promptreg.text.preview import preview

if TYPE_CHECKING:
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.canonical import Json
    from promptreg.errors import Place
    from promptreg.text.sentence import Sentence


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found out about one answer."""

    holds: bool | None
    """None when it could not be found out: the answer is then unscored, which is neither a pass nor a failure."""
    sentence: Sentence
    """The finding as a statement about the answer ("The answer has 1043 characters, more than 800."), true whichever
    way the rule goes."""


class Check(Protocol):
    """One kind of check with its argument. The registry makes the `not_` form from it."""

    @property
    def rule(self) -> Sentence:
        """What an answer must do ("The answer must contain “7天”.")."""
        ...

    @property
    def negated_rule(self) -> Sentence:
        """The rule of the `not_` form."""
        ...

    def find(self, answer: Answer) -> Finding:
        """What is true of one answer. Looks at the content only, as received; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a check is written: what it needs to resolve and judge its argument."""

    name: str
    """As written in the suite, with `not_` where it is there."""
    root: Path
    """The project's folder."""
    place: Place


class BadArgument(Exception):  # noqa: N818 - never reaches the user; the registry turns it into a SuiteError
    """The argument of a check is wrong; the text is the sentence for the user."""


class Builder(Protocol):
    """Makes a check from its argument."""

    def __call__(self, argument: Json, setting: Setting) -> Check:
        """Build the check.

        Raises:
            BadArgument: when the argument is not allowed.
        """
        ...


def quoted(text: str) -> str:
    """A short safe form of a text inside a sentence."""
    return f"“{preview(text, 60)}”"


def required_text(argument: Json, setting: Setting) -> str:
    """The argument as text that is not empty. Numbers written without quotes count as their text.

    Raises:
        BadArgument: for anything else.
    """
    if isinstance(argument, (int, float)) and not isinstance(argument, bool):
        return str(argument)
    if isinstance(argument, str) and argument:
        return argument
    raise BadArgument(f'`{setting.name}` needs a text that is not empty, such as `{setting.name}: "30 days"`.')


def no_argument(argument: Json, setting: Setting) -> None:
    """Accept a check written by its name alone, or with `true`.

    Raises:
        BadArgument: for anything else.
    """
    if argument is None or argument is True:
        return
    if argument is False:
        other = setting.name.removeprefix("not_") if setting.name.startswith("not_") else f"not_{setting.name}"
        raise BadArgument(f"`{setting.name}: false` says nothing; leave the check out, or write `{other}`.")
    raise BadArgument(f"`{setting.name}` takes no argument; write it alone: `- {setting.name}`.")
