//! Random damage, more than any list of cases would contain: to the bytes of a file, and behind its
//! checksums, where only the decoders resist it.

use std::collections::BTreeSet;

use ascend_trace_recording::file::{self, Writer};
use ascend_trace_recording::rows::{
    ActivityRow, CallRow, CodeRow, CostRow, CounterRow, CoverageRow, EndRow, Ending, InnerRow,
    LogRow, LongTextRow, LossRow, NameRow, ObjectRow, OtherThreadRow, ProcessEndRow, RangeRow, Row,
    StackRow, TablesRow,
};
use ascend_trace_recording::{Recording, TimeRange};
use ascend_trace_testkit::bytes;
use ascend_trace_testkit::whole::from_rows;
use ascend_trace_testkit::workload::{self, Workload};

use crate::windows::chunks;

/// A small file with every kind of chunk, index and all.
fn seed() -> Vec<u8> {
    let (session, mut tables) = workload::leading();
    let later = TablesRow {
        first: 1,
        functions: tables.functions.drain(1..).take(1).collect(),
        ..TablesRow::default()
    };
    let mut writer = Writer::create(Vec::new(), &session, &tables)
        .unwrap()
        .with_index_every(40);
    let workload = Workload {
        steps: 1,
        ..Workload::default()
    };
    let mut rows = Vec::new();
    workload::run(workload, |row| rows.push(row));
    rows.pop();
    rows.extend(rare());
    let middle = rows.len() * 2 / 3;
    for (place, row) in rows.iter().enumerate() {
        writer.push(row).unwrap();
        if place == middle {
            writer.set_open(open());
            writer.flush().unwrap();
            writer.mark_part().unwrap();
            writer.push_tables(later.clone());
        }
    }
    writer.finish(EndRow::default()).unwrap()
}

/// Rows that the workload does not contain.
fn rare() -> [Row; 16] {
    [
        Row::ProcessEnd(ProcessEndRow {
            process: 1,
            end_ns: 5_000_000,
        }),
        Row::Loss(LossRow {
            thread: Some(1),
            calls: 300,
            others: 7,
            times: 5,
        }),
        Row::Counter(CounterRow {
            process: 1,
            what: 1,
            value: 7741,
        }),
        Row::LongText(LongTextRow {
            hash: 0x0123_4567_89ab_cdef,
            text: "kernel".repeat(40),
        }),
        Row::Object(ObjectRow {
            process: 1,
            object: 1,
            base: 0x5500_0000_0000,
            build_id: "ab01".to_owned(),
            path: "/bin/train".to_owned(),
        }),
        Row::Stack(StackRow {
            process: 1,
            stack: 1,
            frames: "1:550000001234 0:7f00 p1:42".to_owned(),
        }),
        Row::Code(CodeRow {
            process: 1,
            code: 1,
            function: "Net.forward".to_owned(),
            file: "/srv/net.py".to_owned(),
        }),
        Row::Name(NameRow {
            process: 1,
            since_ns: 2_000,
            key: 7,
            name: "loss".to_owned(),
        }),
        Row::Log(LogRow {
            process: 1,
            state: 1,
            kinds: 196,
            ..LogRow::default()
        }),
        Row::Activity(ActivityRow {
            process: 1,
            stream: Some(1),
            sequence: Some(3),
            part: 1,
            kind: 2,
            name: 7,
            begin_ns: 3_000,
            end_ns: 4_000,
            node: Some(2),
            ..ActivityRow::default()
        }),
        range("forward"),
        range("backward"),
        Row::Coverage(CoverageRow {
            library: "libascendcl.so".to_owned(),
            function: "aclInit".to_owned(),
            ways: 1,
            calls: 40,
            functions: 1,
            ..CoverageRow::default()
        }),
        Row::Inner(InnerRow::new(40, Some("/tmp/inner.atrace".as_ref()))),
        Row::OtherThread(OtherThreadRow {
            process: 1,
            pid: 40,
            tid: 44,
            name: "loader".to_owned(),
            first_ns: 3_000,
            at_ns: 90_000,
            cpu_ns: 40_000,
            runs: 12,
        }),
        Row::Cost(CostRow {
            thread: 1,
            at_ns: 90_000,
            calls: 40,
            recording_ns: 1_700,
            ..CostRow::default()
        }),
    ]
}

