"""Prints the names of AscendCL and of the libraries around it that a client wants, and how many of them this project has.

wanted.py [--softacl FOLDER] [--missing] FILE...   a table for each wheel, library, folder or list of names
wanted.py --list FILE                              the names of one of them, as a list for tests/clients
wanted.py --rows [--softacl FOLDER] FILE...        one table for all of them, as docs/CLIENTS.md has it

A name is linked (an undefined symbol of a library), called (a call in C++ that the client compiles when it runs), or
fetched (a text of a library that reads like a function's name: most are looked up with dlsym, some only occur in messages).
The two phases of an operator are one name. --softacl adds the functions that softacl has: the folder is the output of
`ascend-trace soft --lib-dir`. --missing names each function that no table has, or that softacl does not have.
"""

import argparse
import collections
import pathlib
import sys

import wanted_names
import wanted_tables

COLUMNS = ["group", "wanted", "typed", "stub", "unknown"]
COLUMNS_OF_SOFTACL = ["softacl has", "refuses", "lacks"]


def counts(names, tables, exports):
    """One row for each group: how many names the tables and softacl have."""
    kinds = collections.Counter(tables.kind(name) for name in names)
    row = [len(names), kinds["typed"], kinds["stub"], kinds["unknown"]]
    if exports is not None:
        states = collections.Counter(tables.state(name, exports) for name in names)
        row += [states["has"] + states["refuses"], states["refuses"], states["lacks"]]
    return row


def table(wanted, tables, exports):
    """The lines of the table of one client."""
    groups = collections.defaultdict(list)
    for name in wanted:
        groups[wanted_names.group(name)].append(name)
    yield COLUMNS + (COLUMNS_OF_SOFTACL if exports is not None else [])
    for group in sorted(groups):
        yield [group, *counts(groups[group], tables, exports)]
    yield ["all", *counts(list(wanted), tables, exports)]


def missing(wanted, tables, exports):
    """Names that the tables or softacl lack, with the reason."""
    for name in sorted(wanted):
        reasons = [tables.kind(name)] if tables.kind(name) != "typed" else []
        if exports is not None and tables.state(name, exports) != "has":
            reasons.append(f"softacl {tables.state(name, exports)}")
        if reasons:
            yield f"{name} ({wanted[name]}): {', '.join(reasons)}"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--softacl", metavar="FOLDER", type=pathlib.Path)
    parser.add_argument("--missing", action="store_true")
    parser.add_argument("--list", action="store_true")
    parser.add_argument("--rows", action="store_true")
    parser.add_argument("files", metavar="FILE", nargs="+", type=pathlib.Path)
    given = parser.parse_args()
    if given.list:
        for file in given.files:
            names = wanted_names.of(file)
            sys.stdout.writelines(f"{names[name]} {name}\n" for name in sorted(names))
        return
    tables = wanted_tables.Tables()
    exports = wanted_tables.exports(given.softacl) if given.softacl else None
    for file in given.files:
        wanted = wanted_names.of(file)
        if given.rows:
            for row in list(table(wanted, tables, exports))[1:]:
                print("| " + " | ".join(map(str, [wanted_names.title(file), *row])) + " |")
            continue
        print(f"{wanted_names.title(file)}\n")
        for number, row in enumerate(table(wanted, tables, exports)):
            print("| " + " | ".join(map(str, row)) + " |")
            if number == 0:
                print("|---" * len(row) + "|")
        print()
        if given.missing:
            print("\n".join(missing(wanted, tables, exports)) + "\n")


main()
