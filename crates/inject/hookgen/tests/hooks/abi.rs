//! The wrappers' types cross a call as the C types do: same size, same class.

use std::path::Path;
use std::process::Command;

use ascend_trace_hookgen::HookTable;

const INCLUDES: &str = "\
#include \"acl/acl.h\"
#include \"acl/acl_rt_allocator.h\"
#include \"acl/acl_rt_memory_soma.h\"
#define IS_FLOAT(t) _Generic((t)0, float: 1, double: 1, default: 0)
";

/// The headers to check, by their names in the tables. Their types are declared in them.
const DECLARED: &[&str] = &[
    "acl/acl.h",
    "acl/acl_base.h",
    "acl/acl_base_rt.h",
    "acl/acl_rt.h",
    "acl/acl_rt_allocator.h",
    "acl/acl_rt_memory_soma.h",
];

/// Size and whether it is a floating-point number, of a type as a wrapper has it.
fn rust_shape(rust: &str) -> Option<(usize, bool)> {
    Some(match rust {
        "*mut c_void" | "i64" | "u64" | "usize" => (8, false),
        "i32" | "u32" => (4, false),
        "i16" | "u16" => (2, false),
        "i8" | "u8" | "bool" => (1, false),
        "f32" => (4, true),
        "f64" => (8, true),
        _ => return None,
    })
}

#[test]
fn arguments_have_the_size_and_class_that_c_gives_them() {
    let table = HookTable::embedded().unwrap();
    let mut source = String::from(INCLUDES);
    let mut structs = Vec::new();
    let declared = table
        .hooks
        .iter()
        .filter(|hook| DECLARED.contains(&hook.header.as_str()));
    for arg in declared.flat_map(|hook| &hook.args) {
        match rust_shape(&arg.rust) {
            Some((size, is_float)) => source.push_str(&format!(
                "_Static_assert(sizeof({0}) == {size}, \"{0}\");\n\
                 _Static_assert(IS_FLOAT({0}) == {1}, \"{0}\");\n",
                arg.ctype,
                u8::from(is_float)
            )),
            // Structures keep their name; the emitted source itself asserts their layout.
            None => {
                assert_eq!(arg.rust, arg.ctype);
                structs.push(arg.rust.as_str());
            }
        }
    }
    structs.sort_unstable();
    structs.dedup();
    let expected = [
        "aclmdlRICondTaskParams",
        "aclrtIpcEventHandle",
        "aclrtMemManagedLocation",
        "dim3",
    ];
    assert_eq!(structs, expected);

    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("abi.c");
    std::fs::write(&file, source).unwrap();
    let include = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../include");
    let output = Command::new("cc")
        .args(["-std=c11", "-fsyntax-only", "-I"])
        .arg(include)
        .arg(&file)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}
