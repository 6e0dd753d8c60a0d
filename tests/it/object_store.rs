//! Datasets in an object store, which a server on this machine imitates.
//!
//! The feature is off by default. Without it, ASCEND_TRACE_WITH_OBJECT_STORE can name a command that has it.
//! ASCEND_TRACE_S3_PYTHON names a Python with `moto[server]`.

mod server;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::Value;

use crate::merge::SMALL;
use crate::merge::jobs::Recorded;
use crate::support::files::files_below;
use crate::support::{Outcome, run, tool};
use server::{Server, until};

/// The command that has the feature, if there is one.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn command() -> Option<Command> {
    let named = std::env::var_os("ASCEND_TRACE_WITH_OBJECT_STORE");
    let mut command = match named {
        Some(path) => Command::new(path),
        None if cfg!(feature = "object-store") => tool(),
        None => {
            eprintln!(
                "skipped: this build has no feature object-store; ASCEND_TRACE_WITH_OBJECT_STORE can name a command \
                 that has it"
            );
            return None;
        }
    };
    for (name, _) in std::env::vars_os() {
        if name.to_string_lossy().starts_with("AWS_") {
            command.env_remove(name);
        }
    }
    Some(command)
}

/// A store, and the recordings to add.
struct Fleet {
    server: Server,
    recorded: Recorded,
}

const URL: &str = "s3://fleet/a/b";

impl Fleet {
    fn new() -> Option<Self> {
        command()?;
        Some(Self {
            server: Server::start()?,
            recorded: Recorded::new(SMALL),
        })
    }

    /// The command, for this store.
    fn tool(&self) -> Command {
        let mut tool = command().unwrap();
        tool.env("AWS_ENDPOINT", &self.server.address)
            .env("AWS_ALLOW_HTTP", "true")
            .env("no_proxy", "127.0.0.1")
            .env("AWS_ACCESS_KEY_ID", "test")
            .env("AWS_SECRET_ACCESS_KEY", "secret-of-the-test");
        tool
    }

    fn adding(&self, to: &str, options: &[&str]) -> Command {
        let mut command = self.tool();
        command.args(["dataset", "add", "--to", to]).args(options);
        command.args(self.files());
        command
    }

    fn files(&self) -> &[PathBuf] {
        &self.recorded.files[..3]
    }

    #[track_caller]
    fn add(&self, options: &[&str]) -> Outcome {
        run(&mut self.adding(URL, options))
    }

    /// The files of the same recordings in a folder's dataset.
    fn in_folder(&self, options: &[&str]) -> BTreeMap<String, Vec<u8>> {
        let folder = self.recorded.path("folder");
        run(&mut self.adding(folder.to_str().unwrap(), options)).expect(0);
        files_below(&folder)
    }

    fn objects(&self) -> BTreeMap<String, Vec<u8>> {
        let folder = tempfile::tempdir().unwrap();
        self.server
            .ask(&format!("copy a/b {}", folder.path().display()));
        files_below(folder.path())
    }

    fn manifests(&self) -> Vec<String> {
        let names = self.objects().into_keys();
        names.filter(|it| it.starts_with("_manifest/")).collect()
    }
}

/// The names that differ.
fn differences(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) -> Vec<String> {
    let names = a.keys().chain(b.keys());
    let other = names.filter(|name| a.get(*name) != b.get(*name));
    other.cloned().collect()
}

#[track_caller]
fn assert_same(a: &BTreeMap<String, Vec<u8>>, b: &BTreeMap<String, Vec<u8>>) {
    assert_eq!(differences(a, b), [""; 0]);
}

#[test]
fn a_store_has_the_files_of_a_folder_and_no_more_after_a_second_time() {
    let Some(fleet) = Fleet::new() else { return };
    let added = fleet.add(&["--run", "job"]).expect(0).err();
    assert!(added.contains("dataset s3://fleet/a/b: 3 added"), "{added}");
    assert_same(&fleet.objects(), &fleet.in_folder(&["--run", "job"]));
    let puts = fleet.server.number("puts");
    let again = fleet.add(&["--run", "job"]).expect(0).err();
    assert!(again.contains("0 added, 3 there before"), "{again}");
    assert_eq!(fleet.server.number("puts"), puts);
    // Another run: nothing is left in the one before.
    fleet.add(&["--run", "other"]).expect(0);
    fs::remove_dir_all(fleet.recorded.path("folder")).unwrap();
    assert_same(&fleet.objects(), &fleet.in_folder(&["--run", "other"]));
}

