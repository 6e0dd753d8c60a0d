//! Writing into the calling thread's channel, where nothing more than that is known.

use ascend_trace_format::record::call::{ArgText, NO_TEXTS};
use ascend_trace_format::record::{Call, RecordKind, Recorded, SLOT_WORDS, STUB, Text, kinds};
use ascend_trace_ring::Producer;

use super::{ThreadState, spill, with};
use crate::first_records::tell;
use crate::stubs;

/// Records the call of a function that only asks whether something is done. A program may ask without a pause: calls
/// with the same result as before leave the last memory to tasks and their times. The last query of a loop has another
/// result, and shows the target of the wait.
#[inline]
pub(crate) fn publish_query(state: &ThreadState, call: &Call<'_>) -> bool {
    let mut is_left_out = false;
    state.record(|producer| {
        is_left_out = producer.has_little_room() && asks_again(state, call);
        if is_left_out {
            producer.count_dropped(RecordKind::Call);
        }
    });
    !is_left_out && publish(state, call, NO_TEXTS)
}

/// Whether the query before, which found little room as well, had the same arguments and results.
#[cold]
fn asks_again(state: &ThreadState, call: &Call<'_>) -> bool {
    let arg = |place: usize| call.args.get(place).copied().unwrap_or(0);
    let now = [call.result << 16 | u64::from(call.function), arg(0), arg(1)];
    state.asked.replace(now) == now
}

/// Publishes the record of a call, or counts it as lost. Answers as [`call`].
#[inline]
pub(crate) fn publish<'t>(
    state: &ThreadState,
    call: &Call<'_>,
    texts: Option<impl Iterator<Item = ArgText<'t>> + Clone>,
) -> bool {
    let slots = call.slots(texts.clone());
    let stub = call.function.checked_sub(STUB);
    let mut is_first = false;
    let mut has_channel = false;
    state.record(|producer| {
        has_channel = true;
        let is_known = stub.is_none_or(|index| introduce_stub(state, producer, index));
        let room = is_known.then(|| producer.reserve(slots)).flatten();
        let Some(room) = room else {
            producer.count_dropped(RecordKind::Call);
            return;
        };
        call.put(room, texts);
        is_first = producer.publish(slots);
    });
    if !has_channel {
        state.count_lost();
    }
    is_first
}

/// Records the running call in `words`, which did not return.
pub(crate) fn left(state: &ThreadState, words: &[u64; SLOT_WORDS], end: u64) {
    if let Some(call) = Call::take_open(words) {
        publish(state, &Call { end, ..call }, NO_TEXTS);
    }
}

/// Puts a call aside that has returned while the tracer was at work in its thread, or counts it. Of its
/// data, only the arguments are recorded.
pub(crate) fn put_aside(
    state: &ThreadState,
    id: usize,
    args: &[u64],
    result: u64,
    times: (u64, u64),
) {
    let call = Call {
        depth: state.depth(),
        result,
        ..Call::plain(id as u16, times, args)
    };
    let mut words = [0; spill::WORDS];
    let room = words.get_mut(..call.slots(NO_TEXTS) * SLOT_WORDS);
    let stub = call.function.checked_sub(STUB);
    match room.filter(|_| !stub.is_some_and(|index| state.lacks_stub(index.into()))) {
        Some(room) => {
            call.put(room, NO_TEXTS);
            state.put_aside(&words);
        }
        None => state.count_lost(),
    }
}

/// Makes sure that the channel has the name of a stub's function; `false` when it is full.
fn introduce_stub(state: &ThreadState, producer: &mut Producer, index: u16) -> bool {
    if !state.lacks_stub(index.into()) {
        return true;
    }
    let Some((name, shape)) = stubs::known(index.into()) else {
        return false;
    };
    let name = Text::new(name);
    let is_reported = tell(producer, &kinds::Function { shape, index, name });
    if is_reported {
        state.has_stub_now(index.into());
    }
    is_reported
}

/// Records something that is no call, while the tracer is at work in the thread.
pub(crate) fn record<'a>(state: &ThreadState, record: &impl Recorded<'a>) {
    state.record(|producer| {
        tell(producer, record);
    });
}

/// The same without the thread's state at hand.
pub(crate) fn from_inside<'a>(reported: &impl Recorded<'a>) {
    with(|state| record(state, reported));
}
