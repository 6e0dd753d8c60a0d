//! Columns: each field of a table's rows lies together, as variable-length numbers.

/// Texts are cut after this many bytes, so that no row outgrows a chunk. Longer ones are no texts.
const MAX_TEXT: usize = 4096;

/// Marks the length of a column that holds one value for all rows. No length is this large.
const SAME: u32 = 1 << 31;
/// Marks the length of a column that stores the first bytes of all values before their other bytes.
const SPLIT: u32 = 1 << 30;
/// Parts of a payload from this length on are packed with separate statistics.
const LARGE: usize = 1024;

/// The columns of a table that is being written.
#[derive(Debug)]
pub(crate) struct Columns {
    columns: Vec<Column>,
    rows: u32,
}

/// A column. As long as all values are the same, they are only counted.
#[derive(Debug, Default)]
struct Column {
    /// The first byte of each value, or whole texts.
    bytes: Vec<u8>,
    /// The other bytes. They are kept apart because they look different, and so pack better.
    rest: Vec<u8>,
    value: u64,
    same: u32,
    /// Values differ, so every one is in `bytes`.
    spread: bool,
}

impl Column {
    #[inline(always)]
    fn put(&mut self, value: u64) {
        if self.spread {
            self.push(value);
        } else if value == self.value && self.same > 0 {
            self.same += 1;
        } else {
            self.put_other(value);
        }
    }

    /// Takes the first value, or the first that differs.
    #[cold]
    fn put_other(&mut self, value: u64) {
        if self.same == 0 {
            self.value = value;
            self.same = 1;
        } else {
            self.spread();
            self.push(value);
        }
    }

    #[inline]
    fn push(&mut self, value: u64) {
        if value < 0x80 {
            self.bytes.push(value as u8);
        } else {
            self.bytes.push(value as u8 | 0x80);
            push(&mut self.rest, value >> 7);
        }
    }

    fn spread(&mut self) {
        self.spread = true;
        for _ in 0..std::mem::take(&mut self.same) {
            self.push(self.value);
        }
    }

    /// Moves the column, in its form for a table of `rows` rows, to the end of `out`; returns the word
    /// with its length. Lengths after which `out` looks different go to `cuts`.
    fn take(&mut self, rows: u32, out: &mut Vec<u8>, cuts: &mut Vec<usize>) -> u32 {
        let begin = out.len();
        let mut form = 0;
        if !self.spread {
            if self.same == rows && rows > 1 {
                self.same = 1;
                form = SAME;
            }
            self.spread();
        }
        if form == SAME || self.rest.is_empty() {
            out.append(&mut self.bytes);
            out.append(&mut self.rest);
        } else {
            form = SPLIT;
            push(out, self.bytes.len() as u64);
            cut(begin, out.len() + self.bytes.len(), cuts);
            out.append(&mut self.bytes);
            out.append(&mut self.rest);
        }
        cut(begin, out.len(), cuts);
        self.spread = false;
        (out.len() - begin) as u32 | form
    }
}

/// Notes an end at `end`, if that is worth it. Parts between large parts are cut off from them too.
fn cut(begin: usize, end: usize, cuts: &mut Vec<usize>) {
    let last = cuts.last().copied().unwrap_or(0);
    if end - begin.max(last) >= LARGE {
        if begin - last.min(begin) >= LARGE {
            cuts.push(begin);
        }
        cuts.push(end);
    }
}

/// A table's payload before packing.
#[derive(Debug)]
pub(crate) struct Payload {
    pub(crate) bytes: Vec<u8>,
    /// Lengths after which the bytes look different.
    pub(crate) cuts: Vec<usize>,
}

