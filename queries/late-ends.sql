-- On which ranks do collectives end later than on the others?
--
-- The ends of a collective are compared on all ranks, on one clock: `dataset align` must have run. If the data of a rank arrives
-- late, the rank is behind a slow link. A row is a rank and the collectives of one function and size. `late_us` compares their
-- ends with those on the median rank, and is the median of the differences. `last_share` is the share of
-- collectives that ended last on this rank. `bar_us` is the error bar of the host's clock: a `late_us` within it says
-- nothing. Hosts that are aligned by wall clock only are left out.
with ended as (
    select c.run, c.host, c.rank, c.communicator, coalesce(c.communicator_identity, '') as identity,
           c.communicator_size, c.name, cast(coalesce(c.bytes, 0) as bigint) as bytes, c.number,
           c.end_ns + k.offset_ns + cast(floor((c.end_ns - k.at_ns) * k.rate_ppb / 1e9) as bigint) as end_ns,
           k.bar_ns / 1e3 as bar_us
    from collectives c
    join processes p on c.run = p.run and c.host = p.host and c.rank = p.rank and c.process = p.process
    join clocks k on p.run = k.run and p.host = k.host and coalesce(p.boot_id, '') = coalesce(k.boot_id, '')
    where c.number is not null and c.name is not null and c.name <> '' and k.bar_ns is not null
),
usual as (
    select run, communicator, identity, communicator_size, name, number,
           median(end_ns * 1e0) as end_ns, max(end_ns) as last_ns, count(*) as ranks
    from ended
    group by run, communicator, identity, communicator_size, name, number
),
compared as (
    select e.run, e.host, e.rank, e.name, e.bytes, e.communicator_size, e.bar_us,
           (e.end_ns - u.end_ns) / 1e3 as after_us,
           case when e.end_ns = u.last_ns then 1 else 0 end as is_last
    from ended e
    join usual u on e.run = u.run and e.communicator = u.communicator and e.identity = u.identity
         and e.communicator_size = u.communicator_size and e.name = u.name and e.number = u.number
    where u.ranks > 1
)
select run, name, bytes, communicator_size, host, rank, count(*) as collectives,
       median(after_us) as late_us, max(bar_us) as bar_us, sum(is_last) * 1e0 / count(*) as last_share
from compared
group by run, name, bytes, communicator_size, host, rank
order by round(late_us, 6) desc, run, name, bytes, communicator_size, host, rank
limit 100
