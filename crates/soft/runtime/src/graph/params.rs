//! The parameters of a graph's task, as `aclmdlRITaskParams` lays them out.

use std::sync::Arc;

use super::body::NodeAction;
use super::introspect::{kind, refuse_while_running, task};
use crate::code::{Outcome, RT_NOT_SUPPORTED, RT_PARAM_INVALID, check, fault};
use crate::engine::task::Work;
use crate::ffi::{In, Out};
use crate::kernel::{self, Arguments};
use crate::memory::value::{self, ValueWait};
use crate::sync::lock;

const KERNEL: u32 = 1;
const VALUE_WRITE: u32 = 5;
const VALUE_WAIT: u32 = 6;

/// The common part and the union, of which every member fits in 16 words.
#[repr(C)]
#[derive(Clone, Copy, Default)]
pub(crate) struct TaskParams {
    kind: u32,
    reserved: [u32; 3],
    group: usize,
    op_info: usize,
    op_info_size: usize,
    also_reserved: [u64; 4],
    of_kind: [u64; 16],
}

const _: () = assert!(size_of::<TaskParams>() == 200);

pub(crate) fn params_of(handle: usize, params: &Out<TaskParams>) -> Outcome {
    params.check()?;
    let node = task(handle)?;
    let mut found = TaskParams {
        kind: kind(&node),
        group: node.group.get().copied().unwrap_or(0),
        ..TaskParams::default()
    };
    if let Some(event) = node.action.event() {
        let is_external = u64::from(node.action.is_external());
        found.of_kind[0] = event.handle as u64;
        found.of_kind[1] = pair(event.flags, is_external);
    }
    match node.work().as_deref() {
        Some(Work::Kernel(launch)) => {
            let (address, size, is_ours) = launch.arguments();
            found.of_kind[0] = launch.function() as u64;
            found.of_kind[2] = address as u64;
            found.of_kind[3] = u64::from(is_ours);
            found.of_kind[4] = size as u64;
            found.of_kind[5] = u64::from(launch.blocks());
        }
        Some(Work::WriteValue { address, value }) => {
            found.of_kind[0] = *address as u64;
            found.of_kind[1] = *value;
        }
        Some(Work::WaitValue(wait)) => {
            found.of_kind[0] = wait.address as u64;
            found.of_kind[1] = wait.value;
            found.of_kind[2] = u64::from(wait.flag());
        }
        _ => {}
    }
    params.put(found)
}

/// Two 32-bit members that follow each other.
fn pair(first: u32, second: u64) -> u64 {
    let bytes = [first.to_ne_bytes(), (second as u32).to_ne_bytes()].concat();
    bytes.try_into().map(u64::from_ne_bytes).unwrap_or_default()
}

/// The first 32-bit member of a word.
fn first_half(word: u64) -> u32 {
    let [a, b, c, d, ..] = word.to_ne_bytes();
    u32::from_ne_bytes([a, b, c, d])
}

/// Asks for other parameters; they hold from the next update of the graph on.
pub(crate) fn set_params(handle: usize, params: &In<TaskParams>) -> Outcome {
    let wanted = params.get()?;
    let node = task(handle)?;
    refuse_while_running(&node)?;
    check(
        wanted.kind == kind(&node),
        "the parameters are those of another kind of task",
    )?;
    let NodeAction::Task(_) = node.action else {
        return fault(RT_NOT_SUPPORTED, "events of a graph cannot be changed");
    };
    let words = wanted.of_kind;
    let work = match wanted.kind {
        KERNEL => kernel_work(&words)?,
        VALUE_WRITE => {
            value::checked(words[0] as usize)?;
            Work::WriteValue {
                address: words[0] as usize,
                value: words[1],
            }
        }
        VALUE_WAIT => {
            let wait = ValueWait::checked(words[0] as usize, words[1], first_half(words[2]))?;
            Work::WaitValue(wait)
        }
        _ => return fault(RT_NOT_SUPPORTED, "tasks of this kind cannot be changed"),
    };
    lock(&node.wanted).work = Some(Arc::new(work));
    Ok(())
}

fn kernel_work(words: &[u64; 16]) -> Outcome<Work> {
    let (address, size) = (words[2] as usize, words[4] as usize);
    if address == 0 {
        return fault(RT_PARAM_INVALID, "the arguments are NULL");
    }
    let arguments = if first_half(words[3]) != 0 {
        kernel::copied(&In::<u8>::at(address).array(size)?, &[])?
    } else {
        Arguments::OnDevice(address)
    };
    let launch = kernel::prepare(words[0] as usize, first_half(words[5]), arguments)?;
    Ok(Work::Kernel(Box::new(launch)))
}
