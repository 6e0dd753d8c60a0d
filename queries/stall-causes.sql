-- Why did streams and threads wait, on all ranks?
--
-- A row is a cause ([STALLS.md](STALLS.md)) in a run. `ranks` counts the ranks that have it. `worst_rank` is the rank
-- that lost the most time to it, and `worst_ms` is that time.
with sums as (
    select run, cause, host, rank, case when stream_id is null then 'thread' else 'stream' end as held_up,
           count(*) as stalls, sum(length_ns) as total_ns
    from stalls
    group by run, cause, host, rank, case when stream_id is null then 'thread' else 'stream' end
),
placed as (
    select run, cause, held_up, host, rank, stalls, total_ns,
           row_number() over (partition by run, cause, held_up order by total_ns desc, host, rank) as place
    from sums
)
select run, held_up, cause, sum(stalls) as stalls, count(*) as ranks,
       sum(total_ns) / 1e6 as total_ms,
       max(case when place = 1 then host end) as worst_host,
       max(case when place = 1 then rank end) as worst_rank,
       max(total_ns) / 1e6 as worst_ms
from placed
group by run, held_up, cause
order by run, held_up, total_ms desc, cause
