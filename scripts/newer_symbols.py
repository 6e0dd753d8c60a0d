"""Prints the versions of glibc, newer than a given one, that ELF files need: newer_symbols.py 2.17 FILE...

A version counts when the file cannot be loaded without it: not when all its symbols are weak.
"""

import struct
import sys

GNU_VERNEED, WEAK = 0x6FFFFFFE, 2


def text(data, at):
    return data[at : data.index(b"\0", at)].decode()


def needed(data):
    """Names of the versions that a 64-bit little-endian ELF file needs."""
    if data[:6] != b"\x7fELF\x02\x01":
        raise SystemExit("not a 64-bit little-endian ELF file")
    (sections,) = struct.unpack_from("<Q", data, 40)
    size, count = struct.unpack_from("<HH", data, 58)
    headers = [struct.unpack_from("<IIQQQQIIQQ", data, sections + size * i) for i in range(count)]
    for header in headers:
        if header[1] != GNU_VERNEED:
            continue
        library, strings = header[4], headers[header[6]][4]
        while True:
            _, _, _, first, following = struct.unpack_from("<HHIII", data, library)
            version = library + first
            while True:
                _, flags, _, name, step = struct.unpack_from("<IHHII", data, version)
                if not flags & WEAK:
                    yield text(data, strings + name)
                if step == 0:
                    break
                version += step
            if following == 0:
                break
            library += following


def numbers(name):
    return tuple(int(part) for part in name.split("."))


def main(limit, *paths):
    for path in paths:
        with open(path, "rb") as file:
            data = file.read()
        for name in sorted(set(needed(data))):
            version = name.removeprefix("GLIBC_")
            if version != name and version[0].isdigit() and numbers(version) > numbers(limit):
                print(f"{path}: {name}")


main(*sys.argv[1:])
