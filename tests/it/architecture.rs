//! The packages depend on each other as ARCHITECTURE.md says, and in no other way.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;

use crate::support::run;
use sources::Sources;

mod sources;

#[track_caller]
fn cargo(words: &[&str]) -> String {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let mut command = Command::new(cargo);
    command.args(words).current_dir(env!("CARGO_MANIFEST_DIR"));
    run(&mut command).expect(0).out()
}

/// What `cargo metadata` knows of this workspace on this kind of machine: what other machines would
/// need may not have been downloaded.
fn metadata() -> &'static Value {
    static METADATA: OnceLock<Value> = OnceLock::new();
    METADATA.get_or_init(|| {
        let version = cargo(&["-vV"]);
        let host = version
            .lines()
            .find_map(|line| line.strip_prefix("host: "))
            .expect("a host");
        let words = ["metadata", "--offline", "--locked", "--format-version", "1"];
        let words = words
            .into_iter()
            .chain(["--filter-platform", host])
            .collect::<Vec<_>>();
        serde_json::from_str(&cargo(&words)).unwrap()
    })
}

fn text(value: &Value) -> &str {
    value.as_str().unwrap()
}

fn list(value: &Value) -> impl Iterator<Item = &Value> {
    value.as_array().unwrap().iter()
}

/// A package as ARCHITECTURE.md calls it: by its folder, the root by `src`.
fn short(name: &str) -> &str {
    match name {
        "ascend-trace" => "src",
        "softacl" => "runtime",
        _ => match name.split_once('-') {
            Some(("softacl", rest)) => rest,
            _ => name.strip_prefix("ascend-trace-").unwrap_or(name),
        },
    }
}

/// Dependencies between packages of the project, of one kind: normal, build or dev.
fn own_dependencies(metadata: &Value, kind: &str) -> BTreeMap<String, BTreeSet<String>> {
    let members: BTreeSet<&str> = list(&metadata["packages"])
        .filter(|it| it["source"].is_null())
        .map(|it| text(&it["name"]))
        .collect();
    let own = list(&metadata["packages"]).filter(|it| it["source"].is_null());
    own.map(|package| {
        let dependencies = list(&package["dependencies"])
            .filter(|it| it["kind"].as_str().unwrap_or("normal") == kind)
            .map(|it| text(&it["name"]))
            .filter(|name| members.contains(name));
        let dependencies = dependencies.map(|name| short(name).to_owned()).collect();
        (short(text(&package["name"])).to_owned(), dependencies)
    })
    .collect()
}

/// The table of ARCHITECTURE.md: each package and its allowed dependencies, direct or indirect.
#[track_caller]
fn documented() -> BTreeMap<String, BTreeSet<String>> {
    let text = include_str!("../../ARCHITECTURE.md");
    let rows = text
        .lines()
        .skip_while(|line| !line.contains("| may depend on |"))
        .skip(2);
    let rows: Vec<(String, String)> = rows
        .take_while(|line| line.starts_with('|'))
        .map(|line| {
            let cells: Vec<&str> = line.split('|').map(str::trim).collect();
            let path = cells[1].split('`').nth(1).expect(line);
            let name = path.rsplit('/').next().unwrap_or(path);
            (name.to_owned(), cells[3].to_owned())
        })
        .collect();
    let all: BTreeSet<String> = rows.iter().map(|row| row.0.clone()).collect();
    assert_eq!(all.len(), rows.len(), "a package has one row");
    let mut allowed = BTreeMap::new();
    for (name, may) in rows {
        let words = may.split(|it: char| !it.is_alphanumeric() && !"_-".contains(it));
        let named: BTreeSet<String> = words
            .filter(|word| all.contains(*word))
            .map(str::to_owned)
            .collect();
        let mut own: BTreeSet<String> = match may.starts_with("all but") {
            true => all.difference(&named).cloned().collect(),
            false => named,
        };
        // A row may only name rows above it, so theirs are complete.
        for below in own.clone() {
            own.extend(allowed.get(&below).cloned().unwrap_or_default());
        }
        allowed.insert(name, own);
    }
    allowed
}

