-- What do the steps spend their time on?
--
-- The means of all steps of a rank. The first four times add up to the duration. `free_ms` is the time in which the
-- device did nothing, and the five times after it are the causes of its waits.
select run, host, rank, count(*) as steps,
       avg(length_ns / 1e6) as step_ms,
       avg(compute_ns / 1e6) as compute_ms,
       avg(exposed_communication_ns / 1e6) as exposed_communication_ms,
       avg(exposed_copy_ns / 1e6) as exposed_copy_ms,
       avg(idle_ns / 1e6) as free_ms,
       avg(loading_ns / 1e6) as loading_ms,
       avg(python_ns / 1e6) as python_ms,
       avg(planning_ns / 1e6) as planning_ms,
       avg(queue_ns / 1e6) as queue_ms,
       avg(launch_ns / 1e6) as launch_ms,
       sum(case when verdict = 'device-bound' then 1 else 0 end) as device_bound,
       sum(case when verdict = 'communication-bound' then 1 else 0 end) as communication_bound,
       sum(case when verdict = 'data-bound' then 1 else 0 end) as data_bound,
       sum(case when verdict = 'host-bound' then 1 else 0 end) as host_bound
from steps
group by run, host, rank
order by run, host, rank
