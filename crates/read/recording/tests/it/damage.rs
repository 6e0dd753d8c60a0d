use std::collections::BTreeMap;

use ascend_trace_recording::file::{self, LostContent, OpenError};
use ascend_trace_recording::rows::*;
use ascend_trace_recording::{Recording, Trace};
use ascend_trace_testkit::bytes::{self, Column, TraceBytes};
use ascend_trace_testkit::whole::{GrowingRecording, from_rows};
use ascend_trace_testkit::workload;
use proptest::prelude::*;

use crate::round_trip::{program, read, write};

/// A small file with several chunks of each kind, and its rows by kind.
fn small_file() -> (Vec<u8>, Vec<Row>) {
    let rows = program(1);
    let (session, mut tables) = workload::leading();
    tables.functions.truncate(1);
    let mut writer = file::Writer::create(Vec::new(), &session, &tables).unwrap();
    for (place, row) in rows.iter().enumerate() {
        writer.push(row).unwrap();
        if place % 30 == 29 {
            writer.flush().unwrap();
        }
    }
    (writer.finish(EndRow::default()).unwrap(), rows)
}

/// Where each chunk of a sound file begins, and its kind.
fn chunks(bytes: &[u8]) -> Vec<(usize, [u8; 4])> {
    let mut chunks = Vec::new();
    let mut at = 16;
    while at < bytes.len() {
        let kind = bytes[at + 4..at + 8].try_into().unwrap();
        let length = u32::from_le_bytes(bytes[at + 8..at + 12].try_into().unwrap());
        chunks.push((at, kind));
        at += 20 + length as usize;
    }
    chunks
}

/// Reads a file's bytes into a trace as well: rows that make sense separately may contradict each
/// other.
fn load(bytes: &[u8]) -> Option<Trace> {
    let (contents, _) = file::read(bytes).ok()?;
    Some(from_rows(contents.session, contents.tables, contents.rows))
}

/// What keeps its order in a file, by kind and stream. Of counters only the largest values are written.
fn in_order(rows: &[Row]) -> BTreeMap<(String, u32, u32), Vec<&Row>> {
    let mut all = BTreeMap::<_, Vec<&Row>>::new();
    for row in rows {
        let (process, stream) = match row {
            Row::TaskTime(row) => (row.process, row.stream),
            Row::Counter(_) => continue,
            _ => (0, 0),
        };
        let kind = format!("{:?}", std::mem::discriminant(row));
        all.entry((kind, process, stream)).or_default().push(row);
    }
    all
}

#[test]
fn a_file_cut_at_any_byte_keeps_every_whole_chunk() {
    let (bytes, rows) = small_file();
    let chunks = chunks(&bytes);
    let whole = in_order(&rows);
    for cut in 0..bytes.len() {
        let part = &bytes[..cut];
        if cut < 16 {
            let error = file::read(part).unwrap_err();
            assert!(
                matches!(error, OpenError::Empty | OpenError::Short(_)),
                "{cut}: {error}"
            );
            continue;
        }
        let (contents, warnings) = read(part);
        let ends = chunks.iter().map(|(at, _)| *at).chain([bytes.len()]);
        let last = ends.filter(|end| *end <= cut).max().unwrap();
        let tail = warnings.iter().find_map(|warning| match warning.lost {
            LostContent::Tail(bytes) => Some((warning.offset as usize, bytes as usize)),
            _ => None,
        });
        assert_eq!(
            tail,
            (last < cut).then_some((last, cut - last)),
            "cut at {cut}"
        );
        assert!(
            warnings
                .iter()
                .any(|warning| warning.lost == LostContent::End)
        );
        for (of, part) in in_order(&contents.rows) {
            assert!(whole[&of].starts_with(&part), "cut at {cut}");
        }
        let calls = |end: usize| {
            chunks
                .iter()
                .filter(move |(at, kind)| kind == b"CALL" && *at < end)
        };
        if calls(last).count() > 0 {
            assert!(contents.rows.iter().any(|row| matches!(row, Row::Call(_))));
        }
    }
}

