from __future__ import annotations

import time

import pytest


@pytest.mark.parametrize(
    ("argument", "content", "passed"),
    [
        (None, "def f():\n    return 1\n", True),
        (None, "def f():\r\n    return '你好 👋'\r\n", True),
        (None, "print('\\d')", True),
        (None, "def f(:\n", False),
        (None, "return 1", False),
        (None, "```python\nx = 1\n```", False),
        (None, "你好，世界。", False),
        (None, "a\0b", False),
        (None, "x = '\ud800'", False),
        (None, "", False),
        (None, "import os; os.system('exit 1')", True),
        ({"in_fence": True}, "代码：\n```python\nx = 1\n```\n完。", True),
        ({"in_fence": True}, "```py\nx = 1\n```\n```\nnot python, no name\n```", True),
        ({"in_fence": True}, "```\nx = 1\n```", True),
        ({"in_fence": True}, "```python\nx =\n```", False),
        ({"in_fence": True}, "```python\nx = 1", False),
        ({"in_fence": True}, "x = 1", False),
        (None, "x = 1\n" * 100_000, None),
        (None, "(" * 90_000 + ")" * 9_000, None),
        (None, "-" * 90_000 + "1", None),
    ],
)
def test_python(judge, argument, content, passed):
    assert judge("python", argument, content).passed is passed


def test_python_is_never_run(judge, tmp_path):
    target = tmp_path / "written"

    assert judge("python", None, f"open({str(target)!r}, 'w').write('x')").passed is True
    assert not target.exists()


def test_python_says_where_it_stops(judge):
    assert judge("python", None, "x = 1\ny = (").sentence.en == (
        "The answer is no Python code (line 2: '(' was never closed)."
    )


@pytest.mark.parametrize(
    ("argument", "content", "passed"),
    [
        (None, "SELECT a, count(*) FROM t WHERE b = '退款' GROUP BY a;", True),
        (None, "WITH x AS (SELECT 1) SELECT * FROM x", True),
        (None, "INSERT INTO t VALUES (1); UPDATE t SET a = 2; DELETE FROM t", True),
        (None, "CREATE TABLE t (a INT); DROP TABLE t; ALTER TABLE t ADD b INT", True),
        (None, "GRANT SELECT ON t TO u", True),
        (None, "EXPLAIN SELECT 1", True),
        (None, "SELECT FROM WHERE", False),
        (None, "select a from", False),
        (None, "hello world", False),
        (None, "您好，退货期限是七天。", False),
        (None, "The refund window is 30 days.", False),
        (None, "42", False),
        (None, ";", False),
        (None, "", False),
        (None, "```sql\nSELECT 1\n```", False),
        ("mysql", "SELECT `a` FROM `t` LIMIT 1, 2", True),
        ({"dialect": "postgres"}, "SELECT a::int FROM t", True),
        ({"in_fence": True}, "查询：\r\n```sql\r\nSELECT 1\r\n```", True),
        ({"in_fence": True}, "```sql\nSELEC 1 FROM\n```", False),
        ({"in_fence": True}, "SELECT 1", False),
        (None, "SELECT " + "(" * 9_000 + "1" + ")" * 9_000, None),
        (None, "SELECT 1;" * 10_000, None),
    ],
)
def test_sql(judge, argument, content, passed):
    assert judge("sql", argument, content).passed is passed


@pytest.mark.parametrize(
    "content",
    [
        "SELECT 1",
        "select a from b",
        "WITH x AS (SELECT 1) SELECT * FROM x",
        "Set a = b",
        "Commit",
        "ROLLBACK",
        "BEGIN",
        "BEGIN; UPDATE t SET a=1; COMMIT;",
        "explain select 1",
        "EXPLAIN ANALYZE SELECT 1",
        "CALL p(1)",
        "revoke select on t from u",
        "GRANT SELECT ON t TO u",
        "Truncate table t",
        "alter table t add b int",
        "Show tables",
        "optimize table t",
        "delete from t where a=1",
        "delete a from a join b",
        "insert into t values (1)",
        "insert into t select 1",
        "-- c\nSELECT 1",
        "(SELECT 1) UNION (SELECT 2)",
        "VALUES (1)",
        "create index i on t (a)",
        "drop view v",
        "merge into t using s on a=b when matched then delete",
    ],
)
def test_statements_are_sql(judge, content):
    assert judge("sql", None, content).passed is True


