//! How a process learns its rank in a distributed run: from variables that launchers set.

/// The variables, in the order in which they are believed: the frameworks' and the launchers' own, and
/// last the one that counts within a host only.
pub const RANK_VARIABLES: [&str; 8] = [
    "RANK",
    "RANK_ID",
    "OMPI_COMM_WORLD_RANK",
    "PMIX_RANK",
    "PMI_RANK",
    "MV2_COMM_WORLD_RANK",
    "SLURM_PROCID",
    "LOCAL_RANK",
];

/// Digits of the largest rank that is believed.
const MOST_DIGITS: usize = 9;

/// Whether the value of such a variable is a rank: a decimal number. Some launchers set variables
/// to nothing, or to a word, where there are no ranks.
pub fn is_rank(value: &[u8]) -> bool {
    (1..=MOST_DIGITS).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_numbers_are_ranks() {
        assert!(is_rank(b"0") && is_rank(b"4095"));
        for value in ["", " 3", "-1", "none", "1234567890"] {
            assert!(!is_rank(value.as_bytes()), "{value}");
        }
    }
}
