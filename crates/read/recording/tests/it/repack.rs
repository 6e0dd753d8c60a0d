//! Files that are rewritten in larger chunks.

use ascend_trace_recording::file::{Writer, repack};
use ascend_trace_recording::rows::{EndRow, TablesRow};
use ascend_trace_testkit::workload;

use crate::round_trip::{by_kind, program, read};
use crate::windows::chunks;

/// A recording that was flushed often, with each function described at its first call.
fn in_small_chunks() -> Vec<u8> {
    let (session, mut tables) = workload::leading();
    let functions = std::mem::take(&mut tables.functions);
    let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    for (first, function) in (0..).zip(functions) {
        writer.push_tables(TablesRow {
            first,
            functions: vec![function],
            ..TablesRow::default()
        });
        writer.flush().unwrap();
    }
    for rows in program(500).chunks(200) {
        rows.iter().for_each(|row| writer.push(row).unwrap());
        writer.flush().unwrap();
    }
    writer.finish(EndRow::default()).unwrap()
}

#[test]
fn a_file_of_small_chunks_becomes_shorter_and_loses_nothing() {
    let small = in_small_chunks();
    let large = repack(small.as_slice(), Vec::new()).unwrap().unwrap();
    assert!(
        large.len() * 4 < small.len() * 3,
        "{} {}",
        large.len(),
        small.len()
    );
    let (before, _) = read(&small);
    let (after, warnings) = read(&large);
    assert_eq!(warnings, []);
    assert_eq!(after.session, before.session);
    assert_eq!(after.tables, workload::leading().1);
    assert_eq!(by_kind(&after.rows), by_kind(&before.rows));
    let again = repack(large.as_slice(), Vec::new()).unwrap().unwrap();
    // Rows come in another order than before, and so pack a little better or worse.
    assert!(
        again.len() * 100 <= large.len() * 101,
        "{} {}",
        again.len(),
        large.len()
    );
}

#[test]
fn a_file_that_is_damaged_or_has_no_end_is_left_alone() {
    let whole = in_small_chunks();
    let (end, ..) = *chunks(&whole).last().unwrap();
    assert!(repack(&whole[..end], Vec::new()).unwrap().is_none());
    assert!(
        repack(&whole[..whole.len() / 2], Vec::new())
            .unwrap()
            .is_none()
    );
    let mut damaged = whole;
    let middle = damaged.len() / 2;
    damaged[middle] ^= 1;
    assert!(repack(damaged.as_slice(), Vec::new()).unwrap().is_none());
    assert!(repack(&b"something else"[..], Vec::new()).is_err());
}

#[test]
fn an_output_that_fails_is_an_error() {
    let mut room = [0; 1000];
    assert!(repack(in_small_chunks().as_slice(), &mut room[..]).is_err());
}
