//! Writing JSON text without building it first. The caller keeps brackets and names in balance;
//! this keeps commas, escapes and numbers right.

use std::io::Write as _;

use crate::digits::{write_address, write_signed, write_thousandths, write_unsigned};
use crate::fields::{FieldName, FieldWriter};

/// Integers beyond this are not exact in a JSON reader that knows only doubles.
const EXACT: u64 = 1 << 53;

/// JSON text in the making.
#[derive(Debug, Default)]
pub(crate) struct JsonText {
    text: Vec<u8>,
    /// A comma is due before the next name or element.
    comma: bool,
}

impl JsonText {
    pub(crate) fn as_bytes(&self) -> &[u8] {
        &self.text
    }

    /// Goes on after the bytes of a text.
    pub(crate) fn on(text: Vec<u8>) -> Self {
        Self { text, comma: false }
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.text
    }

    pub(crate) fn into_string(self) -> String {
        // Only whole characters are ever added.
        String::from_utf8(self.text).unwrap_or_default()
    }

    /// Drops the written text; the state stays.
    pub(crate) fn drain(&mut self) {
        self.text.clear();
    }

    /// Adds text that is JSON itself; no comma is due after it.
    #[inline]
    pub(crate) fn plain(&mut self, text: &[u8]) {
        self.text.extend_from_slice(text);
        self.comma = false;
    }

    /// Opens an object or an array.
    #[inline]
    pub(crate) fn open(&mut self, bracket: u8) {
        self.separate();
        self.text.push(bracket);
        self.comma = false;
    }

    /// Closes an object or an array.
    #[inline]
    pub(crate) fn close(&mut self, bracket: u8) {
        self.text.push(bracket);
        self.comma = true;
    }

    /// As [`JsonText::key`], for a name that is written out with its comma, quotes and colon.
    #[inline]
    pub(crate) fn next(&mut self, name: &'static [u8]) -> &mut Self {
        self.plain(name);
        self
    }

    /// The name of a member; its value must follow.
    #[inline]
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.separate();
        self.quote(name);
        self.text.push(b':');
        self.comma = false;
        self
    }

    /// The same for a name of which nothing has to be escaped.
    #[inline]
    pub(crate) fn key(&mut self, name: &str) -> &mut Self {
        self.text
            .extend_from_slice(if self.comma { b",\"" } else { b"\"" });
        self.text.extend_from_slice(name.as_bytes());
        self.text.extend_from_slice(b"\":");
        self.comma = false;
        self
    }

    #[inline]
    fn separate(&mut self) {
        if self.comma {
            self.text.push(b',');
        }
        self.comma = true;
    }

    #[inline]
    pub(crate) fn string(&mut self, value: &str) {
        self.separate();
        self.quote(value);
    }

    pub(crate) fn null(&mut self) {
        self.separate();
        self.text.extend_from_slice(b"null");
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.separate();
        self.text
            .extend_from_slice(if value { b"true" } else { b"false" });
    }

    /// A number, or its digits as a string where a reader's doubles would change it.
    #[inline]
    pub(crate) fn integer(&mut self, value: i64) {
        self.separate();
        if value.unsigned_abs() <= EXACT {
            return write_signed(&mut self.text, value);
        }
        self.text.push(b'"');
        write_signed(&mut self.text, value);
        self.text.push(b'"');
    }

    /// As [`JsonText::integer`].
    #[inline]
    pub(crate) fn unsigned(&mut self, value: u64) {
        self.separate();
        if value <= EXACT {
            return write_unsigned(&mut self.text, value);
        }
        self.text.push(b'"');
        write_unsigned(&mut self.text, value);
        self.text.push(b'"');
    }

    /// An address, in the notation that debuggers use.
    pub(crate) fn address(&mut self, value: u64) {
        self.separate();
        self.text.push(b'"');
        write_address(&mut self.text, value);
        self.text.push(b'"');
    }

    /// A fraction; JSON has no word for infinities and not-a-number, so those become strings.
    pub(crate) fn float(&mut self, value: f64) {
        self.separate();
        // Writing to a Vec cannot fail.
        let _ = match value.is_finite() {
            true => write!(self.text, "{value}"),
            false => write!(self.text, "\"{value}\""),
        };
    }

    /// Nanoseconds as microseconds with all digits and never an exponent.
    pub(crate) fn micros(&mut self, ns: i64) {
        self.separate();
        if ns < 0 {
            self.text.push(b'-');
        }
        write_thousandths(&mut self.text, ns.unsigned_abs());
    }

    /// The name of a member, as the exports name values.
    #[inline]
    fn field<'t>(&mut self, name: impl Into<FieldName<'t>>) -> &mut Self {
        let name = name.into();
        match name {
            FieldName::Word(word) => self.key(word),
            FieldName::OfTrace(text) => self.name(text),
        }
    }

    #[inline]
    fn quote(&mut self, value: &str) {
        if has_special(value.as_bytes()) {
            return self.escaped(value);
        }
        self.text.push(b'"');
        self.text.extend_from_slice(value.as_bytes());
        self.text.push(b'"');
    }

    fn escaped(&mut self, value: &str) {
        // Writing to a Vec cannot fail, and a text is always JSON.
        let _ = serde_json::to_writer(&mut self.text, value);
    }
}

