//! The part of JSON Schema that the tool's schemas use. Another keyword is an error of the test.

use std::collections::BTreeSet;

use serde_json::{Map, Value};

/// Keywords that say nothing about the document.
const ANNOTATIONS: [&str; 8] = [
    "$schema",
    "$defs",
    "title",
    "description",
    "format",
    "default",
    "x-unit",
    "uniqueItems",
];

/// A schema with its definitions.
pub(crate) struct Validator<'s> {
    root: &'s Value,
}

impl<'s> Validator<'s> {
    pub(crate) fn new(root: &'s Value) -> Self {
        Self { root }
    }

    /// The first mistake of a document: its place, and the keyword that it breaks.
    pub(crate) fn mistake(&self, document: &Value) -> Option<String> {
        self.check(self.root, document, "").err()
    }

    fn check(&self, schema: &'s Value, value: &Value, place: &str) -> Result<(), String> {
        let Value::Object(keywords) = schema else {
            assert_eq!(schema, &Value::Bool(true), "{place}");
            return Ok(());
        };
        for (keyword, wanted) in keywords {
            self.keyword(keywords, (keyword, wanted), value, place)?;
        }
        Ok(())
    }

    fn keyword(
        &self,
        all: &'s Map<String, Value>,
        (keyword, wanted): (&str, &'s Value),
        value: &Value,
        place: &str,
    ) -> Result<(), String> {
        let holds = match keyword {
            "$ref" => return self.check(self.definition(wanted), value, place),
            "oneOf" => self.matching(wanted, value, place) == 1,
            "anyOf" => self.matching(wanted, value, place) > 0,
            "type" => is_of_type(wanted, value),
            "const" => value == wanted,
            "enum" => wanted.as_array().unwrap().contains(value),
            "minimum" => value
                .as_f64()
                .is_none_or(|it| it >= wanted.as_f64().unwrap()),
            "maximum" => value
                .as_f64()
                .is_none_or(|it| it <= wanted.as_f64().unwrap()),
            "items" => {
                let items = value.as_array().into_iter().flatten().enumerate();
                for (number, item) in items {
                    self.check(wanted, item, &format!("{place}[{number}]"))?;
                }
                true
            }
            "properties" => {
                for (name, wanted) in wanted.as_object().unwrap() {
                    if let Some(inner) = value.get(name) {
                        self.check(wanted, inner, &format!("{place}.{name}"))?;
                    }
                }
                true
            }
            "required" => {
                let names: BTreeSet<&str> = wanted
                    .as_array()
                    .unwrap()
                    .iter()
                    .map(|it| it.as_str().unwrap())
                    .collect();
                // Else a document has a field twice.
                assert_eq!(names.len(), wanted.as_array().unwrap().len(), "{wanted}");
                let mut names = names.into_iter();
                let missing = names.find(|it| value.is_object() && value.get(it).is_none());
                if let Some(name) = missing {
                    return Err(format!("{place}: {name} is missing"));
                }
                true
            }
            "additionalProperties" => return self.others(all, wanted, value, place),
            keyword => {
                assert!(ANNOTATIONS.contains(&keyword), "{keyword} at {place}");
                true
            }
        };
        match holds {
            true => Ok(()),
            false => Err(format!("{place}: {value} is not {keyword} {wanted}")),
        }
    }

    /// Fields that are not among the properties.
    fn others(
        &self,
        all: &'s Map<String, Value>,
        wanted: &'s Value,
        value: &Value,
        place: &str,
    ) -> Result<(), String> {
        let known = all.get("properties").and_then(Value::as_object);
        let others = value.as_object().into_iter().flatten();
        let mut others = others.filter(|(name, _)| known.is_none_or(|it| !it.contains_key(*name)));
        match wanted {
            Value::Bool(false) => match others.next() {
                Some((name, _)) => Err(format!("{place}: {name} is unknown")),
                None => Ok(()),
            },
            wanted => others.try_for_each(|(name, inner)| {
                self.check(wanted, inner, &format!("{place}.{name}"))
            }),
        }
    }

    fn matching(&self, forms: &'s Value, value: &Value, place: &str) -> usize {
        let forms = forms.as_array().unwrap().iter();
        forms
            .filter(|form| self.check(form, value, place).is_ok())
            .count()
    }

    fn definition(&self, reference: &Value) -> &'s Value {
        let path = reference.as_str().unwrap();
        let path = path.strip_prefix('#').expect("a place in this schema");
        let found = self.root.pointer(path);
        found.unwrap_or_else(|| panic!("no {reference}"))
    }
}

fn is_of_type(wanted: &Value, value: &Value) -> bool {
    match wanted {
        Value::Array(types) => types.iter().any(|it| is_of_type(it, value)),
        wanted => match wanted.as_str().unwrap() {
            "null" => value.is_null(),
            "boolean" => value.is_boolean(),
            "integer" => value.is_i64() || value.is_u64(),
            "number" => value.is_number(),
            "string" => value.is_string(),
            "array" => value.is_array(),
            "object" => value.is_object(),
            other => panic!("no type is called {other}"),
        },
    }
}
