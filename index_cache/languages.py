"""Which language a text is in: what its author says, else what its function words tell.

Only for words in Latin letters, since those are stemmed by their language. A guess is a count of
different function words in a text's beginning, few a language: what a note of one sentence has.
English is what nothing speaks against, since notes are full of its words whatever they are written
in; but a text with many diacritics and no such words is in a language that is not known here, and
should not be stemmed.

Nothing is imported, and the lists are strings, split when first needed: the prompt path loads this.
"""

from __future__ import annotations

ENGLISH = "en"
UNKNOWN = ""

# Words of grammar alone: lower case, diacritics precomposed. A guess that two languages have equal
# reasons for is the one that comes first.
FUNCTION_WORDS: dict[str, str] = {
    "en": """a an and are as at be but by can do for from has have how if in is it not of on or
        should that the this to was we were what when where which why will with you your""",
    "de": """der die das den dem des und ist sind nicht ein eine einen einer zu mit von für auf im
        in sich wird werden auch als bei oder aus nach wenn kann wie wo es zum zur dass ich
        wir""",
    "fr": """le la les l d qu des du de un une et est que qui dans pour sur par avec pas ne se ce
        cette au aux il elle nous vous on ou où sont en plus comme être si""",
    "es": """el la los las de del que y en un una es por con para se no su sus al lo como más pero
        o este esta son ser está cuando donde cómo qué también si sin hay""",
    "pt": """o a os as de do da dos das que e em um uma é para com não se por na no nas nos ao
        mais como mas ou são ser está quando onde sem seu sua também""",
    "it": """il lo la l i gli le di del dell della dei delle che e è un una in per con non si da
        dal nel nella come più ma o sono essere questo questa quando dove al alla anche""",
    "nl": """de het een en van in is dat die niet te op met voor zijn aan er om als ook bij naar
        of uit door maar wordt worden kan deze dit je ik hoe waar wanneer wij""",
    "pl": """i w z na do nie się jest to że o jak dla od po za przez oraz lub są który która które
        ale czy tym co gdy jeśli może być tego jego tylko już gdzie""",
    "sv": """och att det som en ett på är av för med den till i inte om har de vi kan ska från
        eller när hur man vid efter också sig blir jag där vad blev hade du mer""",
    "da": """og at det er en et på af for med den til i ikke som om har de vi kan skal fra eller
        når hvordan man ved efter sig bliver jeg hvor hvad blev nogle noget mere kun op være""",
    "no": """og at det er en et på av for med den til i ikke som om har de vi kan skal fra eller
        når hvordan man ved etter seg blir jeg hvor hva ble noen noe mer enn opp være""",
    "fi": """ja on ei se että joka ovat oli tai myös kun kuin mutta sen niin jos tämä tämän voi
        ole olla hän mitä miten missä mikä jotka jonka kanssa sekä vain sitä voidaan""",
    "cs": """a v se na je že s z do o k i pro jako ale to jsou nebo který která které od po za při
        ve jak pokud může být není také jeho této tento když kde podle""",
    "ro": """și şi în de la cu pe nu este un o care că să din pentru se sunt sau mai ca dar dacă
        al ale ai fi prin după când cum unde acest această fost""",
    "hu": """a az és hogy nem is egy van ha de meg csak ez vagy mint kell akkor már volt ezt azt
        után lehet minden amely aki még nincs hogyan hol mert szerint által""",
    "tr": """ve bir bu için ile da de ne olarak olan daha gibi çok en değil mi veya ya ki ama
        kadar sonra her ise nasıl nerede şu tarafından olduğu eğer""",
    "id": """yang dan di ke dari untuk dengan ini itu pada tidak adalah dalam akan atau juga oleh
        sebagai dapat bisa telah sudah jika karena ada kita anda saya bagaimana apa mana agar
        hanya""",
    "vi": """và của là các có cho không được trong một những với để này khi từ đã trên như hoặc về
        bạn nếu đến cũng bằng ra sẽ thì phải nào tại bị hay""",
    "ca": """el la els les l d de del dels que i en un una és són per amb no es al com més però o
        ser està quan on què també si sense aquest aquesta entre hi ha pel""",
    "et": """ja on ei see et ka mis kui oli oma või aga siis kes ning nii seda selle kas ta mitte
        pole võib saab kuidas kus millal pärast vaid juba veel neid""",
    "lt": """ir yra į kad su iš tai ar kaip bet ne tik nuo už per apie jo buvo gali arba jei kai
        kuris kuri pagal prie iki dėl būti šis ši taip kur jau""",
    "eu": """eta da ez bat dira ere du hau hori baina dute edo izan zen behar nola non zer bere
        den ditu duen daiteke bezala arte gisa hauek dago""",
    "ga": """agus an na is ar i le go tá ní sé sí do ag a de nó seo sin mar níl bhí ach leis chun
        faoi ó é iad gach conas cén nach raibh""",
    "ru": """и в во не на с со к у о от до из за по для что это как а но или если то же бы был
        была быть есть он она они мы вы я так при где когда""",
    "uk": """і й в у не на з із до що це як а але або якщо та є для від по за про при він вона
        вони ми ви я був була бути де коли чи так""",
    "el": """ο η το οι τα του της των τον την στο στη στην και να με για από που είναι δεν θα σε
        ένα μια αυτό ως ή αν πώς πότε πού γιατί τι""",
    "ar": """من في على إلى عن مع هذا هذه ذلك التي الذي أن إن أو ثم لا لم لن ما هل كيف متى أين
        لماذا هو هي كان كانت قد كل بين عند بعد قبل حتى إذا لكن أي""",
    "fa": """و در به از که این آن را با است برای یا تا هم نیز شود شده کرد بود نیست باید اگر چه چرا
        چگونه کجا هر یک بر ما من شما های می""",
    "he": """של את על לא זה זו הוא היא אם או כי גם עם אל מה איך למה איפה מתי יש אין אני אתה אנחנו
        הם כל כמו רק אבל אשר היה""",
    "hi": """का के की को में है हैं से और पर यह वह एक कि नहीं जो तो भी या
        ने कैसे क्या क्यों कब कहाँ था थे इस उस लिए साथ होता करें""",
    "ko": """그리고 또는 하지만 이 그 저 것 수 및 때 등 위해 대한 어떻게 왜
        무엇 어디 언제 있다 없다 있는 하는""",
}

