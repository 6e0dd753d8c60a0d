//! Blocks of PyTorch's caching allocator, as marks `[memory]`: each block that it gave out or got back, with its totals then.

use std::collections::BTreeMap;
use std::io;

use ascend_trace_analysis::memory::{
    LiveSizes, MemoryChange, MemoryChanges, MemoryId, MemoryPlace, Pools,
};
use ascend_trace_recording::ProcessId;

use crate::ExportSource;
use crate::chrome::EventOutput;
use crate::timeline::TimelineFile;

use super::dialect::KinetoDialect;

const NAME: &str = "[memory]";
/// The readers' number for a device that is no CPU.
const DEVICE_TYPE: u64 = 1;

/// The blocks of a rank.
#[derive(Debug, Default)]
pub(super) struct BlockMarks {
    changes: MemoryChanges,
    sizes: LiveSizes,
    pools: BTreeMap<ProcessId, Pools>,
}

impl BlockMarks {
    /// Writes the blocks of a part, after the part itself.
    pub(super) fn write(
        &mut self,
        source: &ExportSource<'_>,
        file: &mut TimelineFile<EventOutput<'_>, KinetoDialect>,
    ) -> io::Result<()> {
        for change in self.changes.of_window(source) {
            if source.selection.process(change.site.process) {
                self.mark(source, &change, file)?;
            }
        }
        Ok(())
    }

    fn mark(
        &mut self,
        source: &ExportSource<'_>,
        change: &MemoryChange,
        file: &mut TimelineFile<EventOutput<'_>, KinetoDialect>,
    ) -> io::Result<()> {
        let pools = self.pools.entry(change.site.process).or_default();
        let level = pools.take(change);
        let steps = self.sizes.apply(change);
        let (MemoryId::Block(address), Some(level)) = (change.id, level) else {
            return Ok(());
        };
        let MemoryPlace::Cached(device) = level.place else {
            return Ok(());
        };
        let Some(track) = file.thread(change.thread) else {
            return Ok(());
        };
        if !source.selection.span(change.at, change.at) {
            return Ok(());
        }
        for (_, bytes) in steps.into_iter().flatten() {
            file.encoder().event(b'i', track, |members| {
                members.named(NAME, "cpu_instant_event");
                members.at(change.at);
                members.scope_of_thread();
                members.args(|json| {
                    json.name("Addr").unsigned(address);
                    json.name("Bytes").integer(bytes);
                    json.name("Device Type").unsigned(DEVICE_TYPE);
                    json.name("Device Id").unsigned(device.into());
                    json.name("Total Allocated").unsigned(level.allocated);
                    json.name("Total Reserved").unsigned(level.reserved);
                });
            })?;
        }
        Ok(())
    }
}
