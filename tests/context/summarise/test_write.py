"""A summary stands only where it is shorter than what it is made of, and finding that out takes little counting."""

from __future__ import annotations

from promptreg.context.summarise.extractive import Extractive
from promptreg.context.summarise.gate import Gate
from promptreg.context.summarise.source import Passage, Room, Source
from promptreg.context.summarise.write import write_summary


def written(source, room, summariser):
    steps = write_summary(summariser, source, room, Gate(facts=0.0))
    try:
        while True:
            next(steps)
    except StopIteration as stop:
        return stop.value


class Says:
    name = "says"

    def __init__(self, text):
        self.text = text

    def summarise(self, _source, _room):
        return self.text


def test_of_a_long_source_only_the_beginning_is_counted():
    source = Source(tuple(Passage(n, "user", f"Order A-{n} costs {n} EUR. 订单 {n} 已取消。") for n in range(400)))
    counted = []

    def size(text):
        counted.append(len(text))
        return len(text)

    outcome = written(source, Room(60, size), Extractive())

    assert outcome.text is not None
    assert max(counted) <= 8 * 60 < len(source.text)


def test_a_beginning_that_counts_little_does_not_decide():
    source = Source((Passage(0, "user", " " * 4000 + "Order A-1029 costs 35 EUR, as agreed with you."),))
    room = Room(60, lambda text: len(text.split()))

    assert written(source, room, Says("Order A-1029 costs 35 EUR, as agreed.")).text is not None


def test_what_is_as_long_as_its_source_is_none():
    source = Source((Passage(0, "user", "Order A-1029 costs 35 EUR."),))

    outcome = written(source, Room(60, len), Extractive())

    assert outcome.text is None
    assert [note.kind for note in outcome.notes] == ["no_summary"]
