"""The sheet's page, as a browser shows and prints it."""

import html
import json
import re
from pathlib import Path
from typing import Any

import pypdfium2
import pytest

from proctorch.bank.bank import Bank
from proctorch.sheet import html as page
from proctorch.sheet.settings import Settings, changed
from proctorch.sheet.sheet import Edition, Item, Sheet
from tests.browser import Browser

#: What is written down of each frame. Clicks on "Copy" come first: what would be in the clipboard is a part of it.
MEASURE = r"""
const luminance = ([red, green, blue]) => [red, green, blue]
  .map(each => each / 255).map(each => each <= 0.04045 ? each / 12.92 : ((each + 0.055) / 1.055) ** 2.4)
  .reduce((sum, each, at) => sum + each * [0.2126, 0.7152, 0.0722][at], 0);
const canvas = document.createElement("canvas").getContext("2d", {willReadFrequently: true});
const known = new Map();
function pixel(colour) {
  if (!known.has(colour)) {
    canvas.clearRect(0, 0, 1, 1);
    canvas.fillStyle = colour;
    canvas.fillRect(0, 0, 1, 1);
    known.set(colour, [...canvas.getImageData(0, 0, 1, 1).data]);
  }
  return known.get(colour);
}
function ground(element) {
  for (; element; element = element.parentElement) {
    const colour = pixel(getComputedStyle(element).backgroundColor);
    if (colour[3] === 255) return colour;
    if (colour[3]) throw `a ground that shines through: ${element.outerHTML.slice(0, 80)}`;
  }
}
function contrast(element, pseudo) {
  const two = [pixel(getComputedStyle(element, pseudo).color), ground(element)].map(luminance);
  return (Math.max(...two) + 0.05) / (Math.min(...two) + 0.05);
}
function measured(frame) {
  const page = frame.contentDocument, width = page.documentElement.clientWidth;
  const copied = [], clipboard = {writeText: async text => copied.push(text)};
  Object.defineProperty(frame.contentWindow.navigator, "clipboard", {value: clipboard});
  for (const button of page.querySelectorAll("button.copy")) if (button.offsetWidth) button.click();
  const cut = [], broken = [], pale = [];
  const texts = page.createTreeWalker(page.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const text = texts.currentNode, element = text.parentElement;
    if (!text.data.trim() || !element.checkVisibility()) continue;
    let block = element;
    while (getComputedStyle(block).display === "inline") block = block.parentElement;
    const {left, right} = block.getBoundingClientRect(), range = page.createRange();
    const boxes = word => {
      range.setStart(text, word.index);
      range.setEnd(text, word.index + word[0].length);
      return [...range.getClientRects()];
    };
    for (const word of text.data.matchAll(/\S+/g)) {
      for (const each of boxes(word)) {
        if (each.left < Math.max(left, 0) - 0.5 || each.right > Math.min(right, width) + 0.5) cut.push(word[0]);
      }
    }
    if (!element.closest("code, pre")) {
      for (const word of text.data.matchAll(/[A-Za-z]{2,22}/g)) if (boxes(word).length > 1) broken.push(word[0]);
    }
    if (contrast(element) < 4.5) pale.push(`${contrast(element).toFixed(2)} ${element.outerHTML.slice(0, 80)}`);
  }
  for (const item of page.querySelectorAll("li")) if (contrast(item, "::marker") < 4.5) pale.push(item.outerHTML);
  for (const each of page.querySelectorAll("*:not(.unseen)")) {
    const hides = getComputedStyle(each).overflowX !== "visible" && each.scrollWidth > each.clientWidth;
    if (hides) cut.push(each.outerHTML.slice(0, 80));
  }
  return {
    name: frame.name,
    dark: frame.contentWindow.matchMedia("(prefers-color-scheme: dark)").matches,
    over: page.documentElement.scrollWidth - width,
    cut, broken, pale, copied,
    loaded: frame.contentWindow.performance.getEntriesByType("resource").map(each => each.name),
  };
}
addEventListener("load", () => {
  const said = document.createElement("pre");
  said.textContent = JSON.stringify([...document.querySelectorAll("iframe")].map(measured));
  document.body.replaceChildren(said);
});
"""


