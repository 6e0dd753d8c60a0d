//! Parquet's encoding of small numbers: runs of one number, and groups of eight packed bit by bit.

/// Equal groups of eight that make a run.
const RUN: usize = 2;

/// Bits that numbers up to this one need.
pub(super) fn bits_for(most: u32) -> u32 {
    u32::BITS - most.leading_zeros()
}

/// Appends numbers of `bits` bits.
pub(super) fn encode(bytes: &mut Vec<u8>, numbers: &[u32], bits: u32) {
    let groups = numbers.chunks(8);
    let is_run = |group: &[u32]| group.iter().all(|number| *number == group[0]);
    let (mut at, mut packed) = (0, 0);
    while at < numbers.len() {
        let rest = groups.clone().skip(at / 8);
        let Some(first) = numbers.get(at) else { break };
        let same = rest
            .take_while(|group| is_run(group) && group[0] == *first)
            .map(<[u32]>::len);
        let (count, length) = same.fold((0, 0), |(count, sum), length| (count + 1, sum + length));
        if count < RUN && length < numbers.len() {
            at += 8;
            continue;
        }
        pack(bytes, &numbers[packed..at], bits);
        run(bytes, *first, length, bits);
        at += length;
        packed = at;
    }
    pack(bytes, &numbers[packed..], bits);
}

/// One number, `count` times.
pub(super) fn run(bytes: &mut Vec<u8>, number: u32, count: usize, bits: u32) {
    varint(bytes, (count as u64) << 1);
    let width = bits.div_ceil(8) as usize;
    bytes.extend_from_slice(&number.to_le_bytes()[..width]);
}

/// Numbers bit by bit; the last group is filled up.
fn pack(bytes: &mut Vec<u8>, numbers: &[u32], bits: u32) {
    if numbers.is_empty() {
        return;
    }
    varint(bytes, (numbers.len().div_ceil(8) as u64) << 1 | 1);
    for group in numbers.chunks(8) {
        let (mut word, mut used) = (0_u64, 0);
        let filled = group.iter().chain(std::iter::repeat(&0)).take(8);
        for number in filled {
            word |= u64::from(*number) << used;
            used += bits;
            while used >= 8 {
                bytes.push(word as u8);
                word >>= 8;
                used -= 8;
            }
        }
    }
}

fn varint(bytes: &mut Vec<u8>, mut value: u64) {
    while value >= 0x80 {
        bytes.push(value as u8 | 0x80);
        value >>= 7;
    }
    bytes.push(value as u8);
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Decodes it again, by the format's description.
    fn decode(mut bytes: &[u8], count: usize, bits: u32) -> Vec<u32> {
        let mut numbers = Vec::new();
        while !bytes.is_empty() {
            let (mut head, mut shift) = (0_u64, 0);
            while let Some((first, rest)) = bytes.split_first() {
                bytes = rest;
                head |= u64::from(first & 0x7f) << shift;
                shift += 7;
                if *first < 0x80 {
                    break;
                }
            }
            if head & 1 == 0 {
                let (value, rest) = bytes.split_at(bits.div_ceil(8) as usize);
                let parts = value.iter().rev();
                let value = parts.fold(0_u32, |sum, byte| sum << 8 | u32::from(*byte));
                numbers.extend(std::iter::repeat_n(value, (head >> 1) as usize));
                bytes = rest;
                continue;
            }
            let (packed, rest) = bytes.split_at((head >> 1) as usize * bits as usize);
            let bit = |place: usize| u32::from(packed[place / 8] >> (place % 8) & 1);
            for number in 0..(head >> 1) as usize * 8 {
                let places = (0..bits as usize).map(|at| bit(number * bits as usize + at) << at);
                numbers.push(places.sum());
            }
            bytes = rest;
        }
        assert!(numbers[count..].iter().all(|filler| *filler == 0));
        numbers.truncate(count);
        numbers
    }

    #[test]
    fn numbers_come_back_in_runs_and_apart() {
        let mut dice = 7_u64;
        for round in 0..400 {
            let most = [0, 1, 2, 11, 255, 256, 70_000][round % 7];
            let mut numbers: Vec<u32> = Vec::new();
            for _ in 0..round % 13 {
                dice = dice.wrapping_mul(6364136223846793005).wrapping_add(99);
                let (value, length) =
                    ((dice >> 33) as u32 % (most + 1), (dice >> 20) as usize % 40);
                match dice >> 62 {
                    0 => numbers.extend((0..length as u32).map(|at| at % (most + 1))),
                    _ => numbers.extend(std::iter::repeat_n(value, length)),
                }
            }
            let bits = bits_for(most);
            let mut bytes = Vec::new();
            encode(&mut bytes, &numbers, bits);
            assert_eq!(decode(&bytes, numbers.len(), bits), numbers, "{round}");
        }
    }

    #[test]
    fn a_long_run_takes_a_few_bytes() {
        let mut bytes = Vec::new();
        encode(&mut bytes, &[3; 100_000], bits_for(11));
        assert!(bytes.len() <= 5, "{bytes:?}");
    }
}
