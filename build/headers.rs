//! The C headers in `include/`.

use std::io;
use std::path::{Path, PathBuf};

/// Every header: its name as programs include it, and where it is.
pub(crate) fn list(folder: &Path) -> io::Result<Vec<(String, PathBuf)>> {
    let mut headers = Vec::new();
    collect(&std::fs::canonicalize(folder)?, "", &mut headers)?;
    headers.sort();
    Ok(headers)
}

fn collect(folder: &Path, prefix: &str, headers: &mut Vec<(String, PathBuf)>) -> io::Result<()> {
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        let name = path
            .file_name()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        if path.is_dir() {
            collect(&path, &format!("{prefix}{name}/"), headers)?;
        } else if path.extension().is_some_and(|extension| extension == "h") {
            headers.push((format!("{prefix}{name}"), path));
        }
    }
    Ok(())
}
