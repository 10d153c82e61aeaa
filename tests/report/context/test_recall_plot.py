from __future__ import annotations

import re
from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from promptreg.report.context.recall_plot import Point, spread, trade_off
from promptreg.text.sentence import Sentence

TITLE = Sentence("a <b>", "甲")


@given(st.lists(st.floats(0, 300), max_size=18).map(sorted))
def test_places_keep_their_order_and_their_distance(wanted):
    places = spread(wanted, 17, 0, 306)

    assert len(places) == len(wanted)
    assert all(after - before >= 17 - 1e-6 for before, after in pairwise(places))
    assert all(-1e-6 <= place <= 306 for place in places)


def test_places_that_are_free_are_taken():
    assert spread([10, 50, 90], 17, 0, 300) == [10, 50, 90]
    assert spread([50, 50, 50], 17, 0, 300) == [50, 67, 84]
    assert spread([300, 300], 17, 0, 300) == [283, 300]
    assert spread([], 17, 0, 300) == []


def test_the_front_is_a_line_of_steps_through_the_best_and_marks_differ_by_shape():
    points = [
        Point(1, "much recall", 0.2, 0.9, front=True),
        Point(2, "beaten", 0.1, 0.5, front=False),
        Point(3, "many hits", 0.8, 0.4, front=True),
        Point(4, "too long", 0.9, 1.0, front=False, valid=False),
    ]

    text = trade_off(points, TITLE)

    wide = re.search(r'<svg class="wide".*?</svg>', text)[0]
    assert wide.count("<polygon") == 2
    assert wide.count("<circle") == 1
    assert wide.count('<path class="point not-valid"') == 1
    assert len(re.findall("[HV]", re.search(r'class="front-line" d="([^"]*)"', wide)[1])) == 4
    assert "a &lt;b&gt; · 甲" in wide
    narrow = re.search(r'<svg class="narrow".*?</svg>', text)[0]
    assert sorted(re.findall(r'class="point-name[^"]*"[^>]*>(\d)<', narrow)) == ["1", "2", "3", "4"]


def test_long_and_hostile_names_are_cut_and_escaped():
    text = trade_off([Point(1, '<script>"\u202e' + "长" * 100, 0.5, 0.5, front=False)], TITLE)

    assert "<script" not in text
    assert "\u202e" not in text
    assert "长" * 60 not in text


def test_many_points_make_the_picture_higher():
    points = [Point(number, f"n{number}", 0.5, 0.5, front=False) for number in range(1, 41)]

    text = trade_off(points, TITLE)

    height = int(re.search(r'class="wide" viewBox="0 0 \d+ (\d+)"', text)[1])
    places = [float(place) for place in re.findall(r'class="point-name"[^>]* y="([\d.]+)"', text.split("</svg>")[0])]
    assert len(places) == 40
    assert max(places) < height
    assert min(places) > 0
