//! The begin of a call that waited for another thread.

use crate::whatif::links::{LanePosition, LinkKind, take_at};
use crate::whatif::outside::OwnTime;
use crate::whatif::records::Call;
use crate::whatif::typical::LatencySource;
use crate::whatif::wait_index::{Index, Wait};

use super::shared::{LaneNeed, SolverContext};
use super::thread::ThreadLane;

/// The targets of the waits of a call.
#[derive(Debug)]
struct Targets<'w> {
    /// A call of the thread that began this one.
    start: Option<&'w Wait>,
    /// The latest of those that the recording shows.
    shown: Option<&'w Wait>,
    /// Other threads that end before it, where the latest target is such an end.
    joined: Vec<&'w Wait>,
    /// Those that threads wait for if they wait for each other.
    reverse: Vec<&'w Wait>,
    /// Those that did not happen in the recording.
    unshown: Vec<&'w Wait>,
}

impl<'w> Targets<'w> {
    fn of(index: &Index, waits: &'w [Wait], begin: i64, is_first: bool) -> Self {
        let of_way = |way: LinkKind| waits.iter().filter(move |it| it.way == way);
        let is_shown = |it: &&Wait| {
            let others = [LinkKind::Start, LinkKind::Reverse, LinkKind::Unshown];
            !others.contains(&it.way)
        };
        let shown = waits.iter().filter(is_shown);
        let shown = shown.filter(|it| index.time(it) <= begin);
        let shown = shown.max_by_key(|it| index.time(it));
        let is_join = shown.is_some_and(|it| it.way == LinkKind::Join);
        Self {
            start: of_way(LinkKind::Start).find(|_| is_first),
            shown,
            joined: of_way(LinkKind::Join).filter(|_| is_join).collect(),
            reverse: of_way(LinkKind::Reverse).collect(),
            unshown: of_way(LinkKind::Unshown).collect(),
        }
    }

    fn each(&self) -> impl Iterator<Item = &'w Wait> {
        let shown = self.start.into_iter().chain(self.shown);
        let others = self.joined.iter().chain(&self.reverse).chain(&self.unshown);
        shown.chain(others.copied())
    }
}

impl<'f> ThreadLane<'f> {
    /// A call begins that waited for another thread.
    pub(super) fn begin_after(
        &mut self,
        shared: &mut SolverContext<'f>,
        waits: &[Wait],
        call: &Call,
        ends_late: bool,
    ) -> Result<(), LaneNeed> {
        let index = shared.index;
        let is_first = self.reached.is_none();
        let targets = Targets::of(index, waits, call.begin, is_first);
        for wait in targets.each() {
            let wait = std::slice::from_ref(wait);
            match shared.ahead(wait) {
                Some(need) if !self.is_forced => return Err(need),
                Some(_) => shared.leave_out(wait),
                None => {}
            }
        }
        self.is_forced = false;
        let reached = self.reached.or(targets.start.map(|it| index.time(it)));
        let shown_at = targets.shown.map(|it| index.time(it));
        // The thread had waited for the other one, or the other one for the thread.
        let is_late = shown_at > reached;
        let since = |at: Option<i64>| at.map_or(0, |at| call.begin - at);
        let pause = since(reached);
        let (own_lag, shown_lag) = match is_late {
            true => (0, since(shown_at)),
            false => (pause, 0),
        };
        if !is_first && (ends_late || own_lag < 0) {
            self.ends(shared);
        }
        let started = targets.start.and_then(|it| shared.value(it));
        let shown = targets.shown.and_then(|it| shared.value(it));
        match (is_first, started) {
            (false, _) => {
                self.ahead += own_lag;
                self.slow(shared, own_lag);
                self.leave_out_overhead(shared, own_lag);
            }
            (true, Some(started)) => {
                self.row.copy_from_slice(started);
                self.ahead = own_lag;
            }
            (true, None) if shown.is_some() => self.row.fill(i64::MIN / 2),
            (true, None) => self.row.fill(call.begin),
        }
        self.fold();
        if let Some(shown) = shown {
            let may_be_own = targets.shown.is_some_and(|it| it.way.is_possible());
            let own_work = shared.effects.of_manner(LatencySource::OwnWork);
            let own = self.own_before(index, call);
            let (least, most) = (own.least - own_lag, own.most.min(pause) - own_lag);
            let all = self.row.iter_mut().zip(shown).enumerate();
            for (run, (it, shown)) in all {
                *it = match (own_work.contains(&run), may_be_own) {
                    (true, true) => *it + pause - own_lag,
                    (true, false) => (*it + most.max(0)).max(shown + shown_lag),
                    (false, _) => (*it + least.max(0)).max(shown + shown_lag),
                };
            }
        }
        for joined in targets.joined.iter().filter_map(|it| shared.value(it)) {
            let all = self.row.iter_mut().zip(joined);
            all.for_each(|(it, by)| *it = (*it).max(by + shown_lag));
        }
        self.wait_mutually(shared, &targets, call);
        self.wait_unshown(shared, &targets);
        shared.release(waits);
        if is_first || own_lag < 0 {
            shared.begins(&self.row, 0);
        }
        Ok(())
    }

