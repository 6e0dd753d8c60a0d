//! The emitted sources are Rust that compiles, with types and ids that agree.

use std::path::{Path, PathBuf};
use std::process::Command;

use ascend_trace_hookgen::{HookTable, emit_hooks, emit_table};

/// Stands for the interposer: checks the arguments' types and that an id names its wrapper.
const AROUND: &str = r#"
#![allow(non_snake_case, non_camel_case_types, dead_code)]
mod table {
    include!("api_table.rs");
}
const fn same(a: &str, b: &str) -> bool {
    let (a, b) = (a.as_bytes(), b.as_bytes());
    let mut index = 0;
    while index < a.len() && index < b.len() && a[index] == b[index] {
        index += 1;
    }
    index == a.len() && index == b.len()
}
mod hooks {
    macro_rules! variadic {
        ($id:literal) => {{
            const _: () = assert!($id < crate::table::FUNCTIONS.len());
            core::arch::naked_asm!("ret")
        }};
    }
    macro_rules! by_value {
        ($type:ty) => {
            const _: fn($type) -> ($type, $type) = |value| (value, value);
        };
    }
    macro_rules! hook {
        ($(shared)? $(hosted($function:ident, $data:ident))? $id:literal, fn($($name:ident: $type:ty),*) $(-> $ret:ty)?) => {{
            const ARGS: usize = <[&str]>::len(&[$(stringify!($name)),*]);
            const _: () = assert!(crate::table::FUNCTIONS[$id].args.len() == ARGS);
            let real: unsafe extern "C-unwind" fn($($type),*) $(-> $ret)? =
                unsafe { std::mem::transmute(1_usize) };
            unsafe { real($($name),*) }
        }};
    }
    include!("hooks.rs");
}
"#;

/// For each wrapper: the function at its id has its name.
fn id_checks(table: &HookTable) -> String {
    let check = |(id, hook): (usize, &ascend_trace_hookgen::Hook)| {
        format!(
            "const _: () = assert!(same(table::FUNCTIONS[{id}].name, \"{}\"));\n",
            hook.name
        )
    };
    table.hooks.iter().enumerate().map(check).collect()
}

/// The compiler next to the cargo that runs this test, so that both belong to one toolchain.
fn rustc() -> PathBuf {
    let beside = std::env::var_os("CARGO").map(|cargo| Path::new(&cargo).with_file_name("rustc"));
    beside
        .filter(|path| path.exists())
        .unwrap_or_else(|| "rustc".into())
}

fn compile(table: &HookTable) {
    let folder = tempfile::tempdir().unwrap();
    let format = Path::new(env!("CARGO_MANIFEST_DIR")).join("../format/src/lib.rs");
    check(
        folder.path(),
        &["--crate-name=ascend_trace_format", format.to_str().unwrap()],
    );
    let source = AROUND.to_owned() + &id_checks(table);
    std::fs::write(folder.path().join("hooks.rs"), emit_hooks(table)).unwrap();
    std::fs::write(folder.path().join("api_table.rs"), emit_table(table)).unwrap();
    std::fs::write(folder.path().join("lib.rs"), source).unwrap();
    let format = "--extern=ascend_trace_format=libascend_trace_format.rmeta";
    check(folder.path(), &[format, "lib.rs"]);
}

/// Compiles a library in a folder as far as it takes to know that it can be.
fn check(folder: &Path, words: &[&str]) {
    let output = Command::new(rustc())
        .current_dir(folder)
        .args(["--edition=2024", "--crate-type=lib", "--emit=metadata"])
        .args(words)
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn the_sources_compile() {
    compile(&HookTable::embedded().unwrap());
}
