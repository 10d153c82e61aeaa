"""Your own checks, channels, kinds of faults and embedders: the hooks, and what they are built with.

Write functions with these names into `promptreg_hooks.py` beside your promptreg.toml, or into a package that names its
module in the entry point group `promptreg`. Each hook may take `root`, the project's folder, or no argument. It is
called once per run of a command. docs/extending.md shows a whole project.

```python
from promptreg.hooks import found, must

class Polite:
    rules = must("thank the user", "感谢用户")

    def find(self, answer):
        thanks = "thank" in answer.content.lower() or "谢" in answer.content
        return found(thanks, "thanks the user" if thanks else "has no thanks", "有感谢" if thanks else "没有感谢")

def promptreg_checks():
    return {"polite": lambda argument, setting: Polite()}
```

A name that promptreg or another plugin has already, a hook that raises and a hook that returns something else end the
command with exit code 2 and a sentence that names the line.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import pluggy

from promptreg.answer.model import Answer
from promptreg.scoring.channels.base import Channel, over_distinct
from promptreg.scoring.channels.pairwise import PairwiseChannel
from promptreg.scoring.checks.base import (
    BadArgument,
    Check,
    Finding,
    Rules,
    Setting,
    found,
    must,
    no_argument,
    required_text,
)
from promptreg.scoring.extensions import NAMESPACE, FaultKind
from promptreg.scoring.faults.catalogue import Entry
from promptreg.scoring.faults.model import Observation, Severity
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence
    from pathlib import Path

    from promptreg.scoring.checks.base import Builder
    from promptreg.scoring.embedders.base import Embedder

__all__ = [
    "Answer",
    "BadArgument",
    "Channel",
    "Check",
    "Entry",
    "FaultKind",
    "Finding",
    "HookSpecs",
    "Observation",
    "PairwiseChannel",
    "Rules",
    "Sentence",
    "Setting",
    "Severity",
    "found",
    "hookimpl",
    "must",
    "no_argument",
    "over_distinct",
    "required_text",
]

hookspec: Final = pluggy.HookspecMarker(NAMESPACE)
hookimpl: Final = pluggy.HookimplMarker(NAMESPACE)
"""Marks a hook. Not needed: every function whose name begins with `promptreg_` is one."""


class HookSpecs:
    """The hooks. A project's file, or a plugin, has any of them."""

    @hookspec
    def promptreg_checks(self, root: Path) -> Mapping[str, Builder]:  # type: ignore[empty-body]  # a declaration
        """Checks that suites can name.

        The `not_` form comes by itself. A check is judged like the built-in ones: by its rate on both sides.

        Args:
            root: the project's folder.

        Returns:
            Builders by name: small letters, digits and underscores, not beginning with `not_`. A builder takes
            (argument, setting): the JSON value that the suite gives, None for a name alone, and where it is written. It
            returns an object with `rules`, from `must(…)`, and `find(answer)`, which returns `found(…)`: holds (True,
            False, or None for unscored) and what is true of the answer, in English and Chinese. It raises `BadArgument`
            with a sentence for the user when the argument is not allowed. `find` gets the answer as received; when it
            raises, the answer is unscored.
        """

    @hookspec
    def promptreg_channels(self, root: Path) -> Sequence[Channel]:  # type: ignore[empty-body]  # a declaration
        """Distances between answers that verdicts take into account.

        A channel enters the suite's p-value as a statement, like numbers and JSON values: a case that clearly lies far
        out on it counts, small differences everywhere do not. For a source that repeats itself exactly, any distance
        above 0 between source and target is material: give 0 for what does not matter.

        Args:
            root: the project's folder.

        Returns:
            `PairwiseChannel(name, measure)`, or objects with the methods of `Channel`. Distances are finite numbers
            from 0 on, symmetric, 0 between equal answers; contents come normalised. What is returned otherwise, or
            raised, ends the command with exit code 2: a verdict without the channel would be weaker than you think.
        """

    @hookspec
    def promptreg_faults(self, root: Path) -> Sequence[FaultKind]:  # type: ignore[empty-body]  # a declaration
        """Kinds of faults that `compare` and `diagnose` look for in every call.

        Args:
            root: the project's folder.

        Returns:
            Kinds, each with an `Entry` whose `kind` begins with `X-`, and a rule that yields
            `entry.found(where, evidence)`; the evidence is a quote, or a `Sentence` in both languages. `compare`
            names a kind where it is found in a larger share of the target's calls than of the source's.
        """

    @hookspec
    def promptreg_embedders(self, root: Path) -> Mapping[str, Callable[[], Embedder]]:  # type: ignore[empty-body]  # a declaration
        """Embedders that `judging.embedder` can name.

        Args:
            root: the project's folder.

        Returns:
            By name, a function without arguments that makes the embedder: an object with `name`, which must change when
            its vectors do, because vectors are kept under it, and `encode(texts)`, which returns one vector a text.
        """
