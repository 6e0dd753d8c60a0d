//! Decimal digits. Numbers are most of an export, and this is several times as fast as formatting.

const MOST: usize = 20;

/// Two digits of every number below 100.
const PAIRS: [u8; 200] = pairs();

const fn pairs() -> [u8; 200] {
    let mut pairs = [0; 200];
    let mut number = 0;
    while number < 100 {
        pairs[2 * number] = b'0' + (number / 10) as u8;
        pairs[2 * number + 1] = b'0' + (number % 10) as u8;
        number += 1;
    }
    pairs
}

/// Appends the first bytes of a buffer. A copy of fixed length and a cut are faster than a copy of
/// whatever length.
#[inline]
fn append(text: &mut Vec<u8>, buffer: &[u8; MOST], length: usize) {
    let end = text.len() + length;
    text.extend_from_slice(buffer);
    text.truncate(end);
}

/// Puts the digits of a number, as many as there is room for.
#[inline]
fn fill(room: &mut [u8], mut value: u64) {
    let mut pairs = room.rchunks_exact_mut(2);
    for place in &mut pairs {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        place.copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if let [first] = pairs.into_remainder() {
        *first = b'0' + (value % 10) as u8;
    }
}

/// Appends the digits of a number.
#[inline]
pub(crate) fn write_unsigned(text: &mut Vec<u8>, value: u64) {
    let count = value.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut buffer = [0; MOST];
    fill(&mut buffer[..count], value);
    append(text, &buffer, count);
}

/// Appends a number of thousandths, with all three decimals.
#[inline]
pub(crate) fn write_thousandths(text: &mut Vec<u8>, value: u64) {
    let (whole, rest) = (value / 1000, value % 1000);
    let count = whole.checked_ilog10().unwrap_or(0) as usize + 1;
    let mut buffer = [0; MOST];
    // The largest number has 17 digits and a point before its decimals.
    fill(&mut buffer[..count.min(MOST - 4)], whole);
    if let Some([point, decimals @ ..]) = buffer.get_mut(count..count + 4) {
        *point = b'.';
        fill(decimals, rest);
        return append(text, &buffer, count + 4);
    }
    write_unsigned(text, whole);
    text.push(b'.');
    let mut decimals = [0; 3];
    fill(&mut decimals, rest);
    text.extend_from_slice(&decimals);
}

#[inline]
pub(crate) fn write_signed(text: &mut Vec<u8>, value: i64) {
    if value < 0 {
        text.push(b'-');
    }
    write_unsigned(text, value.unsigned_abs());
}

/// Appends a number as debuggers write addresses.
#[inline]
pub(crate) fn write_address(text: &mut Vec<u8>, value: u64) {
    let count = (67 - (value | 1).leading_zeros() as usize) / 4;
    let mut buffer = [0; MOST];
    (buffer[0], buffer[1]) = (b'0', b'x');
    let mut rest = value;
    for digit in buffer[2..2 + count].iter_mut().rev() {
        *digit = b"0123456789abcdef"[(rest & 0xf) as usize];
        rest >>= 4;
    }
    append(text, &buffer, 2 + count);
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(write: impl FnOnce(&mut Vec<u8>)) -> String {
        let mut text = Vec::new();
        write(&mut text);
        String::from_utf8(text).unwrap()
    }

    #[test]
    fn digits_are_those_that_formatting_gives() {
        let mut value = u64::MAX;
        while value > 0 {
            for near in [value, value - 1, value / 10 * 10] {
                assert_eq!(text(|it| write_unsigned(it, near)), near.to_string());
                let decimal = format!("{}.{:03}", near / 1000, near % 1000);
                assert_eq!(text(|it| write_thousandths(it, near)), decimal);
                assert_eq!(text(|it| write_address(it, near)), format!("{near:#x}"));
                let signed = (near as i64).wrapping_neg();
                assert_eq!(text(|it| write_signed(it, signed)), signed.to_string());
            }
            value /= 3;
        }
        assert_eq!(text(|it| write_unsigned(it, 0)), "0");
        assert_eq!(text(|it| write_thousandths(it, 7)), "0.007");
        assert_eq!(text(|it| write_signed(it, i64::MIN)), i64::MIN.to_string());
    }
}
