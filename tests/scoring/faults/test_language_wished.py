"""F05: which words of a prompt are a wish for a language, and which only belong to its subject."""

from __future__ import annotations

import pytest

ENGLISH_TEST = (
    "The College English Test Band 4 is a national English test for university students in China held twice a year."
)
GREETINGS = (
    "1. 英语：Hello\n2. 俄语：Привет\n3. 希腊语：Γειά σου\n4. 阿拉伯语：مرحبا\n5. 韩语：안녕하세요\n6. 日语：こんにちは"
)


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("用十种语言写“你好”", GREETINGS),
        ("Write hello in ten languages", GREETINGS),
        (
            "Do not answer in Chinese. 什么是云计算？",
            "Cloud computing is the delivery of computing services over the internet.",
        ),
        (
            "Summarise: 本合同自签字之日起生效，有效期三年。",
            "The contract takes effect on signature and is valid for three years.",
        ),
        ("Summarise: 本合同自签字之日起生效，有效期三年。", "合同自签字起生效，为期三年。"),
        (
            "本合同自签字之日起生效，有效期三年。\n\nSummarise this text.",
            "The contract is valid for three years and takes effect at once.",
        ),
        ("列出希腊字母", "α、β、γ、δ、ε、ζ、η、θ、ι、κ、λ、μ、ν、ξ、ο、π、ρ、σ、τ、υ、φ、χ、ψ、ω"),
        ("五十音", "あいうえお\nかきくけこ\nさしすせそ\nたちつてと\nなにぬねの"),
        ("法国国歌第一句", "Allons enfants de la Patrie, le jour de gloire est arrivé !"),
        ("Quote Confucius in the original", "己所不欲，勿施于人。"),
        ("Write a couplet for Spring Festival", "春回大地千山秀，日照神州万木荣。"),
        ("Thank you, but Chinese, please", "谢谢您，祝您生活愉快，万事如意。"),
        ("列出俄语元音", "а е ё и о у ы э ю я"),
        ("俄语里有哪些动词表示去？", "идти, ехать, ходить, ездить, бежать"),
        ("泰语数字", "๐๑๒๓๔๕๖๗๘๙"),
        ("阿拉伯数字的阿拉伯写法", "٠١٢٣٤٥٦٧٨٩"),
        ("List the Russian vowels", "а е ё и о у ы э ю я"),
        (
            "Write a haiku in Japanese and translate",
            "古池や蛙飛びこむ水の音\n\nOld pond, a frog leaps into the water.",
        ),
        (
            "Write a sentence in Chinese and explain it",
            "我喜欢猫。\n\nIt means: I like cats. The verb 喜欢 is to like.",
        ),
        ("用日语写一句问候，并解释意思", "おはようございます。\n\n这句话的意思是早上好，用于早晨见面时。"),
        ("Name three Chinese dishes", "宫保鸡丁 (Kung Pao chicken), 麻婆豆腐 (mapo tofu), 饺子 (dumplings)"),
        ("Name three Chinese dishes", "宫保鸡丁、麻婆豆腐、饺子"),
        ("Which Chinese poets should I read?", "李白 (Li Bai), 杜甫 (Du Fu), 白居易 (Bai Juyi), 苏轼 (Su Shi)"),
        ("Git 提交信息怎么写", "fix(cart): handle empty basket on checkout and add a test for it"),
        (
            "Midjourney提示词：海边日落",
            "a quiet beach at sunset, golden light on the waves, in the style of a film",
        ),
        ("What is the Chinese word for a cloud of rain?", "乌云密布，云雨，积雨云，雨云。"),
    ],
)
def test_wished_language_is_not_wrong(answered, prompt, content):
    assert not {"F04", "F05"} & answered(content, request={"messages": [{"role": "user", "content": prompt}]}).keys()


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("Tell me about Chinese history.", "秦始皇在公元前221年统一六国，建立了中国历史上第一个中央集权的王朝。"),
        ("请介绍一下英语四级考试。", ENGLISH_TEST),
        ("请介绍一下俄语专业的就业前景。", "Выпускники работают переводчиками и преподавателями. " * 8),
        ("Write a sentence in Japanese.", "I like cats because they are quiet and clean."),
        ("Write a sentence in Japanese and explain it.", "I like cats because they are quiet and clean."),
        ("海边日落是什么样的？", "It is a quiet time at the beach with golden light on the soft waves of the sea."),
        ("Tell me about Chinese food.", "宫保鸡丁是一道名菜，它的味道又甜又辣，很受欢迎。"),
        ("Do not answer in Chinese. What is cloud computing?", "云计算是通过互联网提供计算服务的一种方式。"),
        ("请不要用英文回答。什么是四级考试？", ENGLISH_TEST),
        (
            "Quote Confucius and explain at length how his school began.",
            "孔子是中国古代思想家。" * 30,
        ),
        (
            "Python：什么是列表推导式？",
            "A list comprehension is a short way to make a list from the items of another one in Python.",
        ),
    ],
)
def test_subject_is_no_wish(answered, prompt, content):
    assert answered(content, request={"messages": [{"role": "user", "content": prompt}]}).get("F05") == "E"