#[test]
fn a_file_cut_at_any_byte_is_damaged_unless_it_grows() {
    let (bytes, _) = small_file();
    for cut in 16..bytes.len() {
        let mut recording = Recording::from_bytes(bytes[..cut].to_vec()).unwrap();
        recording.check().unwrap();
        let damage = |recording: &Recording| -> Vec<String> {
            let warnings = recording.final_warnings();
            let damage = warnings.iter().filter(|it| it.is_damage());
            damage.map(ToString::to_string).collect()
        };
        let missing = damage(&recording);
        let has_end = |it: &&String| it.contains("no end after offset");
        assert_eq!(
            missing.iter().filter(has_end).count(),
            1,
            "{cut}: {missing:?}"
        );
        assert!(!recording.entities().is_complete());
        recording.set_growing(true);
        assert_eq!(damage(&recording), [""; 0], "{cut}");
        assert_eq!(recording.final_warnings().len(), 1, "{cut}");
    }
    let mut recording = Recording::from_bytes(bytes).unwrap();
    recording.check().unwrap();
    assert_eq!(recording.final_warnings(), []);
    assert!(recording.entities().is_complete());
}

#[test]
fn a_flipped_bit_costs_the_chunk_it_hits_and_no_other() {
    let (bytes, rows) = small_file();
    let chunks = chunks(&bytes);
    for place in 16..bytes.len() {
        let mut damaged = bytes.clone();
        damaged[place] ^= 1 << (place % 8);
        let hit = chunks.iter().rposition(|(at, _)| *at <= place).unwrap();
        let (at, kind) = chunks[hit];
        let (contents, warnings) = read(&damaged);
        let has_warned = warnings.iter().any(|warning| {
            warning.offset == at as u64
                && matches!(
                    warning.lost,
                    LostContent::Bytes(_) | LostContent::Chunk { .. } | LostContent::Tail(_)
                )
        });
        assert!(has_warned, "{place} in {kind:?} at {at}: {warnings:?}");
        let mut without = bytes[..at].to_vec();
        without.extend(
            chunks
                .get(hit + 1)
                .map_or(&[][..], |(next, _)| &bytes[*next..]),
        );
        let expected = read(&without).0;
        assert_eq!(contents.rows, expected.rows, "{place} in {kind:?} at {at}");
        assert!(contents.rows.len() <= rows.len() + 1);
    }
}

#[test]
fn rubbish_between_chunks_is_passed_over() {
    let thread = [1, 2, 3].map(|number| {
        [
            Column::numbers(&[number]),
            Column::numbers(&[1]),
            Column::numbers(&[number]),
            Column::texts(&["t"]),
        ]
    });
    let file = TraceBytes::with_leading_chunks("{}", "{}")
        .table(b"THRD", 1, &thread[0])
        .raw(&[0; 100])
        .table(b"THRD", 1, &thread[1])
        .raw(b"\xa7CHK\xa7CHKTHRD and no header at all")
        .table(b"THRD", 1, &thread[2]);
    let (contents, warnings) = read(&file.into_bytes());
    assert_eq!(contents.rows.len(), 3);
    let skipped: Vec<_> = warnings
        .iter()
        .filter_map(|warning| match warning.lost {
            LostContent::Bytes(bytes) => Some(bytes),
            _ => None,
        })
        .collect();
    assert_eq!(skipped, [100, 33]);
}

#[test]
fn a_zeroed_tail_is_a_warning() {
    let (mut bytes, rows) = small_file();
    let sound = bytes.len();
    bytes.extend([0; 5000]);
    let (contents, warnings) = read(&bytes);
    assert_eq!(contents.rows.len(), rows.len() + 1);
    assert_eq!(warnings.len(), 1);
    assert_eq!(
        (warnings[0].offset, &warnings[0].lost),
        (sound as u64, &LostContent::Tail(5000))
    );
}

#[test]
fn without_its_header_rows_a_file_has_a_warning_and_its_calls() {
    let rows = program(1);
    let (session, tables) = workload::leading();
    let bytes = write(&session, &tables, &rows);
    let third = chunks(&bytes)[2].0;
    let mut without = bytes[..16].to_vec();
    without.extend(&bytes[third..]);
    let (_, warnings) = read(&without);
    let lost: Vec<_> = warnings.iter().map(|warning| &warning.lost).collect();
    assert_eq!(lost, [&LostContent::Session, &LostContent::Tables]);
    let trace = load(&without).unwrap();
    assert_eq!(trace.function(trace.calls()[0].function).name, "function 0");
}

