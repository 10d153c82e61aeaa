"""Which files a suite is read from, and how messages name them."""

from __future__ import annotations

import os
from pathlib import Path, PurePosixPath, PureWindowsPath
from typing import TYPE_CHECKING

from promptreg.errors import Place, Problem, SuiteError

if TYPE_CHECKING:
    from collections.abc import Sequence

_SUFFIXES = (".yaml", ".yml")


def shown_path(path: Path, root: Path) -> str:
    """A path as messages and reports name it: from the project's root where it lies inside, with forward slashes."""
    # Not resolved through links: the user knows the file by the name it was given.
    absolute = Path(os.path.normpath(path.absolute()))
    for base in (Path(os.path.normpath(root.absolute())), root.resolve()):
        if absolute.is_relative_to(base):
            return absolute.relative_to(base).as_posix()
    return absolute.as_posix()


def find_suite_files(paths: Sequence[Path], root: Path) -> tuple[Path, ...]:
    """Every suite file named by `paths`, each once, in the order of `paths` and sorted within folders.

    Folders are searched with all their subfolders for *.yaml and *.yml; hidden ones are left out.

    Raises:
        SuiteError: when a path does not exist or nothing is found, saying where was looked.
    """
    problems: list[Problem] = []
    found: dict[str, Path] = {}
    for given in paths:
        path = given if given.is_absolute() or given.exists() else root / given
        if path.is_dir():
            files = files_below(path, _SUFFIXES)
            problems += [_leads_out(file, root) for file in files if _is_link_out_of(root, file)]
            if not files:
                problems.append(
                    Problem(
                        f"No suite in the folder {shown_path(path, root)}: it has no *.yaml or *.yml file. "
                        "Write one, run `promptreg init` for an example, or set `suites` under [paths]."
                    )
                )
        elif path.is_file():
            files = [path]
            if path.suffix.lower() not in _SUFFIXES:
                problems.append(
                    Problem(
                        "A suite is a *.yaml or *.yml file. Case files are named by a suite, under `cases_from`.",
                        Place(shown_path(path, root)),
                    )
                )
        else:
            problems.append(
                Problem(
                    f"There is no suite file or folder {shown_path(path, root)}. Run `promptreg init` for an example."
                )
            )
            continue
        for file in files:
            found.setdefault(os.path.realpath(file), file)
    if problems:
        raise SuiteError(problems)
    if not found:
        raise SuiteError("No suite was named. Name a suite file or a folder that has some.")
    return tuple(found.values())


def _is_link_out_of(root: Path, file: Path) -> bool:
    """Whether a file that was found in the project is none of it. One that lies elsewhere was named by the user."""
    base = root.resolve()
    inside = Path(os.path.normpath(file.absolute())).parent.resolve().is_relative_to(base)
    try:
        return inside and not file.resolve().is_relative_to(base)
    except (OSError, RuntimeError):
        return False  # a circle, which is told where it is read


def _leads_out(file: Path, root: Path) -> Problem:
    return Problem(
        "This is a link to a file outside the project, which is not read. Put the suite itself here, or name its file.",
        Place(shown_path(file, root)),
    )


def files_below(folder: Path, suffixes: tuple[str, ...]) -> list[Path]:
    """The files of a folder and all its subfolders with one of these endings, sorted; hidden ones are left out.

    Args:
        folder: where to look.
        suffixes: in small letters, with the dot; names are compared without regard to case.
    """
    files: list[Path] = []
    for parent, folders, names in os.walk(folder):
        folders[:] = sorted(name for name in folders if not name.startswith("."))
        files += [
            Path(parent) / name
            for name in sorted(names)
            if not name.startswith(".") and name.lower().endswith(suffixes)
        ]
    return files


def resolve_project_file(root: Path, suite_path: str, text: str, place: Place | None = None) -> Path:
    """The file that `text`, written in the file `suite_path`, names: relative to that file, inside the project.

    Args:
        root: The project's root; nothing outside it is read, not even through `..` or a symbolic link.
        suite_path: The file that names it, from the root (as in `Place.path`).
        text: The path as written, with forward slashes.
        place: Where it is written, for messages; `suite_path` without it.

    Raises:
        SuiteError: when the path is absolute, leaves the project, or names no file.
    """
    place = place or Place(suite_path)
    if not text or "\0" in text:
        raise SuiteError(Problem("A file name is missing here.", place))
    if PurePosixPath(text).is_absolute() or PureWindowsPath(text).is_absolute() or PureWindowsPath(text).drive:
        raise SuiteError(Problem(f"`{text}` is an absolute path; write it relative to this file.", place))
    base = root.resolve()
    try:
        target = (base / suite_path).parent.joinpath(text).resolve()
        is_file, is_folder = target.is_file(), target.is_dir()
    except (OSError, RuntimeError, ValueError):
        wrong = f"`{text}` cannot be followed: its links form a circle, or it is no name that this system takes."
        raise SuiteError(Problem(wrong, place)) from None
    if not target.is_relative_to(base):
        raise SuiteError(Problem(f"`{text}` lies outside the project folder {base}; files must be inside it.", place))
    if not is_file:
        kind = "is a folder" if is_folder else "does not exist"
        slashes = " Write `/` between folders, not `\\`." if "\\" in text else ""
        raise SuiteError(Problem(f"The file `{text}` {kind} (looked for {shown_path(target, base)}).{slashes}", place))
    return target
