//! The clocks of a recording's devices, from what its groups say about them.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use ascend_trace_format::time::DeviceNs;

use crate::clock::{self, ClockBound, DeviceClockMap, PairDurations};
use crate::file::index::{ChunkGroup, DeviceTotals, Totals};
use crate::load::TraceBuilder;
use crate::trace::{DeviceClock, ProcessId};

use super::layout::Layout;

/// A clock by the ids of a trace.
pub(super) type KnownClocks = ((ProcessId, u32), Arc<DeviceClockMap>);

/// By process and device, as the file numbers them.
#[derive(Debug, Default)]
pub(super) struct DeviceClocks {
    clocks: BTreeMap<(u32, u32), Arc<DeviceClockMap>>,
    /// Complete groups that have been taken in.
    groups: usize,
    final_fit: bool,
}

impl DeviceClocks {
    /// Takes in what new groups know.
    pub(super) fn extend(&mut self, layout: &Layout) {
        if self.final_fit {
            return;
        }
        let totals = layout.totals();
        let (complete, tail) = layout.parts();
        for group in complete.get(self.groups..).unwrap_or_default() {
            self.take(group, &totals);
        }
        self.groups = complete.len();
        // The same bounds come again with the next poll; they change nothing then.
        if let Some(group) = tail {
            self.take(group, &totals);
        }
        self.final_fit = layout.ended();
        for ((process, device), clock) in &mut self.clocks {
            let clock = Arc::make_mut(clock);
            clock.pairs = PairDurations::of(&totals.counters, *process, *device);
            match self.final_fit {
                true => clock.look_back(),
                false => clock.draw(),
            }
        }
    }

    fn take(&mut self, group: &ChunkGroup, totals: &Totals) {
        let keys: BTreeSet<_> = group
            .bounds
            .keys()
            .chain(group.driver_bounds.keys())
            .collect();
        for key in keys {
            let bounds_of = |bounds: &BTreeMap<_, Vec<ClockBound>>| {
                bounds.get(key).cloned().unwrap_or_default()
            };
            let clock = self.clocks.entry(*key).or_insert_with(|| {
                let coarse = totals.devices.get(key).is_some_and(is_coarse);
                Arc::new(DeviceClockMap::new(clock::tick(coarse)))
            });
            Arc::make_mut(clock)
                .extend(&bounds_of(&group.bounds), &bounds_of(&group.driver_bounds));
        }
    }

    pub(super) fn get(&self, process: u32, device: u32) -> Option<&Arc<DeviceClockMap>> {
        self.clocks.get(&(process, device))
    }

    /// Whether times of a device can be mapped.
    pub(super) fn maps(&self, process: u32, device: u32) -> bool {
        let clock = self.get(process, device);
        clock.is_some_and(|clock| clock.map(DeviceNs::new(0)).is_some())
    }

    /// The clocks by the ids of a trace, and their figures.
    pub(super) fn fixed(
        &self,
        whole: &Totals,
        builder: &mut TraceBuilder,
    ) -> (Vec<KnownClocks>, Vec<DeviceClock>) {
        let clocks = self.clocks.iter().map(|((process, device), clock)| {
            let key = (builder.process_of(*process), *device);
            (key, Arc::clone(clock))
        });
        let clocks: Vec<_> = clocks.collect();
        let figures = whole.devices.iter().map(|((process, device), totals)| {
            let clock = self.get(*process, *device);
            let driver = whole.drivers.get(&(*process, *device));
            let (steps, mistakes) = clock.map_or((0, 0), |clock| clock.troubles());
            DeviceClock {
                process: builder.process_of(*process).0,
                device: *device,
                anchors: u32::try_from(totals.anchors).unwrap_or(u32::MAX),
                median_error_ns: totals.median_width(),
                max_error_ns: totals.max_width,
                driver_anchors: driver
                    .map_or(0, |it| u32::try_from(it.anchors).unwrap_or(u32::MAX)),
                driver_median_error_ns: driver.map_or(0, |it| it.median_width()),
                driver_disagrees: clock.is_some_and(|clock| clock.driver_disagrees()),
                drift_ppm: clock.and_then(|clock| clock.drift_ppm()),
                is_unusual: clock.is_some_and(|clock| clock.is_unusual()),
                steps,
                mistakes,
            }
        });
        let figures = figures.collect();
        (clocks, figures)
    }
}

fn is_coarse(device: &DeviceTotals) -> bool {
    // A few round readings can be chance.
    device.anchors >= 4 && device.coarse == device.anchors
}
