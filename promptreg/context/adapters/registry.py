"""Other libraries' ways to shorten by name: `langchain:trim_messages:include_system=yes`, `llama-index:memory`.

A library is imported when one of its names is used, and need not be installed otherwise.
"""

from __future__ import annotations

import importlib
from dataclasses import dataclass
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Final

from promptreg.context.adapters.strategy import Adapted
from promptreg.context.strategies.offered import Given, Offered
from promptreg.errors import UsageError
from promptreg.text.sentence import Sentence

if TYPE_CHECKING:
    from collections.abc import Mapping

    from promptreg.context.strategies.base import Strategy

FUNCTION: Final = "function"
"""`function:MODULE:CALLABLE` is a function of the user's own."""


@dataclass(frozen=True, slots=True)
class _Library:
    """Where an adapter is, and what has to be installed for it."""

    name: str
    maker: str
    """`module.class`, in this folder."""
    package: str
    """What pip installs."""
    needs: tuple[str, ...]
    """Modules that are imported, the last one perhaps only when it runs."""

    def build(self, _: Given, values: Mapping[str, Any]) -> Strategy:
        """The strategy with these options.

        Raises:
            UsageError: the library is not installed, or an option has a value that it cannot have.
        """
        module, maker = self.maker.split(".")
        try:
            for needed in self.needs:
                importlib.import_module(needed)
            made = getattr(importlib.import_module(f"promptreg.context.adapters.{module}"), maker)
        except ImportError as error:
            raise UsageError(
                f"The strategy `{self.name}` needs the package {self.package}, which cannot be imported ({error}). "
                f"Install it with `pip install {self.package}`."
            ) from None
        written = ",".join(f"{option}={_text(value)}" for option, value in values.items())
        return Adapted(f"{self.name}:{written}" if written else self.name, made(**values))


def _text(value: object) -> str:
    return {True: "yes", False: "no"}[value] if isinstance(value, bool) else str(value)


def _offered(
    name: str, maker: str, package: str, needs: tuple[str, ...], sentence: Sentence, **options: type
) -> tuple[str, Offered]:
    library = _Library(name, maker, package, needs)
    return name, Offered(MappingProxyType(options), library.build, sentence)


_LLAMA_INDEX: Final = ("llama-index-core", ("llama_index.core",))

ADAPTERS: Final[Mapping[str, Offered]] = MappingProxyType(
    dict(
        (
            _offered(
                "langchain:trim_messages",
                "langchain.TrimMessages",
                "langchain-core",
                ("langchain_core",),
                Sentence("LangChain's trim_messages, with its defaults", "LangChain 的 trim_messages，默认参数不变"),
                strategy=str,
                start_on=str,
                end_on=str,
                include_system=bool,
                allow_partial=bool,
            ),
            _offered(
                "langchain:summarization",
                "langchain.Summarization",
                "langchain",
                ("langchain_core", "langchain"),
                Sentence(
                    "LangChain's SummarizationMiddleware with an extractive summary",
                    "LangChain 的 SummarizationMiddleware，摘要为抽取式",
                ),
                keep=int,
                share=float,
                read=int,
                tokens=int,
            ),
            _offered(
                "llama-index:chat-memory-buffer",
                "llama_index.BufferMemory",
                *_LLAMA_INDEX,
                Sentence("LlamaIndex's ChatMemoryBuffer", "LlamaIndex 的 ChatMemoryBuffer"),
                prefix=bool,
            ),
            _offered(
                "llama-index:chat-summary-memory-buffer",
                "llama_index.SummaryMemory",
                *_LLAMA_INDEX,
                Sentence(
                    "LlamaIndex's ChatSummaryMemoryBuffer with an extractive summary",
                    "LlamaIndex 的 ChatSummaryMemoryBuffer，摘要为抽取式",
                ),
                prefix=bool,
                tokens=int,
            ),
            _offered(
                "llama-index:memory",
                "llama_index.QueueMemory",
                *_LLAMA_INDEX,
                Sentence("LlamaIndex's Memory without blocks", "LlamaIndex 的 Memory，不带记忆块"),
                prefix=bool,
                ratio=float,
                flush=int,
            ),
        )
    )
)
"""Every adapter of a library by its name."""

LISTED: Final[Mapping[str, Offered]] = MappingProxyType(
    {
        **ADAPTERS,
        f"{FUNCTION}:MODULE:CALLABLE": Offered(
            MappingProxyType({}),
            lambda given, values: function_strategy(given, str(values["name"])),
            Sentence("a function of your own, from the project's folder", "项目目录中您自己的函数"),
        ),
    }
)
"""The same with how a function is named, for lists."""


def function_strategy(given: Given, name: str) -> Strategy:
    """A function of the user's own as a strategy.

    Raises:
        UsageError: it does not exist or cannot be used, or nothing here loads functions.
    """
    from promptreg.context.adapters.function import FunctionShortener, checked  # noqa: PLC0415 - only for functions

    if given.function is None:
        raise UsageError("The strategy `function` loads code from the project's folder, and no folder is given.")
    return Adapted(f"{FUNCTION}:{name}", FunctionShortener(checked(given.function(name))))
