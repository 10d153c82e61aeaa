"""The body of a request: what the suite asks for over what the deployment sets.

Precedence, the later winning: the deployment's `request`, the suite's and the case's parameters; then the
deployment's `extra_body`, the suite's and the case's `extra_body`, which the official client would merge last too.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from promptreg.config.params import EXTRA_BODY, ONE_SAMPLE, asks_for_several
from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from promptreg.canonical import Json
    from promptreg.config import Deployment
    from promptreg.suite.model import Request


def request_body(request: Request, deployment: Deployment) -> dict[str, Json]:
    """The JSON body that is sent for a request.

    Raises:
        ConfigError: when it would ask for several samples at once.
    """
    params: dict[str, Json] = {**deployment.request, **request.params}
    extras = [deployment.request.get(EXTRA_BODY), deployment.extra_body, request.params.get(EXTRA_BODY)]
    params.pop(EXTRA_BODY, None)
    body: dict[str, Json] = {"model": deployment.model, "messages": list(request.messages), **params}
    if deployment.stream and deployment.call is None:  # a function has nothing to stream
        options = params.get("stream_options")
        body["stream"] = True
        body["stream_options"] = {**(options if isinstance(options, Mapping) else {}), "include_usage": True}
    else:
        body.pop("stream_options", None)
    for extra in extras:
        if isinstance(extra, Mapping):
            body.update(extra)
    if asks_for_several(body):
        raise ConfigError(ONE_SAMPLE)
    return body
