-- How much do the durations of steps vary?
--
-- `spread` is the standard deviation divided by the mean. If the steps of one rank vary
-- more than those of the others, look for the cause on that rank.
select run, host, rank, count(*) as steps,
       min(length_ns) / 1e6 as min_ms,
       median(length_ns / 1e6) as median_ms,
       avg(length_ns / 1e6) as mean_ms,
       max(length_ns) / 1e6 as max_ms,
       stddev_samp(length_ns / 1e6) as deviation_ms,
       stddev_samp(length_ns / 1e6) / nullif(avg(length_ns / 1e6), 0e0) as spread
from steps
group by run, host, rank
order by run, host, rank
