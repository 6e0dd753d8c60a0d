-- How long do collectives take, and for which rank do the others wait?
--
-- The n-th collective of a communicator is compared on all ranks of a run. The rank with the shortest time came last: its
-- time is that of the transfer, and the rest of the others is waiting. So no clocks are compared. `transfer_us` and
-- `gb_per_s` are medians over the collectives of the same function and size. `waiting_ms` is the waiting of all ranks
-- together. `last_rank` was the last one most often, in `last_share` of the collectives. If no rank is late,
-- each rank is the last one equally often.
with taken as (
    select run, host, rank, communicator, coalesce(communicator_identity, '') as identity, communicator_size,
           name, number, cast(coalesce(bytes, 0) as bigint) as bytes, end_ns - begin_ns as length_ns
    from collectives
    where number is not null and name is not null and name <> ''
),
placed as (
    select run, host, rank, name, bytes, communicator_size, length_ns,
           min(length_ns) over (
               partition by run, communicator, identity, communicator_size, name, number
           ) as transfer_ns,
           count(*) over (partition by run, communicator, identity, communicator_size, name, number) as ranks,
           row_number() over (
               partition by run, communicator, identity, communicator_size, name, number
               order by length_ns, host, rank
           ) as place
    from taken
),
sizes as (
    select run, name, bytes, communicator_size,
           sum(case when place = 1 then 1 else 0 end) as collectives,
           median(case when place = 1 then transfer_ns / 1e3 end) as transfer_us,
           sum(length_ns - transfer_ns) as waiting_ns
    from placed
    where ranks > 1
    group by run, name, bytes, communicator_size
),
lasts as (
    select run, name, bytes, communicator_size, host, rank, count(*) as times,
           row_number() over (
               partition by run, name, bytes, communicator_size order by count(*) desc, host, rank
           ) as place
    from placed
    where ranks > 1 and place = 1
    group by run, name, bytes, communicator_size, host, rank
)
select s.run, s.name, s.bytes, s.communicator_size, s.collectives, s.transfer_us,
       s.bytes / 1e3 / nullif(s.transfer_us, 0e0) as gb_per_s,
       s.waiting_ns / 1e6 as waiting_ms,
       l.host as last_host, l.rank as last_rank, l.times * 1e0 / s.collectives as last_share
from sizes s
join lasts l on s.run = l.run and s.name = l.name and s.bytes = l.bytes
     and s.communicator_size = l.communicator_size
where l.place = 1
order by s.run, waiting_ms desc, s.name, s.bytes, s.communicator_size
