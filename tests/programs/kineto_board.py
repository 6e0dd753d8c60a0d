"""Loads a folder of `export --format kineto` as TensorBoard's plugin does: FOLDER. Prints a document with the tables that it shows.

SPDX-License-Identifier: MIT OR Apache-2.0"""

import json
import sys
import tempfile

from torch_tb_profiler import io
from torch_tb_profiler.profiler.loader import RunLoader
from torch_tb_profiler.run import DistributedRunProfile


def rows(table):
    """The rows of a table with columns."""
    names = [column.get("name") for column in table["columns"]]
    return [{name: cell for name, cell in zip(names, row) if name} for row in table["rows"]]


def memory(profile):
    if profile.memory_snapshot is None:
        return None
    peaks = profile.memory_snapshot.get_peak_memory()
    curves = profile.get_memory_curve(time_metric="us", memory_metric="B")
    records = profile.memory_snapshot.memory_records
    return {
        "peaks": {str(device): peak for (_, device), peak in peaks.items()},
        "curves": curves["rows"],
        "reserved": max(record.total_reserved for record in records),
        "last": [records[-1].total_allocated, records[-1].total_reserved],
    }


def rank(profile):
    return {
        "views": [view.name for view in profile.views],
        "operators": profile.operation_table_by_name["data"],
        "inputs": profile.operation_table_by_name_input["data"],
        "steps": rows(profile.overview["steps"]),
        "kernels": rows(profile.kernel_table["data"]) if profile.kernel_table else [],
        "memory": memory(profile),
    }


def distributed(profile):
    tables = profile.comm_ops["data"]
    return {
        "operations": {worker: rows(table) for worker, table in tables.items()},
        "overlap": profile.steps_to_overlap["data"],
        "wait": profile.steps_to_wait["data"],
    }


def board(folder):
    with tempfile.TemporaryDirectory() as place:
        with io.Cache(place) as cache:
            run = RunLoader("run", folder, cache).load()
    document = {"ranks": {}, "distributed": None}
    for profile in run.profiles.values():
        if isinstance(profile, DistributedRunProfile):
            document["distributed"] = distributed(profile)
        else:
            document["ranks"][profile.worker] = rank(profile)
    return document


def main():
    folder = sys.argv[1]
    printed, sys.stdout = sys.stdout, sys.stderr
    document = board(folder)
    json.dump(document, printed, default=float)


if __name__ == "__main__":
    main()
