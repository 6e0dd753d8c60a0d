//! Faults of the tables or of the files that complete them.

use std::path::PathBuf;

/// A fault in a table, in `headers.toml` or in `hooks.toml`, or a file that cannot be written.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{table}, line {line}: {problem}")]
    Table {
        table: &'static str,
        line: usize,
        problem: String,
    },
    #[error("{file}: {source}")]
    Toml {
        file: &'static str,
        source: Box<toml::de::Error>,
    },
    #[error("headers.toml: {header}: {problem}")]
    Header { header: String, problem: String },
    #[error("hooks.toml: {name}: {problem}")]
    Hook { name: String, problem: String },
    #[error("cannot write {path}: {source}", path = path.display())]
    Write {
        path: PathBuf,
        source: std::io::Error,
    },
    #[cfg(feature = "bindgen")]
    #[error("feature `bindgen`: {0}")]
    Foreign(#[from] crate::foreign::ForeignError),
}

impl Error {
    pub(crate) fn header(header: &str, problem: impl Into<String>) -> Self {
        Self::Header {
            header: header.to_owned(),
            problem: problem.into(),
        }
    }

    pub(crate) fn hook(name: &str, problem: impl Into<String>) -> Self {
        Self::Hook {
            name: name.to_owned(),
            problem: problem.into(),
        }
    }
}