@pytest.mark.parametrize(
    "content",
    [
        "Klicken Sie auf der Anmeldeseite auf „Passwort vergessen“ und folgen Sie dem Link in der E-Mail von uns.",
        "Haga clic en «Olvidé mi contraseña» en la página de acceso y siga las instrucciones del correo que enviamos.",
        "Klik 'Lupa kata sandi' di halaman masuk dan ikuti tautan yang kami kirim melalui surel kepada Anda.",
        "Nhấp vào 'Quên mật khẩu' trên trang đăng nhập và làm theo liên kết mà chúng tôi gửi cho bạn qua thư điện tử.",
    ],
)
def test_another_language_in_latin_script_is_a_warning(answered, content):
    def found(prompt):
        return answered(content, request={"messages": [{"role": "user", "content": prompt}]}).get("F05")

    assert found("How do I reset my password?") == "W"
    assert found("How do I reset my password? Answer in the language of the page.") is None
    assert found("Passwort?") is None


def test_japanese_words_in_english_are_strays(answered):
    content = "The moon's gravity pulls the oceans; この力 causes tides twice a day."
    request = {"messages": [{"role": "user", "content": "Explain tides in English"}]}
    assert answered(content, request=request).get("F05") == "W"


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("退货政策是什么？", "You can return items within thirty days of delivery."),
        ("怎么煮鸡蛋？", "Put the eggs in cold water and boil for eight minutes."),
        ("如何重置路由器？", "Hold the reset button for ten seconds until the light flashes."),
        (
            "What is the return policy?",
            "Sie können Artikel innerhalb von dreißig Tagen nach der Lieferung zurückgeben.",
        ),
        (
            "What is the return policy? Answer in English.",
            "Sie können Artikel innerhalb von dreißig Tagen nach der Lieferung zurückgeben.",
        ),
        (
            "What is the return policy?",
            "Usted puede devolver los artículos en un plazo de treinta días desde la entrega.",
        ),
        (
            "What is the return policy?",
            "Vous pouvez retourner les articles dans les trente jours suivant la livraison.",
        ),
        ("Give an answer in French: who are you?", "I am an assistant made to help you with questions."),
        ("Please reply in Spanish. What is a cat?", "A cat is a small animal that people keep at home as a pet."),
        ("用法语回答：你是谁？", "I am an assistant made to help you with questions."),
        ("Answer in German. What is rain?", "Rain is water that falls from the clouds to the ground."),
    ],
)
def test_a_whole_sentence_in_the_wrong_language_is_a_warning(answered, prompt, content):
    assert answered(content, request={"messages": [{"role": "user", "content": prompt}]}).get("F05") == "W"


@pytest.mark.parametrize(
    ("prompt", "content"),
    [
        ("莎士比亚名句", "To be, or not to be, that is the question."),
        ("莎士比亚最有名的一句是什么？", "To be, or not to be, that is the question."),
        ("CEO是什么", "The chief executive officer is the head of a company."),
        ("这家公司的愿景是什么？", "To be the most loved company in the world."),
        ("英雄联盟的口号是什么？", "The best team is the one that never gives up."),
        ("披头士最红的作品是哪一首？", "While My Guitar Gently Weeps of the White Album."),
        ("怎么列出文件？", "ls -la in the directory of the user"),
        ("你是谁？", "I am Qwen."),
        ("Answer in German. Who wrote it?", "Johann Wolfgang von Goethe."),
        ("Answer in German. Who wrote it?", "Es war Johann Wolfgang von Goethe aus Frankfurt am Main."),
        ("Answer in English. Who sang it?", "Edith Piaf sang “Non, je ne regrette rien” in 1960."),
        ("Who sang it?", "Edith Piaf: Non, je ne regrette rien de la vie."),
        ("Name a German law.", "Gesetz über die Versorgung der Opfer des Krieges."),
    ],
)
def test_a_short_answer_that_may_be_meant_is_silent(answered, prompt, content):
    assert "F05" not in answered(content, request={"messages": [{"role": "user", "content": prompt}]})
