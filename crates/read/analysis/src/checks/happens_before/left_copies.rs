//! Copies to the host that may have been under way when a call ended their device.
//!
//! Devices count how often they were set: such a call may end nothing. So a copy is reported at the end of the program, and only if
//! nothing waited for it after the call.

use ascend_trace_recording::StreamId;

use super::action::CallEffect;
use super::{NotedCall, OrderFact};

/// Copies that are kept; a program with more of them has more than enough findings.
const MOST: usize = 1 << 12;

#[derive(Clone, Copy, Debug)]
struct LeftCopy {
    stream: StreamId,
    copy: NotedCall,
    by: NotedCall,
}

#[derive(Debug, Default)]
pub(super) struct LeftCopies {
    copies: Vec<LeftCopy>,
}

impl LeftCopies {
    pub(super) fn add(&mut self, stream: StreamId, copy: NotedCall, by: NotedCall) {
        if self.copies.len() < MOST {
            self.copies.push(LeftCopy { stream, copy, by });
        }
    }

    /// Takes the next action of the program: it may wait for copies.
    pub(super) fn take(&mut self, act: &CallEffect) {
        match act {
            _ if self.copies.is_empty() => {}
            CallEffect::Looks(places) => {
                let copies = &mut self.copies;
                copies.retain(|it| places.iter().all(|place| place.0 != it.stream));
            }
            // Which copies it shows to be done is not known after the call.
            CallEffect::LearnsOf(_) | CallEffect::CallsBack(..) | CallEffect::Misses => {
                self.copies.clear()
            }
            _ => {}
        }
    }

    pub(super) fn facts(&self) -> impl Iterator<Item = OrderFact> {
        self.copies.iter().map(|it| OrderFact::NotWaitedFor {
            copy: it.copy,
            by: Some(it.by),
        })
    }
}