# More words for guesses, too many to be left out of queries; and languages that would be taken for
# another.
_MORE_WORDS = {
    "de": """dieser diese dieses diesem diesen muss müssen hat haben noch nur vor alle durch wurde
        wurden darf soll sollte können beim vom sowie jedoch bitte keine""",
    "fr": """leur leurs cet même fait doit peut peuvent avoir été sera ses sa vos votre car ainsi
        aussi donc entre chaque lors très toutes""",
    "es": """fue han ha sido puede pueden debe cada todos todas desde hasta sobre muy otro otra
        ese esa cual sólo solo tiene ya tu""",
    "pt": """foi pode podem deve cada todos todas desde até sobre muito outro outra esse essa este
        esta isso já você tem só pelo pela num seus""",
    "it": """sul sulla dalla degli può possono deve ogni tutti tutte stato stata fare ha hanno
        molto altro altri quello così già solo questi tra ed tuo""",
    "nl": """heeft hebben hun moet moeten kunnen alle alleen geen nog tot tussen onder uw tijdens
        zoals veel andere omdat zich hebt bent""",
    "sv": """alla detta denna dessa måste bara över under mellan utan sin sitt sina inga ingen
        något några din ditt kunde skulle finns""",
    "da": """alle dette denne disse må over under mellem uden mod din dit deres ingen fejl hvis
        gennem kunne skulle vil samme ind findes""",
    "no": """alle dette denne disse må bare over under mellom uten din ditt deres ingen hvis å
        frå eit ein ikkje kunne skulle vil samme inn ut bli blitt nye nå kun finnes""",
    "fi": """eivät pitää täytyy kaikki näiden tällä joko vielä sinun hyvin ennen jälkeen sitten
        voit voivat niitä siitä""",
    "pl": """tej ten te został została należy można musi możesz aby jej ich więc przed przy pod
        jako każdy wszystkie bardzo proszę""",
    "cs": """byl byla bylo musí lze až než jen ani více mezi před všechny má aby prosím tuto
        těchto můžete bude budou jste""",
    "ro": """trebuie poate pot fie toate doar fără între acestei aceste are vă dvs ar lor despre
        către astfel""",
    "hu": """ezek azok ami amelyet legyen lesz kérem lett között alapján így egyik összes ön ennek
        be ki""",
    "tr": """bunu bunlar olmalıdır olmalı önce tüm edilen ederek lütfen hiçbir birden fazla aynı
        yeni değildir olduğunu zaten""",
    "id": """harus saja tetapi namun semua setelah sebelum ketika antara setiap para lain maka pun
        sangat belum serta lagi silakan berikut hal menjadi""",
    "vi": """tôi chúng rằng còn vào nhiều nhưng nên hơn qua tất cả mỗi cần hãy giữa""",
    "ca": """fou pot poden han estat aquests cada tots totes fins sobre molt altre altra seu seva
        teu ja quin ús""",
    "et": """peab tuleb ära kõik palun enne ole olla kuna sellest oleks teie üks ainult""",
    "lt": """turi turite šią šį visi visus prašome negali būtų bei tarp prieš nėra jūsų jūs šiuo
        kuriuos""",
    "eu": """baino beste batzuk honetan zure zuen dagoen ditugu egin gabe guztiak daude dituzte
        mesedez bitartean ezin zaude ondoren""",
    "ga": """chuig tar éis ina lena fuair gur gurb don den ann atá gan idir nuair ár bhur""",
    "is": """og að er ekki sem það til með við um þú fyrir eða hefur verið eru var frá hér ef en
        sé þetta þessi""",
    "lv": """un ir nav ar lai par no uz kas vai jūs jūsu tas šis šo pēc pie līdz kā bet arī tiek
        tika būt""",
}

