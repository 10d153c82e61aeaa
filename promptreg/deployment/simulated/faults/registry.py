"""All faults that can be planted, by name. A new family of faults is one module and one line here."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.deployment.simulated.faults import parts, text, wire

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.deployment.simulated.faults.base import Fault

FAULTS: Mapping[str, Fault] = {fault.name: fault for family in (text, parts, wire) for fault in family.FAULTS}
"""Every fault by its name."""
