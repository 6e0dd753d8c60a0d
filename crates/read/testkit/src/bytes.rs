//! Trace files written byte by byte from `docs/FORMAT.md`.
//!
//! Nothing here is shared with the codec, not even the checksum: a reader test that uses these
//! bytes fails when the codec and the document drift apart.

/// A trace file under construction.
#[derive(Clone, Debug)]
pub struct TraceBytes {
    bytes: Vec<u8>,
}

/// One column of a table.
#[derive(Clone, Debug, Default)]
pub struct Column {
    bytes: Vec<u8>,
    /// Added to the length.
    form: u32,
}

impl TraceBytes {
    /// A file that has its header: magic, version, reserved.
    pub fn new(version: u32) -> Self {
        let mut bytes = b"ASCTRACE".to_vec();
        bytes.extend(version.to_le_bytes());
        bytes.extend([0; 4]);
        Self { bytes }
    }

    /// A file that has its header and the two leading chunks.
    pub fn with_leading_chunks(session_json: &str, tables_json: &str) -> Self {
        Self::new(1)
            .chunk(b"SESS", session_json.as_bytes())
            .chunk(b"TABL", &packed(tables_json.as_bytes()))
    }

    /// Appends a chunk around a payload.
    pub fn chunk(mut self, kind: &[u8; 4], payload: &[u8]) -> Self {
        let mut header = vec![0xa7, b'C', b'H', b'K'];
        header.extend(kind);
        header.extend((payload.len() as u32).to_le_bytes());
        header.extend(crc32(payload).to_le_bytes());
        header.extend(crc32(&header).to_le_bytes());
        self.bytes.extend(header);
        self.bytes.extend(payload);
        self
    }

    /// Appends a chunk that holds a table.
    pub fn table(self, kind: &[u8; 4], rows: u32, columns: &[Column]) -> Self {
        let plain = plain_table(rows, columns);
        self.chunk(kind, &packed(&plain))
    }

    /// As [`TraceBytes::table`], packed as well as runs of equal bytes allow.
    pub fn packed_table(self, kind: &[u8; 4], rows: u32, columns: &[Column]) -> Self {
        let plain = plain_table(rows, columns);
        self.packed_chunk(kind, &plain)
    }

    /// A chunk with a payload that is packed as well as runs of equal bytes allow.
    pub fn packed_chunk(self, kind: &[u8; 4], plain: &[u8]) -> Self {
        self.chunk(kind, &packed_runs(plain))
    }

    /// Appends bytes as they are.
    pub fn raw(mut self, bytes: &[u8]) -> Self {
        self.bytes.extend(bytes);
        self
    }

    pub fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

fn plain_table(rows: u32, columns: &[Column]) -> Vec<u8> {
    let mut plain = rows.to_le_bytes().to_vec();
    plain.extend((columns.len() as u32).to_le_bytes());
    for column in columns {
        plain.extend((column.bytes.len() as u32 | column.form).to_le_bytes());
    }
    for column in columns {
        plain.extend(&column.bytes);
    }
    plain
}

impl Column {
    /// A column of unsigned numbers, one for each row; so for the others.
    pub fn numbers(values: &[u64]) -> Self {
        let mut column = Self::default();
        values.iter().for_each(|value| column.number(*value));
        column
    }

    /// A column that has the same number in each of `rows` rows.
    pub fn repeated(value: u64, rows: u32) -> Self {
        let one = Self::numbers(&[value]);
        Self {
            bytes: one.bytes.repeat(rows as usize),
            form: 0,
        }
    }

    /// This column's values, then another's.
    pub fn then(mut self, other: &Self) -> Self {
        self.bytes.extend(&other.bytes);
        self
    }

    pub fn signed(values: &[i64]) -> Self {
        let folded = values.iter().map(|&value| {
            let magnitude = i128::from(value);
            if magnitude < 0 {
                -2 * magnitude - 1
            } else {
                2 * magnitude
            }
        });
        let mut column = Self::default();
        folded.for_each(|value| column.number(value as u64));
        column
    }

    pub fn optional(values: &[Option<u32>]) -> Self {
        let shifted: Vec<u64> = values
            .iter()
            .map(|value| value.map_or(0, |value| u64::from(value) + 1))
            .collect();
        Self::numbers(&shifted)
    }

    pub fn texts(values: &[&str]) -> Self {
        let mut column = Self::default();
        for text in values {
            column.number(text.len() as u64);
            column.bytes.extend(text.as_bytes());
        }
        column
    }

    /// The same column with its one value standing for all rows.
    pub fn same(mut self) -> Self {
        self.form = 1 << 31;
        self
    }

    /// The same column with the first bytes of all values before their further bytes.
    pub fn split(self) -> Self {
        let is_first = |at: usize| at == 0 || self.bytes[at - 1] < 128;
        let (first, rest): (Vec<usize>, Vec<usize>) =
            (0..self.bytes.len()).partition(|at| is_first(*at));
        let mut column = Self::numbers(&[first.len() as u64]);
        let order = first.into_iter().chain(rest);
        column.bytes.extend(order.map(|at| self.bytes[at]));
        column.form = 1 << 30;
        column
    }

