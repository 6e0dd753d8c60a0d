//! The JSON Schema of a row, from the declarations of its columns.

use std::collections::BTreeMap;

use schemars::{Schema, SchemaGenerator, json_schema};
use serde_json::{Map, Value, json};

use super::{Column, ColumnKind, TableRow};

/// The schema of an object: its properties, and those that it always has.
#[derive(Default)]
struct ObjectProperties {
    properties: Map<String, Value>,
    required: Vec<String>,
}

impl ObjectProperties {
    fn add(&mut self, key: &str, schema: Value, may_be_absent: bool) {
        if !may_be_absent {
            self.required.push(key.to_owned());
        }
        self.properties.insert(key.to_owned(), schema);
    }

    fn schema(self) -> Schema {
        json_schema!({
            "type": "object",
            "properties": self.properties,
            "required": self.required,
        })
    }
}

/// The schema of the objects that [`rows`](super::rows) writes.
pub fn row_schema<R: TableRow>(generator: &mut SchemaGenerator) -> Schema {
    let mut row = ObjectProperties::default();
    let mut inner: BTreeMap<&str, ObjectProperties> = BTreeMap::new();
    for column in R::columns().filter(|it| !it.key.is_empty()) {
        let schema = column_schema(column, generator);
        match column.key.split_once('.') {
            None => row.add(column.key, schema, column.may_be_absent),
            Some((outer, key)) => inner.entry(outer).or_default().add(key, schema, false),
        }
    }
    for (outer, fields) in inner {
        row.add(outer, fields.schema().to_value(), false);
    }
    row.schema()
}

fn column_schema<R: TableRow>(column: &Column<R>, generator: &mut SchemaGenerator) -> Value {
    let mut schema = match column.schema {
        Some(of) => of(generator),
        None => Schema::default(),
    };
    schema.insert("description".to_owned(), json!(column.meaning));
    if !column.title.is_empty() {
        schema.insert("title".to_owned(), json!(column.title));
    }
    if let Some(unit) = unit(column.kind) {
        schema.insert("x-unit".to_owned(), json!(unit));
    }
    schema.to_value()
}

/// The unit of the numbers of a kind.
const fn unit(kind: ColumnKind) -> Option<&'static str> {
    match kind {
        ColumnKind::Duration | ColumnKind::Change | ColumnKind::Moment => Some("ns"),
        ColumnKind::Bytes => Some("B"),
        ColumnKind::Rate => Some("B/s"),
        _ => None,
    }
}
