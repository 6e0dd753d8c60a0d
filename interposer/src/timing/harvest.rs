//! Reading the pairs of tasks that are done.

use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use ascend_trace_format::api::Untimed;

use crate::clock::ticks;
use crate::objects::{self, ContextEntry, StreamEntry};
use crate::timing::anchor;
use crate::timing::api::{self, Api, Refusal};
use crate::timing::failure;
use crate::timing::lane::{self, KeptOut, Lane, Pair, UNREAD};
use crate::timing::record_time::RecordTime;
use crate::timing::reference;
use crate::timing::{chip, counters};
use crate::{emit, quiet, session, thread};

/// What a synchronisation has proven: whatever was submitted before `begin` was done by `end`.
#[derive(Clone, Copy)]
pub(crate) struct Proof {
    pub(crate) begin: u64,
    pub(crate) end: u64,
}

/// Which pairs may be asked about that the program has not proven to be done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Ask {
    /// None: what is read is known to be done.
    Nothing,
    /// Those that have waited for long, or are many, where the device may be looked at: see
    /// [`lane::is_quiet`].
    Overdue { is_quiet: bool },
    /// Any, where that changes no answer to the program.
    Harmless,
    /// All: the program will ask nothing any more.
    All,
}

/// Pairs that wait on one lane from which on they are asked about at once: the tool's places in a
/// queue are as many.
const MANY_PENDING: usize = 128;
/// The same where the program has records that it has not seen done. Places have run out, and the
/// alternative is to measure nothing.
const MOST_UNSEEN: usize = 512;
/// How long a pair waits for the program to prove it done.
const PATIENCE_NS: u64 = 50_000_000;
/// How often a time is asked for that should be there, before it is given up.
const MOST_REFUSALS: u32 = 400;

/// Reads what is done on a lane, at most `limit` pairs. Answers how many were read.
pub(crate) fn lane(lane: &Lane, api: &Api, limit: usize, proof: Option<Proof>, ask: Ask) -> usize {
    if lane.harvesting.swap(true, Acquire) {
        return 0;
    }
    let count = take(lane, api, limit, proof, ask);
    lane.harvesting.store(false, Release);
    count
}

/// Reads what is done for a caller that has set `harvesting`.
fn take(lane: &Lane, api: &Api, limit: usize, proof: Option<Proof>, ask: Ask) -> usize {
    let mut count = 0;
    while count < limit {
        // SAFETY: `harvesting` is set, so nobody else takes out.
        let Some(pair) = (unsafe { lane.pending.front() }) else {
            break;
        };
        let is_known = is_proven(lane, pair);
        if !is_known && !may_ask(lane, pair, ask) {
            break;
        }
        let told = if is_known {
            Some(true)
        } else {
            is_done(lane, api, pair.last())
        };
        match told {
            Some(true) if read(lane, api, pair, proof, ask) => {}
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

/// Whether the program has seen the pair done: it had been submitted before what the program knows
/// to be done. The runtime has then taken note of its times as well.
fn is_proven(lane: &Lane, pair: Pair) -> bool {
    let known = lane.known();
    pair.was_submitted_before(known) && lane.refused.load(Relaxed) != known
}

/// Whether a pair may be asked about that is not known to be done.
fn may_ask(lane: &Lane, pair: Pair, ask: Ask) -> bool {
    if !chip::tells_by_query() {
        return false;
    }
    let pending = lane.pending.len();
    match ask {
        Ask::Nothing => false,
        Ask::All => true,
        Ask::Harmless => lane.may_be_looked_at(),
        Ask::Overdue { is_quiet } => {
            !lane.is_awaited()
                && (pending >= MOST_UNSEEN
                    || is_quiet && (pending >= MANY_PENDING || is_overdue(pair)))
        }
    }
}

fn is_overdue(pair: Pair) -> bool {
    counters::nanoseconds(ticks().saturating_sub(pair.closed)) > PATIENCE_NS
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
            }
            None
        }
    }
}

