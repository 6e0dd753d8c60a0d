//! After a synchronisation of the program, tasks are known to be done. The program's thread reads the times of a few of them at once, which
//! takes no longer than to submit them. The others are the harvester's, unless it would come too late.

use core::sync::atomic::Ordering::{Acquire, Release};

use crate::clock::ticks;
use crate::objects::{ContextEntry, StreamEntry};
use crate::timing::api::{self, Api};
use crate::timing::harvest::{self, Limit, MANY_PENDING, QueryPolicy};
use crate::timing::harvester;
use crate::timing::lane::{self, Lane};
use crate::timing::proofs::Proof;
use crate::{memory, thread};

/// How long the program's own thread reads times after one of its synchronisations, of all streams together; what
/// is left is the harvester's.
const AFTER_SYNC_NS: u64 = 30_000;
/// The program's thread reads this number of pairs of a stream in any case.
const AT_ONCE: usize = 4;
/// The harvester comes in time for this number of pairs of a stream.
const LEFT: usize = 256;

/// Whether the times of a lane can wait for the harvester.
fn can_wait(lane: &Lane) -> bool {
    harvester::is_running() && lane.pending.len() <= LEFT && !memory::is_scarce()
}

/// The program knows that tasks of a lane are done.
fn note(lane: &Lane, api: &Api, limit: &Limit, proof: Proof, ask: QueryPolicy) {
    // A thread that is reading them does not need a proof.
    if !lane.has_pending() || lane.harvesting.swap(true, Acquire) {
        return;
    }
    let read = |limit: &Limit| harvest::take(lane, api, limit, Some(proof), ask);
    if ask == QueryPolicy::Nothing && can_wait(lane) {
        read(&limit.with_pairs(AT_ONCE));
    } else {
        read(limit);
    }
    // Pairs that are left were known to be done now, whenever their times are read.
    let has_room = || lane.proofs_or_new().is_some_and(|it| it.add(proof));
    if lane.has_pending() && !has_room() {
        read(limit);
    }
    lane.harvesting.store(false, Release);
}

/// The program has synchronised a stream.
pub(crate) fn after_stream_sync(stream: &StreamEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    let begin = ticks();
    if let Some(lane) = lane::known(stream) {
        note(
            lane,
            api,
            &Limit::time(AFTER_SYNC_NS),
            proof,
            QueryPolicy::Nothing,
        );
    }
    spent_since(begin);
}

/// The program has waited for an event, or has seen it done. Where its record has no time, the runtime need not
/// have taken note of those before it.
pub(crate) fn after_event_sync(stream: &StreamEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    let begin = ticks();
    if let Some(lane) = lane::known(stream) {
        let ask = if lane.pending.len() >= MANY_PENDING {
            let is_quiet = lane.may_be_looked_at();
            QueryPolicy::Overdue { is_quiet }
        } else {
            QueryPolicy::Nothing
        };
        note(lane, api, &Limit::time(AFTER_SYNC_NS), proof, ask);
    }
    spent_since(begin);
}

/// The program has synchronised a whole context.
pub(crate) fn after_context_sync(context: &ContextEntry, proof: Proof) {
    let Some(api) = api::get() else { return };
    let begin = ticks();
    let limit = Limit::time(AFTER_SYNC_NS);
    for lane in harvest::lanes_of(context) {
        // Where there are thousands of streams, to look which of them have times takes its time as well.
        if limit.is_over() {
            break;
        }
        note(lane, api, &limit, proof, QueryPolicy::Nothing);
    }
    spent_since(begin);
}

/// The program's thread has been reading times, or comparing clocks, since then.
pub(crate) fn spent_since(begin: u64) {
    thread::with(|state| {
        let meter = state.meter();
        meter.spend(state, &meter.reading, (begin, ticks()));
    });
}
