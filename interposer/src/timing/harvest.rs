//! Reading the pairs of tasks that are done.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::api::Untimed;
use ascend_trace_format::record::kinds;
use ascend_trace_format::time::{DeviceNs, HostNs, Ticks};
use ascend_trace_ring::ticks::monotonic;

use crate::clock::{self, ticks};
use crate::objects::ContextEntry;
use crate::timing::api::{Api, Refusal};
use crate::timing::batch::Batch;
use crate::timing::excess::Single;
use crate::timing::failure;
use crate::timing::host_functions::Hosted;
use crate::timing::lane::{self, Lane, MANY_UNREAD, UNREAD};
use crate::timing::pair::Pair;
use crate::timing::proofs::Proof;
use crate::timing::record_time::RecordTime;
use crate::timing::reference;
use crate::timing::{chip, price};
use crate::{emit, session, streams};

/// Which pairs may be asked about that the program has not proven to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum QueryPolicy {
    /// None: the times that are read are known to be done.
    Nothing,
    /// Those that have waited for long, or are many, where the device may be looked at: see
    /// [`lane::is_quiet`].
    Overdue { is_quiet: bool },
    /// Any, where that changes no result for the program.
    Harmless,
    /// All: the program will ask nothing any more.
    All,
}

/// When reading stops, complete or not.
pub(crate) struct Limit {
    /// After this number of pairs of a lane.
    pairs: usize,
    /// At this time of `CLOCK_MONOTONIC`.
    until: u64,
}

impl Limit {
    /// All that is done.
    pub(crate) const ALL: Self = Self::pairs(usize::MAX);

    pub(crate) const fn pairs(pairs: usize) -> Self {
        Self {
            pairs,
            until: u64::MAX,
        }
    }

    /// This number of nanoseconds from now, for all lanes together.
    pub(crate) fn time(nanoseconds: u64) -> Self {
        Self {
            pairs: usize::MAX,
            until: monotonic().saturating_add(nanoseconds),
        }
    }

    /// The same for no more than this number of pairs.
    pub(super) const fn with_pairs(&self, pairs: usize) -> Self {
        Self {
            pairs,
            until: self.until,
        }
    }

    pub(super) fn is_over(&self) -> bool {
        self.until != u64::MAX && monotonic() >= self.until
    }

    fn allows(&self, read: usize) -> bool {
        read < self.pairs && !self.is_over()
    }
}

/// Pairs that wait on one lane from which on they are asked about at once: the tool's places in a
/// queue are as many.
pub(super) const MANY_PENDING: usize = 128;
/// The same where the program has records that it has not seen done. Places have run out, and the
/// alternative is to measure nothing.
const MOST_UNSEEN: usize = 512;
/// How long a pair waits for the program to prove it done.
const PATIENCE_NS: u64 = 50_000_000;
/// How often a time is asked for that should be there, before it is given up.
const MOST_REFUSALS: u32 = 400;

/// Reads finished pairs of a lane, within the limit. Returns their number.
pub(crate) fn lane(
    lane: &Lane,
    api: &Api,
    limit: &Limit,
    proof: Option<Proof>,
    ask: QueryPolicy,
) -> usize {
    if lane.harvesting.swap(true, Acquire) {
        return 0;
    }
    let count = take(lane, api, limit, proof, ask);
    lane.harvesting.store(false, Release);
    count
}

/// Reads finished pairs for a caller that has set `harvesting`.
pub(super) fn take(
    lane: &Lane,
    api: &Api,
    limit: &Limit,
    proof: Option<Proof>,
    ask: QueryPolicy,
) -> usize {
    let mut count = 0;
    let mut batch = None;
    while limit.allows(count) {
        // SAFETY: `harvesting` is set, so no other thread takes out.
        let Some(pair) = (unsafe { lane.pending.front() }) else {
            break;
        };
        let is_known = is_proven(lane, pair);
        if !is_known && !may_ask(lane, pair, ask) {
            break;
        }
        let reported = if is_known {
            Some(true)
        } else {
            look_at(lane, api, pair, proof)
        };
        match reported {
            Some(true) if read(lane, api, pair, (proof, ask), &mut batch) => {}
            Some(_) => break,
            None => give_up(lane, pair, Untimed::Unreadable),
        }
        lane.refusals.store(0, Relaxed);
        // SAFETY: as above.
        unsafe { lane.pending.pop() };
        count += 1;
    }
    count
}

/// Whether the program has seen the pair done: it had been submitted before the time up to which the
/// program knows everything to be done. The runtime has then noted its times as well.
fn is_proven(lane: &Lane, pair: Pair) -> bool {
    let readable = lane.readable();
    pair.was_submitted_before(readable) && lane.refused.load(Relaxed) != readable
}

