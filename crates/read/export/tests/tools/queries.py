"""Answers queries for Perfetto with SQLite, on tables like those of its trace processor.

Usage: queries.py < DOCUMENT

The document is a JSON object with `slices` (objects with the columns of `slice`, and `args` by their flat keys), `flows`
(pairs of ids) and `queries` (texts). Prints the rows of each query as JSON lists. Needs nothing but Python.
"""

import json
import sqlite3
import sys


def tables(document):
    base = sqlite3.connect(":memory:")
    base.execute(
        "CREATE TABLE slice (id INT, ts INT, dur INT, track_id INT, category TEXT, name TEXT, parent_id INT, arg_set_id INT)"
    )
    base.execute("CREATE TABLE flow (slice_out INT, slice_in INT)")
    sets = {}
    for it in document["slices"]:
        row = [it[key] for key in ("id", "ts", "dur", "track_id", "category", "name", "parent_id")]
        base.execute("INSERT INTO slice VALUES (?, ?, ?, ?, ?, ?, ?, ?)", [*row, it["id"]])
        sets[it["id"]] = it["args"]
    base.executemany("INSERT INTO flow VALUES (?, ?)", document["flows"])
    base.create_function("EXTRACT_ARG", 2, lambda number, key: sets[number].get(key), deterministic=True)
    return base


def main():
    document = json.load(sys.stdin)
    base = tables(document)
    print(json.dumps([base.execute(query).fetchall() for query in document["queries"]]))


if __name__ == "__main__":
    main()
