"""What is wrong with a `tokenizer` is told with the line of the configuration where it stands."""

from __future__ import annotations

import pytest

from promptreg.config import load_config
from promptreg.config.where import place_of
from promptreg.errors import ConfigError
from promptreg.workflow.context.configured import configured_counter

TABLE = """\
[deployments.ascend]
base_url = "http://127.0.0.1:9/v1"
model = "deepseek-chat"
server = "vllm"
tokenizer = "{}"
"""


def config_of(folder, tokenizer, *, name="promptreg.toml", before=""):
    table = TABLE.format(tokenizer)
    if name == "pyproject.toml":
        table = table.replace("[deployments", "[tool.promptreg.deployments")
    (folder / name).write_text(before + table, encoding="utf-8")
    return load_config(folder / name, folder)


@pytest.mark.parametrize(
    ("tokenizer", "sentence"),
    [
        ("", "`tokenizer` is empty"),
        ("foo", "There is no tokenizer `foo`"),
        ("server", "is the server, which cannot be asked here"),
        ("server:", "Nothing stands behind `server:`"),
        ("server:v9", "There is no prompt format `v9`"),
        ("gone.jinja", "The chat template gone.jinja cannot be used. The file does not exist."),
    ],
)
def test_the_line_of_the_tokenizer_is_named(tmp_path, tokenizer, sentence):
    config = config_of(tmp_path, tokenizer)

    with pytest.raises(ConfigError) as raised:
        configured_counter(config, config.deployment("ascend"))

    assert str(raised.value).startswith("promptreg.toml:5: ")
    assert sentence in str(raised.value)


def test_in_a_pyproject_too(tmp_path):
    config = config_of(tmp_path, "foo", name="pyproject.toml", before="[tool.other]\r\nx = 1\r\n")

    with pytest.raises(ConfigError, match=r"^pyproject\.toml:7: There is no tokenizer"):
        configured_counter(config, config.deployment("ascend"))


def test_a_template_is_found_from_the_projects_folder(tmp_path, monkeypatch):
    (tmp_path / "here.jinja").write_text("{{ messages[0].content }}", encoding="utf-8")
    config = config_of(tmp_path, "here.jinja")
    monkeypatch.chdir(tmp_path.parent)

    chosen = configured_counter(config, config.deployment("ascend"))

    assert chosen.counter.name == "deepseek_v4 + template here.jinja"


def test_without_its_file_a_configuration_has_no_places(tmp_path):
    config = config_of(tmp_path, "v4")
    (tmp_path / "promptreg.toml").unlink()

    assert str(place_of(config, "deployments", "ascend")) == "promptreg.toml"
    assert place_of(config.model_copy(update={"file": ""})) is None
