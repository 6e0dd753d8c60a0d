//! From a frame to its caller's, and so on.

use super::memory::Stack;
use super::unwind_rule::{Base, Registers, Rule, Saved, Step};

/// Frames of one stack that can be recorded.
pub(crate) const MOST_FRAMES: usize = 100;
/// Where the number of a frame's object is, in the frame's word.
const OBJECT_AT: u32 = 48;
pub(super) const ADDRESS: usize = (1 << OBJECT_AT) - 1;
/// Frames of this library that come first, at most.
const MOST_OWN: usize = 24;

/// The frames of a walk, innermost first: addresses behind their calls, with the numbers of their objects.
pub(super) struct Frames {
    words: [u64; MOST_FRAMES],
    count: usize,
    /// One of them is of a signal's handler.
    is_interrupted: bool,
}

impl Frames {
    pub(super) fn words(&self) -> &[u64] {
        self.words.get(..self.count).unwrap_or(&[])
    }

    /// The addresses alone.
    pub(super) fn addresses(&self) -> impl Iterator<Item = usize> {
        self.words().iter().map(|word| *word as usize & ADDRESS)
    }

    /// Leaves frames beyond `most` out.
    pub(super) fn cut(&mut self, most: usize) {
        self.count = self.count.min(most);
    }

    pub(super) fn is_interrupted(&self) -> bool {
        self.is_interrupted
    }

    fn push(&mut self, word: u64) {
        if let Some(place) = self.words.get_mut(self.count) {
            *place = word;
            self.count += 1;
        }
    }

    /// A number for the stack, never 0.
    pub(super) fn hash(&self) -> u64 {
        hash(self.words())
    }
}

/// A number for the words of a stack, never 0.
pub(super) fn hash(words: &[u64]) -> u64 {
    let mut hash = 0x9e37_79b9_7f4a_7c15u64;
    for word in words {
        hash = (hash ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd);
        hash ^= hash >> 32;
    }
    hash.max(1)
}

/// Walks from `registers` up, without the frames of this library that come first, until it has `most`.
/// `rule` returns the rule of an address, and whether it is a return address. `seen` is called with the
/// stack pointer of each frame.
#[inline]
pub(super) fn walk(
    mut registers: Registers,
    stack: &Stack,
    most: usize,
    is_own: impl Fn(usize) -> bool,
    mut rule: impl FnMut(&Registers) -> Option<Rule>,
    mut seen: impl FnMut(usize),
) -> Frames {
    let mut frames = Frames {
        words: [0; MOST_FRAMES],
        count: 0,
        is_interrupted: false,
    };
    let most = most.min(MOST_FRAMES);
    for _ in 0..most + MOST_OWN {
        let Some(rule) = rule(&registers) else {
            break;
        };
        let is_ours = frames.count == 0 && is_own(registers.pc);
        if !is_ours {
            frames.push(word(&registers, rule));
            seen(registers.sp);
        }
        frames.is_interrupted |= rule.step == Step::Signal;
        if frames.count == most {
            break;
        }
        match next(&registers, rule.step, stack) {
            Some(caller) => registers = caller,
            None => break,
        }
    }
    frames
}

/// Readers look one byte before the address.
fn word(registers: &Registers, rule: Rule) -> u64 {
    let pc = registers.pc.wrapping_add(registers.is_exact.into()) & ADDRESS;
    pc as u64 | u64::from(rule.object) << OBJECT_AT
}

/// The registers in the caller's frame; `None` at the end, and where something is not as it should be.
#[inline]
fn next(registers: &Registers, step: Step, stack: &Stack) -> Option<Registers> {
    match step {
        Step::End => None,
        Step::Chain => chain(registers, stack),
        Step::Signal => interrupted(registers, stack),
        Step::Frame { base, fp, ra } => frame(registers, (base, fp, ra), stack),
    }
}

