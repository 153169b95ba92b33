"""The command: parses, calls, prints, and turns what happened into an exit code. It decides nothing.

Modules are imported inside the commands that need them: what grades nothing starts without torch and without pytest.
"""

import os
import sys

import click

from proctorch.cli.grading import grade, report
from proctorch.cli.machine import doctor, schema
from proctorch.cli.proving import verify
from proctorch.cli.questions import list_, new, show, start
from proctorch.cli.sheets import kit, sheet, templates
from proctorch.errors import ExitCode, ProctorchError
from proctorch.markup import visible


def main() -> None:
    """The console script: every error is one message and an exit code."""
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8 shows `?` rather than nothing
    sys.exit(_run())


def _run() -> int:
    try:
        code = cli.main(prog_name="proctorch", standalone_mode=False)
        return int(code or 0)
    except click.ClickException as error:
        error.show()
        return error.exit_code
    except (click.Abort, KeyboardInterrupt):
        click.echo("interrupted", err=True)
        return ExitCode.INTERRUPTED
    except ProctorchError as error:
        told = visible(str(error))  # a message may quote the name of a stranger's file
        click.echo(f"proctorch: {told}" if error.exit_code is not ExitCode.USAGE else told, err=True)
        return error.exit_code
    except BrokenPipeError:  # the reader, `head` say, has seen enough
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return ExitCode.OK
    except Exception as error:
        if os.environ.get("PROCTORCH_DEBUG"):
            raise
        told = f"proctorch: a bug in Proctorch: {type(error).__name__}: {error}\nPROCTORCH_DEBUG=1 shows where"
        click.echo(told, err=True)
        return ExitCode.JUDGE_ERROR


@click.group(context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(package_name="proctorch")
def cli() -> None:
    """Proctorch, the PyTorch interview proctor: questions about devices, and graders that can be trusted."""


for _command in (list_, show, start, new, sheet, kit, templates, grade, report, verify, doctor, schema):
    cli.add_command(_command)
