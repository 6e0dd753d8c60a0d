//! The rows of this library agree with the table by which the tracer names the parameters of operators.

use std::collections::BTreeMap;

use softacl_base::phases::OperatorRow;

const TABLE: &str = include_str!(concat!(
    env!("CARGO_MANIFEST_DIR"),
    "/../../inject/hookgen/data/operators.tsv"
));

unsafe extern "C" {
    #[link_name = "__start_softacl_rows"]
    static BEGIN: usize;
    #[link_name = "__stop_softacl_rows"]
    static END: usize;
}

/// All rows of this library.
fn rows() -> &'static [OperatorRow] {
    // SAFETY: the linker defines the two symbols as the bounds of the section, which has rows only.
    unsafe {
        let begin = (&raw const BEGIN).cast::<OperatorRow>();
        let end = (&raw const END).cast::<OperatorRow>();
        let count = end.offset_from(begin).cast_unsigned();
        std::slice::from_raw_parts(begin, count)
    }
}

/// The C types that a parameter of this type may have.
fn types(parameter: &str) -> &'static [&'static str] {
    // The macro writes some of them with their path.
    let name = parameter.rsplit("::").next().unwrap_or(parameter);
    match name.trim() {
        "Input" | "In" | "Optional" | "OptionalTensor" | "usize" => {
            &["const aclTensor *", "aclTensor *"]
        }
        "Output" | "Written" | "Wanted" | "OptionalOutput" | "InPlace" => &["aclTensor *"],
        "Scalar" => &["const aclScalar *"],
        "Inputs" => &["const aclTensorList *"],
        "Outputs" => &["aclTensorList *"],
        "TensorList" => &[
            "const aclTensorList *",
            "aclTensorList *",
            "const aclScalarList *",
        ],
        "Integers" | "IntegerArray" => &["const aclIntArray *"],
        "BoolArray" => &["const aclBoolArray *"],
        "Text" => &["const char *"],
        "bool" => &["bool"],
        "i8" => &["int8_t"],
        "i32" => &["int32_t", "int", "aclDataType"],
        "i64" => &["int64_t"],
        "u64" => &["uint64_t"],
        "f32" => &["float"],
        "f64" => &["double"],
        _ => &[],
    }
}

/// The C type of a parameter of the table.
fn type_of(parameter: &str) -> &str {
    parameter.rsplit_once(' ').map_or("", |(ctype, _)| ctype)
}

#[test]
fn every_operator_of_this_library_has_its_parameters_in_the_table() {
    let lines = TABLE
        .lines()
        .skip(1)
        .filter_map(|line| line.split_once('\t'));
    let table: BTreeMap<&str, &str> = lines.collect();
    let rows = rows();
    assert!(rows.len() > 500, "{} rows", rows.len());
    let mut faults = Vec::new();
    for row in rows {
        let Some(parameters) = table.get(row.name) else {
            faults.push(format!("{}: not in the table", row.name));
            continue;
        };
        let parameters: Vec<&str> = parameters.split("; ").collect();
        if parameters.len() != row.parameters.len() {
            faults.push(format!(
                "{}: {parameters:?}, {:?}",
                row.name, row.parameters
            ));
            continue;
        }
        for (known, own) in parameters.iter().zip(row.parameters) {
            if !types(own).contains(&type_of(known)) {
                faults.push(format!("{}: {known} is {own}", row.name));
            }
        }
    }
    assert!(faults.is_empty(), "{}", faults.join("\n"));
}
