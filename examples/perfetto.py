"""What a recording spent its time on, asked from Python with Perfetto's SQL.

    ascend-trace export run.atrace --format perfetto
    pip install perfetto                     # fetches the trace processor when it first runs
    python examples/perfetto.py run.pftrace [TRACE_PROCESSOR_SHELL]

More queries: docs/EXPORT.md.
"""

import sys

from perfetto.trace_processor import TraceProcessor, TraceProcessorConfig

QUERIES = {
    "kernels": """
        SELECT name, COUNT(*) AS runs, SUM(dur) / 1e6 AS total_ms
        FROM slice WHERE category = 'kernel'
        GROUP BY name ORDER BY total_ms DESC LIMIT 10
    """,
    "streams": """
        SELECT EXTRACT_ARG(arg_set_id, 'debug.device') AS device,
               EXTRACT_ARG(arg_set_id, 'debug.stream') AS stream,
               SUM(dur) / 1e6 AS busy_ms
        FROM slice WHERE category IN ('kernel', 'memcpy', 'memset', 'graph', 'other')
        GROUP BY device, stream
    """,
    "idle": """
        SELECT name AS cause, COUNT(*) AS gaps, SUM(dur) / 1e6 AS idle_ms
        FROM slice WHERE category = 'stall'
        GROUP BY cause ORDER BY idle_ms DESC
    """,
}


def main():
    shell = sys.argv[2] if len(sys.argv) > 2 else None
    config = TraceProcessorConfig(bin_path=shell)
    processor = TraceProcessor(trace=sys.argv[1], config=config)
    try:
        for title, query in QUERIES.items():
            print(title)
            for row in processor.query(query):
                print("   ", *(f"{name}={value}" for name, value in vars(row).items()))
    finally:
        processor.close()


if __name__ == "__main__":
    main()
