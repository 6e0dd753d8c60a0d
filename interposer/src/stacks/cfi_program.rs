//! The instructions of unwind tables (DWARF call frame information), as far as they are about the begin of
//! the caller's frame, the frame pointer and the return address.

use super::cursor::Cursor;
use super::unwind_rule::{Base, Saved, Step};

/// Numbers of the registers in the tables.
#[cfg(target_arch = "aarch64")]
const NUMBERS: (u64, u64) = (31, 29);
#[cfg(not(target_arch = "aarch64"))]
const NUMBERS: (u64, u64) = (7, 6);
const SP: u64 = NUMBERS.0;
const FP: u64 = NUMBERS.1;
/// Bytes of a word.
const WORD: i64 = 8;
/// Rows that instructions can put aside.
const DEPTH: usize = 8;
/// A program has no more instructions than this, unless it is damaged.
const MOST: usize = 100_000;

/// Properties of an entry from the part that it shares with others.
#[derive(Clone, Copy)]
pub(super) struct Program {
    pub(super) code_factor: u64,
    pub(super) data_factor: i64,
    /// Number of the return address.
    pub(super) ra: u64,
    pub(super) encoding: u8,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Cfa {
    Offset(u64, i64),
    /// The value at this offset of a register.
    Found(u64, i64),
    Unknown,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum RegisterRule {
    Same,
    Undefined,
    /// Bytes from the frame's begin.
    At(i64),
    /// Where the frame pointer points to.
    AtFp,
    Unknown,
}

#[derive(Clone, Copy)]
struct Row {
    cfa: Cfa,
    ra: RegisterRule,
    fp: RegisterRule,
}

struct UnwindState<'p> {
    program: &'p Program,
    row: Row,
    initial: Option<Row>,
    aside: [Row; DEPTH],
    depth: usize,
    /// Where the row begins, from the function's begin.
    at: u64,
}

/// The step at an offset of the function; `None` for instructions that are not known.
pub(super) fn run(
    program: &Program,
    shared: Cursor<'_>,
    own: Cursor<'_>,
    offset: usize,
) -> Option<Step> {
    let row = Row {
        cfa: Cfa::Unknown,
        ra: RegisterRule::Same,
        fp: RegisterRule::Same,
    };
    let mut state = UnwindState {
        program,
        row,
        initial: None,
        aside: [row; DEPTH],
        depth: 0,
        at: 0,
    };
    state.through(shared, u64::MAX)?;
    state.initial = Some(state.row);
    state.at = 0;
    state.through(own, offset as u64)?;
    state.row.step()
}

impl Row {
    fn step(self) -> Option<Step> {
        if self.ra == RegisterRule::Undefined {
            return Some(Step::End);
        }
        let narrow = |offset: i64| i32::try_from(offset).ok();
        let base = match self.cfa {
            Cfa::Offset(SP, offset) => Base::Sp(narrow(offset)?),
            Cfa::Offset(FP, offset) => Base::Fp(narrow(offset)?),
            Cfa::Found(FP, offset) => Base::AtFp(narrow(offset)?),
            _ => return Some(Step::End),
        };
        let aligns = matches!(base, Base::AtFp(_));
        let fp = match self.fp {
            RegisterRule::AtFp if aligns => Some(Saved::Same),
            _ if aligns => None,
            place => place.saved(),
        };
        let step = fp.zip(self.ra.saved());
        Some(step.map_or(Step::End, |(fp, ra)| Step::Frame { base, fp, ra }))
    }
}

impl UnwindState<'_> {
    /// Follows instructions up to the row of an offset.
    fn through(&mut self, mut cursor: Cursor<'_>, offset: u64) -> Option<()> {
        for _ in 0..MOST {
            if cursor.is_empty() {
                return Some(());
            }
            let byte = cursor.u8()?;
            let low = u64::from(byte & 0x3f);
            match byte >> 6 {
                0 => {
                    if !self.other(byte, &mut cursor, offset)? {
                        return Some(());
                    }
                }
                1 => {
                    if !self.advance(low, offset) {
                        return Some(());
                    }
                }
                2 => {
                    let factored = cursor.unsigned()?.cast_signed();
                    self.set(low, self.at_factored(factored));
                }
                _ => self.restore(low)?,
            }
        }
        None
    }

    /// Whether the row goes on up to the offset.
    fn advance(&mut self, delta: u64, offset: u64) -> bool {
        let delta = delta.wrapping_mul(self.program.code_factor);
        self.at = self.at.saturating_add(delta);
        self.at <= offset
    }

    fn at_factored(&self, factored: i64) -> RegisterRule {
        RegisterRule::At(factored.wrapping_mul(self.program.data_factor))
    }

    fn set(&mut self, register: u64, place: RegisterRule) {
        if register == self.program.ra {
            self.row.ra = place;
        } else if register == FP {
            self.row.fp = place;
        }
    }

