//! A stream waited for an event, again and again, although the work before the event came first anyway. It was earlier work of the
//! same stream, or an earlier wait of the stream had put it in order. Each such wait is a call and a task without an effect.
//!
//! Leave these waits out, and the records that nothing else waits for. Tasks of one stream run in order without an event.
//!
//! Only the order by streams and events counts. A wait is needed if the host alone made sure that the work was done: in another run, it
//! may be late. At least half of a thread's waits on the stream are needless, else nothing is reported.

use std::collections::HashMap;

use ascend_trace_recording::units::count;
use ascend_trace_recording::{FunctionId, StreamId, ThreadId, Trace};

use super::super::happens_before::OrderFact;
use super::super::{Check, Finding, Remedy};

/// Fewer are not worth a word.
const LEAST: u64 = 64;
/// Threads and streams that are followed.
const MOST: usize = 1 << 12;

/// The waits of a thread on a stream.
#[derive(Debug, Default)]
struct Waits {
    all: u64,
    needless: Option<Finding>,
}

#[derive(Debug, Default)]
pub(super) struct NeedlessWait {
    waits: HashMap<(ThreadId, FunctionId, Option<StreamId>), Waits>,
}

impl Check for NeedlessWait {
    fn judge(&mut self, trace: &Trace, facts: &[OrderFact]) {
        for fact in facts {
            let OrderFact::Waited { by, is_needless } = fact else {
                continue;
            };
            let key = (by.thread, by.function, by.stream);
            if !by.is_wanted || self.waits.len() >= MOST && !self.waits.contains_key(&key) {
                continue;
            }
            let waits = self.waits.entry(key).or_default();
            waits.all += 1;
            if !is_needless {
                continue;
            }
            let this = Finding {
                what: by.on_stream(trace),
                ..Finding::of_note(trace, by)
            };
            match &mut waits.needless {
                Some(known) => known.join(&this),
                None => waits.needless = Some(this),
            }
        }
    }

    fn findings(&mut self) -> Vec<Finding> {
        let waits = std::mem::take(&mut self.waits).into_values();
        let found = waits.filter_map(|waits| {
            let least = LEAST.max(waits.all.div_ceil(2));
            let finding = waits.needless.filter(|it| it.count >= least)?;
            Some(Finding {
                what: format!(
                    "{} waited {} times for work that came before anyway: work of the same stream, or work that an earlier \
                     wait had put in order",
                    finding.what,
                    count(finding.count),
                ),
                advice: "leave these waits out, and the records that nothing else waits for".to_owned(),
                remedy: Some(Remedy::NotSimulated),
                ..finding
            })
        });
        found.collect()
    }
}