/// Appends an unsigned number: 7 bits a byte, low ones first, the top bit says "more".
#[inline]
fn push(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

impl Columns {
    pub(crate) fn new(count: usize) -> Self {
        let mut columns = Vec::new();
        columns.resize_with(count, Column::default);
        // The first column always has an entry per row: the work of a reader is then in proportion to
        // its input.
        if let Some(first) = columns.first_mut() {
            first.spread = true;
        }
        Self { columns, rows: 0 }
    }

    /// Counts a row. Its fields follow or have been put.
    #[inline]
    pub(crate) fn row(&mut self) {
        self.rows += 1;
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    /// Bytes in all columns together.
    pub(crate) fn bytes(&self) -> usize {
        let lengths = self.columns.iter();
        lengths
            .map(|column| column.bytes.len() + column.rest.len())
            .sum()
    }

    #[inline(always)]
    pub(crate) fn put(&mut self, column: usize, value: u64) {
        self.columns[column].put(value);
    }

    /// Appends a signed number, folded so that small ones of either sign are short.
    #[inline]
    pub(crate) fn put_signed(&mut self, column: usize, value: i64) {
        self.put(column, ((value << 1) ^ (value >> 63)) as u64);
    }

    /// Appends a number that may be missing: 0, or the number plus 1.
    #[inline]
    pub(crate) fn put_option(&mut self, column: usize, value: Option<u32>) {
        self.put(column, value.map_or(0, |value| u64::from(value) + 1));
    }

    /// Keeps every value of a column that says by its end how many there are.
    pub(crate) fn keep_each(&mut self, column: usize) {
        self.columns[column].spread();
    }

    /// Appends a length and the bytes.
    pub(crate) fn put_text(&mut self, column: usize, text: &str) {
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        let column = &mut self.columns[column];
        column.spread();
        push(&mut column.bytes, text.len() as u64);
        column.bytes.extend_from_slice(text.as_bytes());
    }

    /// As [`Columns::take_parts`], to be packed in one piece.
    pub(crate) fn take_payload(&mut self) -> Vec<u8> {
        self.take_parts().bytes
    }

    /// The payload before packing: row count, column count, lengths, columns. Empties the columns.
    pub(crate) fn take_parts(&mut self) -> Payload {
        let head = 8 + 4 * self.columns.len();
        let mut bytes = Vec::with_capacity(self.bytes() + head + 4 * self.columns.len());
        bytes.extend_from_slice(&self.rows.to_le_bytes());
        bytes.extend_from_slice(&(self.columns.len() as u32).to_le_bytes());
        bytes.resize(head, 0);
        let mut cuts = Vec::new();
        for (number, column) in self.columns.iter_mut().enumerate() {
            let length = column.take(self.rows, &mut bytes, &mut cuts);
            let place = 8 + 4 * number;
            bytes[place..place + 4].copy_from_slice(&length.to_le_bytes());
        }
        self.rows = 0;
        if let Some(first) = self.columns.first_mut() {
            first.spread = true;
        }
        Payload { bytes, cuts }
    }
}

/// Processes that a table of a sound file may mention in turn.
const PROCESSES: usize = 64;
/// Memory for the tables of a process.
const NEW_PROCESS: usize = 512;

/// The columns of a table that is being read. Every result is `None` past a column's end.
#[derive(Debug)]
pub(crate) struct Cursors<'a> {
    columns: Vec<Cursor<'a>>,
    rows: u32,
    /// Memory of the read values, beyond their rows.
    taken: u64,
    /// Processes that were mentioned last, by their lowest bits: number plus 1.
    processes: [u64; PROCESSES],
}

/// The rest of a column.
#[derive(Clone, Copy, Debug, Default)]
struct Cursor<'a> {
    bytes: &'a [u8],
    /// The further bytes of values, where they lie apart from the first.
    rest: Option<&'a [u8]>,
    /// The one value of all rows.
    same: Option<u64>,
}

impl<'a> Cursor<'a> {
    fn new(bytes: &'a [u8], form: u32) -> Option<Self> {
        let mut cursor = Self {
            bytes,
            ..Self::default()
        };
        match form {
            SAME => cursor.same = Some(cursor.take()?),
            SPLIT => {
                let count = usize::try_from(cursor.take()?).ok()?;
                let (first, rest) = cursor.bytes.split_at_checked(count)?;
                (cursor.bytes, cursor.rest) = (first, Some(rest));
            }
            _ => {}
        }
        Some(cursor)
    }

