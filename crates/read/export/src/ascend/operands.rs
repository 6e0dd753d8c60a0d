//! Shapes and types of the tensors of an operator, as far as the recording has them.

use std::borrow::Cow;

use ascend_trace_recording::{Call, Operand, Trace};

/// The format's word for unknown values.
pub(super) const UNKNOWN: &str = "N/A";

/// The tensors that an operator reads, or those that it writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct TensorColumns {
    pub(super) shapes: Cow<'static, str>,
    pub(super) data_types: Cow<'static, str>,
    pub(super) formats: Cow<'static, str>,
}

impl TensorColumns {
    fn unknown() -> Self {
        Self {
            shapes: Cow::Borrowed(UNKNOWN),
            data_types: Cow::Borrowed(UNKNOWN),
            formats: Cow::Borrowed(UNKNOWN),
        }
    }

    fn of(tensors: &[&Operand<'_>]) -> Self {
        if tensors.is_empty() {
            return Self::unknown();
        }
        let joined = |text: &dyn Fn(&Operand<'_>) -> String| {
            let texts: Vec<String> = tensors.iter().map(|it| text(it)).collect();
            Cow::Owned(texts.join(";"))
        };
        Self {
            shapes: joined(&|it| dimensions(it.numbers.unwrap_or_default())),
            data_types: joined(&|it| it.type_name().map_or_else(String::new, type_word)),
            formats: Cow::Borrowed(UNKNOWN),
        }
    }
}

/// `2,3` of `[2, 3]`.
fn dimensions(numbers: &str) -> String {
    let inner = numbers.trim_start_matches('[').trim_end_matches(']');
    inner.replace(' ', "")
}

/// The readers' word for a type.
fn type_word(name: &str) -> String {
    match name {
        "BF16" => "DT_BF16".to_owned(),
        name => name.to_owned(),
    }
}

/// The tensors that an operator reads, and those that it writes. Of an operator that no table has, this is known only
/// where one of them is certainly written.
pub(super) fn tensors(trace: &Trace, call: &Call) -> (TensorColumns, TensorColumns) {
    let operands = trace.operands(call);
    let tensors: Vec<&Operand<'_>> = operands.iter().filter(|it| it.is_tensor()).collect();
    let (written, read): (Vec<_>, Vec<_>) = tensors.into_iter().partition(|it| it.is_written);
    match written.is_empty() {
        true => (TensorColumns::unknown(), TensorColumns::unknown()),
        false => (TensorColumns::of(&read), TensorColumns::of(&written)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dimensions_have_no_brackets_and_no_blanks() {
        assert_eq!(dimensions("[4, 2]"), "4,2");
        assert_eq!(dimensions("[]"), "");
        assert_eq!(type_word("BF16"), "DT_BF16");
        assert_eq!(type_word("FLOAT16"), "FLOAT16");
    }
}
