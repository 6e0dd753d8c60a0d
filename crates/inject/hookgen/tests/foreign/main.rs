//! Typed functions from headers that are not ours, and the proof that the committed tables are what
//! headers say. Needs libclang; says so where it is missing.
#![expect(clippy::unwrap_used, reason = "a test that cannot go on fails")]
#![expect(clippy::print_stderr, reason = "a test that is skipped says so")]

use std::path::{Path, PathBuf};
use std::process::Command;

use ascend_trace_format::api::{ArgKind, Role, TaskKind};
use ascend_trace_hookgen::foreign::{HeaderReport, extend, libclang};
use ascend_trace_hookgen::{ApiModel, HeaderPlan, HookSpec, HookTable, Unhooked, emit_hooks};

/// A function that its header defines: no library exports it.
const INLINE: &str = "HcclCommConfigInit";

/// The names of skipped declarations, without that function.
fn skipped(found: &HeaderReport) -> Vec<&str> {
    let names = found.odd.iter().map(|it| it.name.as_str());
    names.filter(|name| *name != INLINE).collect()
}

/// Names a folder of headers that are not ours.
const FOREIGN_VARIABLE: &str = "ASCEND_TRACE_FOREIGN_HEADERS";

fn has_libclang() -> bool {
    match libclang() {
        Ok(_) => true,
        Err(error) => {
            eprintln!("skipped: {error}");
            false
        }
    }
}

fn include_folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../include")
}

/// Our headers and one more, which is newer.
fn newer(text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let mut open = vec![(include_folder(), folder.path().to_owned())];
    while let Some((from, to)) = open.pop() {
        std::fs::create_dir_all(&to).unwrap();
        for entry in std::fs::read_dir(from).unwrap() {
            let path = entry.unwrap().path();
            let copy = to.join(path.file_name().unwrap());
            match path.is_dir() {
                true => open.push((path, copy)),
                false => drop(std::fs::copy(path, copy).unwrap()),
            }
        }
    }
    std::fs::write(folder.path().join("acl/newer.h"), text).unwrap();
    folder
}

fn table(text: &str) -> (HookTable, HeaderReport) {
    HookTable::with_headers(newer(text).path()).unwrap()
}

#[test]
fn the_committed_tables_are_what_our_headers_declare() {
    if !has_libclang() {
        return;
    }
    let mut model = ApiModel::embedded().unwrap();
    let mut spec = HookSpec::embedded().unwrap();
    let plan = HeaderPlan::embedded().unwrap();
    let written: Vec<&str> = plan.paths().collect();
    let ours = |header: &str| written.contains(&header);
    let expected = model
        .functions
        .iter()
        .filter(|it| ours(plan.home(&it.name, &it.header)) && it.name != INLINE)
        .count();
    let found = extend(&mut model, &mut spec, &include_folder()).unwrap();
    assert_eq!(found.added, [""; 0], "functions that no table has");
    assert_eq!(found.changed, [""; 0], "functions of other arguments");
    assert_eq!(found.constants, [""; 0], "constants that no table has");
    assert_eq!(skipped(&found), [""; 0]);
    assert_eq!(found.same, expected);
    assert!(expected >= 484, "only {expected} functions are compared");
    assert_eq!(model, ApiModel::embedded().unwrap());
}

