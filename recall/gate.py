"""Is it worth saying anything? A prompt and the best hits to decisions: pure.

The rule and where its numbers come from: ``spec/gate.md``.
"""

from __future__ import annotations

from math import log

from recall.topic import COMMON_WEIGHT, Topic, folded

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from index_cache.model import Hit
    from index_cache.search import Statistics
    from recall.topic import Word
    from recall.wording import Wording

SENSITIVITY = 0.5
IDENTIFIER = "identifier"  # the rule that a name in a note speaks by itself

# Fitted, then rounded; spec/gate.md says on what, and what each buys.
_WORDS, _STRENGTH, _UNKNOWN, _NAMED, _LENGTH, _NOTES = 6.5, 3.2, -2.4, 2.0, -1.1, -0.25
_BAR = 3.75  # at a sensitivity of SENSITIVITY
_BAR_PER_SENSITIVITY = 4.0
_MAX_UNKNOWN = 4.0  # words; a long prompt is more than a question
_SHORT, _LONG = 50.0, 2_700.0  # terms between which a note's length counts
_IN_HEAD = 150.0  # terms that a note counts as at most, when its head has a word of the prompt
_SATURATED = 2.2  # what bm25 gives at most of a term's idf
_RARE, _FEW = 0.01, 3  # notes, as a share and at least, whose identifier speaks by itself
_SHORTEST_KIN, _MAX_KIN = 5, 50  # letters; words that are looked for
_SMALL = 20  # notes: in fewer, being the only note that has a word is no better evidence
_OFTEN = 3  # times a note says a word that every project has, when it is about that
_ONCE = 0.85  # of a word that a note says once in its text, when the prompt has others
_BEHIND = 5.0  # points after the best hit where a card is more often noise
_THREE, _THREES = 3, 3  # characters of a term of Thai, and how many of these in a row are a word
_HEAD_FIELDS = 4  # title, aliases, description, tags: the first of schema.FIELDS


class Evidence:
    """What speaks for and against a hit.

    ``words`` of the prompt are in the note: each counts 1, less if it is a chore, common, or said
    once in the text alone. ``matched`` names them.
    ``telling`` says that one of them is no chore, ``named`` that title, description and tags have
    all that the prompt tells. ``unknown`` words are in no note. ``strength`` is the hit's score in
    units of what one word can bring that a single note has, of 20 or more. ``length`` is how long
    a note's text is in which words might be found by chance (terms), ``identifier`` what was named
    exactly, and ``notes`` the number of notes.
    """

    __slots__ = (
        "identifier",
        "length",
        "matched",
        "named",
        "notes",
        "strength",
        "telling",
        "unknown",
        "words",
    )

    def __init__(self, notes: int, strength: float, length: float) -> None:
        self.notes = notes
        self.strength = strength
        self.length = length
        self.words = 0.0
        self.unknown = 0.0
        self.telling = False
        self.named = False
        self.identifier = ""
        self.matched: list[str] = []


class Decision:
    """Whether a hit is worth a card.

    ``score`` is compared with ``bar``; ``reasons`` are what it is made of: the name of a feature,
    its value, and what it adds, or the verdict of a rule that decides alone: ``by`` is the name of
    the last of these, "" if the score decided.
    """

    __slots__ = ("bar", "by", "matched", "reasons", "score", "speak")

    def __init__(self, score: float, bar: float, matched: Sequence[str]) -> None:
        self.score = score
        self.bar = bar
        self.speak = score >= bar
        self.by = ""
        self.matched = list(matched)
        self.reasons: list[tuple[str, float | str, float | str]] = []

    def rule(self, name: str, value: str, *, speak: bool) -> None:
        """Let a rule decide, whatever the score."""
        self.speak = speak
        self.by = name
        self.reasons.append((name, value, "speak" if speak else "silent"))


def decide(
    prompt: str,
    wording: Wording,
    terms: Sequence[str],
    whole: Statistics,
    hits: Sequence[Hit],
    sensitivity: float = SENSITIVITY,
) -> list[Decision]:
    """Return a decision for each hit, in their order.

    ``terms`` are what was searched for, ``whole`` the statistics of all roots for all terms of
    the prompt. ``sensitivity`` is from 0 (hardly ever speaks) to 1.
    """
    if not hits:
        return []
    topic = Topic(wording, ascii_only=prompt.isascii())
    spelled = topic.words(prompt)
    words = _resolved(spelled, whole)
    found = [_decide(_measure(topic, words, terms, whole, hit), sensitivity) for hit in hits]
    _silence_stragglers(found)
    if _only_paths(spelled, whole):
        for decision in found:
            decision.rule("path", "the prompt is a path that no note has", speak=False)
    return found


def evidence(
    prompt: str, wording: Wording, terms: Sequence[str], whole: Statistics, hit: Hit
) -> Evidence:
    """Return what speaks for and against one hit; parameters as those of ``decide``."""
    topic = Topic(wording, ascii_only=prompt.isascii())
    return _measure(topic, _resolved(topic.words(prompt), whole), terms, whole, hit)


