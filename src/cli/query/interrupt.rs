//! Signals that end a query: its temporary files are removed first.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Context;
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::{flag, low_level};

/// After this is dropped, a received signal ends the command.
pub(super) struct SignalGuard(Arc<AtomicUsize>);

/// Why a query stopped: a signal came.
#[derive(Debug, thiserror::Error)]
#[error("interrupted")]
pub(super) struct QueryInterrupted;

impl SignalGuard {
    pub(super) fn watch() -> anyhow::Result<Self> {
        let came = Arc::new(AtomicUsize::new(0));
        for signal in [SIGINT, SIGTERM, SIGHUP] {
            let number = usize::try_from(signal).unwrap_or(0);
            flag::register_usize(signal, Arc::clone(&came), number)
                .context("cannot handle signals")?;
        }
        Ok(Self(came))
    }

    pub(super) fn check(&self) -> Result<(), QueryInterrupted> {
        match self.0.load(Ordering::Relaxed) {
            0 => Ok(()),
            _ => Err(QueryInterrupted),
        }
    }
}

impl Drop for SignalGuard {
    fn drop(&mut self) {
        let signal = i32::try_from(self.0.load(Ordering::Relaxed)).unwrap_or(0);
        if signal != 0 {
            // As without a handler. Where that fails, the command ends with its usual status.
            let _ = low_level::emulate_default_handler(signal);
        }
    }
}
