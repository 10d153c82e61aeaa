"""From what a suite file says to its cases: defaults merged, case files read, templates filled."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationError

from promptreg.canonical import JsonObject, sha256_of
from promptreg.config.hints import did_you_mean, listing
from promptreg.config.problems import sentences
from promptreg.errors import Place, Problem, SuiteError
from promptreg.suite.columns import lost_column
from promptreg.suite.document import Rows, Table, line_of, value_at
from promptreg.suite.files import resolve_project_file, shown_path
from promptreg.suite.model import (
    NULL_PERTURBATION,
    Case,
    CaseContext,
    CheckSpec,
    NoiseSource,
    Request,
    Suite,
    last_user_text,
)
from promptreg.suite.prompt import Prompt, PromptError
from promptreg.suite.rows import MOST_PROBLEMS, Row, id_column, not_read, read_rows
from promptreg.suite.written import (
    ADVICE,
    KnownNames,
    WrittenCase,
    WrittenCheck,
    WrittenLine,
    WrittenRows,
    WrittenSettings,
    WrittenSuite,
    id_problem,
)
from promptreg.suite.wrong_checks import without_wrong_checks

if TYPE_CHECKING:
    from pathlib import Path

_LINE = TypeAdapter(WrittenLine)
# `noise`, `infer` or `context` alone makes no case: they are likely names of variables.
_CASE_KEYS = frozenset(WrittenLine.model_fields) - {"id", "noise", "infer", "context"}
_HASH_DIGITS = 12
_SURROGATE = re.compile("[\ud800-\udfff]")


@dataclass(frozen=True, slots=True)
class _Settings:
    """What a case begins with before its own keys are added."""

    params: JsonObject
    checks: tuple[CheckSpec, ...]
    tags: tuple[str, ...]
    noise: NoiseSource = "none"
    infer: bool = True
    context: CaseContext | None = None

    def extended(self, own: WrittenSettings, checks: Sequence[CheckSpec], place: Place) -> _Settings:
        """These settings with a case's own: what it says wins, its checks and tags are added once each.

        Args:
            own: what the case says.
            checks: its checks.
            place: where its `context` is written.
        """
        seen = {(check.name, repr(check.argument)) for check in self.checks}
        added = [check for check in checks if (check.name, repr(check.argument)) not in seen]
        return _Settings(
            merged(self.params, own.request),
            (*self.checks, *added),
            tuple(dict.fromkeys((*self.tags, *own.tags))),
            self.noise if own.noise is None else own.noise,
            self.infer if own.infer is None else own.infer,
            self.context if own.context is None else own.context.at(place),
        )


def merged(base: JsonObject, over: JsonObject) -> JsonObject:
    """Request parameters of `over` over those of `base`; `extra_body` key by key; null takes a parameter away."""
    result = {**base}
    for name, value in over.items():
        below = result.get(name)
        if value is None:
            result.pop(name, None)
        elif name == "extra_body" and isinstance(value, Mapping) and isinstance(below, Mapping):
            result[name] = {**below, **value}
        else:
            result[name] = value
    return result


class SuiteBuilder:
    """Builds one suite and keeps every problem on the way."""

    def __init__(self, path: Path, root: Path, names: KnownNames) -> None:
        self.problems: list[Problem] = []
        self._root = root
        self._shown = shown_path(path, root)
        self._names = replace(names, path=self._shown)
        self._data: Any = None
        self._suite = ""
        self._prompts: dict[str, Prompt | None] = {}
        self._ids: dict[str, Place] = {}
        self._repeats: dict[tuple[str, str], list[Problem]] = {}

    def build(self, data: Any) -> Suite | None:
        """The suite in a read document, as far as it can be built; `problems` is empty when it is whole."""
        self._data = data
        if not isinstance(data, Table):
            what = "The file is empty." if data is None or data == "" else "The file is no table of keys and values."
            self._problem(f"{what} A suite has the keys `suite` and `cases`; `promptreg init` writes an example.", ())
            return None
        written, positions = self._validated(data)
        if written is None:
            return None
        self._suite = written.suite
        self._compile_prompts(written)
        defaults = _Settings({}, (), ()).extended(
            written.defaults,
            self._checks(written.defaults.checks, ("defaults", "checks")),
            self._context_place(("defaults",)),
        )
        cases: list[Case] = []
        for entry, position in zip(written.cases, positions, strict=True):
            at = ("cases", position)
            checks = self._checks(entry.checks, (*at, "checks"))
            settings = defaults.extended(entry, checks, self._context_place(at))
            if isinstance(entry, WrittenCase):
                cases += self._case(entry, settings, at)
            else:
                cases += self._cases_from(entry, settings, at)
        self._close_repeats()
        return Suite(written.suite, self._shown, tuple(cases))

    def _problem(self, message: str, at: tuple[str | int, ...]) -> None:
        self.problems.append(Problem(message, Place(self._shown, line_of(self._data, at))))

    def _validated(self, data: Table) -> tuple[WrittenSuite | None, list[int]]:
        """The file's content and the positions of its cases; broken cases are left out once they are reported."""
        try:
            written = WrittenSuite.model_validate(data, context=self._names)
        except ValidationError as error:
            found = sentences(error, WrittenSuite, ADVICE)
        else:
            return written, list(range(len(written.cases)))
        for at, message in found:
            self._problem(message, at)
        rest, others = without_wrong_checks(data, (at for at, _ in found))
        if not all(len(at) > 1 and at[0] == "cases" for at in others):
            self._check_names_of_prompts(data)
            return None, []
        broken = {at[1] for at in others}
        positions = [position for position in range(len(data["cases"])) if position not in broken]
        if not positions:
            return None, []
        rest["cases"] = [rest["cases"][position] for position in positions]
        return WrittenSuite.model_validate(rest, context=self._names), positions

    def _check_names_of_prompts(self, data: Table) -> None:
        """Where the head of the file is broken, at least the names its cases use are looked up."""
        cases, prompts = data.get("cases"), data.get("prompts", {})
        if isinstance(cases, Rows) and isinstance(prompts, dict):
            self._prompts = dict.fromkeys(prompts)
            for position, case in enumerate(cases):
                if isinstance(case, Table) and isinstance(case.get("prompt"), str):
                    self._prompt(case["prompt"], ("cases", position, "prompt"))

    def _compile_prompts(self, written: WrittenSuite) -> None:
        for name, messages in written.prompts.items():
            label = f"prompt `{name}`"
            self._prompts[name] = self._compiled(messages, label, ("prompts", name))

    def _compiled(self, messages: Sequence[JsonObject], label: str, at: tuple[str | int, ...]) -> Prompt | None:
        lines = [self._text_line((*at, number)) for number in range(len(messages))]
        try:
            return Prompt(messages, label, [Place(self._shown, line) for line in lines])
        except PromptError as error:
            self.problems += error.problems
            return None

    def _text_line(self, at: tuple[str | int, ...]) -> int | None:
        """The line where a message's text is written: at its `content`, or at its role in the short form."""
        message = value_at(self._data, at)
        key = "content" if "content" in message else next(iter(message))
        return line_of(self._data, (*at, key))

    def _checks(self, checks: Sequence[WrittenCheck], at: tuple[str | int, ...]) -> list[CheckSpec]:
        return [
            CheckSpec(check.name, check.argument, Place(self._shown, line_of(self._data, (*at, number))))
            for number, check in enumerate(checks)
        ]

    def _context_place(self, at: tuple[str | int, ...]) -> Place:
        return Place(self._shown, line_of(self._data, (*at, "context")))

    def _case(self, entry: WrittenCase, settings: _Settings, at: tuple[str | int, ...]) -> Iterator[Case]:
        place = Place(self._shown, line_of(self._data, (*at, "id")))
        if (entry.prompt is None) == (entry.messages is None):
            both = entry.prompt is not None
            self.problems.append(
                Problem(
                    f"Case `{entry.id}` has `prompt` and `messages`; remove one."
                    if both
                    else f"Case `{entry.id}` needs `prompt` (a name under `prompts`) or `messages`.",
                    place,
                )
            )
            self._claim(entry.id, place)
            return
        if entry.messages is not None:
            prompt = self._compiled(entry.messages, f"case `{entry.id}`", (*at, "messages"))
        else:
            prompt = self._prompt(entry.prompt or "", (*at, "prompt"))
        yield from self._finished(entry.id, prompt, entry.vars, settings, place)

    def _prompt(self, name: str, at: tuple[str | int, ...]) -> Prompt | None:
        if name not in self._prompts:
            have = f" Prompts are {listing(self._prompts)}." if self._prompts else " The file has no `prompts`."
            meant = did_you_mean(name, self._prompts)
            own = "" if meant else " A text that is no such name goes under `messages`: `[{user: …}]`."
            self._problem(f"There is no prompt `{name}`.{meant}{have}{own}", at)
        return self._prompts.get(name)

    def _finished(
        self, case_id: str, prompt: Prompt | None, values: Mapping[str, Any], settings: _Settings, place: Place
    ) -> Iterator[Case]:
        if not self._claim(case_id, place) or prompt is None:
            return
        try:
            messages = prompt.render(values)
        except PromptError as error:
            for problem in error.problems:
                # The same gap in every row of a file is one mistake, told once.
                group = (place.path if place.path != self._shown else str(place), problem.message)
                message = f"Case `{case_id}`: {problem.message.rstrip()}{_inside(prompt, problem.place, place)}"
                self._repeats.setdefault(group, []).append(Problem(message, place))
            return
        wrong = (
            _ending_problem(messages, settings.params)
            or _broken_text_problem(messages)
            or _noise_problem(messages, settings.noise)
            or _pinned_problem(messages, settings.context)
        )
        if wrong is not None:
            self.problems.append(Problem(f"Case `{case_id}`: {wrong}", place))
            return
        yield Case(
            self._suite,
            case_id,
            Request(messages, settings.params),
            place,
            settings.checks,
            settings.tags,
            settings.noise,
            settings.infer,
            settings.context,
        )

    def _close_repeats(self) -> None:
        for repeats in self._repeats.values():
            first, more = repeats[0], len(repeats) - 1
            note = f" The same holds for {more} more case{'s' if more > 1 else ''} of this file." if more else ""
            self.problems.append(Problem(first.message + note, first.place))

    def _read_line(self, values: Mapping[str, Any], place: Place) -> WrittenLine:
        """A line of a case file; wrong checks are told and left out, any other problem is told and raised."""
        names = replace(self._names, path=place.path)
        try:
            return _LINE.validate_python(values, context=names)
        except ValidationError as error:
            found = sentences(error, WrittenLine, ADVICE)
            self.problems += [Problem(message, place) for _, message in found]
            rest, others = without_wrong_checks(values, (at for at, _ in found))
            if others:
                raise
            return _LINE.validate_python(rest, context=names)

    def _claim(self, case_id: str, place: Place) -> bool:
        """Whether the id is still free. It is taken from now on."""
        other = self._ids.setdefault(case_id, place)
        if other is place:
            return True
        self.problems.append(
            Problem(f"The case id `{case_id}` stands twice, here and at {other}. Give each case its own.", place)
        )
        return False

    def _cases_from(self, entry: WrittenRows, settings: _Settings, at: tuple[str | int, ...]) -> Iterator[Case]:
        place = Place(self._shown, line_of(self._data, (*at, "cases_from")))
        try:
            path = resolve_project_file(self._root, self._shown, entry.cases_from, place)
            shown = shown_path(path, self._root)
            rows, problems = read_rows(path, shown, entry.encoding)
            self.problems += problems
            column = id_column(rows, entry.id, shown) if rows else None
        except SuiteError as error:
            self.problems += error.problems
            return
        prompt = self._prompt(entry.prompt, (*at, "prompt")) if entry.prompt is not None else None
        if path.suffix.lower() == ".csv":
            if entry.prompt is None:
                self._problem("Cases from a CSV file need `prompt`, which its columns fill.", at)
                return
            columns = [name for name in (rows[0].values if rows else ()) if name != column]
            wrong = None if prompt is None else lost_column(columns, prompt.names)
            if wrong is not None:
                self.problems.append(Problem(wrong, Place(shown, 1)))
                return
            for row in self._until_too_wrong(rows):
                yield from self._record(row, column, prompt, settings)
        else:
            for row in self._until_too_wrong(rows):
                wrong = None if prompt is None else self._lost_key(row, column, prompt)
                if wrong is not None:
                    self.problems.append(Problem(wrong, row.place))
                    return  # the next rows are of the same make
                yield from self._line(row, column, entry, settings)

    def _until_too_wrong(self, rows: Sequence[Row]) -> Iterator[Row]:
        before = len(self.problems)
        for row in rows:
            if len(self.problems) - before >= MOST_PROBLEMS:
                self.problems.append(not_read(row.place))
                return
            yield row

    def _record(self, row: Row, column: str | None, prompt: Prompt | None, settings: _Settings) -> Iterator[Case]:
        case_id = row.values[column] if column is not None else derived_id(row.values)
        wrong = id_problem(case_id)
        if wrong is not None:
            self.problems.append(Problem(f"{wrong} (column `{column}`)", row.place))
            return
        yield from self._finished(case_id, prompt, row.values, settings, row.place)

    @staticmethod
    def _lost_key(row: Row, column: str | None, prompt: Prompt) -> str | None:
        """What is wrong with a line that has no keys of a case, where one of its keys seems to be meant as one."""
        if _CASE_KEYS & row.values.keys():
            return None
        return lost_column([name for name in row.values if name != column], prompt.names)

    def _line(self, row: Row, column: str | None, entry: WrittenRows, settings: _Settings) -> Iterator[Case]:
        """A line with keys of a case is a case; any other is a record whose keys are variables."""
        values = dict(row.values)
        case_id = values.pop(column) if column is not None and column in values else derived_id(row.values)
        if not _CASE_KEYS & values.keys():
            values = {"vars": values if column is None else {**values, column: case_id}}
        try:
            line = self._read_line({**values, "id": case_id}, row.place)
        except ValidationError:
            return
        name = line.id or ""
        checks = [CheckSpec(check.name, check.argument, row.place) for check in line.checks]
        settings = settings.extended(line, checks, row.place)
        if line.messages is not None:
            if line.prompt is not None or line.vars:
                self.problems.append(
                    Problem(
                        f"Case `{name}` has `messages`, which are sent as written; remove `prompt` and `vars`.",
                        row.place,
                    )
                )
                return
            yield from self._finished(name, Prompt.verbatim(line.messages, f"case `{name}`"), {}, settings, row.place)
            return
        wanted = line.prompt or entry.prompt
        if wanted is None:
            self.problems.append(
                Problem(f"Case `{name}` needs `messages`, or a `prompt` here or beside `cases_from`.", row.place)
            )
        elif wanted not in self._prompts:
            hint = did_you_mean(wanted, self._prompts)
            self.problems.append(Problem(f"There is no prompt `{wanted}` in {self._shown}.{hint}", row.place))
        else:
            yield from self._finished(name, self._prompts[wanted], line.vars, settings, row.place)


