"""The captured payloads of the design page: each gives its kinds, no other error, and the controls stay silent."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from promptreg.scoring.faults.catalogue import catalogue

PAYLOADS = [
    json.loads(line)
    for line in (Path(__file__).parents[2] / "data" / "serving_faults.jsonl").read_text("utf-8").splitlines()
]
TRULY_THERE_TOO = {"P18": {"F07"}}
"""Kinds that a payload has besides those it is listed for: its ruined text holds a replacement character."""


@pytest.mark.parametrize("payload", PAYLOADS, ids=[payload["id"] for payload in PAYLOADS])
def test_a_payload_gives_its_kinds_and_no_other_error(kinds_of, payload):
    found = kinds_of(payload)
    listed = set(payload["faults"])
    assert listed <= found.keys()
    errors = {kind for kind, severity in found.items() if severity == "E"}
    assert errors <= listed | TRULY_THERE_TOO.get(payload["id"], set())
    if not listed:
        assert found == {}


def test_every_kind_is_found_in_some_payload_but_the_one_of_sets():
    listed = {kind for payload in PAYLOADS for kind in payload["faults"]}
    assert set(catalogue().entries) - listed == {"F40"}
