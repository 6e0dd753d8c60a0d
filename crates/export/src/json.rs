//! Writing JSON text without building it first. The caller keeps brackets and names in balance;
//! this keeps commas, escapes and numbers right.

use std::fmt::Write as _;

use crate::fields::Fields;

/// Integers beyond this are not exact in a JSON reader that knows only doubles.
const EXACT: u64 = 1 << 53;

/// JSON text in the making.
#[derive(Debug, Default)]
pub(crate) struct Json {
    text: String,
    /// A comma is due before the next name or element.
    comma: bool,
}

impl Json {
    pub(crate) fn as_str(&self) -> &str {
        &self.text
    }

    pub(crate) fn clear(&mut self) {
        self.text.clear();
        self.comma = false;
    }

    /// Opens an object or an array.
    pub(crate) fn open(&mut self, bracket: char) {
        self.separate();
        self.text.push(bracket);
        self.comma = false;
    }

    /// Closes an object or an array.
    pub(crate) fn close(&mut self, bracket: char) {
        self.text.push(bracket);
        self.comma = true;
    }

    /// The name of a member; its value must follow.
    pub(crate) fn name(&mut self, name: &str) -> &mut Self {
        self.separate();
        self.quote(name);
        self.text.push(':');
        self.comma = false;
        self
    }

    fn separate(&mut self) {
        if self.comma {
            self.text.push(',');
        }
        self.comma = true;
    }

    pub(crate) fn string(&mut self, value: &str) {
        self.separate();
        self.quote(value);
    }

    pub(crate) fn null(&mut self) {
        self.raw(format_args!("null"));
    }

    pub(crate) fn boolean(&mut self, value: bool) {
        self.raw(format_args!("{value}"));
    }

    /// A number, or its digits as a string where a reader's doubles would change it.
    pub(crate) fn integer(&mut self, value: i64) {
        self.number(value < 0, value.unsigned_abs());
    }

    /// As [`Json::integer`].
    pub(crate) fn unsigned(&mut self, value: u64) {
        self.number(false, value);
    }

    fn number(&mut self, negative: bool, value: u64) {
        self.separate();
        let quote = if value <= EXACT { "" } else { "\"" };
        self.text.push_str(quote);
        if negative {
            self.text.push('-');
        }
        self.digits(value, 1);
        self.text.push_str(quote);
    }

    /// Decimal digits, at least `least` of them. Numbers are most of an export, and this is
    /// several times as fast as formatting.
    fn digits(&mut self, mut value: u64, least: usize) {
        let mut buffer = [b'0'; 20];
        let mut first = buffer.len();
        while value > 0 || buffer.len() - first < least {
            first -= 1;
            buffer[first] = b'0' + (value % 10) as u8;
            value /= 10;
        }
        let digits = buffer[first..].iter().map(|digit| char::from(*digit));
        self.text.extend(digits);
    }

    /// An address, in the notation that debuggers use.
    pub(crate) fn address(&mut self, value: u64) {
        self.raw(format_args!("\"{value:#x}\""));
    }

    /// A fraction; JSON has no word for infinities and not-a-number, so those become strings.
    pub(crate) fn float(&mut self, value: f64) {
        match value.is_finite() {
            true => self.raw(format_args!("{value}")),
            false => self.raw(format_args!("\"{value}\"")),
        }
    }

    /// Nanoseconds as microseconds with all digits and never an exponent.
    pub(crate) fn micros(&mut self, ns: i64) {
        self.separate();
        if ns < 0 {
            self.text.push('-');
        }
        self.digits(ns.unsigned_abs() / 1000, 1);
        self.text.push('.');
        self.digits(ns.unsigned_abs() % 1000, 3);
    }

    fn raw(&mut self, value: std::fmt::Arguments<'_>) {
        self.separate();
        // Writing to a String cannot fail.
        let _ = self.text.write_fmt(value);
    }

    fn quote(&mut self, value: &str) {
        self.text.push('"');
        let special = |byte: u8| byte < b' ' || byte == b'"' || byte == b'\\';
        if value.bytes().any(special) {
            self.escape(value);
        } else {
            self.text.push_str(value);
        }
        self.text.push('"');
    }

    fn escape(&mut self, value: &str) {
        for character in value.chars() {
            match character {
                '"' => self.text.push_str("\\\""),
                '\\' => self.text.push_str("\\\\"),
                '\n' => self.text.push_str("\\n"),
                control if control < ' ' => {
                    let _ = write!(self.text, "\\u{:04x}", control as u32);
                }
                other => self.text.push(other),
            }
        }
    }
}

impl<'t> Fields<'t> for Json {
    fn integer(&mut self, name: &'t str, value: i64) {
        self.name(name).integer(value);
    }

    fn unsigned(&mut self, name: &'t str, value: u64) {
        self.name(name).unsigned(value);
    }

    fn address(&mut self, name: &'t str, value: u64) {
        self.name(name).address(value);
    }

    fn float(&mut self, name: &'t str, value: f64) {
        self.name(name).float(value);
    }

    fn boolean(&mut self, name: &'t str, value: bool) {
        self.name(name).boolean(value);
    }

    fn constant(&mut self, name: &'t str, value: &'t str) {
        self.name(name).string(value);
    }

    fn text(&mut self, name: &'t str, value: &str) {
        self.name(name).string(value);
    }

    fn nothing(&mut self, name: &'t str) {
        self.name(name).null();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_reads_back_as_what_was_written() {
        let mut json = Json::default();
        json.open('{');
        json.name("quote \" slash \\ tab \t")
            .string("line\nfeed \u{1} ü");
        json.name("list").open('[');
        json.integer(-3);
        json.unsigned(u64::MAX);
        json.integer(i64::MIN);
        json.float(0.1);
        json.float(f64::NAN);
        json.address(0xff);
        json.null();
        json.boolean(true);
        json.close(']');
        json.name("empty").open('{');
        json.close('}');
        json.name("last").integer(1);
        json.close('}');
        let expected = serde_json::json!({
            "quote \" slash \\ tab \t": "line\nfeed \u{1} ü",
            "list": [-3, "18446744073709551615", "-9223372036854775808", 0.1, "NaN", "0xff", null, true],
            "empty": {},
            "last": 1,
        });
        let read: serde_json::Value = serde_json::from_str(json.as_str()).unwrap();
        assert_eq!(read, expected);
    }

    #[test]
    fn microseconds_keep_every_nanosecond() {
        let text = |ns| {
            let mut json = Json::default();
            json.micros(ns);
            json.as_str().to_owned()
        };
        assert_eq!(text(0), "0.000");
        assert_eq!(text(7), "0.007");
        assert_eq!(text(1_234_567_890_123_456), "1234567890123.456");
        assert_eq!(text(-1_001), "-1.001");
    }
}
