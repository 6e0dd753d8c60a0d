//! The table that is built into the product: that of this crate, or, with the feature `bindgen` and
//! a CANN that the environment names, one that knows the installed headers too.

use crate::error::Error;
use crate::hook_table::HookTable;

/// The hook table for build scripts. Reports its dependencies to cargo, and its findings.
pub fn for_build() -> Result<HookTable, Error> {
    #[cfg(feature = "bindgen")]
    if let Some(table) = with_headers::table()? {
        return Ok(table);
    }
    HookTable::embedded()
}

#[cfg(feature = "bindgen")]
mod with_headers {
    use std::collections::BTreeSet;
    use std::io::Write;
    use std::path::{Path, PathBuf};

    use super::{Error, HookTable};
    use crate::foreign::{self, HOME_VARIABLE, HeaderReport};
    use crate::hook_spec::HookSpec;
    use crate::model::ApiModel;

    /// Number of oddities that are printed; the others are only counted.
    const SHOWN: usize = 8;

    pub(super) fn table() -> Result<Option<HookTable>, Error> {
        say(format_args!("cargo:rerun-if-env-changed={HOME_VARIABLE}"));
        say(format_args!("cargo:rerun-if-env-changed=LIBCLANG_PATH"));
        let Some(home) = std::env::var_os(HOME_VARIABLE).filter(|home| !home.is_empty()) else {
            say(format_args!(
                "cargo:warning=feature bindgen: {HOME_VARIABLE} is not set, so no function beyond the \
                 table is typed"
            ));
            return Ok(None);
        };
        let folder = foreign::include_folder(&PathBuf::from(home))?;
        say(format_args!("cargo:rerun-if-changed={}", folder.display()));
        let (table, found) = HookTable::with_headers(&folder)?;
        report(&folder, &found);
        Ok(Some(table))
    }

    impl HookTable {
        /// The table of this crate, with further declarations from a folder of headers.
        pub fn with_headers(folder: &Path) -> Result<(Self, HeaderReport), Error> {
            let (mut model, mut spec) = (ApiModel::embedded()?, HookSpec::embedded()?);
            let found = foreign::extend(&mut model, &mut spec, folder)?;
            let names: BTreeSet<String> =
                found.added.iter().chain(&found.changed).cloned().collect();
            let table = Self::build_with(&model, &spec, &names)?;
            Ok((table, found))
        }
    }

    fn report(folder: &Path, found: &HeaderReport) {
        say(format_args!(
            "cargo:warning={}: {} functions as in the table, {} more, {} with other arguments, {} odd",
            folder.display(),
            found.same,
            found.added.len(),
            found.changed.len(),
            found.odd.len()
        ));
        for odd in found.odd.iter().take(SHOWN) {
            say(format_args!(
                "cargo:warning={} ({}): {}",
                odd.name, odd.header, odd.reason
            ));
        }
    }

    /// If the output of a build script is closed, nothing is lost.
    fn say(text: std::fmt::Arguments<'_>) {
        let _ = writeln!(std::io::stdout(), "{text}");
    }
}
