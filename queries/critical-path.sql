-- What is the critical path of each recording made of?
--
-- `share` is the share of the path of the rank. `unsure_ms` is the part where something else may be on the path
-- instead, within the error bars.
with sums as (
    select run, host, rank, kind, name, count(*) as pieces, sum(length_ns) as total_ns,
           sum(case when tie = 1 then length_ns else 0 end) as unsure_ns
    from critical
    group by run, host, rank, kind, name
),
placed as (
    select run, host, rank, kind, name, pieces, total_ns, unsure_ns,
           sum(total_ns) over (partition by run, host, rank) as all_ns,
           row_number() over (partition by run, host, rank order by total_ns desc, kind, name) as place
    from sums
)
select run, host, rank, kind, name, pieces,
       total_ns / 1e6 as total_ms,
       total_ns * 1e0 / nullif(all_ns, 0) as share,
       unsure_ns / 1e6 as unsure_ms
from placed
where place <= 20
order by run, host, rank, place
