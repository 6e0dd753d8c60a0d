//! Documents that fit into a number of bytes: long lists lose their ends, long texts their last characters.

use std::collections::BTreeMap;

use serde_json::Value;

/// Entries of a list, and of a map, in the first attempt.
const MOST_ROWS: usize = 400;
/// With fewer than these, texts become shorter instead.
const FEWEST_ROWS: usize = 4;
/// Characters of a text in the first attempt.
const MOST_CHARACTERS: usize = 400;
const FEWEST_CHARACTERS: usize = 24;
/// Entries of a list inside the entries of another one.
const MOST_INNER_ROWS: usize = 24;

/// A document, and how many entries of its lists are not in it.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Bounded {
    pub(crate) document: Value,
    pub(crate) left_out: BTreeMap<String, usize>,
}

impl Bounded {
    /// The largest part of a document that takes no more than `most` bytes.
    pub(crate) fn of(document: &Value, most: usize) -> Self {
        let (mut rows, mut characters) = (MOST_ROWS, MOST_CHARACTERS);
        loop {
            let found = Self::cut(document, rows, characters);
            let is_least = rows <= FEWEST_ROWS && characters <= FEWEST_CHARACTERS;
            if is_least || size(&found.document) <= most {
                return found;
            }
            match rows > FEWEST_ROWS {
                true => rows = (rows / 2).max(FEWEST_ROWS),
                false => characters = (characters / 2).max(FEWEST_CHARACTERS),
            }
        }
    }

    fn cut(document: &Value, rows: usize, characters: usize) -> Self {
        let mut left_out = BTreeMap::new();
        if let Value::Object(fields) = document {
            for (name, value) in fields {
                let more = length(value).saturating_sub(rows);
                if more > 0 {
                    left_out.insert(name.clone(), more);
                }
            }
        }
        Self {
            document: cut(document, rows, characters),
            left_out,
        }
    }
}

/// Bytes that a document takes in the page.
pub(crate) fn size(document: &Value) -> usize {
    inert(document).len()
}

/// A document as JSON that no parser of HTML can take for markup.
pub(crate) fn inert(document: &Value) -> String {
    document.to_string().replace('<', "\\u003c")
}

fn length(value: &Value) -> usize {
    match value {
        Value::Array(items) => items.len(),
        _ => 0,
    }
}

fn cut(value: &Value, rows: usize, characters: usize) -> Value {
    match value {
        Value::Array(items) => {
            let inner = rows.min(MOST_INNER_ROWS);
            let kept = items.iter().take(rows);
            kept.map(|it| cut(it, inner, characters)).collect()
        }
        Value::Object(fields) => {
            let kept = fields.iter().take(MOST_ROWS);
            let kept = kept.map(|(name, value)| (name.clone(), cut(value, rows, characters)));
            Value::Object(kept.collect())
        }
        Value::String(text) => shortened(text, characters).into(),
        other => other.clone(),
    }
}

/// A text with no more characters than `most`, the last one of which shows that there are more.
pub(crate) fn shortened(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            text.chars()
                .take(most.saturating_sub(1))
                .collect::<String>()
                + "…"
        }
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_short_document_stays_as_it_is() {
        let document = json!({"rows": [{"name": "a", "count": 1}], "total": 3});
        let found = Bounded::of(&document, 1_000);
        assert_eq!(found.document, document);
        assert!(found.left_out.is_empty());
    }

    #[test]
    fn a_long_list_ends_early_and_its_rest_is_counted() {
        let rows: Vec<Value> = (0..1_000).map(|it| json!({ "number": it })).collect();
        let found = Bounded::of(&json!({ "rows": rows }), 1_000);
        let kept = found.document["rows"].as_array().unwrap();
        assert_eq!(kept[..], rows[..kept.len()]);
        assert_eq!(found.left_out["rows"], 1_000 - kept.len());
        assert!(size(&found.document) <= 1_000);
    }

    #[test]
    fn long_texts_become_short_where_few_rows_are_too_much() {
        let text = "<b>".repeat(10_000);
        let found = Bounded::of(&json!({ "rows": [text.clone(), text] }), 2_000);
        assert!(size(&found.document) <= 2_000);
        let kept = found.document["rows"][0].as_str().unwrap();
        assert!(kept.starts_with("<b><b>") && kept.ends_with('…'), "{kept}");
    }

    #[test]
    fn the_json_has_no_character_that_begins_markup() {
        let document = json!({"</script>": "<!-- <script>"});
        let text = inert(&document);
        assert!(!text.contains('<'), "{text}");
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), document);
    }
}
