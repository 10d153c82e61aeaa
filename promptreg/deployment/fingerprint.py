"""What a deployment says about itself, before and after a run; and the one sentence when it cannot be used at all."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from promptreg.deployment.envelope import describe_body, looks_like_html, shortened
from promptreg.deployment.exchange import Exchange, Failure, FailureKind
from promptreg.deployment.json_text import parse_json
from promptreg.errors import EndpointError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Deployment
    from promptreg.deployment.client import Client

_LONGEST_NAME = 200
_MOST_MODELS = 100


@dataclass(frozen=True, slots=True)
class Fingerprint:
    """What identifies the software and the model behind an address; empty where a server tells nothing."""

    models: tuple[str, ...] = ()
    """Model names of `/v1/models`, sorted."""
    version: str | None = None
    max_model_len: int | None = None
    """The window of the deployment's model, in tokens."""
    echoed_model: str | None = None
    """The model name in the answers."""
    system_fingerprints: tuple[str, ...] = ()
    """`system_fingerprint` values seen in the answers, sorted; several mean several replicas or a change."""

    def with_echoes(self, models: Iterable[str | None], system_fingerprints: Iterable[str | None]) -> Fingerprint:
        """Adds what the readings of a run echoed."""
        echoed = sorted({shortened(model, _LONGEST_NAME) for model in models if model})
        prints = {shortened(value, _LONGEST_NAME) for value in system_fingerprints if value}
        return replace(
            self,
            echoed_model=", ".join(echoed) or self.echoed_model,
            system_fingerprints=tuple(sorted(prints | set(self.system_fingerprints))),
        )

    def to_json(self) -> JsonObject:
        """The form kept in the store and in baselines: what is empty is left out."""
        values: dict[str, Json] = {}
        if self.models:
            values["models"] = list(self.models)
        if self.version is not None:
            values["version"] = self.version
        if self.max_model_len is not None:
            values["max_model_len"] = self.max_model_len
        if self.echoed_model is not None:
            values["echoed_model"] = self.echoed_model
        if self.system_fingerprints:
            values["system_fingerprints"] = list(self.system_fingerprints)
        return values

    @classmethod
    def from_json(cls, values: JsonObject) -> Fingerprint:
        """Reads `to_json`; what is missing or of another type counts as not told."""
        window = values.get("max_model_len")
        return cls(
            models=_texts(values.get("models")),
            version=_text(values.get("version")),
            max_model_len=window if isinstance(window, int) and not isinstance(window, bool) else None,
            echoed_model=_text(values.get("echoed_model")),
            system_fingerprints=_texts(values.get("system_fingerprints")),
        )


async def take_fingerprint(client: Client) -> Fingerprint:
    """Asks a deployment for its models and, where its kind has one, its version. At most two small GET requests.

    Raises:
        EndpointError: when it cannot be reached or refuses the key. A server without a model list is no error.
    """
    deployment = client.deployment
    if deployment.call is not None:
        return Fingerprint()
    profile = client.profile
    listing = await client.get(profile.models_path)
    _raise_if_unusable(listing, deployment)
    models, window = _models(listing, deployment.model)
    version = None
    if profile.version_path is not None:
        document = _document(await client.get(profile.version_path))
        version = _text(document.get(profile.version_key))
        told = document.get(profile.window_key) if profile.window_key is not None else None
        if window is None and isinstance(told, int):
            window = told
    return Fingerprint(models=models, version=version, max_model_len=window)


def differences(before: Fingerprint, after: Fingerprint) -> tuple[Sentence, ...]:
    """What changed between two fingerprints of one deployment, one sentence each. Unknown is never a difference."""
    sentences = []
    pairs = [
        (Sentence("version", "版本"), before.version, after.version),
        (Sentence("window of the model", "模型的窗口"), _number(before.max_model_len), _number(after.max_model_len)),
        (Sentence("model name in the answers", "回答中的模型名"), before.echoed_model, after.echoed_model),
    ]
    for what, was, now in pairs:
        if was is not None and now is not None and was != now:
            sentences.append(
                Sentence(f"The {what.en} was {was} and is now {now}.", f"{what.zh}原为 {was}，现为 {now}。")
            )
    if before.models and after.models and before.models != after.models:
        gone = ", ".join(sorted(set(before.models) - set(after.models)))
        added = ", ".join(sorted(set(after.models) - set(before.models)))
        en = " and ".join(filter(None, (f"{gone} is gone" if gone else "", f"{added} is new" if added else "")))
        zh = "，".join(filter(None, (f"不再有 {gone}" if gone else "", f"新增 {added}" if added else "")))
        sentences.append(Sentence(f"The list of models changed: {en}.", f"模型列表变了：{zh}。"))
    new = ", ".join(sorted(set(after.system_fingerprints) - set(before.system_fingerprints)))
    if before.system_fingerprints and new:
        known = ", ".join(before.system_fingerprints)
        sentences.append(
            Sentence(
                f"The system fingerprint was {known}; now {new} was seen too.",
                f"系统指纹（system_fingerprint）原为 {known}，现在还出现了 {new}。",
            )
        )
    return tuple(sentences)


