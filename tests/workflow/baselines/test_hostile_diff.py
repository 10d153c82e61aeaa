"""`baseline diff` on what is no baseline."""

from __future__ import annotations

import os

import pytest

from promptreg.config import load_config
from promptreg.errors import UsageError
from promptreg.workflow.baselines import diff


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="this system has no named pipes")
def test_a_pipe_among_the_baselines_is_not_waited_for(tmp_path):
    (tmp_path / "promptreg.toml").touch()
    folder = tmp_path / "baselines" / "support"
    folder.mkdir(parents=True)
    os.mkfifo(folder / "gpu.jsonl")
    config = load_config(None, tmp_path)
    for against in (None, folder / "gpu.jsonl"):
        with pytest.raises(UsageError, match=r"gpu\.jsonl cannot be read\. This is a pipe or a device"):
            list(diff.baseline_changes(config, (), against=against))
