"""Names that Chinese text cannot show by capital letters, surnames and titles, and plain words that begin sentences."""

from __future__ import annotations

from typing import Final

# Written as running text, which is easier to read and to add to than a list of quoted words.
_PLACES: Final = (
    "中国 美国 英国 法国 德国 日本 韩国 朝鲜 印度 巴西 秘鲁 智利 阿根廷 墨西哥 加拿大 澳大利亚 新西兰 俄罗斯 "
    "乌克兰 意大利 西班牙 葡萄牙 荷兰 比利时 瑞士 瑞典 挪威 丹麦 芬兰 冰岛 波兰 捷克 奥地利 匈牙利 希腊 土耳其 "
    "埃及 肯尼亚 加纳 南非 尼日利亚 埃塞俄比亚 摩洛哥 以色列 伊朗 伊拉克 沙特 阿联酋 卡塔尔 泰国 越南 新加坡 "
    "马来西亚 印度尼西亚 印尼 菲律宾 柬埔寨 老挝 缅甸 巴基斯坦 孟加拉国 哈萨克斯坦 蒙古 爱尔兰 罗马尼亚 古巴 "
    "哥伦比亚 北京 上海 天津 重庆 广州 深圳 杭州 南京 苏州 无锡 宁波 温州 成都 武汉 西安 长沙 郑州 济南 青岛 "
    "大连 沈阳 长春 哈尔滨 石家庄 太原 合肥 南昌 福州 厦门 昆明 贵阳 南宁 海口 三亚 兰州 西宁 银川 乌鲁木齐 拉萨 "
    "呼和浩特 香港 澳门 台北 高雄 台湾 珠海 佛山 东莞 常州 徐州 烟台 洛阳 桂林 广东 广西 浙江 江苏 福建 山东 "
    "山西 河南 河北 湖南 湖北 江西 安徽 四川 贵州 云南 陕西 甘肃 青海 辽宁 吉林 黑龙江 内蒙古 新疆 西藏 宁夏 "
    "海南 东京 大阪 京都 名古屋 首尔 釜山 曼谷 河内 新德里 孟买 迪拜 伦敦 巴黎 柏林 慕尼黑 汉堡 法兰克福 罗马 "
    "米兰 马德里 巴塞罗那 里斯本 阿姆斯特丹 鹿特丹 布鲁塞尔 日内瓦 苏黎世 维也纳 布拉格 华沙 莫斯科 基辅 雅典 "
    "开罗 纽约 华盛顿 旧金山 洛杉矶 芝加哥 波士顿 西雅图 多伦多 温哥华 悉尼 墨尔本 长江 黄河 珠江 欧洲 亚洲 非洲 "
    "美洲 大洋洲 欧盟 联合国 世界卫生组织 世卫组织 北约"
)
_FIRMS: Final = (
    "微软 谷歌 苹果公司 亚马逊 甲骨文 英特尔 英伟达 高通 三星 索尼 丰田 本田 大众汽车 宝马 奔驰 特斯拉 华为 小米 "
    "阿里巴巴 阿里云 腾讯 百度 京东 拼多多 字节跳动 抖音 美团 滴滴 网易 联想 比亚迪 宁德时代 中兴 海尔 格力 昇腾 "
    "支付宝 微信 淘宝 天猫 顺丰 国药 科兴 辉瑞 莫德纳 新华社 路透社 彭博社 法新社 美联社 故宫 国务院 外交部 央行 "
    "证监会 教育部 财政部 商务部 卫健委 发改委 深度求索 通义千问"
)
_TITLES: Final = (
    "先生 女士 小姐 太太 医生 大夫 教授 博士 老师 律师 法官 经理 总监 主任 院长 校长 部长 市长 省长 主席 总统 "
    "总理 总裁 董事长 书记 警官 师傅 同学 教练 工程师"
)
_ORGANISATIONS: Final = (
    "有限责任公司 股份有限公司 有限公司 公司 集团 银行 大学 学院 中学 小学 医院 法院 检察院 律师事务所 "
    "会计师事务所 事务所 研究院 研究所 实验室 委员会 协会 学会 基金会 联合会 博物馆 博物院 图书馆 美术馆 体育馆 "
    "体育场 出版社 通讯社 日报 晚报 电视台 机场 火车站 高铁站 公园 广场 大厦 大道 交易所 证券 保险 药业 科技 "
    "俱乐部 大桥 半岛 群岛 自治区 特别行政区"
)
_GENERIC_ORGANISATIONS: Final = (
    "一个 一家 一所 上市 专业 两家 中级 人寿 人民 他们 任何 你们 保险 信息 全 其他 其它 几家 分 初级 医学 医疗 "
    "各 商业 国内 国际 外国 多家 大 大型 子 小 小型 开 当地 快递 总 我 我们 户 所有 手机 新 旧 最高 有关 本 某 "
    "某家 此 母 物业 物流 相关 社会 科技 综合 网络 老 自然 该 财产 贵 这 这家 那 那家 附近 高等"
)
_COMMON: Final = (
    "a about above absolutely according account accounts across actually add additional additionally adults "
    "after afterwards again age ago ahead all allow almost alone along already also alternatively although "
    "always among amount an and another answer any anybody anyone anything anyway apart apologies apply "
    "approximately are aren't around arrive article as ask asked at available average avoid away back bad bags "
    "banks based basically battery be because become been before begin beginning behind being below benefits "
    "beside besides best better between beyond big bit blood boil bonus book booking both bottom bread breakfast "
    "bring but button buy by bye cables call can can't cancel candidates card cardholders care case cash cats "
    "certain certainly change changes charge cheap check child children children's choose class clean clear "
    "click close code coffee come compare complete compress conclusion confirm congratulations connect "
    "consequently consider contact content contents continue contract copy correct cost costs could couldn't "
    "count create currently customer customers cut daily data date day days dear decide definitely delete "
    "deliver delivery dentist depending deposit despite did didn't dinner disk do doctor does doesn't dog dogs "
    "don't double down download drink drive driver drivers drop during each earlier early earth easy eat eggs "
    "either else email employees employers empty end enjoy enough ensure enter especially essentially even "
    "eventually ever every everybody everyone everything exactly example excellent except exchange expect "
    "experts explain extra fact farmers fees few file files final finally find fine finish first fish five "
    "flight flights follow following food for forget form four free from front full further furthermore future "
    "general generally get getting give given go going good got great greetings groups growth guest guests had "
    "half happy hard has have haven't having he health heat heavy hello help hence her here here's hi high his "
    "hold home hope hotel hour hours house how however hundred i i'd i'll i'm i've if image imagine immediately "
    "important in include indeed infection inflation information initially input insert inside install instead "
    "interest interested into investors invoice is isn't issue it it's item items its job join just keep key "
    "kids kind kindly know land large last late later latest law lawyers lead learn least leave left legal less "
    "let let's letter level life light like likewise limit line list little live local log long look looking "
    "lost lots low luckily luggage lunch machine mail main maintenance make making many market maybe me mean "
    "means meanwhile measure meat medical medicine meet meeting members memory men message method might milk "
    "mind minor minute mix mobile model moment money month months more moreover morning most mostly move much "
    "must my name namely near nearly need never nevertheless new news next nice night nine no nobody none nor "
    "normal normally not note nothing notice now number nurses obviously of off offer often oil okay old on once "
    "one online only open opening option optional options or order orders original other others otherwise our "
    "out outside over overall own owner package page paid parcel parents parking part particularly parties "
    "partly party pass passengers passport password past patient patients pay payday payment payments people per "
    "perhaps period person pets phone pick place plan plans plants play please plenty plug point police policy "
    "possible possibly post press pretty previous previously price prices print privacy probably problem process "
    "product products project proper provide pull purchase push put question questions quick quickly quite rain "
    "rate rather read ready really reason recent recently refund refunds regarding regardless regular related "
    "remember remove reply report reports request requests required reset residents restart result results "
    "return returns review rice right river road room roughly rule run safe safety sales salt same save say scan "
    "school schools score search seats second security see seems seen select sell send sensitive sentence "
    "separately server service set settings seven several she ship shipping shop short should show side sign "
    "similar similarly simple simply since single sir sit six size sleep slow slowly small smart smoking so some "
    "somebody someone something sometimes soon sorry sort speak special specifically speed staff standard start "
    "state statement status stay step steps still stir stock stop storage store strong student students study "
    "submit such suddenly sugar suggest summary summer support supposedly sure surprisingly switch system table "
    "tables tablets take talk tank tanks tap target tax tea teachers team technically ten tenants test text than "
    "thank thanks that that's the their them then there there's therefore these they they're thing things think "
    "this those though three through throughout thus ticket tickets time times tip tips to today together token "
    "tomorrow tonight too tools top total tourists towards track traffic train training transfer travel "
    "travellers trip true truly try turn turning two type types typically under understand unfortunately unless "
    "unlike unplug until up update upload upon us use used user users using usually value various vary version "
    "very via video view visa visit visitors volunteers vote wait walk want warm warning warranty was wash "
    "wasn't watch water way we we'll we're we've weather week weekly weeks weigh weight welcome well were what "
    "what's whatever when whenever where whereas wherever whether which while white who whoever whole whose why "
    "will wind window winter with within without witnesses women won't wonderful word words work workers working "
    "works would write wrong year years yes yesterday yet you you'll you're you've young your yours zero"
)
_NO_ACRONYMS: Final = (
    "A ALL ALWAYS AM AND ASAP DO ETA FAQ FOR FYI I IF IMPORTANT IN IS IT MUST N/A NEVER NO NOT NOTE OF OK ONLY "
    "OR PLEASE PM PS STOP SUMMARY THAT THE THIS TIP TIPS TO TODO TOTAL WARNING YES YOU"
)

