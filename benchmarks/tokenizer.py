"""DeepSeek's vocabulary in tiktoken against `tokenizers` on the same file: differences, and speed.

    python benchmarks/tokenizer.py [STRINGS [SEED]]

Generates STRINGS texts (default 100 000) of mixed scripts, digits, emoji, code, runs of spaces, controls and special
tokens, compares the ids, and exits with 1 if any differ. Then counts a megabyte of Chinese with both, best of three.
"""

from __future__ import annotations

import random
import sys
import time
from typing import TYPE_CHECKING

from tokenizers import Tokenizer

from promptreg.context.count.tokens import DeepseekTokenizer, special_tokens
from promptreg.context.count.vocabulary import vocabulary_file

if TYPE_CHECKING:
    from collections.abc import Callable

PARTS = (
    *("的", "退货期限是", "7天内可退。", "龥龦", "𠮷", "㐀", "，", "！", "……", "「」", "①", "３０", "〇", "々"),
    *(
        "か\u3099",
        "\u3099",
        "\u30fb",
        "ー",
        " ・",
        "カタカナ",
        "ひらがな",
        "한국어",
        "ไทย",
        "हिन्दी",
        "العربية",
        "،",
        "٣",
    ),
    *("Привет", "e\u0301", "\u0301", "ﬁ", "don't", " World", "camelCase", "HTTPServer", "naïve", "ß", "İ"),
    *("1", "12", "1234567", "3.14", "1e-9", "½", "𝟘", "Ⅷ", "٠١٢٣"),
    *(" ", "  ", "        ", "\t", "\t\t", "\n", "\n\n", " \n", "\r\n", "\r", "\u3000", "\xa0", "\x85", "\u2028"),
    *("    if x:\n", "__init__", "def f(a, b=1):", "```", "</div>", '{"k": [1, 2]}', "a=b;", "//", "$x", "#!", "-->"),
    *(
        "😀",
        "👩\u200d🚀",
        "🇨🇳",
        "☃\ufe0f",
        "\u200b",
        "\u200d",
        "\ufeff",
        "\x00",
        "\x1c",
        "\x7f",
        "\ue000",
        "\U0010ffff",
    ),
    *("https://a.b/c?d=1", "a@b.cn", "dGVzdA==", "550e8400-e29b"),
)
CHINESE = (
    "退货期限是收货后七天，商品须保持完好；定制商品不支持无理由退货。客服工作时间为每天九点到二十一点，"
    "节假日照常。如遇质量问题，请提供订单号与照片，我们会在二十四小时内答复，并承担来回运费。\n"
)


def texts(count: int, seed: int) -> list[str]:
    """Generated texts, the same for the same seed."""
    rng = random.Random(seed)
    names = sorted(special_tokens())
    return ["".join(_part(rng, names) for _ in range(rng.randint(1, 25))) for _ in range(count)]


def _part(rng: random.Random, names: list[str]) -> str:
    kind = rng.random()
    if kind < 0.03:
        return rng.choice(names)
    if kind < 0.10:  # any character at all, surrogates left out
        number = rng.randrange(0x110000 - 0x800)
        return chr(number if number < 0xD800 else number + 0x800)
    if kind < 0.14:
        return rng.choice(PARTS) * rng.randint(2, 40)
    return rng.choice(PARTS)


def differences(reference: Tokenizer, samples: list[str]) -> list[str]:
    """The texts that get other ids."""
    encode = DeepseekTokenizer().ids
    return [text for text in samples if encode(text) != reference.encode(text, add_special_tokens=False).ids]


def megabytes_a_second(count: Callable[[str], int], text: str) -> float:
    """The best of three."""
    best = min(_seconds(count, text) for _ in range(3))
    return len(text.encode()) / best / 1e6


def _seconds(count: Callable[[str], int], text: str) -> float:
    """Of the processor: the machine may be busy with other things."""
    began = time.process_time()
    count(text)
    return time.process_time() - began


def main(strings: int = 100_000, seed: int = 1) -> int:
    """Prints the table; 1 when a text differs."""
    reference = Tokenizer.from_file(str(vocabulary_file()))
    began = time.perf_counter()
    DeepseekTokenizer().count("")
    print(f"built in {time.perf_counter() - began:.2f} s")
    differing = differences(reference, texts(strings, seed))
    print(f"{len(differing)} of {strings:,} texts differ (seed {seed})")
    for text in differing[:5]:
        print(f"  {text!r}")
    lines = CHINESE * (1_000_000 // len(CHINESE.encode()))
    chat = [CHINESE * 4] * (len(lines) // len(CHINESE) // 4)
    print(f"{len(lines.encode()) / 1e6:.1f} MB of Chinese, MB for a second of one core:")
    print("                one text  messages of 1 KB")
    for name, count in (
        ("tiktoken", DeepseekTokenizer().count),
        ("tokenizers", lambda text: len(reference.encode(text, add_special_tokens=False).ids)),
    ):
        best = min(sum(_seconds(count, text) for text in chat) for _ in range(3))
        rate = sum(len(text.encode()) for text in chat) / best / 1e6
        print(f"{name:>14}  {megabytes_a_second(count, lines):8.1f}  {rate:16.1f}")
    return 1 if differing else 0


if __name__ == "__main__":
    sys.exit(main(*map(int, sys.argv[1:])))
