"""Silence is an answer: which hits are worth a card, and the words that tell nothing."""

from __future__ import annotations

import subprocess
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from search_support import ANALYZER, WORDING, Fields, found, store
from vectors import load, named

from index_cache.analyze import Analyzers
from index_cache.search import Statistics
from recall import beyondascii, chatter, gate, topic
from recall.asked import Question

NOTES: dict[str, Fields] = {
    "drain.md": {
        "title": "Drain a node",
        "body": "Before maintenance a node is drained: its pods are evicted one by one. " * 3,
    },
    "keys.md": {"title": "Deploy keys", "body": "The vault holds the deploy keys, see DEC-0054."},
    "taint.md": {"title": "污点和容忍度", "body": "节点的污点会排斥某些 Pod。容忍度允许调度。"},
    "long.md": {
        "title": "Log of the year",
        "body": "We ordered pizza once, and paid for it. " + "We met and talked again. " * 300,
    },
}


def among(notes: dict[str, Fields], documents: int) -> dict[str, Fields]:
    """Return notes together with so many others, each of which has words of its own."""
    others = {
        f"{number}.md": {"title": f"Alpha{number}", "body": f"Beta{number} gamma delta." * 20}
        for number in range(documents - len(notes))
    }
    return notes | others


class Asked:
    """A search of a prompt over some notes, up to the gate."""

    def __init__(self, notes: dict[str, Fields], prompt: str) -> None:
        root = store(notes)
        asked = Question(prompt, [root], Analyzers())
        self.prompt = prompt
        self.whole, self.terms = asked.whole, asked.terms
        self.hits = found([root], self.terms, 3)[:3] if self.terms else []

    def decisions(self, sensitivity: float = gate.SENSITIVITY) -> list[gate.Decision]:
        return gate.decide(
            self.prompt, WORDING, self.terms, self.whole, self.hits, sensitivity=sensitivity
        )

    def spoken(self, sensitivity: float = gate.SENSITIVITY) -> list[str]:
        decisions = self.decisions(sensitivity)
        paths = [hit.path.decode() for hit in self.hits]
        return [path for path, each in zip(paths, decisions, strict=True) if each.speak]


def spoken(notes: dict[str, Fields], prompt: str) -> list[str]:
    return Asked(notes, prompt).spoken()


@pytest.mark.parametrize("vector", load("gate.json"), ids=named)
def test_vectors(vector: dict[str, Any]) -> None:
    asked = Asked(among(vector["notes"], vector["documents"]), vector["prompt"])
    scores = {
        hit.path.decode(): (each.speak, round(each.score, 6))
        for hit, each in zip(asked.hits, asked.decisions(), strict=True)
    }
    assert scores == {path: tuple(told) for path, told in vector["decisions"].items()}


ON_TOPIC = {
    "how do I drain a node before maintenance?": "drain.md",
    "where are the deploy keys?": "keys.md",
    "what was DEC-0054 about": "keys.md",
    "如何配置污点和容忍度": "taint.md",
}
OFF_TOPIC = [
    "run the tests again",
    "thanks, that's all for now",
    "I'd like a pizza",
    "what did the lawyer say about the lease before Monday?",
    "how much is a train to Vienna?",
    "继续下一个文件",
]


@pytest.mark.parametrize("documents", [20, 1_500])
@pytest.mark.parametrize("prompt", ON_TOPIC)
def test_R1_what_the_notes_are_about_is_said_in_small_and_large_roots(
    documents: int, prompt: str
) -> None:
    assert spoken(among(NOTES, documents), prompt) == [ON_TOPIC[prompt]]


@pytest.mark.parametrize("documents", [20, 1_500])
@pytest.mark.parametrize("prompt", OFF_TOPIC)
def test_R1_other_subjects_are_met_with_silence_in_small_and_large_roots(
    documents: int, prompt: str
) -> None:
    asked = Asked(among(NOTES, documents), prompt)
    assert asked.spoken() == []


