//! Operators of the host, as PyTorch's profiler writes them: around each call that submits work to a stream.
//!
//! Readers list operators by the category `cpu_op`, with the shapes and types of their inputs. They find the work of an operator by a
//! call with its `External id`. TensorBoard's plugin knows such calls by the category `runtime` alone, and others need `cuda_runtime`.
//! So a launch is a mark of that category, in addition to the call. Where calls have CUDA's names, it is absent: readers of these
//! names would count each launch twice.

use std::borrow::Cow;

use ascend_trace_analysis::TaskRole;
use ascend_trace_analysis::collectives::Collective;
use ascend_trace_analysis::graphs::task_label;
use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::{Call, CallId, Trace};

use crate::fields::FieldWriter;

/// The category of operators.
pub(super) const OPERATOR: &str = "cpu_op";
/// The category of launches, and their name.
pub(super) const LAUNCH: (&str, &str) = ("launch", "runtime");

/// The begin of the names of types of collectives.
const DATA_TYPE: &str = "HCCL_DATA_TYPE_";

/// The name of the operator that a call submits.
pub(super) fn name(trace: &Trace, id: CallId) -> Option<Cow<'_, str>> {
    let call = trace.call(id);
    let task = trace.task(call.task?);
    if TaskRole::of(trace, task) != TaskRole::Work {
        return None;
    }
    let function = trace.function(call.function).name.as_str();
    Some(match task.kind {
        TaskKind::Kernel => task_label(trace, task),
        TaskKind::Collective => collective(function).into(),
        _ => function.into(),
    })
}

/// PyTorch's name of a collective, by which readers know it: `nccl:all_reduce` of `HcclAllReduce`.
fn collective(function: &str) -> String {
    let word = function
        .trim_start_matches("Hccl")
        .trim_start_matches("Lccl");
    let mut name = "nccl:".to_owned();
    for (place, letter) in word.chars().enumerate() {
        if letter.is_ascii_uppercase() && place > 0 {
            name.push('_');
        }
        name.push(letter.to_ascii_lowercase());
    }
    name
}

/// Writes shapes and types of the tensors that an operator reads, where the recording has them.
pub(super) fn write_inputs<'t>(to: &mut impl FieldWriter<'t>, trace: &Trace, call: &Call) {
    let (mut dimensions, mut types) = (Vec::new(), Vec::new());
    match Collective::of(trace, call) {
        Some(collective) => {
            if let Some((count, data_type)) = collective.count.zip(collective.data_type) {
                dimensions.push(format!("[{count}]"));
                types.push(type_word(data_type));
            }
        }
        None => {
            let operands = trace.operands(call);
            for tensor in operands
                .iter()
                .filter(|it| it.is_tensor() && !it.is_written)
            {
                dimensions.push(
                    tensor
                        .numbers
                        .filter(|it| is_list(it))
                        .unwrap_or("[]")
                        .to_owned(),
                );
                types.push(type_word(tensor.type_name().unwrap_or_default()));
            }
        }
    }
    if !dimensions.is_empty() {
        to.list("Input Dims", &dimensions.join(","));
        let types: Vec<String> = types.iter().map(|it| format!("\"{it}\"")).collect();
        to.list("Input type", &types.join(","));
    }
}

/// Whether a text is a complete list of numbers. One that is too long was cut.
fn is_list(numbers: &str) -> bool {
    let inner = numbers
        .strip_prefix('[')
        .and_then(|it| it.strip_suffix(']'));
    inner.is_some_and(|it| {
        it.bytes()
            .all(|it| it.is_ascii_digit() || b", -".contains(&it))
    })
}

/// PyTorch's word for a type.
fn type_word(name: &str) -> &str {
    match name.strip_prefix(DATA_TYPE).unwrap_or(name) {
        "FLOAT" | "FP32" => "float",
        "FLOAT16" | "FP16" => "c10::Half",
        "BF16" | "BFP16" => "c10::BFloat16",
        "DOUBLE" | "FP64" => "double",
        "INT64" => "long int",
        "INT32" => "int",
        "INT16" => "short int",
        "INT8" => "signed char",
        "UINT8" => "unsigned char",
        "BOOL" => "bool",
        name => name,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn collectives_have_the_names_of_pytorch() {
        let names = [
            "HcclAllReduce",
            "HcclReduceScatter",
            "HcclBroadcast",
            "LcclAllGather",
        ];
        let expected = [
            "nccl:all_reduce",
            "nccl:reduce_scatter",
            "nccl:broadcast",
            "nccl:all_gather",
        ];
        assert_eq!(names.map(collective), expected);
    }

    #[test]
    fn a_list_that_was_cut_is_not_a_list() {
        assert!(is_list("[4, 2]") && is_list("[]"));
        assert!(!is_list("[4, 2…") && !is_list("3.5") && !is_list("[4, …]"));
    }
}
