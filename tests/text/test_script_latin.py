"""Short texts in languages of Latin script are told apart; English with foreign names stays English."""

from __future__ import annotations

import pytest

from promptreg.text.script import function_words, language_of


@pytest.mark.parametrize(
    ("language", "text"),
    [
        ("fr", "Bonjour, comment allez-vous aujourd'hui ?"),
        ("fr", "La garantie est de deux ans à compter de la date d'achat. Conservez la facture."),
        ("de", "Guten Tag, wie geht es Ihnen heute?"),
        ("de", "Die Garantie gilt zwei Jahre ab dem Kauf. Bewahren Sie die Rechnung auf."),
        ("es", "La garantía dura dos años a partir de la fecha de compra. Conserve la factura."),
        ("pt", "A garantia é de dois anos a partir da data da compra. Guarde a fatura."),
        ("it", "La garanzia dura due anni dalla data di acquisto. Conservi la fattura."),
        ("vi", "Bảo hành kéo dài hai năm kể từ ngày mua. Hãy giữ hóa đơn."),
        ("tr", "Garanti süresi satın alma tarihinden itibaren iki yıldır. Faturayı saklayın."),
        ("id", "Garansi berlaku dua tahun sejak tanggal pembelian. Simpan fakturnya."),
        ("en", "Oscar de la Hoya"),
        ("en", "Ha ha ha! Come in, Theo."),
        ("en", "Due date: none. Come, son."),
        ("en", "The vis-à-vis is a naïve café."),
        ("en", "Málaga, Córdoba, Cádiz, Zürich"),
        ("en", "The warranty lasts two years from the date of purchase."),
    ],
)
def test_short_text_is_in_its_language(language, text):
    assert language_of(text) == language


def test_function_words_are_counted_by_language():
    words = function_words("How do I reset my password?")
    assert words["en"] == 1
    assert words["de"] == 0
