-- Finishes a database of `--format sqlite`: indices for what queries look for, and views of joins that they repeat.

CREATE INDEX calls_by_number ON calls (call);
CREATE INDEX calls_by_time ON calls (begin_ns);
CREATE INDEX calls_by_name ON calls (name);
CREATE INDEX tasks_by_number ON tasks (task);
CREATE INDEX tasks_by_call ON tasks (call);
CREATE INDEX tasks_by_time ON tasks (begin_ns);
CREATE INDEX tasks_by_stream ON tasks (process, device, stream_id, begin_ns);
CREATE INDEX tasks_by_name ON tasks (kind, name);
CREATE INDEX dependencies_by_effect ON dependencies (to_type, to_number);
CREATE INDEX dependencies_by_cause ON dependencies (from_type, from_number);
CREATE INDEX stalls_by_time ON stalls (begin_ns);
CREATE INDEX ranges_by_time ON ranges (tid, begin_ns);
CREATE INDEX activities_by_task ON activities (process, task_stream_id, sequence);

-- Tasks with times, next to the calls that submitted them.
CREATE VIEW launches AS
SELECT
    t.task, t.process, t.rank, t.device, t.stream_id, t.kind, t.name,
    t.begin_ns, t.end_ns, t.end_ns - t.begin_ns AS duration_ns, t.err_ns, t.queue_ns, t.bytes,
    c.call, c.tid, c.name AS function, c.begin_ns AS call_begin_ns, c.end_ns - c.begin_ns AS call_ns, c.call_site
FROM tasks AS t LEFT JOIN calls AS c ON c.call = t.call
WHERE t.begin_ns IS NOT NULL;

-- What the device did, by operation. Tasks without times are counted, too.
CREATE VIEW operations AS
SELECT
    kind, name, count(*) AS tasks, sum(begin_ns IS NULL) AS untimed,
    sum(end_ns - begin_ns) AS total_ns, min(end_ns - begin_ns) AS shortest_ns, max(end_ns - begin_ns) AS longest_ns
FROM tasks WHERE kind NOT IN ('record', 'wait')
GROUP BY kind, name;

-- What the host did, by function. Calls that did not return have no result.
CREATE VIEW functions_called AS
SELECT
    c.name, f.role, count(*) AS calls, sum(c.ending IS NOT NULL) AS unfinished, sum(c.ret_name IS NOT NULL AND c.ret <> 0) AS failed,
    sum(c.end_ns - c.begin_ns) AS total_ns, max(c.end_ns - c.begin_ns) AS longest_ns
FROM calls AS c LEFT JOIN functions AS f ON f.name = c.name
GROUP BY c.name, f.role;

-- Each stream: its tasks, and the time between its first and its last one.
CREATE VIEW streams AS
SELECT
    process, rank, device, stream_id, count(*) AS tasks,
    min(begin_ns) AS first_begin_ns, max(end_ns) AS last_end_ns
FROM tasks GROUP BY process, rank, device, stream_id;

-- Idle time of streams and threads, by cause.
CREATE VIEW idle_time AS
SELECT cause, count(*) AS stalls, sum(length_ns) AS total_ns, max(length_ns) AS longest_ns
FROM stalls GROUP BY cause;

ANALYZE;