# What a person starts with: a few notes of a few sentences.
STARTED: dict[str, Fields] = {
    "bees.md": {
        "title": "Bee hives",
        "body": (
            "Feed them when a hive has lost ten kilos. The scale sends its value to the "
            "server each hour; a query in the browser draws it."
        ),
    },
    "boat.md": {
        "title": "Winter storage of the boat",
        "body": (
            "Out of the water by the date of the first frost. The key to the yard hangs in "
            "the boathouse, the form goes to the harbour."
        ),
    },
    "choir.md": {
        "title": "Choir",
        "body": (
            "Rehearsals on Thursdays. Who sings alto is on the page with the table; new "
            "singers get a token for the score archive."
        ),
    },
    "oven.md": {
        "title": "Pizza oven",
        "body": (
            "Light it two hours before. The stone needs 400 degrees, the thread of the door "
            "handle is worn out."
        ),
    },
    "garden.md": {
        "title": "Garden",
        "body": (
            "The pear tree is cut in February, the hedge in August. Compost goes into the "
            "class of beds that had potatoes."
        ),
    },
    "parser.md": {
        "title": "Invoice parser",
        "body": (
            "Supplier files come with a session number in the header. An array of totals "
            "follows, then the signature."
        ),
    },
    "cache.md": {
        "title": "Cache of map tiles",
        "body": "Tiles are kept for thirty days on the small disk.",
    },
    "trip.md": {
        "title": "Cycling to Lisbon",
        "body": "Nights in Porto and Coimbra. Trains take bikes only off season.",
    },
}
EVERYDAY = [
    "sort the users by date",
    "turn this class into a hook",
    "add a foreign key to the orders table",
    "write a query that joins both",
    "the page is empty after a reload",
    "use a tree for the menu",
    "make the form submit on enter",
    "the thread never ends, why?",
    "store the token in a cookie",
    "flatten the nested array",
    "restart the server when the config changes",
    "my session ends too early",
]


@pytest.mark.parametrize("prompt", EVERYDAY)
def test_R1_a_word_that_every_project_has_is_chance_in_a_few_short_notes(prompt: str) -> None:
    asked = Asked(STARTED, prompt)
    assert asked.hits  # else it would be silent anyway
    assert asked.spoken() == []


@pytest.mark.parametrize(
    ("prompt", "path"),
    [
        ("how long are map tiles in the cache?", "cache.md"),
        ("cache", "cache.md"),
        ("what follows the header in the array of totals?", "parser.md"),
        ("when do I feed a hive?", "bees.md"),
        ("is the pear tree due?", "garden.md"),
        ("where is the key to the boathouse?", "boat.md"),
        ("who sings alto?", "choir.md"),
        ("Coimbra", "trip.md"),
    ],
)
def test_R1_a_few_short_notes_are_recalled_for_what_they_tell(prompt: str, path: str) -> None:
    assert spoken(STARTED, prompt) == [path]


def counted(notes: dict[str, Fields], prompt: str) -> float:
    """Return how many words of the prompt the best hit has."""
    return next(
        value for name, value, _ in Asked(notes, prompt).decisions()[0].reasons if name == "words"
    )  # type: ignore[return-value]


@pytest.mark.parametrize(
    ("prompt", "note", "words"),
    [
        ("queue", {"body": "a queue"}, 0.5),
        ("queues", {"body": "a queue"}, 0.5),
        ("30", {"body": "30 of them"}, 0.5),
        ("1999", {"body": "since 1999"}, 1),
        ("очередь", {"body": "очередь"}, 0.5),
        ("queue", {"title": "The queue", "body": "Zebra."}, 1),
        ("queue", {"body": "queue, queue"}, 0.5),
        ("queue", {"body": "queue, queue, queue"}, 1),
        ("zebra", {"body": "a zebra"}, 1),
        ("zebra umbrella", {"body": "a zebra"}, 0.85),
        ("run zebra", {"body": "a zebra"}, 1),
        ("index.zebra", {"body": "the index"}, 0.25),
        ("zebra umbrella", {"body": "a zebra, my zebra"}, 1),
        ("zebra umbrella", {"title": "Zebra", "body": "Grass."}, 1),
    ],
)
def test_what_a_word_counts_where_it_stands(prompt: str, note: Fields, words: float) -> None:
    assert counted(among({"a.md": note}, 100), prompt) == pytest.approx(words)


