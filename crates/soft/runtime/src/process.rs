//! State from the start of the process: its options, and the truth log.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::code::{Code, Outcome, UNINITIALIZE, fault};
use crate::ffi::complain;
use crate::per_process::PerProcess;
use crate::truth::Truth;
use crate::virtual_time;
use softacl_options::{Options, TaskOrder};

struct Process {
    options: Options,
    error: Option<String>,
    truth: Option<Truth>,
    failures: Vec<AtomicU64>,
    failures_armed: AtomicBool,
}

static PROCESS: PerProcess<Process> = PerProcess::new(Process::new);

impl Process {
    fn new() -> Self {
        let text = std::env::var("SOFTACL").unwrap_or_default();
        let (options, error) = match Options::parse(&text) {
            Ok(options) => (options, None),
            Err(error) => (Options::default(), Some(error)),
        };
        if options.virtual_ns != 0 {
            let submit_ns = options.virtual_submit_ns.unwrap_or(options.virtual_ns);
            virtual_time::turn_on(options.virtual_ns, submit_ns);
        }
        let failures: Vec<AtomicU64> = options.fail.iter().map(|_| AtomicU64::new(0)).collect();
        Self {
            truth: open_truth(),
            failures_armed: AtomicBool::new(!failures.is_empty()),
            failures,
            options,
            error,
        }
    }
}

fn open_truth() -> Option<Truth> {
    let path = std::env::var("SOFTACL_TRUTH")
        .ok()
        .filter(|path| !path.is_empty())?;
    Truth::open(&path)
        .map_err(|error| complain(&format!("cannot write the truth log {path}: {error}")))
        .ok()
}

pub(crate) fn options() -> &'static Options {
    &PROCESS.get().options
}

/// The same, if anybody has asked for them before.
pub(crate) fn known_options() -> Option<&'static Options> {
    PROCESS.existing().map(|process| &process.options)
}

/// Is the order of tasks hostile to programs in which a dependency is missing?
pub(crate) fn is_adversarial() -> bool {
    options().order == TaskOrder::Adversarial
}

/// Why the options could not be read.
pub(crate) fn options_error() -> Option<&'static str> {
    PROCESS.get().error.as_deref()
}

pub(crate) fn truth() -> Option<&'static Truth> {
    PROCESS.get().truth.as_ref()
}

pub(crate) fn flush_truth() {
    if let Some(truth) = truth() {
        truth.flush();
    }
}

/// Refuses to work after options that could not be read. `aclInit` need not have been called.
pub(crate) fn require_usable() -> Outcome {
    if options_error().is_some() {
        return fault(
            UNINITIALIZE,
            "aclInit failed: SOFTACL holds an invalid option",
        );
    }
    Ok(())
}

/// The code with which this call has to fail, if the options say so.
pub(crate) fn injected_failure(function: &str) -> Option<Code> {
    let process = PROCESS.get();
    if !process.failures_armed.load(Ordering::Relaxed) {
        return None;
    }
    let rules = process.options.fail.iter().zip(&process.failures);
    rules
        .filter(|(rule, _)| rule.function == function)
        .filter(|(rule, count)| count.fetch_add(1, Ordering::Relaxed) + 1 == rule.nth)
        .map(|(rule, _)| rule.code)
        .last()
}
