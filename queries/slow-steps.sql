-- Which steps were slow, which rank was the slowest in them, and with what?
--
-- A row is the n-th step of all ranks of a run, the worst first. `own_ms` is the time in which the slowest rank did
-- something else than communicate. `late_ms` is by how much this was longer than the median of all ranks. `step_ms` is
-- the longest duration of the step, and `usual_ms` is the median of `step_ms` over all steps of the run.
with numbered as (
    select run, host, rank, name,
           row_number() over (partition by run, host, rank order by begin_ns, process, tid) as step,
           length_ns / 1e6 as length_ms,
           (length_ns - exposed_communication_ns) / 1e6 as own_ms,
           compute_ns / 1e6 as compute_ms, exposed_copy_ns / 1e6 as copy_ms, loading_ns / 1e6 as loading_ms,
           python_ns / 1e6 as python_ms, planning_ns / 1e6 as planning_ms, queue_ns / 1e6 as queue_ms,
           launch_ns / 1e6 as launch_ms
    from steps
),
medians as (
    select run, step, count(*) as ranks, median(own_ms) as own_ms, max(length_ms) as step_ms,
           median(compute_ms) as compute_ms, median(copy_ms) as copy_ms, median(loading_ms) as loading_ms,
           median(python_ms) as python_ms, median(planning_ms) as planning_ms, median(queue_ms) as queue_ms,
           median(launch_ms) as launch_ms
    from numbered
    group by run, step
),
usual as (
    select run, median(step_ms) as usual_ms from medians group by run
),
compared as (
    select n.run, n.step, n.name, m.ranks, n.host, n.rank, m.step_ms, u.usual_ms, n.own_ms,
           n.own_ms - m.own_ms as late_ms,
           row_number() over (partition by n.run, n.step order by n.own_ms desc, n.host, n.rank) as place,
           n.compute_ms - m.compute_ms as compute_ms, n.copy_ms - m.copy_ms as copy_ms,
           n.loading_ms - m.loading_ms as loading_ms, n.python_ms - m.python_ms as python_ms,
           n.planning_ms - m.planning_ms as planning_ms, n.queue_ms - m.queue_ms as queue_ms,
           n.launch_ms - m.launch_ms as launch_ms
    from numbered n
    join medians m on n.run = m.run and n.step = m.step
    join usual u on n.run = u.run
),
most as (
    select run, step, name, ranks, host, rank, step_ms, usual_ms, own_ms, late_ms, place,
           compute_ms, copy_ms, loading_ms, python_ms, planning_ms, queue_ms, launch_ms,
           greatest(compute_ms, copy_ms, loading_ms, python_ms, planning_ms, queue_ms, launch_ms) as more_ms
    from compared
)
select run, step, name, ranks, step_ms, usual_ms, host, rank, own_ms, late_ms,
       case
           when more_ms <= 0 then null
           when more_ms = compute_ms then 'computing'
           when more_ms = copy_ms then 'copies'
           when more_ms = loading_ms then 'loading'
           when more_ms = python_ms then 'python'
           when more_ms = planning_ms then 'planning'
           when more_ms = queue_ms then 'queue'
           else 'launch'
       end as more_of,
       case when more_ms > 0 then more_ms end as more_ms
from most
where place = 1
order by round(step_ms - usual_ms, 6) desc, round(late_ms, 6) desc, run, step
limit 100
