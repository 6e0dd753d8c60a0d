//! `dataset add`: recordings as Parquet tables in one folder.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::support::files::files_below;
use crate::support::{CsvRow, Outcome, Recording, Run, program, run, tool};

const TABLES: [&str; 15] = [
    "calls",
    "tasks",
    "dependencies",
    "stalls",
    "graphs",
    "findings",
    "ranges",
    "steps",
    "requests",
    "critical",
    "activities",
    "collectives",
    "losses",
    "processes",
    "devices",
];

fn recording(rank: &str) -> Recording {
    let run = Run::new(&program("many_streams"));
    let run = match rank {
        "" => run,
        rank => run.variable("RANK", rank),
    };
    run.traced()
}

/// A folder with a dataset.
struct Dataset {
    folder: tempfile::TempDir,
}

impl Dataset {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("fleet")
    }

    fn add(&self, files: &[&Path], options: &[&str]) -> Outcome {
        let mut command = tool();
        command.args(["dataset", "add", "--to"]).arg(self.root());
        run(command.args(options).args(files))
    }

    /// All files by their path in the dataset, with their content.
    fn files(&self) -> BTreeMap<String, Vec<u8>> {
        files_below(&self.root())
    }

    /// Which file each path is, and when it was written.
    fn states(&self) -> Vec<(String, u64, i64, i64)> {
        let state = |name: String| {
            let metadata = fs::metadata(self.root().join(&name)).unwrap();
            let (ino, sec, nsec) = (metadata.ino(), metadata.mtime(), metadata.mtime_nsec());
            (name, ino, sec, nsec)
        };
        self.files().into_keys().map(state).collect()
    }

    fn manifests(&self) -> Vec<(String, Value)> {
        let files = self.files().into_iter();
        let own = files.filter(|(name, _)| name.starts_with("_manifest/"));
        own.map(|(name, text)| (name, serde_json::from_slice(&text).unwrap()))
            .collect()
    }

    /// The only one.
    #[track_caller]
    fn manifest(&self) -> (String, Value) {
        let mut all = self.manifests();
        assert_eq!(all.len(), 1);
        all.remove(0)
    }

    /// The files of a table.
    fn parts(&self, table: &str) -> Vec<String> {
        let begin = format!("{table}/");
        let names = self.files().into_keys();
        names.filter(|name| name.starts_with(&begin)).collect()
    }
}

/// How many rows each table of an export has.
fn exported(recording: &Recording) -> BTreeMap<String, u64> {
    let folder = recording.beside("tables");
    let mut command = tool();
    command.arg("export").arg(recording.trace());
    command.args([
        "--format",
        "csv",
        "--critical",
        "--steps",
        "--force",
        "--output",
    ]);
    run(command.arg(&folder)).expect(0);
    let count = |table: &str| {
        let text = fs::read_to_string(folder.join(format!("{table}.csv"))).unwrap();
        CsvRow::all(&text).len() as u64
    };
    TABLES
        .iter()
        .map(|it| ((*it).to_owned(), count(it)))
        .collect()
}

fn rows(manifest: &Value) -> BTreeMap<String, u64> {
    let mut rows = BTreeMap::new();
    for file in manifest["files"].as_array().unwrap() {
        let table = file["table"].as_str().unwrap().to_owned();
        *rows.entry(table).or_default() += file["rows"].as_u64().unwrap();
    }
    rows
}

