"""A question to a judge: the request that is sent, and the hash by which its reply is found again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from promptreg.canonical import sha256_of
from promptreg.config.params import EXTRA_BODY
from promptreg.deployment.request import request_body
from promptreg.suite.model import Request

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.config import Deployment

_NOT_ASKED: Final = ("stream", "stream_options")
"""Keys of a request that change how a reply arrives and not what it says."""


def question_request(prompt: str, judge: Deployment) -> Request:
    """The request that asks a judge: one user message, at temperature 0 unless the deployment sets another."""
    in_extra = judge.request.get(EXTRA_BODY)
    sets = {*judge.request, *judge.extra_body, *(in_extra if isinstance(in_extra, dict) else ())}
    params: Mapping[str, float] = {} if "temperature" in sets else {"temperature": 0}
    return Request(({"role": "user", "content": prompt},), params)


def question_sha256(prompt: str, judge: Deployment) -> str:
    """Hash of who is asked (address, model), with which parameters, and what.

    Raises:
        ConfigError: when the request would ask for several replies at once.
    """
    body = request_body(question_request(prompt, judge), judge)
    asked = {name: value for name, value in body.items() if name not in _NOT_ASKED}
    return sha256_of({"address": judge.base_url or judge.call, "request": asked})
