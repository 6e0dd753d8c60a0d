//! 64-bit FNV-1a: the same on every host and in every release, and short enough for what runs in programs.

/// The hash of nothing.
pub const EMPTY: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash of some bytes.
pub fn hash(bytes: &[u8]) -> u64 {
    extend(EMPTY, bytes)
}

/// Extends a hash by the following bytes.
pub fn extend(hash: u64, bytes: &[u8]) -> u64 {
    let add = |hash: u64, byte: &u8| (hash ^ u64::from(*byte)).wrapping_mul(0x0100_0000_01b3);
    bytes.iter().fold(hash, add)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_hash_is_fnv_1a() {
        assert_eq!(hash(b"foobar"), 0x8594_4171_f739_67e8);
        assert_eq!(extend(hash(b"foo"), b"bar"), hash(b"foobar"));
    }
}