#[test]
fn recordings_become_files_of_their_run_host_and_rank() {
    let (a, b) = (recording("3"), recording(""));
    let dataset = Dataset::new();
    let added = dataset.add(&[&a.trace(), &b.trace()], &["--run", "job-7"]);
    assert!(added.expect(0).err().contains("2 added, 0 there before"));
    for table in TABLES {
        let parts = dataset.parts(table);
        assert_eq!(parts.len(), 2, "{parts:?}");
        for (part, rank) in parts.iter().zip(["3", "none"]) {
            let folders: Vec<&str> = part.split('/').collect();
            assert_eq!(folders[1], "run=job-7");
            assert!(folders[2].starts_with("host=") && folders[2] != "host=unknown");
            assert_eq!(folders[3], format!("rank={rank}"));
            let bytes = &dataset.files()[part];
            assert!(bytes.starts_with(b"PAR1") && bytes.ends_with(b"PAR1"));
        }
    }
    let schema: Value = serde_json::from_slice(&dataset.files()["_schema.json"]).unwrap();
    assert_eq!(schema["version"], 4);
    for (_, manifest) in dataset.manifests() {
        let rank = manifest["files"][0]["rank"].as_str().unwrap();
        let recording = if rank == "3" { &a } else { &b };
        assert_eq!(rows(&manifest), exported(recording));
        assert_eq!(manifest["source"], "t.atrace");
        let length = fs::metadata(recording.trace()).unwrap().len();
        assert_eq!(manifest["length"], length);
        for file in manifest["files"].as_array().unwrap() {
            let (table, rank) = (file["table"].as_str().unwrap(), file["rank"].as_str());
            let end = format!("rank={}/", rank.unwrap());
            let parts = dataset.parts(table).into_iter();
            let part = parts.into_iter().find(|it| it.contains(&end)).unwrap();
            assert_eq!(file["bytes"], dataset.files()[&part].len() as u64);
        }
    }
    let names: Vec<String> = dataset.files().into_keys().collect();
    assert!(!names.iter().any(|it| it.contains(".new")), "{names:?}");
}

#[test]
fn an_existing_recording_is_left_alone() {
    let recording = recording("0");
    let dataset = Dataset::new();
    dataset.add(&[&recording.trace()], &[]).expect(0);
    let (files, states) = (dataset.files(), dataset.states());
    let run = dataset.manifest().1["run"].as_str().unwrap().to_owned();
    assert!(run.ends_with("Z-many_streams"), "{run}");
    let copy = recording.beside("copy.atrace");
    fs::copy(recording.trace(), &copy).unwrap();
    let again = dataset.add(&[&copy], &[]).expect(0).err();
    assert!(again.contains("already there") && again.contains("0 added, 1 there before"));
    let twice = dataset.add(&[&copy, &recording.trace()], &["--jobs", "1"]);
    let said = twice.expect(0).err();
    assert!(said.contains("is the same recording as"), "{said}");
    assert!(dataset.files() == files);
    assert_eq!(dataset.states(), states);
}

#[test]
fn leftovers_of_an_interrupted_command_are_repaired() {
    let recording = recording("0");
    let dataset = Dataset::new();
    dataset.add(&[&recording.trace()], &[]).expect(0);
    let files = dataset.files();
    let (name, _) = dataset.manifest();
    let part = dataset.root().join(&dataset.parts("tasks")[0]);
    let cut = |length: usize| fs::write(&part, &fs::read(&part).unwrap()[..length]).unwrap();
    // Before there was a manifest.
    fs::remove_file(dataset.root().join(&name)).unwrap();
    cut(100);
    let added = dataset.add(&[&recording.trace()], &[]).expect(0).err();
    assert!(added.contains("1 added"), "{added}");
    assert!(dataset.files() == files);
    // A file that differs from its manifest.
    cut(10);
    dataset.add(&[&recording.trace()], &[]).expect(0);
    assert!(dataset.files() == files);
    fs::remove_file(&part).unwrap();
    dataset.add(&[&recording.trace()], &[]).expect(0);
    assert!(dataset.files() == files);
    // A manifest that was cut.
    fs::write(dataset.root().join(&name), b"{").unwrap();
    dataset.add(&[&recording.trace()], &[]).expect(0);
    assert!(dataset.files() == files);
}

#[test]
fn a_recording_that_has_changed_replaces_its_files() {
    let recording = recording("0");
    let dataset = Dataset::new();
    let whole = fs::read(recording.trace()).unwrap();
    let early = recording.beside("early.atrace");
    fs::write(&early, &whole[..whole.len() * 3 / 4]).unwrap();
    let status = dataset.add(&[&early], &["--run", "a"]).status;
    assert!(status == 0 || status == 3, "{status}");
    let (name, manifest) = dataset.manifest();
    assert_eq!(manifest["ended"], false);
    dataset
        .add(&[&recording.trace()], &["--run", "a"])
        .expect(0);
    let (same, manifest) = dataset.manifest();
    assert_eq!((name, &manifest["ended"]), (same, &Value::Bool(true)));
    assert_eq!(rows(&manifest), exported(&recording));
    // Another run: nothing is left in the one before.
    dataset
        .add(&[&recording.trace()], &["--run", "b"])
        .expect(0);
    for table in TABLES {
        let parts = dataset.parts(table);
        assert!(parts.len() == 1 && parts[0].contains("run=b"), "{parts:?}");
    }
}