def test_a_small_root_is_no_better_evidence_than_one_of_twenty_notes() -> None:
    note: dict[str, Fields] = {"a.md": {"title": "Drain a node", "body": "Evict the pods."}}
    scores = [
        Asked(among(note, documents), "drain a node").decisions()[0].score
        for documents in (4, 8, 12, 20)
    ]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]


def test_a_card_far_behind_the_best_is_silenced_and_told_so() -> None:
    notes = among(
        {
            "best.md": {"title": "Zebra umbrella orchid", "body": "Zebra umbrella orchid."},
            "other.md": {"title": "Lake", "body": "There an orchid, here an orchid."},
        },
        200,
    )
    asked = Asked(notes, "zebra umbrella orchid")
    best, other = asked.decisions()
    assert best.speak
    assert not other.speak
    assert other.bar < other.score < best.score - 5
    assert other.reasons[-1] == ("behind", f"the best has {best.score:.2f}", "silent")
    assert "other.md" in Asked(notes, "orchid").spoken()


CHATTER = [
    "ok, thanks! that looks good to me, please continue",
    "run the tests again",
    "bitte mach weiter und zeig mir die Änderungen",
    "¿puedes explicarlo otra vez, por favor?",
    "merci, c'est parfait, continue",
    "obrigado, pode rodar os testes de novo",
    "спасибо, запусти тесты ещё раз",
    "谢谢，重新运行测试",
    "ありがとうございます、もう一度お願いします",
    "고마워요, 테스트 다시 실행해 주세요",
    "شكرا، أعد تشغيل الاختبارات",
]


@pytest.mark.parametrize("prompt", CHATTER)
def test_Q3_chatter_recalls_nothing_though_a_note_has_all_its_words(prompt: str) -> None:
    notes = among({"same.md": {"title": prompt, "description": prompt, "body": prompt}}, 1_200)
    asked = Asked(notes, prompt)
    assert asked.hits
    assert asked.spoken(sensitivity=1.0) == []
    assert asked.decisions()[0].reasons[-1][0] == "chatter"


def test_Q3_one_word_of_a_question_that_a_long_note_has_is_chance() -> None:
    prompt = "who invented pizza?"
    assert spoken(among(NOTES, 500), prompt) == []
    about: dict[str, Fields] = {"pizza.md": {"title": "Pizza", "body": "Our pizza place."}}
    assert spoken(among(NOTES | about, 500), "pizza") == ["pizza.md"]


def test_words_that_no_note_has_are_a_sign_of_silence() -> None:
    notes = among({"a.md": {"title": "Roles", "body": "A grant for an application."}}, 500)
    known = Asked(notes, "grant application").decisions()[0]
    unknown = Asked(notes, "grant application zebra umbrella orchid").decisions()[0]
    assert known.speak
    assert unknown.score < known.score - 1
    added = {name: value for name, value, _ in unknown.reasons}
    assert added["unknown"] == 3


@pytest.mark.parametrize(
    "name", ["DEC-0054", "apply_secrets", "src/lib/i18n.ts", "OvertimeService", "E1234", "v1.2.3"]
)
def test_an_identifier_that_the_notes_know_speaks_by_itself(name: str) -> None:
    body = "We met and talked again. " * 500 + name
    notes = among({"long.md": {"title": "Log", "body": body}}, 500)
    prompt = f"and what about {name} then, dear colleague of mine?"
    assert spoken(notes, prompt) == ["long.md"]
    assert Asked(notes, prompt).decisions()[0].reasons[-1] == ("identifier", name, "speak")
    assert spoken(notes, f"and what about X{name}9 then, dear colleague of mine?") == []


