//! The words of a call that plans an operator, as the parameters of the operator. A stub has recorded them: those of the
//! integer registers and of the stack, then those of floating-point registers, then two values that the call has returned.

use ascend_trace_format::api::{ArgKind, ArgPart};
use ascend_trace_recording::rows::{ArgRow, FunctionRow};

use crate::tables::{Operator, Parameter};

/// Words that a stub records of a call without a known executor.
const REGISTERS: usize = if cfg!(target_arch = "aarch64") { 8 } else { 6 };

/// Values that the call has returned: the size of the workspace, and the executor.
const ANSWERS: usize = 2;

/// Words of a call. None is longer.
const MOST: usize = 64;

/// How the words of a call and the parameters of its operator fit together.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Fit {
    /// The words are now the arguments.
    Whole,
    /// The words are now the first arguments. The number of words does not confirm them.
    Begin,
    /// The program's operator has other parameters: the number of words, or a value, does not suit them. The words are
    /// unchanged.
    None,
}

/// Replaces the words of a call by the arguments of the operator.
pub(crate) fn arrange(words: &mut Vec<u64>, operator: &Operator) -> Fit {
    let floats = operator.parameters.iter().filter(|it| is_float(it)).count();
    let integers = operator.parameters.len() - floats;
    let Some((given, [size, executor])) = words.split_last_chunk::<ANSWERS>() else {
        // A call that has not returned: its words are not recorded.
        return Fit::Begin;
    };
    let (size, executor) = (*size, *executor);
    let is_found = executor != 0;
    if is_found && given.len() != integers + floats {
        return Fit::None;
    }
    let split = if is_found { integers } else { REGISTERS };
    let Some((integers, floats)) = given.split_at_checked(split.min(given.len())) else {
        return Fit::None;
    };
    let mut room = [0; MOST];
    let mut count = 0;
    let (mut integers, mut floats) = (integers.iter(), floats.iter());
    for (place, parameter) in room.iter_mut().zip(operator.parameters) {
        let word = match is_float(parameter) {
            true => floats.next(),
            false => integers.next(),
        };
        let Some(word) = word else {
            break;
        };
        *place = value(*word, parameter);
        if !is_possible(*place, parameter) {
            return Fit::None;
        }
        count += 1;
    }
    words.clear();
    words.extend(room.iter().take(count));
    if !is_found {
        return Fit::Begin;
    }
    words.extend([size, executor]);
    Fit::Whole
}

fn is_float(parameter: &Parameter) -> bool {
    parameter.kind == ArgKind::Float
}

/// The argument in a register or a word of the stack, of which only the first bytes belong to it.
fn value(word: u64, parameter: &Parameter) -> u64 {
    let is_signed = matches!(parameter.kind, ArgKind::Int | ArgKind::Enum);
    match (parameter.kind, parameter.width) {
        (ArgKind::Float, 4) => f64::from(f32::from_bits(word as u32)).to_bits(),
        (_, 1) if is_signed => i64::from(word as i8).cast_unsigned(),
        (_, 2) if is_signed => i64::from(word as i16).cast_unsigned(),
        (_, 4) if is_signed => i64::from(word as i32).cast_unsigned(),
        (_, 1) => u64::from(word as u8),
        (_, 2) => u64::from(word as u16),
        (_, 4) => u64::from(word as u32),
        _ => word,
    }
}

/// Whether an argument may have a value. Objects are not in the first 64 KiB of memory.
fn is_possible(value: u64, parameter: &Parameter) -> bool {
    match (parameter.kind, parameter.width) {
        (ArgKind::Handle | ArgKind::Pointer, _) => value == 0 || value >= 1 << 16,
        (ArgKind::Uint, 1) => value <= 1,
        (ArgKind::Enum, _) => value.cast_signed().unsigned_abs() < 1 << 16,
        _ => true,
    }
}

/// The description of the first function of an operator, which is `row` without arguments.
pub(crate) fn described(row: &FunctionRow, operator: &Operator) -> FunctionRow {
    let own = operator.parameters.iter().map(argument);
    let answers = [
        answer("workspaceSize", ArgKind::Uint),
        answer("executor", ArgKind::Handle),
    ];
    let executor = u8::try_from(operator.parameters.len() + 1);
    let executor = executor.map(|at| (ArgPart::Executor.name().to_owned(), at));
    FunctionRow {
        args: own.chain(answers).collect(),
        parts: executor.into_iter().collect(),
        ..row.clone()
    }
}

fn argument(parameter: &Parameter) -> ArgRow {
    ArgRow {
        name: parameter.name.to_owned(),
        kind: parameter.kind.name().to_owned(),
        enumeration: parameter.enumeration.to_owned(),
        is_written: parameter.is_written,
        ..ArgRow::default()
    }
}

fn answer(name: &str, kind: ArgKind) -> ArgRow {
    ArgRow {
        name: name.to_owned(),
        kind: kind.name().to_owned(),
        out: true,
        ..ArgRow::default()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const fn parameter(kind: ArgKind, width: u8) -> Parameter {
        Parameter {
            name: "p",
            kind,
            width,
            is_written: false,
            enumeration: "",
        }
    }

    const OBJECT: u64 = 0x5555_0000;

    const MIXED: Operator = Operator {
        name: "aclnnOwn",
        parameters: &[
            parameter(ArgKind::Handle, 8),
            parameter(ArgKind::Float, 8),
            parameter(ArgKind::Int, 1),
            parameter(ArgKind::Float, 4),
            parameter(ArgKind::Uint, 1),
        ],
    };

    const PLAIN: Operator = Operator {
        name: "aclnnOwn",
        parameters: &[parameter(ArgKind::Handle, 8), parameter(ArgKind::Int, 8)],
    };

    fn arranged(words: &[u64], operator: &Operator) -> (Fit, Vec<u64>) {
        let mut words = words.to_vec();
        (arrange(&mut words, operator), words)
    }

    #[test]
    fn arguments_are_in_the_order_of_the_declaration_and_have_their_widths() {
        let (eps, p) = (0.5_f64.to_bits(), 0.25_f32.to_bits());
        let dirty = 0x7fff_0000_0000_0000 | u64::from(p);
        let words = [OBJECT, 0xffff_ff00 | 0xfe, 0xabcd_ef01, eps, dirty, 64, 0xe];
        let minus_two = (-2_i64).cast_unsigned();
        let expected = vec![OBJECT, eps, minus_two, 0.25_f64.to_bits(), 1, 64, 0xe];
        assert_eq!(arranged(&words, &MIXED), (Fit::Whole, expected));
    }

    #[test]
    fn words_that_do_not_suit_the_parameters_are_left_alone() {
        for words in [
            &[OBJECT, 1, 1, 3, 64, 0xe][..],
            &[OBJECT, 1, 1, 4, 5, 6, 64, 0xe],
            // A number in the place of an object, and one that is no boolean.
            &[7, 1, 1, 0, 0, 64, 0xe],
            &[OBJECT, 1, 2, 0, 0, 64, 0xe],
        ] {
            assert_eq!(arranged(words, &MIXED), (Fit::None, words.to_vec()));
        }
    }

    #[test]
    fn a_call_without_an_executor_has_its_first_arguments() {
        let mut words = vec![OBJECT, 2];
        words.resize(REGISTERS + ANSWERS, 0);
        assert_eq!(arranged(&words, &MIXED), (Fit::Begin, vec![OBJECT]));
        assert_eq!(arranged(&words, &PLAIN), (Fit::Begin, vec![OBJECT, 2]));
        assert_eq!(arranged(&[], &PLAIN), (Fit::Begin, Vec::new()));
    }
}