#[test]
fn another_version_of_the_tables_is_refused() {
    let recording = recording("0");
    let dataset = Dataset::new();
    dataset.add(&[&recording.trace()], &[]).expect(0);
    let path = dataset.root().join("_schema.json");
    let mut schema: Value = serde_json::from_slice(&fs::read(&path).unwrap()).unwrap();
    let own = schema["version"].as_u64().unwrap();
    for (version, said) in [
        (own, "has other columns than this tool writes"),
        (99, "tables of version 99"),
    ] {
        schema["version"] = version.into();
        schema["tables"]["calls"] = Value::Array(Vec::new());
        fs::write(&path, schema.to_string()).unwrap();
        let files = dataset.files();
        let refused = dataset.add(&[&recording.trace()], &["--run", "x"]);
        let refused = refused.expect(2);
        assert_eq!(refused.said().len(), 1, "{refused}");
        assert!(refused.err().contains(said), "{refused}");
        assert!(refused.err().contains("another folder"), "{refused}");
        assert!(dataset.files() == files);
    }
    fs::write(&path, "{").unwrap();
    let damaged = dataset.add(&[&recording.trace()], &[]).expect(2);
    assert!(damaged.err().contains("is damaged"), "{damaged}");
}

#[test]
fn a_place_that_takes_no_files_is_one_clear_message() {
    let (a, b) = (recording("0"), recording("1"));
    let dataset = Dataset::new();
    // Not a folder.
    fs::write(dataset.root(), "a file").unwrap();
    let refused = dataset.add(&[&a.trace(), &b.trace()], &[]).expect(2);
    assert_eq!(refused.said().len(), 1, "{refused}");
    assert!(refused.err().contains("cannot write the dataset"));
    fs::remove_file(dataset.root()).unwrap();
    // A folder of other files.
    fs::create_dir(dataset.root()).unwrap();
    fs::write(dataset.root().join("notes"), "mine").unwrap();
    let refused = dataset.add(&[&a.trace()], &[]).expect(2);
    assert!(refused.err().contains("is no dataset"), "{refused}");
    fs::remove_file(dataset.root().join("notes")).unwrap();
    // No room for one of the tables.
    dataset.add(&[&a.trace()], &[]).expect(0);
    let before = dataset.files();
    fs::rename(
        dataset.root().join("stalls"),
        dataset.root().join("elsewhere"),
    )
    .unwrap();
    fs::write(dataset.root().join("stalls"), "a file").unwrap();
    let failed = dataset.add(&[&b.trace()], &[]).expect(2);
    assert_eq!(failed.said().len(), 1, "{failed}");
    assert!(failed.err().contains("cannot write the dataset"));
    fs::remove_file(dataset.root().join("stalls")).unwrap();
    fs::rename(
        dataset.root().join("elsewhere"),
        dataset.root().join("stalls"),
    )
    .unwrap();
    assert!(dataset.files() == before, "nothing is left of it");
    dataset.add(&[&b.trace()], &[]).expect(0);
    assert_eq!(dataset.manifests().len(), 2);
}

#[test]
fn files_that_cannot_be_read_keep_no_others_out() {
    let (a, b) = (recording("0"), recording("1"));
    let dataset = Dataset::new();
    let (missing, other) = (a.beside("missing.atrace"), a.beside("other.atrace"));
    fs::write(&other, "no trace").unwrap();
    let files: [&Path; 4] = [&missing, &a.trace(), &other, &b.trace()];
    let outcome = dataset.add(&files, &[]).expect(2);
    let said = outcome.err();
    assert!(
        said.contains("cannot open") && said.contains("2 added"),
        "{said}"
    );
    assert!(said.contains("2 not added"), "{said}");
    assert_eq!(dataset.manifests().len(), 2);
    // The valid part of a damaged file is exported, and the status is that of an export.
    let mut bytes = fs::read(a.trace()).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle..middle + 64].fill(0xff);
    let damaged = b.beside("damaged.atrace");
    fs::write(&damaged, bytes).unwrap();
    let mut export = tool();
    export.args(["export", "--format", "csv", "-o"]);
    let export = run(export.arg(b.beside("damaged")).arg(&damaged));
    let fresh = Dataset::new();
    let outcome = fresh.add(&[&damaged], &[]);
    assert_eq!(outcome.status, export.status, "{outcome}");
    assert_eq!(fresh.manifests().len(), 1);
    assert_eq!(fresh.add(&[&damaged], &[]).status, export.status);
}