/// Tables with contradictory content.
#[test]
fn lies_about_sizes_are_refused() {
    let huge = u32::MAX.to_le_bytes();
    let lies: [Vec<u8>; 6] = [
        // An unpacked length that no block of this size can have.
        [&huge[..], &[0x10, 0]].concat(),
        [&0x00ff_ffff_u32.to_le_bytes()[..], &[0x10, 0]].concat(),
        // No room for the lengths of the columns.
        bytes::packed(&[&1_u32.to_le_bytes()[..], &huge].concat()),
        // A column that reaches past the end.
        bytes::packed(&[&1_u32.to_le_bytes()[..], &1_u32.to_le_bytes(), &huge].concat()),
        // More rows than values.
        bytes::packed(&[&huge[..], &3_u32.to_le_bytes(), &[0; 12]].concat()),
        Vec::new(),
    ];
    for lie in lies {
        for kind in [b"CALL", b"CNTR", b"TABL"] {
            let file = TraceBytes::new(1).chunk(b"SESS", b"{}").chunk(kind, &lie);
            let (contents, warnings) = read(&file.into_bytes());
            assert_eq!(contents.rows, []);
            let has_warned = |lost: &LostContent| matches!(lost, LostContent::Rows { read: 0, .. });
            assert!(
                warnings.iter().any(|warning| has_warned(&warning.lost)),
                "{kind:?} {lie:?}"
            );
        }
    }
}

#[test]
fn rows_before_the_one_that_makes_no_sense_are_kept() {
    let columns = [
        Column::numbers(&[1, 1]),
        Column::numbers(&[2, 70_000]),
        Column::numbers(&[3, 4]),
    ];
    let file = TraceBytes::with_leading_chunks("{}", "{}").table(b"CNTR", 2, &columns);
    let (contents, warnings) = read(&file.into_bytes());
    assert_eq!(contents.rows.len(), 1);
    let kind = "CNTR".to_owned();
    assert_eq!(warnings[0].lost, LostContent::Rows { kind, read: 1 });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn no_bytes_make_the_reader_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        load(&bytes);
        let with_header = TraceBytes::new(1).raw(&bytes).into_bytes();
        load(&with_header);
        for kind in [b"CALL", b"TIME", b"ANCH", b"PROC", b"STRM", b"TABL", b"SESS"] {
            let sound = TraceBytes::new(1).chunk(kind, &bytes);
            load(&sound.into_bytes());
            let packed = TraceBytes::new(1).chunk(kind, &bytes::packed(&bytes));
            load(&packed.into_bytes());
        }
    }

    #[test]
    fn no_columns_make_the_loader_panic(
        columns in proptest::collection::vec(proptest::collection::vec(any::<u64>(), 40), 22),
    ) {
        let columns: Vec<Column> = columns.iter().map(|column| Column::numbers(column)).collect();
        let small: Vec<Column> = columns.iter().map(|_| Column::numbers(&[3; 40])).collect();
        for columns in [&columns, &small] {
            for kind in [b"CALL", b"TIME", b"ANCH", b"PROC", b"STRM", b"LOSS", b"END "] {
                load(&TraceBytes::new(1).table(kind, 40, columns).into_bytes());
            }
        }
    }

    #[test]
    fn no_rows_make_the_loader_panic(
        rows in proptest::collection::vec(crate::round_trip::any_row(), 0..60),
        settle_at in 0..60_usize,
    ) {
        let (session, tables) = workload::leading();
        let mut builder = GrowingRecording::new(session, tables);
        for (place, row) in rows.into_iter().enumerate() {
            builder.apply(row);
            if place == settle_at {
                builder.settle();
            }
        }
        builder.apply(Row::End(EndRow::default()));
        let trace = builder.finish();
        for call in trace.calls() {
            let _ = (trace.args(call), trace.strings(call), trace.function(call.function));
        }
    }
}
