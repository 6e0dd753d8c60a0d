use std::fs;
use std::path::Path;
use std::process::Command;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::record::Field;
use ascend_trace_export::{Csv, Parquet};
use ascend_trace_recording::Trace;
use bytes::Bytes;

use super::memory::{MemorySink, export};
use super::tools::{example, python, skip, succeed};

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

fn reader(files: &MemorySink, table: &str) -> SerializedFileReader<Bytes> {
    let bytes = files.bytes(&format!("{table}.parquet")).to_vec();
    SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file")
}

/// A table as CSV would have it: the header, then the rows.
fn table(files: &MemorySink, name: &str) -> Vec<Vec<String>> {
    let reader = reader(files, name);
    let schema = reader.metadata().file_metadata().schema_descr();
    let header = schema.columns().iter().map(|it| it.name().to_owned());
    let mut lines = vec![header.collect::<Vec<_>>()];
    for row in reader.get_row_iter(None).expect("rows") {
        let row = row.expect("a row");
        let text = |(_, field): (&String, &Field)| match field {
            Field::Null => String::new(),
            Field::Long(value) => value.to_string(),
            Field::ULong(value) => value.to_string(),
            Field::Str(value) => value.clone(),
            other => panic!("{other:?}"),
        };
        lines.push(row.get_column_iter().map(text).collect());
    }
    lines
}

/// Every cell is that of the CSV table.
#[track_caller]
pub(crate) fn check(trace: &Trace) {
    check_files(&export(&Parquet, trace), &export(&Csv, trace));
}

/// The same of files.
#[track_caller]
pub(crate) fn check_files(columns: &MemorySink, text: &MemorySink) {
    for name in TABLES {
        let mut reader = ::csv::ReaderBuilder::new();
        let reader = reader.has_headers(false);
        let file = text.text(&format!("{name}.csv"));
        let rows = reader.from_reader(file.as_bytes()).into_deserialize();
        let expected: Vec<Vec<String>> = rows.collect::<Result<_, _>>().expect("valid CSV");
        assert_eq!(table(columns, name), expected, "{name}");
    }
}

#[test]
fn every_cell_is_that_of_the_csv_tables() {
    check(&example());
    check(&Trace::default());
}

#[test]
fn numbers_are_numbers_and_the_recording_is_described() {
    let files = export(&Parquet, &example());
    let reader = reader(&files, "tasks");
    let file = reader.metadata().file_metadata();
    let schema = file.schema_descr();
    let types: Vec<_> = ["begin_ns", "bytes", "name"]
        .map(|name| {
            let all = schema.columns().iter();
            let column = all
                .clone()
                .find(|it| it.name() == name)
                .expect("the column");
            format!("{:?}", column.logical_type_ref().expect("a type"))
        })
        .to_vec();
    assert!(types[0].contains("is_signed: true"), "{types:?}");
    assert!(types[1].contains("is_signed: false"), "{types:?}");
    assert_eq!(types[2], "String");
    let entries = file.key_value_metadata().expect("entries");
    let about = entries.iter().find(|it| it.key == "ascend-trace");
    let about = about.and_then(|it| it.value.clone()).expect("a text");
    let about: serde_json::Value = serde_json::from_str(&about).expect("JSON");
    assert_eq!(about["tool"], "ascend-trace");
}

/// The blocks of this language in a document.
fn blocks(text: &str, language: &str) -> Vec<String> {
    let fence = format!("```{language}\n");
    let parts = text.split(&fence).skip(1);
    let blocks = parts.map(|part| part.split("```").next().unwrap_or_default());
    blocks.map(str::to_owned).collect()
}

#[test]
fn the_queries_of_the_documentation_run_where_their_packages_are() {
    let document = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../docs/EXPORT.md");
    let document = fs::read_to_string(document).expect("the document");
    let queries = blocks(&document, "python");
    assert!(queries.len() >= 3);
    let folder = tempfile::tempdir().expect("a folder");
    let tables = folder.path().join("run-parquet");
    fs::create_dir(&tables).expect("a folder");
    let files = export(&Parquet, &example());
    for name in files.names() {
        fs::write(tables.join(name), files.bytes(name)).expect("a file");
    }
    for query in queries {
        let imports = query
            .lines()
            .filter_map(|line| line.strip_prefix("import "));
        let packages = imports.map(|it| it.split(' ').next().unwrap_or_default());
        let mut packages: Vec<_> = packages.collect();
        if packages.contains(&"pandas") {
            packages.push("pyarrow");
        }
        let Some(python) = python("ASCEND_TRACE_QUERY_PYTHON", &packages.join(", ")) else {
            continue;
        };
        let mut command = Command::new(python);
        command.current_dir(folder.path()).args(["-c", &query]);
        let output = succeed(&mut command);
        let printed = String::from_utf8_lossy(&output.stdout);
        assert!(printed.lines().count() > 2, "{query}\n{printed}");
        assert!(printed.contains('A'), "a task's name: {printed}");
    }
    if document.is_empty() {
        skip("there is no document");
    }
}
