from __future__ import annotations

import pytest

from promptreg.config.encoding import MAX_BYTES, UnreadableTextError, decode, likely_encoding, read_limited

CHINESE = "第一行\n退货期限是几天？我们承诺七天无理由退货。\n"
TRADITIONAL = "退貨期限是幾天？我們承諾七天無理由退貨，請放心購買。\n"
JAPANESE = "返品の期限は何日ですか。お問い合わせください。\n"


def test_utf8_with_and_without_mark_keeps_every_byte_else():
    assert decode("a\r\nb中😀\n".encode()) == "a\r\nb中😀\n"
    assert decode(b"\xef\xbb\xbf" + "中\r\n".encode()) == "中\r\n"
    assert decode(b"") == ""


@pytest.mark.parametrize(
    ("text", "encoding", "named"),
    [(CHINESE, "gbk", "GB18030"), (TRADITIONAL, "big5", "BIG5"), (JAPANESE, "shift_jis", "SHIFT_JIS"),
     ("caf\xe9 cr\xe8me\n", "cp1252", "CP1252")],
)  # fmt: skip
def test_other_encodings_are_named(text, encoding, named):
    with pytest.raises(UnreadableTextError, match=f"It looks like {named}") as caught:
        decode(text.encode(encoding))
    assert caught.value.line == 1


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-32"])
def test_utf16_is_recognised(encoding):
    with pytest.raises(UnreadableTextError, match=r"UTF-(16|32)") as caught:
        decode("id,question\na,b\nc,退货\n".encode(encoding))
    assert caught.value.likely.startswith(encoding[:6])


def test_the_line_of_the_bad_byte():
    with pytest.raises(UnreadableTextError, match="FF") as caught:
        decode(b"a\nb\nc\xff\n")
    assert caught.value.line == 3


def test_a_named_encoding_is_the_way_out():
    assert decode(CHINESE.encode("gb18030"), "gb18030") == CHINESE
    assert decode(CHINESE.encode("utf-16"), "utf-16") == CHINESE
    assert decode(b"\xef\xbb\xbfa", "UTF8") == "a"
    with pytest.raises(UnreadableTextError, match="not GB18030 as declared"):
        decode(b"ok\n\xff\xff", "gb18030")
    for no_encoding in ("gb18031", "base64", "rot13", ""):
        with pytest.raises(UnreadableTextError, match="no text encoding"):
            decode(b"a", no_encoding)


def test_a_truncated_character_at_the_end_of_the_sample_is_no_obstacle():
    assert likely_encoding(("x" + CHINESE * 4000).encode("gbk")) == "gb18030"


def test_files_too_large_missing_or_folders(tmp_path):
    big = tmp_path / "big"
    with big.open("wb") as file:
        file.truncate(MAX_BYTES + 1)
    with pytest.raises(UnreadableTextError, match="larger than 64 MB"):
        read_limited(big)
    with pytest.raises(UnreadableTextError, match="does not exist"):
        read_limited(tmp_path / "none")
    with pytest.raises(UnreadableTextError, match="folder"):
        read_limited(tmp_path)
