-- Which mistakes did the checks find, and on how many ranks?
--
-- The worst come first. `example` is the text of one finding.
select run, severity, f.check, count(*) as findings, sum(f.count) as calls,
       sum(total_ns) / 1e6 as total_ms,
       min(what) as example
from findings as f
group by run, severity, f.check
order by run,
         case severity when 'error' then 0 when 'warning' then 1 else 2 end,
         total_ms desc, f.check