def _raise_if_unusable(exchange: Exchange, deployment: Deployment) -> None:
    begin = f"Deployment `{deployment.name}` ({_address(deployment)})"
    if exchange.failure is not None:
        raise EndpointError(f"{begin} cannot be reached: {_failure_sentence(exchange.failure)}.")
    status = exchange.status or 0
    if status in (401, 403):
        if deployment.api_key_env is None:
            way_out = "name the environment variable that holds a key with api_key_env"
        else:
            way_out = f"check the value of the environment variable {deployment.api_key_env}"
        raise EndpointError(f"{begin} refused access (HTTP {status}: {describe_body(exchange.body)}); {way_out}.")
    if 200 <= status < 300 and looks_like_html(exchange.body):
        raise EndpointError(
            f"{begin} answers its model list with HTTP {status}, but {describe_body(exchange.body)}: "
            f"this is a page for people, not an API; check base_url, which usually ends in /v1, "
            f"and any gateway or log-in page on the way."
        )
    if 300 <= status < 400:
        location = shortened(dict(exchange.headers).get("location", ""), _LONGEST_NAME)
        raise EndpointError(f"{begin} redirects to {location}; put the address that answers into base_url.")


def _failure_sentence(failure: Failure) -> str:
    said = failure.message
    if said.startswith(("The ", "No ")):
        said = said[0].lower() + said[1:]
    ways_out = {
        FailureKind.DNS: "check base_url and the network",
        FailureKind.CONNECT: "check that the server runs and that base_url has the right port",
        FailureKind.CONNECT_TIMEOUT: "check the address, firewalls and proxies on the way",
        FailureKind.FIRST_BYTE_TIMEOUT: "the server takes the connection but does not answer",
    }
    if failure.kind is FailureKind.TLS:
        if "certificate" in failure.message.lower():
            way_out = (
                "name the file of the authority that signed it with ca_file, "
                "or, in a network you trust, set verify = false"
            )
        else:
            way_out = "check whether the server speaks http instead of https, and that base_url says the same"
    else:
        way_out = ways_out.get(failure.kind, "")
    return f"{said}; {way_out}" if way_out else said


def _address(deployment: Deployment) -> str:
    return (deployment.base_url or deployment.call or "").rpartition("@")[2]


def _models(exchange: Exchange, model: str) -> tuple[tuple[str, ...], int | None]:
    """Model names, and the window of `model` where the list tells it."""
    data = _document(exchange).get("data")
    entries = data if isinstance(data, list) else []
    names: set[str] = set()
    window: int | None = None
    for entry in entries:
        name = entry.get("id") if isinstance(entry, Mapping) else None
        if not isinstance(name, str) or len(names) >= _MOST_MODELS:
            continue
        names.add(shortened(name, _LONGEST_NAME))
        length = entry.get("max_model_len") if isinstance(entry, Mapping) else None
        if isinstance(length, int) and (name == model or len(entries) == 1):
            window = length
    return tuple(sorted(names)), window


def _document(exchange: Exchange) -> JsonObject:
    """The JSON object of a successful response, else an empty one."""
    if exchange.failure is not None or exchange.status != 200:
        return {}
    try:
        value = parse_json(exchange.body)
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _text(value: Json) -> str | None:
    return shortened(value, _LONGEST_NAME) if isinstance(value, str) and value else None


def _texts(value: Json) -> tuple[str, ...]:
    return tuple(item for item in value if isinstance(item, str)) if isinstance(value, (list, tuple)) else ()


def _number(value: int | None) -> str | None:
    return None if value is None else str(value)
