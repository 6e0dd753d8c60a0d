"""Asks the tools that read Kineto's files about a folder of them, and prints their answers as one JSON object.

Usage: kineto_readers.py FOLDER [--stragglers]

With `--stragglers`, only the ranks that are late are found, and when each rank began.

Needs the packages `HolisticTraceAnalysis` (0.5) and `torch-tb-profiler` (0.4).
"""

import json
import logging
import os
import sys
import warnings
from pathlib import Path

# Without this, its times are whole microseconds.
os.environ["HTA_DISABLE_NS_ROUNDING"] = "1"
logging.disable(logging.WARNING)
warnings.filterwarnings("ignore")

from hta.trace_analysis import TraceAnalysis  # noqa: E402
from torch_tb_profiler.profiler.data import RunProfileData  # noqa: E402
from torch_tb_profiler.profiler.run_generator import RunGenerator  # noqa: E402


def holistic(folder):
    analysis = TraceAnalysis(trace_dir=folder)
    temporal = analysis.get_temporal_breakdown(visualize=False)
    idle, _ = analysis.get_idle_time_breakdown(visualize=False)
    queue = analysis.get_queue_length_summary()
    launches = analysis.get_cuda_kernel_launch_stats(visualize=False)
    overlap = analysis.get_comm_comp_overlap(visualize=False)
    bandwidth = analysis.get_memory_bw_summary()
    return {
        "temporal": temporal.to_dict("records"),
        "idle": idle.groupby("stream")["idle_time"].sum().to_dict(),
        "queue": {str(key[1]): row[("queue_length", "max")] for key, row in queue.iterrows()},
        "launches": launches[0].to_dict("records"),
        "overlap": overlap.set_index("rank")["comp_comm_overlap_pctg"][0],
        "bandwidth": sorted(key[1] for key in bandwidth.index),
    }


def stragglers(folder):
    analysis = TraceAnalysis(trace_dir=folder)
    begins = {rank: float(analysis.t.get_trace(rank)["ts"].min()) for rank in analysis.t.get_all_traces()}
    late = analysis.get_potential_stragglers(num_candidates=1)
    return {"stragglers": [int(rank) for rank in late], "begins": begins}


def tensorboard(path, folder):
    profile = RunProfileData.parse("worker", None, str(path), folder)
    views = RunGenerator("worker", None, profile).generate_run_profile().views
    return {
        "steps": profile.steps_names,
        "devices": profile.used_devices,
        "views": [view.name for view in views],
        "busy": [profile.gpu_metrics_parser.gpu_utilization[it] for it in profile.used_devices],
    }


def main():
    folder = sys.argv[1]
    if "--stragglers" in sys.argv:
        print(json.dumps(stragglers(folder)))
        return
    answers = {"holistic": holistic(folder)}
    for path in sorted(Path(folder).glob("*.pt.trace.json")):
        answers[path.name] = tensorboard(path, folder)
    print(json.dumps(answers, default=float))


if __name__ == "__main__":
    main()