    #[inline]
    fn take(&mut self) -> Option<u64> {
        if self.same.is_some() {
            return self.same;
        }
        let (&first, left) = self.bytes.split_first()?;
        self.bytes = left;
        if first < 0x80 {
            return Some(first.into());
        }
        let rest = self.rest.as_mut().unwrap_or(&mut self.bytes);
        let mut value = u64::from(first & 0x7f);
        for shift in (7..64).step_by(7) {
            let (&byte, left) = rest.split_first()?;
            *rest = left;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }
}

impl<'a> Cursors<'a> {
    /// Takes a payload apart; `count` columns are wanted, and those a newer writer adds are left.
    pub(crate) fn new(payload: &'a [u8], count: usize) -> Option<Self> {
        Self::of_any_age(payload, count, count)
    }

    /// The same of a table that has had only `least` columns before.
    pub(crate) fn of_any_age(payload: &'a [u8], count: usize, least: usize) -> Option<Self> {
        let (rows, rest) = split_word(payload)?;
        let (found, rest) = split_word(rest)?;
        let found = found as usize;
        let (lengths, mut data) = rest.split_at_checked(found.checked_mul(4)?)?;
        if found < least {
            return None;
        }
        let mut columns = Vec::with_capacity(count);
        for length in lengths.chunks_exact(4).take(count) {
            let (length, _) = split_word(length)?;
            let form = length & (SAME | SPLIT);
            let (column, after) = data.split_at_checked((length ^ form) as usize)?;
            columns.push(Cursor::new(column, form)?);
            data = after;
        }
        // Without this, a few bytes could mean any number of rows.
        if columns
            .first()
            .is_none_or(|first| first.bytes.len() < rows as usize)
        {
            return None;
        }
        Some(Self {
            columns,
            rows,
            taken: 0,
            processes: [0; PROCESSES],
        })
    }

    /// Whether the table has a column of this number.
    pub(crate) fn has(&self, column: usize) -> bool {
        column < self.columns.len()
    }

    /// Whether nothing is left of a column.
    pub(crate) fn is_at_end(&self, column: usize) -> bool {
        self.columns
            .get(column)
            .is_none_or(|cursor| cursor.bytes.is_empty() && cursor.same.is_none())
    }

    pub(crate) fn rows(&self) -> u32 {
        self.rows
    }

    #[inline]
    pub(crate) fn take(&mut self, column: usize) -> Option<u64> {
        self.columns.get_mut(column)?.take()
    }

    /// A number that must fit a smaller type.
    pub(crate) fn take_as<T: TryFrom<u64>>(&mut self, column: usize) -> Option<T> {
        T::try_from(self.take(column)?).ok()
    }

