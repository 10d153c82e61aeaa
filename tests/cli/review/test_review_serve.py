"""promptreg review serve: who is let in, what is saved, and two pages that see each other's decisions."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from http.client import HTTPConnection

import pytest
from playwright.sync_api import sync_playwright

from promptreg.cli.review import serve as review_serve
from promptreg.config import load_config
from promptreg.deployment.simulated.server import uvicorn_server
from promptreg.review.decisions import read_decisions
from promptreg.store.store import Store
from promptreg.workflow.review.desk import ReviewDesk
from promptreg.workflow.review.server import review_app
from promptreg.workflow.review.waiting import reviewed_run

TOKEN = "a-token_of-our-own"
OTHER = "No idea. Ask the shop next door about their cats and gardens."
QUESTIONS = {
    "refund": "How many days do I have to return a book?",
    "invoice": "Where is my invoice?",
    "hours": "When is your hotline open?",
}


@pytest.fixture
def compared(pair_of, monkeypatch):
    """A project whose newest comparison found two cases that drifted."""
    monkeypatch.setenv("LC_ALL", "C.UTF-8")
    rules = [{"match": word, "answers": [f"{OTHER} {word}"]} for word in ("book", "invoice")]
    pair = pair_of(source={"noise": {}}, target={"noise": {}, "rules": rules})
    pair.project.suite("support", QUESTIONS)
    pair.record()
    pair.compare()
    return pair


class Served:
    """A served run: its port, and requests to it."""

    def __init__(self, port, report_id):
        self.port, self.report_id = port, report_id
        self.url = f"http://127.0.0.1:{port}/?token={TOKEN}"

    def ask(self, method="GET", path=f"/?token={TOKEN}", body=None, **headers):
        sent = {name.replace("_", "-"): value for name, value in headers.items()}
        with closing(HTTPConnection("127.0.0.1", self.port, timeout=30)) as connection:
            connection.request(method, path, body, sent)
            answer = connection.getresponse()
            return answer.status, answer.read(), answer.headers

    def raw(self, request):
        """The beginning of the answer to these very words."""
        with socket.create_connection(("127.0.0.1", self.port), timeout=30) as connection:
            connection.sendall(request.encode())
            return connection.recv(1000)

    def save(self, *decisions, **fields):
        body = {"report_id": self.report_id, "reviewer": "李雷", "decisions": list(decisions), **fields}
        status, said, _ = self.ask(
            "POST", f"/decisions?token={TOKEN}", json.dumps(body), Content_Type="application/json"
        )
        return status, json.loads(said)


def one(case_id="refund", decision="approve", **fields):
    return {"suite": "support", "case_id": case_id, "decision": decision, **fields}


@contextmanager
def serving(pair):
    config = load_config(None, pair.folder)
    with pair.store() as store:
        run = reviewed_run(config, store, None)
    page = review_serve._page(config, run.record.run_id, "韩梅梅")
    listening = socket.create_server(("127.0.0.1", 0))
    port = listening.getsockname()[1]
    servers, ready = [], threading.Event()

    def work():
        # A connection to SQLite belongs to the thread that opens it.
        with Store.open(config.root / config.paths.store, create=False) as store:
            desk = ReviewDesk(config, store, reviewed_run(config, store, None), "韩梅梅")
            servers.append(uvicorn_server(review_app(desk, page, TOKEN, port)))
            ready.set()
            servers[0].run(sockets=[listening])

    thread = threading.Thread(target=work)
    thread.start()
    try:
        assert ready.wait(60)
        yield Served(port, run.report_id)
    finally:
        servers[0].should_exit = True
        thread.join(30)
        listening.close()


@pytest.fixture
def served(compared):
    with serving(compared) as served:
        yield served


def test_only_the_whole_address_lets_anybody_in(served):
    port = served.port
    assert served.ask()[0] == 200
    for path in ("/", "/?token=", "/?token=x", f"/?token={TOKEN}x", f"/?token={TOKEN[:-1]}", "/decisions", "/?Token=x"):
        status, body, _ = served.ask(path=path)
        assert status == 403, path
        assert b"report" not in body
    for host in ("evil.example", f"evil.example:{port}", "127.0.0.1", f"127.0.0.1:{port + 1}", f"[::1]:{port}", ""):
        assert served.ask(Host=host)[0] == 403, host
    assert served.ask(Host=f"localhost:{port}")[0] == 200
    # What http.client would not send: no host, two, two tokens of which the first counts, a host in the first line.
    host, good = f"Host: 127.0.0.1:{port}\r\n", f"/?token={TOKEN}"
    for first, headers, expected in (
        (good, host, {b"200"}),
        (good, "", {b"400", b"403"}),
        (good, host + host, {b"400", b"403"}),
        (good, host + "Host: evil.example\r\n", {b"400", b"403"}),
        (f"/?token=x&token={TOKEN}", host, {b"403"}),
        (f"http://evil.example{good}", host.replace("127.0.0.1", "evil.example"), {b"403"}),
        (f"/../../../../etc/passwd?token={TOKEN}", host, {b"404"}),
        (f"/%2e%2e/%2e%2e/etc/passwd?token={TOKEN}", host, {b"404"}),
        (f"//evil.example/..?token={TOKEN}", host, {b"404"}),
    ):
        said = served.raw(f"GET {first} HTTP/1.1\r\n{headers}Connection: close\r\n\r\n")
        assert said[9:12] in expected, first
        assert b"root:" not in said
    upgrade = (
        f"{host}Connection: Upgrade\r\nUpgrade: websocket\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: eA==\r\n"
    )
    for path in ("/", good):
        said = served.raw(f"GET {path} HTTP/1.1\r\n{upgrade}\r\n")
        assert not said.startswith(b"HTTP/1.1 101")


def test_no_other_origin_is_let_in(served):
    for origin in (
        "http://evil.example",
        "null",
        f"http://localhost:{served.port}",
        f"https://127.0.0.1:{served.port}",
    ):
        assert served.ask(Origin=origin)[0] == 403, origin
    assert served.ask(Origin=f"http://127.0.0.1:{served.port}")[0] == 200
    assert served.ask(Sec_Fetch_Site="cross-site")[0] == 403
    assert served.ask(Sec_Fetch_Site="same-site")[0] == 403


def test_a_form_of_another_page_cannot_decide(served):
    path = f"/decisions?token={TOKEN}"
    assert served.ask("POST", path, "{}", Content_Type="text/plain")[0] == 415
    assert served.ask("PUT", path, "{}", Content_Type="application/json")[0] == 405


def test_the_page_may_speak_with_its_server_only(served):
    _, body, headers = served.ask()
    assert b"connect-src &#x27;self&#x27;" in body
    assert headers["Cache-Control"] == "no-store"
    assert headers["X-Frame-Options"] == "DENY"
    assert headers["Referrer-Policy"] == "no-referrer"


def test_a_report_on_disk_speaks_with_nobody(compared):
    [html] = (compared.folder / "reports").glob("*.html")
    text = html.read_text(encoding="utf-8")
    assert "connect-src &#x27;none&#x27;" in text
    assert "fetch(" not in text


def test_decisions_are_in_the_log_at_once(served, compared):
    until = "2999-01-31"
    waived = one("invoice", "waive", reason="只是措辞", expires_on=until)
    status, said = served.save(one(), waived)
    assert status == 200
    assert {(each["case_id"], each["decision"], each["reviewer"]) for each in said["decisions"]} == {
        ("refund", "approve", "李雷"),
        ("invoice", "waive", "李雷"),
    }
    with compared.store() as store:
        assert [(each.case_id, each.reason, each.expires_on) for each in store.decisions()] == [
            ("refund", "", None),
            ("invoice", "只是措辞", until),
        ]


def test_what_is_taken_back_stays_in_the_log(served, compared):
    _, said = served.save(one())
    status, said = served.save(one(decision="withdraw", over=said["decisions"][0]["decided_at"]))
    assert (status, said["decisions"]) == (200, [])
    with compared.store() as store:
        assert [each.decision for each in store.decisions()] == ["approve", "withdraw"]


@pytest.mark.parametrize(
    ("sent", "fields", "expected"),
    [
        ([one("nobody")], {}, "another report"),
        ([one()], {"report_id": "0"}, "another report"),
        ([one(), one("invoice", "waive", reason="x")], {}, "needs the day"),
        ([one(), one("invoice", "waive", expires_on="2999-01-31")], {}, "needs a reason"),
        ([one("invoice", "waive", reason="x", expires_on="2020-01-01")], {}, "expired"),
        ([one("hours", "waive", reason="x", expires_on="2999-01-01")], {}, "nothing to waive"),
        ([one("refund", "remove")], {}, "still has this case"),
        ([one("refund", "delete")], {}, "no decisions"),
        ([one(path="../x")], {}, "no decisions"),
        ([one()], {"more": 1}, "no decisions"),
        ([5], {}, "no decisions"),
    ],
)
def test_what_cannot_be_decided_is_not_saved(served, compared, sent, fields, expected):
    status, said = served.save(*sent, **fields)
    assert status == 422
    assert expected in said["en"]
    assert said["zh"]
    with compared.store() as store:
        assert store.decisions() == ()


def test_no_decision_is_replaced_that_the_page_does_not_show(served, compared):
    _, said = served.save(one(), one("invoice", "reject"), reviewer="李雷")
    seen = {each["case_id"]: each["decided_at"] for each in said["decisions"]}
    # Another page does not know it yet, or knows an older one: nothing of what it sends is saved.
    for over in (None, "2026-01-01T00:00:00Z"):
        status, said = served.save(one("hours", "defer"), one(decision="reject", over=over), reviewer="韩梅梅")
        assert status == 422
        assert "support/refund: 李雷 has decided on it meanwhile (approve)" in said["en"]
        assert "李雷 刚刚已作出决定（批准）" in said["zh"]
    status, said = served.save(one(decision="reject", over=seen["refund"]), reviewer="韩梅梅")
    assert status == 200
    # Put back, it is its maker's again.
    over = next(each["decided_at"] for each in said["decisions"] if each["case_id"] == "refund")
    served.save(one(over=over, reviewer="李雷"), reviewer="韩梅梅")
    with compared.store() as store:
        assert [(each.case_id, each.decision, each.reviewer) for each in store.decisions()] == [
            ("refund", "approve", "李雷"),
            ("invoice", "reject", "李雷"),
            ("refund", "reject", "韩梅梅"),
            ("refund", "approve", "李雷"),
        ]


def test_what_is_no_json_is_refused(served):
    head = b'{"report_id": "a", "reviewer": "b", '
    for body in (
        *(b"", b"{", b"[]", b"null", b"\xff\xfe", b'{"report_id": NaN}', b"[" * 100_000, head + b'"reviewer": "c"}'),
        # Validation remembers everything that is wrong: of a megabyte of this it took gigabytes.
        head + b'"decisions": [' + b"{}," * 300_000 + b"{}]}",
        head + b",".join(b'"%d": 0' % number for number in range(100_000)) + b"}",
    ):
        status, said, _ = served.ask("POST", f"/decisions?token={TOKEN}", body, Content_Type="application/json")
        assert status == 422, body[:40]
        assert "no decisions" in json.loads(said)["en"]
        assert len(said) < 1000


def test_too_much_is_refused(served, monkeypatch):
    monkeypatch.setattr("promptreg.workflow.review.server.MAX_BYTES", 1000)
    status, _, _ = served.ask("POST", f"/decisions?token={TOKEN}", b" " * 2000, Content_Type="application/json")
    assert status == 413


def test_a_page_that_knows_everything_is_told_nothing(served):
    _, said = served.save(one())
    for known, count in ((said["version"], 0), ("0-0", 1), ("", 1)):
        _, body, _ = served.ask(path=f"/decisions?token={TOKEN}&known={known}")
        assert len(json.loads(body)["decisions"]) == count


def wait_for(page, text):
    page.locator("#progress", has_text=text).wait_for()


@pytest.mark.browser
def test_two_pages_see_each_others_decisions(served, compared, chromium):
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path=chromium, args=["--no-sandbox", "--disable-gpu"])
        pages, errors = [], []
        for _ in range(2):
            page = browser.new_context(locale="en-US").new_page()
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.on("console", lambda said: said.type == "error" and errors.append(said.text))
            page.goto(served.url + "#suite=support&case=refund")
            wait_for(page, "0 / 2 decided")
            pages.append(page)
        first, second = pages
        first.keyboard.press("a")
        wait_for(second, "1 / 2 decided")
        assert second.locator(".standing").inner_text().startswith("approved · by 韩梅梅")
        # The second sees whose decision there is, and replaces it on purpose only.
        second.keyboard.press("r")
        assert "approved · by 韩梅梅" in second.locator("#ask-over").inner_text()
        second.keyboard.press("Escape")
        second.keyboard.press("r")
        second.get_by_role("button", name="Replace this decision").click()
        wait_for(first, "1 / 2 decided")
        first.locator(".decision-mark", has_text="rejected").wait_for()
        # What another reviewer decided since is not undone.
        first.keyboard.press("u")
        assert first.locator("#said").inner_text() == "There is nothing to undo."
        second.keyboard.press("u")
        first.locator(".decision-mark", has_text="approved").wait_for()
        browser.close()
    assert errors == []
    with compared.store() as store:
        assert [each.decision for each in store.decisions()] == ["approve", "reject", "approve"]


@contextmanager
def serve_process(folder, *options):
    """`promptreg review serve` as a user starts it: the process, its port and its token."""
    code = "import sys; from promptreg.cli.app import main; sys.exit(main())"
    process = subprocess.Popen(
        [sys.executable, "-c", code, "review", "serve", "--reviewer", "李雷", *options],
        cwd=folder,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        encoding="utf-8",
        env={**os.environ, "PYTHONIOENCODING": "utf-8", "PYTHONUNBUFFERED": "1"},
    )
    try:
        address = next(line.strip() for line in process.stdout if line.startswith("http://127.0.0.1:"))
        yield process, int(address.split(":")[2].split("/")[0]), address.partition("token=")[2]
    finally:
        process.kill()
        process.communicate()


@pytest.mark.parametrize("ending", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_ends_it_and_it_says_what_to_do(compared, ending):
    with serve_process(compared.folder) as (process, port, token):
        assert len(token) >= 32
        with compared.store() as store:
            report_id = reviewed_run(load_config(None, compared.folder), store, None).report_id
        body = json.dumps({"report_id": report_id, "reviewer": "", "decisions": [one(), one("invoice", "reject")]})
        with closing(HTTPConnection("127.0.0.1", port, timeout=30)) as connection:
            connection.request("POST", f"/decisions?token={token}", body, {"Content-Type": "application/json"})
            assert connection.getresponse().status == 200
        process.send_signal(ending)
        said, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "Decisions in the store that do not count yet: 2." in said
    [line] = [line.split()[-1] for line in said.splitlines() if "review apply" in line]
    decisions = read_decisions(compared.folder / line, line)
    decided = {each.case_id: each.decision for each in decisions.decisions}
    assert (decisions.reviewer, decided) == ("李雷", {"refund": "approve", "invoice": "reject"})
    assert "Written" in compared.run("review", "apply", line, "--write").stdout


def test_a_second_one_on_the_same_port_says_so(compared):
    with serve_process(compared.folder, "--quiet") as (process, port, _):
        second = compared.run("review", "serve", "--port", str(port))
        assert second.exit_code == 4
        assert f"cannot be served on port {port} (Address already in use)" in second.stderr
        assert "Is another review served there" in second.stderr
        assert process.poll() is None
        process.terminate()
        said, errors = process.communicate(timeout=60)
    assert (process.returncode, errors) == (0, "")
    assert "No decision waits" in said
