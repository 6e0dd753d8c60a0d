//! The queries of the tool: files of `queries/`, each with its purpose in its first comment.

use anyhow::anyhow;

use crate::text_table::TableRows;

/// A query.
#[derive(Clone, Copy, Debug)]
pub(super) struct NamedQuery {
    pub(super) name: &'static str,
    pub(super) text: &'static str,
}

macro_rules! queries {
    ($($name:literal,)+) => {
        /// All of them, the most useful first.
        pub(super) const QUERIES: [NamedQuery; [$($name),+].len()] = [
            $(NamedQuery {
                name: $name,
                text: include_str!(concat!("../../../queries/", $name, ".sql")),
            },)+
        ];
    };
}

queries! {
    "stragglers",
    "slow-steps",
    "step-time",
    "step-variance",
    "busy-devices",
    "busy-streams",
    "operations",
    "slow-operations",
    "collectives",
    "slow-links",
    "late-ends",
    "stall-causes",
    "critical-path",
    "changes",
    "findings",
    "losses",
}

impl NamedQuery {
    /// Its purpose: the first line.
    pub(super) fn title(self) -> &'static str {
        let line = self.text.lines().next().unwrap_or_default();
        line.trim_start_matches("--").trim()
    }

    /// The rest of its comment.
    #[cfg(test)]
    fn notes(self) -> String {
        let lines = self.text.lines().skip(2);
        let lines = lines.map_while(|line| line.strip_prefix("--"));
        let lines: Vec<&str> = lines.map(str::trim).collect();
        lines.join("\n")
    }
}

pub(super) fn names() -> Vec<&'static str> {
    QUERIES.iter().map(|it| it.name).collect()
}

pub(super) fn text(name: &str) -> anyhow::Result<&'static str> {
    let found = QUERIES.iter().find(|it| it.name == name);
    let found = found.map(|it| it.text);
    found.ok_or_else(|| {
        let names = names().join(", ");
        anyhow!("no query is called {name}: give SQL, or one of {names}")
    })
}

pub(super) fn list() -> String {
    let rows = TableRows::of(QUERIES);
    let rows = rows.left("query", |it| it.name);
    rows.left("answers", |it| it.title()).table().render(0)
}

#[cfg(test)]
mod tests {
    use std::fmt::Write;

    use super::*;

    const DOCUMENT: &str = include_str!("../../../docs/QUERIES.md");
    const BEGIN: &str = "<!-- Made from the comments of queries/*.sql. -->\n";

    fn documented() -> String {
        let mut text = String::new();
        for query in QUERIES {
            let (name, title, notes) = (query.name, query.title(), query.notes());
            write!(text, "\n### `{name}`\n\n**{title}**\n\n{notes}\n").unwrap();
        }
        text
    }

    #[test]
    fn the_document_says_what_each_query_returns() {
        let (head, written) = DOCUMENT.split_once(BEGIN).expect("the mark is there");
        let made = documented();
        if std::env::var_os("UPDATE_EXPECT").is_some() {
            let path = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/QUERIES.md");
            std::fs::write(path, format!("{head}{BEGIN}{made}")).unwrap();
            return;
        }
        assert_eq!(written, made, "UPDATE_EXPECT=1 writes it");
    }

    #[test]
    fn the_folder_has_no_other_queries() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/queries");
        let files = std::fs::read_dir(folder).unwrap();
        let mut there: Vec<String> = files
            .map(|it| it.unwrap().file_name().into_string().unwrap())
            .collect();
        let mut known: Vec<String> = names().iter().map(|it| format!("{it}.sql")).collect();
        there.sort();
        known.sort();
        assert_eq!(there, known);
    }

    #[test]
    fn each_query_describes_its_result() {
        for query in QUERIES {
            assert!(query.text.starts_with("-- "), "{}", query.name);
            assert!(query.title().ends_with('?'), "{}", query.name);
            assert_eq!(query.text.lines().nth(1), Some("--"), "{}", query.name);
            assert!(!query.notes().is_empty(), "{}", query.name);
        }
        assert!(text("stragglers").is_ok());
        let refused = text("straglers").unwrap_err().to_string();
        assert!(refused.contains("stragglers"), "{refused}");
    }
}
