//! When tasks ran, by the device's own word: event pairs around them, read when they are done.
//!
//! Nothing here waits for the device. Events come from a pool per context, are recorded around the
//! program's submission on the program's own thread, and read after the program has synchronised
//! anyway, or from the harvester's thread.

pub(crate) mod anchor;
pub(crate) mod api;
pub(crate) mod auto_choice;
mod batch;
pub(crate) mod budget;
pub(crate) mod capture;
pub(crate) mod card;
mod chip;
pub(crate) mod context;
pub(crate) mod counters;
pub(crate) mod driver;
pub(crate) mod event_cache;
pub(crate) mod excess;
pub(crate) mod failure;
pub(crate) mod hardware;
pub(crate) mod harvest;
pub(crate) mod harvester;
pub(crate) mod host_clocks;
pub(crate) mod host_functions;
pub(crate) mod lane;
pub(crate) mod operations;
pub(crate) mod pair;
pub(crate) mod pool;
mod price;
pub(crate) mod proofs;
pub(crate) mod queue;
pub(crate) mod queue_room;
pub(crate) mod queue_slots;
pub(crate) mod record_time;
pub(crate) mod reference;
pub(crate) mod running_waits;
pub(crate) mod runs;
pub(crate) mod schedule;
mod selection;
pub(crate) mod spread;
pub(crate) mod submit;
pub(crate) mod synchronised;
pub(crate) mod teardown;
