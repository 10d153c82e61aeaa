"""What becomes of judged suites: the comparison in the store, and the files that are written.

Apart from `compare`, which loads it after the calls: reports take a while to load, and no call should wait for them.
"""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING

from promptreg.baseline.paths import safe_name
from promptreg.errors import OutputError
from promptreg.report.form import Output
from promptreg.report.html import WARN_BYTES
from promptreg.workflow.compare_warnings import comparison_warnings, large_report
from promptreg.workflow.compared import Compared
from promptreg.workflow.comparison import Comparison
from promptreg.workflow.context.contexts import summary_of
from promptreg.workflow.criteria import criteria_of_run
from promptreg.workflow.judging.call_faults import present_rules
from promptreg.workflow.judging.clusters import with_clusters
from promptreg.workflow.judging.rules import rules_of
from promptreg.workflow.load import suite_load
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.review.shown import shown_cases
from promptreg.workflow.running.run_names import named_comparison
from promptreg.workflow.running.runs import failed_calls, failure_summary
from promptreg.workflow.views.history import history_of
from promptreg.workflow.views.outputs import write_outputs
from promptreg.workflow.views.report import report_payload

if TYPE_CHECKING:
    from promptreg.config import Config
    from promptreg.store.runs import RunRecord
    from promptreg.store.store import Store
    from promptreg.workflow.compare_options import CompareOptions
    from promptreg.workflow.judging.judge import JudgedSuite
    from promptreg.workflow.judging.judge_calls import Judges


def reported(
    config: Config,
    options: CompareOptions,
    store: Store,
    judges: Judges,
    record: RunRecord,
    judged: tuple[JudgedSuite, ...],
) -> Compared:
    """The finished comparison: its report is written, and what it shows is in the store.

    Args:
        config: the project.
        options: what was asked for.
        store: open.
        judges: those that were asked.
        record: the run.
        judged: its suites, each with its verdict.

    Raises:
        PromptregError: a file cannot be written; the verdict is stored.
    """
    against = None if options.against is None else named_comparison(store, options.against)
    names = options.reported or [suite.judgement.suite for suite in judged]
    reported = [suite for suite in judged if suite.judgement.suite in names]
    judged = with_clusters(store, record, judged)
    comparison = _compared(config, store, record, judged, judges, options)
    path = options.report or config.root / config.paths.reports / f"{safe_name(record.run_id)}.html"
    store.update_run(record.run_id, verdict=comparison.verdict.value)
    rules = rules_of(config, alpha=options.alpha, fdr=options.fdr)
    store.show(record.run_id, shown_cases(config, store, record, judged), criteria_of_run(config, rules))
    history = history_of(store, record, [(suite.source, suite.judgement) for suite in reported], against)
    if options.reported:
        judged = tuple(suite for suite in judged if suite.judgement.suite in names)
        comparison = _compared(config, store, record, judged, judges, options)
    try:
        written = write_outputs(
            partial(report_payload, config, store, record, judged, comparison, history),
            Output(options.report_kind, path),
            options.beside,
            options.form,
        )
    except OutputError as error:
        raise OutputError(
            f"{error} The verdict is {comparison.verdict.value}; the run is stored. "
            f"`promptreg report {record.run_id} -o PATH` writes its report."
        ) from error
    if options.report_kind == "html" and written.size_bytes > WARN_BYTES:
        comparison = replace(comparison, warnings=(*comparison.warnings, large_report(written.size_bytes)))
    cases = [case for suite in judged for case in suite.pairing.known]
    contexts = [judged[0].pairing.source, judged[0].pairing.target]
    said = tuple(sentence for each in contexts for sentence in summary_of(each, cases))
    failed = failed_calls(store, record)
    stays = all(call.stays for call in failed)
    return Compared(comparison, path, options.beside, failure_summary(record, failed), said, stays=stays)


def _compared(
    config: Config,
    store: Store,
    record: RunRecord,
    judged: tuple[JudgedSuite, ...],
    judges: Judges,
    options: CompareOptions,
) -> Comparison:
    loads = tuple(suite_load(store, suite.pairing.baseline.header, record) for suite in judged)
    rules = present_rules(load_extensions(config.root))
    return Comparison.of(
        record.run_id,
        tuple(suite.judgement for suite in judged),
        warnings=comparison_warnings(record, judged, judges, rules, loads),
        loads=loads,
        allow_inconclusive=options.allow_inconclusive,
    )