#[test]
fn leftovers_of_a_killed_command_are_completed() {
    let Some(fleet) = Fleet::new() else { return };
    let whole = fleet.in_folder(&["--run", "job"]);
    // In the first recording, and in the last.
    let tables = (whole.len() - 1) / 3 - 1;
    for room in [tables / 2, 2 * tables + 3] {
        fleet.server.ask(&format!("stall {room}"));
        let mut child = spawned(fleet.adding(URL, &["--run", "job", "--jobs", "1"]));
        until(|| fleet.server.number("waiting") > 0);
        child.kill().unwrap();
        child.wait().unwrap();
        fleet.server.ask("resume");
        let there = fleet.objects();
        assert!(
            fleet
                .manifests()
                .iter()
                .filter(|it| !it.contains("/."))
                .count()
                < 3
        );
        let parts = there.iter().filter(|it| it.0.ends_with(".parquet"));
        let wrong: Vec<_> = parts.filter(|it| whole.get(it.0) != Some(it.1)).collect();
        assert!(wrong.is_empty(), "half of a file: {wrong:?}");
    }
    let added = fleet.add(&["--run", "job"]).expect(0).err();
    assert!(added.contains("1 added, 2 there before"), "{added}");
    assert_same(&fleet.objects(), &whole);
    assert_eq!(fleet.server.number("uploads"), 0);
}

#[test]
fn a_killed_command_of_another_run_leaves_nothing() {
    let Some(fleet) = Fleet::new() else { return };
    fleet.server.ask("stall 4");
    let mut child = spawned(fleet.adding(URL, &["--run", "wrong", "--jobs", "1"]));
    until(|| fleet.server.number("waiting") > 0);
    child.kill().unwrap();
    child.wait().unwrap();
    fleet.server.ask("resume");
    assert!(fleet.objects().keys().any(|it| it.contains("run=wrong")));
    fleet.add(&["--run", "job"]).expect(0);
    assert_same(&fleet.objects(), &fleet.in_folder(&["--run", "job"]));
}

fn spawned(mut command: Command) -> Child {
    command.stdout(Stdio::null()).stderr(Stdio::null());
    command.spawn().unwrap()
}

#[test]
fn two_commands_at_the_same_time_leave_one_dataset() {
    let Some(fleet) = Fleet::new() else { return };
    let both = ["job", "job"].map(|name| spawned(fleet.adding(URL, &["--run", name])));
    for mut child in both {
        assert!(child.wait().unwrap().success());
    }
    assert_same(&fleet.objects(), &fleet.in_folder(&["--run", "job"]));
    // With two names for the run, one of them is refused, or comes later than the other.
    let both = ["one", "two"].map(|name| spawned(fleet.adding(URL, &["--run", name])));
    for mut child in both {
        let status = child.wait().unwrap().code();
        assert!(matches!(status, Some(0 | 2)), "{status:?}");
    }
    fleet.add(&["--run", "job"]).expect(0);
    let names = fleet.objects().into_keys();
    let others: Vec<_> = names
        .filter(|it| it.contains("run=") && !it.contains("run=job"))
        .collect();
    assert_eq!(others, [""; 0]);
}

#[test]
fn a_place_with_other_objects_is_refused() {
    let Some(fleet) = Fleet::new() else { return };
    fleet.server.ask("put a/b/notes");
    let refused = fleet.add(&[]).expect(2);
    assert_eq!(refused.said().len(), 1, "{refused}");
    assert!(
        refused
            .err()
            .contains("s3://fleet/a/b has files, and is no dataset"),
        "{refused}"
    );
    let mut whole = fleet.adding("s3://fleet", &[]);
    let refused = run(&mut whole).expect(2);
    assert!(
        one_line(&refused).contains("s3://fleet has files"),
        "{refused}"
    );
    // Objects above and next to it do not matter.
    let mut other = fleet.adding("s3://fleet/a/c/", &[]);
    run(&mut other).expect(0);
}

/// The only line that is said.
#[track_caller]
fn one_line(outcome: &Outcome) -> String {
    let said = outcome.said();
    assert_eq!(said.len(), 1, "{outcome}");
    assert!(!outcome.err().contains("secret-of-the-test"), "{outcome}");
    said[0].clone()
}

#[test]
fn each_trouble_is_one_clear_line() {
    let Some(fleet) = Fleet::new() else { return };
    let said = |command: &mut Command| one_line(&run(command).expect(2));
    let text = said(&mut fleet.adding("s3://nowhere/a", &[]));
    assert!(
        text.contains("s3://nowhere/a") && text.contains("no such bucket"),
        "{text}"
    );
    for wrong in ["s3://", "gs://fleet/a", "s3://fleet//a", "s3://fleet/a?b"] {
        let text = said(&mut fleet.adding(wrong, &[]));
        assert!(text.contains("write s3://BUCKET/PREFIX"), "{text}");
    }
    let text = said(fleet.adding(URL, &[]).env_remove("AWS_ALLOW_HTTP"));
    assert!(text.contains("set AWS_ALLOW_HTTP=true"), "{text}");
    let text = said(fleet.adding(URL, &[]).env_remove("AWS_SECRET_ACCESS_KEY"));
    assert!(
        text.contains("a variable for the object store is wrong"),
        "{text}"
    );
    // Nobody listens at this port.
    let away = "http://127.0.0.1:9";
    let text = said(fleet.adding(URL, &[]).env("AWS_ENDPOINT", away));
    assert!(
        text.contains("127.0.0.1:9 cannot be reached: check the network"),
        "{text}"
    );
    let mut command = fleet.adding(URL, &[]);
    command
        .env("AWS_METADATA_ENDPOINT", away)
        .env_remove("AWS_ACCESS_KEY_ID");
    let text = said(command.env_remove("AWS_SECRET_ACCESS_KEY"));
    assert!(text.contains("set AWS_ACCESS_KEY_ID"), "{text}");
    assert!(fleet.objects().is_empty());
}

