"""The commands: one line here for each. Only the one that is called is imported, so that `--help` is quick."""

from __future__ import annotations

import logging
from collections.abc import Callable, Generator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import version as release
from typing import Annotated, Final

import typer

from rag_probe_collector.cli.terminal import plain
from rag_probe_collector.errors import InputError

_PACKAGE: Final = "rag_probe_collector"


@dataclass(frozen=True, slots=True)
class Command:
    """A function of the command's name in a module of that name."""

    name: str
    help: str
    extra: str = "collector"
    """What has to be installed for it."""


COMMANDS: Final = (
    Command("demo", "Run two sample apps with planted faults and see which stage the report blames.", "demo"),
    Command("collect", "Receive OTLP traces and store them in a spool."),
    Command("paths", "Show the evidence path of every question of a source."),
    Command("score", "Score a source against labelled cases: which stage broke first?"),
    Command("gate", "Decide again on a report, without scoring."),
    Command("metrics", "List the metrics and what each divides by."),
    Command("cases", "Check a register of labelled cases."),
)


class _Stderr(logging.Handler):
    """Warnings about input, in the style of all other messages."""

    def emit(self, record: logging.LogRecord) -> None:
        typer.echo(f"rag-probe: {record.levelname.lower()}: {plain(record.getMessage())}", err=True)


def run(arguments: Sequence[str]) -> int:
    """Run what the arguments ask for and return its exit code; raises InputError for arguments that cannot be used."""
    wanted = next((argument for argument in arguments if not argument.startswith("-")), None)
    try:
        with _warnings_told():
            code: object = _program(wanted)(list(arguments) or ["--help"], prog_name="rag-probe", standalone_mode=False)
    except Exception as error:
        describe = getattr(error, "format_message", None)  # typer's own; its class moved between versions
        if describe is None:
            raise
        known = f"{wanted} " if wanted in {command.name for command in COMMANDS} else ""
        raise InputError(f"{describe()} See rag-probe {known}--help") from None
    return code if isinstance(code, int) else 0


@contextmanager
def _warnings_told() -> Generator[None]:
    handler, logger = _Stderr(logging.WARNING), logging.getLogger("rag_probe")
    logger.addHandler(handler)
    try:
        yield
    finally:
        logger.removeHandler(handler)


def _program(wanted: str | None) -> typer.Typer:
    program = typer.Typer(
        help="See where a RAG answer broke first.",
        add_completion=False,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        context_settings={"help_option_names": ["-h", "--help"]},
    )
    program.callback()(_options)
    for command in COMMANDS:
        function = _load(command) if command.name == wanted else _not_called
        if isinstance(function, typer.Typer):
            program.add_typer(function, name=command.name, help=command.help)
        else:
            program.command(command.name, help=command.help)(function)
    return program


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"rag-probe {release('rag-probe-otel')}")
        raise typer.Exit


_Version = Annotated[
    bool, typer.Option("--version", help="Print the version and exit.", is_eager=True, callback=_print_version)
]


def _options(*, version: _Version = False) -> None:
    """Options of the program itself."""


def _not_called() -> None:
    """Stands for a command in the list of commands."""


def _load(command: Command) -> Callable[..., object] | typer.Typer:
    try:
        module = import_module(f"{_PACKAGE}.cli.{command.name}")
    except ModuleNotFoundError as error:
        if error.name is not None and error.name.partition(".")[0] == _PACKAGE:
            raise InputError(f"{command.name} is not part of this release") from None
        raise InputError(f"{command.name} needs {error.name}; pip install 'rag-probe-otel[{command.extra}]'") from None
    function: Callable[..., object] | typer.Typer = getattr(module, command.name)
    return function
