//! Record channels in shared memory: the one lock-free algorithm of the project.
//!
//! The collector makes a session file and provides it with memory ([`Arena`]); each traced thread
//! claims a channel and writes records into it ([`Producer`]); the collector reads them
//! ([`Arena::drain`]). Layout and sizes are in `ascend_trace_format::session`.
//!
//! # States that a crash can leave
//!
//! A process may be killed between any two instructions. The table has the state that remains, and the
//! consequence. `crash.rs` makes each of these states and checks the collector.
//!
//! | killed while | left behind | consequence |
//! |---|---|---|
//! | filling reserved slots | slots past `committed` | never read: the record had not been published |
//! | between `next` and the first commit of a new segment | an empty last segment | drained as empty, then freed |
//! | after taking a segment, before linking it | one segment without an owner | lost to the session: 64 KiB |
//! | `CLAIMED` | a channel without segments | freed once its process has ended |
//! | `CLAIMED`, before its pid was stored | a channel without an owner | lost to the session: 1 of 4096 |
//! | `LIVE`, before its first record | a channel without segments | freed once its process has ended |
//! | `LIVE` | a chain of segments | drained to the last commit, freed once its process has ended |
//! | under way in calls | these calls among the channel's open ones | reported as open |
//! | between publishing a call and clearing its place among the open ones | the call in both | reported once: it begins when the last record's does |
//! | `CLOSED` | a chain of segments | drained and freed, as after any thread's end |
//!
//! After the end of a collector, its producers write until the pool is empty. Then they count the
//! records that they drop. Nothing in a producer waits for the collector.

#![expect(
    unsafe_code,
    reason = "shared memory is raw memory; this crate is the moat around it"
)]

mod arena;
mod armed;
#[cfg(test)]
mod crash;
mod guard;
mod home;
mod layout;
mod map;
mod mend;
mod nested;
mod pool;
mod producer;
pub mod sys;
pub mod ticks;

pub use arena::{Arena, ArenaError, ChannelInfo, DrainResult, FREE_THREADS};
pub use armed::{
    ArmedError, ArmedPage, ArmedProcess, JoinRequest, last_session, page_name, requested_session,
};
pub use home::{maker, private_folder};
pub use layout::{LostRecords, OpenCall, OpenCalls, SessionSettings};
pub use map::{AttachError, Session, give_up_system_calls};
pub use mend::Repair;
pub use nested::NestedRecorder;
pub use producer::{Ledger, Producer};
