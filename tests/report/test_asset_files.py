"""`--assets files`: a page for hosts whose policy allows only files of their own, in a real browser."""

from __future__ import annotations

import re
import threading
from contextlib import contextmanager
from functools import partial
from html import unescape
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer

import pytest

from promptreg.report.html import write_html
from promptreg.report.sample import sample_payload

pytestmark = pytest.mark.browser

JENKINS = "sandbox; default-src 'none'; img-src 'self'; style-src 'self'"
"""What Jenkins sends with archived pages unless told otherwise."""


class Handler(SimpleHTTPRequestHandler):
    """Serves a folder under a policy."""

    def __init__(self, *arguments, policy, **options):
        self.policy = policy
        super().__init__(*arguments, **options)

    def end_headers(self):
        self.send_header("Content-Security-Policy", self.policy)
        super().end_headers()

    def log_message(self, *_):
        pass


@contextmanager
def served(folder, policy):
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(folder), policy=policy))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}/"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


@pytest.fixture
def folder(tmp_path):
    write_html(sample_payload(), tmp_path / "report.html", assets="files")
    return tmp_path


def test_the_page_has_no_inline_code_and_names_two_files_beside_it(folder):
    text = (folder / "report.html").read_text(encoding="utf-8")
    names = re.findall(r'(?:href|src)="(promptreg-[0-9a-f]{12}\.(?:css|js))"', text)
    assert sorted(path.name for path in folder.iterdir()) == sorted([*names, "report.html"])
    assert len(names) == 2
    assert "<style" not in text
    assert not re.search(r"<script(?! src=| type=)", text)
    policy = unescape(re.search(r'Content-Security-Policy" content="([^"]*)"', text)[1])
    assert dict(part.split(" ", 1) for part in policy.split("; ")) == {
        "default-src": "'none'",
        "script-src": "'self'",
        "style-src": "'self'",
        "img-src": "data:",
        "connect-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'none'",
    }
    inline = write_html(sample_payload(), folder / "inline.html").path.read_text(encoding="utf-8")
    for name in names:
        assert (folder / name).read_text(encoding="utf-8") in inline


def test_it_works_where_only_files_of_the_host_are_allowed(browser, folder):
    errors = []
    with served(folder, "default-src 'none'; script-src 'self'; style-src 'self'; img-src data:") as address:
        page = browser.new_page()
        page.on("console", lambda message: errors.append(message.text))
        page.on("pageerror", lambda error: errors.append(str(error)))
        page.goto(f"{address}report.html#suite=support&case=refund-window")
        page.wait_for_selector("main article")
        assert page.locator("#case-heading").inner_text() == "refund-window"
        assert page.evaluate("getComputedStyle(document.querySelector('.bar-top')).display") == "flex"
        page.close()
    assert errors == []


def test_the_summary_has_its_style_where_code_is_forbidden(browser, folder):
    with served(folder, JENKINS) as address:
        page = browser.new_page()
        page.goto(f"{address}report.html")
        assert page.locator("h1").inner_text() == "Regression"
        assert page.locator("ol li").count() == 15
        assert page.evaluate("document.styleSheets.length") == 1
        page.close()


def test_it_opens_from_disk_too(open_page, folder):
    page = open_page(folder / "report.html")
    assert page.locator("h1").inner_text() == "Regression"


def test_reports_share_the_files(folder):
    write_html(sample_payload(), folder / "second.html", assets="files")
    assert sorted(path.suffix for path in folder.iterdir()) == [".css", ".html", ".html", ".js"]