#[test]
fn names_of_runs_are_names_of_folders() {
    let recording = recording("0");
    let dataset = Dataset::new();
    for wrong in ["a/b", "", "a=b", "../x"] {
        let refused = dataset.add(&[&recording.trace()], &[&format!("--run={wrong}")]);
        assert!(refused.expect(2).err().contains("the name of a run"));
    }
    assert!(!dataset.root().exists());
}

/// A python that has DuckDB.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn duckdb() -> Option<PathBuf> {
    let variable = "ASCEND_TRACE_QUERY_PYTHON";
    let named = std::env::var_os(variable).map(PathBuf::from);
    let python = named.clone().unwrap_or_else(|| "python3".into());
    let found = Command::new(&python).args(["-c", "import duckdb"]).output();
    let has_it = found.is_ok_and(|it| it.status.success());
    if !has_it {
        assert_eq!(named, None, "{variable} names a python without duckdb");
        eprintln!("skipped: python3 has no duckdb; {variable} can name one that has");
    }
    has_it.then_some(python)
}

/// Every row of the dataset is one of the exports, with its columns, and the other way round.
const COMPARISON: &str = "
import duckdb, sys
folder, table = sys.argv[1:]
def count(query): return duckdb.sql('SELECT count(*) FROM (' + query + ')').fetchall()[0][0]
types = \"{'run': VARCHAR, 'host': VARCHAR, 'rank': VARCHAR}\"
own = f\"read_parquet('{folder}/fleet/{table}/**/*.parquet', hive_partitioning = true, hive_types = {types})\"
other = f\"read_parquet('{folder}/*-parquet/{table}.parquet')\"
columns = [it[0] for it in duckdb.sql(f'DESCRIBE SELECT * FROM {other}').fetchall()]
names = [it[0] for it in duckdb.sql(f'DESCRIBE SELECT * FROM {own}').fetchall()]
assert set(names) == set(columns) | {'run', 'host', 'rank'}, names
ranks = 'rank' in columns
columns = [it for it in columns if it != 'rank']
chosen = ', '.join(f'\"{it}\"' for it in columns)
left, right = f'SELECT {chosen} FROM {own}', f'SELECT {chosen} FROM {other}'
if ranks:
    left = f'SELECT {chosen}, rank FROM {own}'
    right = f'SELECT {chosen}, CAST(rank AS VARCHAR) AS rank FROM {other}'
assert count(f'({left}) EXCEPT ALL ({right})') == 0
assert count(f'({right}) EXCEPT ALL ({left})') == 0
print(count(left))
";

/// The queries of docs/FLEET.md.
fn queries() -> Vec<String> {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/FLEET.md");
    let document = fs::read_to_string(document).unwrap();
    let blocks = document.split("```python\n").skip(1);
    let blocks = blocks.map(|it| it.split("```").next().unwrap_or_default().to_owned());
    blocks.collect()
}

#[test]
fn duckdb_finds_the_rows_of_the_exports() {
    let Some(python) = duckdb() else { return };
    let dataset = Dataset::new();
    let recordings = [recording("0"), recording("1")];
    for (place, recording) in recordings.iter().enumerate() {
        let folder = dataset.folder.path().join(format!("{place}-parquet"));
        let mut export = tool();
        export.args(["export", "--format", "parquet", "--critical", "--steps"]);
        run(export.arg("-o").arg(folder).arg(recording.trace())).expect(0);
        dataset
            .add(&[&recording.trace()], &["--run", "4711"])
            .expect(0);
    }
    for table in TABLES {
        let mut command = Command::new(&python);
        command.args(["-c", COMPARISON]);
        let found = run(command.arg(dataset.folder.path()).arg(table)).expect(0);
        let rows: u64 = recordings.iter().map(|it| exported(it)[table]).sum();
        assert_eq!(found.out().trim(), rows.to_string(), "{table}");
    }
    let mut queries = queries();
    assert_eq!(queries.len(), 3);
    // One of them needs hosts with collectives.
    queries.retain(|query| !query.contains("fleet/clocks"));
    assert_eq!(queries.len(), 2);
    for query in queries {
        let mut command = Command::new(&python);
        command.current_dir(dataset.folder.path());
        let found = run(command.args(["-c", &query])).expect(0);
        assert!(found.out().lines().count() > 4, "{query}\n{found}");
    }
}