    fn number(&mut self, mut value: u64) {
        loop {
            let low = (value % 128) as u8;
            value /= 128;
            if value == 0 {
                self.bytes.push(low);
                return;
            }
            self.bytes.push(low + 128);
        }
    }
}

/// Packs a payload without making it smaller: one LZ4 sequence that is all literals.
pub fn packed(plain: &[u8]) -> Vec<u8> {
    let mut packed = (plain.len() as u32).to_le_bytes().to_vec();
    packed.push((plain.len().min(15) as u8) << 4);
    if let Some(mut more) = plain.len().checked_sub(15) {
        while more >= 255 {
            packed.push(255);
            more -= 255;
        }
        packed.push(more as u8);
    }
    packed.extend(plain);
    packed
}

/// Packs a payload by its repetitions, at distances from 1 to 4 bytes and of 128: LZ4 sequences of literals and
/// a copy.
pub fn packed_runs(plain: &[u8]) -> Vec<u8> {
    const SHORTEST: usize = 20;
    /// Number of literal bytes at the end.
    const LAST: usize = 12;
    let mut packed = (plain.len() as u32).to_le_bytes().to_vec();
    let (mut from, mut at) = (0, 4);
    const DISTANCES: [usize; 5] = [1, 2, 3, 4, 128];
    while at + LAST + SHORTEST < plain.len() {
        let most = plain.len() - LAST - at;
        let run = |distance: usize| {
            let same = (0..most).take_while(|it| plain[at + it] == plain[at + it - distance]);
            same.count()
        };
        let mut near = DISTANCES.into_iter().filter(|distance| *distance <= at);
        let found = near
            .find(|distance| (0..SHORTEST).all(|it| plain[at + it] == plain[at + it - distance]));
        let Some(distance) = found else {
            at += 1;
            continue;
        };
        let length = run(distance);
        sequence(&mut packed, &plain[from..at], Some((distance, length)));
        at += length;
        from = at;
    }
    sequence(&mut packed, &plain[from..], None);
    packed
}

fn sequence(packed: &mut Vec<u8>, literals: &[u8], copy: Option<(usize, usize)>) {
    let more = copy.map_or(0, |(_, length)| length - 4);
    packed.push((literals.len().min(15) << 4 | more.min(15)) as u8);
    lengthen(packed, literals.len());
    packed.extend(literals);
    if let Some((distance, _)) = copy {
        packed.extend((distance as u16).to_le_bytes());
        lengthen(packed, more);
    }
}

fn lengthen(packed: &mut Vec<u8>, length: usize) {
    if let Some(mut more) = length.checked_sub(15) {
        while more >= 255 {
            packed.push(255);
            more -= 255;
        }
        packed.push(more as u8);
    }
}

/// Packs a payload without making it smaller: one Zstandard frame of stored blocks.
pub fn packed_as_zstandard(plain: &[u8]) -> Vec<u8> {
    let length = plain.len() as u32;
    let mut packed = (length | 1 << 28).to_le_bytes().to_vec();
    // Magic, then: a single segment, with its length in the next four bytes.
    packed.extend([0x28, 0xb5, 0x2f, 0xfd, 0xa0]);
    packed.extend(length.to_le_bytes());
    let blocks: Vec<&[u8]> = plain.chunks(1 << 16).collect();
    for (number, block) in blocks.iter().enumerate() {
        let is_last = number + 1 == blocks.len();
        let header = (block.len() as u32) << 3 | u32::from(is_last);
        packed.extend(&header.to_le_bytes()[..3]);
        packed.extend(*block);
    }
    packed
}

/// CRC-32 as zip and Ethernet have it, bit by bit.
pub fn crc32(bytes: &[u8]) -> u32 {
    let mut crc = u32::MAX;
    for byte in bytes {
        crc ^= u32::from(*byte);
        for _ in 0..8 {
            let carry = crc & 1;
            crc >>= 1;
            if carry == 1 {
                crc ^= 0xedb8_8320;
            }
        }
    }
    !crc
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_checksum_has_its_published_check_value() {
        assert_eq!(crc32(b"123456789"), 0xcbf4_3926);
    }

    #[test]
    fn numbers_are_written_as_the_document_says() {
        assert_eq!(
            Column::numbers(&[0, 127, 128, 300]).bytes,
            [0, 127, 0x80, 1, 0xac, 2]
        );
        assert_eq!(
            Column::signed(&[0, -1, 1, -2, i64::MIN]).bytes[..4],
            [0, 1, 2, 3]
        );
        assert_eq!(Column::optional(&[None, Some(0)]).bytes, [0, 1]);
        assert_eq!(Column::texts(&["ab", ""]).bytes, [2, b'a', b'b', 0]);
    }

    #[test]
    fn long_payloads_have_a_long_literal_length() {
        let packed = packed(&[7; 600]);
        assert_eq!(packed[..8], [88, 2, 0, 0, 0xf0, 255, 255, 75]);
        assert_eq!(packed.len(), 8 + 600);
    }
}
