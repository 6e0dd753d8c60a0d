//! An index made by hand from the document: a reader uses it, without a look at the rows.

use ascend_trace_recording::{Recording, ThreadId, TimeRange, file};
use ascend_trace_testkit::bytes::{self, Column, TraceBytes};

use Column as C;

/// A table as a section: its length, then the table.
fn section(rows: u32, columns: &[Column]) -> Vec<u8> {
    let file = TraceBytes::new(1).table(b"ANY!", rows, columns);
    let table = file::unpack(&file.into_bytes()[16 + 20..]).unwrap();
    [&(table.len() as u32).to_le_bytes()[..], &table].concat()
}

fn empty(columns: usize) -> Vec<u8> {
    let columns: Vec<Column> = (0..columns).map(|_| C::numbers(&[])).collect();
    section(0, &columns)
}

/// Thread 3: two entries, 7 calls. The second one waited 30 ns for the device and spent 10 elsewhere.
fn lanes() -> Vec<u8> {
    let lane = [
        C::numbers(&[1]),
        C::numbers(&[3]),
        C::numbers(&[0]),
        C::numbers(&[2]),
    ];
    let entries = [
        C::signed(&[1_000, 20]),
        C::numbers(&[40, 50]),
        C::numbers(&[5, 2]),
        C::numbers(&[1 << 2, 1 << 6 | 1 << 7]),
        // 40 − 35; then 30 as it is, and 50 − 30 − 10 with its sign folded.
        C::numbers(&[10, 30, 20]),
    ];
    [section(1, &lane), section(2, &entries)].concat()
}

fn index(group: u64, summary: u64) -> Vec<u8> {
    let coarse = lanes();
    let mut codes = [0; 16];
    codes[3] = 4;
    let coarse_length = (coarse.len() as u32).to_le_bytes();
    [
        section(1, &[C::numbers(&[group]), C::numbers(&[summary])]),
        section(
            1,
            &[
                C::numbers(&[group - summary]),
                C::numbers(&[7]),
                C::numbers(&[4]),
                C::numbers(&[111]),
                C::signed(&[1_000]),
                C::numbers(&[0]),
                C::signed(&[]),
                C::numbers(&[0]),
                C::numbers(&[0]),
            ],
        ),
        empty(3),
        coarse_length.to_vec(),
        coarse,
        empty(3),
        empty(3),
        section(16, &[C::numbers(&codes), C::numbers(&[0; 16])]),
        section(1, &[C::numbers(&[2, 3, 5, 6])]),
        section(1, &[C::numbers(&[9]), C::numbers(&[7]), C::numbers(&[1])]),
        section(1, &[C::numbers(&[3]), C::numbers(&[7])]),
        empty(5),
        empty(3),
        empty(6),
        empty(2),
        empty(3),
        empty(6),
        empty(2),
        empty(3),
        empty(3),
        empty(4),
        empty(10),
        section(25, &[C::numbers(&[0; 25])]),
        empty(5),
    ]
    .concat()
}

#[test]
fn an_index_made_from_the_document_is_taken() {
    let file = TraceBytes::with_leading_chunks("{}", "{}");
    // The chunk of rows has no valid ones: it is not read.
    let file = file.chunk(b"ROWS", &[0; 50]);
    let summary = 20 + bytes::packed(&lanes()).len() as u64;
    let group = 20 + 50 + summary;
    let place = file.clone().into_bytes().len() as u64 + summary;
    let root = [&place.to_le_bytes()[..], &12_u32.to_le_bytes()].concat();
    let file = file
        .chunk(b"SUMM", &bytes::packed(&lanes()))
        .chunk(b"INDX", &bytes::packed(&index(group, summary)))
        .chunk(b"ROOT", &root)
        .table(b"END ", 1, &[C::signed(&[99]), C::signed(&[0])]);
    let mut recording = Recording::from_bytes(file.into_bytes()).unwrap();
    assert_eq!(recording.final_warnings(), []);
    assert_eq!(
        (recording.rows(), recording.span()),
        (11, Some(TimeRange::new(1_000, 1_110)))
    );
    let counts = recording.counts();
    assert_eq!((counts.calls, counts.nested), (7, 2));
    assert_eq!((counts.tasks, counts.timed), (4, 3));
    assert_eq!(counts.threads[&ThreadId(0)], 7);
    assert_eq!(counts.functions[9], 7);
    let losses = recording.entities().losses();
    assert_eq!((losses.calls, losses.others), (5, 6));
    let summary = recording.summary((0, 2_000), 100).unwrap();
    let lane = summary.thread(ThreadId(0), 0).unwrap();
    let all = lane.sums(0, 2_000);
    assert_eq!(all.count, 7);
    assert_eq!(all.busy, [0, 0, 35, 0, 0, 0, 30, 10]);
}
