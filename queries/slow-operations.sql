-- Which rank runs the same operation more slowly than the others?
--
-- A row is an operation, by shape, on a rank where its mean duration is longer than the median rank's. The worst come
-- first: `extra_ms` is the time that the rank would save with the median rank's mean duration. A device with a lower clock, or a
-- faulty one, has many rows here. Collectives are left out: they include waiting for others.
with operations as (
    select run, host, rank, device, kind, name, shapes, count(*) as tasks,
           sum(end_ns - begin_ns) / 1e6 / count(*) as mean_ms
    from tasks
    where begin_ns is not null and kind in ('kernel', 'memcpy', 'memset', 'graph', 'other')
    group by run, host, rank, device, kind, name, shapes
),
medians as (
    select run, kind, name, coalesce(shapes, '') as shapes, count(*) as places, median(mean_ms) as median_ms
    from operations
    group by run, kind, name, coalesce(shapes, '')
)
select o.run, o.host, o.rank, o.device, o.kind, o.name, o.shapes, o.tasks,
       o.mean_ms, m.median_ms,
       o.mean_ms / nullif(m.median_ms, 0e0) as ratio,
       (o.mean_ms - m.median_ms) * o.tasks as extra_ms
from operations o
join medians m on o.run = m.run and o.kind = m.kind and o.name = m.name and coalesce(o.shapes, '') = m.shapes
where m.places > 1 and o.mean_ms > m.median_ms
order by round((o.mean_ms - m.median_ms) * o.tasks, 6) desc, o.run, o.host, o.rank, o.device, o.kind, o.name, o.shapes
limit 100
