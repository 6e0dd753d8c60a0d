//! Every function of the table is called once, by a program that is generated from `hooks --json`
//! alone, and is in the trace with its arguments.

use std::collections::HashSet;
use std::fmt::Write;

use serde_json::Value;

use super::{LIBRARY, LINKED, compare, text};
use crate::support::compile::built_from;
use crate::support::{CsvRow, Run, run, tool};

/// Structures that are passed by value: anything of the right size and class will do.
const STRUCTS: &str = "\
#include <stdint.h>
#include <stdio.h>
typedef struct { uint32_t x, y, z; } dim3;
typedef struct { char reserved[64]; } aclrtIpcEventHandle;
typedef struct { char reserved[64]; } rtIpcEventHandle_t;
typedef struct { int32_t type, id; } aclrtMemManagedLocation;
typedef struct { uint64_t handle; int32_t type; uint32_t size; void *array; } aclmdlRICondTaskParams;
typedef struct { int32_t value; } HcclConfigValue;
typedef struct { int32_t sides[6]; double scalar[4]; } hi_vpc_make_border_info;
";

/// Functions that are called first and last, because they change what all others do.
const LAST: [&str; 3] = ["aclFinalize", "aclFinalizeReference", "aclnnFinalize"];

fn functions() -> Vec<Value> {
    let document = run(tool().args(["hooks", "--json"])).expect(0).out();
    let mut document: Value = serde_json::from_str(&document).unwrap();
    let functions = document["functions"].as_array_mut().unwrap();
    let is_last = |function: &Value| LAST.contains(&function["name"].as_str().unwrap());
    let (last, mut all): (Vec<_>, Vec<_>) = functions.drain(..).partition(is_last);
    all.extend(last);
    all
}

fn word<'a>(value: &'a Value, name: &str) -> &'a str {
    value[name].as_str().unwrap()
}

fn is_address(ctype: &str) -> bool {
    ctype.contains('*') || ctype.contains('[')
}

/// An argument in C: its type in the generated prototype, and the value.
fn passed(arg: &Value, number: usize) -> (String, String) {
    let (ctype, kind) = (word(arg, "type"), word(arg, "kind"));
    if arg["out"] == true {
        return ("void *".to_owned(), "0".to_owned());
    }
    match kind {
        "string" => ("const char *".to_owned(), format!("\"text {number}\"")),
        "float" if ctype == "float" => ("float".to_owned(), "1.5f".to_owned()),
        "float" => ("double".to_owned(), "1.5".to_owned()),
        "int" | "uint" | "size" | "device" | "timeout" | "enum" => {
            ("long".to_owned(), value(arg, number).to_string())
        }
        "pointer" if !is_address(ctype) => (ctype.to_owned(), format!("({ctype}){{0}}")),
        _ => ("void *".to_owned(), "0".to_owned()),
    }
}

/// A small number that distinguishes the argument from its neighbours.
fn value(arg: &Value, number: usize) -> i64 {
    if word(arg, "type").contains("bool") {
        1
    } else {
        3 + number as i64 % 5
    }
}

fn result(function: &Value) -> &'static str {
    match word(function, "returns") {
        // Beyond its 16 bits the register holds anything.
        "int" if word(function, "name") == "aclFloatToFloat16" => "unsigned short",
        "void" => "void",
        "pointer" => "void *",
        "wide" => "long",
        "float" => "float",
        _ => "int",
    }
}

/// The program: each call with its result, as far as that is the same in every run.
fn source(functions: &[Value]) -> String {
    let mut text = String::from(STRUCTS);
    let mut body = String::new();
    for (index, function) in functions.iter().enumerate() {
        let name = word(function, "name");
        let args = function["args"].as_array().unwrap();
        let (types, values): (Vec<_>, Vec<_>) = args
            .iter()
            .enumerate()
            .map(|(number, arg)| passed(arg, number))
            .unzip();
        let types = if types.is_empty() {
            "void".to_owned()
        } else {
            types.join(", ")
        };
        let returns = result(function);
        writeln!(text, "{returns} call_{index}({types}) __asm__(\"{name}\");").unwrap();
        let call = format!("call_{index}({})", values.join(", "));
        let line = match returns {
            "int" | "unsigned short" => format!("    printf(\"{name} %d\\n\", {call});"),
            _ => format!("    (void){call};"),
        };
        writeln!(body, "{line}").unwrap();
    }
    write!(text, "int main(void)\n{{\n{body}    return 0;\n}}\n").unwrap();
    text
}

/// Stands for the libraries that the software runtime does not.
fn missing_library(functions: &[Value]) -> String {
    let missing = functions
        .iter()
        .filter(|function| word(function, "library") == "libruntime.so");
    let define =
        |function: &Value| format!("int {}(void) {{ return 7; }}\n", word(function, "name"));
    missing.map(define).collect()
}

/// The call was recorded with the program's arguments.
fn holds(call: &CsvRow, function: &Value) {
    let args: Value = serde_json::from_str(call.text("args")).unwrap();
    for (number, arg) in function["args"].as_array().unwrap().iter().enumerate() {
        let found = &args[word(arg, "name")];
        assert!(
            !found.is_null()
                || matches!(
                    word(arg, "kind"),
                    "string"
                        | "integers"
                        | "scalar"
                        | "root-info"
                        | "heap"
                        | "regions"
                        | "region-refs"
                        | "messages"
                ),
            "{call:?}"
        );
        if arg["out"] == true {
            continue;
        }
        match word(arg, "kind") {
            "string" => assert_eq!(found, &format!("text {number}"), "{call:?}"),
            "float" => assert_eq!(found, 1.5, "{call:?}"),
            "int" | "uint" | "size" | "device" | "timeout" => {
                assert_eq!(found, value(arg, number), "{call:?}");
            }
            _ => {}
        }
    }
}

#[test]
fn every_function_of_the_table_is_called_and_caught() {
    let functions = functions();
    assert!(functions.len() > 1600, "{}", functions.len());
    let rest = built_from("every_rest.so", &missing_library(&functions), LIBRARY);
    let options = [&["-w", text(&rest)], LINKED].concat();
    let program = built_from("every", &source(&functions), &options);
    let folder = tempfile::tempdir().unwrap();
    let tables = compare(&Run::new(&program).folder(folder.path()));
    let own: Vec<&CsvRow> = tables.outer_calls().collect();
    let names: Vec<_> = own.iter().map(|call| call.text("name")).collect();
    let expected: Vec<_> = functions
        .iter()
        .map(|function| word(function, "name"))
        .collect();
    let (seen, wanted): (HashSet<_>, HashSet<_>) =
        (names.iter().collect(), expected.iter().collect());
    let lost: Vec<_> = wanted.difference(&seen).collect();
    assert!(lost.is_empty(), "not caught: {lost:?}");
    assert_eq!(names, expected);
    for (call, function) in own.into_iter().zip(&functions) {
        holds(call, function);
    }
}
