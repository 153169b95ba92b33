"""Pictures in a report, as SVG that stands in the page: readable on paper, with nothing to be fetched."""

import io
import re
from typing import Any

from proctorch.judge.grade import MemoryRun

_MIB = 1 << 20
_INK, _QUIET, _LINE, _BAD = "#1d1f23", "#62666f", "#1f4e8c", "#a3261c"
_WIDTH, _HEIGHT = 7.2, 2.6  # inches


def memory_timeline(run: MemoryRun, name: str) -> str:
    """Live bytes over time against the budget, the peak labelled, each failed allocation marked.

    `name` makes the ids inside the picture unique in its page. The text stays text, in the page's own font.
    """
    import matplotlib as mpl  # noqa: PLC0415 - half a second, and few reports have such a picture
    from matplotlib.backends.backend_svg import FigureCanvasSVG  # noqa: PLC0415
    from matplotlib.figure import Figure  # noqa: PLC0415

    style: Any = {"svg.fonttype": "none", "svg.hashsalt": name, "font.family": "sans-serif", "font.size": 9}
    with mpl.rc_context(style):
        figure = Figure(figsize=(_WIDTH, _HEIGHT), layout="constrained", facecolor="white")
        axes = figure.add_subplot()
        times = [0.0, *(moment.seconds * 1000 for moment in run.moments)]
        live = [0.0, *(moment.live / _MIB for moment in run.moments)]
        axes.step(times, live, where="post", color=_LINE, linewidth=1.4)
        axes.fill_between(times, live, step="post", color=_LINE, alpha=0.12, linewidth=0)
        budget, peak = run.budget / _MIB, run.peak / _MIB
        axes.axhline(budget, color=_INK, linewidth=1, linestyle="--")
        axes.annotate(f"budget {budget:.4g} MiB", (1, budget), (-2, 3), xycoords=axes.get_yaxis_transform(),
                      textcoords="offset points", ha="right", color=_INK)  # fmt: skip
        at = times[live.index(max(live))]
        axes.annotate(f"peak {peak:.4g} MiB", (at, peak), (4, 4), textcoords="offset points", color=_LINE)
        failures = [moment for moment in run.moments if moment.failed]
        for moment in failures:
            wanted = (moment.live + moment.failed) / _MIB
            axes.plot([moment.seconds * 1000] * 2, [moment.live / _MIB, wanted], color=_BAD, linewidth=1.2)
            axes.plot([moment.seconds * 1000], [wanted], marker="x", color=_BAD, markersize=6, markeredgewidth=1.6)
        if failures:
            first = failures[0]
            text = f"out of memory: {first.failed / _MIB:.4g} MiB more were asked for"
            place = (first.seconds * 1000, (first.live + first.failed) / _MIB)
            left = place[0] > max(times) / 2
            axes.annotate(text, place, (-7 if left else 7, -3), textcoords="offset points",
                          ha="right" if left else "left", color=_BAD)  # fmt: skip
        axes.set_xlabel("milliseconds", color=_QUIET)
        axes.set_ylabel("MiB live", color=_QUIET)
        axes.set_ylim(0, 1.18 * max(budget, peak, *((each.live + each.failed) / _MIB for each in failures)))
        axes.set_xlim(left=0)
        axes.tick_params(colors=_QUIET)
        axes.spines[["top", "right"]].set_visible(False)
        picture = io.StringIO()
        canvas: Any = FigureCanvasSVG(figure)
        canvas.print_svg(picture, metadata={"Date": None, "Creator": None})
    svg = picture.getvalue()[picture.getvalue().index("<svg") :]
    # Nothing in it names another place, and nothing is drawn outside the axes that would have to be clipped.
    svg = re.sub(r'<metadata>.*?</metadata>|<clipPath.*?</clipPath>|\s+clip-path="[^"]*"', "", svg, flags=re.DOTALL)
    # The page is one document: what the library calls the same in every picture must not be the same here.
    svg = re.sub(r'(\bid="|href="#)', rf"\g<1>{name}-", svg)
    return re.sub(r'<svg [^>]*?viewBox="([^"]+)"[^>]*>', r'<svg viewBox="\1" class="plot" role="img">', svg, count=1)
