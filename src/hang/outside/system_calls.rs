//! The system call that a thread is in, and the memory of its process.

use std::fs::{self, File};
use std::os::unix::fs::FileExt;

/// Numbers of system calls on the machine of this build.
pub(super) mod numbers {
    const fn of(x86: u64, arm: u64) -> u64 {
        if cfg!(target_arch = "aarch64") {
            arm
        } else {
            x86
        }
    }

    pub(in super::super) const FUTEX: u64 = of(202, 98);
    /// `read`, `readv`, `recvfrom` and `recvmsg`: the first argument is a file descriptor.
    pub(in super::super) const READS: [u64; 4] = [of(0, 63), of(19, 65), of(45, 207), of(47, 212)];
}

/// A system call in which a thread sleeps.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SystemCall {
    pub(super) number: u64,
    pub(super) arguments: [u64; 6],
    /// The stack pointer of the thread.
    pub(super) stack: u64,
}

impl SystemCall {
    /// Nothing where the thread runs, or the kernel does not let this process look at it.
    pub(super) fn of(pid: u32, tid: u32) -> Option<Self> {
        let text = fs::read_to_string(format!("/proc/{pid}/task/{tid}/syscall"));
        Self::parse(&text.ok()?)
    }

    fn parse(text: &str) -> Option<Self> {
        let mut words = text.split_whitespace();
        let number = words.next()?.parse().ok()?;
        let mut hexadecimal = || u64::from_str_radix(words.next()?.strip_prefix("0x")?, 16).ok();
        let mut arguments = [0; 6];
        for argument in &mut arguments {
            *argument = hexadecimal()?;
        }
        Some(Self {
            number,
            arguments,
            stack: hexadecimal()?,
        })
    }
}

/// The memory of another process, for reading.
#[derive(Debug)]
pub(super) struct Memory(File);

impl Memory {
    /// Nothing where the kernel does not let this process look at that one.
    pub(super) fn of(pid: u32) -> Option<Self> {
        File::open(format!("/proc/{pid}/mem")).ok().map(Self)
    }

    /// Words of 32 bits from an address on.
    pub(super) fn words<const N: usize>(&self, address: u64) -> Option<[u32; N]> {
        let mut bytes = vec![0; N * 4];
        self.0.read_exact_at(&mut bytes, address).ok()?;
        let mut words = [0; N];
        for (word, bytes) in words.iter_mut().zip(bytes.as_chunks::<4>().0) {
            *word = u32::from_ne_bytes(*bytes);
        }
        Some(words)
    }

    /// All addresses in a range.
    pub(super) fn addresses(&self, range: &std::ops::Range<u64>) -> Option<Vec<u64>> {
        let length = usize::try_from(range.end.checked_sub(range.start)?).ok()?;
        let mut bytes = vec![0; length];
        self.0.read_exact_at(&mut bytes, range.start).ok()?;
        let words = bytes.as_chunks::<8>().0.iter();
        Some(words.map(|it| u64::from_ne_bytes(*it)).collect())
    }

    /// Whether a call ends right before an address of code: a word of a stack that is such an address is where a frame goes on.
    pub(super) fn is_behind_a_call(&self, address: u64) -> bool {
        const LONGEST: usize = 7;
        let mut before = [0; LONGEST];
        let from = address.checked_sub(LONGEST as u64);
        let read = from.map(|from| self.0.read_exact_at(&mut before, from));
        read.is_some_and(|it| it.is_ok()) && ends_with_a_call(&before)
    }
}

/// Whether these bytes of code end with a call, on the machine of this build.
fn ends_with_a_call(code: &[u8]) -> bool {
    if cfg!(target_arch = "aarch64") {
        let last = code.last_chunk::<4>();
        last.is_some_and(|it| is_arm_call(u32::from_le_bytes(*it)))
    } else {
        is_x86_call(code)
    }
}

/// `bl`, or `blr` with and without authentication.
const fn is_arm_call(word: u32) -> bool {
    word & 0xfc00_0000 == 0x9400_0000 || word & 0xfeff_f000 == 0xd63f_0000
}

/// A direct call of five bytes, or an indirect one of two to seven bytes: its second byte has 2 in the middle.
fn is_x86_call(code: &[u8]) -> bool {
    let byte = |back: usize| code.len().checked_sub(back).map(|at| code[at]);
    let is_indirect = |length: usize| {
        let second = byte(length - 1).map(|it| it >> 3 & 7);
        byte(length) == Some(0xff) && second == Some(2)
    };
    byte(5) == Some(0xe8) || [2, 3, 4, 6, 7].into_iter().any(is_indirect)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_text_of_the_kernel_is_read() {
        let text = "202 0x7fd7 0x109 0x17ba 0x0 0x0 0xffffffff 0x7fff10 0x7fd8";
        let call = SystemCall::parse(text).unwrap();
        assert_eq!(call.arguments, [0x7fd7, 0x109, 0x17ba, 0, 0, 0xffff_ffff]);
        assert_eq!((call.number, call.stack), (202, 0x7f_ff10));
        for other in ["running", "-1 0x7fff10 0x7fd8", "", "202 0x1"] {
            assert_eq!(SystemCall::parse(other), None, "{other}");
        }
    }

    #[test]
    fn calls_are_found_by_their_bytes() {
        // `call rel32`, `call rax`, `call r12`, `call [rax+8]`, `call [rip+x]`.
        assert!(is_x86_call(&[0, 0, 0xe8, 1, 2, 3, 4]));
        assert!(is_x86_call(&[0, 0, 0, 0, 0, 0xff, 0xd0]));
        assert!(is_x86_call(&[0, 0, 0, 0, 0x41, 0xff, 0xd4]));
        assert!(is_x86_call(&[0, 0, 0, 0, 0xff, 0x50, 8]));
        assert!(is_x86_call(&[0, 0xff, 0x15, 1, 2, 3, 4]));
        // A jump, and a begin of a function.
        assert!(!is_x86_call(&[0, 0, 0xe9, 1, 2, 3, 4]));
        assert!(!is_x86_call(&[0, 0, 0, 0, 0, 0xff, 0xe0]));
        assert!(!is_x86_call(&[0x66, 0x0f, 0x1f, 0x44, 0, 0, 0xc3]));
        // `bl`, `blr x3`, `blraa x3, sp`; `b`, `br x3`.
        for (word, expected) in [
            (0x9400_0010, true),
            (0xd63f_0060, true),
            (0xd73f_087f, true),
            (0x1400_0010, false),
            (0xd61f_0060, false),
        ] {
            assert_eq!(is_arm_call(word), expected, "{word:#x}");
        }
    }

    #[test]
    fn memory_is_read_up_to_its_end() {
        let memory = Memory::of(std::process::id()).unwrap();
        let words = [1_u32, 2, 3, 4];
        let address = words.as_ptr() as u64;
        assert_eq!(memory.words::<4>(address), Some(words));
        assert_eq!(memory.words::<1>(8), None);
        let (begin, end) = (8, 4);
        assert_eq!(memory.addresses(&(begin..end)), None);
    }
}