@pytest.mark.parametrize(
    "content",
    [
        "Describe the problem",
        "Use the form below",
        "Set the alarm",
        "Explain why the refund is late",
        "Call us",
        "Call 1234",
        "Execute the plan",
        "Lock the door",
        "Comment on this",
        "Show me the money",
        "Update your account",
        "Delete this",
        "Select the best option",
        "Values matter",
        "Merge the two",
        "Grant me a wish",
        "Drop the ball",
        "Create a plan",
        "Insert coin",
        "With love",
        "From Russia",
        "Begin now",
        "退货",
        "(1)",
        "a, b",
        "SELECT FROM WHERE",
        "选择 a from b",
    ],
)
def test_short_prose_that_the_parser_would_take_is_no_sql(judge, content):
    assert judge("sql", None, content).passed is False


LOL = (
    '<?xml version="1.0"?><!DOCTYPE l [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;&a;&a;&a;&a;">'
    '<!ENTITY c "&b;&b;&b;&b;&b;&b;&b;&b;">]><l>&c;</l>'
)


@pytest.mark.parametrize(
    ("argument", "content", "passed"),
    [
        (None, "<订单><编号>7</编号></订单>", True),
        (None, '<?xml version="1.0" encoding="UTF-8"?>\r\n<a/>\r\n', True),
        (None, "<!DOCTYPE a><a>&amp;👋</a>", True),
        (None, "<a><b></a>", False),
        (None, "<a/><b/>", False),
        (None, "text", False),
        (None, "", False),
        (None, "```xml\n<a/>\n```", False),
        (None, "<a>&x;</a>", False),
        (None, "<a>\0</a>", False),
        (None, LOL, None),
        (None, '<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>', None),
        (None, "<a>" * 200_000 + "</a>" * 200_000, None),
        (None, "<a>" + "x" * 1_000_000 + "</a>", True),
        (None, "<a>" + "x" * 2_000_000 + "</a>", None),
        ({"root": "order"}, "<order/>", True),
        ({"root": "order"}, "<orders/>", False),
        ({"elements": ["id", "total"]}, "<o><id/><total/></o>", True),
        ({"root": "o", "elements": "id"}, "<o><ids/></o>", False),
    ],
)
def test_xml(judge, argument, content, passed):
    before = time.monotonic()

    assert judge("xml", argument, content).passed is passed
    assert time.monotonic() - before < 20


def test_xml_sentences(build, judge):
    assert judge("xml", None, LOL).sentence.zh == "回答未按 XML 读取：其中声明了实体。"
    assert judge("xml", None, "<a>\n<b></a>").sentence.en == (
        "The answer is no XML (line 2, column 6: mismatched tag)."
    )
    assert build("xml", {"root": "o", "elements": ["a", "b"]}).rule.en == (
        "The answer must be XML with the root “o” and with elements “a” and “b”."
    )


@pytest.mark.parametrize(
    ("name", "argument", "message"),
    [
        ("python", {"fence": True}, "has no field `fence`. Did you mean `in_fence`? Fields are `in_fence`."),
        ("python", {"in_fence": "yes"}, "must be `true` or `false`"),
        ("python", "3.11", "needs fields"),
        ("sql", "mysqll", "knows no dialect `mysqll`. Did you mean `mysql`?"),
        ("sql", {"dialct": "mysql"}, "Did you mean `dialect`?"),
        ("xml", {"root": ""}, "`root` of `xml` needs a text"),
        ("xml", {"elements": []}, "`elements` of `xml` needs a list of texts"),
    ],
)
def test_wrong_arguments_of_code_checks(refused, name, argument, message):
    assert message in refused(name, argument)
