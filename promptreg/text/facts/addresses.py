"""What is compared letter by letter: web and e-mail addresses, paths, identifiers, versions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from promptreg.text.facts.blank import BLANK
from promptreg.text.facts.model import FactKind
from promptreg.text.facts.page import Reading

if TYPE_CHECKING:
    from collections.abc import Iterator

    from promptreg.text.facts.page import Page

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz"
_LOCAL_CHARACTERS: Final = _LETTERS + "0123456789_.+-"
_CODE_CHARACTERS: Final = _LETTERS + "_#-"
_URL_MARK: Final = re.compile(r"://|www\.")
_AT: Final = re.compile("@")
_SLASH: Final = re.compile("/")
_UUID_INSIDE: Final = re.compile("-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-")

_URL: Final = re.compile(
    r"(?:(?:https?|ftp|wss?|file|s3|git|ssh)://|www\.)[^\s\0<>\"'`，。；：！？、（）【】「」『』《》“”‘’|]++",
    re.IGNORECASE,
)
_EMAIL: Final = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9_.+-]{1,64}+@[A-Za-z0-9-]{1,63}+(?:\.[A-Za-z0-9-]{1,63}+){1,6}+"
)
_TRAILING: Final = ".,;:!?)]}*_~"

# File names and host names are found by their ends; what belongs to them is then taken from the left.
_ENDING: Final = re.compile(
    r"\.(?:py|ipynb|json|jsonl|ya?ml|toml|md|txt|csv|tsv|log|conf|cfg|ini|env|sh|bat|ps1|js|ts|tsx|html?|css"
    r"|xml|pdf|docx?"
    r"|xlsx?|pptx?|zip|gz|tar|tgz|7z|png|jpe?g|gif|svg|mp[34]|wav|sql|db|sqlite|java|go|rs|cpp|hpp|exe|dll|so|whl|lock"
    r"|com|org|net|io|cn|dev|ai|gov|edu|co|uk|de|fr|jp|eu|info|example|local|test)(?![A-Za-z0-9_-])(?!\.[A-Za-z0-9])",
)
_NAME_CHARACTERS: Final = _LETTERS + "0123456789_-.+@~/\\:"
_HOST_ENDINGS: Final = frozenset(
    [
        "com",
        "org",
        "net",
        "io",
        "cn",
        "dev",
        "ai",
        "gov",
        "edu",
        "co",
        "uk",
        "de",
        "fr",
        "jp",
        "eu",
        "info",
        "example",
        "local",
        "test",
    ]
)
_UNIX_PATH: Final = re.compile(r"(?<![\w/.~<])(?:~|\.{1,2})?(?:/[A-Za-z0-9_.@+-]{1,100}+){1,30}+/?")
_WINDOWS_PATH: Final = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]:\\[^\s\0\"<>|*?，。；：！？]++")

_UUID: Final = re.compile(
    r"(?<![0-9A-Za-z-])[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}(?![0-9A-Za-z-])"
)
_VERSION: Final = re.compile(
    r"(?<![A-Za-z0-9.])[vV]?[0-9]{1,9}+(?:\.[0-9]{1,9}+){2,6}+(?:[-+][A-Za-z0-9.]{1,30}+)?(?<![.])"
    r"|(?<![A-Za-z0-9.])[vV][0-9]{1,9}+(?:\.[0-9]{1,9}+){0,1}+(?:[-+][A-Za-z0-9.]{1,30}+)?(?<![.])(?![A-Za-z0-9])"
)
_PHONE: Final = re.compile(
    r"(?<![0-9A-Za-z.,])(?:\+[0-9]{1,3}[ -]?)?\(?[0-9]{3,4}\)?[ -][0-9]{3,4}[ -][0-9]{3,4}(?![0-9.,%]|[ -][0-9])"
    r"|(?<![0-9A-Za-z.,])0[0-9]{2,3}-[0-9]{7,8}(?![0-9])"
)
_LONG_DIGITS: Final = re.compile(
    r"(?<![0-9A-Za-z.,_])(?:[0-9]{11,64}+|0[0-9]{1,20}+(?![.,:0-9]|\s*[%％年月日号点时分]))(?![0-9A-Za-z_]"
    r"|[.,:/-][0-9])"
)
# Letters with a digit among them: ORD-2041, GPT-4, A380, 4G5H2K. Ordinals, sizes (5kg) and decades are none.
_CODE: Final = re.compile(
    r"(?<![A-Za-z0-9_])(?:[A-Za-z]{1,20}+(?:[-_#][A-Za-z]{1,20}+){0,4}+[-_#]?[0-9]|[0-9]{1,9}+[A-Za-z]{1,9}+[-_]?[0-9])"
    r"[A-Za-z0-9_]{0,60}+(?:[-_/.:+][A-Za-z0-9_]{1,60}+){0,8}+"
)
_HEX: Final = re.compile(r"(?<![0-9A-Za-z_-])(?=[a-f]{0,39}[0-9])(?=[0-9]{0,39}[a-f])[0-9a-f]{7,64}+(?![0-9A-Za-z_-])")
_NO_CODE: Final = re.compile(
    # A word joined to a number, a currency, a month, a time: all of them are read as numbers.
    r"[a-z]{2,20}[-/.:][0-9]+(?:[-/.:][0-9]+)*|(?:rmb|cny|usd|eur|gbp|jpy|hkd|us|hk|q)[0-9][0-9.]*"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec)[a-z]{0,6}[-/. ]?[0-9]{1,4}(?:[-/.][0-9]{1,4})?"
    r"|[0-9]+(?:x|e|to|st|nd|rd|th|k|m|am|pm|d|h|s)[-]?[0-9]+(?:am|pm|d|h|s|m|x)?",
)
_HAS_CAPITAL: Final = re.compile("[A-Z]")


def read_addresses(page: Page) -> None:
    """Read web and e-mail addresses and paths off the page, longest forms first."""
    text = page.text
    if "://" in text or "www." in text:
        page.take_at(_url_places(text), _URL, _url)
    if "@" in text:
        places = (_begin(text, match.start(), _LOCAL_CHARACTERS) for match in _AT.finditer(text))
        page.take_at(places, _EMAIL, lambda match: Reading(FactKind.EMAIL, match[0].rstrip(".").lower(), *match.span()))
    if ":\\" in text:
        page.take(_WINDOWS_PATH, _path)
    page.add(_named_by_ending(page.text))
    if "/" in text:
        places = (_begin(page.text, match.start(), "~.") for match in _SLASH.finditer(page.text))
        page.take_at(places, _UNIX_PATH, _unix_path)
    if _UUID_INSIDE.search(page.text):
        page.take(_UUID, _exact)


def read_identifiers(page: Page) -> None:
    """Read identifiers and versions. Dates are read before, since 2026.12.1 looks like a version."""
    text = page.text
    places = [place for place in page.digits if text[place] != BLANK]
    if not places:
        return
    page.take_at((_begin(text, place, "vV", 1) for place in places), _VERSION, _version)
    page.take_at(places, _VERSION, _version)
    page.take_at(
        (_begin(text, place, "+(", 1) for place in places),
        _PHONE,
        lambda match: _identifier(re.sub(r"[ ()-]", "", match[0]), match),
    )
    page.take_at(places, _LONG_DIGITS, _exact)
    page.take_at((_begin(text, place, _CODE_CHARACTERS, 100) for place in places), _CODE, _code)
    page.take_at((_begin(text, place, "0123456789abcdef") for place in places), _HEX, _exact)


def _begin(text: str, place: int, characters: str, most: int = 64) -> int:
    """Where the run of these characters begins that ends before `place`; it is at most `most` long."""
    if not place or text[place - 1] not in characters:
        return place
    before = text[max(0, place - most) : place]
    return place - len(before) + len(before.rstrip(characters))


def _url_places(text: str) -> Iterator[int]:
    for match in _URL_MARK.finditer(text):
        yield _begin(text, match.start(), _LETTERS, 8) if match[0] == "://" else match.start()


def _identifier(normal: str, match: re.Match[str]) -> Reading:
    return Reading(FactKind.IDENTIFIER, normal, *match.span())


def _exact(match: re.Match[str]) -> Reading:
    return _identifier(match[0], match)


def _version(match: re.Match[str]) -> Reading:
    return _identifier(match[0].lower().replace(" ", "").removeprefix("v").lstrip("."), match)


def _url(match: re.Match[str]) -> Reading:
    end = match.start() + len(match[0].rstrip(_TRAILING))
    return Reading(FactKind.URL, match.string[match.start() : end].rstrip("/"), match.start(), end)


def _path(match: re.Match[str]) -> Reading:
    end = match.start() + len(match[0].rstrip(_TRAILING))
    return Reading(FactKind.PATH, match.string[match.start() : end], match.start(), end)


def _unix_path(match: re.Match[str]) -> Reading | None:
    path = match[0].rstrip(_TRAILING)
    # "/month" and "/" are no paths; two parts, a dot or a home folder make one.
    if path.count("/") < 2 and not path.startswith(("~", ".")):
        return None
    return Reading(FactKind.PATH, path, match.start(), match.start() + len(path))


def _named_by_ending(text: str) -> list[Reading]:
    readings = []
    done = 0
    for match in _ENDING.finditer(text):
        before = text[max(done, match.start() - 200) : match.start()]
        name = before[len(before.rstrip(_NAME_CHARACTERS)) :].lstrip("-.:+@\\")
        if not name or name[-1] in "/.":
            continue
        start, done = match.start() - len(name), match.end()
        host = match[0][1:] in _HOST_ENDINGS
        whole = text[start:done]
        readings.append(Reading(FactKind.URL if host else FactKind.PATH, whole.lower() if host else whole, start, done))
    return readings


def _code(match: re.Match[str]) -> Reading | None:
    whole = match[0]
    lower = whole.lower()
    if _NO_CODE.fullmatch(lower) and not (_HAS_CAPITAL.search(whole[1:]) and "-" in whole and not whole[0].isdigit()):
        return None
    return _identifier(whole, match)
