"""Bytes of a user's file to text: UTF-8, with or without a byte order mark; any other encoding must be named."""

from __future__ import annotations

import codecs
import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path
    from typing import BinaryIO

MAX_BYTES = 64 * 1024 * 1024
"""Largest file that is read. More than this is a mistake, or belongs into several files."""

_MARKS = (
    (codecs.BOM_UTF32_LE, "utf-32"),
    (codecs.BOM_UTF32_BE, "utf-32"),
    (codecs.BOM_UTF16_LE, "utf-16"),
    (codecs.BOM_UTF16_BE, "utf-16"),
)
_SAMPLE = 64 * 1024
_PART = 1024 * 1024


class UnreadableTextError(ValueError):
    """The bytes are not text as declared. The message is a sentence without place; `line` counts from 1."""

    def __init__(self, message: str, line: int | None = None, likely: str | None = None) -> None:
        super().__init__(message)
        self.line = line
        self.likely = likely


def open_file(path: Path) -> BinaryIO:
    """A user's file, opened to be read. What is no file is refused: a pipe might never end, and a device has no end.

    Raises:
        UnreadableTextError: it is a folder, a pipe or a device.
        OSError: it cannot be opened.
    """
    # Without waiting: opening a pipe that nobody writes to would not come back.
    descriptor = os.open(path, os.O_RDONLY | getattr(os, "O_NONBLOCK", 0) | getattr(os, "O_BINARY", 0))
    mode = os.fstat(descriptor).st_mode
    if stat.S_ISREG(mode):
        return os.fdopen(descriptor, "rb")
    os.close(descriptor)
    what = "a folder" if stat.S_ISDIR(mode) else "a pipe or a device"
    raise UnreadableTextError(f"This is {what}, not a file.")


def read_limited(path: Path, most: int = MAX_BYTES) -> bytes:
    """The file's bytes.

    Args:
        path: The file.
        most: Bytes that are read; a larger file is refused.

    Raises:
        UnreadableTextError: when it cannot be read, is no file, or is larger.
    """
    parts: list[bytes] = []
    try:
        with open_file(path) as file:
            # The size that the file says it has may not be what it gives.
            left = most
            while left >= 0 and (part := file.read(_PART)):
                parts.append(part)
                left -= len(part)
    except FileNotFoundError:
        raise UnreadableTextError("The file does not exist.") from None
    except OSError as error:
        raise UnreadableTextError(f"The file cannot be read: {error.strerror or error}.") from None
    if left < 0:
        raise UnreadableTextError(f"The file is larger than {most // 2**20} MB; at most so much is read.")
    return b"".join(parts)


def decode(raw: bytes, encoding: str | None = None) -> str:
    """The text of `raw`: UTF-8 without its byte order mark, or `encoding` where the user names one.

    Line ends stay as they are.

    Raises:
        UnreadableTextError: with the line of the first bad byte and the likely encoding.
    """
    if encoding is not None:
        return _decode_as(raw, encoding)
    for mark, name in _MARKS:
        if raw.startswith(mark):
            raise UnreadableTextError(f"The file is {name.upper()}, not UTF-8.", 1, name)
    raw = raw.removeprefix(codecs.BOM_UTF8)
    if b"\0" in raw[:_SAMPLE]:
        likely = _utf16_without_mark(raw[:_SAMPLE])
        if likely is not None:
            raise UnreadableTextError(f"The file looks like {likely.upper()}, not UTF-8.", 1, likely)
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        likely = likely_encoding(raw)
        looks = f" It looks like {likely.upper()}." if likely else ""
        shown = " ".join(f"{byte:02X}" for byte in raw[error.start : error.start + 4])
        raise UnreadableTextError(f"The file is not UTF-8 (bytes {shown} on this line).{looks}", line, likely) from None


def _decode_as(raw: bytes, encoding: str) -> str:
    try:
        codec = codecs.lookup(encoding)
        text = raw.decode(encoding) if codec.name != "utf-8" else raw.decode("utf-8-sig")
    except LookupError:
        raise UnreadableTextError(
            f"`{encoding}` is no text encoding; known are `utf-8`, `gb18030`, `big5`, `utf-16`, `shift_jis` and others."
        ) from None
    except UnicodeDecodeError as error:
        line = raw.count(b"\n", 0, error.start) + 1
        raise UnreadableTextError(f"The file is not {encoding.upper()} as declared.", line) from None
    return text.removeprefix("\ufeff")


def _utf16_without_mark(raw: bytes) -> str | None:
    """UTF-16 without a mark: every second byte of its ASCII characters is zero."""
    for name, offset in (("utf-16-le", 1), ("utf-16-be", 0)):
        zeros = raw[offset::2].count(0)
        if zeros > len(raw) // 16 and zeros > 8 * raw[1 - offset :: 2].count(0):
            return name
    return None


def likely_encoding(raw: bytes) -> str | None:
    """The encoding that bytes which are not UTF-8 are most likely in, or None when nothing fits.

    Chinese legacy encodings overlap, so each is judged by how much of the text becomes common characters.
    """
    sample = raw[:_SAMPLE]
    best: tuple[float, str] | None = None
    for name in ("gb18030", "big5", "shift_jis", "euc_kr", "cp1252"):
        try:
            text = codecs.getincrementaldecoder(name)().decode(sample, final=len(sample) == len(raw))
        except UnicodeDecodeError:
            continue
        score = _plausibility(text, name)
        if best is None or score > best[0]:
            best = (score, name)
    return best[1] if best is not None and best[0] > 0 else None


def _plausibility(text: str, name: str) -> float:
    """Share of the characters beyond ASCII that are common in what `name` is used for, 0 to 1."""
    foreign = [char for char in text if ord(char) > 0x7F]
    if not foreign:
        return 0.0
    return sum(_is_common(char, name) for char in foreign) / len(foreign) * (0.3 if name == "cp1252" else 1.0)


def _is_common(char: str, name: str) -> bool:
    if name == "cp1252":
        return char.isalpha() or char in "“”‘’–—…€£§°"
    if "\u3000" <= char <= "\u303f" or "\uff00" <= char <= "\uff5e" or char in "“”‘’—…·":
        return True
    if name == "shift_jis" and "\u3040" <= char <= "\u30ff":
        return True
    if name == "euc_kr":
        return "\uac00" <= char <= "\ud7a3"
    # The first plane of each encoding holds its common characters, the second the rare ones.
    try:
        lead = char.encode({"gb18030": "gb2312"}.get(name, name))[0]
    except UnicodeEncodeError:
        return False
    return {"gb18030": 0xB0 <= lead <= 0xD7, "big5": 0xA4 <= lead <= 0xC6, "shift_jis": 0x88 <= lead <= 0x97}[name]
