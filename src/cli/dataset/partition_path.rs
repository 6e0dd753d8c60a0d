//! Where the files of a recording lie: a folder for each value of a partition column.

/// Characters of a value.
const LONGEST: usize = 120;

/// The values of the partition columns that all files of a recording share.
#[cfg(feature = "parquet")]
#[derive(Clone, Copy, Debug)]
pub(super) struct PartitionPath<'a> {
    pub(super) run: &'a str,
    pub(super) host: &'a str,
    pub(super) id: &'a str,
}

#[cfg(feature = "parquet")]
impl PartitionPath<'_> {
    /// The name of a rank's file of a table.
    pub(super) fn file(self, table: &str, rank: &str) -> String {
        let Self { run, host, id } = self;
        format!("{table}/run={run}/host={host}/rank={rank}/part-{id}.parquet")
    }
}

fn is_plain_character(it: char) -> bool {
    it.is_ascii_alphanumeric() || "._-".contains(it)
}

/// Whether all readers take a text for the value of a partition column as it stands.
pub(super) fn is_plain(text: &str) -> bool {
    !text.is_empty() && text.len() <= LONGEST && text.chars().all(is_plain_character)
}

/// A text as such a value: what readers would have to decode becomes `_`.
#[cfg(feature = "parquet")]
pub(super) fn plain(text: &str) -> String {
    let kept = |it: char| if is_plain_character(it) { it } else { '_' };
    match text.is_empty() {
        true => "unknown".to_owned(),
        false => text.chars().map(kept).take(LONGEST).collect(),
    }
}

/// The value of `--run`.
pub(crate) fn run_name(text: &str) -> Result<String, String> {
    match is_plain(text) {
        true => Ok(text.to_owned()),
        false => Err(format!(
            "the name of a run has 1 to {LONGEST} letters, digits, dots, hyphens and underscores"
        )),
    }
}

#[cfg(all(test, feature = "parquet"))]
mod tests {
    use super::*;

    #[test]
    fn values_need_no_decoding() {
        assert_eq!(plain("a b/c=é"), "a_b_c__");
        assert_eq!(plain(""), "unknown");
        assert!(is_plain(&plain(&"é".repeat(1000))));
        assert!(run_name("job-7_a.b").is_ok());
        for wrong in ["", "a/b", "a=b", "..\n", &"a".repeat(200)] {
            assert!(run_name(wrong).is_err(), "{wrong:?}");
        }
    }
}
