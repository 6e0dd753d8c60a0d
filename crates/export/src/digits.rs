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

/// Appends the digits of a number, at least `least` of them (at most 20).
pub(crate) fn write_unsigned(text: &mut Vec<u8>, mut value: u64, least: usize) {
    let mut buffer = [b'0'; MOST];
    let mut first = MOST;
    while value >= 10 {
        let pair = (value % 100) as usize * 2;
        value /= 100;
        first -= 2;
        buffer[first..first + 2].copy_from_slice(&PAIRS[pair..pair + 2]);
    }
    if value > 0 {
        first -= 1;
        buffer[first] = b'0' + value as u8;
    }
    text.extend_from_slice(&buffer[first.min(MOST - least)..]);
}

pub(crate) fn write_signed(text: &mut Vec<u8>, value: i64) {
    if value < 0 {
        text.push(b'-');
    }
    write_unsigned(text, value.unsigned_abs(), 1);
}

/// Appends a number as debuggers write addresses.
pub(crate) fn write_address(text: &mut Vec<u8>, value: u64) {
    let digits = 16 - (value | 1).leading_zeros() / 4;
    text.extend_from_slice(b"0x");
    for place in (0..digits).rev() {
        let digit = (value >> (4 * place) & 0xf) as usize;
        text.push(b"0123456789abcdef"[digit]);
    }
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
                assert_eq!(text(|it| write_unsigned(it, near, 1)), near.to_string());
                assert_eq!(text(|it| write_unsigned(it, near, 3)), format!("{near:03}"));
                assert_eq!(text(|it| write_address(it, near)), format!("{near:#x}"));
                let signed = (near as i64).wrapping_neg();
                assert_eq!(text(|it| write_signed(it, signed)), signed.to_string());
            }
            value /= 3;
        }
        assert_eq!(text(|it| write_unsigned(it, 0, 1)), "0");
        assert_eq!(text(|it| write_unsigned(it, 0, 20)), "0".repeat(20));
        assert_eq!(text(|it| write_signed(it, i64::MIN)), i64::MIN.to_string());
    }
}
