"""Row 11: a value that names another variable is not filled with it."""

from __future__ import annotations


def test_a_value_never_reads_another_variable(moved):
    project = moved()
    project.write(
        "suites/orders.yaml",
        """suite: orders
prompts:
  ask:
    - system: "{{ tpl }}"
    - user: "use {{ tpl }} here, {{ name }}"
cases:
  - {id: a, prompt: ask, vars: {tpl: "{{name}}", name: KNOWN}}
  - {id: b, prompt: ask, vars: {tpl: "{{ name }} {% if name %}yes{% endif %}", name: "{{ tpl }}"}}
""",
    )
    assert set(project.sent()) == {
        "{{name}}",
        "use {{name}} here, KNOWN",
        "{{ name }} {% if name %}yes{% endif %}",
        "use {{ name }} {% if name %}yes{% endif %} here, {{ tpl }}",
    }


def test_the_environment_cannot_be_read_by_a_value(moved, monkeypatch):
    monkeypatch.setenv("SECRET_OF_THE_TEST", "LEAK")
    project = moved()
    project.suite("orders", {"a": "{{ env.SECRET_OF_THE_TEST }} $SECRET_OF_THE_TEST ${SECRET_OF_THE_TEST}"})
    assert "LEAK" not in "".join(project.sent())