@pytest.mark.parametrize("name", ["README.md", "package.json", "src/main.py", "two-day", "and/or"])
def test_what_every_project_has_is_no_identifier(name: str) -> None:
    body = "We met and talked again. " * 500 + name
    notes = among({"long.md": {"title": "Log", "body": body}}, 500)
    assert spoken(notes, f"write it to {name}") == []


@pytest.mark.parametrize("prompt", ["src/keys/main.py", "DEC-0055", "v9.8.7", "docs/README.md"])
def test_a_path_or_an_identifier_that_is_nobodys_is_met_with_silence(prompt: str) -> None:
    body = "The main keys of DEC-0054 are in src. See docs, README, v9.8.6."
    assert spoken(among({"a.md": {"title": "Log", "body": body * 20}}, 500), prompt) == []


def test_parts_of_an_identifier_that_no_note_has_as_a_whole_count() -> None:
    assert spoken(among(NOTES, 200), "what calls drainNode?") == ["drain.md"]


def test_an_identifier_of_many_notes_does_not_speak_by_itself() -> None:
    body = "We met and talked again. " * 500 + "DEC-0054"
    notes = {f"log{number}.md": Fields(body=body) for number in range(9)}
    assert spoken(among(notes, 500), "and DEC-0054, dear colleague?") == []
    few = dict(list(notes.items())[:3])
    assert spoken(among(few, 500), "and DEC-0054, dear colleague?") == list(few)


def test_a_word_of_the_same_kin_in_the_head_of_a_note_counts() -> None:
    notes = among({"a.md": {"title": "Panther", "body": "Die Verteidigung ließ wenig zu."}}, 500)
    asked = Asked(notes, "die Verteidigung der Pantheren")
    words = {name: value for name, value, _ in asked.decisions()[0].reasons}
    assert words["words"] == pytest.approx(1.85)


def test_words_of_most_notes_count_though_they_are_not_searched_for() -> None:
    notes: dict[str, Fields] = {
        f"{number}.md": {"title": f"Beta{number}", "body": "kubernetes"} for number in range(100)
    }
    notes["a.md"] = {"title": "Ingress", "body": "kubernetes ingress"}
    asked = Asked(notes, "kubernetes ingress")
    assert "kubernet" not in asked.terms
    assert set(asked.decisions()[0].matched) == {"kubernetes", "ingress"}


def test_sensitivity_moves_the_bar_and_nothing_else() -> None:
    asked = Asked(among(NOTES, 200), "how is a node drained, generally speaking?")
    steps = [asked.decisions(each / 4)[0] for each in range(5)]
    assert len({each.score for each in steps}) == 1
    bars = [each.bar for each in steps]
    assert bars == sorted(bars, reverse=True)
    assert [each.speak for each in steps] == [each.score >= each.bar for each in steps]
    assert asked.decisions(-9)[0].bar == steps[0].bar
    assert asked.decisions(9)[0].bar == steps[-1].bar


def test_every_number_behind_a_decision_is_told() -> None:
    decision = Asked(among(NOTES, 200), "drain a node").decisions()[0]
    names = [name for name, _, _ in decision.reasons]
    assert names == ["words", "strength", "unknown", "named", "length", "notes"]
    added = [each for _, _, each in decision.reasons if isinstance(each, float)]
    assert sum(added) == pytest.approx(decision.score)
    assert decision.matched == ["drain", "node"]


def test_evidence_is_what_decisions_are_made_of() -> None:
    asked = Asked(among(NOTES, 200), "drain a node of the cluster")
    seen = gate.evidence(asked.prompt, WORDING, asked.terms, asked.whole, asked.hits[0])
    reasons = {name: value for name, value, _ in asked.decisions()[0].reasons}
    assert reasons["words"] == seen.words == 2
    assert reasons["unknown"] == seen.unknown == 1
    assert reasons["strength"] == seen.strength
    assert reasons["notes"] == seen.notes == 200


