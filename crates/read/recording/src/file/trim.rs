//! Writes the last part of a file that still grows.
//!
//! Batches from a place in the file on are copied as they are. Of those before it, only rows that later ones depend on are
//! written again: see [`History`].

mod history;

use std::fs::File;
use std::io::{self, Write};

use crate::rows::SessionRow;

use super::budget::Budget;
use super::chunk::{self, FILE_HEADER};
use super::decode::FileItem;
use super::error::OpenError;
use super::part::{FileParts, FoundChunk};
use super::writer::ChunkWriter;
use history::History;

/// The part of a file that is copied.
#[derive(Clone, Copy, Debug)]
pub struct TrimRange {
    /// Batches from here on are kept whole.
    pub begin: u64,
    /// The end of the last batch.
    pub end: u64,
}

/// Writes the batches of a file in `range`, after the rows that they depend on. The new file is not ended: further rows may follow.
/// `places` are places of chunks in the range, in ascending order; they become those in the new file.
///
/// # Errors
/// When the file cannot be read, is damaged, or the output cannot be written.
pub fn trim<W: Write>(
    input: File,
    range: TrimRange,
    places: &mut [u64],
    session: &SessionRow,
    output: W,
) -> Result<ChunkWriter<W>, OpenError> {
    let mut before = Continuation::new(input)?;
    before.read_to(range.begin)?;
    let Continuation { parts, history, .. } = before;
    let mut writer = begin(history, session, output)?;
    copy(&parts, range, places, &mut writer)?;
    Ok(writer)
}

/// A file that begins with the rows that later ones depend on.
fn begin<W: Write>(
    history: History,
    session: &SessionRow,
    output: W,
) -> Result<ChunkWriter<W>, OpenError> {
    let (tables, batches) = history.seal();
    let mut writer = ChunkWriter::create(output, session, &tables)?;
    for batch in &batches {
        writer.write(batch)?;
    }
    Ok(writer)
}

/// Reads a file that grows, for a file that goes on after it.
#[derive(Debug)]
pub struct Continuation {
    parts: FileParts,
    history: History,
    position: u64,
}

impl Continuation {
    /// # Errors
    /// When the file cannot be read.
    pub fn new(input: File) -> Result<Self, OpenError> {
        Ok(Self {
            parts: FileParts::new(input)?,
            history: History::default(),
            position: FILE_HEADER as u64,
        })
    }

    /// How far the file has been read.
    pub fn position(&self) -> u64 {
        self.position
    }

    /// Reads on, up to the end of a batch.
    ///
    /// # Errors
    /// When the file cannot be read, or is damaged.
    pub fn read_to(&mut self, end: u64) -> Result<(), OpenError> {
        let (history, range) = (&mut self.history, (self.position, end));
        let mut take = |item: FileItem| history.take(item);
        let mut budget = Budget::unlimited();
        let warnings = self.parts.range(range, |_| true, &mut budget, &mut take)?;
        self.position = end;
        match warnings.is_empty() {
            true => Ok(()),
            false => Err(damaged()),
        }
    }

    /// Begins the file that goes on here: with the rows that later ones depend on, and a mark after them.
    ///
    /// # Errors
    /// When the output cannot be written.
    pub fn begin<W: Write>(
        self,
        session: &SessionRow,
        output: W,
    ) -> Result<ChunkWriter<W>, OpenError> {
        let mut writer = begin(self.history, session, output)?;
        writer.mark_part()?;
        Ok(writer)
    }
}

/// Appends the batches of `range` to a file that has the rows on which they depend.
///
/// # Errors
/// As [`trim`].
pub fn append<W: Write>(
    input: File,
    range: TrimRange,
    places: &mut [u64],
    writer: &mut ChunkWriter<W>,
) -> Result<(), OpenError> {
    copy(&FileParts::new(input)?, range, places, writer)
}

fn copy<W: Write>(
    parts: &FileParts,
    range: TrimRange,
    places: &mut [u64],
    writer: &mut ChunkWriter<W>,
) -> Result<(), OpenError> {
    let mut place = range.begin;
    let mut places = places.iter_mut().peekable();
    while place < range.end {
        while let Some(known) = places.next_if(|it| **it <= place) {
            *known = writer.length();
        }
        let found = parts.chunk(place, range.end)?.ok_or_else(damaged)?;
        place = found.end();
        // The new file has another index.
        if is_content(&found) {
            let payload = parts.payload(&found)?.ok_or_else(damaged)?;
            writer.append(found.kind, &payload)?;
        }
    }
    Ok(())
}

