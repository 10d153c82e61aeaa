from __future__ import annotations

import pytest

from promptreg.config import Config, Deployment, Timeouts, load_config
from promptreg.errors import ConfigError

GOOD = """
language = "zh"

[deployments.gpu]
base_url = "http://127.0.0.1:8000/v1"
model = "deepseek-r1"
api_key_env = "GPU_KEY"
server = "vllm"
timeout_s = {total = 900, idle = 30}
request = {temperature = 0.7, stop = ["。"]}
extra_body = {top_k = 20}
provenance = {hardware = "8 x H800", tp = 8, deterministic = false}
headers_env = {X-Team = "TEAM_TOKEN"}

[deployments."昇腾 910B"]
base_url = "https://ascend.example/v1"
model = "deepseek-r1"
server = "vllm-ascend"
timeout_s = 30

[deployments.app]
call = "app.chat:reply"

[roles]
source = "gpu"
target = "昇腾 910B"
"""


def write(folder, text, name="promptreg.toml"):
    path = folder / name
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def problems_of(folder, text, name="promptreg.toml"):
    with pytest.raises(ConfigError) as caught:
        load_config(write(folder, text, name), folder)
    assert caught.value.exit_code == 2
    return [str(problem) for problem in caught.value.problems]


def test_every_key_arrives(tmp_path):
    config = load_config(write(tmp_path, GOOD), tmp_path)
    gpu = config.deployment("gpu")
    assert (gpu.name, gpu.server, gpu.model, gpu.api_key_env) == ("gpu", "vllm", "deepseek-r1", "GPU_KEY")
    assert gpu.timeout_s == Timeouts(connect=10, first_byte=120, idle=30, total=900)
    assert gpu.request == {"temperature": 0.7, "stop": ["。"]}
    assert gpu.provenance == {"hardware": "8 x H800", "tp": 8, "deterministic": False}
    assert config.role("target") is config.deployments["昇腾 910B"]
    assert config.role("target").timeout_s == Timeouts(connect=10, first_byte=30, idle=30, total=30)
    assert config.deployment("app").call == "app.chat:reply"
    assert config.root == tmp_path.resolve()
    assert (config.plan.record_passes, config.plan.compare_passes, config.judging.alpha) == (10, 5, 0.05)
    assert config.paths.store == ".promptreg/store.db"


def test_nothing_changes_after_loading(tmp_path):
    config = load_config(write(tmp_path, GOOD), tmp_path)
    with pytest.raises(ValueError, match="frozen"):
        config.language = "en"


def test_found_from_a_folder_below_with_a_chinese_name(tmp_path):
    write(tmp_path, GOOD)
    below = tmp_path / "测试集" / "深"
    below.mkdir(parents=True)
    assert load_config(None, below).root == tmp_path.resolve()


def test_pyproject_counts_only_with_its_table(tmp_path):
    inner = tmp_path / "inner"
    inner.mkdir()
    write(inner, '[project]\nname = "x"\n', "pyproject.toml")
    text = '[project]\nname = "y"\n\n[tool.promptreg]\nlanguage = "en"\n[tool.promptreg.plan]\nseed = 7\n'
    write(tmp_path, text, "pyproject.toml")
    config = load_config(None, inner)
    assert (config.language, config.plan.seed, config.root) == ("en", 7, tmp_path.resolve())


def test_problems_in_pyproject_have_its_lines(tmp_path):
    text = '[project]\nname = "y"\n\n[tool.promptreg.plan]\nseed = -1\nsede = 2\n'
    assert problems_of(tmp_path, text, "pyproject.toml") == [
        "pyproject.toml:5: `seed` must be at least 0, not -1.",
        (
            "pyproject.toml:6: Unknown key `sede`. Did you mean `seed`? "
            "Allowed are `compare_passes`, `looks`, `record_passes`, `seed`."
        ),
    ]


def test_own_file_comes_before_pyproject_and_a_folder_can_be_named(tmp_path):
    write(tmp_path, '[tool.promptreg]\nlanguage = "en"\n', "pyproject.toml")
    write(tmp_path, 'language = "zh"\n')
    assert load_config(None, tmp_path).language == "zh"
    assert load_config(tmp_path, tmp_path.parent).language == "zh"


