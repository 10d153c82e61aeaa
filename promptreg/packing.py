"""Values as bytes, for copies of this very process and for its own files: never read from elsewhere."""

from __future__ import annotations

import dataclasses
import io
import pickle
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable


def packed(value: Any) -> bytes:
    """The bytes of a value."""
    buffer = io.BytesIO()
    _Packer(buffer, pickle.HIGHEST_PROTOCOL).dump(value)
    return buffer.getvalue()


def unpacked(data: bytes) -> Any:
    """The value that `packed` made these bytes of, in this process or in a copy of it."""
    return pickle.loads(data)  # noqa: S301 - our own bytes


class _Packer(pickle.Pickler):
    """Packs records as calls of their classes.

    A frozen dataclass with slots would set its fields one by one when it is unpacked, having looked them up each time:
    ten times as slow, and all of it in the one process that waits for the others.
    """

    def reducer_override(self, record: Any) -> Any:
        """How a record, or a mapping that cannot be written to, is packed; anything else as usual."""
        kind = type(record)
        if kind is MappingProxyType:
            return _read_only, (dict(record),)
        values = _values_of(kind)  # type: ignore[arg-type]  # mypy takes the hash of instances for that of the class
        return NotImplemented if values is None else (kind, values(record))


def _read_only(values: dict[Any, Any]) -> MappingProxyType[Any, Any]:
    """Under a name that can be looked up: the class has none."""
    return MappingProxyType(values)


@cache
def _values_of(kind: type) -> Callable[[Any], tuple[Any, ...]] | None:
    """Gives the arguments that make a record of this class again; None for a class of another kind."""
    if not dataclasses.is_dataclass(kind) or "__slots__" not in vars(kind) or hasattr(kind, "__post_init__"):
        return None
    fields = dataclasses.fields(kind)
    made_by_fields = kind.__reduce__ is object.__reduce__ and all(field.init and not field.kw_only for field in fields)
    if not fields or not made_by_fields:
        return None
    values = attrgetter(*[field.name for field in fields])
    return values if len(fields) > 1 else lambda record: (values(record),)
