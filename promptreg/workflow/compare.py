"""`compare`: passes on the target deployment, judged against the source's baseline, and the report."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from promptreg.errors import EndpointError
from promptreg.scoring.embedders.registry import load_embedder
from promptreg.scoring.embedders.stored import StoredVectors
from promptreg.store.store import Store
from promptreg.workflow.compare_plan import (
    check_files,
    order_of,
    pairings_of,
    pairings_of_run,
    planned,
    planned_looks,
)
from promptreg.workflow.engine import LOCAL, Engine
from promptreg.workflow.judging.judge_calls import Judges, calls_at_most
from promptreg.workflow.judging.rules import rules_of
from promptreg.workflow.pairing import Pairing, recorded_pairs
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import redaction_of
from promptreg.workflow.project import project_suites
from promptreg.workflow.running.collect import OnProgress, check_reachable
from promptreg.workflow.running.estimate import Estimate, estimate
from promptreg.workflow.running.looks import Judge, judged_in_looks, looks_of
from promptreg.workflow.running.resume import left_of, run_to_continue
from promptreg.workflow.running.run_names import named_comparison
from promptreg.workflow.running.taking import Taking

if TYPE_CHECKING:
    from collections.abc import Callable

    from promptreg.config import Config
    from promptreg.scoring.embedders.base import Embedder
    from promptreg.store.runs import RunRecord
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.model import SuiteJudgement
    from promptreg.verdict.rules import Look
    from promptreg.workflow.compare_options import CompareOptions
    from promptreg.workflow.compared import Compared
    from promptreg.workflow.judging.judge import JudgedSuite


def compare(
    config: Config,
    options: CompareOptions,
    *,
    on_progress: OnProgress = lambda _: None,
    on_notice: Callable[[Sentence], None] = lambda _: None,
    on_look: Callable[[Sentence], None] = lambda _: None,
    engine: Engine = LOCAL,
) -> Compared:
    """Compare a target with the source's baseline and write the report.

    Args:
        config: the project.
        options: what was asked for.
        on_progress: called as samples arrive.
        on_notice: called with sentences that a user should see before the calls begin.
        on_look: called with a sentence after each look but the last: what is decided and what goes on.
        engine: where the calls are made and the answers scored.

    Raises:
        PromptregError: see `promptreg.errors`; samples stored before stay, and `resume` goes on from them.
        KeyboardInterrupt: after Ctrl-C; the run can be resumed.
    """
    check_files(config, options)
    path, redaction = config.root / config.paths.store, redaction_of(config)
    with Store.open(path, create=options.run_id is None, redaction=redaction) as store:
        judges = Judges(config, store, on_progress=on_progress, may_ask=options.ask_judges and not options.offline)
        if options.run_id is None:
            pairings, order = planned(config, options, judges)
            resumed = run_to_continue(store, order, resume=options.resume, on_notice=on_notice)
            # A wrong name, or a key that is not set, is an error before the first call is paid for.
            embedder = _embedder(config)
            taking = Taking(
                config, store, order, resumed, engine, on_progress, (_load_judging, partial(engine.load, embedder))
            )
            judge = _judge(config, options, store, judges, engine, embedder, taking.record)
            looks = planned_looks(config, options)
            judged = judged_in_looks(pairings, looks, judge, take=taking.take, on_look=on_look)
            taking.end()
            record = taking.record()
        else:
            record = named_comparison(store, options.run_id)
            pairings = pairings_of_run(config, options, store, record)
            embedder = _embedder(config)
            if options.offline and config.judging.embedder in config.embedders:
                embedder = StoredVectors(embedder.name, record.run_id)
            judge = _judge(config, options, store, judges, engine, embedder, lambda: record)
            judged = judged_in_looks(pairings, looks_of(record), judge, taken=store.passes_begun(record.run_id))
        # Not loaded before the calls, like what judges: none should wait for it.
        from promptreg.workflow.compare_report import reported  # noqa: PLC0415 - see above

        return reported(config, options, store, judges, record, judged)


def check_compare(config: Config, options: CompareOptions) -> None:
    """Raises what `compare` would raise before its first call; the target is asked for its models where it is needed.

    For a caller that has other work to do before it compares. Nothing is stored.

    Raises:
        PromptregError: as `compare`.
    """
    check_files(config, options)
    with Store.open(config.root / config.paths.store, create=options.run_id is None) as store:
        judges = Judges(config, store, may_ask=options.ask_judges and not options.offline)
        _embedder(config)
        if options.run_id is not None:
            pairings_of_run(config, options, store, named_comparison(store, options.run_id))
            return
        _, order = planned(config, options, judges)
        resumed = run_to_continue(store, order, resume=options.resume, on_notice=lambda _: None)
        held = frozenset() if resumed is None else store.answered(resumed.run_id)
    if any(call.key not in held for call in order.calls()):
        check_reachable(config, order.deployment)


def plan_compare(config: Config, options: CompareOptions) -> Estimate:
    """What `compare --dry-run` prints: calls, tokens and time. Nothing is sent."""
    suites = project_suites(config, options.suites, options.select, options.cases)
    pairings = pairings_of(config, options, suites)
    order = order_of(config, options, pairings)
    recorded = [pair for pairing in pairings for pair in recorded_pairs(pairing)]
    return estimate(
        left_of(config, order, resume=options.resume),
        planned_looks(config, options),
        calls_at_most(config, order.cases, order.passes, recorded),
    )


def _embedder(config: Config) -> Embedder:
    return load_embedder(config.judging.embedder, config, load_extensions(config.root).embedders)


def _load_judging() -> None:
    """Load what judges and reports: it takes a while, and no call should wait for it."""
    import promptreg.workflow.compare_report  # noqa: PLC0415 - see above
    import promptreg.workflow.judging.judge  # noqa: F401, PLC0415 - see above


def _judge(
    config: Config,
    options: CompareOptions,
    store: Store,
    judges: Judges,
    engine: Engine,
    embedder: Embedder,
    record: Callable[[], RunRecord],
) -> Judge:
    """Judges a suite at a look, with one embedder for all of them, since its model takes a while to load."""
    rules = rules_of(config, alpha=options.alpha, fdr=options.fdr)

    def judge(pairing: Pairing, look: Look, standing: SuiteJudgement | None) -> JudgedSuite:
        # See `_load_judging`.
        from promptreg.workflow.judging.judge import judge_stored  # noqa: PLC0415 - see above

        try:
            return judge_stored(
                config,
                store,
                record(),
                pairing,
                rules=rules,
                embedder=embedder,
                judges=judges,
                look=look,
                standing=standing,
                engine=engine,
            )
        except EndpointError as error:  # of an embedder: the target is called elsewhere
            if options.offline:
                raise
            again = "Then run the same command again."
            if options.run_id is None:
                again = "The samples are stored: then run the command again with --resume."
            raise EndpointError(f"{error} {again}") from error

    return judge
