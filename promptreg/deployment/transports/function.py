"""A function of the user's own as a deployment: `call = "app.chat:reply"`.

The function gets the messages of the case as a list of dictionaries, and, when it takes a second argument, the
request parameters as a dictionary. It may be synchronous (it then runs in a thread) or asynchronous. It returns the
answer's text, a message (a mapping with `content`, `tool_calls`, …), or a whole chat completion, also as an object
of the openai package. What it returns is kept as the body of a chat completion, so everything after is the same.
"""

from __future__ import annotations

import asyncio
import contextvars
import importlib
import inspect
import sys
import threading
import time
import traceback
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Self, cast

from promptreg.deployment.envelope import shortened
from promptreg.deployment.exchange import ENVELOPE_MADE, Chunk, Exchange, Failure, FailureKind
from promptreg.deployment.json_text import dump_json
from promptreg.errors import ConfigError

if TYPE_CHECKING:
    from types import TracebackType

    from promptreg.canonical import Json, JsonObject
    from promptreg.deployment.transports.base import TimeLimits

_JSON: Final = ("content-type", "application/json")
_PACKAGE: Final = Path(__file__).parents[2]
_NOT_PARAMS = frozenset({"messages", "model", "stream", "stream_options"})

MAY_RETURN = "it must return a text, a message (a mapping with content or tool_calls) or a chat completion"


class FunctionTransport:
    """Calls one function; each call has `limits.total` seconds."""

    def __init__(self, call: str, limits: TimeLimits, root: Path | None = None) -> None:
        """Imports the function.

        Raises:
            ConfigError: when it cannot be imported or called.
        """
        self._call = call
        self._limits = limits
        self._root = root if root is not None else Path.cwd()
        self._function = load_function(call, root)
        self._takes_params = _takes_second(self._function)

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        return None

    async def send(self, body: JsonObject) -> Exchange:
        """Calls the function with the messages of a request."""
        loop = asyncio.get_running_loop()
        sent_at, started = time.time(), loop.time()
        failure: Failure | None = None
        chunks: tuple[Chunk, ...] = ()
        headers: tuple[tuple[str, str], ...] = ()
        try:
            async with asyncio.timeout(self._limits.total) as timer:
                completion = completion_of(await self._reply(body))
            chunks = (Chunk(loop.time() - started, completion.body),)
            headers = (_JSON, ENVELOPE_MADE) if completion.made else (_JSON,)
        except asyncio.CancelledError:
            raise
        except TimeoutError as error:
            if timer.expired():
                message = f"{self._call} did not return within {self._limits.total:g} s"
                failure = Failure(FailureKind.TOTAL_TIMEOUT, message)
            else:
                failure = self._raised(error)
        except (Exception, SystemExit) as error:  # noqa: BLE001  the user's function may raise anything
            failure = self._raised(error)
        status = None if failure is not None else 200
        return Exchange(sent_at, loop.time() - started, status, headers, chunks, failure)

    async def get(self, path: str) -> Exchange:  # noqa: ARG002  the protocol has it
        """A function has no paths: the answer is always 404."""
        return Exchange(time.time(), 0.0, 404)

    async def _reply(self, body: JsonObject) -> object:
        messages = body.get("messages")
        arguments: list[object] = [
            [dict(message) for message in messages if isinstance(message, Mapping)]
            if isinstance(messages, (list, tuple))
            else []
        ]
        if self._takes_params:
            arguments.append({name: value for name, value in body.items() if name not in _NOT_PARAMS})
        if inspect.iscoroutinefunction(self._function):
            return await self._function(*arguments)
        result = await _in_thread(self._function, arguments)
        return await result if inspect.isawaitable(result) else result

    def _raised(self, error: BaseException) -> Failure:
        if isinstance(error, BadReturnError):
            return Failure(FailureKind.CALL, f"{self._call} {error}; {MAY_RETURN}")
        return Failure(FailureKind.CALL, f"{self._call} {raised(error, self._root)}")


