//! Processor time of the program's threads, read where a thread comes back from a pause outside AscendCL: so a recording says
//! whether a thread worked in the pause, or waited.
//!
//! A reading takes two system calls. A thread reads after a pause of 150 us, at the end of a call if the last reading is 300 us old,
//! and at the end of a call of 20 us or more if the last pause came after such a call. So two readings come to a pause at most.

use core::cell::Cell;
use core::sync::atomic::AtomicU64;
use core::sync::atomic::Ordering::Relaxed;

use ascend_trace_format::record::CpuTime;

use super::ThreadState;
use crate::clock::{nanoseconds, ticks};
use crate::{syscall_policy, system};

/// A pause of this length is looked at.
const PAUSE_NS: u64 = 150_000;

/// The same in ticks; 0 until it is known.
static PAUSE_TICKS: AtomicU64 = AtomicU64::new(0);

/// Ticks that are converted for that.
const MANY: u64 = 1 << 24;

/// A reading is old after this number of such times.
const OLD: u64 = 2;

/// A call is short that takes less than this part of such a time.
const SHORT: u64 = 8;

/// The thread's processor time, and when it was read.
#[derive(Clone, Copy)]
struct Reading {
    /// In ticks.
    at: u64,
    at_ns: u64,
    used_ns: u64,
    /// How often the thread has given its processor up.
    blocks: u64,
}

/// Where a pause is that a reading bounds: the reading of the processor time is next to it.
#[derive(Clone, Copy)]
enum PauseEdge {
    Begin,
    End,
}

/// The processor time of a thread at its last reading.
pub(super) struct CpuClock {
    last: Cell<Option<Reading>>,
    /// The end of the last call, in ticks; 0 for none.
    left: Cell<u64>,
    /// The functions of the last call, and of the call before the last pause.
    function: Cell<u32>,
    paused_after: Cell<u32>,
}

/// No function.
const NONE: u32 = u32::MAX;

impl CpuClock {
    pub(super) const fn new() -> Self {
        Self {
            last: Cell::new(None),
            left: Cell::new(0),
            function: Cell::new(NONE),
            paused_after: Cell::new(NONE),
        }
    }

    pub(super) fn forget(&self) {
        self.last.set(None);
        self.left.set(0);
    }
}

impl ThreadState {
    /// An outermost call begins: the processor time since the last reading, if the thread comes back from a pause. Must only be
    /// called while the thread is busy.
    #[inline]
    pub(crate) fn cpu_before_call(&self, now: u64) -> Option<CpuTime> {
        let left = self.cpu.left.get();
        if left == 0 || now.wrapping_sub(left) < pause_ticks() {
            return None;
        }
        self.cpu.paused_after.set(self.cpu.function.get());
        let before = self.read_cpu(PauseEdge::End)?;
        let last = self.cpu.last.get()?;
        CpuTime::new(
            last.used_ns.checked_sub(before.used_ns)?,
            last.at_ns.checked_sub(before.at_ns)?,
            last.blocks.checked_sub(before.blocks)?,
        )
    }

    /// An outermost call of a function has ended. Must only be called while the thread is busy.
    #[inline]
    pub(crate) fn cpu_after_call(&self, function: u32, (begin, end): (u64, u64)) {
        self.cpu.left.set(end);
        self.cpu.function.set(function);
        let last = self.cpu.last.get().map_or(0, |it| it.at);
        let pause = pause_ticks();
        let is_followed =
            function == self.cpu.paused_after.get() && end.wrapping_sub(begin) >= pause / SHORT;
        if is_followed || end.wrapping_sub(last) >= OLD * pause {
            self.read_cpu(PauseEdge::Begin);
        }
    }

    /// The next reading has nothing to compare with.
    pub(crate) fn forget_cpu(&self) {
        self.cpu.forget();
    }

    /// Reads the processor time. Returns the reading before.
    #[cold]
    #[inline(never)]
    fn read_cpu(&self, edge: PauseEdge) -> Option<Reading> {
        if !syscall_policy::is_allowed() {
            self.cpu.forget();
            return None;
        }
        let begin = ticks();
        let at_ns = ascend_trace_ring::ticks::monotonic();
        let account = match edge {
            PauseEdge::End => used_ns().zip(blocks()),
            PauseEdge::Begin => blocks().and_then(|blocks| Some((used_ns()?, blocks))),
        };
        let reading = account.map(|(used_ns, blocks)| Reading {
            at: ticks(),
            at_ns,
            used_ns,
            blocks,
        });
        let (meter, end) = (self.meter(), ticks());
        // Something else had the processor in a longer one.
        if end.wrapping_sub(begin) < pause_ticks() / SHORT {
            meter.spend(self, &meter.besides, (begin, end));
        }
        self.cpu.last.replace(reading)
    }
}

/// The calling thread's processor time.
fn used_ns() -> Option<u64> {
    let mut used = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    let place = &raw mut used as usize;
    let clock = libc::CLOCK_THREAD_CPUTIME_ID as usize;
    // SAFETY: writes the time into a live local.
    let answer = unsafe { system::call(libc::SYS_clock_gettime, [clock, place, 0, 0, 0, 0]) };
    let (seconds, nanoseconds) = (used.tv_sec as u64, used.tv_nsec as u64);
    (answer == 0).then(|| {
        seconds
            .wrapping_mul(1_000_000_000)
            .wrapping_add(nanoseconds)
    })
}

/// How often the calling thread has given its processor up.
fn blocks() -> Option<u64> {
    // SAFETY: all-zero counts are valid.
    let mut usage: libc::rusage = unsafe { core::mem::zeroed() };
    let place = &raw mut usage as usize;
    let of_thread = libc::RUSAGE_THREAD as usize;
    // SAFETY: writes the counts into a live local.
    let answer = unsafe { system::call(libc::SYS_getrusage, [of_thread, place, 0, 0, 0, 0]) };
    (answer == 0).then_some(usage.ru_nvcsw as u64)
}

#[inline]
fn pause_ticks() -> u64 {
    match PAUSE_TICKS.load(Relaxed) {
        0 => first_pause_ticks(),
        known => known,
    }
}

#[cold]
fn first_pause_ticks() -> u64 {
    let ns = nanoseconds(MANY).max(1);
    let ticks = (MANY * PAUSE_NS / ns).max(1);
    PAUSE_TICKS.store(ticks, Relaxed);
    ticks
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_works_uses_its_processor() {
        let before = used_ns().unwrap();
        let mut after = before;
        // Until the clock shows it, however busy the machine is.
        while after < before + 1_000_000 {
            after = used_ns().unwrap();
        }
        syscall_policy::sleep(20_000_000);
        let slept = used_ns().unwrap() - after;
        assert!(slept < 20_000_000, "{slept}");
    }

    #[test]
    fn a_thread_that_sleeps_gives_its_processor_up() {
        let before = blocks().unwrap();
        syscall_policy::sleep(1_000_000);
        assert!(blocks().unwrap() > before);
    }
}