def sheet(edition: Edition, **given: Any) -> Sheet:
    """All questions of the bank."""
    loaded = Bank.load(parse_graders=False)
    return Sheet.make(loaded, loaded.questions, edition, changed(Settings(), given, Path()), "The whole bank")


def listings(edition: Edition, item: Item) -> list[str]:
    """The code that stands on a sheet for one question."""
    solutions = [each.source for each in item.solutions]
    return {
        Edition.CANDIDATE: [item.question.starter],
        Edition.INTERVIEWER: [item.question.starter, *solutions[:1]],
        Edition.KEY: solutions,
    }[edition]


@pytest.mark.parametrize(("width", "accent"), [(390, "#ffcc00"), (1366, "#1f5f8b")])
def test_on_a_screen(browser: Browser, tmp_path: Path, width: int, accent: str) -> None:
    """On a phone and a laptop, by day and by night, all is there to be read, and nothing is asked of the network.

    The page does not scroll sideways, no text is cut, no word of a sentence is broken, each text stands out from its
    ground, whatever the team's accent, and "Copy" copies the code.
    """
    sheets = {edition: sheet(edition, accent=accent) for edition in Edition}
    shown = [*((edition, "light") for edition in Edition), (Edition.INTERVIEWER, "dark")]
    frames = [
        f'<iframe name="{edition.value} {scheme}" style="width:{width}px;height:800px;border:0;color-scheme:{scheme}"'
        f' srcdoc="{html.escape(page.render(sheets[edition]))}"></iframe>'
        for edition, scheme in shown
    ]
    (tmp_path / "frames.html").write_text(
        f'<!doctype html><meta charset="utf-8"><body>{"".join(frames)}<script>{MEASURE}</script>', encoding="utf-8"
    )
    dom = browser(tmp_path / "frames.html", "--dump-dom")
    said = json.loads(html.unescape(re.findall(r"<pre>(.*)</pre>", dom, re.DOTALL)[-1]))
    code = {
        edition: [source for item in each.items for source in listings(edition, item)]
        for edition, each in sheets.items()
    }
    nothing: dict[str, object] = {"over": 0, "cut": [], "broken": [], "pale": [], "loaded": []}
    assert said == [
        {"name": f"{edition.value} {scheme}", "dark": scheme == "dark", "copied": code[edition]} | nothing
        for edition, scheme in shown
    ]


def test_on_paper(browser: Browser, tmp_path: Path) -> None:
    """Printed on A4, each line of code is there and within the margins, no page is empty, and there is no button."""
    printed = sheet(Edition.INTERVIEWER, language="de")
    (tmp_path / "sheet.html").write_text(page.render(printed), encoding="utf-8")
    browser(tmp_path / "sheet.html", "--no-pdf-header-footer", f"--print-to-pdf={tmp_path / 'sheet.pdf'}")
    document = pypdfium2.PdfDocument(tmp_path / "sheet.pdf")
    assert {(round(width), round(height)) for width, height in (each.get_size() for each in document)} == {(595, 842)}
    written = [each.get_textpage() for each in document]
    texts = [each.get_text_range() for each in written]
    assert [at for at, text in enumerate(texts, 1) if len(text.split()) < 5] == []
    boxes = [each.get_rect(at) for each in written for at in range(each.count_rects())]
    assert min(left for left, *_ in boxes) > 44  # 16 mm are 45.4 points, and a sign may stand out a little
    assert max(right for _, _, right, _ in boxes) < 595 - 44
    whole = "".join("".join(texts).split())
    for item in printed.items:
        for line in "\n".join(listings(Edition.INTERVIEWER, item)).splitlines():
            assert "".join(line.split()) in whole, f"{item.question.id}: {line}"
    assert "Aufgabe" in texts[0]
    assert "Kopieren" not in "".join(texts)
