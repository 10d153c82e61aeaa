"""Source and target as the report shows them side by side."""

from __future__ import annotations

from typing import TYPE_CHECKING

from promptreg.canonical import Json, JsonObject, canonical_json
from promptreg.report.payload import DeploymentView, SettingGroup, SettingView
from promptreg.workflow.running.runs import iso_time

if TYPE_CHECKING:
    from collections.abc import Collection, Iterator

    from promptreg.baseline.model import Header
    from promptreg.store.runs import RunRecord


def source_view(header: Header, base_url: str | None, loads: Collection[int]) -> DeploymentView:
    """The source as its baseline remembers it.

    Args:
        header: of the baseline.
        base_url: as the configuration has it now; baselines hold no addresses. None when it is not known.
        loads: calls in flight when a typical call was sent, of each suite where that is known.
    """
    settings = [
        *_deployment(header.server, header.model, base_url),
        *_settings("fingerprint", header.fingerprint or {}),
        *_settings("request", header.request_defaults),
        *_settings("provenance", header.provenance),
        *_load(loads),
        *_run(str(header.passes), header.recorded_at, header.run_id),
    ]
    return DeploymentView(header.deployment, tuple(settings))


def target_view(record: RunRecord, taken: Collection[int], loads: Collection[int]) -> DeploymentView:
    """The target as the stored run remembers it.

    Args:
        record: of the run.
        taken: the passes that were taken of each suite: fewer than planned where a look ended the comparison early.
        loads: as in `source_view`.
    """
    # The later fingerprint knows what the answers echoed; a change during the run is among the warnings.
    fingerprint = record.fingerprint_after or record.fingerprint_before or {}
    settings = [
        *_deployment(record.server, record.model, record.base_url),
        *_settings("fingerprint", fingerprint),
        *_settings("request", record.request_defaults),
        *_settings("provenance", record.provenance),
        *_load(loads),
        *_run(_span(taken), iso_time(record.started_at), record.run_id),
    ]
    return DeploymentView(record.deployment, tuple(settings))


def _deployment(server: str | None, model: str, base_url: str | None) -> Iterator[SettingView]:
    if server is not None:
        yield SettingView("deployment", "server", server)
    yield SettingView("deployment", "model", model)
    if base_url is not None:
        yield SettingView("deployment", "base_url", base_url, compared=False)


def _span(passes: Collection[int]) -> str:
    """One number where all suites have it, else the smallest and the largest."""
    least, most = min(passes, default=0), max(passes, default=0)
    return str(least) if least == most else f"{least}–{most}"


def _load(loads: Collection[int]) -> Iterator[SettingView]:
    """Not marked as a difference: small ones mean nothing, and a large one is among the warnings."""
    if loads:
        yield SettingView("run", "in_flight", _span(loads), compared=False)


def _run(passes: str, recorded_at: str, run_id: str) -> Iterator[SettingView]:
    """What differs by nature: shown, never marked as a difference."""
    yield SettingView("run", "passes", passes, compared=False)
    yield SettingView("run", "recorded_at", recorded_at, compared=False)
    yield SettingView("run", "run", run_id, compared=False)


def _settings(group: SettingGroup, values: JsonObject) -> Iterator[SettingView]:
    for name, value in values.items():
        if value is not None and value not in ("", [], {}):
            yield SettingView(group, name, _plain(value))


def _plain(value: Json) -> str:
    if isinstance(value, str):
        return value
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return ", ".join(str(item) for item in value)
    return canonical_json(value)