def test_missing_config_says_what_to_do(tmp_path):
    with pytest.raises(ConfigError, match=r"promptreg init.*--config"):
        load_config(None, tmp_path)
    with pytest.raises(ConfigError, match=r"nowhere\.toml.*does not exist.*promptreg init"):
        load_config(tmp_path / "nowhere.toml", tmp_path)


def test_pyproject_without_table_named_directly(tmp_path):
    assert problems_of(tmp_path, "[project]\n", "pyproject.toml") == [
        "pyproject.toml: There is no [tool.promptreg] table in this file."
    ]


def test_all_problems_at_once_each_with_its_line(tmp_path):
    found = problems_of(
        tmp_path,
        """langage = "zh"
[deployments.gpu]
base_url = "http://127.0.0.1:8000/v1"
server = "vlm"
concurrency = "8"
timeout_s = {connect = 5, foo = 2}
stream = 1
[deployments.both]
base_url = "http://127.0.0.1/v1"
call = "a:b"
[deployments."a/b"]
call = "no function"
[roles]
source = "gpuu"
[judging]
alpha = 1.0
max_drifted_fraction = nan
""",
    )
    starts = [problem.split(": ", 1) for problem in found]
    assert [place.rpartition(":")[2] for place, _ in starts] == [
        "1", "2", "4", "5", "6", "7", "8", "11", "12", "14", "16", "17",
    ]  # fmt: skip
    text = "\n".join(found)
    assert "Did you mean `language`?" in text
    assert "needs `model`" in text
    assert "`server` must be one of" in text
    assert "not `vlm`. Did you mean `vllm`?" in text
    assert "`concurrency` must be a whole number, not a text." in text
    assert "`stream` must be true or false" in text
    assert "not both" in text
    assert "The deployment name `a/b` contains '/'" in text
    assert "package.module:function" in text
    assert "`gpuu`, which is not defined. Did you mean `gpu`?" in text


@pytest.mark.parametrize("key", ["api_key", "token", "password"])
def test_a_key_in_the_file_is_refused_and_not_repeated(tmp_path, key):
    (problem,) = problems_of(
        tmp_path, f'[deployments.gpu]\nbase_url = "http://h/v1"\nmodel = "m"\n{key} = "sk-very-secret"\n'
    )
    assert problem.startswith(f"promptreg.toml:4: Unknown key `{key}`.")
    assert "api_key_env" in problem
    assert "sk-very-secret" not in problem


@pytest.mark.parametrize(
    "line",
    [
        'base_url = "https://user:sk-secret@h/v1"',
        'base_url = "https://user:sk-secret@[bad/v1"',
        'base_url = "http://h/v1?key=sk-secret"',
        'base_url = "http://h/v1"\napi_key_env = "sk-secret"',
        'base_url = "http://h/v1"\nheaders_env = {A = "sk-secret"}',
        'base_url = "http://h/v1"\nproxy = "http://u:sk-secret@p:1"',
    ],
)
def test_no_message_repeats_a_secret(tmp_path, line):
    (problem,) = problems_of(tmp_path, f'[deployments.gpu]\nmodel = "m"\n{line}\n')
    assert "sk-secret" not in problem
    assert "environment variable" in problem or "only scheme, host" in problem


@pytest.mark.parametrize("url", ["127.0.0.1:8000", "ftp://h/v1", "http://", "http://h:99999/v1", " http://h/v1", ""])
def test_addresses_that_are_none(tmp_path, url):
    found = problems_of(tmp_path, f'[deployments.gpu]\nmodel = "m"\nbase_url = "{url}"\n')
    assert "address" in found[0]
    assert found[0].startswith("promptreg.toml:3: ")


def test_dates_and_infinities_cannot_be_sent(tmp_path):
    text = (
        '[deployments.gpu]\nmodel = "m"\nbase_url = "http://h/v1"\nrequest = {seed = inf}\nextra_body.d = 2026-01-01\n'
    )
    first, second = problems_of(tmp_path, text)
    assert first.startswith("promptreg.toml:4: inf has no JSON form")
    assert second.startswith("promptreg.toml:5: 2026-01-01 is a TOML date")


