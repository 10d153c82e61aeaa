"""A browser for the tests of the page, pages that must stay on disk, and views filled with one text everywhere."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from typing import Any, get_args, get_origin, get_type_hints

import pytest
from playwright.sync_api import Browser, BrowserContext, Page, expect, sync_playwright

from promptreg import canonical
from promptreg.answer import model as answer_model
from promptreg.report import context_views, earlier, verdict_names
from promptreg.report import payload as views
from promptreg.report.html import write_html
from promptreg.report.sample import sample_payload
from promptreg.text.sentence import Sentence

if typing.TYPE_CHECKING:
    from pathlib import Path

    from promptreg.report.payload import Payload

ARGUMENTS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--no-first-run",
    "--disable-quic",
]
# Tests wait with `expect`. `wait_for_function` is no way to wait here: it evaluates its text again and again, which the
# policy of the page refuses from the second time on, so that it works only if there is nothing to wait for.
PATIENCE_MS = 60_000
USUAL = {"viewport": {"width": 1440, "height": 900}, "locale": "en-US"}


# Not for the session: while playwright is open its event loop counts as running, and no other test could start one.
@pytest.fixture(scope="module")
def browser(chromium: str) -> Iterator[Browser]:
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=ARGUMENTS)
        expect.set_options(timeout=PATIENCE_MS)
        yield browser
        browser.close()


@pytest.fixture(scope="session")
def sample_file(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_html(sample_payload(), tmp_path_factory.mktemp("report") / "报告 sample.html").path


@dataclass
class Seen:
    """What a page did that it must not do."""

    errors: list[str] = field(default_factory=list)
    requests: list[str] = field(default_factory=list)


@pytest.fixture(scope="module")
def usual_context(browser: Browser) -> Iterator[BrowserContext]:
    """A desktop window, shared because each context costs a process; what a test stored is wiped after it."""
    context = browser.new_context(**USUAL)
    yield context
    context.close()


@pytest.fixture
def open_page(browser: Browser, usual_context: BrowserContext) -> Iterator[Callable[..., Page]]:
    """Opens a file; at the end no script failed, no dialog came up and nothing but the file was asked for."""
    seen, opened = Seen(), []

    def open_page(
        path: Path, address: str = "", *, script: str | None = None, wait: bool = True, **options: Any
    ) -> Page:
        context = browser.new_context(**{**USUAL, **options}) if options else usual_context
        page = context.new_page()
        opened.append((page, context))
        page.set_default_timeout(PATIENCE_MS)
        page.on("pageerror", lambda error: seen.errors.append(str(error)))
        page.on("console", lambda message: message.type in {"error", "warning"} and seen.errors.append(message.text))
        page.on("dialog", lambda dialog: (seen.errors.append(f"dialog {dialog.message}"), dialog.dismiss()))
        page.on("popup", lambda popup: seen.errors.append(f"popup {popup.url}"))
        page.on("request", lambda request: seen.requests.append(request.url))
        if script:
            page.add_init_script(script)
        page.goto(path.as_uri() + address)
        if wait:
            page.wait_for_selector("main article, main .case-nav", state="attached")
        return page

    yield open_page
    for page, context in opened:
        if context is usual_context:
            page.evaluate("() => { try { localStorage.clear(); } catch { /* a test may have broken it */ } }")
            page.close()
        else:
            context.close()
    assert seen.errors == []
    assert all(url.startswith(("file://", "data:,", "about:blank")) for url in seen.requests)


@pytest.fixture
def open_payload(open_page: Callable[..., Page], tmp_path: Path) -> Callable[..., Page]:
    def open_payload(payload: Payload, address: str = "", details: Any = "auto", **options: Any) -> Page:
        path = write_html(payload, tmp_path / "report.html", details=details).path
        return open_page(path, address, **options)

    return open_payload


NAMES = {
    **vars(canonical),
    **vars(answer_model),
    **vars(verdict_names),
    **vars(earlier),
    **vars(context_views),
    **vars(views),
    "Sentence": Sentence,
    "Mapping": Mapping,
}


def _filled(kind: Any, text: str, number: float = 0.5) -> Any:
    """A value with `text` wherever a text can stand and `number` for numbers, one element in every collection."""
    if is_dataclass(kind):
        hints = get_type_hints(kind, globalns=NAMES)
        return kind(**{each.name: _filled(hints[each.name], text, number) for each in fields(kind)})
    origin, arguments = get_origin(kind), get_args(kind)
    if origin is typing.Literal:
        return arguments[0]
    if origin in (tuple, Iterable):
        return (_filled(arguments[0], text, number),)
    if origin is Mapping:
        return {text: text}
    if origin in (types.UnionType, typing.Union):
        return _filled(next(each for each in arguments if each is not type(None)), text, number)
    return {str: text, int: 0, float: number, bool: True}[kind]


@pytest.fixture
def filled() -> Callable[..., Any]:
    """A view of a type with one text in every field, made from the dataclass: a new field is covered by itself."""
    return _filled
