"""Asks one question as a search and as the hook would, and tells what came of it.

All of it is the production path: ``Recall.answer``, and the hook's views, gate and block. Nothing
is kept of it: no ledger, no log. See ``spec/bench.md``.
"""

from __future__ import annotations

import json
import time

from index_cache.digests import hashed
from index_cache.files import FileSystem
from index_cache.text import Content, NotText
from recall import block, dirs, hosts, ledger, project, quiet
from recall.bench import metrics
from recall.recalling import Recalling
from recall.service import Recall
from recall.settings import LEVELS
from recall.views import Views

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Self

    from recall.bench.corpus import Corpus
    from recall.bench.labels import Label
    from recall.card import Card
    from recall.settings import Config

_EVENT = "UserPromptSubmit"


class Injected:
    """What the hook would put beside a prompt: ``cards``, in a ``text``; ``why`` in its words."""

    __slots__ = ("cards", "text", "why")

    def __init__(self, why: str, cards: list[Card], text: str) -> None:
        self.why = why
        self.cards = cards
        self.text = text


class Probe:
    """Questions to some roots, whose caches it holds open. Not for several threads.

    ``settings`` are the configuration's, ``corpus`` the documents that they have.
    """

    def __init__(
        self, settings: Config, corpus: Corpus, cwd: str, environ: Mapping[str, str]
    ) -> None:
        self._settings = settings
        self._corpus = corpus
        self._cwd = cwd
        self._cache_dir = dirs.cache_dir(environ)
        self._fs = FileSystem()
        self._recall = Recall(settings.roots, cwd=cwd, environ=environ)
        self._near = project.near(cwd, settings.roots)
        self._views: Views | None = None
        self._tokens: dict[bytes, int] = {}

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the caches."""
        self._recall.close()
        if self._views is not None:
            _close(self._views)

    def search(self, label: Label, *, refresh: bool = False) -> list[Card]:
        """Return the cards of a search. Raises what ``Recall.answer`` raises."""
        roots = {root.name: root.path for root in self._settings.roots}
        under = None if label.scope is None else roots.get(label.scope, label.scope)
        answer = self._recall.answer(
            label.query,
            metrics.DEPTH,
            under=under,
            include_journal=self._settings.search.include_journal,
            refresh=refresh,
            wait=self._settings.search.wait,
        )
        failed = [report.failure for report in answer.reports if report.failure]
        if failed:
            raise failed[0]  # a score over half of the roots would be one of something else
        return answer.cards

    def hook(self, label: Label, *, anew: bool = False) -> Injected:
        """Return what the hook would say; ``anew``: with its caches opened for this prompt."""
        event = hosts.Event(hosts.CLAUDE, _EVENT, prompt=label.query)
        why = quiet.reason(event, {}, enabled=True)
        if why is not None:
            return Injected(why, [], "")
        views = self._opened() if not anew else self._open()
        try:
            recalling = Recalling(label.query, views, self._fs)
            settings = self._settings.hook
            recalling.run(
                ledger.Seen(),
                self._cwd,
                settings.max_cards,
                LEVELS[settings.sensitivity],
                journal=self._settings.search.include_journal,
            )
            cap = hosts.cap(hosts.CLAUDE, characters=settings.cap_for(hosts.CLAUDE_CHARACTERS))
            text, count = block.fit(recalling.cards, cap, base=self._cwd)
            return Injected(recalling.why, recalling.cards[:count], text)
        finally:
            if anew:
                _close(views)

    def _opened(self) -> Views:
        if self._views is None:
            self._views = self._open()
        return self._views

    def _open(self) -> Views:
        views = Views(self._settings.roots, self._near)
        views.open(self._cache_dir, None, self._fs)
        return views

    def ask(self, label: Label) -> dict[str, object]:
        """Return all that is reported of one label (``spec/schema/bench.json``, ``queries``)."""
        started = time.perf_counter()
        cards = self.search(label)
        taken = time.perf_counter() - started
        injected = self.hook(label)
        grades = grades_of(label, self._corpus)
        run = list(dict.fromkeys(self._found(card, grades) for card in cards))
        pairs = [(self._corpus.key(first), self._corpus.key(then)) for first, then in label.order]
        tokens = [self._tokens_of(card) for card in injected.cards]
        judged = any(grades.values())
        said = hosts.estimated_tokens(injected.text) if injected.cards else 0
        return {
            "id": label.id,
            "query": label.query,
            "scope": label.scope,
            "category": label.category,
            "provenance": label.provenance,
            "draft": label.draft,
            "label": label.digest(),
            "judged": self._judged(label),
            "grades": grades,
            "run": run,
            "scores": [round(card.score, 6) for card in cards],
            "order": {"pairs": len(pairs), "kept": metrics.kept_pairs(run, pairs)},
            "measures": metrics.measures(run, grades) if judged else None,
            "unwanted": [name for name in run if grades.get(name) == 0],
            "hook": {
                "why": injected.why,
                "cards": [self._found(card, grades) for card in injected.cards],
                "block_tokens": said,
                "cards_tokens": said + sum(tokens[:1]),
                "full_tokens": sum(tokens),
            },
            "ms": round(1000 * taken, 3),
        }

    def _judged(self, label: Label) -> str:
        """Return what is the same as long as a question has the same contents judged alike."""
        grades = ((self._corpus.content(name), grade) for name, grade in label.grades.items())
        return hashed(json.dumps([label.query, label.scope, sorted(grades)]))

    def _found(self, card: Card, grades: Mapping[str, int]) -> str:
        """Return the document that a card stands for: of its copies one that was judged."""
        places = [f"{card.root}:{card.path}", *card.copies]
        keys = [self._corpus.key(place) for place in places]
        return next((key for key in keys if key in grades), keys[0])

    def _tokens_of(self, card: Card) -> int:
        """Return the tokens of the public text of a card's document, 0 if it is gone."""
        doc = self._corpus.get(self._corpus.key(f"{card.root}:{card.path}"))
        if doc is None:
            return 0
        if doc.file not in self._tokens:
            limit = max(root.rules.max_file_bytes for root in self._settings.roots)
            try:
                text = Content(self._fs.read(doc.file, limit)[1]).text  # public alone
            except (OSError, NotText):
                text = ""
            self._tokens[doc.file] = hosts.estimated_tokens(text)
        return self._tokens[doc.file]


def grades_of(label: Label, corpus: Corpus) -> dict[str, int]:
    """Return the grades by document: of two names of one document the higher grade."""
    grades: dict[str, int] = {}
    for name, grade in label.grades.items():
        key = corpus.key(name)
        grades[key] = max(grade, grades.get(key, 0))
    return grades


def _close(views: Views) -> None:
    for view in views.all:
        for store in (view.store, view.new):
            if store is not None:
                store.close()
