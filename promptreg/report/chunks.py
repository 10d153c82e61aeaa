"""The chunks of a page: details of many cases packed together, one script element each."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import IO, TYPE_CHECKING

from promptreg.errors import OutputError
from promptreg.report.embed import packed

if TYPE_CHECKING:
    from concurrent.futures import Future
    from types import TracebackType
    from typing import Self

    from promptreg.canonical import Json

CHUNK_CASES = 200
"""Cases whose details are packed together: one chunk is unpacked when one of its cases is opened."""


class Chunks:
    """Takes cases one by one and writes full chunks; the rest is written at the end of the block.

    A chunk is packed in a thread, since compressing holds no lock, while the next cases are made. Two chunks at most
    are in memory.
    """

    def __init__(self, out: IO[str], limit_bytes: int | None) -> None:
        self._out = out
        self._limit = limit_bytes
        self._packer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="report-packer")
        self._packing: Future[str] | None = None
        self._waiting: list[Json] = []
        self._begun = 0
        self._written = 0
        self._bytes = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        try:
            if kind is None:
                self._pack()
                self._write()
        finally:
            self._packer.shutdown()

    def add(self, case: Json) -> tuple[int, int]:
        """Takes a case and gives its place: the number of its chunk, and its number in there.

        Raises:
            OutputError: the chunks are larger than the limit.
        """
        place = (self._begun, len(self._waiting))
        self._waiting.append(case)
        if len(self._waiting) == CHUNK_CASES:
            self._pack()
        return place

    def _pack(self) -> None:
        self._write()
        if self._waiting:
            self._packing = self._packer.submit(packed, self._waiting)
            self._waiting = []
            self._begun += 1

    def _write(self) -> None:
        if self._packing is None:
            return
        text, self._packing = self._packing.result(), None
        self._bytes += self._out.write(f'<script type="text/plain" id="chunk-{self._written}">{text}</script>\n')
        self._written += 1
        check_size(self._bytes, self._limit)


def check_size(size_bytes: int, limit_bytes: int | None) -> None:
    """Refuses a report above the limit.

    Raises:
        OutputError: it is larger.
    """
    if limit_bytes is not None and size_bytes > limit_bytes:
        raise OutputError(
            f"The report would be larger than {limit_bytes // 1_000_000} MB, which browsers do not open well. "
            "Write it with --details changed or --details none, select fewer cases with --select, or write it with "
            "--force nonetheless."
        )