# Letters that tell which of two languages with much the same words it is.
_LETTERS = {
    "de": "äöüß",
    "fr": "éèêàçœùûîô",
    "es": "áéíóúñ¿¡",
    "pt": "ãõçáéíóúâê",
    "it": "àèéìòù",
    "pl": "ąćęłńóśźż",
    "sv": "åäö",
    "da": "æøå",
    "no": "æøå",
    "fi": "äö",
    "cs": "áčďéěíňóřšťúůýž",
    "ro": "ăâîșțşţ",
    "hu": "áéíóöőúüű",
    "tr": "çğıöşü",
    "vi": "ăâđêôơưạảấầếềểệịọốồộớờợụủứừữự",
    "ca": "àçèéíòóúï",
    "et": "äõöü",
    "lt": "ąčęėįšųūž",
    "ga": "áéíóú",
}
# What speaks for English alone, or for nothing: these stand in English notes too.
_NOT_TELLING = """a ai az bat ca care co come del die do door go ha her hi ho i jest kde man
    mar met mi no non op os per plus pro see sense sig so til war"""

_LOOKED_AT = 700  # characters
_FENCE = "```"
_CLEARLY_ENGLISH = 4  # different words
_ENGLISH_TO_ONE = 4  # as many for one that English has not
_FEWEST = 2  # different words, or a word and letters, that English has not
_WORD_TO_LETTER = 2  # a word's evidence in letters, to tell languages from each other
_NEARLY = 2  # no language with less than the most words by this can be it
_ACCENTED = 0.02  # of a text's Latin letters, to be no English
_ASCII_LETTERS = b"abcdefghijklmnopqrstuvwxyz"
# How letters begin in UTF-8: Latin ones with diacritics; then those of other scripts.
_LATIN = (b"\xc3", b"\xc4", b"\xc5", b"\xc6", b"\xc7", b"\xc8", b"\xc9", b"\xe1\xba", b"\xe1\xbb")
_OTHER_SCRIPT = bytes((*range(0xCE, 0xE1), *range(0xE3, 0xEE)))
_COMBINING = "\u0300\u0301\u0302\u0303\u0306\u0307\u0308\u030a\u030b\u030c\u0327\u0328"

# Languages that are not written in Latin letters: words of these in their texts are English.
_OTHER_LETTERS = """ab am ar as av ba be bg bn bo ce ckb cv dv dz el fa gu he hi hy ja ka kk
    km kn ko ks kv ky lo mk ml mn mr my ne or os pa ps ru sa sd si ta te tg
    th ti ug uk ur yi yue zh"""

_TWO_LETTERS = """aa ab ae af ak am an ar as av ay az ba be bg bi bm bn bo br bs ca ce ch co cr
    cs cu cv cy da de dv dz ee el en eo es et eu fa ff fi fj fo fr fy ga gd gl gn gu gv ha he hi ho
    hr ht hu hy hz ia id ie ig ii ik io is it iu ja jv ka kg ki kj kk kl km kn ko kr ks ku kv kw ky
    la lb lg li ln lo lt lu lv mg mh mi mk ml mn mr ms mt my na ne ng nl no nr nv ny oc oj om or os
    pa pi pl ps pt qu rm rn ro ru rw sa sc sd se sg si sk sl sm sn so sq sr ss st su sv sw ta te tg
    th ti tk tl tn to tr tt tw ty ug uk ur uz ve vi vo wa wo xh yi yo za zh zu"""
