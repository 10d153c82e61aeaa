from __future__ import annotations

import os

import pytest

from promptreg.errors import Place, SuiteError
from promptreg.suite.files import resolve_project_file, shown_path


@pytest.fixture
def project(tmp_path):
    root = tmp_path / "项目"
    (root / "suites" / "schemas").mkdir(parents=True)
    (root / "suites" / "schemas" / "答案.json").write_text("{}", encoding="utf-8")
    (root / "shared.json").write_text("{}", encoding="utf-8")
    (tmp_path / "secret.json").write_text("{}", encoding="utf-8")
    return root


def test_relative_to_the_file_that_names_it(project):
    found = resolve_project_file(project, "suites/a.yaml", "schemas/答案.json")
    assert found == (project / "suites/schemas/答案.json").resolve()
    assert resolve_project_file(project, "suites/a.yaml", "../shared.json") == (project / "shared.json").resolve()


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("../../secret.json", "outside the project folder"),
        ("schemas/../../../secret.json", "outside the project folder"),
        ("/etc/passwd", "absolute path"),
        ("C:\\x.json", "absolute path"),
        ("\\\\host\\share\\x", "absolute path"),
        ("none.json", r"does not exist \(looked for suites/none\.json\)"),
        ("schemas", "is a folder"),
        ("schemas\\答案.json", "Write `/` between folders"),
        ("", "missing"),
        ("a\0b", "missing"),
    ],
)
def test_refused_paths(project, text, expected):
    with pytest.raises(SuiteError, match=expected) as caught:
        resolve_project_file(project, "suites/a.yaml", text, Place("suites/a.yaml", 7))
    assert caught.value.problems[0].place == Place("suites/a.yaml", 7)


@pytest.mark.skipif(os.name == "nt", reason="links need a right there")
def test_links_do_not_lead_out(project):
    (project / "suites" / "link.json").symlink_to(project.parent / "secret.json")
    (project / "suites" / "out").symlink_to(project.parent)
    (project / "suites" / "circle").symlink_to(project / "suites" / "circle")
    for text in ("link.json", "out/secret.json"):
        with pytest.raises(SuiteError, match="outside the project folder"):
            resolve_project_file(project, "suites/a.yaml", text)
    with pytest.raises(SuiteError):
        resolve_project_file(project, "suites/a.yaml", "circle")


def test_a_root_that_is_a_link(project):
    link = project.parent / "link"
    link.symlink_to(project)
    assert shown_path(link / "suites" / "a.yaml", link) == "suites/a.yaml"
    found = resolve_project_file(link, "suites/a.yaml", "../shared.json")
    assert shown_path(found, link) == "shared.json"
