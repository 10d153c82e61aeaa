"""Known vulnerabilities of what is installed, as the package index tells them.

    python .ci/audit.py

Asks the index that pip is set up with (`index-url`, else pip's default) for its JSON page of every installed release
and reads its `vulnerabilities`. Exit codes: 0 none is known, 1 some are, 2 something could not be checked. An index
that does not answer, leaves the list out, or knows nothing even of a release that is full of holes is never taken for
good news.
"""

from __future__ import annotations

import argparse
import ast
import base64
import importlib.metadata
import json
import re
import ssl
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any
from urllib.error import HTTPError, URLError
from urllib.parse import quote, unquote, urlsplit
from urllib.request import HTTPSHandler, Request, build_opener

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from urllib.request import OpenerDirector

OURS = "promptreg-migrate"
CANARY = ("jinja2", "2.10")
"""A release that has had advisories since 2019: an index that knows none of them knows none at all."""
AT_ONCE = 8
SECONDS = 20
LARGEST = 32 * 2**20
SHOWN = 10


@dataclass(frozen=True, slots=True)
class Index:
    """Where to ask."""

    address: str
    """With the final slash, without user and password."""
    authorization: str | None
    opener: OpenerDirector

    def vulnerabilities(self, name: str, version: str) -> list[dict[str, Any]]:
        """What is known of a release.

        Raises:
            NotCheckedError: the index does not tell.
        """
        request = Request(
            f"{self.address}pypi/{quote(name)}/{quote(version)}/json", headers={"Accept": "application/json"}
        )
        if self.authorization is not None:
            request.add_header("Authorization", self.authorization)
        try:
            with self.opener.open(request, timeout=SECONDS) as response:
                page = json.loads(response.read(LARGEST))
        except HTTPError as error:
            error.close()
            raise NotCheckedError(f"HTTP {error.code}") from None
        except URLError as error:
            raise NotCheckedError(str(error.reason)) from None
        except (OSError, ValueError) as error:
            raise NotCheckedError(str(error) or type(error).__name__) from None
        found = page.get("vulnerabilities") if isinstance(page, dict) else None
        if not isinstance(found, list) or not all(isinstance(each, dict) for each in found):
            raise NotCheckedError("its page has no list of vulnerabilities")
        return [each for each in found if not each.get("withdrawn")]


class NotCheckedError(Exception):
    """Nothing is known of a release. The message says why."""


def pip_settings() -> dict[str, str]:
    """What pip is set up with: the environment over the file, `install` over `global`."""
    command = [sys.executable, "-m", "pip", "config", "list"]
    told = subprocess.run(command, capture_output=True, encoding="utf-8", check=True).stdout
    found: dict[str, str] = {}
    for section in ("global.", "install.", ":env:."):
        for line in told.splitlines():
            key, _, value = line.partition("=")
            if key.startswith(section):
                found[key.removeprefix(section)] = str(ast.literal_eval(value))
    return found


def pip_default() -> str:
    """The index that pip asks when nobody set one."""
    from pip._internal.models.index import PyPI  # noqa: PLC0415 - pip has no public name for it

    return str(PyPI.simple_url)


def index_of(settings: dict[str, str]) -> Index:
    """The index of these settings."""
    parts = urlsplit(settings.get("index-url") or pip_default())
    authorization = None
    if parts.username is not None:
        pair = f"{unquote(parts.username)}:{unquote(parts.password or '')}"
        authorization = "Basic " + base64.b64encode(pair.encode()).decode("ascii")
    host = parts.netloc.rpartition("@")[2]
    path = re.sub(r"simple/?$", "", parts.path)
    context = ssl.create_default_context(cafile=settings.get("cert") or None)
    address = f"{parts.scheme}://{host}{path if path.endswith('/') else path + '/'}"
    return Index(address, authorization, build_opener(HTTPSHandler(context=context)))


def installed(path: str | None) -> list[tuple[str, str]]:
    """Names and versions of all releases, without ourselves, sorted."""
    found = importlib.metadata.distributions() if path is None else importlib.metadata.distributions(path=[path])
    names = {
        # 2.13.0+cpu is a build of 2.13.0, which is what advisories name.
        (re.sub(r"[-_.]+", "-", each.metadata["Name"]).lower(), each.version.partition("+")[0])
        for each in found
    }
    return sorted(release for release in names if release[0] != OURS)


def audit(index: Index, releases: Sequence[tuple[str, str]], ignored: Iterable[str]) -> int:
    """Print what is known; the exit code."""
    try:
        known = index.vulnerabilities(*CANARY)
        silent = "" if known else f"it knows nothing even of {' '.join(CANARY)}, so its silence says nothing"
    except NotCheckedError as error:
        silent = str(error)
    if silent:
        print(f"Nothing was checked: {index.address} does not tell of vulnerabilities ({silent}).", file=sys.stderr)
        print("Set pip's index-url to an index that does, or run this where one can be reached.", file=sys.stderr)
        return 2

    def ask(release: tuple[str, str]) -> list[dict[str, Any]] | NotCheckedError:
        try:
            return index.vulnerabilities(*release)
        except NotCheckedError as error:
            return error

    with ThreadPoolExecutor(AT_ONCE) as pool:
        answers = list(pool.map(ask, releases))
    skip = set(ignored)
    holes = 0
    for (name, version), answer in zip(releases, answers, strict=True):
        for each in () if isinstance(answer, NotCheckedError) else answer:
            names = [str(each.get("id")), *map(str, each.get("aliases") or ())]
            if skip.isdisjoint(names):
                holes += 1
                fixed = ", ".join(map(str, each.get("fixed_in") or ())) or "none yet"
                print(f"{name} {version}: {' '.join(names)}; fixed in {fixed}")
    missed = [
        f"{name} {version} ({answer})"
        for (name, version), answer in zip(releases, answers, strict=True)
        if isinstance(answer, NotCheckedError)
    ]
    if missed:
        more = f" and {len(missed) - SHOWN} more" if len(missed) > SHOWN else ""
        print(
            f"{len(missed)} of {len(releases)} releases were not checked: {', '.join(missed[:SHOWN])}{more}.",
            file=sys.stderr,
        )
    elif not holes:
        print(f"No vulnerability is known of {len(releases)} installed releases.")
    return 1 if holes else 2 if missed else 0


def main(arguments: Sequence[str] | None = None) -> int:
    """Audit this environment."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument(
        "--ignore", action="append", default=[], metavar="ID", help="an advisory that does not concern us"
    )
    parser.add_argument("--path", metavar="FOLDER", help="a site-packages folder; the one of this Python without it")
    options = parser.parse_args(arguments)
    releases = installed(options.path)
    if not releases:
        print("Nothing was checked: nothing is installed there.", file=sys.stderr)
        return 2
    try:
        index = index_of(pip_settings())
    except (ImportError, OSError, ValueError, SyntaxError, subprocess.SubprocessError) as error:
        print(f"Nothing was checked: pip does not tell its index ({type(error).__name__}).", file=sys.stderr)
        return 2
    return audit(index, releases, options.ignore)


if __name__ == "__main__":
    raise SystemExit(main())
