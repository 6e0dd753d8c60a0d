//! The forms that columns have, and the ways in which payloads are packed.

use ascend_trace_recording::file::LostContent;
use ascend_trace_recording::rows::*;
use ascend_trace_testkit::bytes::{Column, TraceBytes, packed_as_zstandard};

use super::{SESSION, TABLES, numbers, read, rows};

fn thread(thread: u32, process: u32, tid: u32, name: &str) -> Row {
    Row::Thread(ThreadRow {
        thread,
        process,
        tid,
        handle: 0,
        name: name.into(),
    })
}

#[test]
fn columns_of_every_form() {
    let columns = [
        numbers(&[1, 300, 70_000]).split(),
        numbers(&[400]).same(),
        numbers(&[128, 5, 1 << 20]).split(),
        Column::texts(&["a", "b", ""]),
    ];
    let expected = [
        thread(1, 400, 128, "a"),
        thread(300, 400, 5, "b"),
        thread(70_000, 400, 1 << 20, ""),
    ];
    assert_eq!(rows(b"THRD", 3, &columns), expected);
}

#[test]
fn a_first_column_that_is_too_short_for_its_rows_is_refused() {
    for first in [
        numbers(&[1]).same(),
        numbers(&[300]),
        numbers(&[300]).split(),
    ] {
        let columns = [first, numbers(&[1]).same(), numbers(&[1]).same(), {
            Column::texts(&["a", "b", "c"])
        }];
        let file = TraceBytes::with_leading_chunks(SESSION, TABLES).table(b"THRD", 3, &columns);
        let (contents, warnings) = read(file.into_bytes());
        assert!(contents.rows.is_empty(), "{:?}", contents.rows);
        assert!(
            matches!(warnings[0].lost, LostContent::Rows { read: 0, .. }),
            "{warnings:?}"
        );
    }
}

#[test]
fn arguments_by_code() {
    // 7 × 9E3779B97F4A7C15, as a number of 64 bits, begins with these ten bits.
    let place = 334;
    let zeros = || numbers(&[0]).same();
    let columns = [
        numbers(&[1, 1, 1]),
        numbers(&[0, 0, 1]),
        zeros(),
        zeros(),
        zeros(),
        zeros(),
        zeros(),
        zeros(),
        zeros(),
        zeros(),
        numbers(&[]),
        zeros(),
        numbers(&[]),
        numbers(&[]),
        numbers(&[2, 2, 2]),
        Column::signed(&[7, 100, -1]),
        zeros(),
        numbers(&[]),
        Column::texts(&[]),
        numbers(&[]),
        numbers(&[1, 1, 0, 1, place + 2, 0]),
        numbers(&[]),
    ];
    let args: Vec<Vec<u64>> = rows(b"CALL", 3, &columns)
        .into_iter()
        .map(|row| match row {
            Row::Call(row) => row.args,
            _ => panic!("{row:?}"),
        })
        .collect();
    // The third call is of another function, with last words of 0.
    assert_eq!(args, [[7, 100], [7, 99], [7, 0]]);
}

#[test]
fn payloads_that_are_packed_as_zstandard() {
    let plain = [
        &1u32.to_le_bytes()[..],
        &4u32.to_le_bytes(),
        &[1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0],
        &[3, 1, 77, 1, b'x'],
    ]
    .concat();
    let file = TraceBytes::with_leading_chunks(SESSION, TABLES)
        .chunk(b"THRD", &packed_as_zstandard(&plain));
    let (contents, _) = read(file.into_bytes());
    assert_eq!(contents.rows, [thread(3, 1, 77, "x")]);
}