PLACES: Final = tuple(_PLACES.split())
"""Countries, regions, large cities, rivers, unions of states."""

FIRMS: Final = tuple(_FIRMS.split())
"""Firms, agencies, ministries and products that everybody writes about."""

TITLES: Final = tuple(_TITLES.split())
"""What follows a surname."""

ORGANISATIONS: Final = tuple(_ORGANISATIONS.split())
"""Ends of names of organisations and places, longer than one character."""

GENERIC_ORGANISATIONS: Final = frozenset(_GENERIC_ORGANISATIONS.split())
"""What stands before such an end without making a name of it."""

COMMON: Final = frozenset(_COMMON.split())
"""Words that a capital at the beginning of a sentence does not make a name."""

NO_ACRONYMS: Final = frozenset(_NO_ACRONYMS.split())
"""Words in capitals that name nothing."""

TRANSLITERATION: Final = (
    "阿埃艾奥巴贝伯卑波博布查德狄迪丁杜厄恩尔菲费弗福盖戈格根哈赫霍基吉贾杰卡凯柯科克拉莱兰劳勒雷里莉丽琳卢鲁陆伦罗洛马玛"
    "曼梅蒙米密莫姆穆纳娜尼妮涅努诺欧帕佩皮珀普齐乔琼萨塞桑瑟莎沙舍圣斯丝苏索塔泰特蒂廷托瓦威维韦温沃乌西希锡谢辛雅亚耶伊尤扎詹泽兹佐"
)
"""Characters with which foreign names are written by sound; three or more in a row are seldom anything else."""

SURNAMES: Final = (
    "王李张刘陈杨赵黄周吴徐孙胡朱林何郭罗梁宋郑谢韩唐冯董萧程曹袁邓傅沈曾彭吕苏卢蒋蔡贾丁魏薛叶"
    "阎余潘杜戴夏钟汪田任姜范姚谭廖邹熊陆郝孔崔康邱秦顾侯邵孟龙段雷钱汤尹黎武贺赖龚"
)
"""Frequent surnames that are seldom the first character of another word before a title."""
