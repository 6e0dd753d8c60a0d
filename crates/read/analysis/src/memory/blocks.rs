//! Blocks of memory that a program's own allocator gives out and gets back, as it reports them by mstx.
//!
//! The caching allocator of `torch_npu` reports the heap before each block, at the address of the block. The size of this heap is all that the
//! allocator has reserved on the device. Blocks without such a heap belong to other allocators, such as that of workspaces.

use std::collections::HashMap;

use ascend_trace_format::api::ArgKind;
use ascend_trace_recording::{CallId, Function, ThreadId, Trace};

use crate::number_list::{is_cut, numbers};

use super::changes::{MemoryChange, MemoryChangeKind, MemoryId, MemoryPlace};

/// The last report of a thread.
#[derive(Clone, Copy, Debug)]
enum LastReport {
    /// A heap: an address, and the bytes.
    Heap(u64, u64),
    /// A block without a heap before it.
    Block(u64),
}

/// Follows what allocators report.
#[derive(Debug, Default)]
pub(super) struct BlockReports {
    last: HashMap<ThreadId, LastReport>,
    /// Calls with blocks that were not recorded.
    pub(super) missed: u64,
}

/// The kind of the argument that describes blocks.
pub(super) fn kind(function: &Function) -> Option<ArgKind> {
    let mut kinds = function.args.iter().map(|it| it.kind);
    kinds.find(|kind| kind.is_of_blocks())
}

impl BlockReports {
    /// The blocks of a call. Calls of a thread come in order.
    pub(super) fn changes(
        &mut self,
        trace: &Trace,
        id: CallId,
        (kind, is_wanted): (ArgKind, bool),
    ) -> Vec<MemoryChange> {
        let call = trace.call(id);
        let thread = call.thread;
        let text = trace.strings(call).iter().flatten().next();
        self.missed += u64::from(text.is_none_or(|it| is_cut(it)));
        let words = text.map_or_else(Vec::new, |it| numbers(it));
        let words: Vec<u64> = words.into_iter().map(i64::cast_unsigned).collect();
        let change = |kind, address, reserved| MemoryChange {
            reserved,
            ..MemoryChange::with(trace, id, (kind, MemoryId::Block(address)), is_wanted)
        };
        match (kind, &words[..]) {
            (ArgKind::Heap, [_, address, bytes]) => {
                let after =
                    matches!(self.last.get(&thread), Some(LastReport::Block(it)) if it == address);
                if !after {
                    self.last.insert(thread, LastReport::Heap(*address, *bytes));
                }
                Vec::new()
            }
            (ArgKind::Regions, words) => {
                let blocks = words.chunks_exact(3);
                let made = blocks.filter_map(|block| {
                    let [device, address, bytes] = *block else {
                        return None;
                    };
                    let reserved = self.heap(thread, address);
                    let device = u8::try_from(device).ok();
                    let place = device.map(match reserved {
                        Some(_) => MemoryPlace::Cached,
                        None => MemoryPlace::Blocks,
                    });
                    let size = Some(bytes);
                    Some(change(
                        MemoryChangeKind::Allocated { place, size },
                        address,
                        reserved,
                    ))
                });
                made.collect()
            }
            (ArgKind::RegionRefs, words) => {
                let freed = words.iter().map(|address| {
                    let reserved = self.heap(thread, *address);
                    change(MemoryChangeKind::Freed, *address, reserved)
                });
                freed.collect()
            }
            _ => Vec::new(),
        }
    }

    /// The heap that was reported for this block.
    fn heap(&mut self, thread: ThreadId, address: u64) -> Option<u64> {
        match self.last.remove(&thread) {
            Some(LastReport::Heap(at, bytes)) if at == address => Some(bytes),
            _ => {
                self.last.insert(thread, LastReport::Block(address));
                None
            }
        }
    }
}