#[test]
fn the_documented_table_names_every_package_once() {
    let packages = own_dependencies(metadata(), "normal")
        .into_keys()
        .collect::<BTreeSet<_>>();
    assert_eq!(documented().into_keys().collect::<BTreeSet<_>>(), packages);
}

#[test]
fn packages_depend_only_as_the_table_allows() {
    let used = own_dependencies(metadata(), "normal");
    for (name, allowed) in documented() {
        let extra: Vec<_> = used[&name].difference(&allowed).collect();
        assert!(extra.is_empty(), "{name} must not depend on {extra:?}");
    }
}

#[test]
fn the_generator_is_used_by_build_scripts_and_the_test_kit_by_tests_only() {
    let metadata = metadata();
    for (kind, only) in [("build", "hookgen"), ("dev", "testkit")] {
        for (name, used) in own_dependencies(metadata, kind) {
            // Tests may use the allowed dependencies of the package.
            let others: Vec<_> = used.iter().filter(|it| *it != only).collect();
            let is_fine = kind == "dev" || others.is_empty();
            assert!(is_fine, "the build script of {name} uses {others:?}");
        }
    }
    for (name, used) in own_dependencies(metadata, "normal") {
        for only in ["hookgen", "testkit"] {
            assert!(
                !used.contains(only),
                "{name} uses {only} outside its {only} stage"
            );
        }
    }
}

/// Names of everything that a package is built from, its own build scripts aside.
fn closure(metadata: &Value, name: &str) -> BTreeSet<String> {
    let packages = list(&metadata["packages"]);
    let names: BTreeMap<&str, &str> = packages
        .map(|it| (text(&it["id"]), text(&it["name"])))
        .collect();
    let nodes: BTreeMap<&str, &Value> = list(&metadata["resolve"]["nodes"])
        .map(|node| (text(&node["id"]), node))
        .collect();
    let (start, _) = names.iter().find(|(_, it)| **it == name).unwrap();
    let (mut found, mut open) = (BTreeSet::new(), vec![*start]);
    while let Some(id) = open.pop() {
        for dependency in list(&nodes[id]["deps"]) {
            let is_normal = list(&dependency["dep_kinds"]).any(|it| it["kind"].is_null());
            let id = text(&dependency["pkg"]);
            if is_normal && found.insert(names[id].to_owned()) {
                open.push(id);
            }
        }
    }
    found
}

#[test]
fn the_interposer_consists_of_format_ring_and_libc() {
    let expected = ["ascend-trace-format", "ascend-trace-ring", "libc"];
    let expected = expected.map(str::to_owned).into_iter().collect();
    assert_eq!(closure(metadata(), "ascend-trace-interposer"), expected);
}

#[test]
fn the_software_runtime_uses_no_package_of_the_tool() {
    let closure = closure(metadata(), "softacl");
    let ours: Vec<_> = closure
        .iter()
        .filter(|name| name.starts_with("ascend-trace"))
        .collect();
    assert!(ours.is_empty(), "{ours:?}");
}

/// All sources in a folder.
fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|end| end == "rs") {
            found.push(path);
        }
    }
}

#[test]
fn the_interposer_does_not_know_the_software_runtime() {
    let mut found = Vec::new();
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("interposer");
    sources(&folder.join("src"), &mut found);
    assert!(found.len() > 20, "{found:?}");
    for source in found {
        let text = std::fs::read_to_string(&source).unwrap();
        let name = source.display();
        assert!(!text.to_lowercase().contains("softacl"), "{name}");
    }
}

/// Files that know functions of AscendCL by their names, and what for.
const KNOWING: [(&str, &str); 2] = [
    // What CUDA calls the same thing.
    ("crates/read/export/src/kineto/cuda.rs", "aclrt"),
    // `aclCreateScalar` makes a scalar.
    ("crates/read/recording/src/operands.rs", "aclCreate"),
];

