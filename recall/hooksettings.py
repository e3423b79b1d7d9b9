"""What ``[hook]`` may say, and what a project's file may say of it."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Values = Mapping[str, object]

# Quietest first, each with the gate's own number; spec/gate.md says what each costs and buys.
LEVELS = {"low": 0.25, "normal": 0.5, "high": 0.75}
SENSITIVITIES = tuple(LEVELS)
FLAGS = ("enabled", "log", "log_prompts", "session_line")
_ONLY_OFF = ("log_prompts", "session_line")  # what a project can't have switched on, as it is off
# Lowest and highest value. Below these a value could only be a slip; above them the host would
# have given up, or cut what it is given.
BOUNDS = {
    "deadline_ms": (20, 10_000),
    "refresh_interval": (2, 86_400),
    "max_cards": (1, 10),
    "cap": (500, 100_000),
}
FRACTIONS = ("refresh_interval",)
KEYS = (*FLAGS, *BOUNDS, "sensitivity")


class HookSettings:
    """What holds for the prompt hook.

    ``enabled``: whether it says anything. ``log``: whether the recall log is kept, ``log_prompts``:
    with the prompts. ``session_line``: whether it says at a session's start that it is on.
    ``deadline_ms``: when it prints what it has. ``refresh_interval``: how many
    seconds at least lie between two refreshes that it starts. ``max_cards`` in one answer, ``cap``:
    characters of one answer, None for what the host takes; ``project_cap``: what a project's file
    bounds it to, likewise. ``sensitivity``: one of ``SENSITIVITIES``.
    """

    __slots__ = (*KEYS, "project_cap")

    def __init__(self) -> None:
        self.enabled = True
        self.log = True
        self.log_prompts = False
        self.session_line = False
        self.deadline_ms = 250
        self.refresh_interval: float = 2.0
        self.max_cards = 3
        self.cap: int | None = None
        self.project_cap: int | None = None
        self.sensitivity = "normal"

    def cap_for(self, host: int) -> int:
        """Return how many characters one answer may have where the host takes ``host``.

        The person may go beyond that, since hosts change; a project's file may not.
        """
        cap = host if self.cap is None else self.cap
        return cap if self.project_cap is None else min(cap, self.project_cap)


def combined(own: Values, project: Values) -> HookSettings:
    """Return the person's ``own`` settings, and the ``project``'s where they are quieter.

    A cloned repository may make the hook say less, less often and do less work there, never more:
    neither louder than the person has it, nor more of it than without the project's file. Whether
    there is a log is the person's alone to say, since it shows what a repository put in.
    """
    settings = HookSettings()
    for key, value in own.items():
        setattr(settings, key, value)
    for key, value in project.items():
        if key == "cap":
            setattr(settings, "project_cap", value)  # noqa: B010 - of the type that was checked
        elif key != "log" and _quieter(key, value, getattr(settings, key)):
            setattr(settings, key, value)
    return settings


def without_effect(project: Values) -> list[str]:
    """Return the keys of a project's file that have no effect, whatever the person's own says."""
    never = ["log"] if "log" in project else []
    return [*never, *(key for key in _ONLY_OFF if project.get(key) is True)]


def _quieter(key: str, value: object, before: object) -> bool:
    if key in FLAGS:
        return value is False
    if key == "sensitivity":
        return SENSITIVITIES.index(str(value)) < SENSITIVITIES.index(str(before))
    if not isinstance(value, int | float) or not isinstance(before, int | float):
        return False
    return value > before if key == "refresh_interval" else value < before
