//! The memory that an operator uses: its tensors, as far as the calls that made them say where these lie.

use ascend_trace_format::api::{ArgPart, TaskKind};
use ascend_trace_recording::{Call, Operand, Task, Trace};

use super::action::{MemoryAccesses, uses};
use super::area::Area;

/// Text between the dimensions and the strides of a tensor.
const STRIDES: &str = " strides ";

/// Character in a text that was cut.
const CUT: char = '…';

/// The memory of a task that runs an operator: each tensor, and the scratch memory.
pub(super) fn memory_of(trace: &Trace, call: &Call, task: &Task) -> Vec<MemoryAccesses> {
    if task.kind != TaskKind::Kernel {
        return Vec::new();
    }
    let function = trace.function(call.function);
    let tensors = trace.operands(call).into_iter();
    let tensors = tensors.filter_map(|it| Some((range_of(trace, &it)?, it.is_written)));
    let tensors = tensors.map(|(range, is_written)| match is_written {
        true => MemoryAccesses {
            writes: Some(range),
            ..MemoryAccesses::default()
        },
        // It may write memory that no table lists: a use is at least a read.
        false => MemoryAccesses {
            reads: Some(range),
            ..MemoryAccesses::default()
        },
    });
    let scratch = function.part(ArgPart::Executor);
    let scratch = scratch.and_then(|_| uses(trace, function, call));
    tensors.chain(scratch).collect()
}

/// Where the elements of a tensor lie. `None` where other memory lies between them, or where that is not known.
fn range_of(trace: &Trace, tensor: &Operand<'_>) -> Option<Area> {
    let call = trace.call(tensor.made);
    let function = trace.function(call.function);
    let word = |part: ArgPart| trace.args(call).get(function.part(part)?).copied();
    let layout = function.args.get(function.part(ArgPart::Layout)?)?;
    let layout = trace.constant(&layout.enumeration, word(ArgPart::Layout)?.cast_signed())?;
    let width = width(&tensor.data_type()?)?;
    if !is_plain(layout) {
        return None;
    }
    let bytes = elements(tensor.numbers?)?.checked_mul(width)?;
    let before = word(ArgPart::Offset)?.checked_mul(width)?;
    Area::of(word(ArgPart::Data)?.checked_add(before)?, bytes)
}

/// Whether the order of dimensions in memory is the given one: `ACL_FORMAT_ND`, `ACL_FORMAT_NCHW`. The
/// others consist of blocks, and are named by these.
fn is_plain(layout: &str) -> bool {
    let dimensions = layout.rsplit('_').next().unwrap_or_default();
    !layout.contains("FRACTAL") && dimensions.chars().all(|it| "NCDHWL".contains(it))
}

/// Bytes of an element. Data types have their bits in their names.
fn width(data_type: &str) -> Option<u64> {
    if data_type == "bool" {
        return Some(1);
    }
    let digits = data_type.trim_start_matches(|it: char| !it.is_ascii_digit());
    let end = digits.find(|it: char| !it.is_ascii_digit());
    let bits: u64 = digits[..end.unwrap_or(digits.len())].parse().ok()?;
    (bits.is_multiple_of(8) && bits > 0).then_some(bits / 8)
}

/// Elements of a tensor with a text like `[4, 2]` or `[4, 2] strides [1, 4]`, if they have neither gaps
/// nor overlaps.
fn elements(text: &str) -> Option<u64> {
    let (dimensions, strides) = match text.split_once(STRIDES) {
        Some((dimensions, strides)) => (dimensions, Some(strides)),
        None => (text, None),
    };
    let dimensions = numbers(dimensions)?;
    let mut all: u64 = 1;
    for size in &dimensions {
        all = all.checked_mul(*size)?;
    }
    let Some(strides) = strides else {
        return Some(all);
    };
    // From the nearest elements on, the elements of each dimension come after those of the ones before.
    let mut pairs: Vec<(u64, u64)> = numbers(strides)?.into_iter().zip(dimensions).collect();
    pairs.retain(|(_, size)| *size != 1);
    pairs.sort_unstable();
    let mut next = 1;
    let dense = pairs.iter().all(|(stride, size)| {
        let lies_behind = *stride == next;
        next = next.saturating_mul(*size);
        lies_behind
    });
    dense.then_some(all)
}

fn numbers(text: &str) -> Option<Vec<u64>> {
    let inside = text.strip_prefix('[')?.strip_suffix(']')?;
    if inside.contains(CUT) {
        return None;
    }
    let all = inside.split(", ").filter(|it| !it.is_empty());
    all.map(|it| it.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_tensors_without_gaps_have_a_size() {
        assert_eq!(elements("[4, 2]"), Some(8));
        assert_eq!(elements("[]"), Some(1));
        assert_eq!(elements("[0, 5]"), Some(0));
        assert_eq!(elements("[4, 2] strides [1, 4]"), Some(8));
        assert_eq!(elements("[2, 3, 4] strides [12, 1, 3]"), Some(24));
        assert_eq!(elements("[4, 1, 2] strides [1, 9, 4]"), Some(8));
        // Every second row, the same row again, and a row that overlaps with itself.
        assert_eq!(elements("[4, 2] strides [4, 1]"), None);
        assert_eq!(elements("[4, 2] strides [0, 1]"), None);
        assert_eq!(elements("[4, 2] strides [1, 1]"), None);
        assert_eq!(elements("[4, 2] strides [1, …]"), None);
        assert_eq!(elements("[4, 2] strides , …]"), None);
        assert_eq!(elements("[4, …]"), None);
        assert_eq!(elements("[4294967296, 4294967296]"), None);
    }

    #[test]
    fn layouts_of_blocks_are_not_plain() {
        for plain in ["ND", "NCHW", "NHWC", "NCDHW", "NDHWC", "NCL"] {
            assert!(is_plain(&format!("ACL_FORMAT_{plain}")), "{plain}");
        }
        for blocks in [
            "NC1HWC0",
            "FRACTAL_Z",
            "FRACTAL_NZ",
            "NDC1HWC0",
            "FRACTAL_Z_3D",
            "UNDEFINED",
        ] {
            assert!(!is_plain(&format!("ACL_FORMAT_{blocks}")), "{blocks}");
        }
    }

    #[test]
    fn the_width_of_an_element_is_in_the_name_of_its_type() {
        let widths = [
            "float32",
            "bfloat16",
            "int64",
            "uint8",
            "bool",
            "complex64",
            "int4",
            "string",
        ]
        .map(width);
        assert_eq!(
            widths,
            [
                Some(4),
                Some(2),
                Some(8),
                Some(1),
                Some(1),
                Some(8),
                None,
                None
            ]
        );
    }
}
