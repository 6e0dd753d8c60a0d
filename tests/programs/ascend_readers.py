"""Runs msprof-analyze with the folders of an export: COMMAND FOLDER OUTPUT. Prints a document with the tables that each mode of
`cluster` made, the sheets that `compare` made of the first two ranks, with and without databases, and the text of `advisor`.

SPDX-License-Identifier: MIT OR Apache-2.0"""

import contextlib
import glob
import json
import os
import shutil
import sqlite3
import subprocess
import sys
import zipfile
from xml.etree import ElementTree

from msprof_analyze.cluster_analyse.cluster_analysis import ALL_FEATURE_LIST, Interface

# The first one needs the recording of a GPU, the second one cannot be loaded, and the third one needs results in the folder.
NOT_ALONE = {"calibrate_npu_gpu", "cluster_compare_baseline", "cluster_time_compare_summary"}


def tables(folder):
    found = {}
    for path in glob.glob(os.path.join(folder, "cluster_analysis_output", "*.db")):
        with contextlib.closing(sqlite3.connect(path)) as database:
            database.row_factory = sqlite3.Row
            names = database.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
            for (name,) in names:
                found[name] = [dict(row) for row in database.execute(f'SELECT * FROM "{name}"')]
    return found


def cluster(mode, folder, output, *more):
    os.makedirs(output, exist_ok=True)
    arguments = {
        "profiling_path": folder,
        "mode": mode,
        "output_path": output,
        "force": True,
        "parallel_mode": "concurrent",
        "export_type": "db",
        "rank_list": "all",
        "step_id": -1,
        "args": list(more),
    }
    Interface(arguments).run()
    return tables(output)


def run(command, *words):
    words = [command, *words, "--force"]
    ran = subprocess.run(words, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    if ran.returncode != 0:
        raise SystemExit(f"{words} ended with {ran.returncode}: {ran.stdout}")
    return ran.stdout


def sheets(path):
    """The cells with a value of each row, by sheet."""
    space = "{http://schemas.openxmlformats.org/spreadsheetml/2006/main}"
    with zipfile.ZipFile(path) as book:
        part = lambda name: ElementTree.fromstring(book.read(f"xl/{name}.xml"))
        texts = ["".join(text.text or "" for text in item.iter(f"{space}t")) for item in part("sharedStrings")]
        found = {}
        for number, sheet in enumerate(part("workbook").find(f"{space}sheets"), 1):
            rows = []
            for row in part(f"worksheets/sheet{number}").iter(f"{space}row"):
                cells = [(cell.get("t"), cell.findtext(f"{space}v")) for cell in row]
                rows.append([texts[int(value)] if kind == "s" else value for kind, value in cells if value is not None])
            found[sheet.get("name")] = rows
        return found


def compare(command, folder, output):
    first, second = sorted(glob.glob(os.path.join(folder, "*_ascend_pt")), key=lambda it: it[-len("_ascend_pt") - 3 :])[:2]
    os.makedirs(output)
    run(command, "compare", "-d", first, "-bp", second, "-o", output)
    (made,) = glob.glob(os.path.join(output, "*.xlsx"))
    return sheets(made)


def without_databases(folder, copy):
    shutil.copytree(folder, copy)
    for path in glob.glob(os.path.join(copy, "**", "*.db"), recursive=True):
        os.remove(path)
    return copy


def main():
    command, folder, output = sys.argv[1:4]
    printed, sys.stdout = sys.stdout, sys.stderr
    texts = without_databases(folder, os.path.join(output, "texts"))
    document = {
        "compare": compare(command, folder, os.path.join(output, "compare")),
        "compare_texts": compare(command, texts, os.path.join(output, "compare_texts")),
        "advisor": run(command, "advisor", "all", "-l", "en", "-d", folder, "-o", os.path.join(output, "advisor")),
        "cluster": {},
    }
    for mode in sorted(set(ALL_FEATURE_LIST) - NOT_ALONE):
        document["cluster"][mode] = cluster(mode, folder, os.path.join(output, "cluster", mode))
    results = os.path.join("cluster_time_summary", "cluster_analysis_output")
    shutil.copytree(os.path.join(output, "cluster", results), os.path.join(folder, "cluster_analysis_output"))
    mode = "cluster_time_compare_summary"
    document["cluster"][mode] = cluster(mode, folder, folder, "--bp", folder)
    json.dump(document, printed)


if __name__ == "__main__":
    main()
