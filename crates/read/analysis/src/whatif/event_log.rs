//! Bytes that are written once and read in order: numbers of variable length, seven bits in each byte.

/// Bytes that lie together. They do not move when more follow, so that a long tape is never in memory twice.
const CHUNK: usize = 1 << 16;

/// The most bytes of a record.
const RECORD: usize = 128;

/// The bytes of one lane.
#[derive(Debug, Default)]
pub(super) struct Tape {
    chunks: Vec<Vec<u8>>,
}

impl Tape {
    /// Begins a record, of which all is in one chunk.
    pub(super) fn begin(&mut self) {
        let has_room = |it: &Vec<u8>| it.len() + RECORD <= CHUNK;
        if !self.chunks.last().is_some_and(has_room) {
            // Most lanes of a recording with many of them are short.
            let room = if self.chunks.is_empty() { 0 } else { CHUNK };
            self.chunks.push(Vec::with_capacity(room));
        }
    }

    pub(super) fn put(&mut self, mut number: u64) {
        let Some(chunk) = self.chunks.last_mut() else {
            return;
        };
        while number >= 0x80 {
            chunk.push(number as u8 | 0x80);
            number >>= 7;
        }
        chunk.push(number as u8);
    }

    /// A number that may be negative; small ones are short in both directions.
    pub(super) fn put_signed(&mut self, number: i64) {
        self.put(((number << 1) ^ (number >> 63)) as u64);
    }

    pub(super) fn reader(&self) -> Reader<'_> {
        Reader {
            chunks: self.chunks.iter(),
            bytes: &[],
        }
    }
}

/// Reads a tape from its begin.
#[derive(Clone, Debug)]
pub(super) struct Reader<'t> {
    chunks: std::slice::Iter<'t, Vec<u8>>,
    bytes: &'t [u8],
}

impl Reader<'_> {
    /// Whether another record follows.
    pub(super) fn next_record(&mut self) -> bool {
        if self.bytes.is_empty() {
            self.bytes = self.chunks.next().map_or(&[], Vec::as_slice);
        }
        !self.bytes.is_empty()
    }

    pub(super) fn number(&mut self) -> u64 {
        let (mut number, mut shift) = (0, 0);
        while let Some((byte, rest)) = self.bytes.split_first() {
            self.bytes = rest;
            number |= u64::from(byte & 0x7f) << shift;
            shift += 7;
            if byte & 0x80 == 0 {
                break;
            }
        }
        number
    }

    pub(super) fn signed(&mut self) -> i64 {
        let number = self.number();
        (number >> 1) as i64 ^ -((number & 1) as i64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_read_as_they_were_written() {
        let mut tape = Tape::default();
        let mut state = 7_u64;
        let mut numbers = vec![0, i64::MAX, i64::MIN, -1, 1, 63, 64, -64, -65];
        for _ in 0..50_000 {
            state = state.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
            // Of all lengths.
            numbers.push((state as i64) >> (state >> 58));
        }
        for number in &numbers {
            tape.begin();
            tape.put_signed(*number);
            tape.put(*number as u64);
        }
        assert!(tape.chunks.len() > 2);
        let mut reader = tape.reader();
        for number in numbers {
            assert!(reader.next_record());
            assert_eq!((reader.signed(), reader.number()), (number, number as u64));
        }
        assert!(!reader.next_record());
    }

    #[test]
    fn small_numbers_take_a_byte() {
        let mut tape = Tape::default();
        tape.begin();
        [0, -64, 63].into_iter().for_each(|it| tape.put_signed(it));
        tape.put(127);
        assert_eq!(tape.chunks[0].len(), 4);
        assert!(!Tape::default().reader().next_record());
    }
}