/// Calls under way, with a stream and arguments.
fn open() -> Vec<CallRow> {
    let call = |thread: u32| CallRow {
        thread,
        begin_ns: 3_000,
        end_ns: 90_000,
        stream: Some(1),
        args: vec![7, 8],
        ending: Ending::Open,
        ..CallRow::default()
    };
    vec![call(0), call(1)]
}

fn range(name: &str) -> Row {
    Row::Range(RangeRow {
        process: 1,
        thread: 1,
        begin_ns: 1_000,
        end_ns: 50_000,
        domain: 1,
        name: name.to_owned(),
    })
}

/// A generator that is quick and always the same.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    fn below(&mut self, limit: usize) -> usize {
        (self.next() >> 16) as usize % limit.max(1)
    }
}

/// Changes some bytes: flips bits, writes values that decoders stumble over, cuts, repeats.
fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    const VALUES: [u8; 6] = [0, 1, 0x7f, 0x80, 0xfe, 0xff];
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            return;
        }
        let place = random.below(bytes.len());
        match random.below(8) {
            0..=2 => bytes[place] ^= 1 << random.below(8),
            3 | 4 => bytes[place] = VALUES[random.below(VALUES.len())],
            5 => bytes[place] = random.next() as u8,
            6 => bytes.truncate(place),
            _ => {
                let end = (place + random.below(40)).min(bytes.len());
                let part = bytes[place..end].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, part);
            }
        }
    }
}

/// Reads a file in every way there is.
fn read(bytes: &[u8], deep: bool) {
    if let Ok((contents, _)) = file::read(bytes)
        && deep
    {
        from_rows(contents.session, contents.tables, contents.rows);
    }
    if deep && let Ok(mut recording) = Recording::from_bytes(bytes.to_vec()) {
        let span = recording.span().unwrap_or(TimeRange::new(0, 1));
        let middle = span.begin / 2 + span.end / 2;
        let _ = recording.summary((i64::MIN, i64::MAX), 50);
        let _ = recording.summary((middle, span.end), 50);
        let _ = recording.window((span.begin, middle), 5_000);
        let _ = (recording.counts(), recording.final_warnings());
        // With the calls that were under way, where there is no end.
        let _ = recording.close();
        let _ = recording.window((middle, span.end), 5_000);
        let _ = recording.counts();
    }
}

/// The chunks of a file, their payloads unpacked where they are packed.
fn unpacked(seed: &[u8]) -> Vec<([u8; 4], Vec<u8>)> {
    let all = chunks(seed).into_iter();
    all.map(|(begin, end, kind)| {
        let payload = &seed[begin + 20..end];
        let payload = match &kind {
            b"SESS" | b"ROOT" | b"PART" => payload.to_vec(),
            _ => file::unpack(payload).unwrap(),
        };
        (kind, payload)
    })
    .collect()
}

/// Bytes before the first chunk.
const HEADER: usize = 16;

/// Puts a file together again, with right checksums.
fn packed(header: &[u8], chunks: &[([u8; 4], Vec<u8>)]) -> Vec<u8> {
    let mut file = header.to_vec();
    for (kind, payload) in chunks {
        match kind {
            b"SESS" | b"ROOT" | b"PART" => append(&mut file, kind, payload),
            _ => append(&mut file, kind, &bytes::packed(payload)),
        }
    }
    file
}

fn append(file: &mut Vec<u8>, kind: &[u8; 4], payload: &[u8]) {
    let begin = file.len();
    file.extend_from_slice(b"\xa7CHK");
    file.extend_from_slice(kind);
    file.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    file.extend_from_slice(&crc32fast::hash(payload).to_le_bytes());
    let own = crc32fast::hash(&file[begin..]);
    file.extend_from_slice(&own.to_le_bytes());
    file.extend_from_slice(payload);
}

fn mutate_bytes(times: usize, deep: bool) {
    let seed = seed();
    read(&seed, true);
    let mut random = Random(0x1234_5678_9abc_def1);
    for _ in 0..times {
        let mut damaged = seed.clone();
        mutate(&mut damaged, &mut random);
        read(&damaged, deep);
    }
}

