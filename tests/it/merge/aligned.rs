//! `dataset align`: the same clocks from the tables of a dataset.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use ascend_trace_testkit::cluster::ClusterJob;

use super::jobs::Recorded;
use super::{SMALL, merge};
use crate::support::{Outcome, run, tool};

fn add(root: &Path, files: &[PathBuf], name: &str) {
    let mut command = tool();
    command.args(["dataset", "add", "--run", name, "--to"]);
    run(command.arg(root).args(files)).expect(0);
}

fn align(root: &Path, options: &[&str]) -> Outcome {
    let mut command = tool();
    run(command.args(["dataset", "align"]).arg(root).args(options))
}

/// The lines about the hosts, without the text before.
fn hosts(said: &str) -> Vec<String> {
    let lines = said.lines().filter_map(|line| line.split_once("host "));
    lines.map(|(_, rest)| rest.to_owned()).collect()
}

fn clocks(root: &Path) -> BTreeMap<PathBuf, Vec<u8>> {
    let mut found = BTreeMap::new();
    let mut folders = vec![root.join("clocks")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.path() {
                path if path.is_dir() => folders.push(path),
                path => {
                    let bytes = fs::read(&path).unwrap();
                    found.insert(path.strip_prefix(root).unwrap().to_owned(), bytes);
                }
            }
        }
    }
    found
}

#[test]
fn a_dataset_has_the_clocks_that_merge_finds() {
    let recorded = Recorded::new(SMALL);
    let root = recorded.path("fleet");
    add(&root, &recorded.files, "job");
    let said = align(&root, &[]).expect(0).err();
    let merged = recorded.path("merged.atrace");
    let by_merge = merge(&recorded.files, &merged, &[]).expect(0).err();
    assert_eq!(hosts(&said), hosts(&by_merge));
    assert_eq!(hosts(&said).len(), 2, "{said}");
    let there = clocks(&root);
    let names: Vec<_> = there.keys().map(|it| it.to_str().unwrap()).collect();
    let name = |host: &str| format!("clocks/run=job/host={host}/part-clocks.parquet");
    assert_eq!(names, [name("node0"), name("node1")]);
    align(&root, &["--run", "job"]).expect(0);
    assert!(there == clocks(&root), "the same again");
}

#[test]
fn runs_are_aligned_apart() {
    let first = Recorded::new(ClusterJob { steps: 10, ..SMALL });
    let second = Recorded::new(ClusterJob {
        steps: 10,
        seed: 2,
        ..SMALL
    });
    let root = first.path("fleet");
    add(&root, &first.files, "one");
    add(&root, &second.files, "two");
    align(&root, &["--run", "two"]).expect(0);
    assert!(
        clocks(&root)
            .keys()
            .all(|it| it.starts_with("clocks/run=two"))
    );
    align(&root, &[]).expect(0);
    assert_eq!(clocks(&root).len(), 4);
    let said = align(&root, &["--run", "three"]).expect(2).err();
    assert!(said.contains("has no recording of the run three"), "{said}");
    let said = align(first.folder.path(), &[]).expect(2).err();
    assert!(said.contains("is no dataset"), "{said}");
}