/// Whether a text has characters that must be escaped: eight bytes at a time, since nearly no text
/// has any and all have to be looked at.
#[inline]
fn has_special(text: &[u8]) -> bool {
    let (words, rest) = text.as_chunks::<8>();
    let mut found = 0;
    for word in words {
        found |= special_in(u64::from_le_bytes(*word));
    }
    // The end of a longer text is examined together with the bytes before it.
    let last = match (rest, text.last_chunk::<8>()) {
        ([], _) => return found != 0,
        (_, Some(word)) => u64::from_le_bytes(*word),
        (_, None) => short_word(text),
    };
    found | special_in(last) != 0
}

/// A text of less than eight bytes, among others that mean nothing.
#[inline]
fn short_word(text: &[u8]) -> u64 {
    match (text.first_chunk::<4>(), text.last_chunk::<4>()) {
        (Some(first), Some(last)) => {
            let (first, last) = (u32::from_le_bytes(*first), u32::from_le_bytes(*last));
            u64::from(first) | u64::from(last) << 32
        }
        _ => {
            let mut word = [b' '; 8];
            for (to, from) in word.iter_mut().zip(text.iter().take(3)) {
                *to = *from;
            }
            u64::from_le_bytes(word)
        }
    }
}

/// The highest bit of each byte that is a control character, a quote or a backslash. A byte after
/// one of those may be reported too, but none where there is no such byte.
#[inline]
fn special_in(word: u64) -> u64 {
    const ONES: u64 = 0x0101_0101_0101_0101;
    const HIGH: u64 = 0x8080_8080_8080_8080;
    let below = |word: u64, limit: u64| word.wrapping_sub(ONES * limit) & !word & HIGH;
    below(word, 0x20)
        | below(word ^ (ONES * u64::from(b'"')), 1)
        | below(word ^ (ONES * u64::from(b'\\')), 1)
}

impl<'t> FieldWriter<'t> for JsonText {
    #[inline]
    fn integer(&mut self, name: impl Into<FieldName<'t>>, value: i64) {
        self.field(name).integer(value);
    }

    #[inline]
    fn unsigned(&mut self, name: impl Into<FieldName<'t>>, value: u64) {
        self.field(name).unsigned(value);
    }

    #[inline]
    fn address(&mut self, name: impl Into<FieldName<'t>>, value: u64) {
        self.field(name).address(value);
    }

    #[inline]
    fn float(&mut self, name: impl Into<FieldName<'t>>, value: f64) {
        self.field(name).float(value);
    }

    #[inline]
    fn boolean(&mut self, name: impl Into<FieldName<'t>>, value: bool) {
        self.field(name).boolean(value);
    }

    #[inline]
    fn text(&mut self, name: impl Into<FieldName<'t>>, value: &str) {
        self.field(name).string(value);
    }

    fn list(&mut self, name: impl Into<FieldName<'t>>, values: &str) {
        self.field(name).open(b'[');
        self.plain(values.as_bytes());
        self.close(b']');
    }

    #[inline]
    fn nothing(&mut self, name: impl Into<FieldName<'t>>) {
        self.field(name).null();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_as_it_was_written() {
        let mut json = JsonText::default();
        json.open(b'{');
        json.name("quote \" slash \\ tab \t")
            .string("line\nfeed \u{1} ü");
        json.name("list").open(b'[');
        json.integer(-3);
        json.unsigned(u64::MAX);
        json.integer(i64::MIN);
        json.float(0.1);
        json.float(f64::NAN);
        json.address(0xff);
        json.null();
        json.boolean(true);
        json.close(b']');
        json.name("empty").open(b'{');
        json.close(b'}');
        json.name("last").integer(1);
        json.close(b'}');
        let expected = serde_json::json!({
            "quote \" slash \\ tab \t": "line\nfeed \u{1} ü",
            "list": [-3, "18446744073709551615", "-9223372036854775808", 0.1, "NaN", "0xff", null, true],
            "empty": {},
            "last": 1,
        });
        let read: serde_json::Value = serde_json::from_slice(json.as_bytes()).unwrap();
        assert_eq!(read, expected);
    }

    #[test]
    fn every_character_that_must_be_escaped_is_found_anywhere() {
        for byte in 0..=255_u8 {
            for length in 1..20 {
                for place in 0..length {
                    let mut text = vec![b'a'; length];
                    text[place] = byte;
                    let expected = byte < b' ' || byte == b'"' || byte == b'\\';
                    assert_eq!(has_special(&text), expected, "{byte} {length} {place}");
                }
            }
        }
    }

    #[test]
    fn microseconds_keep_every_nanosecond() {
        let text = |ns| {
            let mut json = JsonText::default();
            json.micros(ns);
            String::from_utf8(json.as_bytes().to_vec()).unwrap()
        };
        assert_eq!(text(0), "0.000");
        assert_eq!(text(7), "0.007");
        assert_eq!(text(1_234_567_890_123_456), "1234567890123.456");
        assert_eq!(text(-1_001), "-1.001");
    }
}
