"""What a check is: a fact about one answer, and the rule that makes it pass or fail."""

from __future__ import annotations

from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Final, NamedTuple, Protocol, runtime_checkable

from promptreg.text.preview import preview
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer, Usage
    from promptreg.canonical import Json
    from promptreg.errors import Place


@dataclass(frozen=True, slots=True)
class Finding:
    """What a check found out about one answer."""

    holds: bool | None
    """None when it could not be found out: the answer is then unscored, which is neither a pass nor a failure."""
    sentence: Sentence
    """The finding as a statement about the answer ("The answer has 1043 characters, more than 800."), true whichever
    way the rule goes."""


@dataclass(frozen=True, slots=True)
class Rules:
    """What an answer must do to pass a check, and what it must do to pass the `not_` form."""

    plain: Sentence
    negated: Sentence


def must(en: str, zh: str) -> Rules:
    """Both rules from what the answer must do: "contain “7天”" and "包含“7天”"."""
    return Rules(
        Sentence(f"The answer must {en}.", f"回答必须{zh}。"),
        Sentence(f"The answer must not {en}.", f"回答不得{zh}。"),
    )


def found(holds: bool | None, en: str, zh: str) -> Finding:
    """A finding from what the answer does: "contains “7天”" and "包含“7天”"."""
    return Finding(holds, Sentence(f"The answer {en}.", f"回答{zh}。"))


def too_long(content: str, most: int) -> Finding | None:
    """The finding that an answer is longer than a check reads, which leaves it unscored; None when it is not."""
    if len(content) <= most:
        return None
    return Finding(
        None,
        Sentence(
            f"The answer has {len(content)} characters; this check reads at most {most}.",
            f"回答有 {len(content)} 个字符；此检查项最多读取 {most} 个。",
        ),
    )


class Check(Protocol):
    """One kind of check with its argument. The registry makes the `not_` form from it."""

    @property
    def rules(self) -> Rules:
        """What an answer must do, both ways round."""
        ...

    def find(self, answer: Answer) -> Finding:
        """What is true of one answer, contents as received; never raises."""
        ...


@dataclass(frozen=True, slots=True)
class Measured:
    """What is known of the call that gave an answer, beside the answer."""

    seconds: float | None = None
    """From sending the request to the end of the answer."""
    first_token_seconds: float | None = None
    """From sending to the first chunk with content; None without a stream."""
    usage: Usage | None = None


@runtime_checkable
class MeasuredCheck(Protocol):
    """A check that also needs to know how the call went. `find` is then asked for answers without a known call."""

    def find_measured(self, answer: Answer, measured: Measured) -> Finding:
        """What is true of one answer and its call; never raises."""
        ...


@runtime_checkable
class PreparedCheck(Protocol):
    """A check that is quicker when it sees many answers at once."""

    def prepare(self, contents: Sequence[str]) -> None:
        """Make what `find` will need for these contents."""
        ...


class Question(NamedTuple):
    """What a judge is asked."""

    by: str
    """Name of the judge's deployment."""
    prompt: str


@runtime_checkable
class AskingCheck(Protocol):
    """A check that asks a judge. All questions are gathered and asked together before the first answer is scored."""

    def questions(self, answer: Answer) -> Sequence[Question]:
        """Everything that `find` will ask about an answer; never raises."""
        ...


class Similarity(Protocol):
    """How alike texts are in meaning, by the project's embedder."""

    def prepare(self, pairs: Iterable[tuple[str, str]]) -> None:
        """Embed the texts of these pairs in one go."""
        ...

    def cosine(self, first: str, second: str) -> float:
        """Cosine of the angle between two texts, -1 to 1."""
        ...


@dataclass(frozen=True, slots=True)
class Services:
    """What checks may use beside the answer. None of it is there while a suite is only being read."""

    similarity: Similarity | None = None
    count_tokens: Callable[[str], int] | None = None
    ask: Callable[[str, str], str] | None = None
    """The reply of a deployment (first) to a prompt (second); raises PromptregError where there is none."""
    judges: Collection[str] | None = None
    """Names of the deployments that can be asked; None where they are not known."""


NO_SERVICES: Final = Services()


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a check is written: what it needs to resolve and judge its argument."""

    name: str
    """As written in the suite, with `not_` where it is there."""
    root: Path
    """The project's folder."""
    place: Place
    services: Services = NO_SERVICES


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


_FOR_SEVERAL: Final = MappingProxyType(
    {
        "contains": "`{}_all` or `{}_any`",
        "icontains": "`{}_all` or `{}_any`",
        "equals": "`one_of`",
        "iequals": "`one_of`",
    }
)
"""The check that takes several texts where this one takes one."""


def written_text(value: Json, named: str, example: str) -> str:
    """A value as text that is not empty. A number written without quotes counts as its text.

    Args:
        value: As written.
        named: How the sentence calls it, such as "`to` of `similar`".
        example: A right way to write it.

    Raises:
        BadArgument: for anything else, with what it is instead.
    """
    if isinstance(value, bool):
        word = str(value).lower()
        raise BadArgument(f'{named} needs a text; put it in quotes where the word is meant: `"{word}"`.')
    if isinstance(value, (int, float)):
        return str(value)
    if isinstance(value, str) and value:
        return value
    from promptreg.config.problems import named_kind  # noqa: PLC0415 - loads pydantic, for an error only

    instead = "" if value is None or value == "" else f", not {named_kind(value)}"
    raise BadArgument(f"{named} needs a text that is not empty{instead}, such as `{example}`.")


def required_text(argument: Json, setting: Setting) -> str:
    """The argument as text that is not empty. Numbers written without quotes count as their text.

    Raises:
        BadArgument: for anything else.
    """
    name = setting.name.removeprefix("not_")
    if isinstance(argument, (list, tuple)) and name in _FOR_SEVERAL:
        other = _FOR_SEVERAL[name].replace("{}", setting.name)
        if setting.name.startswith("not_"):
            other = other.replace("`one_of`", "`not_one_of`")
        raise BadArgument(f"`{setting.name}` takes one text, not a list; for several texts write {other}.")
    return written_text(argument, f"`{setting.name}`", f'{setting.name}: "30 days"')


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
