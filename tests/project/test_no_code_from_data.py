"""No text that promptreg reads becomes code: no eval, no pickle, no shell, no YAML that makes objects.

The places that come near to it are named here, each with why it is safe. docs/design/security.md tells the rest.
"""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

PACKAGE = Path(__file__).parents[2] / "promptreg"

ALLOWED = {
    ("packing.py", "import pickle"): (
        "Results travel from forked copies of this very process through an anonymous pipe, and lie in a temporary file "
        "without a name, which nobody else can open: whoever could write other bytes there runs as this process."
    ),
    (
        "scoring/checks/python.py",
        "compile",
    ): "The check `python` looks for syntax errors; what is compiled is never run.",
}

RUNS = {"eval", "exec", "compile", "__import__", "execfile"}
LOADS_OBJECTS = {
    *("pickle", "_pickle", "cPickle", "marshal", "shelve", "dill", "cloudpickle", "jsonpickle", "joblib", "yaml"),
    *("code", "codeop", "runpy", "imp"),
}
SHELLS = {
    *("os.system", "os.popen", "os.startfile", "subprocess.getoutput", "subprocess.getstatusoutput", "pty.spawn"),
    *("asyncio.create_subprocess_shell", "pandas.read_pickle", "torch.load", "shutil.unpack_archive"),
    *("tempfile.mktemp",),
}
METHODS = {"extractall", "read_pickle"}


def dotted(node):
    if isinstance(node, ast.Name):
        return node.id
    if isinstance(node, ast.Attribute):
        return f"{dotted(node.value)}.{node.attr}"
    return "?"


def imported(tree):
    """What each name of a module stands for, so that `from os import system as s` is seen."""
    names = {}
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            names |= {item.asname: item.name for item in node.names if item.asname}
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            names |= {item.asname or item.name: f"{node.module}.{item.name}" for item in node.names}
    return names


def real_name(node, names):
    first, dot, rest = dotted(node).partition(".")
    return f"{names.get(first, first)}{dot}{rest}".removeprefix("builtins.")


def is_true(node):
    return not (isinstance(node, ast.Constant) and node.value in {False, None})


def found_in(source):
    tree = ast.parse(source)
    names = imported(tree)
    for node in ast.walk(tree):
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            modules = [item.name for item in node.names] if isinstance(node, ast.Import) else [node.module or ""]
            yield from (f"import {name}" for name in modules if name.split(".")[0] in LOADS_OBJECTS)
        if not isinstance(node, ast.Call):
            continue
        name = real_name(node.func, names)
        given = {keyword.arg: keyword.value for keyword in node.keywords}
        if name in RUNS:
            yield name
        if name in SHELLS or name.startswith(("os.exec", "os.spawn", "os.posix_spawn")):
            yield name
        if name.rpartition(".")[2] in METHODS:
            yield name.rpartition(".")[2]
        yield from (f"{key}=True" for key in ("shell", "allow_pickle") if key in given and is_true(given[key]))
        if name == "ruamel.yaml.YAML":
            kind, pure = given.get("typ"), given.get("pure")
            safe = (
                isinstance(kind, ast.Constant) and kind.value in {"safe", "rt"} and pure is not None and is_true(pure)
            )
            if not safe:
                yield "YAML that is neither safe nor pure"
        if name in {"ruamel.yaml.load", "ruamel.yaml.round_trip_load", "ruamel.yaml.unsafe_load"}:
            yield name


def test_nothing_in_the_package_makes_code_of_data():
    found = {
        (path.relative_to(PACKAGE).as_posix(), what)
        for path in PACKAGE.rglob("*.py")
        for what in found_in(path.read_text(encoding="utf-8"))
    }
    assert found == set(ALLOWED)


@pytest.mark.parametrize(
    ("source", "what"),
    [
        ("eval(text)", "eval"),
        ("import builtins\nbuiltins.exec(text)", "exec"),
        ("from builtins import eval as value\nvalue(text)", "eval"),
        ("__import__('os')", "__import__"),
        ("def f():\n    import pickle as p\n    return p", "import pickle"),
        ("from marshal import loads", "import marshal"),
        ("import yaml", "import yaml"),
        ("from os import system as s\ns('ls')", "os.system"),
        ("import os\nos.execv('/bin/sh', [])", "os.execv"),
        ("import subprocess\nsubprocess.run('ls', shell=True)", "shell=True"),
        ("from subprocess import run\nrun('ls', shell=how)", "shell=True"),
        ("import numpy as np\nnp.load(path, allow_pickle=True)", "allow_pickle=True"),
        ("import asyncio\nasyncio.create_subprocess_shell('ls')", "asyncio.create_subprocess_shell"),
        ("from ruamel.yaml import YAML\nYAML(typ='unsafe', pure=True)", "YAML that is neither safe nor pure"),
        ("from ruamel.yaml import YAML\nYAML()", "YAML that is neither safe nor pure"),
        ("import ruamel.yaml as y\ny.YAML(typ='safe')", "YAML that is neither safe nor pure"),
        ("archive.extractall(folder)", "extractall"),
    ],
)
def test_what_would_is_seen(source, what):
    assert what in set(found_in(source))


@pytest.mark.parametrize(
    "source",
    [
        "import re\nre.compile('a')",
        "import ast\nast.literal_eval('1')",
        "import subprocess\nsubprocess.run(['ls'], shell=False)",
        "from ruamel.yaml import YAML\nYAML(typ='safe', pure=True).parse(text)",
        "model.eval()",
    ],
)
def test_what_only_looks_like_it_is_let_through(source):
    assert not set(found_in(source))