/// Asks the runtime whether a pair is done. If it is, its times can be read, and those of all that was submitted before.
fn look_at(lane: &Lane, api: &Api, pair: Pair, proof: Option<Proof>) -> Option<bool> {
    let proven = proof.map_or(0, |proof| proof.begin);
    let mut is_done = is_done(lane, api, pair.last())?;
    if !is_done && pair.was_submitted_before(proven) {
        // The first question has only made the runtime take note.
        is_done = self::is_done(lane, api, pair.last())?;
    }
    if is_done {
        lane.finds(proven.max(pair.closed_behind.saturating_add(1)));
    }
    Some(is_done)
}

/// Whether a pair may be asked about that is not known to be done.
fn may_ask(lane: &Lane, pair: Pair, ask: QueryPolicy) -> bool {
    if !chip::tells_by_query() {
        return false;
    }
    let pending = lane.pending.len();
    match ask {
        QueryPolicy::Nothing => false,
        QueryPolicy::All => true,
        QueryPolicy::Harmless => lane.may_be_looked_at(),
        QueryPolicy::Overdue { is_quiet } => {
            // A tool's thread that waits holds up less than times that are lost.
            (pending >= MANY_UNREAD || !lane.is_locked())
                && (pending >= MOST_UNSEEN
                    || is_quiet && (pending >= MANY_PENDING || is_overdue(pair)))
        }
    }
}

fn is_overdue(pair: Pair) -> bool {
    clock::nanoseconds(ticks().saturating_sub(pair.closed)) > PATIENCE_NS
}

/// Asks the runtime whether an event of a lane is done; `None` when it refuses to say: an aborted
/// stream, or a failed context, which is not asked again.
pub(super) fn is_done(lane: &Lane, api: &Api, event: u64) -> Option<bool> {
    match api.is_complete(event) {
        Ok(is_done) => Some(is_done),
        Err(code) => {
            let context = lane.context().filter(|_| failure::is_fault(code));
            if let Some(context) = context {
                context.timing.mark_failed();
                reference::abandon(context);
            }
            None
        }
    }
}

/// Reads one pair that is done. False while its times cannot be read.
fn read<'a>(
    lane: &Lane,
    api: &'a Api,
    pair: Pair,
    (proof, ask): (Option<Proof>, QueryPolicy),
    batch: &mut Option<Batch<'a>>,
) -> bool {
    let Some(context) = lane.context() else {
        return false;
    };
    let batch = batch.get_or_insert_with(|| Batch::of(context, api));
    let known = lane.proofs().and_then(|proofs| proofs.seen(pair.closed));
    let seen = match (known, proof) {
        (Some(known), _) => known,
        (None, Some(proof)) if pair.closed < proof.begin => proof.end,
        (None, _) => ticks(),
    };
    let closed = batch.rate.moment(Ticks::new(pair.closed));
    let mut kept = 0;
    let times = match times(lane, batch, api, pair, &mut kept) {
        Err(Refusal::NotYet) if ask != QueryPolicy::All && may_wait(lane) => return false,
        // Nobody knows whether the events are still pending: they are left alone.
        Err(Refusal::NotYet) => {
            give_up(lane, pair, Untimed::Unreadable);
            return true;
        }
        Err(Refusal::Never) => None,
        Ok(times) => Some(times),
    };
    if let Some(times) = times {
        let last = Some(lane.last_end.load(Relaxed)).filter(|last| *last != UNREAD);
        let reached = (times.begin, times.end);
        price::note(
            &mut batch.price,
            &lane.account,
            context,
            (pair, closed),
            last,
            reached,
        );
    }
    note_single(lane, context, (pair, closed), times);
    let behind = times.map_or(0, |times| learn(context, api, pair, times));
    let last_end = times.map_or(UNREAD, |times| times.end.ns().wrapping_add(behind));
    lane.last_end.store(last_end, Relaxed);
    lane.last_open
        .store(times.map_or(0, |times| times.open), Relaxed);
    if let Some(sequence) = pair.sequence {
        match times {
            Some(EventTimes { begin, end, open }) => {
                let (begin, end) = (begin.ns(), end.ns());
                let record = reference::record_time(context).map_or((0, 0), RecordTime::known);
                if pair.start != pair.end && pair.tasks == 1 {
                    let is_short = note_length(lane, end.wrapping_sub(begin), record.0.into());
                    batch.short_tasks = batch.short_tasks.wrapping_add(is_short.into());
                }
                let hosted = pair.hosted.and_then(|hosted| hosted_words(pair, hosted));
                let (record_ns, record_open_ns) =
                    hosted.unwrap_or((record.0, record.1.saturating_add(open)));
                emit::from_inside(&kinds::TaskTime {
                    untimed: Untimed::Timed,
                    stream: lane.stream.load(Relaxed),
                    sequence,
                    arming: passed(pair.armed_from(), pair.begin),
                    begin_device_ns: begin,
                    end_device_ns: end,
                    seen,
                    submitted: pair.begin,
                    closing: passed(pair.begin, pair.closed),
                    record_ns,
                    record_open_ns,
                    run_tasks: pair.tasks,
                });
            }
            None => {
                if let Some(hosted) = pair.hosted {
                    hosted.leave();
                }
                report_untimed(lane, pair, Untimed::Unreadable);
            }
        }
    }
    for event in pair.events().filter(|event| *event != kept) {
        batch.give(event);
    }
    true
}

