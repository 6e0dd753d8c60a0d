//! The tables of communication.

use std::collections::BTreeMap;

use ascend_trace_recording::ProcessId;

use super::Communication;
use super::part_times::{Bandwidth, PartTimes, estimate};
use super::stages::Stages;
use super::sums::{LastCount, LastRanks, Sums};
use super::waited::WaitedTime;
use crate::columns::declare::*;

/// The columns of the times in the field `times`.
#[rustfmt::skip]
macro_rules! part_times {
    () => {
        [
            column("calls", Count, |it: &Self| it.times.calls.into(), "calls of all ranks in the recording").json::<u64>().shown("calls", 0),
            column("timed", Count, |it: &Self| it.times.timed.into(), "calls that have a time").json::<u64>().text("timed").if_any(|it: &Self| it.times.timed < it.times.calls),
            column("bytes", Bytes, |it: &Self| it.times.size(), "sum over these calls of the size of the collective: the buffer that all ranks have, or the shares of all ranks together; `null` where no size is known").json::<Option<u64>>(),
            column("without_size", Count, |it: &Self| it.times.without_size.into(), "calls that are not in it, because their size is not known").json::<u64>(),
            column("", Bytes, |it: &Self| it.times.least_size(), "the size").shown("size", 80),
            column("time_ns", Duration, |it: &Self| it.times.whole().into(), "from begin to end, all timed calls together").json::<Option<i64>>(),
            column("time_error_ns", Duration, |it: &Self| it.times.whole_error().into(), "by how much it may be off").json::<Option<i64>>(),
            column("", Duration, |it: &Self| estimate(it.times.time, it.times.timed, it.times.timed), "the time and its error").shown("time", 0),
            column("split", Count, |it: &Self| it.times.split.into(), "timed calls with a known wait: all ranks of the collective have times on clocks that can be compared").json::<u64>().text("split").if_any(|it: &Self| it.times.split > 0 && it.times.split < it.times.timed),
            column("wait_ns", Duration, |it: &Self| it.times.wait().into(), "the part of these until the last rank had begun; `null` if it is not known").json::<Option<i64>>(),
            column("wait_error_ns", Duration, |it: &Self| it.times.wait_error().into(), "by how much it may be off").json::<Option<i64>>(),
            column("", Duration, |it: &Self| estimate(it.times.wait, it.times.split, it.times.timed), "the wait and its error").shown("wait for last", 0),
            column("transfer_ns", Duration, |it: &Self| it.times.transfer().into(), "the part of these after that; `null` if it is not known").json::<Option<i64>>(),
            column("transfer_error_ns", Duration, |it: &Self| it.times.transfer_error().into(), "by how much it may be off").json::<Option<i64>>(),
            column("", Duration, |it: &Self| estimate(it.times.transfer, it.times.split, it.times.timed), "the transfer and its error").shown("transfer", 90),
        ]
    };
}

/// The columns of bandwidth.
#[rustfmt::skip]
macro_rules! bandwidths {
    () => {
        [
            column("algorithm_bandwidth", Rate, |it: &Self| it.times.bandwidth_value(Bandwidth::Algorithm), "bytes in a second: size / transfer; where no transfer is known, size / time, which is the least that it can be; `null` if no size is known").json::<Option<i64>>().shown("algorithm", 120),
            column("algorithm_bandwidth_error", Rate, |it: &Self| it.times.bandwidth_error(Bandwidth::Algorithm), "by how much it may be off, from the error of the transfer; `null` where it is only the least").json::<Option<i64>>(),
            column("bus_bandwidth", Rate, |it: &Self| it.times.bandwidth_value(Bandwidth::Bus), "the same times the factor of nccl-tests for n ranks. The factor is 2 (n-1) / n for an all-reduce, (n-1) / n where each rank has a share, otherwise 1").json::<Option<i64>>().shown("bus", 140),
            column("bus_bandwidth_error", Rate, |it: &Self| it.times.bandwidth_error(Bandwidth::Bus), "by how much it may be off").json::<Option<i64>>(),
            column("bandwidth_is_least", Flag, |it: &Self| it.times.bandwidth(Bandwidth::Algorithm).is_some_and(|it| it.2).into(), "whether both bandwidths are only the least: the time contains the wait for the last rank, or more than half of the transfer may be error").json::<bool>(),
        ]
    };
}

