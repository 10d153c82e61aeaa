"""Calls a project's hooks and those of plugins, and puts together what they register."""

from __future__ import annotations

import inspect
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

import pluggy

from promptreg.config.hints import did_you_mean, listing
from promptreg.hooks import HookSpecs
from promptreg.scoring.checks.registry import CHECK_NAMES
from promptreg.scoring.embedders.registry import DEFAULT_EMBEDDER
from promptreg.scoring.extensions import NAMESPACE, Extensions, FaultKind
from promptreg.scoring.faults.catalogue import Entry, catalogue
from promptreg.scoring.faults.model import Severity
from promptreg.scoring.guards import GuardedChannel, GuardedEmbedder, guarded_builder, guarded_rule
from promptreg.scoring.score import CHANNEL_NAMES
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterator

    from promptreg.scoring.channels.base import Channel
    from promptreg.scoring.checks.base import Builder
    from promptreg.scoring.embedders.base import Embedder
    from promptreg.scoring.origin import Origin
    from promptreg.workflow.plugins import Plugin

RESERVED_CHANNELS: Final = frozenset(
    {"form", "checks", "check", "contract", "stated", "finish_reason", "language", "refusal", "fault", "faults"}
)
"""Names that verdicts give to other things than channels."""

_NAME: Final = re.compile(r"[a-z][a-z0-9_]{0,39}")
_KIND: Final = re.compile(r"X-[a-z0-9][a-z0-9-]{0,39}")


@dataclass(slots=True)
class _Collected:
    """What was registered so far, and by whom."""

    checks: dict[str, Builder] = field(default_factory=dict)
    channels: dict[str, Channel] = field(default_factory=dict)
    faults: dict[str, FaultKind] = field(default_factory=dict)
    embedders: dict[str, Callable[[], Embedder]] = field(default_factory=dict)
    owners: dict[tuple[str, str], str] = field(default_factory=dict)


class _Manager(pluggy.PluginManager):
    """Takes every function whose name begins with `promptreg_` as a hook, marked or not."""

    def parse_hookimpl_opts(self, plugin: object, name: str) -> pluggy.HookimplOpts | None:
        if not name.startswith(f"{NAMESPACE}_") or not inspect.isroutine(getattr(plugin, name, None)):
            return None
        return super().parse_hookimpl_opts(plugin, name) or pluggy.HookimplOpts(
            wrapper=False, hookwrapper=False, optionalhook=False, tryfirst=False, trylast=False, specname=None
        )


def registered(plugins: Sequence[Plugin]) -> Extensions:
    """What plugins register. Runs the user's code.

    Raises:
        ConfigError: a hook raises or returns what it must not, or a name is taken.
    """
    manager = _Manager(NAMESPACE)
    manager.add_hookspecs(HookSpecs)
    for each in plugins:
        _register(manager, each)
    collected = _Collected()
    for each in plugins:
        others = [other.plugin for other in plugins if other is not each]
        _collect(collected, each, manager, others)
    return Extensions(
        MappingProxyType(collected.checks),
        tuple(collected.channels.values()),
        tuple(collected.faults.values()),
        MappingProxyType(collected.embedders),
    )


def _register(manager: _Manager, plugin: Plugin) -> None:
    hooks = [name for name in vars(HookSpecs) if name.startswith(f"{NAMESPACE}_")]
    for name in dir(plugin.plugin):
        if manager.parse_hookimpl_opts(plugin.plugin, name) is not None and name not in hooks:
            function = getattr(plugin.plugin, name)
            plugin.origin.refuse(
                f"There is no hook `{name}`.{did_you_mean(name, hooks)} The hooks are {listing(hooks)}; other "
                f"functions must not begin with `{NAMESPACE}_`.",
                function,
            )
    try:
        manager.register(plugin.plugin, plugin.key)
    except pluggy.PluginValidationError as error:
        function = next((getattr(plugin.plugin, hook, None) for hook in hooks if f"hook {hook!r}" in str(error)), None)
        plugin.origin.refuse(
            f"A hook of {plugin.origin.label} has arguments that it is not given: it may take `root`, or nothing.",
            function,
        )
    except ValueError:
        plugin.origin.refuse(f"{_capital(plugin.origin.label)} is there twice, under two names of entry points.")


def _collect(collected: _Collected, plugin: Plugin, manager: _Manager, others: Sequence[object]) -> None:
    def answer(hook: str) -> Any:
        function = getattr(plugin.plugin, hook, None)
        try:
            results = manager.subset_hook_caller(hook, others)(root=plugin.origin.root)
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            plugin.origin.blame(f"The hook `{hook}`", error)
        returned = results[0] if results else None
        if inspect.iscoroutine(returned):
            returned.close()  # it will never be awaited
        return returned, function

    _checks(collected, plugin.origin, *answer("promptreg_checks"))
    _channels(collected, plugin.origin, *answer("promptreg_channels"))
    _faults(collected, plugin.origin, *answer("promptreg_faults"))
    _embedders(collected, plugin.origin, *answer("promptreg_embedders"))


def _checks(collected: _Collected, origin: Origin, returned: object, hook: object) -> None:
    for name, builder in _named(origin, "promptreg_checks", returned, hook):
        if name.startswith("not_"):
            origin.refuse(f"A check cannot be called `{name}`: promptreg makes the `not_` form of every check.", hook)
        _claim(collected, origin, "check", name, CHECK_NAMES, hook)
        collected.checks[name] = guarded_builder(name, builder, origin)


