//! Stalls summed up by who is to blame.

use std::collections::HashMap;

use ascend_trace_model::archive::{Answer, Towards, WindowError};
use ascend_trace_model::{Archive, CallId, Trace};

use crate::dependencies::Dependencies;
use crate::nesting::Nesting;
use crate::stalls::Running;
use crate::{Blame, Lane, Stall, Stalls};

/// Stalls that have the same to blame.
#[derive(Clone, Debug, PartialEq)]
pub struct StallGroup {
    pub blame: Blame,
    pub count: u64,
    /// Summed over the lanes, as in [`super::CauseStats`].
    pub total_ns: i64,
    pub max_ns: i64,
    /// Part of the stalls of all streams, or of all threads, 0 to 1.
    pub share: f64,
}

/// Sums of stalls by who is to blame. What is left out of the groups counts for the shares all the same.
#[derive(Clone, Debug, Default)]
pub struct StallGroups {
    sums: HashMap<Blame, Sum>,
    /// Of streams and of threads.
    all: [i64; 2],
}

#[derive(Clone, Copy, Debug, Default)]
struct Sum {
    count: u64,
    total: i64,
    max: i64,
}

impl Sum {
    fn add(&mut self, length: i64) {
        self.count += 1;
        self.total += length;
        self.max = self.max.max(length);
    }
}

/// The place of what stalled in [`StallGroups::all`].
fn sort_of(stall: &Stall) -> usize {
    usize::from(matches!(stall.lane, Lane::Thread(_)))
}

impl StallGroups {
    /// Counts a stall, in the group of its blame if it has one.
    pub fn add(&mut self, stall: &Stall, blame: Option<&Blame>) {
        let length = stall.length();
        self.all[sort_of(stall)] += length;
        let Some(blame) = blame else { return };
        if !self.sums.contains_key(blame) {
            self.sums.insert(blame.clone(), Sum::default());
        }
        if let Some(sum) = self.sums.get_mut(blame) {
            sum.add(length);
        }
    }

    /// The same of stalls whose blames are known by their places; those without one are in no group.
    pub fn of_places<'s>(
        blames: &[Blame],
        stalls: impl Iterator<Item = (&'s Stall, Option<usize>)>,
    ) -> Self {
        let mut groups = Self::default();
        let mut sums = vec![Sum::default(); blames.len()];
        for (stall, place) in stalls {
            let length = stall.length();
            groups.all[sort_of(stall)] += length;
            if let Some(sum) = place.and_then(|place| sums.get_mut(place)) {
                sum.add(length);
            }
        }
        let found = blames.iter().zip(sums).filter(|(_, sum)| sum.count > 0);
        groups.sums = found.map(|(blame, sum)| (blame.clone(), sum)).collect();
        groups
    }

    /// The groups, the one with most time first.
    pub fn rows(self) -> Vec<StallGroup> {
        let all = self.all;
        let mut rows: Vec<StallGroup> = self
            .sums
            .into_iter()
            .map(|(blame, sum)| StallGroup {
                count: sum.count,
                total_ns: sum.total,
                max_ns: sum.max,
                share: sum.total as f64 / all[usize::from(blame.is_of_threads)].max(1) as f64,
                blame,
            })
            .collect();
        rows.sort_by(|a, b| (-a.total_ns, &a.blame).cmp(&(-b.total_ns, &b.blame)));
        rows
    }

    /// The groups of the stalls of a whole trace that are `wanted`.
    pub fn of(
        trace: &Trace,
        dependencies: &Dependencies,
        stalls: &Stalls,
        wanted: impl Fn(&Stall) -> bool,
    ) -> Self {
        let nesting = Nesting::of(trace);
        let mut groups = Self::default();
        for stall in stalls.iter() {
            let blame = wanted(stall).then(|| stalls.blame(trace, dependencies, &nesting, stall));
            groups.add(stall, blame.as_ref());
        }
        groups
    }

    /// The same of a recording that is read part by part. `keep_on` is told how far that has come, and
    /// ends it by answering false. Times are those of [`super::Stats::of_archive`]; whom a stall waited
    /// for is known as far as that lies in the part in which the stall ended.
    ///
    /// # Errors
    /// When the file cannot be read.
    pub fn of_archive(
        archive: &mut Archive,
        wanted: impl Fn(&Trace, &Stall) -> bool,
        keep_on: impl FnMut(i64) -> bool,
    ) -> Result<Option<Self>, WindowError> {
        let mut groups = Self::default();
        let mut running = Running::default();
        let take = |trace: &Trace, own: (i64, i64)| {
            groups.take(trace, own, &mut running, &wanted);
            None::<()>
        };
        let answer = archive.find(i64::MIN, Towards::Later, |_| true, keep_on, take)?;
        if answer == Answer::Stopped {
            return Ok(None);
        }
        let things = archive.things();
        let left = running.finish(things);
        let nothing = (Dependencies::default(), Nesting::default());
        for stall in left.iter() {
            let blame =
                wanted(things, stall).then(|| left.blame(things, &nothing.0, &nothing.1, stall));
            groups.add(stall, blame.as_ref());
        }
        Ok(Some(groups))
    }

    fn take(
        &mut self,
        trace: &Trace,
        own: (i64, i64),
        running: &mut Running,
        wanted: &impl Fn(&Trace, &Stall) -> bool,
    ) {
        let owns = |begin: i64| own.0 <= begin && begin <= own.1;
        let calls = (0..trace.calls().len() as u32).map(CallId);
        let calls: Vec<CallId> = calls.filter(|id| owns(trace.call(*id).begin)).collect();
        let dependencies = Dependencies::of(trace);
        let ended = running.take(trace, &dependencies, &calls, owns);
        let hosts = running.host_stalls();
        let around = Stalls::of_part(trace, &dependencies);
        let nesting = Nesting::of(trace);
        for stall in ended.iter().chain(&hosts) {
            let blame =
                wanted(trace, stall).then(|| around.blame(trace, &dependencies, &nesting, stall));
            self.add(stall, blame.as_ref());
        }
    }
}
