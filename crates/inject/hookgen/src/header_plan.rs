//! `headers.toml`: the headers and their contents.

use std::collections::{BTreeMap, BTreeSet};

use serde::Deserialize;

use crate::error::Error;

const FILE: &str = "headers.toml";

/// Everything `headers.toml` says.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HeaderPlan {
    #[serde(rename = "header")]
    pub(crate) headers: Vec<Header>,
    #[serde(default)]
    homes: BTreeMap<String, String>,
    #[serde(default)]
    declarations: BTreeMap<String, String>,
    #[serde(default)]
    tags: BTreeMap<String, String>,
    #[serde(default)]
    inline: BTreeMap<String, String>,
    #[serde(default)]
    macros: BTreeMap<String, String>,
    #[serde(default)]
    categories: BTreeMap<String, String>,
}

/// One header to emit.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Header {
    pub(crate) path: String,
    pub(crate) about: String,
    #[serde(default)]
    pub(crate) includes: Vec<String>,
}

impl HeaderPlan {
    /// The plan that comes with this crate.
    pub fn embedded() -> Result<Self, Error> {
        Self::parse(include_str!("../headers.toml"))
    }

    /// Reads a plan.
    pub fn parse(text: &str) -> Result<Self, Error> {
        let plan: Self = toml::from_str(text).map_err(|source| Error::Toml {
            file: FILE,
            source: Box::new(source),
        })?;
        for header in &plan.headers {
            for include in &header.includes {
                if plan.header(include).is_none() {
                    return Err(Error::header(
                        &header.path,
                        format!("includes unknown {include}"),
                    ));
                }
            }
        }
        Ok(plan)
    }

    /// The body of a function that its header defines.
    pub(crate) fn inline(&self, function: &str) -> Option<&str> {
        self.inline.get(function).map(String::as_str)
    }

    /// The paths of all headers, below the include folder.
    pub fn paths(&self) -> impl Iterator<Item = &str> {
        self.headers.iter().map(|header| header.path.as_str())
    }

    fn header(&self, path: &str) -> Option<&Header> {
        self.headers.iter().find(|header| header.path == path)
    }

    /// The header that declares `name`, which the tables ascribe to `header`.
    pub fn home<'a>(&'a self, name: &str, header: &'a str) -> &'a str {
        (self.declarations.get(name))
            .or_else(|| self.homes.get(header))
            .map_or(header, |home| home)
    }

    /// The tag of a struct or of an opaque type.
    pub(crate) fn tag<'a>(&'a self, name: &'a str) -> &'a str {
        self.tags.get(name).map_or(name, |tag| tag)
    }

    /// The type that has this name as its tag only.
    pub(crate) fn tagged(&self, tag: &str) -> Option<&str> {
        self.tags
            .iter()
            .find(|(_, t)| *t == tag)
            .map(|(name, _)| name.as_str())
    }

    pub(crate) fn macro_comment(&self, group: &str) -> Option<&str> {
        self.macros.get(group).map(String::as_str)
    }

    pub(crate) fn category_comment(&self, category: &str) -> Option<&str> {
        self.categories.get(category).map(String::as_str)
    }

    /// The header and everything it includes, directly or not.
    pub(crate) fn closure<'a>(&'a self, path: &'a str) -> BTreeSet<&'a str> {
        let mut seen = BTreeSet::new();
        let mut open = vec![path];
        while let Some(path) = open.pop() {
            if seen.insert(path) {
                open.extend(
                    self.header(path)
                        .iter()
                        .flat_map(|h| &h.includes)
                        .map(String::as_str),
                );
            }
        }
        seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAN: &str = r#"
        [[header]]
        path = "a.h"
        about = "A."
        includes = ["b.h"]
        [[header]]
        path = "b.h"
        about = "B."
        [homes]
        "old.h" = "b.h"
        [declarations]
        moved = "a.h"
    "#;

    #[test]
    fn a_single_declaration_wins_over_its_header() {
        let plan = HeaderPlan::parse(PLAN).unwrap();
        assert_eq!(plan.home("moved", "old.h"), "a.h");
        assert_eq!(plan.home("other", "old.h"), "b.h");
        assert_eq!(plan.home("other", "c.h"), "c.h");
    }

    #[test]
    fn an_include_of_a_header_that_is_not_emitted_is_refused() {
        let error = HeaderPlan::parse(&PLAN.replace("[\"b.h\"]", "[\"c.h\"]"))
            .err()
            .unwrap();
        assert_eq!(error.to_string(), "headers.toml: a.h: includes unknown c.h");
    }

    #[test]
    fn the_closure_follows_includes() {
        let plan = HeaderPlan::parse(PLAN).unwrap();
        assert_eq!(
            plan.closure("a.h").into_iter().collect::<Vec<_>>(),
            ["a.h", "b.h"]
        );
    }
}
