-- How busy is each stream?
--
-- `busy_share` is the share of the time from the first begin to the last end of the rank's tasks in which the stream
-- worked. Waits and records of events are not work.
with spans as (
    select run, host, rank, min(begin_ns) as first_ns, max(end_ns) as last_ns
    from tasks
    where begin_ns is not null
    group by run, host, rank
),
streams as (
    select run, host, rank, process, device, stream_id, count(*) as tasks, sum(end_ns - begin_ns) as busy_ns
    from tasks
    where begin_ns is not null and kind in ('kernel', 'memcpy', 'memset', 'collective', 'graph', 'other')
    group by run, host, rank, process, device, stream_id
)
select t.run, t.host, t.rank, t.process, t.device, t.stream_id, t.tasks,
       t.busy_ns / 1e6 as busy_ms,
       (s.last_ns - s.first_ns) / 1e6 as span_ms,
       t.busy_ns * 1e0 / nullif(s.last_ns - s.first_ns, 0) as busy_share
from streams t
join spans s on t.run = s.run and t.host = s.host and t.rank = s.rank
order by t.run, t.host, t.rank, t.process, t.device, t.stream_id