    /// How long the thread was busy for itself in the pause before the call, before it waited for another thread.
    fn own_before(&self, index: &Index, call: &Call) -> OwnTime {
        if let Some(known) = index.own_before.get(&self.place()) {
            return *known;
        }
        let site = self.before.map(|before| (self.number, before, call.shape));
        let most = site.and_then(|it| index.worked.get(&it).copied());
        OwnTime {
            least: 0,
            most: most.unwrap_or(0),
        }
    }

    /// Waits that did not happen in the recording.
    fn wait_unshown(&mut self, shared: &SolverContext<'f>, targets: &Targets<'_>) {
        let runs = shared.effects.of_manner(LatencySource::Unshown);
        for by in targets.unshown.iter().filter_map(|it| shared.value(it)) {
            let own = self.row.get_mut(runs.clone()).unwrap_or_default();
            let by = by.get(runs.clone()).unwrap_or_default();
            let all = own.iter_mut().zip(by);
            all.for_each(|(it, by)| *it = (*it).max(*by));
        }
    }

    /// A call begins at the tick of a clock, which goes on in any case. A thread that is late begins at once, or at the next tick.
    pub(super) fn wait_for_tick(&mut self, shared: &SolverContext<'f>, call: &Call, period: i64) {
        self.fold();
        let at_next = shared.effects.of_manner(LatencySource::NextTick);
        for (run, it) in self.row.iter_mut().enumerate() {
            let late = (*it - call.begin).max(0);
            *it = call.begin
                + match at_next.contains(&run) {
                    true => (late + period - 1) / period.max(1) * period,
                    false => late,
                };
        }
    }

    /// A call may begin when something outside of the program comes, or later if the thread is late. In the pause, the thread works.
    pub(super) fn await_arrival(
        &mut self,
        shared: &SolverContext<'f>,
        place: LanePosition,
        call: &Call,
    ) {
        let own = take_at(&mut self.arrivals, place, |it| it.0).first();
        let (Some(reached), Some(before)) = (self.reached, self.before) else {
            return;
        };
        let pause = call.begin - reached;
        let sites = &shared.index.arrival_sites;
        let waited = match own {
            Some((_, worked)) => (pause - worked).max(0),
            None if sites.contains(&(self.number, before, call.shape)) => 0,
            None => return,
        };
        self.fold();
        let runs = shared.effects.of_manner(LatencySource::Arrivals);
        let own = self.row.get_mut(runs).unwrap_or_default();
        own.iter_mut()
            .for_each(|it| *it = (*it - waited).max(call.begin));
    }

    /// Where threads wait for each other, it waits for those that have waited for it.
    fn wait_mutually(&mut self, shared: &SolverContext<'f>, targets: &Targets<'_>, call: &Call) {
        let runs = shared.effects.of_manner(LatencySource::Mutual);
        let index = shared.index;
        for wait in &targets.reverse {
            let Some(by) = shared.value(wait) else {
                continue;
            };
            // In the recording, it did not wait for this.
            let room = (call.begin - index.time(wait)).max(0);
            let lag = index.handover_lag.min(room);
            let own = self.row.get_mut(runs.clone()).unwrap_or_default();
            let by = by.get(runs.clone()).unwrap_or_default();
            let all = own.iter_mut().zip(by);
            all.for_each(|(it, by)| *it = (*it).max(*by + lag));
        }
    }
}
