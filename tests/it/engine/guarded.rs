//! Processors that guard indirect jumps.

use super::{coverage, patched};
use crate::support::compile::built;
use crate::support::{Run, Tables, place};

/// A library for such processors. The usual files that are linked to every library know nothing of it.
const GUARDED: &[&str] = &[
    "-mbranch-protection=bti",
    "-Wl,-z,force-bti",
    "-nostartfiles",
];

#[test]
fn a_patch_at_the_end_of_a_page_is_bypassed_through_the_next_page() {
    let is_arm = place::is_emulated() || cfg!(target_arch = "aarch64");
    let common = ["-std=gnu11", "-O1", "-shared", "-fPIC", "-Wl,-z,now"];
    let options = [&common[..], if is_arm { GUARDED } else { &[] }].concat();
    let name = "libacl_engine_page.so";
    let library = built(name, "engine_page.c", &options);
    let host = built("engine_page_host", "engine_page_host.c", &["-O1", "-ldl"]);
    let run = patched(&Run::new(&host).words(&[library.to_str().unwrap()]));
    let recording = run.compared();
    let (ways, refused) = &coverage(&recording, name)["aclrtGetDevice"];
    assert!(ways.contains(&"patched".to_owned()), "{refused:?}");
    assert_eq!(Tables::of(&recording).count_calls("aclrtGetDevice"), 2);
}
