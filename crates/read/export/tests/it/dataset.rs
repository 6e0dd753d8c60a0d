use std::collections::BTreeMap;

use ::parquet::file::reader::{FileReader, SerializedFileReader};
use ::parquet::file::serialized_reader::ReadOptionsBuilder;
use ascend_trace_export::{Dataset, Parquet, WindowSize, dataset_schema};
use ascend_trace_recording::Trace;
use bytes::Bytes;

use super::kineto::ranked;
use super::memory::{MemorySink, export, export_file};
use super::stream::{SMALL, file};
use super::tools::EXAMPLE;

type DatasetRow = BTreeMap<String, String>;

/// The rows of a file, without the rank.
fn rows(files: &MemorySink, name: &str) -> Vec<DatasetRow> {
    let bytes = Bytes::from(files.bytes(name).to_vec());
    let reader = SerializedFileReader::new(bytes).expect("a Parquet file");
    let rows = reader.get_row_iter(None).expect("rows");
    let row = |row: ::parquet::record::Row| {
        let cells = row.get_column_iter().filter(|(name, _)| *name != "rank");
        cells
            .map(|(name, value)| (name.clone(), value.to_string()))
            .collect()
    };
    rows.map(|it| row(it.expect("a row"))).collect()
}

fn tables() -> Vec<String> {
    let schema = dataset_schema();
    let tables = schema["tables"].as_object().expect("tables");
    tables.keys().cloned().collect()
}

/// The rows of all ranks are those of the export, each in one of them.
#[track_caller]
fn check(trace: &Trace, ranks: &[&str]) {
    let (parts, whole) = (export(&Dataset::of(trace), trace), export(&Parquet, trace));
    assert_eq!(parts.names().len(), ranks.len() * tables().len());
    for table in tables() {
        let of_rank = |rank: &&str| rows(&parts, &format!("rank={rank}/{table}.parquet"));
        let mut found: Vec<DatasetRow> = ranks.iter().flat_map(of_rank).collect();
        let mut expected = rows(&whole, &format!("{table}.parquet"));
        if ranks.len() > 1 {
            found.sort();
            expected.sort();
        }
        assert_eq!(found, expected, "{table}");
    }
}

#[test]
fn a_recording_of_one_rank_is_as_its_export() {
    check(&ranked(EXAMPLE, &["5", "5"]), &["5"]);
    check(&ranked(EXAMPLE, &["", ""]), &["none"]);
    check(&Trace::default(), &["none"]);
}

#[test]
fn a_recording_of_several_ranks_is_split() {
    let trace = ranked(EXAMPLE, &["1", "0"]);
    check(&trace, &["0", "1"]);
    let parts = export(&Dataset::of(&trace), &trace);
    let names = |rank: &str| {
        let rows = rows(&parts, &format!("rank={rank}/tasks.parquet"));
        let names = rows.iter().map(|it| it["name"].clone());
        names.collect::<Vec<_>>()
    };
    assert!(names("0").contains(&"\"D\"".to_owned()), "{:?}", names("0"));
    assert!(!names("1").contains(&"\"D\"".to_owned()));
    check(&ranked(EXAMPLE, &["3", ""]), &["none", "3"]);
}

#[test]
fn parts_of_a_file_give_the_rows_of_all_of_it() {
    let text = format!("{EXAMPLE}\np2.t1: sync(s1)[90us..91us] sync()[92us..93us]");
    let mut timeline = ascend_trace_testkit::Timeline::of(&text);
    let mut number = 0;
    for row in &mut timeline.rows {
        if let ascend_trace_recording::rows::Row::Process(process) = row {
            process.rank = number.to_string();
            number += 1;
        }
    }
    let exporter = Dataset::of(&timeline.trace());
    let file = file(&timeline.session, &timeline.tables, timeline.rows);
    let whole = export_file(&exporter, &file, WindowSize::WHOLE);
    let parts = export_file(&exporter, &file, SMALL);
    for name in whole.names() {
        let (mut found, mut expected) = (rows(&parts, name), rows(&whole, name));
        found.sort();
        expected.sort();
        assert_eq!(found, expected, "{name}");
    }
}

/// The columns of the files are those of `_schema.json`: none is a partition column.
#[test]
fn files_have_the_columns_of_the_schema() {
    let trace = ranked(EXAMPLE, &["1", "0"]);
    let files = export(&Dataset::of(&trace), &trace);
    let schema = dataset_schema();
    for table in tables() {
        let bytes = files.bytes(&format!("rank=0/{table}.parquet")).to_vec();
        let reader = SerializedFileReader::new(Bytes::from(bytes)).expect("a Parquet file");
        let columns = reader.metadata().file_metadata().schema_descr().columns();
        let found: Vec<&str> = columns.iter().map(|it| it.name()).collect();
        let listed = schema["tables"][&table].as_array().expect("columns");
        let listed: Vec<&str> = listed.iter().filter_map(|it| it["name"].as_str()).collect();
        assert_eq!(found, listed, "{table}");
        for partition in schema["partitions"].as_array().expect("partitions") {
            let partition = partition.as_str().expect("a name");
            assert!(!found.contains(&partition), "{table}: {partition}");
        }
    }
    let units = |name: &str| {
        let columns = schema["tables"]["tasks"].as_array().expect("columns");
        let column = columns.iter().find(|it| it["name"] == name);
        column.expect("the column")["unit"].clone()
    };
    assert_eq!(units("begin_ns"), "ns");
    assert_eq!(units("bytes"), "bytes");
    assert!(units("name").is_null());
}

#[test]
fn readers_find_pages_by_an_index() {
    let trace = ranked(EXAMPLE, &["1", "0"]);
    let files = export(&Dataset::of(&trace), &trace);
    let bytes = files.bytes("rank=1/tasks.parquet").to_vec();
    let options = ReadOptionsBuilder::new().with_page_index().build();
    let reader = SerializedFileReader::new_with_options(Bytes::from(bytes), options);
    let reader = reader.expect("a Parquet file");
    let group = reader.metadata().row_group(0);
    let place = |name: &str| {
        let columns = group.columns().iter();
        let mut names = columns.map(|it| it.column_path().string());
        names.position(|it| it == name).expect("the column")
    };
    let begin = group.column(place("begin_ns"));
    assert!(begin.statistics().is_some() && begin.column_index_offset().is_some());
    assert!(
        group
            .columns()
            .iter()
            .all(|it| it.offset_index_offset().is_some())
    );
}
