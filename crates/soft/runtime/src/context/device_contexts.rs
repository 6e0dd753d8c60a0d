//! The contexts of each device.

use std::sync::Arc;

use super::Context;
use crate::code::{Outcome, RT_DEVICE_NOT_SET, fault};
use crate::device::{self, Device};
use crate::per_process::PerProcess;
use crate::sync::{Mutex, lock};

static DEVICE_CONTEXTS: PerProcess<Vec<DeviceContexts>> = PerProcess::new(DeviceContexts::of_all);

/// Those of a device.
pub(crate) fn of(device: &Device) -> &'static DeviceContexts {
    &DEVICE_CONTEXTS.get()[device.id as usize]
}

/// The contexts of one device, and how often it was set.
pub(crate) struct DeviceContexts {
    device: &'static Device,
    state: Mutex<DeviceContextState>,
}

#[derive(Default)]
struct DeviceContextState {
    references: u64,
    primary: Option<Arc<Context>>,
    /// Explicit contexts, by handle.
    contexts: Vec<Arc<Context>>,
}

impl DeviceContexts {
    fn of_all() -> Vec<Self> {
        let all = device::all().iter();
        all.map(|device| Self {
            device,
            state: Mutex::default(),
        })
        .collect()
    }

    pub(crate) fn is_idle(&self) -> bool {
        let state = lock(&self.state);
        state
            .primary
            .iter()
            .chain(&state.contexts)
            .all(|context| context.is_idle())
    }

    /// Learns which tasks of all streams are complete.
    pub(crate) fn recycle(&self) {
        let state = lock(&self.state);
        for context in state.primary.iter().chain(&state.contexts) {
            context.recycle();
        }
    }

    pub(crate) fn primary_is_active(&self) -> bool {
        lock(&self.state).primary.is_some()
    }

    pub(crate) fn adopt(&self, context: &Arc<Context>) {
        lock(&self.state).contexts.push(Arc::clone(context));
    }

    pub(crate) fn disown(&self, handle: usize) {
        lock(&self.state)
            .contexts
            .retain(|context| context.handle != handle);
    }

    pub(crate) fn acquire(&self) -> Outcome<Arc<Context>> {
        let mut state = lock(&self.state);
        if let Some(context) = state.primary.clone() {
            state.references += 1;
            return Ok(context);
        }
        let context = Context::create(self.device, true)?;
        state.primary = Some(Arc::clone(&context));
        state.references += 1;
        drop(state);
        context.announce();
        Ok(context)
    }

    pub(super) fn contexts(&self) -> Vec<Arc<Context>> {
        let state = lock(&self.state);
        state
            .primary
            .iter()
            .chain(&state.contexts)
            .cloned()
            .collect()
    }

    /// Gives up one reference, or all; returns the default context when it has to go.
    pub(super) fn release(&self, force: bool) -> Outcome<Option<Arc<Context>>> {
        let mut state = lock(&self.state);
        if state.references == 0 {
            return fault(
                RT_DEVICE_NOT_SET,
                "the device is not set or was reset already",
            );
        }
        state.references = if force { 0 } else { state.references - 1 };
        Ok(if state.references == 0 {
            state.primary.take()
        } else {
            None
        })
    }
}