#[test]
fn a_newer_function_is_typed() {
    if !has_libclang() {
        return;
    }
    let (table, found) = table(
        "#include \"acl/acl_rt.h\"\n\
         typedef enum { ACL_FLAVOUR_SWEET = 3, ACL_FLAVOUR_SOUR = -1 } aclrtFlavour;\n\
         typedef struct aclrtRecipe aclrtRecipe;\n\
         typedef void *aclrtOven;\n\
         #ifdef __cplusplus\nextern \"C\" {\n#endif\n\
         aclError aclrtBakeAsync(const void *dough, size_t size, aclrtFlavour flavour, float heat,\n\
             const aclrtRecipe *recipe, aclrtOven oven, aclrtStream stream);\n\
         aclError aclrtOvenGetHeat(aclrtOven oven, uint32_t *heat);\n\
         #ifdef __cplusplus\n}\n#endif\n",
    );
    assert_eq!(found.added, ["aclrtBakeAsync", "aclrtOvenGetHeat"]);
    assert_eq!(skipped(&found), [""; 0]);
    assert_eq!(found.changed, [""; 0]);
    let bake = table.hook("aclrtBakeAsync").unwrap();
    assert_eq!((bake.role, bake.task), (Role::Task, Some(TaskKind::Other)));
    assert_eq!(
        (bake.stream, bake.library.as_str()),
        (Some(6), "libacl_rt.so")
    );
    let kinds: Vec<ArgKind> = bake.args.iter().map(|arg| arg.kind).collect();
    let expected = [
        ArgKind::Pointer,
        ArgKind::Size,
        ArgKind::Enum,
        ArgKind::Float,
        ArgKind::Handle,
        ArgKind::Handle,
        ArgKind::Stream,
    ];
    assert_eq!(kinds, expected);
    let flavours = &table.enumerations["aclrtFlavour"];
    assert_eq!(flavours[0], (-1, "ACL_FLAVOUR_SOUR".to_owned()));
    let heat = &table.hook("aclrtOvenGetHeat").unwrap().args[1];
    assert_eq!((heat.kind, heat.out, heat.width), (ArgKind::Uint, true, 4));
    assert!(emit_hooks(&table).contains("fn aclrtBakeAsync("));
    let before = HookTable::embedded().unwrap();
    assert_eq!(table.hooks.len(), before.hooks.len() + 2);
}

#[test]
fn a_newer_operator_is_a_kernel_by_its_shape() {
    if !has_libclang() {
        return;
    }
    let (table, found) = table(
        "#include \"aclnn/aclnn_base.h\"\n#include \"acl/acl_rt.h\"\n\
         aclnnStatus aclnnFoldGetWorkspaceSize(const aclTensor *self, int64_t dim, aclTensor *out,\n\
             uint64_t *workspaceSize, aclOpExecutor **executor);\n\
         aclnnStatus aclnnFold(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,\n\
             aclrtStream stream);\n",
    );
    assert_eq!(found.added, ["aclnnFold", "aclnnFoldGetWorkspaceSize"]);
    let fold = table.hook("aclnnFold").unwrap();
    assert_eq!((fold.role, fold.task), (Role::Task, Some(TaskKind::Kernel)));
    let first = table.hook("aclnnFoldGetWorkspaceSize").unwrap();
    assert_eq!(first.role, Role::Plain);
    assert!(first.args[3].out && first.args[4].out);
}

#[test]
fn a_function_with_other_arguments_is_taken_as_it_is_installed() {
    if !has_libclang() {
        return;
    }
    let folder = newer("int unused;\n");
    let header = folder.path().join("acl/acl_rt.h");
    let text = std::fs::read_to_string(&header).unwrap();
    let changed = text.replace(
        "aclrtRecordEvent(aclrtEvent event, aclrtStream stream)",
        "aclrtRecordEvent(aclrtEvent event, aclrtStream stream, uint32_t how)",
    );
    assert_ne!(text, changed);
    std::fs::write(&header, changed).unwrap();
    let (table, found) = HookTable::with_headers(folder.path()).unwrap();
    assert_eq!(found.changed, ["aclrtRecordEvent"]);
    let record = table.hook("aclrtRecordEvent").unwrap();
    assert_eq!(record.args.len(), 3);
    assert_eq!(
        record.role,
        Role::Plain,
        "the effect of the new version is not known"
    );
}