def raised(error: BaseException, root: Path) -> str:
    """What the user's own code raised: `raised KeyError: 'x' (app/chat.py:12)`, with its last line below `root`.

    Where no line of the error lies there, the last one outside of promptreg is told; nothing where there is none.
    """
    said = shortened(str(error), 200)
    lines = [
        (Path(frame.filename), frame.lineno)
        for frame in traceback.extract_tb(error.__traceback__)
        if not Path(frame.filename).is_relative_to(_PACKAGE) and not frame.filename.startswith("<frozen ")
    ]
    if isinstance(error, SyntaxError) and error.filename is not None:
        lines.append((Path(error.filename), error.lineno))
    own = [line for line in lines if line[0].is_relative_to(root) and "site-packages" not in line[0].parts]
    place = ""
    if lines:
        file, number = (own or lines)[-1]
        place = f" ({file.relative_to(root).as_posix() if file.is_relative_to(root) else file}:{number})"
    return f"raised {type(error).__name__}{f': {said}' if said else ''}{place}"


class Completion(NamedTuple):
    """The body of a chat completion."""

    body: bytes
    made: bool
    """Whether the function returned the answer alone, so that promptreg made what stands around it."""


class BadReturnError(Exception):
    """The function returned something that is no answer."""


def load_function(call: str, root: Path | None) -> Callable[..., Any]:
    """Imports `module:function`, with the project's folder first on the path of modules.

    Raises:
        ConfigError: when there is no such module or function, or importing it fails.
    """
    module_name, _, function_name = call.partition(":")
    folder = str(root if root is not None else Path.cwd())
    if folder not in sys.path:
        sys.path.insert(0, folder)  # stays: the module may import its neighbours later
    try:
        found: Any = importlib.import_module(module_name)
    except ModuleNotFoundError as error:
        raise ConfigError(
            f'call = "{call}": no module `{error.name}` is found from {folder} or among the packages'
        ) from error
    except Exception as error:
        raise ConfigError(f'call = "{call}": importing `{module_name}` {raised(error, Path(folder))}') from error
    for name in function_name.split("."):
        found = getattr(found, name, None)
    if not callable(found):
        raise ConfigError(f'call = "{call}": `{module_name}` has no function `{function_name}`')
    return cast("Callable[..., Any]", found)


def _takes_second(function: Callable[..., Any]) -> bool:
    """Whether the function has a second positional parameter for the request parameters."""
    try:
        inspect.signature(function).bind([], {})
    except TypeError:
        return False
    except ValueError:  # a built-in without a signature
        return False
    return True


async def _in_thread(function: Callable[..., Any], arguments: list[object]) -> object:
    """Runs a function in a thread of its own, which ends with the process: a stuck call must not keep it alive."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[tuple[object, BaseException | None]] = loop.create_future()
    context = contextvars.copy_context()

    def deliver(result: object, error: BaseException | None) -> None:
        if not future.done():  # the caller may have given up
            future.set_result((result, error))

    def work() -> None:
        result: object = None
        failed: BaseException | None = None
        try:
            result = context.run(function, *arguments)
        except BaseException as error:  # noqa: BLE001  raised again in the caller's task
            failed = error
        if not loop.is_closed():
            loop.call_soon_threadsafe(deliver, result, failed)

    threading.Thread(target=work, name="promptreg-call", daemon=True).start()
    result, failed = await future
    if failed is not None:
        raise failed
    return result


def completion_of(returned: object) -> Completion:
    """The body of a chat completion that holds what the function returned.

    Raises:
        BadReturnError: it is no answer; the end of a sentence says what it is.
    """
    dump = getattr(returned, "model_dump", None)
    if callable(dump):  # an object of the openai package
        returned = dump(mode="json")
    if isinstance(returned, str):
        returned = {"role": "assistant", "content": returned}
    if not isinstance(returned, Mapping):
        raise BadReturnError(f"returned {type(returned).__name__}")
    body: Json = returned
    made = "choices" not in returned
    if made:
        if not {"content", "tool_calls", "function_call", "refusal"} & returned.keys():
            raise BadReturnError(f"returned a mapping with {', '.join(sorted(map(str, returned))) or 'nothing'}")
        finish = "tool_calls" if returned.get("tool_calls") else "stop"
        body = {
            "object": "chat.completion",
            "choices": [{"index": 0, "message": dict(returned), "finish_reason": finish}],
        }
    try:
        return Completion(dump_json(body), made)
    except (TypeError, ValueError) as error:
        raise BadReturnError(f"returned something that is no JSON ({shortened(str(error), 120)})") from error