/// Reads one pair that is done. False while its times cannot be read.
fn read(lane: &Lane, api: &Api, pair: Pair, proof: Option<Proof>, ask: Ask) -> bool {
    let Some(context) = lane.context() else {
        return false;
    };
    let seen = match proof {
        Some(proof) if pair.closed < proof.begin => proof.end,
        _ => ticks(),
    };
    let mut kept = 0;
    let times = match times(lane, context, api, pair, &mut kept) {
        Err(Refusal::NotYet) if ask != Ask::All && may_wait(lane) => return false,
        // Nobody knows whether the events are still pending: they are left alone.
        Err(Refusal::NotYet) => {
            give_up(lane, pair, Untimed::Unreadable);
            return true;
        }
        Err(Refusal::Never) => None,
        Ok(times) => Some(times),
    };
    let behind = times.map_or(0, |(begin, end)| learn(context, api, pair, (begin, end)));
    let last_end = times.map_or(UNREAD, |(_, end)| end.wrapping_add(behind));
    lane.last_end.store(last_end, Relaxed);
    if let Some(sequence) = pair.sequence {
        match times {
            Some((begin, end)) => {
                let record = reference::record_time(context).map_or((0, 0), RecordTime::known);
                if session::is_auto() && pair.start != pair.end {
                    let length = end.wrapping_sub(begin).wrapping_sub(record.0.into());
                    lane.choice.note(length, record.0.into());
                }
                emit::task_time(&emit::TaskTime {
                    stream: lane.stream.load(Relaxed),
                    sequence,
                    begin,
                    end,
                    seen,
                    submission: [pair.armed_from(), pair.begin, pair.closed],
                    record,
                });
            }
            None => report_untimed(lane, pair, Untimed::Unreadable),
        }
    }
    for event in pair.events().filter(|event| *event != kept) {
        context.timing.give_event(api, event);
    }
    true
}

/// Learns how long records take from a pair that was reached at these times. Answers by how much the
/// second record behind it came later than its end.
fn learn(context: &ContextEntry, api: &Api, pair: Pair, (begin, end): (i64, i64)) -> i64 {
    let Some(time) = reference::record_time(context) else {
        return 0;
    };
    // Clocks are looked at for these only.
    if pair.behind == 0 {
        return 0;
    }
    if pair.start != 0 {
        time.reached(counters::moment(pair.entry), begin);
    }
    match api.elapsed_ns(pair.end, pair.behind) {
        Ok(apart) => {
            let apart = apart.round() as i64;
            time.sample(counters::moment(pair.closed_behind), end, apart);
            apart.max(0)
        }
        Err(_) => 0,
    }
}

/// A time is not there that should be: on some chips it comes later than the word that the record is
/// done. It is asked for again when the program has synchronised again, or after a while.
fn may_wait(lane: &Lane) -> bool {
    lane.refused.store(lane.known(), Relaxed);
    lane.refusals.fetch_add(1, Relaxed) < MOST_REFUSALS
}

/// Leaves a pair's events alone: nobody knows whether they are still pending.
fn give_up(lane: &Lane, pair: Pair, reason: Untimed) {
    lane.last_end.store(UNREAD, Relaxed);
    report_untimed(lane, pair, reason);
    let Some(context) = lane.context() else {
        return;
    };
    for _ in pair.events() {
        context.timing.give_up_event();
    }
}

/// Two times of a stream that belong together may be off by this much when one is told by a reference
/// far away.
const ROUNDING_NS: i64 = 1000;

/// Begin and end of a pair on the device's clock. The length comes straight from the two events.
/// `kept` becomes the event that is the device's reference from now on.
fn times(
    lane: &Lane,
    context: &'static ContextEntry,
    api: &Api,
    pair: Pair,
    kept: &mut u64,
) -> Result<(i64, i64), Refusal> {
    let last = Some(lane.last_end.load(Relaxed)).filter(|last| *last != UNREAD);
    let mut place = |event: u64| {
        let reading = reference::read(api, context, event, pair.floor)?;
        if reading.adopted {
            *kept = event;
        }
        // A stream does not go back.
        let is_late = last.is_none_or(|last| reading.nanoseconds >= last - ROUNDING_NS);
        if is_late {
            Ok(reading.nanoseconds)
        } else {
            Err(Refusal::Never)
        }
    };
    if pair.start == 0 {
        let end = place(pair.end)?;
        return Ok((last.ok_or(Refusal::Never)?.min(end), end));
    }
    // Some runtimes let the time of the start be read only once it was asked for.
    let begin = match place(pair.start) {
        Err(Refusal::NotYet) if lane.may_be_looked_at() => {
            api.is_complete(pair.start).map_err(|_| Refusal::Never)?;
            place(pair.start)?
        }
        other => other?,
    };
    if pair.start == pair.end {
        return Ok((begin, begin));
    }
    let length = api.elapsed_ns(pair.start, pair.end)?;
    // An end before the begin was never reached.
    if length < -(ROUNDING_NS as f64) {
        return Err(Refusal::Never);
    }
    Ok((begin, begin.wrapping_add(length.max(0.0).round() as i64)))
}

