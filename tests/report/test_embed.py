from __future__ import annotations

import base64
import gzip
import json
from html.parser import HTMLParser

import pytest
from hypothesis import given
from hypothesis import strategies as st

from promptreg.report.embed import BASE85, base85, escaped, json_text, packed, whole


def test_json_text_closes_no_tag_and_reads_back(hostile_text):
    text = json_text({hostile_text: [hostile_text]})
    assert not set("<>&\u2028\u2029") & set(text)
    assert json.loads(text) == {whole(hostile_text): [whole(hostile_text)]}


def test_packed_text_is_inert_and_reads_back(hostile_text):
    data = packed([hostile_text])
    assert data.isascii()
    assert not set(data) & set("<>&\"'\\/ \n\r\0")
    assert json.loads(gzip.decompress(from_base85(data))) == [whole(hostile_text)]


def from_base85(text):
    return base64.b85decode(text.translate(str.maketrans(".:,", "&<>")))


@given(st.binary(max_size=60))
def test_base85_is_that_of_rfc_1924_in_other_signs(data):
    assert len(set(BASE85)) == 85
    assert from_base85(base85(data)) == data


def test_packing_is_reproducible():
    assert packed(["长"]) == packed(["长"])


def test_escaped_text_is_one_text_node(hostile_text):
    tags = []
    parser = HTMLParser()
    parser.handle_starttag = lambda tag, attributes: tags.append((tag, attributes))
    parser.feed(f'<p title="{escaped(hostile_text)}">{escaped(hostile_text)}</p>')
    assert [tag for tag, _ in tags] == ["p"]
    assert len(tags[0][1]) == 1


@pytest.mark.parametrize("value", [float("nan"), float("inf")])
def test_nan_is_refused(value):
    with pytest.raises(ValueError, match="not JSON compliant"):
        json_text([value])


def test_lone_surrogates_keep_their_length_and_can_be_written():
    assert whole("a\ud800b") == "a\ufffdb"
    whole("\udc9d").encode("utf-8")
