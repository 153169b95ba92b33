"""What every template of a sheet can use. docs/templates.md lists it."""

from proctorch.bank.question import Question
from proctorch.judge.grade import show_points
from proctorch.sheet.sheet import Sheet


def values(sheet: Sheet) -> dict[str, object]:
    """The values that are put into a template of any format."""
    settings = sheet.settings
    return {
        "sheet": sheet,
        "settings": settings,
        "words": settings.words,
        "instructions": settings.words["prefer"] if settings.instructions is None else settings.instructions,
        "points": show_points,
        "topic": _topic,
        "check_title": _check_title,
    }


def _topic(question: Question) -> str:
    """`oom-handling` as `oom handling`."""
    return question.topic.replace("-", " ")


def _check_title(question: Question, test: str) -> str:
    """What a candidate sees of the check whose pytest function is `test`."""
    return next(check.title for check in question.checks if check.test == test)
