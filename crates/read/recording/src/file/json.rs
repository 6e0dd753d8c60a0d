//! Memory of JSON after its conversion to rows, computed before anything is converted.

use serde::de::{Deserialize, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor};

/// Place of a text or a list in its row, while the list of such rows grows: the old place, and the new
/// one of twice its size.
const PLACE: u64 = 3 * 24;
/// A number, a truth or nothing, likewise.
const SCALAR: u64 = 3 * 8;
/// Largest overhead of an allocation in addition to its bytes.
const ALLOCATION: u64 = 32;
/// A map of constants with its name: even one constant has a node for eleven.
const MAP: u64 = 512;

/// Memory of the rows in this JSON; `None` if it is not JSON.
pub(super) fn memory(plain: &[u8]) -> Option<u64> {
    let value: JsonSize = serde_json::from_slice(plain).ok()?;
    // Names of enumerations are no longer than all of it.
    Some(value.bytes.saturating_add(plain.len() as u64))
}

/// A value that was looked at and not kept.
struct JsonSize {
    bytes: u64,
    is_text: bool,
}

impl JsonSize {
    fn of(bytes: u64) -> Self {
        Self {
            bytes,
            is_text: false,
        }
    }
}

impl<'de> Deserialize<'de> for JsonSize {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        from.deserialize_any(SizeVisitor)
    }
}

struct SizeVisitor;

impl<'de> Visitor<'de> for SizeVisitor {
    type Value = JsonSize;

    fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("a value")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<JsonSize, E> {
        let own = match text.len() as u64 {
            0 => 0,
            bytes => bytes + ALLOCATION,
        };
        Ok(JsonSize {
            bytes: PLACE + own,
            is_text: true,
        })
    }

    fn visit_bool<E: Error>(self, _: bool) -> Result<JsonSize, E> {
        Ok(JsonSize::of(SCALAR))
    }

    fn visit_i64<E: Error>(self, _: i64) -> Result<JsonSize, E> {
        Ok(JsonSize::of(SCALAR))
    }

    fn visit_u64<E: Error>(self, _: u64) -> Result<JsonSize, E> {
        Ok(JsonSize::of(SCALAR))
    }

    fn visit_f64<E: Error>(self, _: f64) -> Result<JsonSize, E> {
        Ok(JsonSize::of(SCALAR))
    }

    fn visit_unit<E: Error>(self) -> Result<JsonSize, E> {
        Ok(JsonSize::of(SCALAR))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<JsonSize, A::Error> {
        let mut bytes = PLACE + ALLOCATION;
        while let Some(value) = list.next_element::<JsonSize>()? {
            bytes += value.bytes;
        }
        Ok(JsonSize::of(bytes))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<JsonSize, A::Error> {
        let (mut bytes, mut has_only_texts) = (0, true);
        while let Some((IgnoredAny, value)) = map.next_entry::<IgnoredAny, JsonSize>()? {
            bytes += value.bytes;
            has_only_texts &= value.is_text;
        }
        // All rows have members of other kinds: their place is what their members take.
        let own = if has_only_texts { MAP } else { 0 };
        Ok(JsonSize::of(bytes + own))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kept_values_count_and_names_of_members_do_not() {
        let of = |text: &str| memory(text.as_bytes()).map(|it| it - text.len() as u64);
        assert_eq!(of("7"), Some(SCALAR));
        assert_eq!(of(r#""""#), Some(PLACE));
        assert_eq!(of(r#""abc""#), Some(PLACE + ALLOCATION + 3));
        assert_eq!(of("[null, true]"), Some(PLACE + ALLOCATION + 2 * SCALAR));
        let row = r#"{"name": "", "out": false}"#;
        assert_eq!(of(row), Some(PLACE + SCALAR));
        assert_eq!(of(r#"{"1": "", "2": ""}"#), Some(MAP + 2 * PLACE));
        assert_eq!(of(r#"{"e": {}, "first": 1}"#), Some(MAP + SCALAR));
        assert_eq!(of("[1,"), None);
    }
}