/// Texts of a source that are names of functions of AscendCL, tests left out.
fn names_of_functions(text: &str) -> Vec<&str> {
    let code = text.split("#[cfg(test)]").next().unwrap_or_default();
    let texts = code.split('"').skip(1).step_by(2);
    let is_name = |text: &&str| {
        let prefixes = ["acl", "rt", "Hccl", "Lccl", "mstx", "hal"];
        let rest = prefixes.iter().find_map(|it| text.strip_prefix(it));
        let rest = rest.unwrap_or_default();
        let has_capital = rest.contains(|it: char| it.is_ascii_uppercase());
        has_capital && rest.chars().all(|it| it.is_ascii_alphanumeric())
    };
    texts
        .filter(is_name)
        .filter(|it| *it != "aclError")
        .collect()
}

/// Whether a source separates more than two roles from all others at once.
fn groups_roles(text: &str) -> bool {
    let words: Vec<&str> = text.split_whitespace().collect();
    let is_role = |word: &&str| word.starts_with("Role::");
    words.windows(5).any(|it| match it {
        [one, "|", other, "|", third] => [one, other, third].into_iter().all(is_role),
        _ => false,
    })
}

#[test]
fn what_roles_have_in_common_is_said_in_their_table_and_nowhere_else() {
    assert!(groups_roles("Role::A\n| Role::B | Role::C"));
    assert!(!groups_roles("Role::A | Role::B => Role::C"));
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in [
        "inject/hookgen",
        "read/recording",
        "read/collector",
        "read/analysis",
        "read/export",
    ] {
        sources(&root.join("crates").join(folder).join("src"), &mut found);
    }
    sources(&root.join("src"), &mut found);
    sources(&root.join("viewer/src"), &mut found);
    assert!(found.len() > 200, "{}", found.len());
    for source in found {
        let text = std::fs::read_to_string(&source).unwrap();
        let is_test = source.ends_with("tests.rs");
        assert!(is_test || !groups_roles(&text), "{}", source.display());
    }
}

#[test]
fn what_functions_mean_is_said_in_the_table_of_hooks_and_nowhere_else() {
    assert_eq!(
        names_of_functions("f(\"aclrtFree\", \"acl\", \"it\")"),
        ["aclrtFree"]
    );
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut found = Vec::new();
    for folder in [
        "inject/format",
        "inject/ring",
        "read/recording",
        "read/collector",
        "read/analysis",
        "read/export",
    ] {
        sources(&root.join("crates").join(folder).join("src"), &mut found);
    }
    sources(&root.join("src"), &mut found);
    sources(&root.join("viewer/src"), &mut found);
    assert!(found.len() > 200, "{}", found.len());
    for source in found {
        let place = source.strip_prefix(root).unwrap().to_str().unwrap();
        let is_test = place.contains("/tests/") || place.ends_with("/tests.rs");
        let known = KNOWING.iter().find(|(path, _)| *path == place);
        let text = std::fs::read_to_string(&source).unwrap();
        let names = names_of_functions(&text);
        let strange = names
            .iter()
            .filter(|name| known.is_none_or(|(_, begin)| !name.starts_with(begin)));
        let strange: Vec<_> = strange.filter(|_| !is_test).collect();
        assert!(strange.is_empty(), "{place}: {strange:?}");
    }
}

/// The folder with the sources of each package, by the package's short name.
fn source_folders() -> Vec<(String, PathBuf)> {
    let own = list(&metadata()["packages"]).filter(|it| it["source"].is_null());
    own.map(|package| {
        let manifest = Path::new(text(&package["manifest_path"]));
        let folder = manifest.parent().unwrap().join("src");
        (short(text(&package["name"])).to_owned(), folder)
    })
    .collect()
}

/// More files than this must not name each other in a circle.
const LARGEST_CIRCLE: usize = 6;

