from __future__ import annotations

import pytest

from promptreg.context.count.counting import WordCounter
from promptreg.context.fit import fit
from promptreg.context.ledger import NoteKind, Reason
from promptreg.context.retrieve import Retrieve
from promptreg.errors import UsageError

WORDS = WordCounter()
TOPICS = ["refund", "password", "delivery", "invoice", "weather", "menu", "parking", "visa"]


def talk():
    messages = [{"role": "system", "content": "help"}]
    for topic in TOPICS:
        messages += [
            {"role": "user", "content": f"about {topic} " + "word " * 8},
            {"role": "assistant", "content": f"{topic} answer " + "word " * 8},
        ]
    return [*messages, {"role": "user", "content": "and the password again"}]


class Bag:
    """Embeds texts by the topics in them, and keeps what it was asked."""

    def __init__(self):
        self.texts = []

    def __call__(self, texts):
        self.texts = texts
        return [[float(topic in text) for topic in TOPICS] for text in texts]


def sent(embed, budget=85, **options):
    return fit(talk(), budget, counter=WORDS, strategy=Retrieve(embed, **options))


def test_an_old_turn_about_the_question_comes_back_where_it_stood():
    fitted = sent(Bag(), top=1)

    assert fitted.origins == (0, 3, 4, 13, 14, 15, 16, 17)
    assert {entry.reason for entry in fitted.ledger.entries} == {Reason.NOT_RETRIEVED}
    assert {entry.index for entry in fitted.ledger.entries} == {1, 2, *range(5, 13)}


def test_the_question_and_every_turn_are_embedded_once():
    bag = Bag()
    sent(bag)

    assert len(bag.texts) == 9
    assert bag.texts[0] == "and the password again"
    assert all(len(text) <= 2000 for text in bag.texts)


def test_old_turns_keep_to_their_share():
    few = sent(Bag(), 120, top=8, share=0.1)
    assert 3 not in few.origins  # a turn of 20 words does not fit into 12


@pytest.mark.parametrize(
    "embed",
    [
        lambda texts: [],
        lambda texts: [[1.0]],
        lambda texts: [[float("nan")] for _ in texts],
        lambda texts: [[1.0], [1.0, 2.0]],
        lambda texts: ["a" for _ in texts],
        lambda texts: 1 / 0,
        lambda texts: None,
    ],
)
def test_where_the_embedder_fails_the_newest_turns_have_the_whole_budget(embed):
    fitted = sent(embed)

    assert [note.kind for note in fitted.ledger.notes] == [NoteKind.RETRIEVAL_FAILED]
    assert fitted.origins == (0, *range(9, 18))


def test_vectors_without_a_length_are_like_nothing():
    fitted = sent(lambda texts: [[0.0, 0.0] for _ in texts], top=1)

    assert fitted.total <= 85
    assert fitted.ledger.notes == ()


def test_nothing_is_embedded_where_there_is_no_text():
    bag = Bag()
    image = [{"type": "image_url", "image_url": {"url": "x"}}]
    messages = [*talk()[:-1], {"role": "user", "content": image}]

    fitted = fit(messages, 85, counter=WORDS, strategy=Retrieve(bag))

    assert bag.texts == []
    assert fitted.origins[-1] == 17


@pytest.mark.parametrize("options", [{"share": 0}, {"share": 1.0}, {"top": 0}])
def test_impossible_options_of_retrieval_are_refused(options):
    with pytest.raises(UsageError):
        Retrieve(Bag(), **options)
