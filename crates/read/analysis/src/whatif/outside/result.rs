//! Adds the pauses of threads to the result, with their known and possible ends.

use std::collections::BTreeSet;

use rustc_hash::FxHashMap;

use super::handover::{Handover, handover};
use super::joins::Join;
use super::pauses::{Ending, PauseEnd, Pauses, Source};
use super::{EndedBy, Pause, PauseResult, Site};
use crate::whatif::compact_recording::Facts;
use crate::whatif::links::{LaneCode, LanePosition};

/// Pauses of which a smaller part may be waits are work of the thread, as a divisor.
const LEAST_UNEXPLAINED: i64 = 4;

/// A thread may wait for arrivals in all rounds of a loop if it pauses for them in this part of the rounds, as a divisor.
const MANY_ARRIVALS: usize = 16;

impl PauseResult {
    pub(super) fn take(
        &mut self,
        facts: &Facts,
        site: Site,
        (found, pauses): (&PauseEnd<'_>, &Pauses),
    ) {
        let new = handover(facts, site, found.source, found.endings.len());
        match found.source {
            Source::Calls(thread, shape) => {
                self.awaited.insert((thread, shape));
            }
            Source::AnyCalls(shape) => {
                let threads = found
                    .endings
                    .iter()
                    .map(|it| it.from.lane().thread_number());
                self.awaited.extend(threads.map(|it| (it as u32, shape)));
            }
            Source::FunctionEnds(_) | Source::FunctionBegins(_) => {}
        }
        let place = self.name(new);
        if let Some(pauses) = &mut self.pauses {
            pauses.extend(found.links().map(|link| Pause {
                call: link.to.place(),
                by: Some(EndedBy {
                    link,
                    handover: place,
                }),
            }));
        }
        let own_before = pauses.own_before();
        let each = found.endings.iter();
        self.own_before
            .extend(each.filter_map(|it| Some((it.to, own_before(it)?))));
        self.lag = self.lag.max(found.wake);
        self.off = self.off.saturating_add(found.off());
        self.links.extend(found.links());
        self.links
            .extend(found.endings.iter().filter_map(Ending::reverse));
    }

    pub(super) fn work_before(&mut self, site: Site, worked: &FxHashMap<Site, i64>) {
        let known = worked.get(&site).copied();
        self.worked.extend(known.map(|it| (site, it)));
    }

    /// A pause that the ends of other threads ended.
    pub(super) fn take_join(&mut self, facts: &Facts, join: &Join) {
        let (thread, shape) = join.last;
        let new = handover(facts, join.site, Source::Calls(thread, shape), 1);
        let handover = self.name(new);
        let last = join.links.first().copied();
        if let Some(pauses) = &mut self.pauses {
            pauses.push(Pause {
                call: join.call,
                by: last.map(|link| EndedBy { link, handover }),
            });
        }
        self.links.extend(&join.links);
    }

    /// The pauses of a site that a clock ended. Returns whether one did.
    pub(super) fn take_clocked(&mut self, (thread, ..): Site, pauses: &Pauses) -> bool {
        let period = pauses.clock_period();
        if let Some(period) = period {
            let lane = LaneCode::thread(thread as usize);
            let calls = pauses.calls.iter();
            let calls = calls.map(|it| (LanePosition::new(lane, *it), period));
            self.clocked.extend(calls);
            let works = pauses.works();
            let works = works.map(|(call, work)| (LanePosition::new(lane, call), work.into()));
            self.own_before.extend(works);
        }
        period.is_some()
    }

    /// The place of a handover in the list of all.
    fn name(&mut self, new: Handover) -> usize {
        let subject = |it: &Handover| Handover {
            count: 0,
            ..it.clone()
        };
        let is_same = |it: &Handover| subject(it) == subject(&new);
        let known = self.found.iter().position(is_same);
        let place = known.unwrap_or(self.found.len());
        match self.found.get_mut(place) {
            Some(known) => known.count += new.count,
            None => self.found.push(new),
        }
        place
    }

    /// Notes whether pauses may be waits for a thread without recorded calls, which ran this often. Returns how long they may have
    /// waited.
    pub(super) fn take_others(&mut self, pauses: &Pauses, runs: u64) -> i64 {
        let awaits = pauses.may_await(runs);
        self.awaits_others |= awaits;
        match awaits {
            true => pauses.waited(),
            false => pauses.blocked(),
        }
    }

    /// Something outside of the program may have ended the pauses of a site, at times that do not depend on the program.
    pub(super) fn take_arrivals(&mut self, site: Site, pauses: &Pauses, rounds: usize) {
        let lane = LaneCode::thread(site.0 as usize);
        let known = self.arrivals.len();
        let arrivals = pauses.arrivals();
        self.arrivals
            .extend(arrivals.map(|(call, work)| (LanePosition::new(lane, call), work)));
        if (self.arrivals.len() - known).saturating_mul(MANY_ARRIVALS) > rounds {
            self.arrival_sites.insert(site);
        }
    }

    /// The pauses of a site without a known cause. Returns the part of them that may be waits.
    pub(super) fn take_unexplained(
        &mut self,
        site: Site,
        pauses: &Pauses,
        interval: impl Fn(Source) -> i64,
    ) -> i64 {
        let unexplained = pauses.unexplained(interval);
        self.unexplained = self.unexplained.saturating_add(unexplained);
        if unexplained * LEAST_UNEXPLAINED > pauses.total() {
            self.keep(site, pauses.calls.iter().copied());
        }
        unexplained
    }

    /// Those pauses of a site that this has not ended.
    pub(super) fn keep_others(&mut self, site: Site, pauses: &Pauses, found: &PauseEnd<'_>) {
        let ended: BTreeSet<u32> = found.endings.iter().map(|it| it.to.ordinal()).collect();
        let others = pauses.calls.iter().copied();
        self.keep(site, others.filter(|it| !ended.contains(it)));
    }

    fn keep(&mut self, (thread, ..): Site, calls: impl Iterator<Item = u32>) {
        let lane = LaneCode::thread(thread as usize);
        if let Some(pauses) = &mut self.pauses {
            pauses.extend(calls.map(|ordinal| Pause {
                call: LanePosition::new(lane, ordinal),
                by: None,
            }));
        }
    }
}
