"""Takes secrets out of everything that is kept: headers, bodies, failure texts.

Looked for are the values themselves and the forms in which a gateway may echo them: URL-encoded, as JSON writes them,
and in base64 at any of its three alignments. Response headers that carry credentials are left out as a whole.

A value in `headers_env` need not be a secret: `X-Team: support` is none, and taking its every occurrence out of the
model's text would change answers. So bodies are searched for values that look like keys only, see `looks_like_key`.
"""

from __future__ import annotations

import base64
import json
import re
import urllib.request
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus, unquote, urlsplit

from promptreg.deployment.edits import Edit, edited
from promptreg.deployment.exchange import Failure
from promptreg.text.redaction import REDACTED

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from promptreg.deployment.exchange import Chunk, Exchange

SHORTEST = 4
"""Shorter values are looked for nowhere: they are no secrets, and every text holds them by chance."""

_SECRET_HEADER = re.compile(
    r"(?:^|[-_])(?:authorization|cookie2?|api[-_]?key|secret|password|passwd|token|credential|session(?:[-_]?id)?)s?$"
)
_COUNT_HEADER = re.compile(r"limit|remaining|usage|count")


def looks_like_key(value: str) -> bool:
    """Whether a value is searched for in bodies: 8 characters or more that are no plain word, or 20 of any kind."""
    return len(value) >= 20 or (len(value) >= 8 and not value.isalpha())


@lru_cache(maxsize=256)
def carries_credentials(header: str) -> bool:
    """Whether a header, by its lower-case name, is not kept."""
    return _SECRET_HEADER.search(header) is not None and _COUNT_HEADER.search(header) is None


class Redactor:
    """Replaces the secrets of one deployment."""

    def __init__(self, secrets: Iterable[str], header_names: Iterable[str] = ()) -> None:
        """Remembers what to look for.

        Args:
            secrets: values; empty ones are ignored.
            header_names: further response headers that are not kept, such as those the deployment is sent.
        """
        values = sorted({secret for secret in secrets if secret}, key=lambda value: (-len(value), value))
        self._header_names = frozenset(name.lower() for name in header_names)
        all_forms = _longest_first(form for value in values if len(value) >= SHORTEST for form in _forms(value))
        key_forms = _longest_first(form for value in values if looks_like_key(value) for form in _forms(value))
        self._in_text = tuple(all_forms)
        self._in_body = tuple(form.encode("utf-8") for form in key_forms)
        self._pattern = re.compile(b"|".join(map(re.escape, self._in_body))) if self._in_body else None

    def text(self, text: str) -> str:
        """A text of ours or of the server's head, without any of the values."""
        for form in self._in_text:
            if form in text:
                text = text.replace(form, REDACTED)
        return text

    def finds_in(self, text: str) -> bool:
        """Whether a text of the model holds something that looks like a key."""
        return bool(self._in_body) and self._hit(text.encode("utf-8", "replace"))

    def body_text(self, text: str) -> str:
        """A text of the model without the values that look like keys."""
        if self._pattern is None or not self.finds_in(text):
            return text
        return self._pattern.sub(REDACTED.encode(), text.encode("utf-8", "surrogatepass")).decode(
            "utf-8", "surrogatepass"
        )

    def exchange(self, exchange: Exchange) -> Exchange:
        """An attempt without secrets; the same object when it held none."""
        headers = tuple(
            [
                (name, self.text(value))
                for name, value in exchange.headers
                if name not in self._header_names and not carries_credentials(name)
            ]
        )
        chunks = self._chunks(exchange.chunks)
        failure = exchange.failure
        if failure is not None:
            failure = Failure(failure.kind, self.text(failure.message))
        if headers == exchange.headers and chunks is exchange.chunks and failure == exchange.failure:
            return exchange
        return replace(exchange, headers=headers, chunks=chunks, failure=failure)

    def _hit(self, body: bytes) -> bool:
        return any(form in body for form in self._in_body)

    def _chunks(self, chunks: tuple[Chunk, ...]) -> tuple[Chunk, ...]:
        """Replaces in the joined body, for a secret may be split."""
        if not self._in_body or self._pattern is None:
            return chunks
        body = b"".join([chunk.data for chunk in chunks])
        if not self._hit(body):
            return chunks
        return edited(chunks, [Edit(*match.span(), REDACTED.encode()) for match in self._pattern.finditer(body)])


def known_secrets(secrets: Mapping[str, str], *addresses: str | None) -> list[str]:
    """Every secret that an exchange could carry: the given values, and those in these addresses and the proxies'."""
    every = [*addresses, *urllib.request.getproxies().values()]
    return [*secrets.values(), *(secret for address in every for secret in url_secrets(address))]


def url_secrets(url: str | None) -> tuple[str, ...]:
    """User name and password of an address, as written and decoded; an address without them gives none."""
    if url is None:
        return ()
    info, at, _ = urlsplit(url).netloc.rpartition("@")
    if not at:
        return ()
    user, _, password = info.partition(":")
    return tuple(part for part in (info, unquote(info), password, unquote(password), user) if part)


def _longest_first(forms: Iterable[str]) -> list[str]:
    return sorted(set(forms), key=lambda form: (-len(form), form))


def _forms(value: str) -> Iterator[str]:
    yield value
    yield quote(value, safe="")
    yield quote_plus(value)
    yield json.dumps(value)[1:-1]
    yield json.dumps(value, ensure_ascii=False)[1:-1]
    data = value.encode("utf-8", "replace")
    for before in range(3):  # the alignments a value can have inside a longer encoded text
        encoded = base64.b64encode(b"\0" * before + data).decode("ascii").rstrip("=")
        whole_groups = (before + len(data)) // 3 * 4
        inner = encoded[(before * 8 + 5) // 6 : max(whole_groups, 0)]
        if len(inner) >= 10:  # shorter ones would hit by chance
            yield inner
            yield inner.replace("+", "-").replace("/", "_")
