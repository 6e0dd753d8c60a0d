//! Collective communication on one node: ranks are threads or processes.
//!
//! A communicator is a shared region (`region`): the data that each rank has sent, and their times. A
//! collective is a task of its stream (`collective`): it begins in its turn, shows its data, and ends
//! for all ranks at the same computed time: that of the last one's arrival, plus the transfer. No
//! thread blocks: the engine looks again until all have joined, a peer has died, or the time is up.

pub(crate) mod collective;
pub(crate) mod communicator;
mod element;
mod plan;
mod region;

pub(crate) use communicator::{
    Communicator, ROOT_INFO_BYTES, RootInfo, all_in_one, by_root_info, create_sub, destroy, found,
    root_info,
};
pub(crate) use element::Element;
pub(crate) use plan::{CollectivePlan, Message, segment};

use crate::code::Code;

/// Return codes of collective libraries.
pub(crate) const PARA: Code = 1;
pub(crate) const PTR: Code = 2;
pub(crate) const NOT_SUPPORTED: Code = 5;
pub(crate) const SYSCALL: Code = 8;
pub(crate) const TIMEOUT: Code = 9;
pub(crate) const REMOTE: Code = 21;

/// Seconds that a variable of the environment says.
fn seconds(name: &str, otherwise: u64) -> u64 {
    let given = std::env::var(name).ok();
    given
        .and_then(|text| text.trim().parse().ok())
        .unwrap_or(otherwise)
}
