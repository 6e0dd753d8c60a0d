-- Which links between ranks are slow?
--
-- A row is a pair of ranks that exchange messages of one size in one run. The shorter time of the two ends is that of the
-- transfer: the other end waited as well. `transfer_us` is the median, and `ratio` compares it with the median of all
-- pairs of the same size. The slowest links come first.
with messages as (
    select run, communicator, communicator_size, from_rank, to_rank, number, cast(coalesce(bytes, 0) as bigint) as bytes,
           min(end_ns - begin_ns) / 1e3 as transfer_us
    from collectives
    where number is not null and from_rank is not null and to_rank is not null
    group by run, communicator, coalesce(communicator_identity, ''), communicator_size, from_rank, to_rank, number,
             cast(coalesce(bytes, 0) as bigint)
),
links as (
    select run, communicator_size, from_rank, to_rank, bytes, count(*) as messages,
           median(transfer_us) as transfer_us
    from messages
    group by run, communicator_size, from_rank, to_rank, bytes
),
usual as (
    select run, communicator_size, bytes, median(transfer_us) as usual_us
    from links
    group by run, communicator_size, bytes
)
select l.run, l.communicator_size, l.from_rank, l.to_rank, l.bytes, l.messages, l.transfer_us,
       l.bytes / 1e3 / nullif(l.transfer_us, 0e0) as gb_per_s,
       l.transfer_us / nullif(u.usual_us, 0e0) as ratio
from links l
join usual u on l.run = u.run and l.communicator_size = u.communicator_size and l.bytes = u.bytes
order by ratio desc, l.run, l.bytes, l.from_rank, l.to_rank, l.communicator_size
limit 100
