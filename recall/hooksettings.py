"""What a project's file may say of the person's ``[hook]``."""

from __future__ import annotations

from recall.settings import HOOK_FLAGS, SENSITIVITIES, HookSettings

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping

    Values = Mapping[str, object]

_ONLY_OFF = ("log_prompts", "session_line")  # what a project can't have switched on, as it is off


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
    if key in HOOK_FLAGS:
        return value is False
    if key == "sensitivity":
        return SENSITIVITIES.index(str(value)) < SENSITIVITIES.index(str(before))
    if not isinstance(value, int | float) or not isinstance(before, int | float):
        return False
    return value > before if key == "refresh_interval" else value < before