#[inline]
fn frame(
    registers: &Registers,
    (base, fp, ra): (Base, Saved, Saved),
    stack: &Stack,
) -> Option<Registers> {
    let from = |register: usize, offset: i32| register.wrapping_add_signed(offset as isize);
    let cfa = match base {
        Base::Sp(offset) => from(registers.sp, offset),
        Base::Fp(offset) => from(registers.fp, offset),
        Base::AtFp(offset) => stack.word(from(registers.fp, offset))?,
    };
    // A frame that saves nothing, of a function that calls nothing, may be empty.
    let is_leaf = registers.lr.is_some() && cfa == registers.sp;
    if !is_leaf && !stack.holds_frame(cfa, registers.sp) {
        return None;
    }
    let at = |words: i16| cfa.wrapping_add_signed(isize::from(words) * 8);
    let pc = match ra {
        Saved::At(words) => stack.word(at(words))?,
        Saved::Same => registers.lr?,
    };
    let fp = match (base, fp) {
        (Base::AtFp(_), _) => stack.word(registers.fp)?,
        (_, Saved::At(words)) => stack.word(at(words))?,
        (_, Saved::Same) => registers.fp,
    };
    caller(pc, cfa, fp)
}

/// Where there are no tables, the frame pointer points to the caller's one, behind which the return address
/// is.
fn chain(registers: &Registers, stack: &Stack) -> Option<Registers> {
    let place = registers.fp;
    let begin = place.checked_add(16)?;
    if place < registers.sp || !stack.holds_frame(begin, registers.sp) {
        return None;
    }
    let (fp, pc) = (stack.word(place)?, stack.word(place + 8)?);
    caller(pc, begin, fp)
}

/// The address of a caller that makes sense.
#[inline]
fn caller(pc: usize, sp: usize, fp: usize) -> Option<Registers> {
    // Some processors sign return addresses in the upper bits.
    let pc = pc & ADDRESS;
    (pc >= 4096).then_some(Registers {
        pc,
        sp,
        fp,
        lr: None,
        is_exact: false,
    })
}

/// The registers that the kernel has saved for an interrupted thread: the stack pointer is at the
/// return address of the handler.
fn interrupted(registers: &Registers, stack: &Stack) -> Option<Registers> {
    let saved = |offset: usize| stack.word(registers.sp.wrapping_add(offset));
    let found = Registers {
        pc: saved(signal::PC)? & ADDRESS,
        sp: saved(signal::SP)?,
        fp: saved(signal::FP)?,
        lr: match signal::LR {
            Some(offset) => Some(saved(offset)? & ADDRESS),
            None => None,
        },
        is_exact: true,
    };
    (found.pc >= 4096 && stack.leave_for(found.sp)).then_some(found)
}

/// Where registers are in the kernel's frame, from the handler's return on.
#[cfg(not(target_arch = "aarch64"))]
mod signal {
    pub(super) const FP: usize = 120;
    pub(super) const SP: usize = 160;
    pub(super) const PC: usize = 168;
    pub(super) const LR: Option<usize> = None;
}

/// As above: behind 128 bytes of the signal's description and the context's head of 176 bytes there is the
/// address that could not be accessed, then the registers.
#[cfg(target_arch = "aarch64")]
mod signal {
    const REGISTERS: usize = 128 + 176 + 8;
    pub(super) const FP: usize = REGISTERS + 29 * 8;
    pub(super) const LR: Option<usize> = Some(REGISTERS + 30 * 8);
    pub(super) const SP: usize = REGISTERS + 31 * 8;
    pub(super) const PC: usize = REGISTERS + 32 * 8;
}

/// The registers right here.
#[cfg(target_arch = "x86_64")]
#[inline(always)]
pub(super) fn here() -> Registers {
    let (pc, sp, fp);
    // SAFETY: reads registers.
    unsafe {
        core::arch::asm!(
            "lea {pc}, [rip]",
            "mov {sp}, rsp",
            "mov {fp}, rbp",
            pc = out(reg) pc,
            sp = out(reg) sp,
            fp = out(reg) fp,
            options(nomem, nostack, preserves_flags),
        );
    }
    Registers {
        pc,
        sp,
        fp,
        lr: None,
        is_exact: true,
    }
}

/// As above.
#[cfg(target_arch = "aarch64")]
#[inline(always)]
pub(super) fn here() -> Registers {
    let (pc, sp, fp, lr): (usize, usize, usize, usize);
    // SAFETY: reads registers.
    unsafe {
        core::arch::asm!(
            "adr {pc}, .",
            "mov {sp}, sp",
            "mov {fp}, x29",
            "mov {lr}, x30",
            pc = out(reg) pc,
            sp = out(reg) sp,
            fp = out(reg) fp,
            lr = out(reg) lr,
            options(nomem, nostack, preserves_flags),
        );
    }
    Registers {
        pc,
        sp,
        fp,
        lr: Some(lr & ADDRESS),
        is_exact: true,
    }
}
