"""The names that a client wants: from wheels, libraries, folders, and lists that wanted.py has written."""

import re
import zipfile

import elf_names

# Groups by the start of a name. A capital letter follows, as in all names of functions there.
GROUPS = [
    ("aclnn", r"aclnn[A-Z]|aclStft"),
    ("acl", r"(acl(rt|mdl|mdlRI|op|prof|tdt|dump|dvpp|grph|sys|blas|fv)?|Acl)[A-Z]"),
    ("rt", r"rts?[A-Z]"),
    ("hccl", r"(Hccl|Lccl)[A-Z]"),
    ("mstx", r"mstx[A-Z]"),
    ("mspti", r"mspti[A-Z]"),
    ("msprof", r"(Msprof|msprof)[A-Z]"),
    ("driver", r"(hal|drv|dcmi|dsmi)[A-Z]"),
]
PATTERNS = [(name, re.compile(start)) for name, start in GROUPS]
PLANNING = "GetWorkspaceSize"
WORD = r"[A-Za-z][A-Za-z0-9]+"
FUNCTION = re.compile(WORD + r"\Z")
CALL = re.compile(rf"\b({WORD})\s*\(")
# Headers declare more than a client calls. Some Python has C++ as a text.
SOURCES = (".c", ".cc", ".cpp", ".py")
CPP_IN_PYTHON = b"#include"
# The more certain evidence is the later one.
EVIDENCE = ["fetched", "called", "linked"]


def group(name):
    """The group of a name, or None."""
    return next((group for group, start in PATTERNS if start.match(name)), None)


def title(path):
    return path.name.split("-cp")[0].removesuffix(".txt").replace("-", " ")


def of(path):
    """A dict from each name to its evidence."""
    if path.suffix == ".txt":
        lines = (line.split() for line in path.read_text().splitlines())
        return {name: evidence for evidence, name in lines}
    found, own = {}, set()
    for name, data in files(path):
        if data[:4] == b"\x7fELF":
            undefined, defined, texts = elf_names.read(data)
            own |= defined
            note(found, undefined, "linked")
            note(found, texts, "fetched")
        elif not name.endswith(".py") or CPP_IN_PYTHON in data:
            note(found, CALL.findall(data.decode(errors="replace")), "called")
    return {name: evidence for name, evidence in found.items() if name not in own}


def files(path):
    """Name and contents of each file that can want something."""
    if path.suffix == ".whl":
        with zipfile.ZipFile(path) as wheel:
            for name in wheel.namelist():
                if ".so" in name or name.endswith(SOURCES):
                    yield name, wheel.read(name)
    elif path.is_dir():
        for file in sorted(path.rglob("*")):
            if file.is_file() and (".so" in file.name or file.name.endswith(SOURCES)):
                yield file.name, file.read_bytes()
    else:
        yield path.name, path.read_bytes()


def note(found, names, evidence):
    for name in names:
        if group(name) is None or not FUNCTION.match(name):
            continue
        if group(name) == "aclnn":
            name = name.removesuffix(PLANNING)
        if EVIDENCE.index(evidence) >= EVIDENCE.index(found.get(name, EVIDENCE[0])):
            found[name] = evidence
