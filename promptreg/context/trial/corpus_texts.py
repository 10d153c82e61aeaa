"""Pieces that generated conversations are put together from, in both languages.

Numbers in them have at most 3 digits, so that no planted value can occur by chance.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, TypeAlias

Script: TypeAlias = Literal["en", "zh"]
"""What a generated conversation is written in."""


@dataclass(frozen=True, slots=True)
class Texts:
    """What one language offers. Sentences are `first` + `second` + `third`."""

    first: tuple[str, ...]
    second: tuple[str, ...]
    third: tuple[str, ...]
    asks: tuple[str, ...]
    """Questions; `{}` is the topic."""
    asks_code: str
    asks_tool: str
    topics: tuple[str, ...]
    thinks: tuple[str, ...]
    """How reasoning begins."""
    after_tools: str
    rules: str
    """How the system message begins."""
    states: tuple[str, ...]
    """Values in tool results."""
    comment: str
    """What stands in code."""


ENGLISH: Final = Texts(
    first=(
        "The warehouse",
        "Our carrier",
        "The night shift",
        "A second supplier",
        "The invoice desk",
        "Your account manager",
        "The repair team",
        "Most of the branches",
        "The old scanner",
        "Every returned parcel",
        "The new label printer",
        "Our quality office",
    ),
    second=(
        " will look at",
        " has to confirm",
        " usually waits for",
        " can only start with",
        " should first collect",
        " sends a copy of",
        " keeps a record of",
        " needs two days for",
        " asks the customer about",
        " prepares",
        " sorts by hand",
        " compares",
    ),
    third=(
        " the packing list, because the weights differ from what the form says.",
        " the photos of the damaged box before anything else is decided.",
        " the signed form, and then the amount goes back to the card that was used.",
        " a free slot in the morning; afternoons are taken by larger deliveries.",
        " the spare parts that came without a note, which happens more often than it should.",
        " the test protocol, so nobody has to open the device again.",
        " the list of open questions and answers the simple ones within the hour.",
        " the temperature log, since the goods must stay between {a} and {b} degrees.",
        " {a} of the {b} crates, and the others follow with the next truck.",
        " the route over the northern depot; it is longer but never closed.",
        " the shelf plan 📦 and moves what is asked for most to the front.",
        " the complaint, with a short answer in plain words and no promises.",
    ),
    asks=(
        "What happens next with {}?",
        "Could you explain once more how {} works for us?",
        "I am still unsure about {}. What would you do?",
        "Please sum up what matters about {}.",
        "Is there anything new about {}?",
        "My colleague says that {} was handled differently last time, is that so?",
    ),
    asks_code="Can you write a small function for {}?",
    asks_tool="Please look up {} for me.",
    topics=(
        "the delayed delivery",
        "the broken scanner",
        "the returns of last week",
        "the stock count",
        "the cooling chain",
        "the customs papers",
        "the price list",
        "the shift plan",
        "the spare parts",
        "the packing material",
        "the complaint of a branch",
        "the label format",
    ),
    thinks=("The user asks about {}. ", "I should check {} before answering. ", "This concerns {}. "),
    after_tools="I looked it up. ",
    rules="You are the assistant of a trading company with a warehouse. Answer briefly and in plain words. ",
    states=("open", "waiting", "packed", "returned", "in repair", "closed"),
    comment="adds up what is left",
)

CHINESE: Final = Texts(
    first=(
        "仓库",
        "我们的承运商",
        "夜班同事",
        "第二家供应商",
        "开票组",
        "您的客户经理",
        "维修小组",
        "大部分门店",
        "旧的扫描枪",
        "每一件退回的包裹",
        "新的标签打印机",
        "质检办公室",
    ),
    second=(
        "会先查看",
        "需要确认",
        "通常要等待",
        "只能先处理",
        "应当先收集",
        "会抄送",
        "会登记",
        "要用两天整理",
        "会向客户询问",
        "正在准备",
        "手工分拣",
        "会核对",
    ),
    third=(
        "装箱单，因为重量与表单上写的不一致。",
        "破损纸箱的照片，然后才能决定下一步。",
        "签好字的表格，之后款项会退回原来的银行卡。",
        "上午的空档，下午通常留给大件配送。",
        "没有附说明的备件，这种情况比想象的要多。",
        "测试记录，这样就没有人需要再拆一次设备。",
        "未解决的问题清单，简单的问题一小时内答复。",
        "温度记录，货物必须保持在{a}到{b}度之间。",
        "{b}箱里的{a}箱，其余的随下一辆车送到。",
        "经过北部中转站的路线，虽然远一些，但从不封路。",
        "货架图📦，并把最常用的东西移到前面。",
        "这份投诉，用简单的话回复，不作任何承诺。",
    ),
    asks=(
        "{}接下来怎么办？",
        "能再解释一下{}是怎么处理的吗？",
        "关于{}我还是不太确定，您会怎么做？",
        "请总结一下{}的重点。",
        "{}有什么新进展吗？",
        "同事说{}上次不是这样处理的，是吗？",
    ),
    asks_code="能为{}写一个小函数吗？",
    asks_tool="请帮我查一下{}。",
    topics=(
        "延误的配送",
        "坏掉的扫描枪",
        "上周的退货",
        "库存盘点",
        "冷链",
        "报关文件",
        "价目表",
        "排班表",
        "备件",
        "包装材料",
        "门店的投诉",
        "标签格式",
    ),
    thinks=("用户在问{}。", "回答之前应当先核对{}。", "这与{}有关。"),
    after_tools="已经查到了。",
    rules="你是一家有仓库的贸易公司的助理。回答要简短，用平实的语言。",
    states=("待处理", "等待中", "已打包", "已退回", "维修中", "已关闭"),
    comment="把剩下的加起来",
)

BY_SCRIPT: Final = {"en": ENGLISH, "zh": CHINESE}