    pub(crate) fn take_signed(&mut self, column: usize) -> Option<i64> {
        let folded = self.take(column)?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// A number that may be missing. The outer `None` is the end of the column.
    pub(crate) fn take_option(&mut self, column: usize) -> Option<Option<u32>> {
        match self.take(column)? {
            0 => Some(None),
            next => u32::try_from(next - 1).ok().map(Some),
        }
    }

    pub(crate) fn take_text(&mut self, column: usize) -> Option<String> {
        let text = self.take_bytes(column)?;
        let text = String::from_utf8_lossy(text).into_owned();
        self.note(text.len());
        Some(text)
    }

    /// The number of a process, which takes memory where it is new.
    pub(crate) fn take_process(&mut self, column: usize) -> Option<u32> {
        let process: u32 = self.take_as(column)?;
        let known = &mut self.processes[process as usize % PROCESSES];
        let number = u64::from(process) + 1;
        if std::mem::replace(known, number) != number {
            self.note(NEW_PROCESS);
        }
        Some(process)
    }

    /// Counts memory that a value takes.
    pub(crate) fn note(&mut self, bytes: usize) {
        self.taken = self.taken.saturating_add(bytes as u64);
    }

    /// Memory that was counted since the last time.
    pub(crate) fn noted(&mut self) -> u64 {
        std::mem::take(&mut self.taken)
    }

    /// The bytes of a text, which may be no good text.
    pub(crate) fn take_bytes(&mut self, column: usize) -> Option<&'a [u8]> {
        let length = self.take_as(column)?;
        if length > MAX_TEXT {
            return None;
        }
        let cursor = self.columns.get_mut(column)?;
        let (text, rest) = cursor.bytes.split_at_checked(length)?;
        cursor.bytes = rest;
        Some(text)
    }
}

fn split_word(bytes: &[u8]) -> Option<(u32, &[u8])> {
    let (word, rest) = bytes.split_first_chunk()?;
    Some((u32::from_le_bytes(*word), rest))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_of_every_size_read_back() {
        let unsigned = [
            0,
            1,
            127,
            128,
            16_383,
            16_384,
            u64::from(u32::MAX),
            u64::MAX,
        ];
        let signed = [0, -1, 1, -64, 64, i64::MIN, i64::MAX];
        let mut columns = Columns::new(2);
        unsigned.iter().for_each(|value| columns.put(0, *value));
        signed
            .iter()
            .for_each(|value| columns.put_signed(1, *value));
        let payload = columns.take_payload();
        let mut cursors = Cursors::new(&payload, 2).unwrap();
        for value in unsigned {
            assert_eq!(cursors.take(0), Some(value));
        }
        for value in signed {
            assert_eq!(cursors.take_signed(1), Some(value));
        }
        assert_eq!(cursors.take(0), None);
        assert_eq!(cursors.take(7), None);
    }

    #[test]
    fn a_number_without_an_end_is_refused() {
        let mut columns = Columns::new(1);
        columns.columns[0].bytes = vec![0xff; 11];
        let payload = columns.take_payload();
        assert_eq!(Cursors::new(&payload, 1).unwrap().take(0), None);
    }

    #[test]
    fn columns_that_a_newer_writer_adds_are_left_alone() {
        let mut columns = Columns::new(3);
        (0..3).for_each(|column| columns.put(column, column as u64));
        let payload = columns.take_payload();
        let mut cursors = Cursors::new(&payload, 2).unwrap();
        assert_eq!((cursors.take(0), cursors.take(1)), (Some(0), Some(1)));
        assert!(Cursors::new(&payload, 4).is_none());
    }

    #[test]
    fn equal_values_are_stored_once_and_read_back_for_every_row() {
        let mut columns = Columns::new(3);
        for row in 0..1000 {
            columns.row();
            columns.put(0, 5);
            columns.put_signed(1, -70_000);
            columns.put(2, u64::from(row == 999));
        }
        let payload = columns.take_payload();
        assert_eq!(payload.len(), 8 + 3 * 4 + 1000 + 3 + 1000);
        let mut cursors = Cursors::new(&payload, 3).unwrap();
        for row in 0..1000 {
            assert_eq!(
                (cursors.take(0), cursors.take_signed(1)),
                (Some(5), Some(-70_000))
            );
            assert_eq!(cursors.take(2), Some(u64::from(row == 999)));
        }
    }

    #[test]
    fn a_column_with_fewer_entries_than_rows_is_stored_in_full() {
        let mut columns = Columns::new(2);
        (0..3).for_each(|row| {
            columns.row();
            columns.put(0, row);
        });
        (0..2).for_each(|_| columns.put(1, 9));
        let payload = columns.take_payload();
        let mut cursors = Cursors::new(&payload, 2).unwrap();
        assert_eq!([cursors.take(1), cursors.take(1)], [Some(9); 2]);
        assert!(cursors.is_at_end(1));
        assert_eq!(cursors.take(1), None);
    }

    #[test]
    fn more_rows_than_the_first_column_has_bytes_are_refused() {
        let mut columns = Columns::new(2);
        columns.row();
        columns.put(0, 1);
        columns.put(1, 1);
        let mut payload = columns.take_payload();
        payload[0] = 2;
        assert!(Cursors::new(&payload, 2).is_none());
    }
}
