"""One run of the target, taken stretch by stretch between the looks of a comparison."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from promptreg.errors import RefusedError
from promptreg.text.sentence import Sentence
from promptreg.workflow.running.collect import Collected, OnProgress, Order, Stretch, collect, finish

if TYPE_CHECKING:
    from promptreg.config import Config
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.workflow.engine import Engine
    from promptreg.workflow.running.meanwhile import Steps


class Taking:
    """A run that is taken stretch by stretch, until its end or until the deployment refuses every call."""

    def __init__(
        self,
        config: Config,
        store: Store,
        order: Order,
        resumed: RunRecord | None,
        engine: Engine,
        on_progress: OnProgress,
        meanwhile: Steps = (),
    ) -> None:
        """A run that begins, or (`resumed`) goes on, with the first stretch; see `collect` for what it is given."""
        self._config, self._store, self._order = config, store, order
        self._engine, self._on_progress, self._meanwhile = engine, on_progress, meanwhile
        self._record = resumed
        self._collected: Collected | None = None
        self._failed = 0
        self._refused = False

    def take(self, stretch: Stretch) -> None:
        """Take the calls of a stretch that are not stored yet."""
        if self._refused:
            return
        order = replace(self._order, stretch=stretch)
        try:
            collected = collect(
                self._config,
                self._store,
                order,
                resumed=self._record,
                engine=self._engine,
                on_progress=self._on_progress,
                meanwhile=self._meanwhile,
            )
        except RefusedError as error:
            if error.run_id is None:
                raise
            self._end_refused(error.run_id, str(error))
            return
        self._failed += collected.result.failed
        self._collected = replace(collected, result=replace(collected.result, failed=self._failed))
        self._record = self._store.run(collected.run_id)
        if stretch.passes.stop == order.passes:
            self.end()

    def end(self) -> None:
        """Mark the run as ended: after its last pass, or when every suite is decided before that."""
        if self._collected is not None and not self._refused:
            finish(self._store, self._collected)
            self._record = self._store.run(self._collected.run_id)

    def _end_refused(self, run_id: str, told: str) -> None:
        """What is stored is judged, as of any other calls that failed; `collect` has marked the run as failed."""
        self._refused = True
        warnings = self._store.run(run_id).warnings
        # Errors are told in English only.
        self._store.update_run(run_id, warnings=tuple(dict.fromkeys((*warnings, Sentence(told, told)))))
        self._record = self._store.run(run_id)

    def record(self) -> RunRecord:
        """The run as it is stored now; there is one as soon as something was taken."""
        if self._record is None:
            raise AssertionError("unreachable because a comparison has at least one look, which takes a stretch")
        return self._record