/// The columns of computing during collectives.
#[rustfmt::skip]
macro_rules! meanwhile {
    () => {
        [
            column("computing_ns", Duration, |it: &Self| it.times.meanwhile.time.value_ns().into(), "the part of the time in which the same device computed for the same process").json::<i64>(),
            column("computing_error_ns", Duration, |it: &Self| it.times.meanwhile.time.error_ns().into(), "by how much it may be off").json::<i64>(),
            column("computing_is_least", Flag, |it: &Self| it.times.meanwhile.is_least.into(), "whether there was further computing without a time").json::<bool>(),
            column("", Duration, |it: &Self| it.times.computing(), "computing and its error").shown("computing", 160),
        ]
    };
}

table_row! {
/// Communicators of several ranks that are one.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupStats {
    pub group: u32 => column("group", Id, |it: &Self| it.group.into(), "number of the group, by its first use").text("group");
    pub ranks: Option<u64> => column("ranks", Count, |it: &Self| it.ranks.into(), "ranks of the group; `null` if no recorded call made the communicator").text("ranks");
    pub recorded: u64 => column("recorded_ranks", Count, |it: &Self| it.recorded.into(), "ranks with collectives in the recording").text("recorded");
    pub identity: String => column("identity", Word, |it: &Self| it.identity.as_str().into(), "the same text at all ranks of a group; empty if no call shows it");
    pub unknown: Option<&'static str> => column("unknown", Text, |it: &Self| it.unknown.into(), "why waits are not known and bandwidth is only the least, or `null`").text("waits are not known, because").if_any(|it: &Self| it.unknown.is_some());
}
}

table_row! {
/// The collectives of one function in one group.
#[derive(Clone, Debug, PartialEq)]
pub struct CollectiveStats {
    pub group: u32 => column("group", Id, |it: &Self| it.group.into(), "the group, as in `groups[]`").shown("group", 110);
    pub name: String => column("name", Text, |it: &Self| (&it.name).into(), "the function").shown("collective", 0);
    ..part_times!();
    => column("with_last", Count, |it: &Self| it.lasts.certain.into(), "collectives in which one rank was the last one, by more than the errors").json::<u64>();
    => column("last_rank", Id, |it: &Self| it.last().map(|it| it.0 as i64).into(), "the rank of the group that the others waited for longest; `null` if none is known").json::<Option<u64>>();
    => column("last_count", Count, |it: &Self| it.last().map(|it| it.1.count).into(), "in how many of `with_last` it was the last one").json::<Option<u64>>();
    => column("last_wait_ns", Duration, |it: &Self| it.last().map(|it| it.1.waited.value_ns()).into(), "how long the others waited in these, together").json::<Option<i64>>();
    => column("", Figures, |it: &Self| it.last_words(), "the last rank, and how often it was").shown("last rank", 0);
    pub late_rank: Option<u64> => column("late_rank", Id, |it: &Self| it.late_rank.map(|it| it as i64).into(), "the rank that is late: it was the last one more often than chance gives (1 in 100), and waits for it took at least a tenth of the time. Otherwise `null`").text("late rank").if_any(|it: &Self| it.late_rank.is_some());
    ..bandwidths!();
    ..meanwhile!();
    pub(crate) times: PartTimes;
    pub(super) lasts: LastRanks;
}
}

table_row! {
/// One rank of a group.
#[derive(Clone, Debug, PartialEq)]
pub struct RankStats {
    pub group: u32 => column("group", Id, |it: &Self| it.group.into(), "the group, as in `groups[]`").shown("group", 110);
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").shown("process", 100);
    pub rank: Option<u64> => column("rank", Id, |it: &Self| it.rank.map(|it| it as i64).into(), "rank of the process; `null` where it is unknown").shown("rank", 0);
    pub group_rank: Option<u64> => column("group_rank", Id, |it: &Self| it.group_rank.map(|it| it as i64).into(), "its rank in the group, as in `last_rank`; `null` where it is unknown").text("rank in group");
    ..part_times!();
    => column("last_count", Count, |it: &Self| it.last.count.into(), "in how many collectives it was the last one, by more than the errors").json::<u64>().shown("last", 100);
    => column("last_wait_ns", Duration, |it: &Self| it.last.waited.value_ns().into(), "how long the others waited for it in these, together").json::<i64>().shown("waited for", 0);
    ..meanwhile!();
    pub(crate) times: PartTimes;
    pub(super) last: LastCount;
}
}