def test_the_name_of_a_deployment_is_its_table(tmp_path):
    (problem,) = problems_of(tmp_path, '[deployments.a]\ncall = "m:f"\nname = "b"\n')
    assert problem.startswith("promptreg.toml:3: Unknown key `name`.")


@pytest.mark.parametrize("key", ["root", "file"])
def test_loader_fields_are_no_keys(tmp_path, key):
    (problem,) = problems_of(tmp_path, f'{key} = "/"\n')
    assert problem.startswith("promptreg.toml:1: Unknown key")


def test_names_that_share_a_file_are_refused(tmp_path):
    (problem,) = problems_of(tmp_path, '[deployments.GPU]\ncall = "m:f"\n[deployments.gpu]\ncall = "m:f"\n')
    assert problem == "promptreg.toml:3: `gpu` and `GPU` would share a baseline file; give one another name."


def test_broken_toml_has_its_line(tmp_path):
    (problem,) = problems_of(tmp_path, "[plan]\r\nseed = 1\r\nseed = \r\n")
    assert problem.startswith("promptreg.toml:3: This is not valid TOML: ")
    (problem,) = problems_of(tmp_path, "[plan\n")
    assert problem.startswith("promptreg.toml:1: ")
    (problem,) = problems_of(tmp_path, '"""')
    assert problem.startswith("promptreg.toml:1: ")


def test_encodings(tmp_path):
    assert (
        load_config(write(tmp_path, b"\xef\xbb\xbf" + GOOD.replace("\n", "\r\n").encode()), tmp_path).language == "zh"
    )
    (problem,) = problems_of(tmp_path, 'language = "zh"\n# 这是一个中文注释，说明配置\n'.encode("gbk"))
    assert problem.startswith("promptreg.toml:2: The file is not UTF-8")
    assert "GB18030" in problem
    (problem,) = problems_of(tmp_path, 'language = "zh"\n'.encode("utf-16"))
    assert "UTF-16" in problem


def test_an_empty_file_is_a_config_without_deployments(tmp_path):
    config = load_config(write(tmp_path, ""), tmp_path)
    with pytest.raises(ConfigError, match=r"no deployments; add a table `\[deployments\.gpu\]`"):
        config.deployment("gpu")
    with pytest.raises(ConfigError, match=r"no source is set.*\[roles\].*--on NAME"):
        config.role("source")


def test_unknown_deployment_lists_all(tmp_path):
    config = load_config(write(tmp_path, GOOD), tmp_path)
    with pytest.raises(
        ConfigError, match=r"`gpv`, which is not defined\. Did you mean `gpu`\? Defined are `app`, `gpu`"
    ):
        config.deployment("gpv")
    with pytest.raises(ConfigError, match=r"`npu`, which is not defined\. Defined are `app`, `gpu`"):
        config.deployment("npu")


def test_config_can_be_built_in_code():
    deployment = Deployment(name="x", base_url="http://127.0.0.1:1/v1", model="m", timeout_s=5)
    config = Config(deployments={"x": deployment})
    assert config.deployment("x").timeout_s.total == 5
    with pytest.raises(ValueError, match="needs `base_url`"):
        Deployment(name="x", model="m")


def test_a_timeout_that_is_a_text_is_told_what_may_stand_there(tmp_path):
    text = '[deployments.a]\nbase_url = "http://127.0.0.1:1/v1"\nmodel = "m"\ntimeout_s = "10"\n'
    (found,) = problems_of(tmp_path, text)
    assert found == "promptreg.toml:4: `timeout_s` must be a number of seconds, or a table of them, not a text."


def test_a_pyproject_of_blank_lines_is_looked_through_once(tmp_path):
    """Every blank line began a look at all that follow: two megabytes of them took days."""
    (tmp_path / "pyproject.toml").write_bytes(b"\n" * 2_000_000 + b"[x]\n")
    with pytest.raises(ConfigError, match=r"No promptreg\.toml"):
        load_config(None, tmp_path)
