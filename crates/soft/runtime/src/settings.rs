//! Settings that a program may make and read back, and that change nothing in a software runtime.

use std::collections::HashMap;
use std::sync::atomic::AtomicU64;

use crate::code::Outcome;
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

static SETTINGS: PerProcess<Settings> = PerProcess::new(Settings::default);

pub(crate) fn get() -> &'static Settings {
    SETTINGS.get()
}

#[derive(Default)]
pub(crate) struct Settings {
    /// Device pairs between which the program enabled access.
    pub(crate) peers: Mutex<Vec<(i32, i32)>>,
    pub(crate) saturation: Mutex<u32>,
    pub(crate) params: SettingTable,
    pub(crate) device_limits: SettingTable,
    /// Core limits by device.
    pub(crate) cores: SettingTable,
    /// Core limits and other attributes by stream.
    pub(crate) stream_cores: SettingTable,
    pub(crate) stream_attributes: SettingTable,
    pub(crate) pool_attributes: SettingTable,
    /// Options for compiling operators, by their number.
    pub(crate) compile_options: Mutex<HashMap<i32, String>>,
    /// How many intervals operators may take; 0 is no setting.
    pub(crate) op_intervals: AtomicU64,
    /// Duration of waits for events without a timeout; 0 is for ever.
    pub(crate) op_wait_timeout_s: AtomicU64,
    pub(crate) allocators: Mutex<HashMap<usize, [usize; 5]>>,
}

impl Settings {
    /// A later stream must not inherit the settings of this one.
    pub(crate) fn forget_stream(&self, stream: usize) {
        self.stream_cores.clear(stream as u64);
        self.stream_attributes.clear(stream as u64);
        lock(&self.allocators).remove(&stream);
    }
}

/// Values by an object and a number.
#[derive(Default)]
pub(crate) struct SettingTable(Mutex<HashMap<(u64, u32), i64>>);

impl SettingTable {
    pub(crate) fn set(&self, scope: u64, number: u32, value: i64) -> Outcome {
        lock(&self.0).insert((scope, number), value);
        Ok(())
    }

    pub(crate) fn get(&self, scope: u64, number: u32) -> Option<i64> {
        lock(&self.0).get(&(scope, number)).copied()
    }

    pub(crate) fn clear(&self, scope: u64) {
        let mut values = lock(&self.0);
        if !values.is_empty() {
            values.retain(|&(other, _), _| other != scope);
        }
    }
}
