//! Callers that know more of a function than the platform's convention promises, because they were
//! compiled with it: registers that they keep, and the state of the stack.

use std::path::{Path, PathBuf};

use super::{coverage, patched};
use crate::support::compile::{built, built_with};
use crate::support::process::has;
use crate::support::{Run, Tables, place};

const FUNCTIONS: [&str; 12] = [
    "aclrtGetDevice",
    "aclSetTensorDescName",
    "aclFloat16ToFloat",
    "acldvppGetBorderConfigValue",
    "aclmdlSetAIPPCscParams",
    "aclrtIpcOpenEventHandle",
    "aclrtGetMemInfo",
    "aclCreateIntArray",
    "aclmdlLoadFromFile",
    "aclNewlyMade",
    "aclrtGetRunMode",
    "aclPlainlyNew",
];

fn check(library: &Path) {
    let host = built("engine_kept_host", "engine_kept_host.c", &["-O1", "-ldl"]);
    let run = patched(&Run::new(&host).words(&[library.to_str().unwrap()]));
    let recording = run.compared();
    let found = coverage(&recording, library.file_name().unwrap().to_str().unwrap());
    let tables = Tables::of(&recording);
    for name in FUNCTIONS {
        let (ways, refused) = &found[name];
        assert!(
            ways.contains(&"patched".to_owned()),
            "{name}: {ways:?} {refused:?}"
        );
        assert_ne!(tables.count_calls(name), 0, "{name}");
    }
    // Calls that only a patch intercepts.
    assert_eq!(tables.count_calls("aclSetTensorDescName"), 1000);
    assert_eq!(tables.count_calls("aclAppLog"), 1);
}

fn library(compiler: &str, name: &str, options: &[&str]) -> PathBuf {
    let common = ["-std=gnu11", "-shared", "-fPIC", "-Wl,-z,now"];
    let name = format!("libacl_kept_{name}.so");
    built_with(
        compiler,
        &name,
        "engine_kept.c",
        &[&common, options].concat(),
    )
}

#[test]
fn callers_in_the_same_file_find_their_registers_as_they_left_them() {
    for (name, options) in [
        ("o2", &["-O2"][..]),
        ("o3", &["-O3", "-fno-semantic-interposition"]),
        ("protected", &["-O2", "-DPROTECTED"]),
        ("native", &["-O3", "-fno-plt", "-ftree-vectorize"]),
    ] {
        check(&library("cc", name, options));
    }
}

#[test]
fn callers_that_clang_has_compiled_find_them_as_well() {
    // In the emulated suite only the usual compiler is that of the other architecture.
    if place::is_emulated() || !has("clang") {
        return;
    }
    for (name, options) in [
        ("clang2", &["-O2"][..]),
        ("clang3", &["-O3", "-DPROTECTED", "-mllvm", "-enable-ipra"]),
    ] {
        check(&library("clang", name, options));
    }
}
