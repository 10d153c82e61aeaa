"""Which certificates are believed."""

from __future__ import annotations

import ssl
from typing import TYPE_CHECKING

from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from promptreg.deployment.transports.base import Wiring


def tls_context(wiring: Wiring) -> ssl.SSLContext | bool:
    """What aiohttp is to check: the system's certificates, those and the CA file's, or nothing.

    Raises:
        ConfigError: when the CA file cannot be read.
    """
    if not wiring.verify:
        return False
    if wiring.ca_file is None:
        return True
    context = ssl.create_default_context()
    try:
        context.load_verify_locations(cafile=wiring.ca_file)
    except (OSError, ssl.SSLError) as error:
        raise ConfigError(
            f"ca_file {wiring.ca_file} cannot be read as PEM certificates ({error.strerror or error}); "
            f"name the file with the certificate of the authority that signed the deployment's"
        ) from error
    return context