#[test]
fn a_store_that_takes_no_tables_is_one_clear_line() {
    let Some(fleet) = Fleet::new() else { return };
    for (refusal, words) in [
        ("403 AccessDenied", "denies access"),
        ("507 XMinioStorageFull", "has no room"),
        ("400 QuotaExceeded", "has no room"),
    ] {
        fleet.server.refuse(Some(refusal));
        let text = one_line(&fleet.add(&["--jobs", "1"]).expect(2));
        assert!(
            text.contains("cannot write the dataset s3://fleet/a/b"),
            "{text}"
        );
        assert!(
            text.contains(words) && text.contains("No, said the test"),
            "{text}"
        );
    }
    fleet.server.refuse(None);
    fleet.add(&["--run", "job"]).expect(0);
    assert_same(&fleet.objects(), &fleet.in_folder(&["--run", "job"]));
}

#[test]
fn a_recording_is_added_at_its_end_or_the_command_for_it_is_shown() {
    let Some(fleet) = Fleet::new() else { return };
    let record = |script: &str, name: &str| {
        let mut command = fleet.tool();
        command.current_dir(fleet.recorded.path(""));
        command.args([
            "record",
            "--no-tui",
            "--dataset",
            URL,
            "--dataset-run",
            "night",
            "-o",
        ]);
        run(command.arg(name).args(["sh", "-c", script]))
    };
    record("exit 3", "one.atrace").expect(3);
    assert_eq!(fleet.manifests().len(), 1);
    let script = format!(
        "echo 403 AccessDenied > {}; exit 7",
        fleet.server.refusal().display()
    );
    let said = record(&script, "two.atrace").expect(7).err();
    assert!(said.contains("denies access"), "{said}");
    let command = "ascend-trace dataset add two.atrace --to s3://fleet/a/b --run night";
    assert!(said.contains(command), "{said}");
    // Before the program runs.
    let mut command = fleet.tool();
    command
        .current_dir(fleet.recorded.path(""))
        .args(["record", "--no-tui"]);
    command.args(["--dataset", "s3://nowhere/a", "touch", "ran"]);
    let refused = run(&mut command).expect(125);
    assert!(one_line(&refused).contains("no such bucket"), "{refused}");
    assert!(!fleet.recorded.path("ran").exists());
}

#[test]
fn clocks_are_aligned_in_the_store_and_queries_read_from_it() {
    let Some(fleet) = Fleet::new() else { return };
    let folder = fleet.recorded.path("folder");
    for to in [URL, folder.to_str().unwrap()] {
        let mut add = fleet.tool();
        add.args(["dataset", "add", "--run", "job", "--to", to]);
        run(add.args(&fleet.recorded.files)).expect(0);
        run(fleet.tool().args(["dataset", "align", to])).expect(0);
    }
    let objects = fleet.objects();
    assert!(objects.keys().any(|it| it.starts_with("clocks/")));
    assert_same(&objects, &files_below(&folder));
    run(fleet.tool().args(["dataset", "align", URL])).expect(0);
    assert_same(&fleet.objects(), &objects);
    let missing = run(fleet.tool().args(["dataset", "align", "s3://fleet/x"])).expect(2);
    assert!(
        one_line(&missing).contains("s3://fleet/x is no dataset"),
        "{missing}"
    );
    queries(&fleet, &folder);
}

/// The same rows from both.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn queries(fleet: &Fleet, folder: &Path) {
    for query in [
        "stragglers",
        "late-ends",
        "select count(*) as n, rank from calls group by rank order by rank",
    ] {
        let of = |data: &str| run(fleet.tool().args(["query", data, query, "--json"]));
        let found = of(URL);
        if found.err().contains("no engine for queries") {
            eprintln!("skipped: the command with object stores has no feature query");
            return;
        }
        let rows =
            |found: Outcome| -> Value { serde_json::from_str(&found.expect(0).out()).unwrap() };
        let (there, here) = (rows(found), rows(of(folder.to_str().unwrap())));
        assert_eq!(there, here, "{query}");
        assert!(!there["rows"].as_array().unwrap().is_empty(), "{query}");
    }
    let none = run(fleet.tool().args(["query", "s3://fleet/x", "stragglers"])).expect(2);
    assert!(
        one_line(&none).contains("s3://fleet/x is no dataset"),
        "{none}"
    );
}
