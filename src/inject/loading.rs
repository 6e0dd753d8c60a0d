//! The calls that a held thread makes: it maps memory for a stack, and loads the library there.

use std::ffi::OsStr;
use std::os::unix::ffi::OsStrExt;
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, bail};

use ascend_trace_remote::{CallError, HeldThread, return_place};

use super::functions::{LibraryFunction, LoaderFunctions};
use super::memory::ProcessMemory;

/// Bytes for the stack and the texts.
const BYTES: u64 = 512 << 10;
/// Bytes for the texts.
const TEXTS: u64 = 16 << 10;
/// Bytes below the stack of a thread that its present function may use.
const IN_USE: u64 = 512;
/// Readable and writable memory of the process alone.
const READ_WRITE: u64 = 3;
const PRIVATE: u64 = 0x22;
/// At once, and for as long as the process lives.
const LOADING: u64 = 2 | 0x1000;
/// Time limits for a call of the kernel, and for the loader.
const SHORT: Duration = Duration::from_secs(2);
const LONG: Duration = Duration::from_secs(10);
/// Time for a thread that is just binding a call to store its address.
const BINDING: Duration = Duration::from_millis(5);

/// The first function of the library.
pub(super) const BEGIN: &str = "ascend_trace_begin_late";
/// Its results.
const READY: u32 = 1;
const EARLY: u32 = 3;

/// Has the thread load the library, and begin it.
pub(super) fn load(
    pid: u32,
    held: &mut HeldThread,
    (functions, memory): (&LoaderFunctions, &ProcessMemory),
    wanted: (&Path, &Path, &LibraryFunction),
) -> anyhow::Result<()> {
    let mut calls = Calls {
        pid,
        held,
        memory,
        stack: 0,
    };
    calls.stack = calls.held.stack() - IN_USE;
    let protection = [0, BYTES, READ_WRITE, PRIVATE, u64::MAX, 0];
    let area = calls.make(functions.map, &protection, SHORT)?;
    if area == 0 || area % 4096 != 0 {
        bail!("process {pid} has no memory for the library: free some, and try again");
    }
    let below = calls.stack;
    calls.stack = area + BYTES;
    let loaded = load_in(&mut calls, functions, area, wanted);
    calls.stack = below;
    // Memory that is left behind does no harm.
    let _ = calls.make(functions.unmap, &[area, BYTES], SHORT);
    loaded
}

fn load_in(
    calls: &mut Calls<'_>,
    functions: &LoaderFunctions,
    area: u64,
    (library, folder, begin): (&Path, &Path, &LibraryFunction),
) -> anyhow::Result<()> {
    let pid = calls.pid;
    let path = area;
    let place = area + TEXTS / 2;
    calls.put(path, library.as_os_str())?;
    calls.put(place, folder.as_os_str())?;
    if calls.make(functions.open, &[path, LOADING], LONG)? == 0 {
        let error = calls.make(functions.error, &[], SHORT)?;
        let text = calls.memory.text(error);
        bail!(
            "the loader of process {pid} refuses the library, and the program runs on without it: {}",
            text.as_deref().unwrap_or("it gives no reason")
        );
    }
    let begin = begin.address(pid)?;
    match calls.make(begin, &[place], LONG)? as u32 {
        READY => {}
        EARLY => {
            bail!("process {pid} has had the library since its start: attach without --inject")
        }
        _ => bail!(
            "process {pid} cannot make its page in {}: give this folder room, and mode 0700",
            folder.display()
        ),
    }
    std::thread::sleep(BINDING);
    calls.make(begin, &[place], LONG)?;
    Ok(())
}

struct Calls<'a> {
    pid: u32,
    held: &'a mut HeldThread,
    memory: &'a ProcessMemory,
    stack: u64,
}

impl Calls<'_> {
    fn make(&mut self, function: u64, arguments: &[u64], limit: Duration) -> anyhow::Result<u64> {
        let pid = self.pid;
        if let Some(place) = return_place(self.stack) {
            let written = self.memory.write(place, &0u64.to_ne_bytes());
            written.with_context(|| format!("cannot write to the stack of process {pid}"))?;
        }
        let result = self.held.call(function, arguments, self.stack, limit);
        result.map_err(|error| match error {
            CallError::TooLong => anyhow::anyhow!(
                "the loader of process {pid} did not finish in {} s, and was left: check that the program goes on, and start it again if it does not",
                limit.as_secs()
            ),
            CallError::Ended => anyhow::anyhow!("process {pid} has ended: check its own messages"),
            error => anyhow::Error::new(error)
                .context(format!("process {pid} could not load the library")),
        })
    }

    /// Writes a text with a zero byte at its end.
    fn put(&self, address: u64, text: &OsStr) -> anyhow::Result<()> {
        let bytes = text.as_bytes();
        if bytes.len() as u64 >= TEXTS / 2 {
            bail!("a path is too long: use a shorter XDG_CACHE_HOME or ASCEND_TRACE_MEMORY");
        }
        let mut text = bytes.to_vec();
        text.push(0);
        let written = self.memory.write(address, &text);
        written.with_context(|| format!("cannot write to the memory of process {}", self.pid))
    }
}