# Three letters that are no language: values that say none, and what notes about programs say.
_NO_LANGUAGE = """all any asm avr awk bat bsd cmd cpp cob css csv cue dot elm erl fsx git gls
    gnu hcl htm ini ipc jsx lua mdx mis mul nan nil nim nix non off opa org pas php pro sas sed
    sql svg tbd tcl tex toml tsv tsx txt und vba vim xml yes yml yul zig zsh zxx"""
# Other codes and names, each with what it stands for.
_OTHERWISE = """nb:no nn:no nob:no nno:no nor:no iw:he in:id ji:yi cmn:zh eng:en deu:de ger:de
    fra:fr fre:fr spa:es por:pt ita:it nld:nl dut:nl swe:sv dan:da fin:fi pol:pl ces:cs cze:cs
    ron:ro rum:ro hun:hu tur:tr ind:id cat:ca est:et lit:lt eus:eu baq:eu gle:ga vie:vi epo:eo
    rus:ru ukr:uk ell:el gre:el ara:ar fas:fa per:fa heb:he hin:hi kor:ko jpn:ja zho:zh chi:zh
    slk:sk slo:sk slv:sl hrv:hr srp:sr bos:bs bul:bg mkd:mk mac:mk lav:lv isl:is ice:is glg:gl
    afr:af sqi:sq alb:sq cym:cy wel:cy msa:ms may:ms tha:th ben:bn urd:ur tam:ta tel:te mar:mr
    hye:hy arm:hy kat:ka geo:ka bel:be kaz:kk mon:mn lat:la swa:sw nep:ne english:en german:de
    deutsch:de french:fr français:fr francais:fr spanish:es español:es espanol:es castellano:es
    portuguese:pt português:pt portugues:pt italian:it italiano:it dutch:nl nederlands:nl
    flemish:nl swedish:sv svenska:sv danish:da dansk:da norwegian:no norsk:no bokmål:no nynorsk:no
    finnish:fi suomi:fi polish:pl polski:pl czech:cs čeština:cs cestina:cs romanian:ro română:ro
    romana:ro hungarian:hu magyar:hu turkish:tr türkçe:tr turkce:tr indonesian:id catalan:ca
    català:ca valencian:ca estonian:et eesti:et lithuanian:lt lietuvių:lt basque:eu euskara:eu
    irish:ga gaeilge:ga vietnamese:vi esperanto:eo russian:ru русский:ru ukrainian:uk українська:uk
    greek:el ελληνικά:el arabic:ar العربية:ar persian:fa farsi:fa فارسی:fa hebrew:he עברית:he
    hindi:hi हिन्दी:hi korean:ko 한국어:ko japanese:ja 日本語:ja chinese:zh mandarin:zh 中文:zh
    简体中文:zh 繁體中文:zh slovak:sk slovenčina:sk slovenian:sl slovenščina:sl croatian:hr
    hrvatski:hr serbian:sr bulgarian:bg български:bg latvian:lv icelandic:is íslenska:is
    galician:gl galego:gl afrikaans:af malay:ms thai:th ไทย:th bengali:bn urdu:ur tamil:ta"""
_LONGEST_NAME = 40  # characters
_LONGEST_SUBTAG = 8  # characters
_LONG_CODE = 3  # letters


