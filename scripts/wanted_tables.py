"""The functions that this project has: those of the tables of the interface, and those of softacl."""

import pathlib
import re

import elf_names

ROOT = pathlib.Path(__file__).resolve().parent.parent
DATA = ROOT / "crates/inject/hookgen/data"
ROW_OF_MANUAL = re.compile(r"^\| (\w+) \| (real|accepted|unsupported) \|", re.MULTILINE)
PLANNING = "GetWorkspaceSize"
# Names that the tracer records without a table (docs/HOOKING.md, names.rs of the interposer).
RECORDED = re.compile(r"acl[A-Za-z]|Acl.|Hccl.|Lccl.|mstx.")


class Tables:
    def __init__(self):
        self.names = set()
        for table in DATA.glob("api*.tsv"):
            self.names |= names(table)
        self.operators = names(DATA / "operators.tsv")
        manual = (ROOT / "docs/SOFTACL.md").read_text()
        self.refused = {name for name, state in ROW_OF_MANUAL.findall(manual) if state == "unsupported"}

    def kind(self, name):
        """typed: a table has the arguments; stub: recorded by name alone; unknown: not recorded."""
        if name in self.names or name in self.operators:
            return "typed"
        return "stub" if RECORDED.match(name) else "unknown"

    def state(self, name, exports):
        """has, refuses (the function returns "not supported"), or lacks."""
        if name not in exports:
            return "lacks"
        if name in self.operators and f"{name}{PLANNING}" not in exports and name not in self.names:
            return "lacks"
        return "refuses" if name in self.refused else "has"


def names(table):
    """The first column of a table."""
    return {line.split("\t")[0] for line in table.read_text().splitlines()[1:]}


def exports(folder):
    """All names that softacl's libraries define."""
    names = set()
    for library in {path.resolve() for path in folder.glob("*.so")}:
        names |= elf_names.symbols(library.read_bytes())[1]
    return names