#[test]
fn no_large_group_of_files_names_each_other_in_a_circle() {
    let folders = source_folders();
    assert!(folders.len() > 12, "{folders:?}");
    for (name, folder) in folders {
        let sources = Sources::read(&folder);
        let circles = sources.circles();
        let largest = circles.iter().max_by_key(|it| it.len());
        let files: Vec<String> = largest
            .into_iter()
            .flatten()
            .map(|it| it.join("/"))
            .collect();
        assert!(
            files.len() <= LARGEST_CIRCLE,
            "{name}, {} files: {files:?}",
            files.len()
        );
    }
}

/// The layers of a part by its table in ARCHITECTURE.md, lowest first: each with its modules. A module
/// that no layer names is in the lowest.
fn layers(part: &str) -> Vec<(String, Vec<Vec<String>>)> {
    let text = include_str!("../../ARCHITECTURE.md");
    let head = format!("| layer of the {part} |");
    let rows = text
        .lines()
        .skip_while(|line| !line.starts_with(&head))
        .skip(2)
        .take_while(|line| line.starts_with('|'));
    rows.map(|line| {
        let cells: Vec<&str> = line.split('|').map(str::trim).collect();
        let modules = cells[2].split('`').skip(1).step_by(2);
        let modules = modules.map(|it| it.split('/').map(str::to_owned).collect());
        (cells[1].to_owned(), modules.collect())
    })
    .collect()
}

/// The number of a module's layer: that of the longest path in the table that it begins with.
fn layer(layers: &[(String, Vec<Vec<String>>)], module: &[String]) -> usize {
    let all = layers.iter().enumerate();
    let named = all.flat_map(|(at, (_, modules))| modules.iter().map(move |it| (it.len(), at, it)));
    let own = named.filter(|(_, _, it)| module.starts_with(it));
    own.max().map_or(0, |(_, at, _)| at)
}

/// No file of a part names one of a higher layer.
fn assert_layered(part: &str, folder: &str, expected: &[&str]) {
    let layers = layers(part);
    let names: Vec<&str> = layers.iter().map(|it| it.0.as_str()).collect();
    assert_eq!(names, expected);
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
    let sources = Sources::read(&folder);
    for module in layers.iter().flat_map(|it| &it.1) {
        assert!(sources.names.contains_key(module), "{module:?} is no file");
    }
    for (module, named) in &sources.names {
        for other in named {
            let (own, above) = (layer(&layers, module), layer(&layers, other));
            let (file, other) = (module.join("/"), other.join("/"));
            let [from, to] = [own, above].map(|it| names[it]);
            assert!(above <= own, "{file} ({from}) names {other} ({to})");
        }
    }
}

#[test]
fn files_of_the_interposer_name_none_of_a_higher_layer() {
    let expected = ["core", "objects", "timing", "roles", "hooks"];
    assert_layered("interposer", "interposer/src", &expected);
}

#[test]
fn files_of_the_software_runtime_name_none_of_a_higher_layer() {
    let expected = ["core", "objects", "engine", "calls", "exports"];
    assert_layered("software runtime", "crates/soft/runtime/src", &expected);
}

#[test]
fn references_are_read_off_sources() {
    let text = r##"
        use crate::{a::{self, B}, c as d};
        use super::{e::F, g::*};
        fn f<'a>(x: &'a str) -> char { "crate::no"; r#"crate::no " "#; '"'; crate::h::i(); '\'' } // crate::no
        #[cfg(test)]
        use crate::no;
        #[cfg(test)]
        mod tests { use crate::no; }
        macro_rules! m { () => { $crate::j::k() } }
    "##;
    let read: Vec<String> = sources::references(text);
    let expected = [
        "crate::a",
        "crate::a::B",
        "crate::c",
        "super::e::F",
        "super::g",
        "crate::h::i",
        "crate::j::k",
    ];
    assert_eq!(read, expected);
}
