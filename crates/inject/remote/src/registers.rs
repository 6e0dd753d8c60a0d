//! The registers of a stopped thread.

use std::io;

use crate::requests;

/// The kernel's numbers of sets of registers.
const GENERAL: usize = 1;
#[cfg(target_arch = "x86_64")]
const VECTOR: usize = 0x202;
#[cfg(not(target_arch = "x86_64"))]
const VECTOR: usize = 2;

/// Words of all vector registers, at most: two pages are enough for AVX-512 and for the tiles of AMX.
const MOST_WORDS: usize = 2048;

/// Results of the kernel for a call that it makes again after an interruption.
const MADE_AGAIN: [i64; 4] = [-512, -513, -514, -516];

#[cfg(target_arch = "x86_64")]
mod machine {
    pub(super) const WORDS: usize = 27;
    /// In the order of the kernel's `user_regs_struct`.
    pub(super) const RESULT: usize = 10;
    pub(super) const CALL: usize = 15;
    pub(super) const INSTRUCTION: usize = 16;
    pub(super) const FLAGS: usize = 18;
    pub(super) const STACK: usize = 19;
    /// `rdi`, `rsi`, `rdx`, `rcx`, `r8`, `r9`.
    pub(super) const ARGUMENTS: [usize; 6] = [14, 13, 12, 11, 9, 8];
    /// The direction of string instructions, and traps.
    pub(super) const ODD_FLAGS: u64 = 0x400 | 0x100;
}

#[cfg(not(target_arch = "x86_64"))]
mod machine {
    /// `x0` to `x30`, the stack, the instruction, the state.
    pub(super) const WORDS: usize = 34;
    pub(super) const RESULT: usize = 0;
    pub(super) const LINK: usize = 30;
    pub(super) const STACK: usize = 31;
    pub(super) const INSTRUCTION: usize = 32;
    pub(super) const ARGUMENTS: [usize; 6] = [0, 1, 2, 3, 4, 5];
}

use machine::{ARGUMENTS, INSTRUCTION, RESULT, STACK, WORDS};

/// The general registers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Registers([u64; WORDS]);

impl Registers {
    pub(crate) fn of(tid: i32) -> io::Result<Self> {
        let mut words = [0; WORDS];
        let bytes = requests::registers(tid, GENERAL, &mut words)?;
        // A program of 32 bits has fewer.
        match bytes == size_of_val(&words) {
            true => Ok(Self(words)),
            false => Err(io::Error::from(io::ErrorKind::Unsupported)),
        }
    }

    pub(crate) fn set(&self, tid: i32) -> io::Result<()> {
        requests::set_registers(tid, GENERAL, &self.0, size_of_val(&self.0))
    }

    pub(crate) fn stack(&self) -> u64 {
        self.0[STACK]
    }

    pub(crate) fn instruction(&self) -> u64 {
        self.0[INSTRUCTION]
    }

    pub(crate) fn result(&self) -> u64 {
        self.0[RESULT]
    }

    /// Whether the thread was stopped in a system call that goes on when it runs.
    #[cfg(target_arch = "x86_64")]
    pub(crate) fn is_waiting(&self) -> bool {
        self.0[machine::CALL].cast_signed() >= 0
            && MADE_AGAIN.contains(&self.0[RESULT].cast_signed())
    }

    /// The same. The kernel has set the registers for the call again: its first argument has none of these values.
    #[cfg(not(target_arch = "x86_64"))]
    pub(crate) fn is_waiting(&self) -> bool {
        !MADE_AGAIN.contains(&self.0[RESULT].cast_signed())
    }

    /// The registers with which the thread calls a function that returns to address 0.
    pub(crate) fn calling(&self, function: u64, arguments: &[u64], stack: u64) -> Self {
        let mut words = self.0;
        words[INSTRUCTION] = function;
        for (place, argument) in ARGUMENTS.iter().zip(arguments) {
            words[*place] = *argument;
        }
        #[cfg(target_arch = "x86_64")]
        {
            words[RESULT] = 0;
            // It is in no system call: the kernel makes none again.
            words[machine::CALL] = u64::MAX;
            words[machine::FLAGS] &= !machine::ODD_FLAGS;
            words[STACK] = aligned(stack) - 8;
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            words[machine::LINK] = 0;
            words[STACK] = aligned(stack);
        }
        Self(words)
    }
}

fn aligned(stack: u64) -> u64 {
    stack & !15
}

pub(crate) fn return_place(stack: u64) -> Option<u64> {
    cfg!(target_arch = "x86_64").then(|| aligned(stack) - 8)
}

/// The registers for floating-point numbers and vectors.
#[derive(Debug)]
pub(crate) struct VectorRegisters {
    words: Vec<u64>,
    bytes: usize,
}

impl VectorRegisters {
    pub(crate) fn of(tid: i32) -> io::Result<Self> {
        let mut words = vec![0; MOST_WORDS];
        let bytes = requests::registers(tid, VECTOR, &mut words)?;
        Ok(Self { words, bytes })
    }

    pub(crate) fn set(&self, tid: i32) -> io::Result<()> {
        requests::set_registers(tid, VECTOR, &self.words, self.bytes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_function_is_called_with_its_arguments_and_an_aligned_stack() {
        let before = Registers([7; WORDS]);
        let call = before.calling(0x1000, &[1, 2], 0x8001);
        assert_eq!(call.instruction(), 0x1000);
        assert_eq!(call.0[ARGUMENTS[0]], 1);
        assert_eq!(call.0[ARGUMENTS[1]], 2);
        assert_eq!(call.0[ARGUMENTS[2]], 7);
        match return_place(0x8001) {
            Some(place) => assert_eq!((place, call.stack()), (0x7ff8, 0x7ff8)),
            None => assert_eq!(call.stack(), 0x8000),
        }
        assert_eq!(
            before,
            Registers([7; WORDS]),
            "the registers from before stay"
        );
    }

    #[cfg(target_arch = "x86_64")]
    #[test]
    fn a_call_that_is_made_again_is_a_wait() {
        let mut registers = Registers([0; WORDS]);
        registers.0[RESULT] = (-516i64).cast_unsigned();
        assert!(registers.is_waiting());
        registers.0[machine::CALL] = u64::MAX;
        assert!(!registers.is_waiting(), "it is in no call");
        registers.0[machine::CALL] = 1;
        registers.0[RESULT] = (-4i64).cast_unsigned();
        assert!(!registers.is_waiting(), "the kernel does not make it again");
    }
}
