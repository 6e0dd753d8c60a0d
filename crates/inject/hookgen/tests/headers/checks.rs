//! A C source that holds one check for each row of the tables. It is made from the tables' text
//! alone, without the code under test.

use std::fmt::Write;

const FUNCTIONS: &[&str] = &[
    include_str!("../../data/api.tsv"),
    include_str!("../../data/api_aclnn.tsv"),
    include_str!("../../data/api_extra.tsv"),
];
const ENUMS: &str = include_str!("../../data/enums.tsv");
const STRUCTS: &str = include_str!("../../data/structs.tsv");

/// The headers to check, by their names in the tables. All their rows must be declared.
const SCOPE: &[&str] = &[
    "acl/acl.h",
    "acl/acl_base.h",
    "acl/acl_base_rt.h",
    "acl/acl_rt.h",
    "acl/acl_rt_allocator.h",
    "acl/acl_rt_memory_soma.h",
    "acl/error_codes/rt_error_codes.h",
    "acl/error_codes/ge_error_codes.h",
    "ge/ge_error_codes.h",
    "docs/zh/api_ref/15",
    "aclnn/acl_meta.h",
    "aclnn/aclnn_base.h",
    "hccl/hccl.h",
    "hccl/hccl_types.h",
    "opdev/op_errno.h",
    "aclnnop/aclnn_add.h",
    "aclnnop/aclnn_cast.h",
    "aclnnop/aclnn_copy.h",
    "aclnnop/aclnn_fill_scalar.h",
    "aclnnop/aclnn_matmul.h",
    "aclnnop/aclnn_mm.h",
    "aclnnop/aclnn_mul.h",
    "aclnnop/aclnn_one.h",
    "aclnnop/aclnn_relu.h",
    "aclnnop/aclnn_softmax.h",
    "aclnnop/aclnn_zero.h",
];

/// Types that functions in scope need although the tables place them elsewhere.
const MOVED: &[&str] = &["aclmdlRICaptureMode", "aclmdlRICaptureStatus"];

const INCLUDES: &str = "\
#include \"acl/acl.h\"
#include \"acl/acl_rt_allocator.h\"
#include \"acl/acl_rt_memory_soma.h\"
#include \"hccl/hccl.h\"
#include \"opdev/op_errno.h\"
#include \"aclnnop/aclnn_add.h\"
#include \"aclnnop/aclnn_cast.h\"
#include \"aclnnop/aclnn_copy.h\"
#include \"aclnnop/aclnn_fill_scalar.h\"
#include \"aclnnop/aclnn_matmul.h\"
#include \"aclnnop/aclnn_mm.h\"
#include \"aclnnop/aclnn_mul.h\"
#include \"aclnnop/aclnn_one.h\"
#include \"aclnnop/aclnn_relu.h\"
#include \"aclnnop/aclnn_softmax.h\"
#include \"aclnnop/aclnn_zero.h\"
";

const PRELUDE: &str = "\
#ifdef __cplusplus
#include <type_traits>
#define ACL_STATIC_ASSERT(x) static_assert(x, #x)
#define ACL_SAME_TYPE(a, ...) std::is_same<a, __VA_ARGS__>::value
#define ACL_FIELD_TYPE(s, f) decltype(s::f)
#define ACL_ALIGN_OF(s) alignof(s)
#else
#define ACL_STATIC_ASSERT(x) _Static_assert(x, #x)
#define ACL_SAME_TYPE(a, ...) __builtin_types_compatible_p(a, __VA_ARGS__)
#define ACL_FIELD_TYPE(s, f) __typeof__(((s *)0)->f)
#define ACL_ALIGN_OF(s) _Alignof(s)
#endif
#define ACL_FIELD_SIZE(s, f) sizeof(((s *)0)->f)
";

/// The source, and how many things it checks.
pub(crate) struct Checks {
    pub(crate) source: String,
    pub(crate) functions: usize,
    pub(crate) constants: usize,
    pub(crate) types: usize,
}

pub(crate) fn with_prelude(source: &str) -> String {
    format!("#include <stddef.h>\n{PRELUDE}{source}")
}

pub(crate) fn from_tables() -> Checks {
    let mut text = String::from(INCLUDES);
    let functions = FUNCTIONS
        .iter()
        .map(|table| check_functions(&mut text, table))
        .sum();
    let constants = check_constants(&mut text);
    let types = check_types(&mut text);
    Checks {
        source: with_prelude(&text),
        functions,
        constants,
        types,
    }
}

fn rows(table: &str) -> impl Iterator<Item = Vec<&str>> {
    table.lines().skip(1).map(|line| line.split('\t').collect())
}

