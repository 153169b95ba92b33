"""The fixed words of a sheet in each language that it can be printed in. A question's own text stays as it is."""
# ruff: noqa: RUF001 - Chinese has its own comma

import datetime as dt
from collections.abc import Mapping

#: By language: the words that templates ask for. Every language has every key; a test holds that.
CATALOGUE: Mapping[str, Mapping[str, str]] = {
    "en": {
        "language": "English",
        "candidate": "Interview sheet",
        "interviewer": "Interviewer's edition",
        "key": "Answer key",
        "confidential": "Not for candidates",
        "question": "Question",
        "task": "The task",
        "one_question": "question",
        "questions": "questions",
        "minutes": "min",
        "points": "points",
        "total": "In total",
        "difficulty": "Difficulty",
        "form": "Form",
        "page": "Page",
        "of": "of",
        "name": "Name",
        "date": "Date",
        "identity": "Identity number",
        "email": "E-mail",
        "signature": "Signature",
        "instructions": "Before you start",
        "given": "Given code",
        "checks": "What is checked",
        "answer": "Your answer",
        "notes": "Notes",
        "ask": "Ask aloud",
        "in_depth": "What a full answer explains",
        "scenario": "Scenario",
        "mistakes": "Common mistakes",
        "mistake": "Mistake",
        "why": "Why it fails",
        "caught_by": "Caught by",
        "spoken": "in the talk",
        "follow_ups": "Follow-up questions",
        "related": "Related",
        "rubric": "Score of the talk",
        "strong": "strong",
        "pass": "pass",
        "weak": "weak",
        "probes": "If the candidate stalls",
        "hints": "Hints, the gentlest first",
        "solution": "Model solution",
        "solutions": "Solutions",
        "from_minute": "from minute",
        "to_minute": "to",
        "score": "Score",
        "copy_code": "Copy",
        "copied": "Copied",
        "prefer": (
            "Answers are Python code, with the names and the parameters of the given code. Nothing needs to be "
            "remembered by heart: documentation may be asked for."
        ),
        "kit_files": "What is here",
        "kit_sheet": "the questions, to read or to print",
        "kit_starter": "your answer goes here",
        "kit_notebook": "the same as a notebook; use one of the two",
        "kit_self_check": "a self-check: it tries what the sheet shows",
        "kit_install": "Install",
        "kit_install_told": "Python 3.11 or later is needed, and no GPU.",
        "kit_solve": "Solve",
        "kit_solve_told": "Keep the names and the parameters of what the given code defines. The rest is up to you.",
        "kit_try": "Try",
        "kit_try_told": "In a notebook, run the cell of the self-check instead.",
        "kit_hand_in": "Hand in",
        "kit_hand_in_told": (
            "Pack the files with your answers, and send `answer.zip`. If your answer is in a notebook, name "
            "that file instead. Files that your answer imports belong in it too."
        ),
        "kit_graded": (
            "Your answers are run by hidden checks, on the CPU and on a second device. They look at more "
            "than the self-check does."
        ),
        "kit_bank": "the questions with their graders and solutions, as a bank",
        "kit_form": (
            "The form id is on the candidate's sheet too. If the two differ, they are not of the same questions."
        ),
        "kit_grade": "Grade",
        "kit_grade_told": "Put the candidates' `answer.zip` files into a folder, each under the candidate's name.",
    },
    "de": {
        "language": "Deutsch",
        "candidate": "Aufgabenblatt",
        "interviewer": "Ausgabe für Interviewer",
        "key": "Lösungen",
        "confidential": "Nicht für Kandidaten",
        "question": "Aufgabe",
        "task": "Die Aufgabe",
        "one_question": "Aufgabe",
        "questions": "Aufgaben",
        "minutes": "Min.",
        "points": "Punkte",
        "total": "Insgesamt",
        "difficulty": "Schwierigkeit",
        "form": "Bogen",
        "page": "Seite",
        "of": "von",
        "name": "Name",
        "date": "Datum",
        "identity": "Kennnummer",
        "email": "E-Mail",
        "signature": "Unterschrift",
        "instructions": "Bevor es losgeht",
        "given": "Gegebener Code",
        "checks": "Was geprüft wird",
        "answer": "Antwort",
        "notes": "Notizen",
        "ask": "Mündliche Frage",
        "in_depth": "Was eine vollständige Antwort erklärt",
        "scenario": "Szenario",
        "mistakes": "Häufige Fehler",
        "mistake": "Fehler",
        "why": "Warum es scheitert",
        "caught_by": "Entdeckt durch",
        "spoken": "im Gespräch",
        "follow_ups": "Anschlussfragen",
        "related": "Verwandte Themen",
        "rubric": "Bewertung des Gesprächs",
        "strong": "stark",
        "pass": "bestanden",
        "weak": "schwach",
        "probes": "Wenn es stockt",
        "hints": "Hinweise, der sanfteste zuerst",
        "solution": "Musterlösung",
        "solutions": "Lösungen",
        "from_minute": "ab Minute",
        "to_minute": "bis",
        "score": "Wertung",
        "copy_code": "Kopieren",
        "copied": "Kopiert",
        "prefer": "Antworten sind Python-Code. Nichts muss auswendig gewusst werden; nach der Doku darf man fragen.",
        "kit_files": "Was hier liegt",
        "kit_sheet": "die Aufgaben, zum Lesen oder Drucken",
        "kit_starter": "hierhin kommt die Antwort",
        "kit_notebook": "dasselbe als Notebook; eines von beiden genügt",
        "kit_self_check": "ein Selbsttest: er probiert, was das Blatt zeigt",
        "kit_install": "Installieren",
        "kit_install_told": "Nötig ist Python 3.11 oder neuer, aber keine GPU.",
        "kit_solve": "Lösen",
        "kit_solve_told": (
            "Namen und Parameter dessen, was der gegebene Code definiert, bleiben. Alles andere ist frei."
        ),
        "kit_try": "Probieren",
        "kit_try_told": "Im Notebook stattdessen die Zelle mit dem Selbsttest ausführen.",
        "kit_hand_in": "Abgeben",
        "kit_hand_in_told": (
            "Die Dateien mit den Antworten packen und `answer.zip` senden. Steht die Antwort in einem "
            "Notebook, statt der `.py`-Datei dieses nennen. Auch Dateien, die sie importiert, gehören dazu."
        ),
        "kit_graded": (
            "Verborgene Prüfungen führen die Antworten aus, auf der CPU und auf einem zweiten Gerät. Sie "
            "sehen auf mehr als der Selbsttest."
        ),
        "kit_bank": "die Aufgaben mit Prüfungen und Lösungen",
        "kit_form": (
            "Die Bogennummer steht auch auf dem Blatt der Kandidaten. Weichen beide ab, so gehören sie nicht zusammen."
        ),
        "kit_grade": "Bewerten",
        "kit_grade_told": (
            "Die `answer.zip` der Kandidaten in einen Ordner legen, jede unter dem Namen ihres Kandidaten."
        ),
    },
    "zh": {
        "language": "中文",
        "candidate": "面试题",
        "interviewer": "面试官版",
        "key": "参考答案",
        "confidential": "请勿发给候选人",
        "question": "题目",
        "task": "题目",
        "one_question": "道题",
        "questions": "道题",
        "minutes": "分钟",
        "points": "分",
        "total": "合计",
        "difficulty": "难度",
        "form": "试卷号",
        "page": "页",
        "of": "/",
        "name": "姓名",
        "date": "日期",
        "identity": "证件号",
        "email": "邮箱",
        "signature": "签名",
        "instructions": "开始之前",
        "given": "给定代码",
        "checks": "检查项",
        "answer": "作答区",
        "notes": "备注",
        "ask": "口头提问",
        "in_depth": "完整回答应说明",
        "scenario": "场景",
        "mistakes": "常见错误",
        "mistake": "错误",
        "why": "原因",
        "caught_by": "对应检查",
        "spoken": "面谈中",
        "follow_ups": "追问",
        "related": "相关知识",
        "rubric": "口试评分",
        "strong": "优秀",
        "pass": "通过",
        "weak": "不足",
        "probes": "候选人卡住时",
        "hints": "提示，由浅入深",
        "solution": "参考解答",
        "solutions": "解答",
        "from_minute": "起始分钟",
        "to_minute": "至",
        "score": "得分",
        "copy_code": "复制",
        "copied": "已复制",
        "prefer": "用 Python 代码作答。不要求背诵，可以询问文档内容。",
        "kit_files": "文件说明",
        "kit_sheet": "题目，可阅读或打印",
        "kit_starter": "在此作答",
        "kit_notebook": "同一题的笔记本，二选一",
        "kit_self_check": "自测：只检验题目中给出的示例",
        "kit_install": "安装",
        "kit_install_told": "需要 Python 3.11 或更高版本，不需要 GPU。",
        "kit_solve": "作答",
        "kit_solve_told": "请保留给定代码中的名称和参数，其余可自由修改。",
        "kit_try": "自测",
        "kit_try_told": "使用笔记本时，请运行其中的自测单元格。",
        "kit_hand_in": "提交",
        "kit_hand_in_told": (
            "将作答文件打包，并发送 `answer.zip`。若在笔记本中作答，请改为写出该文件名。"
            "作答代码导入的文件也要一并打包。"
        ),
        "kit_graded": "隐藏检查会在 CPU 和第二个设备上运行你的代码，检查范围大于自测。",
        "kit_bank": "题目及其评分程序和解答",
        "kit_form": "候选人的试卷上也有试卷号。两者不同，则不是同一套题。",
        "kit_grade": "评分",
        "kit_grade_told": "将候选人的 `answer.zip` 放入一个文件夹，并以候选人姓名命名。",
    },
}

_MONTHS = {
    "en": (
        *("January", "February", "March", "April", "May", "June"),
        *("July", "August", "September", "October", "November", "December"),
    ),
    "de": (
        *("Januar", "Februar", "März", "April", "Mai", "Juni"),
        *("Juli", "August", "September", "Oktober", "November", "Dezember"),
    ),
}


def date_in_words(day: dt.date, language: str) -> str:
    """A day as the language writes it, such as `30 November 2026`."""
    match language:
        case "zh":
            return f"{day.year}年{day.month}月{day.day}日"
        case "de":
            return f"{day.day}. {_MONTHS['de'][day.month - 1]} {day.year}"
        case _:
            return f"{day.day} {_MONTHS['en'][day.month - 1]} {day.year}"
