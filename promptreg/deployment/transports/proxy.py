"""Which proxy a deployment is reached through."""

from __future__ import annotations

import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from promptreg.deployment.transports.base import Wiring


def proxy_for(wiring: Wiring) -> str | None:
    """The proxy to use: the configured one, else the environment's for this host.

    Raises:
        ConfigError: for a proxy that is no HTTP proxy.
    """
    proxy = wiring.proxy
    if proxy is None:
        parts = urlsplit(wiring.base_url)
        if not parts.hostname or urllib.request.proxy_bypass(parts.hostname):
            return None
        proxies = urllib.request.getproxies()
        proxy = proxies.get(parts.scheme) or proxies.get("all")
        if proxy is None:
            return None
        if "://" not in proxy:
            proxy = f"http://{proxy}"
    if urlsplit(proxy).scheme not in ("http", "https"):
        raise ConfigError(
            f"The proxy for {urlsplit(wiring.base_url).hostname} is of the kind `{urlsplit(proxy).scheme}`; "
            f'promptreg can use http and https proxies: set proxy = "http://…" for the deployment, or NO_PROXY'
        )
    return proxy
