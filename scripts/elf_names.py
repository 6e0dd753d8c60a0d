"""Names in 64-bit little-endian ELF files: symbols that a file needs, those that it defines, and texts in its data."""

import re
import struct

DYNAMIC_SYMBOLS, BITS, ALLOCATED = 11, 1, 2
TEXT = re.compile(rb"(?<=\0)[A-Za-z][A-Za-z0-9]{3,127}(?=\0)")


def sections(data):
    """Type, flags, offset, size and link of each section."""
    (table,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    for number in range(count):
        _, kind, flags, _, offset, length, link = struct.unpack_from("<IIQQQQI", data, table + size * number)
        yield kind, flags, offset, length, link


def symbols(data):
    """Undefined names, and defined ones, of the dynamic symbols."""
    undefined, defined = set(), set()
    every = list(sections(data))
    for kind, _, offset, length, link in every:
        if kind != DYNAMIC_SYMBOLS:
            continue
        names = every[link][2]
        for at in range(offset, offset + length, 24):
            name, _, _, section = struct.unpack_from("<IBBH", data, at)
            text = data[names + name : data.index(b"\0", names + name)].decode(errors="replace")
            (defined if section else undefined).add(text)
    return undefined, defined


def texts(data):
    """Words that are a whole text in a section that is loaded and has no code."""
    executable = 4
    for kind, flags, offset, length, _ in sections(data):
        if kind == BITS and flags & ALLOCATED and not flags & executable:
            part = b"\0" + data[offset : offset + length] + b"\0"
            yield from (word.decode() for word in TEXT.findall(part))


def read(data):
    if data[4:6] != b"\x02\x01":
        return set(), set(), set()
    return *symbols(data), set(texts(data))