#[test]
fn odd_declarations_are_listed_and_nothing_fails() {
    if !has_libclang() {
        return;
    }
    let folder = newer(
        "#include \"acl/acl_rt.h\"\n#include <stdarg.h>\n\
         typedef union { int a; float b; } aclrtEither;\n\
         aclError aclrtByUnion(aclrtEither either);\n\
         aclError aclrtWithList(const char *text, va_list list);\n\
         aclError aclrtLong(long double number);\n\
         aclError aclrtByAddress(aclrtEither *either, int (*compare)(const void *, const void *));\n\
         static inline aclError aclrtInline(int number) { return number; }\n\
         #define aclrtMacro(x) aclrtInline(x)\n\
         #if 0\naclError aclrtLeftOut(int);\n#endif\n\
         #ifdef __cplusplus\naclError aclrtOverloaded(double number);\n#endif\n",
    );
    let broken = "this is no C, but it names aclrtBroken(int);\n";
    std::fs::write(folder.path().join("acl/broken.h"), broken).unwrap();
    let (table, found) = HookTable::with_headers(folder.path()).unwrap();
    assert!(table.hook("aclrtByAddress").is_some());
    let reason = |name: &str| {
        let odd = found.odd.iter().find(|odd| odd.name == name);
        odd.map(|odd| odd.reason.clone()).unwrap_or_default()
    };
    assert_eq!(
        reason("aclrtWithList"),
        "takes a list of variable arguments"
    );
    assert_eq!(reason("aclrtLong"), "takes a number of 128 bits");
    assert_eq!(reason("aclrtMacro"), "is a macro");
    assert_eq!(reason("aclrtOverloaded"), "is C++ only");
    for name in ["aclrtInline", "aclrtLeftOut"] {
        assert!(
            reason(name).contains("no function that a library exports"),
            "{name}"
        );
    }
    assert!(
        reason("acl/broken.h").contains("cannot be read"),
        "{:?}",
        found.odd
    );
    let union = table.unhooked.iter().find(|it| it.name == "aclrtByUnion");
    let expected = Unhooked {
        name: "aclrtByUnion".to_owned(),
        reason: "takes aclrtEither by value, which no table describes".to_owned(),
    };
    assert_eq!(union, Some(&expected));
}

/// A program links to the function in the library that goes into programs.
#[test]
#[ignore = "builds that library"]
fn the_library_that_is_built_has_a_wrapper_for_a_newer_function() {
    if !has_libclang() {
        return;
    }
    let home = tempfile::tempdir().unwrap();
    let folder = newer(
        "#include \"acl/acl_rt.h\"\n\
         aclError aclrtBakeAsync(const void *dough, size_t size, aclrtStream stream);\n",
    );
    std::os::unix::fs::symlink(folder.path(), home.path().join("include")).unwrap();
    let tmp = Path::new(env!("CARGO_TARGET_TMPDIR")).join("newer");
    let mut cargo = Command::new(env!("CARGO"));
    cargo
        .args([
            "build",
            "--locked",
            "-p",
            "ascend-trace-interposer",
            "--lib",
        ])
        .args(["--features", "bindgen", "--target-dir"])
        .arg(&tmp)
        .env("ASCEND_HOME_PATH", home.path());
    assert!(cargo.status().unwrap().success());
    let source = home.path().join("main.c");
    let text = "#include \"acl/newer.h\"\n\
                int main(void) { return aclrtBakeAsync(0, 0, 0) == 0; }\n";
    std::fs::write(&source, text).unwrap();
    let mut compiler = Command::new("cc");
    compiler.arg("-I").arg(folder.path()).arg(&source);
    compiler.arg("-o").arg(home.path().join("main"));
    compiler.arg(tmp.join("debug/libascend_trace_interposer.so"));
    assert!(compiler.status().unwrap().success());
}

#[test]
fn headers_that_are_installed_somewhere_are_taken() {
    let Some(folder) = std::env::var_os(FOREIGN_VARIABLE) else {
        eprintln!("skipped: {FOREIGN_VARIABLE} names no folder");
        return;
    };
    if !has_libclang() {
        return;
    }
    let (table, found) = HookTable::with_headers(Path::new(&folder)).unwrap();
    eprintln!("{found:#?}");
    assert!(
        found.same + found.added.len() > 0,
        "nothing of the interface"
    );
    for name in &found.added {
        let is_unhooked = table.unhooked.iter().any(|it| it.name == *name);
        assert!(table.hook(name).is_some() || is_unhooked, "{name}");
    }
}
