-- What could not be recorded, on which ranks?
--
-- A rank without a row has lost nothing. If ranks lost calls, record again with a larger `--buffer`.
select run, host, rank,
       sum(case when kind = 'calls' then l.count else 0 end) as calls,
       sum(case when kind = 'times' then l.count else 0 end) as times,
       sum(case when kind = 'others' then l.count else 0 end) as others
from losses as l
group by run, host, rank
order by run, calls desc, host, rank
