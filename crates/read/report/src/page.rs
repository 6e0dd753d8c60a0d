//! The page: a template, a style, a script, and the data.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde::Serialize;
use serde_json::{Map, Value, json};
use sha2::{Digest, Sha256};

use crate::bounded::{Bounded, inert, shortened};

/// No page is larger.
pub const MOST_BYTES: usize = 3_000_000;

const TEMPLATE: &str = include_str!("../page/page.html");
const STYLE: &str = include_str!("../page/page.css");

/// The parts of the script, in their order.
const SCRIPT: &[&str] = &[
    include_str!("../page/numbers.js"),
    include_str!("../page/elements.js"),
    include_str!("../page/plot.js"),
    include_str!("../page/overview.js"),
    include_str!("../page/findings.js"),
    include_str!("../page/steps.js"),
    include_str!("../page/work.js"),
    include_str!("../page/timeline-data.js"),
    include_str!("../page/timeline-draw.js"),
    include_str!("../page/timeline.js"),
    include_str!("../page/memory.js"),
    include_str!("../page/whatif.js"),
    include_str!("../page/requests.js"),
    include_str!("../page/communication.js"),
    include_str!("../page/differences.js"),
    include_str!("../page/main.js"),
];

/// A page in the making.
#[derive(Clone, Debug, Default)]
pub struct Page {
    title: String,
    documents: Map<String, Value>,
    left_out: BTreeMap<String, BTreeMap<String, usize>>,
}

impl Page {
    pub fn new(title: &str) -> Self {
        Self {
            title: shortened(title, 200),
            ..Self::default()
        }
    }

    /// Adds a document, of which no more than `most` bytes come into the page.
    ///
    /// # Errors
    /// When it has no form in JSON.
    pub fn add(
        &mut self,
        name: &str,
        document: &impl Serialize,
        most: usize,
    ) -> Result<(), serde_json::Error> {
        let document = serde_json::to_value(document)?;
        let bounded = Bounded::of(&document, most);
        self.documents.insert(name.to_owned(), bounded.document);
        if !bounded.left_out.is_empty() {
            self.left_out.insert(name.to_owned(), bounded.left_out);
        }
        Ok(())
    }

    /// Adds a whole document. Its maker limits its size.
    ///
    /// # Errors
    /// When it has no form in JSON.
    pub fn add_whole(
        &mut self,
        name: &str,
        document: &impl Serialize,
    ) -> Result<(), serde_json::Error> {
        let document = serde_json::to_value(document)?;
        self.documents.insert(name.to_owned(), document);
        Ok(())
    }

    /// Takes the documents of another page.
    pub fn join(&mut self, other: Self) {
        self.documents.extend(other.documents);
        self.left_out.extend(other.left_out);
    }

    /// Counts rows of a list that the caller has left out.
    pub fn leave_out(&mut self, name: &str, list: &str, count: usize) {
        if count > 0 {
            let lists = self.left_out.entry(name.to_owned()).or_default();
            *lists.entry(list.to_owned()).or_default() += count;
        }
    }

    /// The file.
    pub fn html(&self) -> String {
        let script = SCRIPT.concat();
        let script = format!("\"use strict\";\n(() => {{\n{script}}})();\n");
        let data = inert(&json!({
            "title": self.title,
            "documents": self.documents,
            "left_out": self.left_out,
        }));
        let pieces = [
            ("{policy}", policy(&script)),
            ("{title}", escaped(&self.title)),
            ("{style}", STYLE.to_owned()),
            ("{data}", data),
            ("{script}", script),
        ];
        filled(TEMPLATE, &pieces)
    }
}

/// The template with its holes filled, which come in this order.
fn filled(template: &str, pieces: &[(&str, String)]) -> String {
    let mut html = String::new();
    let mut rest = template;
    for (hole, piece) in pieces {
        let Some((before, after)) = rest.split_once(hole) else {
            continue;
        };
        html.push_str(before);
        html.push_str(piece);
        rest = after;
    }
    html + rest
}

/// A browser runs this script and uses this style, and loads nothing.
fn policy(script: &str) -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text));
    format!(
        "default-src 'none'; base-uri 'none'; form-action 'none'; script-src 'sha256-{}'; style-src 'sha256-{}'",
        hash(script),
        hash(STYLE)
    )
}

/// A text as markup that shows it.
fn escaped(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for character in text.chars() {
        match character {
            '<' => escaped.push_str("&lt;"),
            '>' => escaped.push_str("&gt;"),
            '&' => escaped.push_str("&amp;"),
            '"' => escaped.push_str("&quot;"),
            other => escaped.push(other),
        }
    }
    escaped
}