fn report_untimed(lane: &Lane, pair: Pair, reason: Untimed) {
    if let Some(sequence) = pair.sequence {
        emit::task_untimed(lane.stream.load(Relaxed), sequence, reason);
    }
}

/// Pairs that the program's own thread reads after one of its synchronisations; what is left is
/// the harvester's.
const AFTER_SYNC: usize = 64;
/// The same for all streams together, when it has waited for a whole device.
const AFTER_DEVICE_SYNC: usize = 256;

/// The program has synchronised a stream.
pub(crate) fn after_stream_sync(stream: &StreamEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    let begin = ticks();
    if let Some(lane) = lane_of(stream) {
        self::lane(lane, api, AFTER_SYNC, Some(proof), Ask::Nothing);
    }
    spent_since(begin);
}

/// The program has synchronised a whole context.
pub(crate) fn after_context_sync(context: &ContextEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    let begin = ticks();
    let mut left = AFTER_DEVICE_SYNC;
    for lane in lanes_of(context).filter(|lane| lane.has_pending()) {
        let count = self::lane(lane, api, AFTER_SYNC.min(left), Some(proof), Ask::Nothing);
        left = left.saturating_sub(count);
        if left == 0 {
            break;
        }
    }
    spent_since(begin);
}

/// The program's thread has been reading times since then.
fn spent_since(begin: u64) {
    let spent = ticks().wrapping_sub(begin);
    thread::with(|state| state.meter().reading.add(spent));
}

fn lane_of(stream: &StreamEntry) -> Option<&'static Lane> {
    let raw = stream.lane.load(Acquire);
    // SAFETY: lanes live for ever.
    unsafe { raw.as_ref() }
}

fn lanes_of(context: &ContextEntry) -> impl Iterator<Item = &'static Lane> {
    let wanted = core::ptr::from_ref(context);
    lane::all().filter(move |lane| {
        lane.is_used() && lane.context().is_some_and(|own| core::ptr::eq(own, wanted))
    })
}

/// A stream is about to be destroyed or aborted: reads what is done, and keeps everybody out until the
/// call has returned. A question about a stream that goes meanwhile would find it gone.
pub(crate) fn before_stream_end(stream: &StreamEntry) -> Option<KeptOut> {
    let Some(kept_out) = lane_of(stream)?.keep_out(&mut { EXIT_ROUNDS }) else {
        // Nobody touches the lane any more.
        stream.lane.store(core::ptr::null_mut(), Release);
        return None;
    };
    let lane = kept_out.lane();
    if let Some(api) = api::get().filter(|_| is_open(lane)) {
        // The first question may only make the runtime take note.
        for _ in 0..2 {
            take(lane, api, usize::MAX, None, Ask::Harmless);
        }
    }
    Some(kept_out)
}

/// A stream has been destroyed. What it had submitted is done, unless it was taken down by force.
pub(crate) fn after_stream_end(stream: &StreamEntry, kept_out: &KeptOut, was_forced: bool) {
    let lane = kept_out.lane();
    let Some(api) = api::get() else { return };
    if !was_forced && is_open(lane) {
        stream.seen.knows(u64::MAX);
        take(lane, api, usize::MAX, None, Ask::Nothing);
    }
    forsake(lane, api);
    stream.lane.store(core::ptr::null_mut(), Release);
    lane.release();
}

/// Whether the runtime may be asked about a lane's context.
fn is_open(lane: &Lane) -> bool {
    lane.context()
        .is_some_and(|context| context.timing.is_open())
}

/// How long a teardown that will itself wait for the device waits for the last times, in half
/// milliseconds and for all streams together.
const TEARDOWN_ROUNDS: u32 = 40;

/// A context is about to end: reads what can be read and destroys the events, which must not
/// outlive it. The runtime itself waits here for unfinished tasks, so waiting a little first
/// costs the program nothing. `is_current` says whether it is the calling thread's.
pub(crate) fn before_context_end(context: &'static ContextEntry, is_current: bool) {
    if context.timing.has_failed() {
        after_failure(context);
        return;
    }
    if !context.timing.is_open() {
        return;
    }
    context.timing.close();
    let Some(api) = api::get() else { return };
    wait_for_last(context, api);
    let mut rounds = EXIT_ROUNDS;
    for lane in lanes_of(context) {
        drain(lane, api, &mut rounds);
    }
    if is_current {
        anchor::take_last(api, context);
    }
    counters::tell();
    reference::release(api, context);
    context.timing.destroy_events(api);
    release_lanes(context);
}

