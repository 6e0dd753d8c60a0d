-- What changed from one run to the next?
--
-- Compares the last two runs, by the order of their names. Select two others with `--run`. A row is an operation, by
-- shape, with its time for each step of a rank, or for each rank where the recordings have no steps. The largest
-- changes come first.
with runs as (
    select run, row_number() over (order by run desc) as age
    from (select distinct run from tasks) as names
),
counts as (
    select t.run, coalesce(s.steps, t.ranks) as units
    from (
        select run, count(*) as ranks
        from (select distinct run, host, rank from tasks) as places
        group by run
    ) as t
    left join (select run, count(*) as steps from steps group by run) as s on t.run = s.run
),
operations as (
    select t.kind, t.name, coalesce(t.shapes, '') as shapes,
           sum(case when r.age = 2 then 1e0 else 0e0 end / c.units) as tasks_before,
           sum(case when r.age = 1 then 1e0 else 0e0 end / c.units) as tasks_after,
           sum(case when r.age = 2 then (t.end_ns - t.begin_ns) / 1e6 else 0e0 end / c.units) as before_ms,
           sum(case when r.age = 1 then (t.end_ns - t.begin_ns) / 1e6 else 0e0 end / c.units) as after_ms
    from tasks t
    join runs r on t.run = r.run
    join counts c on t.run = c.run
    where t.begin_ns is not null and r.age <= 2
          and t.kind in ('kernel', 'memcpy', 'memset', 'collective', 'graph', 'other')
    group by t.kind, t.name, coalesce(t.shapes, '')
)
select kind, name, shapes, tasks_before, tasks_after, before_ms, after_ms, after_ms - before_ms as change_ms
from operations
order by round(abs(after_ms - before_ms), 6) desc, kind, name, shapes
limit 100