table_row! {
/// Messages from one rank to another one.
#[derive(Clone, Debug, PartialEq)]
pub struct LinkStats {
    pub group: u32 => column("group", Id, |it: &Self| it.group.into(), "the group, as in `groups[]`").shown("group", 110);
    pub from: u64 => column("from_rank", Unsigned, |it: &Self| it.from.into(), "the rank of the group that sends").shown("from", 0);
    pub to: u64 => column("to_rank", Unsigned, |it: &Self| it.to.into(), "the rank that receives").shown("to", 0);
    ..part_times!();
    ..bandwidths!();
    pub of_usual: Option<f64> => column("of_usual", Share, |it: &Self| it.of_usual.into(), "its algorithm bandwidth as a part of the median of all links of the group. If the median is only the least, the part is at most this. `null` with fewer than three links, or if its own bandwidth is only the least").text("of median %").if_any(|it: &Self| it.of_usual.is_some());
    pub(crate) times: PartTimes;
}
}

table_row! {
/// A rank that is a stage of a pipeline.
#[derive(Clone, Debug, PartialEq)]
pub struct StageStats {
    pub group: u32 => column("group", Id, |it: &Self| it.group.into(), "the group, as in `groups[]`").shown("group", 110);
    pub stage: u32 => column("stage", Count, |it: &Self| it.stage.into(), "its place in the pipeline, from 0, by the first messages of the ranks").shown("stage", 0);
    pub process: u32 => column("process", Id, |it: &Self| it.process.into(), "number of the process in the recording").shown("process", 100);
    pub rank: Option<u64> => column("rank", Id, |it: &Self| it.rank.map(|it| it as i64).into(), "rank of the process; `null` where it is unknown").shown("rank", 0);
    pub group_rank: u64 => column("group_rank", Unsigned, |it: &Self| it.group_rank.into(), "its rank in the group").text("rank in group");
    pub calls: u64 => column("calls", Count, |it: &Self| it.calls.into(), "its calls that pass messages").shown("calls", 80);
    pub split: u64 => column("split", Count, |it: &Self| it.split.into(), "calls of these with a known wait").text("split").if_any(|it: &Self| it.split < it.calls);
    pub active_ns: i64 => column("active_ns", Duration, |it: &Self| it.active_ns.into(), "from the begin of the first timed task of the process to the end of its last one").json::<i64>().shown("first to last task", 0);
    => column("waiting_ns", Duration, |it: &Self| it.waiting().map(|it| it.0).into(), "time in which messages waited for the other rank; waits at the same time count once; the least if `split` is less than `calls`; `null` if no wait is known").json::<Option<i64>>();
    => column("waiting_error_ns", Duration, |it: &Self| it.waiting().map(|it| it.1).into(), "by how much it may be off").json::<Option<i64>>();
    => column("", Duration, |it: &Self| it.shown_waiting(), "the wait and its error").shown("waits in messages", 0);
    => column("waiting_share", Share, |it: &Self| it.waiting_share().into(), "the same as a part of `active_ns`").json::<Option<f64>>().shown("waits %", 0);
    pub(super) waited: WaitedTime;
}
}

impl StageStats {
    fn waiting(&self) -> Option<(i64, i64)> {
        (self.split > 0).then(|| self.waited.time())
    }

    fn shown_waiting(&self) -> Value<'static> {
        let missing = self.calls.saturating_sub(self.split);
        self.waiting()
            .map_or(Value::Unknown, |it| Value::estimate(it, missing))
    }

    fn waiting_share(&self) -> Option<f64> {
        let (waited, _) = self.waiting().filter(|_| self.active_ns > 0)?;
        Some(waited as f64 / self.active_ns as f64)
    }
}

