"""Names of test items: stable, unique, and such that a node id on the command line finds them again."""

from __future__ import annotations

import re
from typing import Final

VERDICT_ITEM: Final = "[verdict]"
"""Name of the item that stands for a suite's own verdict; as in the JUnit file of `promptreg compare`."""

_LOOKS_ESCAPED: Final = re.compile("%(?:3A|5B|25)")


def item_name(case_id: str) -> str:
    """The name of a case's item: its id, except where pytest would read something else in it.

    pytest splits node ids at `::`, which is therefore written `%3A%3A`; from pytest 9.1 on it writes a `]` behind what
    follows a `[`, which is therefore written `%5B` where no `]` ends the id; an id that looks like an escape has its
    `%` written `%25`, and `[verdict]` is the suite's own. No two ids have the same name.
    """
    name = case_id.replace("%", "%25") if _LOOKS_ESCAPED.search(case_id) else case_id
    if name == VERDICT_ITEM:
        return "%5B" + name[1:]
    if not name.endswith("]"):
        name = name.replace("[", "%5B")
    return name.replace("::", "%3A%3A")