/// When a function of the program ran on the host, in the two words of a record's duration.
fn hosted_words(pair: Pair, hosted: Hosted) -> Option<(u32, u32)> {
    let (begin, end) = hosted.finish()?;
    let after = clock::nanoseconds(begin.checked_sub(pair.begin)?);
    kinds::hosted(after, clock::nanoseconds(end.saturating_sub(begin)))
}

/// Learns what events add from a task that has one on either side.
fn note_single(
    lane: &Lane,
    context: &ContextEntry,
    (pair, closed): (Pair, HostNs),
    times: Option<EventTimes>,
) {
    let work = pair.work.filter(|_| pair.start != pair.end);
    let last_end = lane.last_end.load(Relaxed);
    let known = times.zip(pair.sequence).filter(|_| last_end != UNREAD);
    let learners = reference::excess(context).zip(reference::record_time(context));
    let last = pair.tasks.saturating_sub(1);
    let last = pair.sequence.map(|first| first.wrapping_add(last));
    let before = lane.before.follow(last.filter(|_| times.is_some()));
    let (Some((times, sequence)), Some(work), Some((excess, record))) = (known, work, learners)
    else {
        return;
    };
    let single = Single {
        work,
        sequence,
        operation: pair.operation,
        skipped: pair.skipped,
        begin: times.begin,
        end: times.end,
        closed,
    };
    match pair.tasks {
        2.. => excess.read_run(single, pair.tasks, record),
        _ => excess.read(single, (before, last_end), record),
    }
}

/// A task and the record after it took `both_ns`, and the record takes about `record_ns`. Returns whether the task took less than
/// the record.
fn note_length(lane: &Lane, both_ns: i64, record_ns: i64) -> bool {
    let length = both_ns.wrapping_sub(record_ns);
    if session::is_auto()
        && let Some(manner) = lane.choice.note(length, record_ns)
        && let Some(stream) = lane.entry()
    {
        streams::tell_manner(stream, manner);
    }
    length < record_ns
}

/// Learns how long records take from a pair that was reached at these times. Answers by how much the
/// second record behind it came later than its end.
fn learn(context: &ContextEntry, api: &Api, pair: Pair, times: EventTimes) -> i64 {
    let Some(time) = reference::record_time(context) else {
        return 0;
    };
    // Clocks are looked at for these only.
    if pair.behind == 0 {
        return 0;
    }
    if pair.start != 0 {
        time.reached(clock::moment(Ticks::new(pair.entry)), times.begin);
    }
    match api.elapsed_ns(pair.end, pair.behind) {
        Ok(apart) => {
            let apart = reference::nearest(apart);
            let closed = clock::moment(Ticks::new(pair.closed_behind));
            time.sample(closed, times.end, apart);
            apart.max(0)
        }
        Err(_) => 0,
    }
}

/// A time is not there that should be: on some chips it comes later than the word that the record is
/// done. It is asked for again when the program has synchronised again, or after a while.
fn may_wait(lane: &Lane) -> bool {
    lane.refused.store(lane.readable(), Relaxed);
    lane.refusals.fetch_add(1, Relaxed) < MOST_REFUSALS
}

/// Leaves a pair's events alone: they may still be pending.
pub(super) fn give_up(lane: &Lane, pair: Pair, reason: Untimed) {
    lane.last_end.store(UNREAD, Relaxed);
    if let Some(hosted) = pair.hosted {
        hosted.leave();
    }
    report_untimed(lane, pair, reason);
    let Some(context) = lane.context() else {
        return;
    };
    for _ in pair.events() {
        context.timing.give_up_event();
    }
}

