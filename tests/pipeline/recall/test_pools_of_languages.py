"""Histories of one person in several languages, and requests that BM25 alone must answer."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pyarrow as pa
import pytest

from pipeline.recall.pools import PoolOptions, pools
from pipeline.terms import terms

Table = Callable[[list[dict[str, Any]]], pa.Table]

CHINESE = """
我上周六和妹妹去爬了香山,累死了。
听起来很不错!风景怎么样?
红叶特别漂亮,我们拍了很多照片。
我对花生过敏,所以点外卖都要问清楚。
明白了,推荐餐厅时我会避开这些。
下个月我要搬到杭州,新公司在西湖旁边。
恭喜!需要我帮你找房子吗?
我的猫叫团团,今年三岁了,最近不爱吃饭。
可能是天气太热,带它去看看医生吧。
医生说团团牙龈发炎,开了一周的药。
我妈妈的生日是十月十二号,想送她一条围巾。
丝绸围巾很适合秋天。
昨天晚上看了一部关于登月的纪录片。
我每天骑自行车上班,大概四十分钟。
"""
JAPANESE = """
先週の土曜日に妹と高尾山に登りました。
いいですね。頂上からの眺めはどうでしたか?
富士山がはっきり見えて、写真をたくさん撮りました。
私はそばアレルギーなので、外食のときはいつも確認しています。
わかりました。お店を選ぶときに気をつけますね。
来月、大阪に引っ越します。新しい会社は梅田にあります。
おめでとうございます!部屋探しを手伝いましょうか?
うちの猫の名前はモチで、三歳です。最近あまりご飯を食べません。
暑さのせいかもしれません。動物病院に連れて行ってください。
獣医さんによると、歯ぐきが腫れているそうです。薬を一週間分もらいました。
母の誕生日は十月十二日で、スカーフを贈ろうと思っています。
シルクのスカーフは秋にぴったりです。
昨日の夜、月面着陸のドキュメンタリーを見ました。
毎朝、自転車で四十分かけて通勤しています。
"""
KOREAN = """
지난 토요일에 여동생과 설악산에 올라갔어요.
좋네요! 경치는 어땠나요?
단풍이 예뻐서 사진을 많이 찍었어요.
저는 땅콩 알레르기가 있어서 외식할 때 늘 확인해요.
알겠습니다. 식당을 고를 때 조심할게요.
다음 달에 부산으로 이사해요. 새 회사는 해운대에 있어요.
축하해요! 집 구하는 것을 도와드릴까요?
우리 강아지의 이름은 보리이고 요즘 밥을 잘 안 먹어요.
더위 때문일 수 있으니 병원에 데려가 보세요.
수의사가 잇몸에 염증이 있다고 약을 줬어요.
엄마 생일에 스카프를 선물하고 싶어요.
비단은 가을에 잘 어울려요.
어젯밤에 달 착륙 다큐멘터리를 봤어요.
매일 아침 자전거로 출근해요.
"""
GERMAN = """
Letzten Samstag bin ich mit meiner Schwester auf die Zugspitze gestiegen.
Das klingt toll! Wie war die Aussicht?
Herrlich, wir haben viele Fotos gemacht.
Übrigens vertrage ich keine Erdnüsse, davon bekomme ich Ausschlag.
Gut zu wissen, ich achte bei Rezepten darauf.
Im nächsten Monat ziehe ich nach Leipzig um, dort beginnt meine neue Stelle.
Glückwunsch! Soll ich bei der Suche nach einer Wohnung helfen?
Unser Kater heißt Moritz und frisst seit Tagen schlecht.
Vielleicht liegt es an der Hitze, fragen Sie am besten eine Tierärztin.
Sie hat entzündetes Zahnfleisch gefunden und Tropfen verschrieben.
Meine Mutter wünscht sich zum Geburtstag einen Schal aus Seide.
Seidene Schals passen gut in den Herbst.
Gestern lief eine Dokumentation über die Mondlandung.
Ich fahre jeden Morgen mit dem Fahrrad ins Büro.
"""
SPANISH = """
El sábado pasado subí al Teide con mi hermana.
¡Qué bien! ¿Cómo eran las vistas?
Preciosas, hicimos muchas fotos desde la cima.
No como cacahuetes porque soy alérgica.
Entendido, lo tendré en cuenta con las recetas.
El mes que viene me mudo a Valencia, allí empieza mi nuevo trabajo.
¡Enhorabuena! ¿Te ayudo a buscar piso?
Nuestro gato se llama Bigotes y lleva días sin comer bien.
Quizá sea el calor, convendría llevarlo al veterinario.
Encontró una encía inflamada y recetó unas gotas.
A mi madre le quiero regalar una bufanda por su cumpleaños.
Las de seda quedan muy bien en otoño.
Anoche vi un documental sobre la llegada a la Luna.
Voy todas las mañanas al despacho en bicicleta.
"""
FRENCH = """
Samedi dernier, j'ai grimpé au Puy de Dôme avec ma sœur.
Super ! Comment était la vue ?
Magnifique, nous avons pris beaucoup de photos.
Je suis allergique aux arachides, je dois toujours vérifier les menus.
C'est noté, j'en tiendrai compte pour les recettes.
Le mois prochain, je déménage à Lyon, où commence mon nouvel emploi.
Félicitations ! Voulez-vous de l'aide pour trouver un appartement ?
Notre chat s’appelle Moustache et mange mal depuis quelques jours.
C'est peut-être la chaleur, allez voir un vétérinaire.
Il a trouvé une gencive enflammée et prescrit des gouttes.
Pour l'anniversaire de ma mère, je voudrais offrir une écharpe en soie.
La soie va bien avec l'automne.
Hier soir, j'ai regardé un documentaire sur l'alunissage.
Je vais au bureau à vélo tous les matins.
"""
RUSSIAN = """
В прошлую субботу мы с сестрой поднялись на Эльбрус.
Здорово! Какой был вид с вершины?
Потрясающий, сделали много фотографий.
У меня аллергия на арахис, поэтому я всегда проверяю состав.
Поняла, учту это в рецептах.
В следующем месяце я переезжаю в Казань, там начинается новая работа.
Поздравляю! Помочь с поиском квартиры?
Нашу собаку зовут Рекс, он уже несколько дней плохо ест.
Возможно, дело в жаре, покажите его ветеринару.
Он нашёл воспаление десны и выписал капли.
На день рождения мамы хочу подарить шёлковый платок.
Шёлк хорош осенью.
Вчера смотрел документальный фильм о высадке на Луну.
Каждое утро езжу в офис на велосипеде.
"""

HISTORIES = {
    "chinese": (
        CHINESE,
        {
            "我的猫叫什么名字?": 7,
            "我对什么食物过敏?": 3,
            "我下个月要搬去哪个城市?": 5,
            "妈妈的生日是几月几号?": 10,
            "我每天怎么去上班?": 13,
            "我和谁一起去爬山?": 0,
        },
    ),
    "japanese": (
        JAPANESE,
        {
            "猫の名前は何ですか?": 7,
            "何のアレルギーがありますか?": 3,
            "来月どこに引っ越しますか?": 5,
            "母の誕生日はいつですか?": 10,
            "どうやって通勤していますか?": 13,
            "妹とどの山に登りましたか?": 0,
        },
    ),
    "korean": (
        KOREAN,
        {
            "강아지는 이름이 뭐예요?": 7,
            "어떤 알레르기를 가지고 있나요?": 3,
            "이사할 도시는 어디예요?": 5,
            "생일에 무엇을 선물할까요?": 10,
            "자전거를 타고 어디에 가요?": 13,
        },
    ),
    "german": (
        GERMAN,
        {
            "Weshalb darf ich nicht eine einzige Erdnuss essen?": 3,
            "Wer sucht nach Wohnungen?": 6,
            "Welche Geburtstage stehen bevor?": 10,
            "Welche Dokumentationen habe ich gesehen?": 12,
            "Besitze ich Fahrräder?": 13,
            "Was machten meine Schwestern und ich am Wochenende?": 0,
        },
    ),
    "spanish": (
        SPANISH,
        {
            "¿A qué cosas soy alérgico?": 3,
            "¿Qué bufandas quería regalar?": 10,
            "¿Cuándo tengo que mudarme a otra ciudad?": 5,
            "¿Cómo se llaman los gatos de casa?": 7,
            "¿Qué documentales hay?": 12,
            "¿Tengo bicicletas?": 13,
        },
    ),
    "french": (
        FRENCH,
        {
            "Quelles sont mes allergies ?": 3,
            "Quand est-ce que nous allons déménager ?": 5,
            "Comment s'appellent nos chats ?": 7,
            "Quels anniversaires faut-il préparer ?": 10,
            "Quels documentaires avons-nous regardés ?": 12,
            "Est-ce qu'une écharpe lui plairait ?": 10,
        },
    ),
    "russian": (
        RUSSIAN,
        {
            "Какая кличка у нашей собаки?": 7,
            "Какие продукты вызывают аллергию?": 3,
            "В какой город мы переезжаем?": 5,
            "Есть ли у меня велосипед?": 13,
            "Какие документальные фильмы я видел?": 12,
            "Где я был с моими сёстрами в субботу?": 0,
        },
    ),
}


@pytest.mark.flash
@pytest.mark.parametrize("language", HISTORIES)
def test_requests_in_a_language_find_their_evidence_first_by_its_words_in_other_forms(
    turn_table: Table, request_table: Table, language: str
) -> None:
    text, evidence = HISTORIES[language]
    said = text.split("\n")[1:-1]
    turns = turn_table([{"at": (language, k // 4, k % 4), "text": turn} for k, turn in enumerate(said)])
    requests = request_table([{"id": asked, "history": language, "text": asked} for asked in evidence])
    found, _ = pools(requests, turns, terms(turns), None, None, PoolOptions(channels=("bm25",)))
    first = {
        row["request_id"]: 4 * row["session_index"] + row["turn_index"]
        for row in found.to_pylist()
        if row["bm25_rank"] == 1
    }
    assert first == evidence
