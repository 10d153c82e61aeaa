"""promptreg init: the files that a new project starts from."""

from __future__ import annotations

import tomllib
from importlib.resources import files
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import click

from promptreg.cli.options import example
from promptreg.errors import OutputError, UsageError

if TYPE_CHECKING:
    from promptreg.text.sentence import Language

_TEMPLATES = {"promptreg.toml": "promptreg.toml", "suites/support.yaml": "support.yaml"}
"""File of the new project -> template, of each language, beside this module."""

_IGNORED = (".promptreg/", "reports/*")
"""What git should not track: the store, which new runs rebuild, and reports, which the store rebuilds."""


_WROTE = {"en": "Wrote {path}", "zh": "已写入 {path}"}
_ADDED = {"en": "Added to {path}: {lines}", "zh": "已加入 {path}：{lines}"}
_NEXT = {
    "en": "\nNext:\n"
    "  1. Enter your two deployments in promptreg.toml, your prompts in suites/.\n"
    "  2. promptreg doctor     checks both, and this installation\n"
    "  3. promptreg record     records goldens on the source; commit baselines/\n"
    "  4. promptreg compare    replays on the target and writes the report",
    "zh": "\n下一步：\n"
    "  1. 在 promptreg.toml 中填写两个部署，在 suites/ 中写入您的提示词。\n"
    "  2. promptreg doctor     检查两个部署和本机的安装\n"
    "  3. promptreg record     在源部署录制基准输出；请提交 baselines/\n"
    "  4. promptreg compare    在目标部署上重放并写出报告",
}


class Scaffold(NamedTuple):
    """What `write_project` did: paths relative to the project's folder."""

    written: tuple[str, ...]
    ignored: tuple[str, ...]
    """Lines that were added to .gitignore."""


def write_project(folder: Path, *, force: bool = False, language: Language = "en") -> Scaffold:
    """Write a commented promptreg.toml, an example suite, and the missing lines of .gitignore.

    Args:
        folder: The project's folder; made when it does not exist.
        force: Overwrite a promptreg.toml and an example suite that are already there.
        language: Of the comments.

    Raises:
        UsageError: a file is already there and `force` is not given; nothing was written.
        OutputError: the folder cannot be written.
    """
    if not force:
        _refuse_to_overwrite(folder)
    try:
        for name, template in _TEMPLATES.items():
            path = folder / name
            path.parent.mkdir(parents=True, exist_ok=True)
            text = files("promptreg.cli").joinpath("assets", language, template).read_text(encoding="utf-8")
            path.write_text(text, encoding="utf-8", newline="\n")
        added = _extend_gitignore(folder / ".gitignore")
    except OSError as error:
        raise OutputError(
            f"Cannot write the project's files in {folder}: {error.strerror or error}. Choose another folder."
        ) from error
    return Scaffold(tuple(_TEMPLATES), added)


def _refuse_to_overwrite(folder: Path) -> None:
    present = [name for name in _TEMPLATES if (folder / name).exists()]
    if present:
        raise UsageError(
            f"{' and '.join(present)} already exist{'' if len(present) > 1 else 's'} in {folder}; nothing was written. "
            "Use --force to overwrite, or name another folder."
        )
    pyproject = folder / "pyproject.toml"
    if pyproject.is_file() and _configures_promptreg(pyproject):
        raise UsageError(
            f"{pyproject} already has [tool.promptreg]; a promptreg.toml would take its place, so nothing was written. "
            "Use --force to write it anyway."
        )


def _configures_promptreg(pyproject: Path) -> bool:
    try:
        content = tomllib.loads(pyproject.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError):
        return False  # whatever is wrong with it, it is not for init to judge
    return "promptreg" in content.get("tool", {})


def _extend_gitignore(path: Path) -> tuple[str, ...]:
    text = path.read_text(encoding="utf-8", errors="replace") if path.exists() else ""
    present = {line.strip().lstrip("/") for line in text.splitlines()}
    missing = tuple(line for line in _IGNORED if line not in present)
    if missing:
        # Appended, never rewritten: the user's own lines keep their bytes.
        with path.open("a", encoding="utf-8", newline="\n") as file:
            file.write(("\n" if text and not text.endswith("\n") else "") + "\n".join(missing) + "\n")
    return missing


@click.command(epilog=example("promptreg init && promptreg doctor"))
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path), default=Path())
@click.option("--force", is_flag=True, help="Overwrite a promptreg.toml and an example suite that are already there.")
def command(folder: Path, *, force: bool) -> None:
    """Write a commented promptreg.toml and an example suite into FOLDER (default: here)."""
    from promptreg.cli.console import reader_language  # noqa: PLC0415 - loaded when the command runs, not for --help

    language = reader_language("auto")
    scaffold = write_project(folder, force=force, language=language)
    for name in scaffold.written:
        click.echo(_WROTE[language].format(path=folder / name))
    if scaffold.ignored:
        click.echo(_ADDED[language].format(path=folder / ".gitignore", lines=", ".join(scaffold.ignored)))
    click.echo(_NEXT[language])
