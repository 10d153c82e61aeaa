"""What users may import from promptreg."""

from __future__ import annotations

import re
import types
from pathlib import Path

import promptreg

ROOT = Path(__file__).parents[2]


def test_all_is_sorted_and_every_name_can_be_imported():
    assert list(promptreg.__all__) == sorted(set(promptreg.__all__))
    for name in promptreg.__all__:
        assert getattr(promptreg, name) is not None, name
        assert name in dir(promptreg), name


def test_all_is_complete():
    public = {
        name
        for name, value in vars(promptreg).items()
        # `annotations` is what `from __future__ import annotations` leaves behind
        if not name.startswith("_")
        and not isinstance(value, types.ModuleType)
        and name != "annotations"
        # names for type checkers, and what helps with lazy loading, are no public names
        and getattr(value, "__module__", "").startswith("promptreg")
    }
    assert public <= set(promptreg.__all__)


def test_unknown_names_are_attribute_errors():
    assert not hasattr(promptreg, "no_such_name")


def test_every_public_function_and_class_has_a_docstring():
    for name in promptreg.__all__:
        value = getattr(promptreg, name)
        if isinstance(value, (type, types.FunctionType)):
            assert value.__doc__, name


def test_the_version_is_a_version():
    assert re.fullmatch(r"\d+\.\d+\.\d+([.-]?\w+)?", promptreg.__version__)
