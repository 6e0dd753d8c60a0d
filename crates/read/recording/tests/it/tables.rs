//! Functions that a file describes at their first call.

use ascend_trace_recording::file::Writer;
use ascend_trace_recording::rows::*;
use ascend_trace_recording::{Recording, Trace};
use ascend_trace_testkit::whole::from_rows;

use crate::round_trip::read;
use crate::windows::chunks;

fn function(name: &str) -> FunctionRow {
    FunctionRow {
        name: name.to_owned(),
        ret: "error".to_owned(),
        ..FunctionRow::default()
    }
}

fn call(function: u16) -> Row {
    Row::Call(CallRow {
        function,
        begin_ns: 1000 + i64::from(function),
        end_ns: 2000,
        ..CallRow::default()
    })
}

fn constants(codes: &[(i64, &str)]) -> TablesRow {
    let codes = codes.iter().map(|(code, name)| (*code, (*name).to_owned()));
    TablesRow {
        enumerations: [("aclError".to_owned(), codes.collect())].into(),
        ..TablesRow::default()
    }
}

/// Three functions, each described before its first call; a group of the index after each.
fn file() -> Vec<u8> {
    let first = constants(&[(0, "ACL_SUCCESS")]);
    let writer = Writer::create(Vec::new(), &SessionRow::default(), &first).unwrap();
    let mut writer = writer.with_index_every(2);
    for (number, name) in (0..).zip(["one", "two", "three"]) {
        writer.push_tables(TablesRow {
            first: number,
            functions: vec![function(name)],
            ..constants(&[(i64::from(number) + 7, name)])
        });
        writer.push(call(number)).unwrap();
        writer.push(call(0)).unwrap();
        writer.flush().unwrap();
    }
    writer.finish(EndRow::default()).unwrap()
}

fn names(trace: &Trace) -> Vec<&str> {
    let functions = trace.functions().iter();
    functions.map(|it| it.name.as_str()).collect()
}

#[test]
fn they_have_their_names_however_the_file_is_read() {
    let file = file();
    let (contents, warnings) = read(&file);
    assert_eq!(warnings, []);
    assert_eq!(contents.tables.functions[2], function("three"));
    let codes = &contents.tables.enumerations["aclError"];
    assert_eq!(codes.keys().copied().collect::<Vec<_>>(), [0, 7, 8, 9]);
    let trace = from_rows(contents.session, contents.tables, contents.rows);
    assert_eq!(names(&trace), ["one", "two", "three"]);

    let mut recording = Recording::from_bytes(file.clone()).unwrap();
    assert_eq!(names(recording.entities()), ["one", "two", "three"]);
    let window = recording.window((1002, 1002), 10).unwrap();
    assert_eq!(names(&window), ["one", "two", "three"]);

    // Without the list of indexes, which is only in a file that has ended.
    let (root, ..) = *chunks(&file).iter().find(|it| it.2 == *b"ROOT").unwrap();
    let growing = Recording::from_bytes(file[..root].to_vec()).unwrap();
    assert_eq!(names(growing.entities()), ["one", "two", "three"]);
}

#[test]
fn one_that_is_lost_leaves_the_others_their_names() {
    let mut file = file();
    let all = chunks(&file);
    let (second, ..) = *all.iter().filter(|it| it.2 == *b"TABL").nth(2).unwrap();
    file[second + 25] ^= 1;
    let (contents, warnings) = read(&file);
    assert_eq!(warnings.len(), 1);
    assert_eq!(contents.tables.functions[1], FunctionRow::default());
    assert_eq!(contents.tables.functions[2], function("three"));
    let recording = Recording::from_bytes(file).unwrap();
    assert_eq!(names(recording.entities()), ["one", "function 1", "three"]);
}
