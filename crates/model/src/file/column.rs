//! Columns: each field of a table's rows lies together, as variable-length numbers.

/// Texts are cut after this many bytes, so that no row outgrows a chunk.
const MAX_TEXT: usize = 4096;

/// The columns of a table that is being written.
#[derive(Debug)]
pub(super) struct Columns {
    columns: Vec<Vec<u8>>,
    rows: u32,
}

impl Columns {
    pub(super) fn new(count: usize) -> Self {
        Self {
            columns: vec![Vec::new(); count],
            rows: 0,
        }
    }

    /// Counts a row whose fields follow or have been put.
    pub(super) fn row(&mut self) {
        self.rows += 1;
    }

    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    /// Bytes in all columns together.
    pub(super) fn bytes(&self) -> usize {
        self.columns.iter().map(Vec::len).sum()
    }

    /// Appends an unsigned number: 7 bits a byte, low ones first, the top bit says "more".
    pub(super) fn put(&mut self, column: usize, mut value: u64) {
        let column = &mut self.columns[column];
        while value >= 0x80 {
            column.push(value as u8 | 0x80);
            value >>= 7;
        }
        column.push(value as u8);
    }

    /// Appends a signed number, folded so that small ones of either sign are short.
    pub(super) fn put_signed(&mut self, column: usize, value: i64) {
        self.put(column, ((value << 1) ^ (value >> 63)) as u64);
    }

    /// Appends a number that may be missing: 0, or the number plus 1.
    pub(super) fn put_option(&mut self, column: usize, value: Option<u32>) {
        self.put(column, value.map_or(0, |value| u64::from(value) + 1));
    }

    /// Appends a length and the bytes.
    pub(super) fn put_text(&mut self, column: usize, text: &str) {
        let text = &text[..text.floor_char_boundary(MAX_TEXT)];
        self.put(column, text.len() as u64);
        self.columns[column].extend_from_slice(text.as_bytes());
    }

    /// The payload before packing: row count, column count, lengths, columns. Empties the columns.
    pub(super) fn take_payload(&mut self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(self.bytes() + 8 + 4 * self.columns.len());
        payload.extend_from_slice(&self.rows.to_le_bytes());
        payload.extend_from_slice(&(self.columns.len() as u32).to_le_bytes());
        for column in &self.columns {
            payload.extend_from_slice(&(column.len() as u32).to_le_bytes());
        }
        for column in &mut self.columns {
            payload.append(column);
        }
        self.rows = 0;
        payload
    }
}

/// The columns of a table that is being read. Every answer is `None` past a column's end.
#[derive(Debug)]
pub(super) struct Cursors<'a> {
    columns: Vec<&'a [u8]>,
    rows: u32,
}

impl<'a> Cursors<'a> {
    /// Takes a payload apart; `count` columns are wanted, and those a newer writer adds are left.
    /// An older writer may lack all but the first `required` ones, which are then empty.
    pub(super) fn new(payload: &'a [u8], count: usize, required: usize) -> Option<Self> {
        let (rows, rest) = split_word(payload)?;
        let (found, rest) = split_word(rest)?;
        let found = found as usize;
        let (lengths, mut data) = rest.split_at_checked(found.checked_mul(4)?)?;
        if found < required {
            return None;
        }
        let mut columns = Vec::with_capacity(count);
        for length in lengths.chunks_exact(4).take(count) {
            let (length, _) = split_word(length)?;
            let (column, after) = data.split_at_checked(length as usize)?;
            columns.push(column);
            data = after;
        }
        columns.resize(count, &[]);
        Some(Self { columns, rows })
    }

    /// Whether nothing is left of a column.
    pub(super) fn is_at_end(&self, column: usize) -> bool {
        self.columns
            .get(column)
            .is_none_or(|bytes| bytes.is_empty())
    }

    pub(super) fn rows(&self) -> u32 {
        self.rows
    }

    pub(super) fn take(&mut self, column: usize) -> Option<u64> {
        let bytes = self.columns.get_mut(column)?;
        let mut value = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = bytes.split_first()?;
            *bytes = rest;
            value |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(value);
            }
        }
        None
    }

    /// A number that must fit a smaller type.
    pub(super) fn take_as<T: TryFrom<u64>>(&mut self, column: usize) -> Option<T> {
        T::try_from(self.take(column)?).ok()
    }

    pub(super) fn take_signed(&mut self, column: usize) -> Option<i64> {
        let folded = self.take(column)?;
        Some((folded >> 1) as i64 ^ -((folded & 1) as i64))
    }

    /// A number that may be missing. The outer `None` is the end of the column.
    pub(super) fn take_option(&mut self, column: usize) -> Option<Option<u32>> {
        match self.take(column)? {
            0 => Some(None),
            next => u32::try_from(next - 1).ok().map(Some),
        }
    }

    pub(super) fn take_text(&mut self, column: usize) -> Option<String> {
        let length = self.take_as(column)?;
        let bytes = self.columns.get_mut(column)?;
        let (text, rest) = bytes.split_at_checked(length)?;
        *bytes = rest;
        Some(String::from_utf8_lossy(text).into_owned())
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
        let mut cursors = Cursors::new(&payload, 2, 2).unwrap();
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
        columns.columns[0] = vec![0xff; 11];
        let payload = columns.take_payload();
        assert_eq!(Cursors::new(&payload, 1, 1).unwrap().take(0), None);
    }

    #[test]
    fn columns_that_a_newer_writer_adds_are_left_alone() {
        let mut columns = Columns::new(3);
        (0..3).for_each(|column| columns.put(column, column as u64));
        let payload = columns.take_payload();
        let mut cursors = Cursors::new(&payload, 2, 2).unwrap();
        assert_eq!((cursors.take(0), cursors.take(1)), (Some(0), Some(1)));
        assert!(Cursors::new(&payload, 4, 4).is_none());
    }

    #[test]
    fn columns_that_an_older_writer_lacks_are_empty() {
        let mut columns = Columns::new(1);
        columns.put(0, 7);
        let payload = columns.take_payload();
        let mut cursors = Cursors::new(&payload, 2, 1).unwrap();
        assert!(cursors.is_at_end(1) && !cursors.is_at_end(0));
        assert_eq!((cursors.take(0), cursors.take(1)), (Some(7), None));
    }
}
