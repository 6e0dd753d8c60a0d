//! `info` names the libraries of functions, and recognises the software runtime.

use std::path::Path;
use std::process::Command;

use crate::support::compile::{built_from, soft};
use crate::support::process::clean;
use crate::support::{run, tool};

/// Looks functions up in a library of any name, calls one, and may remove the library.
const FETCH: &str = r#"
#include <dlfcn.h>
#include <stddef.h>
#include <string.h>
#include <unistd.h>
int main(int count, char **words)
{
    void *library = dlopen(words[1], RTLD_NOW);
    if (library == NULL) {
        return 1;
    }
    int (*init)(const char *) = (int (*)(const char *))dlsym(library, "aclInit");
    if (init == NULL || init(NULL) != 0) {
        return 2;
    }
    if (count > 2) {
        dlclose(library);
        unlink(words[1]);
    }
    return 0;
}
"#;

const LINKED: &str =
    "#include <stddef.h>\nint aclInit(const char *);\nint main(void) { return aclInit(NULL); }\n";

/// A runtime that is not ours.
const OTHER: &str =
    "int aclInit(const char *path);\nint aclInit(const char *path) { return path != (void *)0; }\n";

/// Records without `--soft` and yields what `info` says, as text and as JSON.
fn info(
    program: &Path,
    words: &[&str],
    prepare: impl Fn(&mut Command),
) -> (String, serde_json::Value) {
    let folder = tempfile::tempdir().unwrap();
    let trace = folder.path().join("t.atrace");
    let mut record = tool();
    record.args(["record", "--no-tui", "-o"]).arg(&trace);
    prepare(&mut record);
    record.arg("--").arg(program).args(words);
    run(&mut record).expect(0);
    let text = run(tool().arg("info").arg(&trace)).expect(0).out();
    let json = run(tool().arg("info").arg(&trace).arg("--json")).expect(0);
    (text, serde_json::from_str(&json.out()).unwrap())
}

#[track_caller]
fn expect_runtime(expected: &str, (text, json): &(String, serde_json::Value)) {
    assert!(
        text.contains(&format!("\nruntime      {expected}\n")),
        "{text}"
    );
    assert_eq!(json["session"]["runtime"], expected, "{text}");
}

/// A copy of the software runtime's library.
fn copied(to: &Path) {
    std::fs::copy(soft().lib.join("libascendcl.so"), to).unwrap();
}

#[test]
fn the_software_runtime_is_known_however_it_was_loaded() {
    let linked = built_from("linked_init", LINKED, &["-lascendcl"]);
    let fetch = built_from("fetch_init", FETCH, &["-ldl"]);
    let by_path = info(&linked, &[], |record| {
        record.env("LD_LIBRARY_PATH", &soft().lib);
    });
    expect_runtime("softacl", &by_path);
    let by_option = info(&linked, &[], |record| {
        record.arg("--soft");
    });
    expect_runtime("softacl", &by_option);
    let script = run(tool().args(["soft", "--env"])).expect(0).out();
    let script = format!("{script}\nenv");
    let shown = run(clean(Path::new("/bin/sh")).args(["-c", &script])).expect(0);
    let by_script = info(&linked, &[], |record| {
        let lines = shown.out();
        let all = lines.lines().filter_map(|line| line.split_once('='));
        record
            .envs(all.filter(|(name, _)| name.starts_with("ASCEND") || *name == "LD_LIBRARY_PATH"));
    });
    expect_runtime("softacl", &by_script);

    let folder = tempfile::tempdir().unwrap();
    copied(&folder.path().join("libascendcl.so"));
    let by_copy = info(&linked, &[], |record| {
        record.env("LD_LIBRARY_PATH", folder.path());
    });
    expect_runtime("softacl", &by_copy);
    for name in ["libge_runner.so", "plugin.so"] {
        let copy = folder.path().join(name);
        copied(&copy);
        let by_name = info(&fetch, &[copy.to_str().unwrap()], |_| ());
        expect_runtime("softacl", &by_name);
        let libraries = by_name.1["coverage"].as_array().unwrap().iter();
        let libraries: Vec<_> = libraries.map(|it| it["library"].clone()).collect();
        assert_eq!(libraries, [copy.to_str().unwrap()]);
    }
}

#[test]
fn a_function_is_listed_with_its_library_or_without_a_known_one() {
    let fetch = built_from("fetch_init_of", FETCH, &["-ldl"]);
    let other = built_from("libanything.so", OTHER, &["-shared", "-fPIC"]);
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("libanything.so");
    std::fs::copy(&other, &path).unwrap();
    let path = path.to_str().unwrap();

    let kept = info(&fetch, &[path], |_| ());
    expect_runtime("installed", &kept);
    let line = format!("  {path}  ");
    assert!(
        kept.0.lines().any(|text| text.starts_with(&line)),
        "{}",
        kept.0
    );
    assert!(!kept.0.contains("(not known)"), "{}", kept.0);
    let of = &kept.1["coverage"][0];
    assert_eq!((&of["library"], &of["called"]), (&path.into(), &1.into()));

    let gone = info(&fetch, &[path, "gone"], |_| ());
    let row = gone.0.lines().find(|line| line.contains("(not known)"));
    let row: Vec<_> = row.unwrap_or(&gone.0).split_whitespace().collect();
    assert_eq!(row, ["(not", "known)", "0", "0", "1", "1"], "{}", gone.0);
    assert!(!gone.0.contains("in no library"), "{}", gone.0);
}
