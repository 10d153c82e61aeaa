"""`compare`: passes on the target deployment, judged against the source's baseline, and the report."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from promptreg.baseline.paths import baseline_path, safe_name
from promptreg.errors import BaselineError, OutputError, Problem, UsageError
from promptreg.report.files import Form
from promptreg.report.html import WARN_BYTES
from promptreg.scoring.embedders.registry import load_embedder
from promptreg.scoring.embedders.stored import StoredVectors
from promptreg.store.store import Store
from promptreg.verdict.rules import Look, plan_looks
from promptreg.workflow.call_faults import present_rules
from promptreg.workflow.clusters import with_clusters
from promptreg.workflow.collect import OnProgress, Order
from promptreg.workflow.compare_warnings import comparison_warnings, large_report
from promptreg.workflow.comparison import Comparison
from promptreg.workflow.context.case_contexts import NO_CONTEXTS, CaseFitter, Contexts, summary_of
from promptreg.workflow.engine import LOCAL, Engine
from promptreg.workflow.estimate import Estimate, estimate
from promptreg.workflow.history import history_of
from promptreg.workflow.judge import JudgedSuite, judge_stored, rules_of
from promptreg.workflow.judge_calls import Judges, calls_at_most
from promptreg.workflow.looks import Judge, judged_in_looks, looks_of
from promptreg.workflow.outputs import Output, write_outputs
from promptreg.workflow.pairing import Pairing, baseline_of, pair_with_baseline, recorded_pairs
from promptreg.workflow.plugins import load_extensions
from promptreg.workflow.private import redaction_of
from promptreg.workflow.project import project_suites
from promptreg.workflow.resume import left_of, run_to_continue
from promptreg.workflow.run_names import named_comparison
from promptreg.workflow.runs import failed_calls, failure_summary
from promptreg.workflow.shown import shown_cases
from promptreg.workflow.taking import Taking
from promptreg.workflow.view import report_payload

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping
    from pathlib import Path

    from promptreg.canonical import Json, JsonObject
    from promptreg.config import Config, Deployment
    from promptreg.report.files import Kind
    from promptreg.store.runs import RunRecord
    from promptreg.suite.model import Suite
    from promptreg.text.sentence import Sentence
    from promptreg.verdict.model import SuiteJudgement


@dataclass(frozen=True, slots=True)
class CompareOptions:
    """What `promptreg compare` can be told. None means: as the configuration says."""

    suites: tuple[Path, ...] = ()
    """Suite files or folders; none for the project's own."""
    source: str | None = None
    target: str | None = None
    passes: int | None = None
    looks: tuple[int, ...] = ()
    """Judge after so many passes, the last of which ends the comparison; none for the plan's."""
    run_id: str | None = None
    """Judge this stored run; the target is not called."""
    ask_judges: bool = True
    """Whether judges are asked what no stored reply answers; else such answers are unscored."""
    offline: bool = False
    """Nothing is called at all: neither judges nor an embeddings endpoint. Only with `run_id`."""
    against: str | None = None
    """The run that the report holds this one against; None for the one before it."""
    reported: tuple[str, ...] = ()
    """Names of suites: the report is of these only; none for all of the run. All are judged."""
    resume: bool = False
    select: str | None = None
    cases: Mapping[str, frozenset[str]] | None = None
    """Only these cases, by suite, of those that `select` leaves; None for all of them."""
    alpha: float | None = None
    fdr: float | None = None
    report: Path | None = None
    """Where to write the report; None for reports/RUN.html in the project."""
    report_kind: Kind = "html"
    """What to write there."""
    beside: tuple[Output, ...] = ()
    """What else to write, from the cases without their answers: a Markdown summary, JUnit."""
    form: Form = field(default_factory=Form)
    """How files are written."""
    allow_inconclusive: bool = False


@dataclass(frozen=True, slots=True)
class Compared:
    """A finished `compare`."""

    comparison: Comparison
    report: Path
    beside: tuple[Output, ...] = ()
    """What else was written."""
    failures: str | None = None
    """How many calls of the run got no answer and what most of them said; None when none failed."""
    contexts: tuple[Sentence, ...] = ()
    """What was shortened for either window; empty when no case has a `context`."""
    stays: bool = False
    """True when all calls that failed would fail again."""

    def to_json(self, root: Path) -> JsonObject:
        """The object of `compare --json`."""
        said: list[Json] = [{"sentence": line.en, "sentence_zh": line.zh} for line in self.contexts]
        beside: dict[str, Json] = {output.kind: _relative(output.path, root) for output in self.beside}
        return {**self.comparison.to_json(_relative(self.report, root)), "contexts": said, **beside}


def _relative(path: Path, root: Path) -> str:
    """A path from the project's folder, where it lies in it."""
    whole = path.resolve()
    return whole.relative_to(root).as_posix() if whole.is_relative_to(root) else str(whole)


