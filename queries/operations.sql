-- Which operations take the time, by shape?
--
-- The 100 operations of each run that take the most time, over all ranks. `share` is the share of all work of the run.
with operations as (
    select run, kind, name, shapes, count(*) as tasks,
           sum(end_ns - begin_ns) as total_ns, min(end_ns - begin_ns) as min_ns, max(end_ns - begin_ns) as max_ns
    from tasks
    where begin_ns is not null and kind in ('kernel', 'memcpy', 'memset', 'collective', 'graph', 'other')
    group by run, kind, name, shapes
),
placed as (
    select run, kind, name, shapes, tasks, total_ns, min_ns, max_ns,
           sum(total_ns) over (partition by run) as all_ns,
           row_number() over (partition by run order by total_ns desc, kind, name, shapes) as place
    from operations
)
select run, kind, name, shapes, tasks,
       total_ns / 1e6 as total_ms,
       total_ns / 1e3 / tasks as mean_us,
       min_ns / 1e3 as min_us,
       max_ns / 1e3 as max_us,
       total_ns * 1e0 / nullif(all_ns, 0) as share
from placed
where place <= 100
order by run, place