    fn restore(&mut self, register: u64) -> Option<()> {
        let initial = self.initial?;
        if register == self.program.ra {
            self.row.ra = initial.ra;
        } else if register == FP {
            self.row.fp = initial.fp;
        }
        Some(())
    }

    /// Instructions without an operand in their own byte; `false` when the row of the offset has been reached.
    fn other(&mut self, code: u8, cursor: &mut Cursor<'_>, offset: u64) -> Option<bool> {
        match code {
            // No operation; the return address is signed or not.
            0x00 | 0x2d => {}
            0x01 => {
                cursor.address(self.program.encoding, 0)?;
                return None;
            }
            0x02 => {
                let delta = cursor.u8()?.into();
                return Some(self.advance(delta, offset));
            }
            0x03 => {
                let delta = cursor.u16()?.into();
                return Some(self.advance(delta, offset));
            }
            0x04 => {
                let delta = cursor.u32()?.into();
                return Some(self.advance(delta, offset));
            }
            0x0a => {
                *self.aside.get_mut(self.depth)? = self.row;
                self.depth += 1;
            }
            0x0b => {
                self.depth = self.depth.checked_sub(1)?;
                self.row = *self.aside.get(self.depth)?;
            }
            0x0c..=0x0f | 0x12 | 0x13 => self.define_cfa(code, cursor)?,
            0x2e => {
                cursor.unsigned()?;
            }
            _ => self.of_register(code, cursor)?,
        }
        Some(true)
    }

    fn of_register(&mut self, code: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        let register = cursor.unsigned()?;
        let place = match code {
            0x05 => self.at_factored(cursor.unsigned()?.cast_signed()),
            0x06 => return self.restore(register),
            0x07 => RegisterRule::Undefined,
            0x08 => RegisterRule::Same,
            0x09 | 0x14 => {
                cursor.unsigned()?;
                RegisterRule::Unknown
            }
            0x10 | 0x16 => {
                let length = cursor.unsigned()? as usize;
                let expression = cursor.part(length)?;
                self.found(code, register, expression)
            }
            0x11 => self.at_factored(cursor.signed()?),
            0x15 => {
                cursor.signed()?;
                RegisterRule::Unknown
            }
            0x2f => self.at_factored(cursor.unsigned()?.cast_signed().wrapping_neg()),
            _ => return None,
        };
        self.set(register, place);
        Some(())
    }

    /// Where an expression says that a register is.
    fn found(&self, code: u8, register: u64, expression: Cursor<'_>) -> RegisterRule {
        // Where the frame pointer points to, its caller's is saved: see `Base::AtFp`.
        let is_chain = code == 0x10 && register == FP && based(expression) == Some((FP, 0, false));
        match is_chain {
            true => RegisterRule::AtFp,
            false => RegisterRule::Unknown,
        }
    }

    fn define_cfa(&mut self, code: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        let Cfa::Offset(register, offset) = self.row.cfa else {
            return self.redefine_cfa(code, cursor);
        };
        let factor = self.program.data_factor;
        self.row.cfa = match code {
            0x0d => Cfa::Offset(cursor.unsigned()?, offset),
            0x0e => Cfa::Offset(register, cursor.unsigned()?.cast_signed()),
            0x13 => Cfa::Offset(register, cursor.signed()?.wrapping_mul(factor)),
            _ => return self.redefine_cfa(code, cursor),
        };
        Some(())
    }

    fn redefine_cfa(&mut self, code: u8, cursor: &mut Cursor<'_>) -> Option<()> {
        self.row.cfa = match code {
            0x0c => Cfa::Offset(cursor.unsigned()?, cursor.unsigned()?.cast_signed()),
            0x12 => {
                let register = cursor.unsigned()?;
                let offset = cursor.signed()?.wrapping_mul(self.program.data_factor);
                Cfa::Offset(register, offset)
            }
            0x0f => {
                let length = cursor.unsigned()? as usize;
                match based(cursor.part(length)?) {
                    Some((register, offset, true)) => Cfa::Found(register, offset),
                    Some((register, offset, false)) => Cfa::Offset(register, offset),
                    None => Cfa::Unknown,
                }
            }
            _ => return None,
        };
        Some(())
    }
}

impl RegisterRule {
    fn saved(self) -> Option<Saved> {
        match self {
            Self::Same | Self::Undefined => Some(Saved::Same),
            Self::At(bytes) if bytes % WORD == 0 => i16::try_from(bytes / WORD).ok().map(Saved::At),
            _ => None,
        }
    }
}

/// An expression of a register and an offset, and whether it means the value there.
fn based(mut expression: Cursor<'_>) -> Option<(u64, i64, bool)> {
    let register = expression.u8()?.checked_sub(0x70).filter(|it| *it < 32)?;
    let offset = expression.signed()?;
    let is_found = match expression.u8() {
        None => false,
        Some(0x06) => true,
        Some(_) => return None,
    };
    expression
        .is_empty()
        .then_some((register.into(), offset, is_found))
}
