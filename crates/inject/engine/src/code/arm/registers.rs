//! Which general registers an instruction of aarch64 names.
//!
//! An instruction has up to four fields of five bits for registers. Its group determines which of them
//! are registers, and not parts of a number. Where a group is not divided further, a field that may be
//! a register counts as one: this may refuse a function without need, but accepts no wrong one.

/// Places of registers in an instruction, as masks for [`may_name`].
const D: u32 = 1;
const N: u32 = 1 << 5;
const A: u32 = 1 << 10;
const M: u32 = 1 << 16;
const PLACES: [u32; 4] = [D, N, A, M];

/// Whether an instruction names one of these general registers, or may do so, in 64 or 32 bits.
pub(super) fn may_name(word: u32, registers: &[u32]) -> bool {
    let places = places(word);
    PLACES
        .into_iter()
        .filter(|place| places & place != 0)
        .any(|place| registers.contains(&((word / place) & 31)))
}

/// Where general registers may be.
fn places(word: u32) -> u32 {
    match (word >> 25) & 15 {
        0b1000 | 0b1001 => immediate(word),
        0b1010 | 0b1011 => branch(word),
        0b0100 | 0b0110 | 0b1100 | 0b1110 => memory(word),
        0b0101 | 0b1101 => register(word),
        // Vectors: some move values from and to general registers; of vectors themselves those with
        // such numbers count as well.
        0b0111 | 0b1111 => D | N,
        // Scalable vectors and matrices, and unknown instructions.
        _ => D | N | A | M,
    }
}

/// Arithmetic with a number.
fn immediate(word: u32) -> u32 {
    match (word >> 23) & 7 {
        // Addresses, and numbers as a whole.
        0b000 | 0b001 | 0b101 => D,
        // A part of two registers.
        0b111 => D | N | M,
        _ => D | N,
    }
}

/// Jumps, and the system's own instructions.
fn branch(word: u32) -> u32 {
    match word >> 29 {
        // Straight on, with or without a return.
        0b000 | 0b100 => 0,
        // Compared with zero, or of which a bit is tested.
        0b001 | 0b101 => D,
        // On a condition.
        0b010 => 0,
        // Through registers; the others have the register last, or its number for none.
        _ if word >> 25 == 0b110_1011 => D | N,
        _ => D,
    }
}

/// Loads and stores.
fn memory(word: u32) -> u32 {
    // The loaded or stored register is a vector.
    let is_vector = word & 1 << 26 != 0;
    let value = if is_vector { 0 } else { D };
    match (word >> 28) & 3 {
        // Exclusive ones have a second value and a register for the outcome, and those of several
        // vectors one to add.
        0b00 if is_vector => N | M,
        0b00 => D | N | A | M,
        // From an address near by.
        0b01 if word & 1 << 24 == 0 => value,
        0b01 => D | N | M,
        // Pairs.
        0b10 if is_vector => N,
        0b10 => D | N | A,
        // One value, with a number that is scaled and unsigned.
        _ if word & 1 << 24 != 0 => value | N,
        // With a register as the offset; and operations on memory. All others have a number.
        _ if word & 1 << 21 != 0 => value | N | M,
        _ => value | N,
    }
}