/// Two related times of a stream may differ by this much when one comes from a distant reference.
const ROUNDING_NS: i64 = 1000;

/// When the events of a pair were reached.
#[derive(Clone, Copy)]
struct EventTimes {
    begin: DeviceNs,
    end: DeviceNs,
    /// Possible error of either in nanoseconds, from the runtime's resolution.
    open: u32,
}

impl EventTimes {
    fn new(begin: i64, end: i64, open: i64) -> Self {
        Self {
            begin: DeviceNs::new(begin),
            end: DeviceNs::new(end),
            open: u32::try_from(open).unwrap_or(u32::MAX),
        }
    }
}

/// Begin and end of a pair. The length comes straight from the two events.
/// `kept` becomes the event that is the device's reference from now on.
fn times(
    lane: &Lane,
    batch: &mut Batch<'_>,
    api: &Api,
    pair: Pair,
    kept: &mut u64,
) -> Result<EventTimes, Refusal> {
    let last = Some(lane.last_end.load(Relaxed)).filter(|last| *last != UNREAD);
    let last_open = i64::from(lane.last_open.load(Relaxed));
    // Whatever may have to be asked for again is asked for before an event becomes the reference.
    let length = length(lane, api, pair)?;
    let mut place = |event: u64| {
        let reading = batch.series.read(api, event, pair.floor)?;
        if reading.adopted {
            *kept = event;
        }
        // A stream does not go back.
        let is_late = last.is_none_or(|last| reading.nanoseconds >= last - ROUNDING_NS - last_open);
        if is_late {
            Ok((reading.nanoseconds, reading.open))
        } else {
            Err(Refusal::Never)
        }
    };
    if pair.start == 0 {
        let (end, open) = place(pair.end)?;
        let begin = last.ok_or(Refusal::Never)?.min(end);
        // Its two ends may have been read by references that are as far apart.
        let apart = reference::elapsed_open(end.wrapping_sub(begin) as f64);
        let open = open.max(last_open).max(apart);
        return Ok(EventTimes::new(begin, end, open));
    }
    let (begin, open) = asked(lane, api, pair.start, || place(pair.start))?;
    let open = open.saturating_add(reference::elapsed_open(length));
    let length = reference::nearest(length.max(0.0));
    Ok(EventTimes::new(begin, begin.wrapping_add(length), open))
}

/// The runtime's time of an event. Some runtimes return it only after a query of the event.
fn asked<T>(
    lane: &Lane,
    api: &Api,
    event: u64,
    mut read: impl FnMut() -> Result<T, Refusal>,
) -> Result<T, Refusal> {
    match read() {
        Err(Refusal::NotYet) if lane.may_be_looked_at() && !lane.is_locked() => {
            api.is_complete(event).map_err(|_| Refusal::Never)?;
            read()
        }
        other => other,
    }
}

/// Nanoseconds between the events of a pair that has two, else 0.
fn length(lane: &Lane, api: &Api, pair: Pair) -> Result<f64, Refusal> {
    if pair.start == 0 || pair.start == pair.end {
        return Ok(0.0);
    }
    let length = asked(lane, api, pair.start, || {
        api.elapsed_ns(pair.start, pair.end)
    })?;
    // An end before the begin was never reached.
    if length < -(ROUNDING_NS as f64) {
        return Err(Refusal::Never);
    }
    Ok(length)
}

/// Ticks from one time to another, up to the capacity of a record.
fn passed(from: u64, to: u64) -> u32 {
    u32::try_from(to.saturating_sub(from)).unwrap_or(u32::MAX)
}

pub(super) fn report_untimed(lane: &Lane, pair: Pair, reason: Untimed) {
    if let Some(sequence) = pair.sequence {
        let stream = lane.stream.load(Relaxed);
        emit::from_inside(&kinds::TaskTime::none(stream, sequence, reason));
    }
}

/// Pairs that a thread reads for each that it adds to too many.
const EACH: usize = 4;

/// More pairs wait than a queue can hold, so the harvester is late: a thread that adds a pair reads some that are known
/// to be done.
#[cold]
pub(crate) fn keep_up(lane: &Lane, api: &Api) {
    self::lane(lane, api, &Limit::pairs(EACH), None, QueryPolicy::Nothing);
}

pub(super) fn lanes_of(context: &ContextEntry) -> impl Iterator<Item = &'static Lane> {
    let wanted = core::ptr::from_ref(context);
    lane::all().filter(move |lane| {
        lane.is_used() && lane.context().is_some_and(|own| core::ptr::eq(own, wanted))
    })
}
