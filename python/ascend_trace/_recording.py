"""Recordings, read through the command `ascend-trace`."""

import builtins
import json
import os
import shutil
import subprocess
import sysconfig
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any, Dict, List, Optional, Sequence, Union

if TYPE_CHECKING:
    import pyarrow

#: Names another command.
COMMAND_VARIABLE = "ASCEND_TRACE_COMMAND"


class Error(Exception):
    """The command did not do what was asked: its message."""


def _command() -> str:
    named = os.environ.get(COMMAND_VARIABLE)
    if named:
        return named
    schemes = [sysconfig.get_default_scheme() if hasattr(sysconfig, "get_default_scheme") else None, "posix_user"]
    for scheme in schemes:
        folder = sysconfig.get_path("scripts") if scheme is None else sysconfig.get_path("scripts", scheme)
        beside = Path(folder or ".") / "ascend-trace"
        if beside.is_file():
            return str(beside)
    found = shutil.which("ascend-trace")
    if found is None:
        raise Error(f"there is no command ascend-trace in PATH: install it, or name it in {COMMAND_VARIABLE}")
    return found


def _run(words: Sequence[str]) -> str:
    command = _command()
    try:
        done = subprocess.run([command, *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=False)
    except OSError as error:
        raise Error(f"cannot run {command}: {error.strerror}") from error
    if done.returncode != 0:
        raise Error(_message(done.stderr) or f"{command} ended with status {done.returncode}")
    return done.stdout.decode("utf-8", "replace")


def _message(stderr: bytes) -> str:
    prefix = "ascend-trace: "
    lines = stderr.decode("utf-8", "replace").splitlines()
    lines = [line[len(prefix) :] if line.startswith(prefix) else line for line in lines]
    # What helps at a command line does not help here.
    return "\n".join(line for line in lines if not line.startswith("ascend-trace --help"))


class Recording:
    """A recording, a part of it, or what matches of it.

    Tables are exported once, to a temporary folder that goes with this object.
    """

    def __init__(self, path: Union[str, "os.PathLike[str]"], range: Optional[str] = None, only: Sequence[str] = ()) -> None:
        self.path = Path(path)
        if isinstance(only, str):
            raise TypeError("only is a list of conditions, such as ['device=0', 'kind=kernel']")
        if not self.path.is_file():
            raise FileNotFoundError(f"{self.path}: no such recording")
        self._narrowing: List[str] = []
        if range is not None:
            self._narrowing += ["--range", range]
        for condition in only:
            self._narrowing += ["--only", condition]
        self._folder: Optional["tempfile.TemporaryDirectory[str]"] = None

    def __repr__(self) -> str:
        narrowing = "".join(f" {word}" for word in self._narrowing)
        return f"<Recording {self.path}{narrowing}>"

    def __enter__(self) -> "Recording":
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Remove the exported tables."""
        if self._folder is not None:
            self._folder.cleanup()
            self._folder = None

    def _tables(self) -> Path:
        if self._folder is None:
            folder = tempfile.TemporaryDirectory(prefix="ascend-trace-")
            to = str(Path(folder.name) / "tables")
            try:
                _run(["export", "--format", "parquet", "--output", to, *self._narrowing, "--", str(self.path)])
            except BaseException:
                folder.cleanup()
                raise
            self._folder = folder
        return Path(self._folder.name) / "tables"

    def names(self) -> List[str]:
        """Return the names of the tables; `ascend-trace help exports` describes them."""
        return sorted(path.stem for path in self._tables().glob("*.parquet"))

    def table(self, name: str) -> "pyarrow.Table":
        """Return a table. Its columns have their units in their names."""
        try:
            import pyarrow.parquet
        except ImportError as error:
            raise ImportError("tables need the package pyarrow: pip install pyarrow") from error
        path = self._tables() / f"{name}.parquet"
        if not path.is_file():
            raise KeyError(f"there is no table {name}; there are {', '.join(self.names())}")
        return pyarrow.parquet.read_table(path)

    def tasks(self) -> "pyarrow.Table":
        """Return what ran on the devices, one row for each task."""
        return self.table("tasks")

    def calls(self) -> "pyarrow.Table":
        """Return the AscendCL calls of the program, one row for each call."""
        return self.table("calls")

    def stalls(self) -> "pyarrow.Table":
        """Return why streams and threads waited."""
        return self.table("stalls")

    def ranges(self) -> "pyarrow.Table":
        """Return the named ranges of threads."""
        return self.table("ranges")

    def _document(self, command: str, *words: str) -> Dict[str, Any]:
        document = json.loads(_run([command, "--json", *words, "--", str(self.path)]))
        return builtins.dict(document)

    def info(self) -> Dict[str, Any]:
        """Return what the whole recording contains, as `ascend-trace info --json` prints it."""
        return self._document("info")

    def stats(self) -> Dict[str, Any]:
        """Return sums over the range, as `ascend-trace stats --json` prints them."""
        at = self._narrowing.index("--range") if "--range" in self._narrowing else None
        return self._document("stats", *(self._narrowing[at : at + 2] if at is not None else []))

    def steps(self) -> Dict[str, Any]:
        """Return the steps of the whole recording, as `ascend-trace steps --json` prints them."""
        return self._document("steps")


def open(path: Union[str, "os.PathLike[str]"], range: Optional[str] = None, only: Sequence[str] = ()) -> Recording:
    """Open a recording, or a part of it.

    `range` is a part of its time, such as `"1.5ms..20ms"`. `only` has conditions as `ascend-trace export --only` takes
    them, such as `["device=0", "kind=kernel"]`.
    """
    return Recording(path, range, only)
