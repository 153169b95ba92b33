"""Pages from templates: the one Jinja environment.

What a page shows was written by strangers, so two things hold for every value that is put into any template: it is
escaped (in HTML), and characters that hide or turn the text around are made visible.
"""

import functools
import traceback
from collections.abc import Mapping
from pathlib import Path

import jinja2

from proctorch import markup, typeset
from proctorch.errors import ProctorchError, UsageError
from proctorch.shipped import default_bank

#: Templates of formats that are not HTML, where HTML's escapes would be shown as they stand.
_NOT_HTML = ("md.j2",)

_FILTERS = {
    "markdown": markup.markdown,
    "inline_markdown": markup.inline_markdown,
    "ticks": markup.ticks,
    "printed": markup.printed,
    "breakable": markup.breakable,
    "python_lines": markup.python_lines,
    "typst_markdown": typeset.typst_markdown,
    "typst_inline": typeset.typst_inline,
    "typst_listing": typeset.typst_listing,
    "string_literal": typeset.string,
}


def render(name: str, values: Mapping[str, object], *, folder: Path | None = None) -> str:
    """The template `name`, filled with `values`.

    A template in `folder`, if there is one of that name, goes before the shipped one. A fault in a template of `folder`
    is a UsageError, one in a shipped template a ProctorchError; both say where: `report.html.j2:12: …`.

    Filters beyond Jinja's own are the functions of `markup`, by their names.
    """
    try:
        return _environment(folder).get_template(name).render(values)
    except Exception as error:
        raise _told(error, name, folder) from error


@functools.cache
def _environment(folder: Path | None) -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_folders(folder)),
        autoescape=jinja2.select_autoescape(disabled_extensions=_NOT_HTML, default=True),
        undefined=jinja2.StrictUndefined,
        finalize=_visible,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.filters.update(_FILTERS)
    return environment


def _folders(folder: Path | None) -> list[Path]:
    shipped = default_bank() / "templates"
    return [shipped] if folder is None else [folder, shipped]


@jinja2.pass_context
def _visible(context: jinja2.runtime.Context, value: object) -> object:
    """What a template shows of a value: plain text with nothing hidden in it, and in Typst as text that is not read."""
    if type(value) is not str:
        return value
    return typeset.text(value) if (context.name or "").endswith("typ.j2") else markup.visible(value)


def _told(error: Exception, name: str, folder: Path | None) -> ProctorchError:
    """`error` as one message with its place, which is the innermost line of a template that it went through."""
    folders = _folders(folder)
    place, shipped = name, folder is None
    frames = [(frame.filename, frame.lineno) for frame in traceback.extract_tb(error.__traceback__)]
    if isinstance(error, jinja2.TemplateSyntaxError):
        frames.append((error.filename or name, error.lineno))
    for file, line in frames:
        for at in folders:
            if Path(file).is_relative_to(at):
                place, shipped = f"{file}:{line}", at == folders[-1]
    if isinstance(error, jinja2.TemplateNotFound):
        what = f"there is no template {error.name!r} in {' or '.join(map(str, folders))}"
    else:
        what = str(error) if isinstance(error, jinja2.TemplateError) else f"{type(error).__name__}: {error}"
    return (ProctorchError if shipped else UsageError)(f"{place}: {what}")
