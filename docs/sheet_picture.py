"""Takes docs/sheet.png anew: a candidate's sheet, the interviewer's edition and the key of a question, side by side."""
# ruff: noqa: INP001 - a script

from pathlib import Path

import pypdfium2
from PIL import Image

from proctorch.bank.bank import Bank
from proctorch.sheet import pdf
from proctorch.sheet.settings import Settings, changed
from proctorch.sheet.sheet import Edition, Sheet

_SCALE, _GAP = 1.2, 20


def main() -> None:
    """Writes the picture."""
    bank = Bank.load(parse_graders=False)
    question = bank.find("half-moved-batch")
    settings = changed(Settings(), {"organisation": "Northwind Vision", "date": "2026-11-30"}, Path())
    shown = []
    for edition, page in ((Edition.CANDIDATE, 0), (Edition.INTERVIEWER, 2), (Edition.KEY, 0)):
        sheet = Sheet.make(bank, [question], edition, settings, question.title)
        document = pypdfium2.PdfDocument(pdf.render(sheet).content)
        shown.append(document[page].render(scale=_SCALE).to_pil())
    width = sum(each.width for each in shown) + _GAP * (len(shown) + 1)
    whole = Image.new("RGB", (width, shown[0].height + 2 * _GAP), "#d9dbd8")
    for at, each in enumerate(shown):
        whole.paste(each, (_GAP + at * (each.width + _GAP), _GAP))
    whole.save(Path(__file__).with_name("sheet.png"), optimize=True)


main()
