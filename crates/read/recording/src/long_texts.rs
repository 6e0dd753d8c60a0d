//! Texts that are too long to be shown: rows have a short form of them, and the file has each of them once.

use std::collections::HashMap;
use std::sync::Arc;

use crate::rows::LongTextRow;

/// Between the begin of a long text and its hash, in its short form.
const MARK: &str = "…#";
/// Hexadecimal digits of the hash.
const DIGITS: usize = 16;

/// The short form of a long text that begins with these bytes. Different texts have different short forms.
pub fn short_form(begin: &[u8], hash: u64) -> String {
    // The last character may be cut.
    let whole = match std::str::from_utf8(begin) {
        Err(error) if error.error_len().is_none() => begin.get(..error.valid_up_to()),
        _ => None,
    };
    let begin = String::from_utf8_lossy(whole.unwrap_or(begin));
    format!("{begin}{MARK}{hash:016x}")
}

/// The hash in a short form; `None` for any other text.
fn hash_of(text: &str) -> Option<u64> {
    let place = text.len().checked_sub(DIGITS)?;
    let (begin, digits) = text.split_at_checked(place)?;
    begin.ends_with(MARK).then_some(())?;
    u64::from_str_radix(digits, 16).ok()
}

/// The long texts of a trace.
#[derive(Clone, Debug, Default)]
pub(crate) struct LongTexts(HashMap<u64, Arc<str>>);

impl LongTexts {
    pub(crate) fn add(&mut self, row: LongTextRow) {
        self.0.entry(row.hash).or_insert_with(|| row.text.into());
    }

    /// The whole text of a short form, if the trace has it.
    pub(crate) fn whole(&self, short: &str) -> Option<&Arc<str>> {
        self.0.get(&hash_of(short)?)
    }

    /// All of them by hash.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (u64, &str)> {
        self.0.iter().map(|(hash, text)| (*hash, text.as_ref()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_form_leads_to_the_whole_text() {
        let mut all = LongTexts::default();
        let text = "kernel ".repeat(30);
        all.add(LongTextRow {
            hash: 0xabc,
            text: text.clone(),
        });
        let short = short_form(&text.as_bytes()[..20], 0xabc);
        assert_eq!(short, "kernel kernel kernel…#0000000000000abc");
        assert_eq!(all.whole(&short).map(|it| it.as_ref()), Some(text.as_str()));
        assert_eq!(all.whole(&short_form(b"kernel", 0xabd)), None);
        for other in ["kernel", "…#xyz", "kernel#0000000000000abc", ""] {
            assert_eq!(all.whole(other), None, "{other}");
        }
    }

    #[test]
    fn a_character_that_the_begin_cuts_is_left_out() {
        assert_eq!(short_form(&"核".as_bytes()[..2], 1), "…#0000000000000001");
        assert_eq!(short_form(b"\xffk", 1), "\u{fffd}k…#0000000000000001");
    }
}