impl PartTimes {
    fn size(&self) -> Value<'static> {
        match self.calls > self.without_size {
            true => Value::Unsigned(self.bytes),
            false => Value::Unknown,
        }
    }

    fn least_size(&self) -> Value<'static> {
        match i64::try_from(self.bytes) {
            Ok(bytes) if self.calls > self.without_size => {
                Value::estimate((bytes, 0), self.without_size)
            }
            _ => Value::Unknown,
        }
    }

    fn whole(&self) -> Option<i64> {
        (self.timed > 0).then(|| self.time.value_ns())
    }

    fn whole_error(&self) -> Option<i64> {
        (self.timed > 0).then(|| self.time.error_ns())
    }

    fn wait(&self) -> Option<i64> {
        (self.split > 0).then(|| self.wait.value_ns())
    }

    fn wait_error(&self) -> Option<i64> {
        (self.split > 0).then(|| self.wait.error_ns())
    }

    fn transfer(&self) -> Option<i64> {
        (self.split > 0).then(|| self.transfer.value_ns())
    }

    fn transfer_error(&self) -> Option<i64> {
        (self.split > 0).then(|| self.transfer.error_ns())
    }

    fn computing(&self) -> Value<'static> {
        let time = self.meanwhile.time;
        let unestimated = u64::from(self.meanwhile.is_least);
        match self.timed {
            0 => Value::Unknown,
            _ => Value::estimate((time.value_ns(), time.error_ns()), unestimated),
        }
    }
}

impl CollectiveStats {
    fn last(&self) -> Option<(u64, LastCount)> {
        self.lasts.most()
    }

    fn last_words(&self) -> Value<'static> {
        self.last().map_or(Value::Unknown, |(rank, last)| {
            Value::Text(format!("{rank}: {} of {}", last.count, self.lasts.certain).into())
        })
    }
}

/// The tables, from sums. Waits of groups in which they cannot be known are left out.
pub(super) fn of(groups: Vec<GroupStats>, sums: &Sums, stages: &Stages) -> Communication {
    let group = |number: usize| groups.get(number);
    let is_known = |number: usize| group(number).is_some_and(|it| it.unknown.is_none());
    let times = |number: usize, times: &PartTimes| match is_known(number) {
        true => *times,
        false => times.without_waits(),
    };
    let collectives = sums.functions.iter().map(|((number, function), of)| {
        let lasts = match is_known(*number) {
            true => of.1.clone(),
            false => LastRanks::default(),
        };
        let size = group(*number).and_then(|it| it.ranks);
        CollectiveStats {
            group: *number as u32,
            name: sums.names.get(*function).cloned().unwrap_or_default(),
            late_rank: size.and_then(|size| late_rank(&lasts, &of.0, size)),
            times: times(*number, &of.0),
            lasts,
        }
    });
    let mut collectives: Vec<CollectiveStats> = collectives.collect();
    let longest = |it: &CollectiveStats| std::cmp::Reverse(it.times.time.value_ns());
    collectives.sort_by_key(longest);
    let ranks = sums.ranks.iter().map(|((number, process), of)| {
        let known = sums.processes.get(process).copied().unwrap_or_default();
        let group_rank = sums.members.get(&(*number, *process)).copied();
        let lasts = sums.lasts.get(number).filter(|_| is_known(*number));
        let last = lasts.and_then(|it| it.ranks.get(&group_rank?));
        RankStats {
            group: *number as u32,
            process: known.process,
            rank: known.rank,
            group_rank,
            times: times(*number, of),
            last: last.copied().unwrap_or_default(),
        }
    });
    let mut ranks: Vec<RankStats> = ranks.collect();
    ranks.sort_by_key(|it| (it.group, it.group_rank, it.process));
    let links = sums.links.iter().map(|((number, from, to), of)| LinkStats {
        group: *number as u32,
        from: *from,
        to: *to,
        times: times(*number, of),
        of_usual: None,
    });
    let stages = (0..groups.len()).flat_map(|group| {
        let is_known = is_known(group);
        stages_of(group, sums, stages, is_known)
    });
    Communication {
        collectives,
        ranks,
        links: compared(links.collect()),
        stages: stages.collect(),
        groups,
    }
}