def _decide(seen: Evidence, sensitivity: float) -> Decision:
    bar = _BAR + _BAR_PER_SENSITIVITY * (SENSITIVITY - min(max(sensitivity, 0.0), 1.0))
    length = min(max(seen.length, _SHORT), _LONG)
    parts = [
        ("words", seen.words, _WORDS * log(1 + seen.words)),
        ("strength", seen.strength, _STRENGTH * log(1 + seen.strength)),
        ("unknown", seen.unknown, _UNKNOWN * min(seen.unknown / _MAX_UNKNOWN, 1.0)),
        ("named", float(seen.named), _NAMED * seen.named),
        ("length", seen.length, _LENGTH * log(length / _SHORT)),
        ("notes", float(seen.notes), _NOTES * log(max(seen.notes, _SMALL) + 1.5)),
    ]
    decision = Decision(sum(added for _, _, added in parts), bar, seen.matched)
    decision.reasons += parts
    if seen.identifier:
        decision.rule(IDENTIFIER, seen.identifier, speak=True)
    elif not seen.telling:
        decision.rule("chatter", "no word of the prompt tells of this note", speak=False)
    return decision


def _silence_stragglers(decisions: Iterable[Decision]) -> None:
    """Give no card to what is far behind the best of those that have one."""
    spoken = [each for each in decisions if each.speak]
    best = max((each.score for each in spoken), default=0.0)
    for each in spoken:
        if each.score < best - _BEHIND and not each.by:
            each.rule("behind", f"the best has {best:.2f}", speak=False)


def _resolved(words: Iterable[Word], whole: Statistics) -> list[Word]:
    """Return words with their parts in the place of those that no note has as a whole.

    But an identifier with a digit is the name of something else then: it stays, unknown.
    """
    found: dict[str, Word] = {}
    for word in words:
        known = word.terms[0] in whole.frequency
        other = word.identifier and any(map(str.isdigit, word.text))
        for each in word.parts if word.parts and not known and not other else [word]:
            found.setdefault(each.text if each.run else each.terms[0], each)
    return list(found.values())


def _only_paths(words: Iterable[Word], whole: Statistics) -> bool:
    """Tell whether a prompt is nothing but paths that no note has."""
    telling = [word for word in words if not word.chore]
    return bool(telling) and all(
        word.path and word.terms[0] not in whole.frequency for word in telling
    )


def _measure(
    topic: Topic, words: Sequence[Word], terms: Sequence[str], whole: Statistics, hit: Hit
) -> Evidence:
    rarest = log(max(whole.documents, _SMALL) + 1.5)
    seen = Evidence(whole.documents, hit.bm25 / rarest / _SATURATED, hit.length)
    counts = dict(zip(terms, hit.occurrences, strict=True))
    asked = sum(not word.chore for word in words)
    absent = []
    named = True
    for word in words:
        share = _share(word, counts)
        if not share:
            absent.append(word)
            continue
        in_head = _in_head(word, counts)
        _add(seen, word, share if in_head else share * _in_text(word, counts, asked))
        if not in_head:
            named = False
        elif not word.chore:
            seen.length = min(seen.length, _IN_HEAD)
        seen.telling = seen.telling or not word.chore
        if word.identifier and whole.frequency[word.terms[0]] <= max(_FEW, _RARE * seen.notes):
            seen.identifier = word.text
    unheard = []
    for word in absent:
        if _everywhere(word, counts, whole):
            _add(seen, word)
        else:
            unheard.append(word)
    seen.named = seen.telling and named and not unheard
    _look_for_kin(topic, unheard, whole, hit, seen)
    return seen


def _look_for_kin(
    topic: Topic, words: Iterable[Word], whole: Statistics, hit: Hit, seen: Evidence
) -> None:
    """Count words that are in no note at all, and those of whose kin a hit's head has one."""
    head = ""
    sought = 0
    for word in words:
        if word.chore:
            continue
        missing = sum(term not in whole.frequency for term in word.terms)
        seen.unknown += word.weight * missing / len(word.terms)
        if not word.run and len(word.terms[0]) >= _SHORTEST_KIN and sought < _MAX_KIN:
            sought += 1
            head = head or folded(
                f"{hit.title} {hit.aliases} {hit.description} {hit.tags} {hit.excerpt}"
            )
            if topic.has_kin(word.terms[0], head):
                _add(seen, word)


def _add(seen: Evidence, word: Word, share: float = 1.0) -> None:
    seen.words += word.weight * share
    seen.matched.append(word.text)


def _share(word: Word, counts: Mapping[str, object]) -> float:
    """Return the share of a word that a note has: of a run, by characters, else all or nothing.

    Of a run cut into threes only so many in a row count as make a word: any text has some of them.
    """
    if not word.run:
        return 1.0 if counts.get(word.terms[0]) else 0.0
    size = len(word.text) - len(word.terms) + 1
    least = _THREES if size == _THREE else 1
    covered = row = 0
    for term in [*word.terms, ""]:
        if term and counts.get(term):
            row += 1
            continue
        covered += row + size - 1 if row >= least else 0
        row = 0
    return min(1.0, covered / len(word.text))


def _in_text(word: Word, counts: Mapping[str, Sequence[int] | None], asked: int) -> float:
    """Return what a word counts that only a note's text has, as a share of what it would."""
    said = sum(counts.get(word.terms[0]) or ())
    if word.common:
        return 1.0 if said >= _OFTEN else COMMON_WEIGHT
    plain = not (word.chore or word.run or word.identifier)
    return _ONCE if plain and said == 1 and asked > 1 else 1.0


def _in_head(word: Word, counts: Mapping[str, Sequence[int] | None]) -> bool:
    """Tell whether a note's title, description or tags have (some of) a word."""
    found = [counts.get(term) for term in word.terms]
    return any(each is not None and any(each[:_HEAD_FIELDS]) for each in found)


def _everywhere(word: Word, counts: Mapping[str, object], whole: Statistics) -> bool:
    """Tell whether more than half of the notes have a word, so that it was not searched for."""
    return all(
        term not in counts and 2 * whole.frequency.get(term, 0) > whole.documents
        for term in word.terms
    )
