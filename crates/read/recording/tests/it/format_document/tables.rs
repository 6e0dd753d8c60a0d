//! The tables of the document are what rows are declared with.

use std::fmt::Write;
use std::fs;

use ascend_trace_format::api::TaskKind;
use ascend_trace_recording::rows::{TABLES, TableText};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../docs/FORMAT.md");
const HEAD: &str = "| column | type | what |\n|---|---|---|\n";
/// With this variable set, the test writes the tables instead of comparing them.
const UPDATE: &str = "UPDATE_EXPECT";

fn name(table: &TableText) -> &str {
    str::from_utf8(&table.kind).unwrap()
}

fn written(table: &TableText) -> String {
    let mut text = HEAD.to_owned();
    for (number, column) in table.columns.iter().enumerate() {
        let (kind, what) = (column.kind, column.what.trim());
        writeln!(text, "| {number} | {kind} | {what} |").unwrap();
    }
    text
}

/// The document with the tables as they are declared: each is the first one below its heading.
fn with_tables(document: &str) -> String {
    let mut text = document.to_owned();
    for table in TABLES {
        let heading = format!("\n### `{}`: ", name(table));
        let section = text.find(&heading).expect(&heading) + heading.len();
        let begin = section + text[section..].find(HEAD).expect(&heading);
        let next = section
            + text[section..]
                .find("\n#")
                .expect("the index comes after them");
        assert!(begin < next, "{heading} has no table");
        let end = begin + text[begin..].find("\n\n").unwrap() + 1;
        text.replace_range(begin..end, &written(table));
    }
    text
}

#[test]
fn the_document_has_the_tables_that_are_declared() {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let expected = with_tables(&document);
    if document != expected && std::env::var_os(UPDATE).is_some() {
        return fs::write(DOCUMENT, expected).unwrap();
    }
    assert_eq!(document, expected, "{UPDATE}=1 writes the tables");
}

#[test]
fn the_document_names_the_kinds_that_the_index_keeps() {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let begin = document
        .find("Section 2, one row per chunk of kind")
        .unwrap();
    let sentence = document[begin..].split(':').next().unwrap();
    for table in TABLES {
        let is_named = sentence.contains(&format!("`{}`", name(table)));
        assert_eq!(is_named, table.is_entity, "{}", name(table));
    }
}

#[test]
fn the_document_has_every_kind_of_task() {
    let document = fs::read_to_string(DOCUMENT).unwrap();
    let words = document.split_whitespace().collect::<Vec<_>>().join(" ");
    let kinds = TaskKind::ALL.iter();
    let kinds: Vec<_> = kinds
        .map(|it| format!("{} {}", it.code(), it.name()))
        .collect();
    let sentence = format!("Kinds of task: {}.", kinds.join(", "));
    assert!(words.contains(&sentence), "{sentence}");
}