fn is_content(found: &FoundChunk) -> bool {
    let index = [chunk::SUMMARY, chunk::INDEX, chunk::ROOT];
    !index.iter().any(|kind| found.is(*kind))
}

fn damaged() -> OpenError {
    io::Error::new(io::ErrorKind::InvalidData, "the file is damaged").into()
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::super::encoder::Encoder;
    use super::*;
    use crate::file::table::Table as _;
    use crate::file::whole;
    use crate::rows::{
        CallRow, CostRow, EndRow, FunctionRow, LossRow, ProcessRow, RangeRow, Row, StreamRow,
        TablesRow, ThreadRow,
    };

    const CREATE: u16 = 0;
    const DESTROY: u16 = 1;
    const ALLOCATE: u16 = 2;
    const FREE: u16 = 3;
    const PLAIN: u16 = 4;

    fn tables() -> TablesRow {
        let function = |name: &str, role: &str, part: Option<&str>| FunctionRow {
            name: name.to_owned(),
            role: role.to_owned(),
            parts: part.map(|it| (it.to_owned(), 0)).into_iter().collect(),
            ..FunctionRow::default()
        };
        TablesRow {
            functions: vec![
                function("create", "create-stream", None),
                function("destroy", "destroy-stream", None),
                function("allocate", "plain", Some("allocated")),
                function("free", "plain", Some("freed")),
                function("plain", "plain", None),
            ],
            ..TablesRow::default()
        }
    }

    fn call(function: u16, at: i64, stream: Option<u32>, words: &[u64]) -> Row {
        Row::Call(CallRow {
            function,
            begin_ns: at,
            end_ns: at + 1,
            stream,
            args: words.to_vec(),
            ..CallRow::default()
        })
    }

    fn stream(serial: u32) -> Row {
        Row::Stream(StreamRow {
            serial,
            ..StreamRow::default()
        })
    }

    /// A file of batches. Returns the places at which they begin.
    fn write(path: &std::path::Path, batches: &[Vec<Row>]) -> Vec<u64> {
        let file = File::create(path).unwrap();
        let session = SessionRow {
            host: "h".to_owned(),
            ..SessionRow::default()
        };
        let mut writer = ChunkWriter::create(&file, &session, &tables()).unwrap();
        let mut places = Vec::new();
        for rows in batches {
            places.push(file.metadata().unwrap().len());
            let mut encoder = Encoder::new();
            for row in rows {
                encoder.push(row);
            }
            writer.write(&encoder.seal()).unwrap();
        }
        places.push(file.metadata().unwrap().len());
        places
    }

    /// The rows of the trimmed file.
    fn trimmed(path: &std::path::Path, begin: u64, end: u64) -> Vec<Row> {
        let output = path.with_extension("new");
        let session = SessionRow::default();
        let range = TrimRange { begin, end };
        let made = trim(
            File::open(path).unwrap(),
            range,
            &mut [],
            &session,
            File::create(&output).unwrap(),
        );
        let mut writer = made.unwrap();
        let mut encoder = Encoder::new();
        encoder.push(&Row::End(EndRow::default()));
        writer.write(&encoder.seal()).unwrap();
        let mut rows = Vec::new();
        let bytes = fs::read(&output).unwrap();
        let warnings = whole::read_items(bytes.as_slice(), Budget::unlimited(), &mut |item| {
            if let FileItem::Row(row) = item {
                rows.push(row);
            }
        });
        assert_eq!(warnings.unwrap(), []);
        rows
    }

    fn functions(rows: &[Row]) -> Vec<(u16, i64)> {
        let calls = rows.iter().filter_map(|row| match row {
            Row::Call(call) => Some((call.function, call.begin_ns)),
            _ => None,
        });
        calls.collect()
    }

    #[test]
    fn the_last_batches_are_whole_and_objects_are_known() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let thread = Row::Thread(ThreadRow::default());
        let process = Row::Process(ProcessRow::default());
        let batches = [
            vec![process, thread, stream(1), call(CREATE, 1, Some(1), &[])],
            vec![call(PLAIN, 2, Some(1), &[]), call(ALLOCATE, 3, None, &[64])],
            vec![call(PLAIN, 4, Some(1), &[])],
            vec![call(FREE, 5, None, &[64])],
        ];
        let places = write(&path, &batches);
        let rows = trimmed(&path, places[2], places[4]);
        let kept = [(CREATE, 1), (ALLOCATE, 3), (PLAIN, 4), (FREE, 5)];
        assert_eq!(functions(&rows), kept);
        assert!(rows.contains(&stream(1)));
        // The last batch need not be complete yet.
        assert_eq!(functions(&trimmed(&path, places[2], places[3])), &kept[..3]);
    }

    #[test]
    fn places_of_batches_become_those_in_the_new_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let batches: Vec<Vec<Row>> = (0..9).map(|at| vec![call(PLAIN, at, None, &[])]).collect();
        let known = write(&path, &batches);
        let mut places = vec![known[4], known[6]];
        let output = File::create(path.with_extension("new")).unwrap();
        let session = SessionRow::default();
        let (begin, end) = (known[4], known[7]);
        let range = TrimRange { begin, end };
        let input = || File::open(&path).unwrap();
        let mut writer = trim(input(), range, &mut places, &session, output).unwrap();
        let (begin, end) = (known[7], known[9]);
        let mut later = vec![known[7], known[8]];
        append(input(), TrimRange { begin, end }, &mut later, &mut writer).unwrap();
        places.extend(later);
        let parts = FileParts::new(File::open(path.with_extension("new")).unwrap()).unwrap();
        for (place, batch) in places.iter().zip([4, 6, 7, 8]) {
            let (_, payload) = parts.chunk_of(CallRow::KIND, *place).unwrap().unwrap();
            let mut rows = Vec::new();
            let mut take = |item| {
                if let FileItem::Row(row) = item {
                    rows.push(row);
                }
            };
            let mut budget = Budget::unlimited();
            let packed = chunk::Packer::new()
                .unwrap()
                .pack(&payload)
                .unwrap()
                .to_vec();
            super::super::decode::decode(CallRow::KIND, &packed, &mut budget, &mut take).unwrap();
            assert_eq!(functions(&rows), [(PLAIN, batch)]);
        }
    }

    #[test]
    fn objects_that_ended_before_leave_nothing() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let begin = vec![stream(1), stream(2), call(CREATE, 1, Some(1), &[])];
        let more = vec![
            call(CREATE, 2, Some(2), &[]),
            call(ALLOCATE, 3, None, &[64]),
            call(ALLOCATE, 4, None, &[128]),
            call(FREE, 5, None, &[64]),
            call(DESTROY, 6, Some(1), &[]),
        ];
        let places = write(&path, &[begin, more, vec![call(PLAIN, 7, Some(2), &[])]]);
        let rows = trimmed(&path, places[2], places[3]);
        let kept = [(CREATE, 2), (ALLOCATE, 4), (PLAIN, 7)];
        assert_eq!(functions(&rows), kept);
        assert!(rows.contains(&stream(2)) && !rows.contains(&stream(1)));
    }

    #[test]
    fn sums_that_only_grow_are_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let loss = |calls| {
            Row::Loss(LossRow {
                calls,
                ..LossRow::default()
            })
        };
        let cost = |calls| {
            Row::Cost(CostRow {
                calls,
                ..CostRow::default()
            })
        };
        let range = Row::Range(RangeRow::default());
        let batches = [
            vec![loss(1), cost(5), range.clone()],
            vec![loss(2), cost(9)],
            vec![range.clone()],
        ];
        let places = write(&path, &batches);
        let rows = trimmed(&path, places[2], places[3]);
        assert!(rows.contains(&loss(3)) && rows.contains(&cost(9)));
        assert_eq!(rows.iter().filter(|row| **row == range).count(), 1);
    }

    #[test]
    fn a_file_can_be_trimmed_again_and_again() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("x.atrace");
        let batches: Vec<Vec<Row>> = (0..50)
            .map(|number| {
                let at = i64::from(number) * 10;
                vec![
                    stream(number),
                    call(CREATE, at, Some(number), &[]),
                    call(DESTROY, at + 2, Some(number), &[]),
                ]
            })
            .collect();
        let places = write(&path, &batches);
        let rows = trimmed(&path, places[49], places[50]);
        assert_eq!(functions(&rows), [(CREATE, 490), (DESTROY, 492)]);
        let first = path.with_extension("new");
        let length = fs::metadata(&first).unwrap().len();
        fs::rename(&first, &path).unwrap();
        let again = trimmed(&path, length, length);
        assert_eq!(functions(&again), []);
    }
}
