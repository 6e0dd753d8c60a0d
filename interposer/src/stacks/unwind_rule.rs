//! How to get from one frame to its caller's, in one word.

/// The registers of a thread that the unwinder follows.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Registers {
    pub(super) pc: usize,
    pub(super) sp: usize,
    /// The frame pointer: `rbp`, `x29`.
    pub(super) fp: usize,
    /// The link register, where there is one and it is known.
    pub(super) lr: Option<usize>,
    /// `pc` is that of an instruction that a signal has interrupted, or of the walk's own: no return address.
    pub(super) is_exact: bool,
}

impl Registers {
    pub(crate) fn stack_pointer(self) -> usize {
        self.sp
    }
}

/// Where the caller's frame begins: the canonical frame address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Base {
    /// This number of bytes from the stack pointer.
    Sp(i32),
    /// This number of bytes from the frame pointer.
    Fp(i32),
    /// The value at this number of bytes from the frame pointer, for functions that align their stack.
    /// The caller's frame pointer is the target of the frame pointer, then.
    AtFp(i32),
}

/// Where a register of the caller is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Saved {
    /// In the register still.
    Same,
    /// This number of words from the begin of the caller's frame.
    At(i16),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// There is no caller.
    End,
    /// Nothing is known: the frame pointers may form a chain.
    Chain,
    /// The kernel's frame below a signal handler.
    Signal,
    Frame {
        base: Base,
        fp: Saved,
        ra: Saved,
    },
}

/// A step, and the number of the address's object, 0 for none.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Rule {
    pub(super) step: Step,
    pub(super) object: u16,
}

pub(super) const MOST_OBJECTS: u16 = (1 << OBJECT_BITS) - 1;
const OBJECT_BITS: u32 = 12;
const KIND_BITS: u32 = 3;
const BASE_BITS: u32 = 24;
const FP_BITS: u32 = 14;
const RA_BITS: u32 = 11;
const BASE_AT: u32 = KIND_BITS;
const FP_AT: u32 = BASE_AT + BASE_BITS;
const RA_AT: u32 = FP_AT + FP_BITS;
const OBJECT_AT: u32 = RA_AT + RA_BITS;
const _: () = assert!(OBJECT_AT + OBJECT_BITS == u64::BITS);

const END: u64 = 1;
const CHAIN: u64 = 2;
const SIGNAL: u64 = 3;
const SP: u64 = 4;
const FP: u64 = 5;
const AT_FP: u64 = 6;

/// A signed number of `bits` bits at a place of a word; the least one means none.
const fn least(bits: u32) -> i64 {
    -1 << (bits - 1)
}

fn put(value: i64, at: u32, bits: u32) -> Option<u64> {
    let fits = value > least(bits) && value < -least(bits);
    fits.then_some((value as u64 & ((1 << bits) - 1)) << at)
}

fn none(at: u32, bits: u32) -> u64 {
    (least(bits) as u64 & ((1 << bits) - 1)) << at
}

const fn take(word: u64, at: u32, bits: u32) -> i64 {
    (word << (u64::BITS - at - bits)) as i64 >> (u64::BITS - bits)
}

impl Rule {
    /// Never 0. Rules that do not fit become the end.
    pub(super) fn encode(self) -> u64 {
        let object = u64::from(self.object.min(MOST_OBJECTS)) << OBJECT_AT;
        let step = match self.step {
            Step::End => END,
            Step::Chain => CHAIN,
            Step::Signal => SIGNAL,
            Step::Frame { base, fp, ra } => frame(base, fp, ra).unwrap_or(END),
        };
        object | step
    }

    #[inline]
    pub(super) fn decode(word: u64) -> Self {
        let offset = take(word, BASE_AT, BASE_BITS) as i32;
        let base = match word & ((1 << KIND_BITS) - 1) {
            SP => Some(Base::Sp(offset)),
            FP => Some(Base::Fp(offset)),
            AT_FP => Some(Base::AtFp(offset)),
            _ => None,
        };
        let saved = |at, bits| match take(word, at, bits) {
            value if value == least(bits) => Saved::Same,
            value => Saved::At(value as i16),
        };
        let step = match (base, word & ((1 << KIND_BITS) - 1)) {
            (Some(base), _) => Step::Frame {
                base,
                fp: saved(FP_AT, FP_BITS),
                ra: saved(RA_AT, RA_BITS),
            },
            (None, CHAIN) => Step::Chain,
            (None, SIGNAL) => Step::Signal,
            (None, _) => Step::End,
        };
        Self {
            step,
            object: (word >> OBJECT_AT) as u16,
        }
    }
}

fn frame(base: Base, fp: Saved, ra: Saved) -> Option<u64> {
    let (kind, offset) = match base {
        Base::Sp(offset) => (SP, offset),
        Base::Fp(offset) => (FP, offset),
        Base::AtFp(offset) => (AT_FP, offset),
    };
    let saved = |saved, at, bits| match saved {
        Saved::Same => Some(none(at, bits)),
        Saved::At(words) => put(i64::from(words), at, bits),
    };
    let offset = put(offset.into(), BASE_AT, BASE_BITS)?;
    Some(kind | offset | saved(fp, FP_AT, FP_BITS)? | saved(ra, RA_AT, RA_BITS)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_read_back_and_what_does_not_fit_is_the_end() {
        let bases = [
            Base::Sp(8),
            Base::Fp(-4_000_000),
            Base::AtFp(-8),
            Base::Sp(8_000_000),
        ];
        let saved = [Saved::Same, Saved::At(-1), Saved::At(-1000), Saved::At(3)];
        for base in bases {
            for fp in saved {
                for ra in saved {
                    let rule = Rule {
                        step: Step::Frame { base, fp, ra },
                        object: 4095,
                    };
                    assert_eq!(Rule::decode(rule.encode()), rule);
                }
            }
        }
        for step in [Step::End, Step::Chain, Step::Signal] {
            let rule = Rule { step, object: 7 };
            assert_eq!(Rule::decode(rule.encode()), rule);
            assert_ne!(rule.encode(), 0);
        }
        let wide = Rule {
            step: Step::Frame {
                base: Base::Sp(i32::MAX),
                fp: Saved::Same,
                ra: Saved::At(-1),
            },
            object: 7,
        };
        let end = Rule {
            step: Step::End,
            object: 7,
        };
        assert_eq!(Rule::decode(wide.encode()), end);
    }

    #[test]
    fn any_word_is_a_rule() {
        let mut word = 1u64;
        for _ in 0..10_000 {
            word = word.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(1);
            let rule = Rule::decode(word);
            assert_eq!(Rule::decode(rule.encode()), rule, "{word:x}");
        }
    }
}