def compare(
    config: Config,
    options: CompareOptions,
    *,
    on_progress: OnProgress = lambda _: None,
    on_notice: Callable[[str], None] = lambda _: None,
    on_look: Callable[[str], None] = lambda _: None,
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
    path, redaction = config.root / config.paths.store, redaction_of(config)
    with Store.open(path, create=options.run_id is None, redaction=redaction) as store:
        judges = Judges(config, store, on_progress=on_progress, may_ask=options.ask_judges and not options.offline)
        if options.run_id is None:
            suites = project_suites(config, options.suites, options.select, options.cases)
            pairings = _pairings(config, options, suites)
            judges.check_keys([case for pairing in pairings for case in pairing.known])
            order = _order(config, options, pairings)
            resumed = run_to_continue(store, order, resume=options.resume, on_notice=on_notice)
            taking = Taking(config, store, order, resumed, on_progress)
            judge = _judge(config, options, store, judges, engine, taking.record)
            looks = _looks(config, options)
            judged = judged_in_looks(pairings, looks, judge, take=taking.take, on_look=on_look)
            taking.end()
            record = taking.record()
        else:
            record = named_comparison(store, options.run_id)
            pairings = _pairings_of_run(config, options, store, record)
            judge = _judge(config, options, store, judges, engine, lambda: record)
            judged = judged_in_looks(pairings, looks_of(record), judge, taken=store.passes_begun(record.run_id))
        return _reported(config, options, store, judges, record, judged)


def plan_compare(config: Config, options: CompareOptions) -> Estimate:
    """What `compare --dry-run` prints: calls, tokens and time. Nothing is sent."""
    suites = project_suites(config, options.suites, options.select, options.cases)
    pairings = _pairings(config, options, suites)
    order = _order(config, options, pairings)
    recorded = [pair for pairing in pairings for pair in recorded_pairs(pairing)]
    return estimate(
        left_of(config, order, resume=options.resume),
        _looks(config, options),
        calls_at_most(config, order.cases, order.passes, recorded),
    )


def _pairings(config: Config, options: CompareOptions, suites: tuple[Suite, ...]) -> tuple[Pairing, ...]:
    """Each suite beside the baseline of the source, before a run."""
    source = config.deployment(options.source) if options.source is not None else config.role("source")
    whole = options.select is None and options.cases is None
    return _paired(config, suites, source.name, _target(config, options).name, whole=whole)


def _pairings_of_run(config: Config, options: CompareOptions, store: Store, record: RunRecord) -> tuple[Pairing, ...]:
    """Each suite of a stored run beside its baseline; what the command does not say is as it was for the run."""
    select = options.select if options.select is not None else _text(record, "select")
    cases = options.cases if options.cases is not None else _cases(record)
    paths = options.suites or tuple(config.root / path for path in _texts(record, "paths"))
    names = _texts(record, "suites") or record.suites
    suites = tuple(suite for suite in project_suites(config, paths, select, cases) if suite.name in names)
    source = options.source or _text(record, "source") or config.role("source").name
    asked: dict[str, dict[str, str]] = {}
    noise = {(case.suite, case.case_id): case.noise for suite in suites for case in suite.cases}
    for case in store.cases(record.run_id):
        if case.noise == noise.get((case.suite, case.case_id)):
            asked.setdefault(case.suite, {})[case.case_id] = case.request_sha256
    return _paired(config, suites, source, record.deployment, whole=select is None and cases is None, asked=asked)


def _text(record: RunRecord, option: str) -> str | None:
    value = record.options.get(option)
    return value if isinstance(value, str) else None


def _texts(record: RunRecord, option: str) -> tuple[str, ...]:
    values = record.options.get(option)
    return tuple(value for value in values if isinstance(value, str)) if isinstance(values, list) else ()


def _cases(record: RunRecord) -> dict[str, frozenset[str]] | None:
    """The cases that a stored run was narrowed to, by suite."""
    named = record.options.get("cases")
    if not isinstance(named, dict):
        return None
    return {suite: frozenset(map(str, ids)) for suite, ids in named.items() if isinstance(ids, list)}


def _paired(
    config: Config,
    suites: tuple[Suite, ...],
    source: str,
    target: str,
    *,
    whole: bool,
    asked: Mapping[str, Mapping[str, str]] | None = None,
) -> tuple[Pairing, ...]:
    """Each suite beside its baseline.

    Raises:
        ConfigError: a case has a `context`, and the window of a deployment is not known.
        BaselineError: a suite without a baseline, or a damaged one; every suite's problems at once.
        UsageError: no suite is left.
    """
    contexts = _contexts(config, suites, source, target)
    problems: list[Problem] = []
    pairings: list[Pairing] = []
    for suite in suites:
        path = baseline_path(config.root / config.paths.baselines, suite.name, source)
        try:
            baseline = baseline_of(path, suite, source)
        except BaselineError as error:
            problems += error.problems
        else:
            of_run = None if asked is None else asked.get(suite.name, {})
            pairings.append(
                pair_with_baseline(suite, baseline, whole=whole, asked=of_run, source=contexts[0], target=contexts[1])
            )
    if problems:
        raise BaselineError(problems)
    if not pairings:
        raise UsageError("None of the suites belongs to this run.")
    return tuple(pairings)


def _contexts(config: Config, suites: tuple[Suite, ...], source: str, target: str) -> tuple[Contexts, Contexts]:
    """What each side is sent of cases under a context. Where there are none, neither side needs to be configured."""
    if not any(case.context is not None for suite in suites for case in suite.cases):
        return NO_CONTEXTS, NO_CONTEXTS
    fitter = CaseFitter(config)
    return fitter.fit(config.deployment(source), suites), fitter.fit(config.deployment(target), suites)


def _target(config: Config, options: CompareOptions) -> Deployment:
    return config.deployment(options.target) if options.target is not None else config.role("target")


def _order(config: Config, options: CompareOptions, pairings: tuple[Pairing, ...]) -> Order:
    deployment = _target(config, options)
    looks = _looks(config, options)
    contexts = pairings[0].target
    cases = tuple(contexts.sent(case) for pairing in pairings for case in pairing.known)
    # What `--run` needs to judge the same cases again.
    said: JsonObject = {
        "select": options.select,
        "source": pairings[0].baseline.header.deployment,
        "suites": [pairing.suite.name for pairing in pairings],
        "paths": [_from_root(config, path) for path in options.suites],
        "looks": list(looks),
    }
    if options.cases is not None:
        said = {**said, "cases": {suite: [*sorted(ids)] for suite, ids in sorted(options.cases.items())}}
    return Order("compare", deployment, cases, looks[-1], config.plan.seed, said, contexts=contexts.only(cases))


def _looks(config: Config, options: CompareOptions) -> tuple[int, ...]:
    """After how many passes the target is judged.

    Raises:
        UsageError: the looks are not increasing, or go beyond the number of passes.
    """
    if options.looks:
        plan_looks(options.looks)
        if options.passes is not None and options.looks[-1] > options.passes:
            raise UsageError(
                f"The last look is after {options.looks[-1]} passes, but only {options.passes} are to be taken. Leave "
                "--passes out to end with the last look."
            )
    return config.plan.looks_within(options.passes, options.looks)


def _from_root(config: Config, path: Path) -> str:
    path = path.resolve()
    return path.relative_to(config.root).as_posix() if path.is_relative_to(config.root) else str(path)


def _judge(
    config: Config,
    options: CompareOptions,
    store: Store,
    judges: Judges,
    engine: Engine,
    record: Callable[[], RunRecord],
) -> Judge:
    """Judges a suite at a look, with one embedder for all of them, since its model takes a while to load."""
    rules = rules_of(config, alpha=options.alpha, fdr=options.fdr)
    # A wrong name, or a key that is not set, is an error before the first call is paid for.
    embedder = load_embedder(config.judging.embedder, config, load_extensions(config.root).embedders)
    if options.offline and config.judging.embedder in config.embedders:
        embedder = StoredVectors(embedder.name)

    def judge(pairing: Pairing, look: Look, standing: SuiteJudgement | None) -> JudgedSuite:
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

    return judge


def _reported(
    config: Config,
    options: CompareOptions,
    store: Store,
    judges: Judges,
    record: RunRecord,
    judged: tuple[JudgedSuite, ...],
) -> Compared:
    against = None if options.against is None else named_comparison(store, options.against)
    names = options.reported or [suite.judgement.suite for suite in judged]
    reported = [suite for suite in judged if suite.judgement.suite in names]
    history = history_of(store, record, [(suite.source, suite.judgement) for suite in reported], against)
    judged = with_clusters(store, record, judged)
    comparison = _compared(config, record, judged, judges, options)
    path = options.report or config.root / config.paths.reports / f"{safe_name(record.run_id)}.html"
    store.update_run(record.run_id, verdict=comparison.verdict.value)
    store.show(record.run_id, shown_cases(store, record, judged))
    if options.reported:
        judged = tuple(suite for suite in judged if suite.judgement.suite in names)
        comparison = _compared(config, record, judged, judges, options)
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
    config: Config, record: RunRecord, judged: tuple[JudgedSuite, ...], judges: Judges, options: CompareOptions
) -> Comparison:
    rules = present_rules(load_extensions(config.root))
    return Comparison.of(
        record.run_id,
        tuple(suite.judgement for suite in judged),
        warnings=comparison_warnings(record, judged, judges, rules),
        allow_inconclusive=options.allow_inconclusive,
    )