def _channels(collected: _Collected, origin: Origin, returned: object, hook: object) -> None:
    for channel in _listed(origin, "promptreg_channels", returned, hook):
        name = getattr(channel, "name", None)
        if not isinstance(name, str) or not callable(getattr(channel, "distances", None)):
            origin.refuse(
                "`promptreg_channels` must return channels: `PairwiseChannel(name, measure)`, or objects with `name` "
                f"and `distances(answers)`. {type(channel).__name__} is none.",
                hook,
            )
        _check_name(origin, "channel", name, hook)
        _claim(collected, origin, "channel", name, CHANNEL_NAMES | RESERVED_CHANNELS, hook)
        collected.channels[name] = GuardedChannel(name, channel, origin)


def _faults(collected: _Collected, origin: Origin, returned: object, hook: object) -> None:
    book = catalogue()
    for kind in _listed(origin, "promptreg_faults", returned, hook):
        if not isinstance(kind, FaultKind) or not isinstance(kind.entry, Entry):
            origin.refuse(
                "`promptreg_faults` must return kinds, such as `FaultKind(Entry(…), find)`; "
                f"{type(kind).__name__} is none.",
                hook,
            )
        entry = kind.entry
        if entry.kind not in book.entries and not _KIND.fullmatch(entry.kind):
            origin.refuse(
                f"A kind of fault cannot be called {entry.kind!r}: write `X-` and small letters, digits or hyphens, "
                "such as `X-price`.",
                hook,
            )
        _claim(collected, origin, "fault", entry.kind, book.entries, hook)
        for suspect in entry.suspects:
            if suspect not in book.suspects:
                origin.refuse(
                    f"The fault `{entry.kind}` names a suspect `{suspect}` that is not there."
                    f"{did_you_mean(suspect, book.suspects)} Known are {listing(book.suspects)}.",
                    hook,
                )
        if not all(isinstance(text, Sentence) for text in (entry.title, entry.sees, entry.next_step)):
            origin.refuse(
                f"The fault `{entry.kind}` needs its title, what users see and the next step as `Sentence(en, zh)`.",
                hook,
            )
        if not isinstance(entry.severity, Severity):
            origin.refuse(
                f"The severity of the fault `{entry.kind}` must be one of {listing(Severity.__members__)}.", hook
            )
        if kind.find is None and kind.find_in_run is None:
            origin.refuse(
                f"The fault `{entry.kind}` has neither `find` nor `find_in_run`, so it can never be found.", hook
            )
        collected.faults[entry.kind] = FaultKind(
            entry,
            None if kind.find is None else guarded_rule(entry.kind, kind.find, origin),
            None if kind.find_in_run is None else guarded_rule(entry.kind, kind.find_in_run, origin),
        )


def _embedders(collected: _Collected, origin: Origin, returned: object, hook: object) -> None:
    for name, make in _named(origin, "promptreg_embedders", returned, hook):
        _claim(collected, origin, "embedder", name, {DEFAULT_EMBEDDER}, hook)
        collected.embedders[name] = _guarded_maker(name, make, origin)


def _guarded_maker(name: str, make: Callable[[], Embedder], origin: Origin) -> Callable[[], Embedder]:
    def guarded() -> Embedder:
        try:
            embedder = make()
        except (Exception, SystemExit) as error:  # noqa: BLE001 - the user's code may raise anything
            origin.blame(f"The embedder `{name}`", error)
        return GuardedEmbedder(embedder, origin)

    return guarded


def _named(origin: Origin, hook: str, returned: object, function: object) -> Iterator[tuple[str, Callable[..., Any]]]:
    if returned is None:
        return
    if not isinstance(returned, Mapping):
        origin.refuse(
            f'`{hook}` must return functions by name, such as `{{"polite": build}}`, not {type(returned).__name__}.',
            function,
        )
    for name, value in returned.items():
        _check_name(origin, hook.removeprefix(f"{NAMESPACE}_").removesuffix("s"), name, function)
        if not callable(value):
            origin.refuse(f"`{hook}` must return functions by name; {name!r} names {type(value).__name__}.", function)
        yield name, value


def _listed(origin: Origin, hook: str, returned: object, function: object) -> Iterator[Any]:
    if returned is None:
        return
    if not isinstance(returned, Sequence) or isinstance(returned, (str, bytes)):
        origin.refuse(f"`{hook}` must return a list, not {type(returned).__name__}.", function)
    yield from returned


def _check_name(origin: Origin, what: str, name: object, function: object) -> None:
    if not isinstance(name, str) or not _NAME.fullmatch(name):
        origin.refuse(
            f"{name!r} is no name for a {what}: write a small letter first, then small letters, digits and "
            "underscores, at most 40.",
            function,
        )


def _claim(
    collected: _Collected, origin: Origin, what: str, name: str, built_in: Collection[str], function: object
) -> None:
    if name in built_in:
        origin.refuse(
            f"`{name}` is a {what} of promptreg itself, so {origin.label} cannot register another one. Choose another "
            "name.",
            function,
        )
    owner = collected.owners.setdefault((what, name), origin.label)
    if owner != origin.label or name in getattr(collected, _FIELDS[what]):
        origin.refuse(
            f"The {what} `{name}` is registered twice: by {owner} and by {origin.label}. Rename one of them.", function
        )


_FIELDS: Final = {"check": "checks", "channel": "channels", "fault": "faults", "embedder": "embedders"}


def _capital(label: str) -> str:
    return label[:1].upper() + label[1:]
