"""The check `language` on short answers: right or unscored, and never wrong."""

from __future__ import annotations

import pytest

from promptreg.scoring.checks.reading.language_evidence import LATIN

SHORT = {
    "en": ["Yes.", "Positive", "red, green, blue", "Your order arrives tomorrow.", "In Paris.", "No problem.", "OK"],
    "de": ["Ja, gerne!", "Die Lieferung erfolgt morgen.", "Bestellung storniert", "Danke für Ihre Geduld.", "Positiv"],
    "fr": ["Oui.", "Votre commande arrive demain.", "Commande annulée", "À Paris.", "Il fait beau.", "On y va."],
    "es": ["Sí, claro.", "Su pedido llega mañana.", "Pedido cancelado", "Hace buen tiempo.", "No hay problema."],
    "it": ["Va bene.", "Il tuo ordine arriva domani.", "Ordine annullato", "A Roma.", "Non c'è problema."],
    "pt": ["Sim, claro.", "Pedido cancelado", "Em Lisboa.", "Guarde a fatura.", "Devolução possível em 30 dias."],
    "nl": ["Ja, graag.", "Bestelling geannuleerd", "Het is mooi weer.", "Water kookt bij 100 graden."],
    "vi": ["Vâng, được.", "Đã hủy đơn hàng", "Ở Hà Nội.", "Cảm ơn bạn."],
    "tr": ["Evet.", "Sipariş iptal edildi", "Siparişiniz yarın geliyor.", "Teşekkürler."],
    "id": ["Tidak bisa.", "Pesanan dibatalkan", "Di Jakarta.", "Terima kasih."],
    "ru": ["Да.", "Спасибо!"],
    "uk": ["Так.", "Дякую!"],
    "fa": ["سلام", "متشکرم"],
    "ar": ["نعم", "شكرا"],
    "zh": ["北京", "好的。", "iPhone 15 Pro 更好", "已发货"],
}
WHOLE = {
    "en": "The warranty lasts two years from the date of purchase. Please keep the invoice.",
    "de": "Die Garantie gilt zwei Jahre ab dem Kaufdatum. Bitte bewahren Sie die Rechnung auf.",
    "fr": "La garantie est valable deux ans à partir de la date d'achat. Conservez la facture.",
    "es": "La garantía dura dos años a partir de la fecha de compra. Conserve la factura.",
    "it": "La garanzia dura due anni dalla data di acquisto. Conservi la fattura.",
    "nl": "De garantie geldt twee jaar vanaf de datum van aankoop. Bewaar de factuur op een veilige plek.",
    "vi": "Bảo hành hai năm kể từ ngày mua. Hãy giữ hóa đơn.",
    "tr": "Garanti satın alma tarihinden itibaren iki yıl geçerlidir. Lütfen faturayı saklayın.",
    "id": "Garansi berlaku dua tahun sejak tanggal pembelian. Simpan fakturnya.",
    "zh": "自购买之日起保修两年。",
    "ja": "ご購入日から二年間の保証です。",
    "ru": "Гарантия действует два года со дня покупки. Сохраните счёт.",
    "uk": "Гарантія діє два роки від дня покупки. Збережіть рахунок.",
}


@pytest.mark.parametrize(("language", "text"), [(code, text) for code, texts in SHORT.items() for text in texts])
def test_a_short_answer_is_never_judged_wrong(judge, language, text):
    assert judge("language", language, text).passed in (True, None)
    others = {*SHORT, "en"} - {language}
    assert {other for other in others if judge("language", other, text).passed} == set()


@pytest.mark.parametrize("language", WHOLE)
def test_whole_sentences_are_told(judge, language):
    judged = {code: judge("language", code, WHOLE[language]).passed for code in WHOLE}

    assert judged.pop("ja") in ((True,) if language == "ja" else (False, None))
    assert judged == {code: code == language for code in judged}


def test_a_whole_answer_in_another_script_fails_however_short(judge):
    assert judge("language", "zh", "Yes, it has been shipped.").passed is False
    assert judge("language", "zh", "Positive").passed is False
    assert judge("language", "en", "好的。").passed is False
    assert judge("language", "de", "はい。").passed is False


def test_the_finding_says_why_it_was_not_scored(judge):
    finding = judge("language", "it", "Ordine annullato")

    assert finding.passed is None
    assert finding.sentence.en == "The answer is too short to tell its language from related ones."
    assert finding.sentence.zh == "回答太短，无法与相近的语言区分。"


def test_keys_of_json_are_no_evidence(judge):
    assert judge("language", "de", '{"the_answer_of_this": "Positiv"}').passed is None
    assert judge(
        "language", "de", '{"the": "Die Garantie gilt zwei Jahre ab dem Kaufdatum und ist nicht übertragbar."}'
    ).passed


def test_latin_script_languages_are_known():
    assert frozenset({"en", "de", "fr", "es", "pt", "it", "nl", "vi", "id", "tr"}) == LATIN