def test_no_hits_no_decisions() -> None:
    assert gate.decide("anything", WORDING, [], Statistics(0, 0, {}), []) == []


@given(st.text(max_size=60), st.floats(allow_nan=False))
def test_any_text_is_no_error(prompt: str, sensitivity: float) -> None:
    asked = Asked({**NOTES, "odd.md": {"title": "Odd", "body": prompt}}, prompt)
    assert len(asked.decisions(sensitivity)) == len(asked.hits)


WORDS = (
    "drain ノードを安全にドレインする 重跑gen-itgc后 污点 프로젝트를 v1.2.3 C# C++ .env @scope/pkg "
    "don't (getUserName) Straße, naïve «привет» الاختبارات ประเทศไทย e.g. a/b 2018 x::y"
)


@given(st.lists(st.sampled_from(WORDS.split()), max_size=8).map(" ".join))
def test_the_words_of_a_topic_have_the_terms_that_the_search_looks_up(text: str) -> None:
    terms = set(ANALYZER.terms(text))
    words = topic.Topic(WORDING, ascii_only=False).words(text)
    for word in words:
        assert set(word.terms) <= terms
        assert {term for part in word.parts or () for term in part.terms} <= terms


def test_a_pasted_text_is_looked_at_up_to_a_bound() -> None:
    text = " ".join(f"w{number}" for number in range(topic.MAX_PIECES + 100))
    words = topic.Topic(WORDING, ascii_only=True).words(text + " " + "A" * 5_000)
    assert len(words) == topic.MAX_PIECES - 1  # the last piece is encoded data
    assert {words[0].text, words[-1].text} == {"w0", f"w{topic.MAX_PIECES + 99}"}
    assert topic.Topic(WORDING, ascii_only=True).words("A" * 5_000) == []


LISTS = {
    name: (getattr(chatter, name, None) or getattr(beyondascii, name)).split()
    for name in (
        "EMPTY",
        "CHORES",
        "EMPTY_BEYOND_ASCII",
        "CHORES_BEYOND_ASCII",
        "COMMON",
        "COMMON_BEYOND_ASCII",
        "GENERIC",
        "RUNS",
        "HANGUL",
        "HANGUL_ENDINGS",
    )
}


@pytest.mark.parametrize("name", LISTS)
def test_listed_words_are_written_as_they_are_compared(name: str) -> None:
    words = LISTS[name]
    assert words == [topic._plain(word) for word in words]
    assert len(words) == len(set(words)), sorted(word for word in words if words.count(word) > 1)
    ascii_only = name in {"EMPTY", "CHORES", "COMMON", "GENERIC"}
    assert all(word.isascii() == ascii_only for word in words)


@pytest.mark.parametrize("beyond", ["", "_BEYOND_ASCII"])
def test_a_word_is_chatter_or_a_chore_or_common(beyond: str) -> None:
    empty, chores, common = (set(LISTS[name + beyond]) for name in ("EMPTY", "CHORES", "COMMON"))
    assert not empty & chores
    assert not (empty | chores) & common


def test_the_gate_imports_nothing_that_a_search_does_not() -> None:
    code = (
        "import sys, index_cache.candidates, recall.query; before = set(sys.modules)\n"
        "import recall.gate; print(*sorted(set(sys.modules) - before))"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True, text=True)
    assert set(done.stdout.split()) == {
        "recall.chatter",
        "recall.gate",
        "recall.topic",
    }


@given(st.lists(st.sampled_from(["a", "b", "é", "", "aa", "c d", "d", "的"]), max_size=100))
def test_a_list_has_its_words_however_many_are_asked_for(words: list[str]) -> None:
    listed = topic.Listed("\na b é\n的 aa d\n")
    assert [word in listed for word in words if " " not in word] == [
        word in {"a", "b", "é", "的", "aa", "d"} for word in words if " " not in word
    ]
