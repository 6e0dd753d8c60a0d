//! Functions that the tables do not have, from headers that are installed: those of a newer release
//! than the tables were made from.
//!
//! The headers come from others. A declaration that cannot be used is reported, and causes no failure.

mod declare;
mod items;
mod join;
mod rust_type;
mod scan;
mod submits;

use std::path::{Path, PathBuf};

use crate::hook_spec::HookSpec;
use crate::model::ApiModel;

pub use declare::libclang;

/// Result of reading a folder of headers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct HeaderReport {
    /// Functions that no table has and that are typed now.
    pub added: Vec<String>,
    /// Functions with other arguments than in the tables. The headers have priority.
    pub changed: Vec<String>,
    /// Constants that known enumerations had not got.
    pub constants: Vec<String>,
    /// Declarations without effect, and the reason.
    pub odd: Vec<SkippedDeclaration>,
    /// Functions that the tables have and the headers declare as they do.
    pub same: usize,
}

/// A declaration, or a whole header, that is not used.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct SkippedDeclaration {
    pub name: String,
    pub header: String,
    pub reason: String,
}

/// Why a folder of headers could not be looked at.
#[derive(Debug, thiserror::Error)]
pub enum ForeignError {
    #[error("{variable} names {path}, which has no folder `include`", path = path.display())]
    NoHeaders {
        variable: &'static str,
        path: PathBuf,
    },
    #[error("cannot read {path}: {source}", path = path.display())]
    Read {
        path: PathBuf,
        source: std::io::Error,
    },
    #[error(
        "no libclang: install it (Debian: libclang-dev), or name its folder in LIBCLANG_PATH: {0}"
    )]
    NoLibclang(String),
}

/// Names a folder in which CANN is installed.
pub const HOME_VARIABLE: &str = "ASCEND_HOME_PATH";

/// The folder with the headers of an installed CANN.
pub fn include_folder(home: &Path) -> Result<PathBuf, ForeignError> {
    let places = ["include", "aarch64-linux/include", "x86_64-linux/include"];
    let mut folders = places.iter().map(|place| home.join(place));
    folders
        .find(|folder| folder.is_dir())
        .ok_or_else(|| ForeignError::NoHeaders {
            variable: HOME_VARIABLE,
            path: home.to_owned(),
        })
}

/// Adds the declarations of a folder of headers to the model. The description in `spec` holds only
/// while the function has the described shape.
pub fn extend(
    model: &mut ApiModel,
    spec: &mut HookSpec,
    folder: &Path,
) -> Result<HeaderReport, ForeignError> {
    libclang()?;
    let scan = scan::Scan::of(folder)?;
    let (declarations, mut odd) = declare::all(folder, &scan);
    let mut found = join::join(model, spec, &declarations, &scan);
    found.odd.append(&mut odd);
    found.odd.extend(scan.macros(model));
    found.odd.sort();
    found.odd.dedup();
    Ok(found)
}