def _inside(prompt: Prompt, at: Place | None, place: Place) -> str:
    """Where in which prompt it stands, unless that is the place of the case itself."""
    if at == place:
        return ""
    return f" ({prompt.label}, {at})" if at else f" ({prompt.label})"


def derived_id(values: Mapping[str, Any]) -> str:
    """The id of a row that has none: the first 12 hex digits of the SHA-256 of its canonical JSON."""
    return sha256_of(dict(values))[:_HASH_DIGITS]


def _broken_text_problem(value: Any) -> str | None:
    """Half of a surrogate pair is no character and cannot be sent."""
    if isinstance(value, str):
        found = None if value.isascii() else _SURROGATE.search(value)
        return f"A text contains half a character (U+{ord(found[0]):04X}), which cannot be sent." if found else None
    if isinstance(value, Mapping):
        value = value.values()
    elif not isinstance(value, (list, tuple)):
        return None
    return next((wrong for item in value if (wrong := _broken_text_problem(item)) is not None), None)


def _ending_problem(messages: Sequence[JsonObject], params: JsonObject) -> str | None:
    """An answer follows the last message; after an assistant's own, only a continuation could."""
    last = messages[-1]
    extra = params.get("extra_body")
    continued = isinstance(extra, Mapping) and extra.get("continue_final_message") is True
    if last.get("role") == "assistant" and not last.get("prefix") and not continued:
        return (
            "The last message is the assistant's own, so nothing is asked. End with a user's message or a tool's "
            "result, or write `prefix: true` in it where the server is to continue it."
        )
    return None


def _noise_problem(messages: Sequence[JsonObject], noise: NoiseSource) -> str | None:
    """Only a user's text can be varied."""
    if noise == NULL_PERTURBATION and last_user_text(messages) is None:
        return (
            f"`noise: {NULL_PERTURBATION}` varies the text of the last user message, and this case has none. Write "
            "`noise: none` in it."
        )
    return None


def _pinned_problem(messages: Sequence[JsonObject], context: CaseContext | None) -> str | None:
    """Only messages that are there can stay."""
    pinned = () if context is None else context.pinned
    wrong = next((place for place in pinned if not -len(messages) <= place < len(messages)), None)
    if wrong is None:
        return None
    return (
        f"`pinned` under `context` names message {wrong}, and this case has {len(messages)}: they are numbered from 0 "
        f"to {len(messages) - 1}, or from -1 for the last."
    )