/// The stages of a group, in their order.
fn stages_of(group: usize, sums: &Sums, stages: &Stages, is_known: bool) -> Vec<StageStats> {
    let places = stages.of(group);
    let members = sums
        .members
        .range((group, ProcessId(0))..=(group, ProcessId(u32::MAX)));
    let rows = members.filter_map(|(key @ (_, process), group_rank)| {
        let times = sums.messages.get(key)?;
        let extent = stages.extents.get(process)?;
        let known = sums.processes.get(process).copied().unwrap_or_default();
        Some(StageStats {
            group: group as u32,
            stage: *places.get(group_rank)?,
            process: known.process,
            rank: known.rank,
            group_rank: *group_rank,
            calls: times.calls,
            split: if is_known { times.split } else { 0 },
            active_ns: extent.end.saturating_sub(extent.begin),
            waited: stages.waited.get(key).cloned().unwrap_or_default(),
        })
    });
    let mut rows: Vec<StageStats> = rows.collect();
    rows.sort_by_key(|it| (it.stage, it.group_rank));
    rows
}

/// The links compared with the others of their group, the slowest first.
fn compared(mut links: Vec<LinkStats>) -> Vec<LinkStats> {
    let usual = usual_speeds(&links);
    for link in &mut links {
        let own = link.times.bandwidth(Bandwidth::Algorithm);
        let own = own.filter(|it| !it.2).map(|it| it.0 as f64);
        let usual = usual.get(&link.group);
        link.of_usual = usual.zip(own).map(|(usual, own)| own / usual);
    }
    let part = |it: &LinkStats| it.of_usual.unwrap_or(f64::INFINITY);
    links.sort_by(|one, other| {
        let order = part(one).total_cmp(&part(other));
        order.then((one.group, one.from, one.to).cmp(&(other.group, other.from, other.to)))
    });
    links
}

/// The median bandwidth of the links of each group that has three or more, all with a bandwidth.
fn usual_speeds(links: &[LinkStats]) -> BTreeMap<u32, f64> {
    let mut speeds: BTreeMap<u32, Vec<Option<i64>>> = BTreeMap::new();
    for link in links {
        let speed = link.times.bandwidth(Bandwidth::Algorithm);
        let of_group = speeds.entry(link.group).or_default();
        of_group.push(speed.map(|it| it.0));
    }
    let usual = speeds.into_iter().filter_map(|(group, speeds)| {
        let mut speeds: Vec<i64> = speeds.into_iter().collect::<Option<_>>()?;
        speeds.sort_unstable();
        let median = speeds.get(speeds.len() / 2).filter(|_| speeds.len() > 2)?;
        Some((group, *median as f64))
    });
    usual.collect()
}

/// The rank that is late more often than chance gives, and for a time that matters.
fn late_rank(lasts: &LastRanks, times: &PartTimes, size: u64) -> Option<u64> {
    /// Of all ranks together.
    const MOST_CHANCE: f64 = 0.01;
    const LEAST_SHARE: f64 = 0.1;
    let (rank, most) = lasts.most()?;
    let matters = most.waited.low >= LEAST_SHARE * times.time.value;
    let chance = size as f64 * chance_of(most.count, lasts.certain, 1.0 / size as f64);
    (matters && chance < MOST_CHANCE).then_some(rank)
}

/// No less than the chance that something of this `share` comes at least `count` times in `all` (Chernoff).
fn chance_of(count: u64, all: u64, share: f64) -> f64 {
    let found = count as f64 / all.max(1) as f64;
    if found <= share || share <= 0.0 {
        return 1.0;
    }
    let term = |part: f64, of: f64| {
        if part > 0.0 {
            part * (part / of).ln()
        } else {
            0.0
        }
    };
    let divergence = term(found, share) + term(1.0 - found, 1.0 - share);
    (-(all as f64) * divergence).exp()
}

#[cfg(test)]
mod tests {
    use super::chance_of;

    #[test]
    fn chance_is_small_only_for_what_chance_does_not_give() {
        assert!((chance_of(10, 20, 0.5) - 1.0).abs() < 1e-9);
        assert!((chance_of(20, 20, 0.5) - 0.5_f64.powi(20)).abs() < 1e-9);
        // 14 of 20 heads or more have a chance of 5.8 %.
        let chance = chance_of(14, 20, 0.5);
        assert!((0.058..0.2).contains(&chance), "{chance}");
        assert!(chance_of(60, 80, 0.25) < 1e-9);
    }
}
