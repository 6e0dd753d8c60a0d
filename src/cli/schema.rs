//! `schema`: JSON Schemas of the documents of `--json`, from the types that are written.

use std::collections::BTreeMap;

use anyhow::Context;
use schemars::generate::SchemaSettings;
use schemars::transform::{RecursiveTransform, Transform};
use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde_json::{Value, json};

use ascend_trace_format::version::JSON_SCHEMA_VERSION;

use super::args::{
    CriticalArgs, DiffArgs, RequestsArgs, SchemaArgs, StatsArgs, StepsArgs, WhatIfArgs,
};
use super::report::Report;
use super::{check, ctl, hooks, info, stats, why};
use crate::output::{JsonDocument, print, schema_name};
use crate::text_table::TableRows;

/// The schema of a type, with references to definitions of the generator.
type SchemaOf = fn(&mut SchemaGenerator) -> Schema;

/// A document of `--json`.
struct DocumentSchema {
    name: &'static str,
    command: &'static str,
    /// A document has one of these forms.
    forms: &'static [SchemaOf],
}

/// The content of a command that writes it row by row.
#[derive(JsonSchema)]
#[expect(
    dead_code,
    reason = "the rows are written while they arrive, and never together"
)]
struct QueryDocument {
    /// The names of the columns, in order.
    columns: Vec<String>,
    /// An object for each row: the name of the column to its value.
    rows: Vec<BTreeMap<String, Cell>>,
}

/// The value of a column in a row; `null` without one.
#[derive(JsonSchema)]
#[schemars(untagged)]
#[expect(dead_code, reason = "it only describes values")]
enum Cell {
    Flag(bool),
    Number(f64),
    Text(String),
    Missing(()),
}

const fn report<const FILES: usize, R: Report<FILES>>(
    command: &'static str,
    forms: &'static [SchemaOf],
) -> DocumentSchema {
    DocumentSchema {
        name: R::DOCUMENT,
        command,
        forms,
    }
}

/// The document of a report with its frame.
type Framed<const FILES: usize, R> = JsonDocument<'static, <R as Report<FILES>>::Document<'static>>;

macro_rules! reports {
    ($($command:literal: $files:literal, $report:ty;)+) => {
        [$(report::<$files, $report>($command, &[<Framed<$files, $report>>::json_schema])),+]
    };
}

/// Documents of commands that read recordings.
const REPORTS: [DocumentSchema; 10] = reports! {
    "stats": 1, StatsArgs;
    "stats --communication": 1, stats::CommunicationReport<'static>;
    "stats --memory": 1, stats::MemoryReport<'static>;
    "steps": 1, StepsArgs;
    "requests": 1, RequestsArgs;
    "critical": 1, CriticalArgs;
    "what-if": 1, WhatIfArgs;
    "diff": 2, DiffArgs;
    "check": 1, check::Check<'static>;
    "info": 1, info::InfoReport<'static>;
};

/// Documents of other commands.
const OTHERS: [DocumentSchema; 4] = [
    DocumentSchema {
        name: why::DOCUMENT,
        command: "why",
        forms: &[
            JsonDocument::<why::WhyDocument<'static>>::json_schema,
            JsonDocument::<why::WhyDocuments<'static>>::json_schema,
        ],
    },
    DocumentSchema {
        name: "query",
        command: "query",
        forms: &[JsonDocument::<QueryDocument>::json_schema],
    },
    DocumentSchema {
        name: hooks::DOCUMENT,
        command: "hooks",
        forms: &[JsonDocument::<hooks::HooksDocument>::json_schema],
    },
    DocumentSchema {
        name: ctl::DOCUMENT,
        command: "ctl",
        forms: &[JsonDocument::<ctl::ControlDocument>::json_schema],
    },
];

fn documents() -> impl Iterator<Item = &'static DocumentSchema> {
    REPORTS.iter().chain(&OTHERS)
}

/// The names of the documents.
pub(super) fn names() -> impl Iterator<Item = &'static str> {
    documents().map(|it| it.name)
}

pub(crate) fn run(args: &SchemaArgs) -> anyhow::Result<()> {
    let named = |it: &&DocumentSchema| args.name.as_deref() == Some(it.name);
    let Some(document) = documents().find(named) else {
        return print(&list());
    };
    let text = serde_json::to_string_pretty(&document.schema()).context("cannot write JSON")?;
    print(&(text + "\n"))
}

fn list() -> String {
    let table = TableRows::of(documents())
        .left("document", |it| it.name)
        .left("command", |it| format!("{} --json", it.command))
        .table();
    table.render(0)
}

impl DocumentSchema {
    fn schema(&self) -> Value {
        let settings = SchemaSettings::draft2020_12().for_serialize();
        let dialect = settings.meta_schema.clone();
        let mut generator = settings.into_generator();
        let mut forms: Vec<Value> = self
            .forms
            .iter()
            .map(|of| self.form(of(&mut generator)))
            .collect();
        let mut schema = match forms.len() {
            1 => forms.remove(0),
            _ => json!({ "oneOf": forms }),
        };
        schema["$schema"] = json!(dialect);
        schema["title"] = json!(schema_name(self.name));
        schema["description"] = json!(format!(
            "The document of `ascend-trace {} --json`.",
            self.command
        ));
        let definitions = generator.take_definitions(true);
        if !definitions.is_empty() {
            schema["$defs"] = Value::Object(definitions);
        }
        closed(schema)
    }

    /// A form with the values that all documents of this name have.
    fn form(&self, form: Schema) -> Value {
        let mut form = form.to_value();
        form["properties"]["schema"]["const"] = json!(schema_name(self.name));
        form["properties"]["version"]["const"] = json!(JSON_SCHEMA_VERSION);
        form
    }
}

/// Objects have no other fields than those of the schema.
fn closed(schema: Value) -> Value {
    let Ok(mut schema) = Schema::try_from(schema) else {
        return Value::Null;
    };
    let mut close = RecursiveTransform(|schema: &mut Schema| {
        if let Some(object) = schema.as_object_mut()
            && object.contains_key("properties")
        {
            object.entry("additionalProperties").or_insert(json!(false));
        }
    });
    close.transform(&mut schema);
    schema.to_value()
}