/// A recording of a shell command, with `--dataset`.
fn recorded_into(dataset: &Dataset, script: &str, options: &[&str]) -> Outcome {
    let mut command = tool();
    command.current_dir(dataset.folder.path());
    command.args(["record", "--no-tui", "--dataset"]);
    command.arg(dataset.root()).args(options);
    run(command.args(["sh", "-c", script]))
}

#[test]
fn a_recording_is_added_at_its_end() {
    let dataset = Dataset::new();
    let options = ["-o", "one.atrace", "--dataset-run", "night"];
    recorded_into(&dataset, "exit 3", &options).expect(3);
    let (_, manifest) = dataset.manifest();
    assert_eq!(manifest["run"], "night");
    let trace = dataset.folder.path().join("one.atrace");
    let again = dataset.add(&[&trace], &["--run", "night"]).expect(0);
    assert!(again.err().contains("0 added, 1 there before"), "{again}");
}

#[test]
fn a_dataset_that_takes_no_recording_is_reported_before_and_after() {
    let dataset = Dataset::new();
    fs::create_dir(dataset.root()).unwrap();
    fs::write(dataset.root().join("notes"), "mine").unwrap();
    let ran = dataset.folder.path().join("ran");
    let refused = recorded_into(&dataset, "touch ran", &[]).expect(125);
    assert!(refused.err().contains("is no dataset"), "{refused}");
    assert!(!ran.exists(), "the program ran");
    fs::remove_file(dataset.root().join("notes")).unwrap();
    let refused = recorded_into(&dataset, "touch ran", &["-o", "-"]).expect(125);
    assert!(refused.err().contains("-o - writes none"), "{refused}");
    assert!(!ran.exists(), "the program ran");
    // The folder goes while the program runs.
    let script = "rm -r fleet; touch fleet; exit 7";
    let outcome = recorded_into(&dataset, script, &["-o", "two.atrace"]).expect(7);
    let said = outcome.err();
    assert!(said.contains("cannot write the dataset"), "{said}");
    let command = "ascend-trace dataset add two.atrace --to ";
    assert!(said.contains(command), "{said}");
    fs::remove_file(dataset.root()).unwrap();
    let trace = dataset.folder.path().join("two.atrace");
    dataset.add(&[&trace], &[]).expect(0);
}

#[test]
fn a_url_needs_a_build_with_object_stores() {
    if cfg!(feature = "object-store") {
        return;
    }
    let recording = recording("0");
    let folder = tempfile::tempdir().unwrap();
    let said = |words: &[&str], status| {
        let mut command = tool();
        command.current_dir(folder.path()).args(words);
        let refused = run(&mut command).expect(status);
        assert_eq!(refused.said().len(), 1, "{refused}");
        refused.said().remove(0)
    };
    let trace = recording.trace();
    let url = "s3://fleet/a";
    for text in [
        said(&["dataset", "add", trace.to_str().unwrap(), "--to", url], 2),
        said(&["dataset", "align", url], 2),
        said(
            &["record", "--no-tui", "--dataset", url, "touch", "ran"],
            125,
        ),
    ] {
        assert!(text.starts_with(url), "{text}");
        assert!(
            text.contains("build it with --features object-store"),
            "{text}"
        );
    }
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 0);
    // A folder of this name.
    let mut command = tool();
    command.current_dir(folder.path());
    command.args(["dataset", "add", "--to", "./s3://fleet"]);
    run(command.arg(&trace)).expect(0);
    assert!(folder.path().join("s3:/fleet/_schema.json").exists());
}
