"""Answers in, scores out: the distances, equalities and checks of each case, source passes first."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Final

import numpy as np

from promptreg.scoring.channels.edit import EditChannel
from promptreg.scoring.channels.embedding import EmbeddingChannel
from promptreg.scoring.channels.facts import FactChannel, FactOrderChannel, FactReader
from promptreg.scoring.channels.json_values import JsonChannel
from promptreg.scoring.channels.length import LengthChannel
from promptreg.scoring.channels.position import PositionChannel
from promptreg.scoring.channels.reasoning import ReasoningChannel
from promptreg.scoring.channels.tool_calls import ToolCallsChannel
from promptreg.scoring.checks.base import Services
from promptreg.scoring.contract.contract import Contract, contract_of
from promptreg.scoring.extensions import NO_EXTENSIONS, Extensions
from promptreg.scoring.questions import checks_by_case
from promptreg.scoring.rates import CheckRate, check_rates
from promptreg.scoring.similarity import EmbedderSimilarity
from promptreg.scoring.traits import AnswerTraits, Likeness, likeness_of, traits_of
from promptreg.text.normalise import normalise

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence
    from pathlib import Path

    from promptreg.answer.model import Answer
    from promptreg.scoring.channels.base import Channel, Distances
    from promptreg.scoring.checks.registry import BuiltCheck
    from promptreg.scoring.embedders.base import Embedder, EmbeddingCache, Vectors
    from promptreg.scoring.pairs import CasePair

CHANNEL_NAMES: Final = frozenset(
    {
        "edit",
        "embedding",
        "entities",
        "json",
        "length",
        "negation",
        "numbers",
        "order",
        "position",
        "reasoning",
        "tool_calls",
    }
)
"""Names of the built-in channels."""

BLOCK: Final = 256
"""Cases whose texts are embedded together, at most."""

BLOCK_SAMPLES: Final = 16 * BLOCK
"""Their samples, at most, one case apart: bounds what is in memory to some 30 MB for usual answers, and their distances
to 180 MB where a case has hundreds of passes."""


@dataclass(frozen=True, slots=True)
class CaseScores:
    """Everything measured on one case. Samples are numbered 0 to n + m − 1, source passes first."""

    case_id: str
    n: int
    """Source passes."""
    m: int
    """Target passes."""
    answers: tuple[Answer | None, ...]
    """As received, n + m of them."""
    checks: tuple[CheckRate, ...]
    distances: Mapping[str, Distances] = field(default_factory=dict)
    """By channel, each of shape (n + m, n + m). Empty when a sample is missing."""
    traits: tuple[AnswerTraits, ...] = ()
    """One an answer. Empty when a sample is missing."""
    contract: Contract | None = None
    """Which answer has which feature, facts among them. None when a sample is missing or nothing is to be inferred."""
    likeness: Likeness | None = None
    """Which answers are the same text. None when a sample is missing."""

    @property
    def missing_source(self) -> tuple[int, ...]:
        """Source passes without an answer."""
        return tuple(index for index, answer in enumerate(self.answers[: self.n]) if answer is None)

    @property
    def missing_target(self) -> tuple[int, ...]:
        """Target passes without an answer."""
        return tuple(index for index, answer in enumerate(self.answers[self.n :]) if answer is None)

    @property
    def identical_source(self) -> bool:
        """True when every source pass gave the same answer after normalisation, and there are at least two."""
        if self.likeness is None or self.n < 2:
            return False
        return len(set(self.likeness.normalised[: self.n])) == 1

    @property
    def all_equal(self) -> bool:
        """True when all answers of both sides are the same after normalisation."""
        return self.likeness is not None and len(set(self.likeness.normalised)) == 1


def score_suite(
    pairs: Sequence[CasePair],
    *,
    root: Path,
    embedder: Embedder,
    cache: EmbeddingCache | None = None,
    ask: Callable[[str, str], str] | None = None,
    extensions: Extensions = NO_EXTENSIONS,
    on_progress: Callable[[int, int], None] | None = None,
) -> tuple[CaseScores, ...]:
    """Score every case.

    Args:
        pairs: Cases with their answers; the cases' numbers of passes may differ.
        root: The project's folder, for files that checks name.
        embedder: Of the embedding channel. Each distinct text is embedded once, many at a time.
        cache: Keeps vectors between comparisons, such as the store.
        ask: The reply of the deployment of that name (first) to a prompt (second), for checks that ask a judge; see
            `questions.questions_of`.
        extensions: The project's own checks and channels.
        on_progress: Told (cases done, cases in all) after each block of cases.

    Returns:
        One record a case, in the order of `pairs`. `scores_of` gives them one at a time.

    Raises:
        SuiteError: when a check cannot be built; every problem at once.
        ConfigError: when the embedder cannot be used.
    """
    return tuple(
        scores_of(
            pairs,
            root=root,
            embedder=embedder,
            cache=cache,
            ask=ask,
            extensions=extensions,
            on_progress=on_progress,
        )
    )


def scores_of(
    pairs: Sequence[CasePair],
    *,
    root: Path,
    embedder: Embedder,
    cache: EmbeddingCache | None = None,
    ask: Callable[[str, str], str] | None = None,
    extensions: Extensions = NO_EXTENSIONS,
    on_progress: Callable[[int, int], None] | None = None,
) -> Iterator[CaseScores]:
    """`score_suite`, case by case as they are taken: those of one block are in memory."""
    services = Services(similarity=EmbedderSimilarity(embedder, cache), ask=ask)
    checks = checks_by_case(pairs, root, services, extensions)
    facts = FactReader()
    channels = (*_channels(embedder, cache, facts), *extensions.channels)
    done = 0
    checked = iter(checks)
    for some in blocks_of(pairs):
        block = [(pair, next(checked)) for pair in some]
        yield from _score_block(block, channels, facts)
        done += len(block)
        if on_progress is not None:
            on_progress(done, len(pairs))


def texts_to_embed(
    pairs: Sequence[CasePair],
    *,
    root: Path,
    ask: Callable[[str, str], str] | None = None,
    extensions: Extensions = NO_EXTENSIONS,
) -> list[list[str]]:
    """The lists of texts that `score_suite` hands to its embedder for these cases, in order, as if no vector were kept.

    Args:
        pairs: cases that are scored together (`blocks_of`).
        root: see `score_suite`, like the rest.
        ask: as above.
        extensions: as above.

    Raises:
        SuiteError: when a check cannot be built.
    """
    noted = _NotedTexts()
    services = Services(similarity=EmbedderSimilarity(noted), ask=ask)
    EmbeddingChannel(noted).prepare([answers for answers in map(_normalised, pairs) if answers is not None])
    for pair, checks in zip(pairs, checks_by_case(pairs, root, services, extensions), strict=True):
        checked = pair.for_checks()
        for check in checks:
            _prepare(check, checked)
    return noted.lists


class _NotedTexts:
    """An embedder that only notes what it is asked for."""

    name = "noted"

    def __init__(self) -> None:
        self.lists: list[list[str]] = []

    def encode(self, texts: Sequence[str]) -> Vectors:
        self.lists.append(list(texts))
        return np.ones((len(texts), 1), dtype=np.float32)


def _channels(embedder: Embedder, cache: EmbeddingCache | None, facts: FactReader) -> tuple[Channel, ...]:
    return (
        EmbeddingChannel(embedder, cache),
        EditChannel(),
        PositionChannel(),
        LengthChannel(),
        FactChannel("numbers", facts),
        FactChannel("negation", facts),
        FactChannel("entities", facts),
        FactOrderChannel(facts),
        JsonChannel(),
        ToolCallsChannel(),
        ReasoningChannel(),
    )


def blocks_of(pairs: Sequence[CasePair]) -> Iterator[Sequence[CasePair]]:
    """The cases that are scored together, as they follow each other."""
    start, samples = 0, 0
    for place, pair in enumerate(pairs):
        own = len(pair.source) + len(pair.target)
        if place > start and (place - start == BLOCK or samples + own > BLOCK_SAMPLES):
            yield pairs[start:place]
            start, samples = place, 0
        samples += own
    if start < len(pairs):
        yield pairs[start:]


def _score_block(
    block: list[tuple[CasePair, tuple[BuiltCheck, ...]]],
    channels: Sequence[Channel],
    facts: FactReader,
) -> Iterator[CaseScores]:
    prepared = [(pair, checks, _normalised(pair)) for pair, checks in block]
    complete = [answers for _, _, answers in prepared if answers is not None]
    for channel in channels:
        channel.prepare(complete)
    for pair, checks, answers in prepared:
        received = (*pair.source, *pair.target)
        checked = pair.for_checks()
        for check in checks:
            _prepare(check, checked)
        rates = check_rates(checks, checked, len(pair.source), pair.calls())
        scores = CaseScores(pair.case.case_id, len(pair.source), len(pair.target), received, rates)
        if answers is None:
            yield scores
            continue
        distances = {channel.name: channel.distances(answers) for channel in channels if channel.applies(answers)}
        yield replace(
            scores,
            distances=distances,
            traits=traits_of(answers),
            contract=contract_of(answers, facts.stated) if pair.case.infer else None,
            likeness=likeness_of([answer for answer in received if answer is not None], answers, len(pair.source)),
        )


def _prepare(check: BuiltCheck, answers: Sequence[Answer | None]) -> None:
    check.prepare([answer.content for answer in answers if answer is not None])


def _normalised(pair: CasePair) -> tuple[Answer, ...] | None:
    """The answers with normalised contents, equal contents as one; None when one is missing or there are none."""
    received = (*pair.source, *pair.target)
    normal: dict[str, str] = {}
    answers: list[Answer] = []
    for answer in received:
        if answer is None:
            return None
        content = normal.get(answer.content)
        if content is None:
            content = normal[answer.content] = normalise(answer.content)
        answers.append(answer if content == answer.content else replace(answer, content=content))
    return tuple(answers) if answers else None