/// A context that has failed is about to end: nothing of it is touched.
fn after_failure(context: &'static ContextEntry) {
    let mut rounds = EXIT_ROUNDS;
    for lane in lanes_of(context) {
        let Some(kept_out) = lane.keep_out(&mut rounds) else {
            continue;
        };
        // SAFETY: `harvesting` is set, so nobody else takes out.
        while let Some(pair) = unsafe { kept_out.lane().pending.front() } {
            // SAFETY: as above.
            unsafe { kept_out.lane().pending.pop() };
            give_up(lane, pair, Untimed::ContextFailed);
        }
        lane.forget_stash();
    }
    counters::tell();
    reference::abandon(context);
    context.timing.forget_events();
    release_lanes(context);
}

fn release_lanes(context: &ContextEntry) {
    for stream in objects::streams_of(context.serial.load(Relaxed)) {
        if let Some(lane) = lane_of(stream) {
            stream.lane.store(core::ptr::null_mut(), Release);
            if !lane.harvesting.load(Acquire) {
                lane.release();
            }
        }
    }
}

/// How long the end of a process waits for another thread that is reading times, in half milliseconds
/// and for all streams together. It may have thousands to read; one that a signal holds up is left.
const EXIT_ROUNDS: u32 = 200;
/// How often everything is asked about, half a millisecond apart.
const EXIT_PASSES: u32 = 3;

/// The process ends: reads what is done already.
pub(crate) fn at_exit() {
    let Some(api) = api::get() else { return };
    let mut rounds = EXIT_ROUNDS;
    // The first question may only make the runtime take note.
    for pass in 0..EXIT_PASSES {
        if pass > 0 {
            pause();
        }
        if !read_all(api, &mut rounds) {
            break;
        }
    }
    counters::tell();
}

/// Reads what is done on all lanes. Answers whether something is left.
fn read_all(api: &Api, rounds: &mut u32) -> bool {
    let mut is_left = false;
    let lanes = lane::all().filter(|lane| lane.is_used() && lane.has_pending());
    for lane in lanes {
        let is_open = |context: &ContextEntry| context.timing.is_open();
        if lane.context().is_some_and(is_open)
            && let Some(kept_out) = lane.keep_out(rounds)
        {
            take(kept_out.lane(), api, usize::MAX, None, Ask::All);
            is_left |= lane.has_pending();
        }
    }
    is_left
}

/// Reads what is done in a context until nothing is left, or for as long as a teardown waits.
fn wait_for_last(context: &ContextEntry, api: &Api) {
    for round in 0..=TEARDOWN_ROUNDS {
        let mut is_left = false;
        for lane in lanes_of(context) {
            self::lane(lane, api, usize::MAX, None, Ask::All);
            is_left |= lane.has_pending();
        }
        if !is_left {
            return;
        }
        if round < TEARDOWN_ROUNDS {
            pause();
        }
    }
}

/// Reads what is done on a lane and gives the rest up.
fn drain(lane: &'static Lane, api: &Api, rounds: &mut u32) {
    // Nobody else may be reading a pair that is about to be thrown away.
    let Some(_kept_out) = lane.keep_out(rounds) else {
        return;
    };
    take(lane, api, usize::MAX, None, Ask::All);
    forsake(lane, api);
}

/// Gives up what is left on a lane, and the events that it has at hand. The caller has set `harvesting`.
fn forsake(lane: &Lane, api: &Api) {
    // SAFETY: `harvesting` is set, so nobody else takes out.
    while let Some(pair) = unsafe { lane.pending.front() } {
        // SAFETY: as above.
        unsafe { lane.pending.pop() };
        counters::LOST.add(1);
        report_untimed(lane, pair, Untimed::ContextGone);
        for event in pair.events().filter(|_| is_open_or_closing(lane)) {
            api.destroy_event(event);
        }
    }
    if let Some(context) = lane.context() {
        lane.empty_stash(context, api);
    }
}

/// Whether the runtime may be told anything about a lane's context.
fn is_open_or_closing(lane: &Lane) -> bool {
    !lane
        .context()
        .is_some_and(|context| context.timing.has_failed())
}

pub(super) fn pause() {
    quiet::sleep(500_000);
}