/// Arithmetic with registers only.
fn register(word: u32) -> u32 {
    let has_more = word & 1 << 28 != 0;
    match (word >> 21) & 0xf {
        // Comparisons on a condition, with a number.
        2 if has_more && word & 1 << 11 != 0 => N,
        // Of three registers and one more.
        8..=15 if has_more => D | N | A | M,
        _ => D | N | M,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Instructions that name register 16 or 17, as an assembler makes them.
    const NAMES: &[(u32, &str)] = &[
        (0x5280_0030, "mov w16, #0x1"),
        (0xf2a0_0071, "movk x17, #0x3, lsl #16"),
        (0x1000_0010, "adr x16, 8"),
        (0x9000_0011, "adrp x17, 0"),
        (0x9100_2010, "add x16, x0, #0x8"),
        (0x9100_2200, "add x0, x16, #0x8"),
        (0x1200_0830, "and w16, w1, #0x7"),
        (0xd341_0811, "ubfx x17, x0, #1, #2"),
        (0x93d0_1020, "extr x0, x1, x16, #4"),
        (0xaa11_03e0, "mov x0, x17"),
        (0x8b10_0820, "add x0, x1, x16, lsl #2"),
        (0x9b02_4020, "madd x0, x1, x2, x16"),
        (0x9b11_0c20, "madd x0, x1, x17, x3"),
        (0x9a81_0010, "csel x16, x0, x1, eq"),
        (0xfa43_0a20, "ccmp x17, #0x3, #0x0, eq"),
        (0xdac0_0e00, "rev x0, x16"),
        (0xf940_0010, "ldr x16, [x0]"),
        (0xb940_0220, "ldr w0, [x17]"),
        (0xf870_7820, "ldr x0, [x1, x16, lsl #3]"),
        (0x5800_0010, "ldr x16, 4c"),
        (0xa940_43e0, "ldp x0, x16, [sp]"),
        (0xa940_03f0, "ldp x16, x0, [sp]"),
        (0xa901_0600, "stp x0, x1, [x16, #16]"),
        (0xc810_7c20, "stxr w16, x0, [x1]"),
        (0xb830_0020, "ldadd w16, w0, [x1]"),
        (0xc8a0_7c51, "cas x0, x17, [x2]"),
        (0x3dc0_0200, "ldr q0, [x16]"),
        (0x3cf1_6820, "ldr q0, [x1, x17]"),
        (0x4cd0_7020, "ld1 {v0.16b}, [x1], x16"),
        (0xad40_0620, "ldp q0, q1, [x17]"),
        (0x9e67_0200, "fmov d0, x16"),
        (0x9e66_0011, "fmov x17, d0"),
        (0x4e18_1e00, "mov v0.d[1], x16"),
        (0x0e04_3c10, "mov w16, v0.s[0]"),
        (0x1e62_0220, "scvtf d0, w17"),
        (0xd53b_d050, "mrs x16, tpidr_el0"),
        (0xd51b_4411, "msr fpcr, x17"),
        (0x3400_0010, "cbz w16, 94"),
        (0x3718_0011, "tbnz w17, #3, 98"),
    ];

    /// Some in which only numbers, or vectors, look like that.
    const NAMES_NEITHER: &[(u32, &str)] = &[
        (0xa9be_7bfd, "stp x29, x30, [sp, #-32]!"),
        (0xa9b0_7bfd, "stp x29, x30, [sp, #-256]!"),
        (0xd101_03ff, "sub sp, sp, #0x40"),
        (0xd104_43ff, "sub sp, sp, #0x110"),
        (0xd140_07ff, "sub sp, sp, #0x1, lsl #12"),
        (0x9100_03fd, "mov x29, sp"),
        (0x5280_0220, "mov w0, #0x11"),
        (0xd2a0_0021, "mov x1, #0x10000"),
        (0xf900_0bf3, "str x19, [sp, #16]"),
        (0xf940_4420, "ldr x0, [x1, #136]"),
        (0xf81f_0fe0, "str x0, [sp, #-16]!"),
        (0xf85f_0020, "ldur x0, [x1, #-16]"),
        (0xb400_0200, "cbz x0, 70"),
        (0x3688_0041, "tbz w1, #17, 3c"),
        (0x5400_0200, "b.eq 78"),
        (0xd503_201f, "nop"),
        (0xd503_245f, "bti c"),
        (0xd503_233f, "paciasp"),
        (0xd53b_d040, "mrs x0, tpidr_el0"),
        (0x927c_0020, "and x0, x1, #0x10"),
        (0xd370_bc20, "lsl x0, x1, #16"),
        (0xd350_8020, "ubfx x0, x1, #16, #17"),
        (0x8b02_4020, "add x0, x1, x2, lsl #16"),
        (0x9b02_7c20, "mul x0, x1, x2"),
        (0xfa50_0800, "ccmp x0, #0x10, #0x0, eq"),
        (0xad41_07e0, "ldp q0, q1, [sp, #32]"),
        (0x3d80_07f1, "str q17, [sp, #16]"),
        (0xbd40_0010, "ldr s16, [x0]"),
        (0x9e67_0020, "fmov d0, x1"),
        (0x4f00_0400, "movi v0.4s, #0x0"),
        (0x9000_0001, "adrp x1, 0"),
    ];

    #[test]
    fn registers_are_found_in_all_places() {
        for (word, text) in NAMES {
            assert!(may_name(*word, &[16, 17]), "{text}");
        }
        for (word, text) in NAMES_NEITHER {
            assert!(!may_name(*word, &[16, 17]), "{text}");
        }
    }

    #[test]
    fn an_unknown_operand_may_name_any_register() {
        // Scalable vectors: add z16.b, z0.b, z1.b.
        assert!(may_name(0x0421_0010, &[16, 17]));
    }
}
