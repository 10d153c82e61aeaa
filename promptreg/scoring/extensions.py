"""What a project's own code adds to scoring: checks, channels, kinds of faults, embedders."""

from __future__ import annotations

from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from promptreg.scoring.channels.base import Channel
    from promptreg.scoring.checks.base import Builder
    from promptreg.scoring.embedders.base import Embedder
    from promptreg.scoring.faults.catalogue import Entry
    from promptreg.scoring.faults.model import CallRule, RunRule


NAMESPACE: Final = "promptreg"
"""Name of the entry point group, and beginning of every hook's name."""

FILE_NAME: Final = "promptreg_hooks.py"
"""The project's own hooks, in the folder of its configuration and nowhere else."""


@dataclass(frozen=True, slots=True)
class FaultKind:
    """A kind of fault of the user's own: what is told about it, and how it is found."""

    entry: Entry
    """Its `kind` is its name in reports and JSON output, such as `X-price`: `X-` and small letters, digits, hyphens."""
    find: CallRule | None = None
    """Looks at one call and yields `entry.found(where, evidence)` for each fault; never raises."""
    find_in_run: RunRule | None = None
    """Looks at several calls of one request, in their order, the same way. At least one of both is set."""


@dataclass(frozen=True, slots=True)
class Extensions:
    """Everything that hooks registered, guarded and free of clashes."""

    checks: Mapping[str, Builder] = field(default_factory=lambda: MappingProxyType({}))
    """By name, without the `not_` forms."""
    channels: tuple[Channel, ...] = ()
    """After the built-in ones, in this order."""
    faults: tuple[FaultKind, ...] = ()
    embedders: Mapping[str, Callable[[], Embedder]] = field(default_factory=lambda: MappingProxyType({}))
    """By the name that `judging.embedder` gives; made when asked for."""

    def entries(self) -> Mapping[str, Entry]:
        """What is told about the project's own kinds of faults."""
        return {kind.entry.kind: kind.entry for kind in self.faults}


NO_EXTENSIONS: Final = Extensions()
