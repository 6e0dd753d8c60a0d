-- Which ranks hold up the others?
--
-- The n-th steps of all ranks of a run are compared by the time in which a rank did something else than communicate. A
-- rank that is early waits in communication for the late one. `slowest_in` counts the steps in which the rank was the slowest.
-- `late_ms` adds up by how much these steps were longer than the median of all ranks. `more_of` is what they had more
-- of than the median, and `more_ms` by how much.
with numbered as (
    select run, host, rank,
           row_number() over (partition by run, host, rank order by begin_ns, process, tid) as step,
           (length_ns - exposed_communication_ns) / 1e6 as own_ms,
           compute_ns / 1e6 as compute_ms, exposed_copy_ns / 1e6 as copy_ms, loading_ns / 1e6 as loading_ms,
           python_ns / 1e6 as python_ms, planning_ns / 1e6 as planning_ms, queue_ns / 1e6 as queue_ms,
           launch_ns / 1e6 as launch_ms
    from steps
),
medians as (
    select run, step, count(*) as ranks, median(own_ms) as own_ms,
           median(compute_ms) as compute_ms, median(copy_ms) as copy_ms, median(loading_ms) as loading_ms,
           median(python_ms) as python_ms, median(planning_ms) as planning_ms, median(queue_ms) as queue_ms,
           median(launch_ms) as launch_ms
    from numbered
    group by run, step
),
compared as (
    select n.run, n.host, n.rank, n.step, n.own_ms, n.own_ms - m.own_ms as late_ms,
           row_number() over (partition by n.run, n.step order by n.own_ms desc, n.host, n.rank) as place,
           n.compute_ms - m.compute_ms as compute_ms, n.copy_ms - m.copy_ms as copy_ms,
           n.loading_ms - m.loading_ms as loading_ms, n.python_ms - m.python_ms as python_ms,
           n.planning_ms - m.planning_ms as planning_ms, n.queue_ms - m.queue_ms as queue_ms,
           n.launch_ms - m.launch_ms as launch_ms
    from numbered n
    join medians m on n.run = m.run and n.step = m.step
    where m.ranks > 1
),
summed as (
    select run, host, rank, count(*) as steps, avg(own_ms) as mean_own_ms,
           sum(case when place = 1 then 1 else 0 end) as slowest_in,
           sum(case when place = 1 then late_ms else 0e0 end) as late_ms,
           sum(case when place = 1 then compute_ms else 0e0 end) as compute_ms,
           sum(case when place = 1 then copy_ms else 0e0 end) as copy_ms,
           sum(case when place = 1 then loading_ms else 0e0 end) as loading_ms,
           sum(case when place = 1 then python_ms else 0e0 end) as python_ms,
           sum(case when place = 1 then planning_ms else 0e0 end) as planning_ms,
           sum(case when place = 1 then queue_ms else 0e0 end) as queue_ms,
           sum(case when place = 1 then launch_ms else 0e0 end) as launch_ms
    from compared
    group by run, host, rank
),
most as (
    select run, host, rank, steps, mean_own_ms, slowest_in, late_ms,
           compute_ms, copy_ms, loading_ms, python_ms, planning_ms, queue_ms, launch_ms,
           greatest(compute_ms, copy_ms, loading_ms, python_ms, planning_ms, queue_ms, launch_ms) as more_ms
    from summed
)
select run, host, rank, steps, slowest_in, late_ms, mean_own_ms,
       case
           when slowest_in = 0 or more_ms <= 0 then null
           when more_ms = compute_ms then 'computing'
           when more_ms = copy_ms then 'copies'
           when more_ms = loading_ms then 'loading'
           when more_ms = python_ms then 'python'
           when more_ms = planning_ms then 'planning'
           when more_ms = queue_ms then 'queue'
           else 'launch'
       end as more_of,
       case when slowest_in > 0 and more_ms > 0 then more_ms end as more_ms
from most
order by run, late_ms desc, host, rank
