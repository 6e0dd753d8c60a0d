-- How busy is each device, and with what?
--
-- Times are unions over the streams of the device: time in which two streams computed counts once. `hidden` is
-- communication, or a copy, at the same time as computing. `idle_ms` is the time between the first begin and the last
-- end in which no stream worked.
with work as (
    select run, host, rank, device, begin_ns, end_ns,
           case when kind in ('kernel', 'graph', 'other') then 1 else 0 end as computes,
           case when kind = 'collective' then 1 else 0 end as communicates,
           case when kind in ('memcpy', 'memset') then 1 else 0 end as copies
    from tasks
    where begin_ns is not null and kind in ('kernel', 'memcpy', 'memset', 'collective', 'graph', 'other')
),
points as (
    select run, host, rank, device, begin_ns as at_ns, computes, communicates, copies from work
    union all
    select run, host, rank, device, end_ns as at_ns, -computes, -communicates, -copies from work
),
states as (
    select run, host, rank, device,
           lead(at_ns) over (partition by run, host, rank, device order by at_ns) - at_ns as for_ns,
           sum(computes) over (partition by run, host, rank, device order by at_ns) as computes,
           sum(communicates) over (partition by run, host, rank, device order by at_ns) as communicates,
           sum(copies) over (partition by run, host, rank, device order by at_ns) as copies
    from points
)
select run, host, rank, device,
       sum(case when computes > 0 then for_ns else 0 end) / 1e6 as compute_ms,
       sum(case when communicates > 0 then for_ns else 0 end) / 1e6 as communication_ms,
       sum(case when communicates > 0 and computes > 0 then for_ns else 0 end) / 1e6 as hidden_communication_ms,
       sum(case when copies > 0 then for_ns else 0 end) / 1e6 as copy_ms,
       sum(case when copies > 0 and computes > 0 then for_ns else 0 end) / 1e6 as hidden_copy_ms,
       sum(case when computes = 0 and communicates = 0 and copies = 0 then for_ns else 0 end) / 1e6 as idle_ms,
       sum(case when computes > 0 or communicates > 0 or copies > 0 then for_ns else 0 end) * 1e0
           / nullif(sum(for_ns), 0) as busy_share
from states
group by run, host, rank, device
order by run, host, rank, device