fn mutate_payloads(times: usize) {
    let whole = seed();
    let (header, seed) = (&whole[..HEADER], unpacked(&whole));
    let again = file::read(&packed(header, &seed)[..]).unwrap().0;
    assert_eq!(again.rows, file::read(&whole[..]).unwrap().0.rows);
    let mut random = Random(0xfeed_5678_9abc_def1);
    for _ in 0..times {
        let mut damaged = seed.clone();
        let chunk = random.below(damaged.len());
        mutate(&mut damaged[chunk].1, &mut random);
        read(&packed(header, &damaged), true);
    }
}

/// One chunk alone behind its checksum: quick, and every decoder gets its share.
fn mutate_chunks(times: usize) {
    let whole = seed();
    let (header, seed) = (&whole[..HEADER], unpacked(&whole));
    let mut random = Random(0xbeef_5678_9abc_def1);
    for _ in 0..times {
        let (kind, payload) = &seed[random.below(seed.len())];
        let mut payload = payload.clone();
        mutate(&mut payload, &mut random);
        read(&packed(header, &[(*kind, payload)]), false);
    }
}

#[test]
fn the_file_that_is_damaged_has_every_kind_of_chunk() {
    let kinds: BTreeSet<String> = chunks(&seed())
        .iter()
        .map(|(_, _, kind)| String::from_utf8_lossy(kind).into_owned())
        .collect();
    let document = include_str!("../../../../../docs/FORMAT.md");
    let documented = document.lines().filter_map(|line| {
        let kind = line.strip_prefix("### `")?.split('`').next()?;
        (kind.len() == 4).then(|| kind.to_owned())
    });
    assert_eq!(kinds, documented.collect());
}

#[test]
fn damage_to_any_bytes_is_survived() {
    mutate_bytes(45_000, false);
    mutate_bytes(5_000, true);
}

#[test]
fn damage_behind_one_checksum_is_survived() {
    mutate_chunks(195_000);
}

#[test]
fn damage_behind_the_checksums_of_a_whole_file_is_survived() {
    mutate_payloads(5_000);
}

#[test]
fn damage_that_an_index_hides_is_found_by_a_check() {
    let mut bytes = seed();
    let mut sound = Recording::from_bytes(bytes.clone()).unwrap();
    sound.check().unwrap();
    assert_eq!(sound.final_warnings(), []);
    let calls = chunks(&bytes).into_iter().find(|it| &it.2 == b"CALL");
    bytes[calls.unwrap().1 - 1] ^= 1;
    let mut recording = Recording::from_bytes(bytes).unwrap();
    assert!(!recording.entities().is_damaged());
    recording.check().unwrap();
    assert_eq!(recording.final_warnings().len(), 1);
    assert!(recording.entities().is_damaged() && !recording.entities().is_complete());
}

#[test]
fn a_file_with_an_index_may_be_cut_at_any_byte() {
    let seed = seed();
    let mut last = 0;
    for cut in 16..seed.len() {
        let mut recording = Recording::from_bytes(seed[..cut].to_vec()).unwrap();
        // For any index, the content of the chunks is known.
        let rows = recording.rows();
        assert!(rows >= last, "cut at {cut}: {rows} after {last}");
        last = rows;
        let span = recording.span().unwrap_or(TimeRange::new(0, 1));
        let window = recording.window(span, 5_000).unwrap();
        let counts = recording.counts();
        assert_eq!(window.calls().len() as u64, counts.calls, "cut at {cut}");
        assert!(!recording.final_warnings().is_empty(), "cut at {cut}");
    }
    assert_eq!(Recording::from_bytes(seed).unwrap().final_warnings(), []);
}

/// A little of everything, for a process with little memory.
pub(crate) fn short() {
    mutate_bytes(2_000, true);
    mutate_payloads(2_000);
    mutate_chunks(50_000);
}

#[test]
#[ignore = "ten million executions; takes a quarter of an hour"]
fn ten_million_damaged_files_are_survived() {
    mutate_bytes(2_000_000, false);
    mutate_chunks(7_900_000);
    mutate_bytes(50_000, true);
    mutate_payloads(50_000);
}
