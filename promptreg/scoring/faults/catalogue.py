"""What is told about each kind: what the user sees, the next step, the likely causes. The texts are in a data file."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib import resources
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from promptreg.scoring.faults.model import Finding, Severity
from promptreg.scoring.faults.reading.evidence import shown
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping


@dataclass(frozen=True, slots=True)
class Entry:
    """One kind of fault."""

    kind: str
    title: Sentence
    """A few words: "The same phrase again and again"."""
    sees: Sentence
    """What a user of the application sees."""
    next_step: Sentence
    severity: Severity
    """The severity where the rule does not decide between several."""
    suspects: tuple[str, ...] = ()
    """Keys of `Catalogue.suspects`, the likeliest first."""

    def found(
        self,
        where: str,
        evidence: Sentence | str,
        severity: Severity | None = None,
        suspects: tuple[str, ...] | None = None,
    ) -> Finding:
        """A finding of this kind; what texts from outside stand in `evidence` is shortened and made safe here.

        Args:
            where: field, frame and offset, such as `content[120]`.
            evidence: what was seen: a sentence, or a quote that is the same in every language.
            severity: where it is not the kind's usual one.
            suspects: where they are not the kind's usual ones.
        """
        causes = self.suspects if suspects is None else suspects
        return Finding(self.kind, severity or self.severity, shown(where, 80), _seen(evidence), causes)


@dataclass(frozen=True, slots=True)
class Catalogue:
    """All kinds, and all suspects."""

    entries: Mapping[str, Entry]
    suspects: Mapping[str, Sentence]
    """What to try, by the suspect's name."""

    def with_entries(self, own: Mapping[str, Entry]) -> Catalogue:
        """The same with kinds of the user's own."""
        return Catalogue(MappingProxyType({**self.entries, **own}), self.suspects) if own else self


@cache
def catalogue() -> Catalogue:
    """The catalogue of this version."""
    text = resources.files(__package__ or "").joinpath("catalogue.toml").read_text("utf-8")
    data = tomllib.loads(text)
    suspects = {name: _sentence(value) for name, value in data.pop("suspects").items()}
    return Catalogue(
        MappingProxyType({kind: _entry(kind, value) for kind, value in data.items()}),
        MappingProxyType(suspects),
    )


def found(
    kind: str,
    where: str,
    evidence: Sentence | str,
    severity: Severity | None = None,
    suspects: tuple[str, ...] | None = None,
) -> Finding:
    """A finding with the catalogue's severity and suspects; the evidence is shortened and made safe here.

    Args:
        kind: `F01` to `F55`.
        where: field, frame and offset.
        evidence: a sentence in which texts from outside may stand, or a quote of one.
        severity: where it is not the kind's usual one.
        suspects: where they are not the kind's usual ones.
    """
    return catalogue().entries[kind].found(where, evidence, severity, suspects)


def _seen(evidence: Sentence | str) -> Sentence:
    en, zh = (evidence, evidence) if isinstance(evidence, str) else (evidence.en, evidence.zh)
    return Sentence(shown(en), shown(zh))


def _entry(kind: str, value: dict[str, Any]) -> Entry:
    return Entry(
        kind,
        title=_sentence(value["title"]),
        sees=_sentence(value["sees"]),
        next_step=_sentence(value["next"]),
        severity=Severity(value["severity"]),
        suspects=tuple(value["suspects"]),
    )


def _sentence(value: dict[str, str]) -> Sentence:
    return Sentence(value["en"], value["zh"])
