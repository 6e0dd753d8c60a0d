//! Options of a recording that is continued in further files.

use clap::Args;

use ascend_trace_collector::roll::{RollAt, RollOptions};

use super::ring::{SHORTEST, SMALLEST, size, time};

/// Options of a recording with several files.
#[derive(Clone, Debug, Args)]
pub(crate) struct RollArgs {
    /// Go on in a further file after this time, such as 10m, or when the file has this size, such as 2G: `run-0001.atrace`,
    /// `run-0002.atrace`. Each can be opened alone, and reports take several of them as one recording
    #[arg(long, value_name = "DURATION|SIZE", value_parser = roll_at, conflicts_with = "ring")]
    roll: Option<RollAt>,
}

impl RollArgs {
    /// The files that are wanted, if there are several. `keep` of them stay.
    pub(crate) fn wanted(&self, keep: Option<usize>, force: bool) -> Option<RollOptions> {
        let at = self.roll?;
        Some(RollOptions { at, keep, force })
    }
}

/// The value of `--roll`.
fn roll_at(text: &str) -> Result<RollAt, String> {
    // Minutes are m: the word is usual for this option.
    let text = text.trim();
    if let Some(bytes) = size(text) {
        return match bytes >= SMALLEST {
            true => Ok(RollAt::Bytes(bytes)),
            false => Err("a file has a size of 1M or more".to_owned()),
        };
    }
    let minutes = text.strip_suffix("min").map(|number| format!("{number}m"));
    match time(minutes.as_deref().unwrap_or(text)) {
        Ok(time) if time >= SHORTEST => Ok(RollAt::Time(time)),
        Ok(_) => Err("a file has a time of 1s or more".to_owned()),
        Err(_) => Err(format!(
            "`{text}` is neither a time, such as 10m, nor a size, such as 2G"
        )),
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn a_file_has_a_time_or_a_size() {
        for (text, expected) in [
            ("10min", RollAt::Time(Duration::from_secs(600))),
            ("10m", RollAt::Time(Duration::from_secs(600))),
            ("1500ms", RollAt::Time(Duration::from_millis(1500))),
            ("2G", RollAt::Bytes(2 << 30)),
        ] {
            assert_eq!(roll_at(text), Ok(expected), "{text}");
        }
        for wrong in ["", "10", "min", "0s", "10ms", "1K", "-5s", "5 files"] {
            assert!(roll_at(wrong).is_err(), "{wrong}");
        }
    }
}