class _Lists:
    """What is looked up: made when first needed, then kept."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}  # codes by code and name
        self.words: dict[str, frozenset[str]] = {}  # by code
        self.english: frozenset[str] = frozenset()  # words that no other language has
        self.others: frozenset[str] = frozenset()  # words that English has not
        self.all: frozenset[str] = frozenset()

    def fill_names(self) -> None:
        """Make what tells a language by its names."""
        names = {code: code for code in _TWO_LETTERS.split()}
        names.update(dict.fromkeys(_NO_LANGUAGE.split(), ""))
        for known in _OTHERWISE.split():
            name, _, code = known.partition(":")
            names[name] = code
        self.names = names

    def fill_words(self) -> None:
        """Make what tells languages by their words, in the order of the lists."""
        foreign = frozenset(_OTHER_LETTERS.split())
        silent = frozenset(_NOT_TELLING.split())
        english = frozenset(FUNCTION_WORDS[ENGLISH].split())
        for code in {**FUNCTION_WORDS, **_MORE_WORDS}:
            if code != ENGLISH and code not in foreign:
                words = f"{FUNCTION_WORDS.get(code, '')} {_MORE_WORDS.get(code, '')}"
                self.words[code] = frozenset(words.split()) - silent
        others = frozenset[str]().union(*self.words.values())
        self.words[ENGLISH] = english
        self.others = others - english
        self.all = others | english
        self.english = english - others  # last: that it is there says that all is


_LISTS = _Lists()


def named(value: str) -> str:
    """Return which language a value of a note's ``lang`` or ``language`` says, "" if it is none.

    ``value`` is as its author typed it: a tag of BCP 47 (``de``, ``pt-BR``, ``zh_cn``), a locale
    (``de_DE.UTF-8``), a code of ISO 639-2, or a name in English or in the language itself. The
    answer has two letters, or three where there is no code of two; Norwegian is ``no``. What names
    a programming language (``ts``, ``css``) is none.
    """
    said = value[:_LONGEST_NAME].strip(" \t\r\n\"'[]").lower()
    if not said:
        return ""
    if not _LISTS.names:
        _LISTS.fill_names()
    primary, *subtags = said.partition(".")[0].partition("@")[0].replace("_", "-").split("-")
    if not all(tag.isascii() and tag.isalnum() and len(tag) <= _LONGEST_SUBTAG for tag in subtags):
        return ""
    a_code = len(primary) == _LONG_CODE and primary.isascii() and primary.isalpha()
    return _LISTS.names.get(primary, primary if a_code else "")


def guessed(text: str) -> str:
    """Return the language of a text's words in Latin letters, "" when it is none known here.

    By the text's beginning alone, fenced code left out. "en" for words that are in none of the
    languages of ``FUNCTION_WORDS`` without many letters with diacritics, and for the Latin words in
    a text of another script.
    """
    lists = _LISTS
    if not lists.english:
        lists.fill_words()
    looked_at = text[:_LOOKED_AT].lower()
    if _FENCE in looked_at:
        looked_at = " ".join(looked_at.split(_FENCE)[::2])
    words = lists.all.intersection(looked_at.split())
    english, others = len(words & lists.english), len(words & lists.others)
    if english >= max(_CLEARLY_ENGLISH, _ENGLISH_TO_ONE * others):
        return ENGLISH
    if looked_at.isascii():
        # Without letters of its own no language has enough.
        return ENGLISH if others < _FEWEST and "'" not in looked_at else _spoken(looked_at, 0)
    looked_at = _composed(looked_at)
    latin, accented, other = _letters(looked_at)
    if other > latin:
        return ENGLISH
    return _spoken(looked_at, accented if accented > _ACCENTED * latin else 0)


def language(declared: str, text: str) -> str:
    """Return the language to stem a text's words in Latin letters by, "" to stem none.

    ``declared`` is what the note says itself, "" when it says nothing: see ``named``. It holds when
    that language is written in Latin letters; in a text of another script such words are looked at.
    """
    code = named(declared)
    return code if code and code not in _OTHER_LETTERS.split() else guessed(text)


def _spoken(text: str, accented: int) -> str:
    """Return the language of a lower-case text's function words; ``accented`` letters are many."""
    lists = _LISTS
    words = lists.all.intersection(text.replace("’", "'").replace("l'", "l ").split())
    heard = {code: len(words & spoken) for code, spoken in lists.words.items()}
    most = max(heard.values())
    seen = {
        code: sum(letter in text for letter in _LETTERS.get(code, ""))
        for code, count in heard.items()
        if count > heard[ENGLISH] and _NEARLY * count >= most
    }
    if seen:
        best = max(seen, key=lambda code: _WORD_TO_LETTER * heard[code] + seen[code])
        own = len(words & lists.words[best] & lists.others)
        if own and own + (seen[best] > 0) >= _FEWEST:
            return best
    english = len(words & lists.english)
    return UNKNOWN if english < min(_FEWEST, accented) else ENGLISH


def _letters(text: str) -> tuple[int, int, int]:
    """Count a lower-case text's Latin letters, accented ones, and those of other scripts."""
    coded = text.encode("utf-8", "ignore")
    accented = sum(map(coded.count, _LATIN))
    plain = len(coded) - len(coded.translate(None, _ASCII_LETTERS))
    return plain + accented, accented, len(coded) - len(coded.translate(None, _OTHER_SCRIPT))


def _composed(text: str) -> str:
    """Return ``text`` with letters and diacritics as the lists have them."""
    if any(mark in text for mark in _COMBINING):
        import unicodedata

        return unicodedata.normalize("NFC", text)
    return text
