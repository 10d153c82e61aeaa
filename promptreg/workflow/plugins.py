"""Finds a project's hooks and plugins, and loads them."""

from __future__ import annotations

import importlib.metadata
import importlib.util
import stat
import sys
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from pathlib import Path
from typing import TYPE_CHECKING, Final

from promptreg.errors import ConfigError, Place, Problem
from promptreg.scoring.extensions import FILE_NAME, NAMESPACE, NO_EXTENSIONS, Extensions
from promptreg.scoring.origin import Origin, said

if TYPE_CHECKING:
    from collections.abc import Iterator
    from types import ModuleType

_FILE_LIMIT: Final = "hooks are read from the project's own folder only"


@dataclass(frozen=True, slots=True)
class Plugin:
    """One source of hooks."""

    key: str
    """Its name among the others."""
    plugin: object
    """What has the hooks."""
    origin: Origin


def load_extensions(root: Path | None) -> Extensions:
    """What the installed plugins and the project's `promptreg_hooks.py` register. Runs the user's code.

    Args:
        root: the project's folder; the file is looked for there and nowhere else. None outside of a project.

    Raises:
        ConfigError: a plugin or the file cannot be loaded, a hook raises or returns what it must not, a name is taken.
    """
    if root is None:
        return _loaded(Path.cwd(), None)
    file = root.resolve() / FILE_NAME
    try:
        state = file.stat()
    except FileNotFoundError:
        return _loaded(root.resolve(), None)
    except OSError as error:
        raise ConfigError(Problem(f"The file cannot be read: {error.strerror}.", Place(FILE_NAME))) from error
    if not stat.S_ISREG(state.st_mode):
        raise ConfigError(
            Problem("This is no file; write the project's hooks in a file of this name.", Place(FILE_NAME))
        )
    return _loaded(root.resolve(), (state.st_mtime_ns, state.st_size))


@lru_cache(maxsize=8)
def _loaded(root: Path, stamp: tuple[int, int] | None) -> Extensions:
    """A command asks several times, and the user's code is to run once. The stamp is there to see that it changed."""
    plugins = [*_installed(root)]
    if stamp is not None:
        plugins.append(_local(root))
    if not plugins:
        return NO_EXTENSIONS
    # Only now: what hooks are built with is nearly all of scoring, and most projects have none.
    from promptreg.workflow.registration import registered  # noqa: PLC0415 - see above

    return registered(plugins)


def _installed(root: Path) -> Iterator[Plugin]:
    found = importlib.metadata.entry_points(group=NAMESPACE)
    for entry in sorted(found, key=lambda entry: (entry.name, entry.value)):
        package = f" of {entry.dist.name} {entry.dist.version}" if entry.dist is not None else ""
        label = f"the plugin `{entry.name}`{package}"
        module = entry.module
        spec = None
        try:
            plugin = entry.load()
            spec = importlib.util.find_spec(module)
        except (Exception, SystemExit) as error:
            raise ConfigError(
                f"{label[:1].upper()}{label[1:]} cannot be loaded: it raised {said(error)}. Install it again, or "
                "remove it."
            ) from error
        folder = Path(spec.origin).parent if spec is not None and spec.origin else root
        yield Plugin(f"{entry.name}={entry.value}", plugin, Origin(label, folder, root))


def _local(root: Path) -> Plugin:
    file = root / FILE_NAME
    origin = Origin(FILE_NAME, root, root)
    if not file.resolve().is_relative_to(root):
        raise ConfigError(Problem(f"This is a link to a file outside the project: {_FILE_LIMIT}.", Place(FILE_NAME)))
    folder = str(root)
    if folder not in sys.path:
        sys.path.insert(0, folder)  # stays: the file may import its neighbours, now or later
    return Plugin(FILE_NAME, _executed(file, origin), origin)


def _executed(file: Path, origin: Origin) -> ModuleType:
    # A name of its own for each project: two may be open in one process. Dataclasses look their module up by name.
    name = f"_promptreg_hooks_{sha256(str(file).encode('utf-8', 'surrogateescape')).hexdigest()[:12]}"
    spec = importlib.util.spec_from_file_location(name, file)
    if spec is None or spec.loader is None:
        raise AssertionError("unreachable because the file's name ends with .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[name] = module
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        sys.modules.pop(name, None)
        place = origin.place(error) or Place(FILE_NAME)
        raise ConfigError(Problem(f"Loading the project's hooks raised {said(error)}.", place)) from error
    return module