fn check_functions(text: &mut String, table: &str) -> usize {
    let mut count = 0;
    for row in rows(table).filter(|row| SCOPE.contains(&row[1])) {
        let (name, ret, params) = (row[0], row[4], parameter_types(row[5]));
        writeln!(text, "extern {ret} (*check_{name})({params});").unwrap();
        writeln!(text, "{ret} (*check_{name})({params}) = {name};").unwrap();
        count += 1;
    }
    count
}

/// `void * data; size_t size` without the names.
fn parameter_types(params: &str) -> String {
    let types: Vec<&str> = params.split("; ").map(without_name).collect();
    types.join(", ")
}

fn without_name(declaration: &str) -> &str {
    if matches!(declaration, "void" | "...") {
        return declaration;
    }
    declaration.trim_end_matches(|c: char| c.is_ascii_alphanumeric() || c == '_')
}

fn check_constants(text: &mut String) -> usize {
    let mut count = 0;
    for row in rows(ENUMS) {
        let (owner, name, value, header) = (row[0], row[1], row[2], row[3]);
        if !SCOPE.contains(&header) && !MOVED.contains(&owner) {
            continue;
        }
        let suffix = if value.starts_with("0x") { "ULL" } else { "LL" };
        writeln!(text, "ACL_STATIC_ASSERT({name} == {value}{suffix});").unwrap();
        if !owner.starts_with("macro") && !owner.starts_with("const:") {
            writeln!(text, "ACL_STATIC_ASSERT(sizeof({owner}) == 4);").unwrap();
        }
        count += 1;
    }
    count
}

fn check_types(text: &mut String) -> usize {
    let mut count = 0;
    for row in rows(STRUCTS).filter(|row| SCOPE.contains(&row[3])) {
        let (kind, name, shape, detail) = (row[0], row[1], row[4], row[5]);
        match kind {
            "alias" => {
                writeln!(text, "ACL_STATIC_ASSERT(ACL_SAME_TYPE({name}, {shape}));").unwrap()
            }
            "callback" => {
                let (ret, params) = (
                    shape.strip_prefix("returns ").unwrap(),
                    parameter_types(detail),
                );
                writeln!(
                    text,
                    "ACL_STATIC_ASSERT(ACL_SAME_TYPE({name}, {ret} (*)({params})));"
                )
                .unwrap();
            }
            "opaque" => writeln!(text, "extern {name} *opaque_{name};").unwrap(),
            "struct" => check_struct(text, name, shape, detail),
            _ => panic!("unknown kind {kind}"),
        }
        count += 1;
    }
    count
}

fn check_struct(text: &mut String, name: &str, shape: &str, fields: &str) {
    let words: Vec<&str> = shape.split(' ').collect();
    let (size, align) = (words[1], words[3]);
    // Two names of the tables are tags of other structs, not separate types.
    let name = match name {
        "aclCANNPackageVersion_" | "tagAclmdlRICondTaskParams" => format!("struct {name}"),
        _ => name.to_owned(),
    };
    let checked = format!("Checked{}", text.len());
    writeln!(text, "typedef {name} {checked};").unwrap();
    writeln!(text, "ACL_STATIC_ASSERT(sizeof({checked}) == {size});").unwrap();
    writeln!(
        text,
        "ACL_STATIC_ASSERT(ACL_ALIGN_OF({checked}) == {align});"
    )
    .unwrap();
    for field in fields.split("; ") {
        check_field(text, &checked, field);
    }
}

fn check_field(text: &mut String, owner: &str, field: &str) {
    let (offset, declaration) = field.split_once(": ").unwrap();
    if let Some(union) = declaration.strip_prefix("union ") {
        let (name, size) = union.rsplit_once(" (").unwrap();
        if name != "(anonymous)" {
            let size = size.trim_end_matches(" B)");
            writeln!(
                text,
                "ACL_STATIC_ASSERT(offsetof({owner}, {name}) == {offset});"
            )
            .unwrap();
            writeln!(
                text,
                "ACL_STATIC_ASSERT(ACL_FIELD_SIZE({owner}, {name}) == {size});"
            )
            .unwrap();
        }
        return;
    }
    let start = declaration.rfind(' ').unwrap();
    let (ctype, name) = declaration.split_at(start);
    let name = name.trim();
    writeln!(
        text,
        "ACL_STATIC_ASSERT(offsetof({owner}, {name}) == {offset});"
    )
    .unwrap();
    // `bool` is spelled `_Bool` in C only.
    let ctype = ctype.replace("_Bool", "bool");
    // C++ cannot name the type of a member of a member by decltype(owner::a.b).
    if !name.contains('.') {
        writeln!(
            text,
            "ACL_STATIC_ASSERT(ACL_SAME_TYPE(ACL_FIELD_TYPE({owner}, {name}), {ctype}));"
        )
        .unwrap();
    } else {
        writeln!(
            text,
            "ACL_STATIC_ASSERT(ACL_FIELD_SIZE({owner}, {name}) == sizeof({ctype}));"
        )
        .unwrap();
    }
}
