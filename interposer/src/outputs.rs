//! Values that a call has written through its pointer arguments.

use ascend_trace_format::api::{Arg, ArgKind, Function};

use crate::readable_memory;

/// Replaces each output pointer by the value that the call has written there.
#[inline]
pub(crate) fn read_outputs(function: &Function, args: &mut [u64]) {
    for (arg, word) in function.args.iter().zip(args) {
        if arg.out && *word != 0 {
            *word = match readable_memory::is_there(*word as usize, bytes_of(arg)) {
                true => read_output(*word, arg),
                false => 0,
            };
        }
    }
}

/// The same for a call by name: its arguments have their declared meanings.
#[inline(always)]
pub(crate) fn read_known_outputs(function: &Function, args: &mut [u64]) {
    for (arg, word) in function.args.iter().zip(args) {
        if arg.out {
            if *word == 0 {
                seldom();
            } else {
                *word = read_output(*word, arg);
            }
        }
    }
}

/// Marks a branch that is seldom taken.
#[cold]
#[inline(always)]
fn seldom() {}

/// Bytes that [`read_output`] reads.
#[inline]
fn bytes_of(arg: &Arg) -> usize {
    match arg.width {
        1 | 2 | 4 => arg.width.into(),
        _ => size_of::<u64>(),
    }
}

#[inline]
fn read_output(address: u64, arg: &Arg) -> u64 {
    let address = address as usize;
    let is_signed = matches!(arg.kind, ArgKind::Int | ArgKind::Enum | ArgKind::Timeout);
    // SAFETY: the call succeeded, so it has written a value of the table's width to the address;
    // C allows any alignment the program got away with, hence the unaligned reads.
    unsafe {
        match (arg.width, arg.kind) {
            (4, ArgKind::Float) => {
                f64::from(core::ptr::read_unaligned(address as *const f32)).to_bits()
            }
            (1, _) => core::ptr::read_unaligned(address as *const u8).into(),
            (2, _) => core::ptr::read_unaligned(address as *const u16).into(),
            (4, _) if is_signed => core::ptr::read_unaligned(address as *const i32) as i64 as u64,
            (4, _) => core::ptr::read_unaligned(address as *const u32).into(),
            _ => core::ptr::read_unaligned(address as *const u64),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read<T>(value: &T, kind: ArgKind) -> u64 {
        let arg = Arg {
            name: "out",
            ctype: "",
            kind,
            out: true,
            width: size_of::<T>() as u8,
            enumeration: "",
            count: None,
        };
        read_output(core::ptr::from_ref(value) as usize as u64, &arg)
    }

    #[test]
    fn outputs_are_read_by_kind_and_width() {
        assert_eq!(read(&1.5f32, ArgKind::Float), 1.5f64.to_bits());
        assert_eq!(read(&2.5f64, ArgKind::Float), 2.5f64.to_bits());
        assert_eq!(read(&-1i32, ArgKind::Int) as i64, -1);
        assert_eq!(read(&u32::MAX, ArgKind::Uint), u64::from(u32::MAX));
        assert_eq!(read(&u64::MAX, ArgKind::Size), u64::MAX);
        assert_eq!(read(&200u8, ArgKind::Uint), 200);
    }
}
