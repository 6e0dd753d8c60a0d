//! The files of a recording that has several.

use std::path::PathBuf;

use crate::quote::quoted_path;

/// The first and the last name, and the bytes of all; none for a single file.
pub(super) fn name_and_bytes(files: &[PathBuf]) -> Option<(String, u64)> {
    let [first, .., last] = files else {
        return None;
    };
    let lengths = files
        .iter()
        .map(|it| it.metadata().map_or(0, |it| it.len()));
    let name = format!("{} to {}", first.display(), last.display());
    Some((name, lengths.sum()))
}

/// All files, as a pattern for the shell; none for a single file.
pub(super) fn pattern(files: &[PathBuf]) -> Option<String> {
    let [first, _, ..] = files else {
        return None;
    };
    let (name, number) = first.file_stem()?.to_str()?.rsplit_once('-')?;
    let is_number = !number.is_empty() && number.bytes().all(|it| it.is_ascii_digit());
    let extension = first.extension().and_then(|it| it.to_str());
    let ending = extension.map_or_else(String::new, |it| format!(".{it}"));
    let plain = first.with_file_name(format!("{name}-"));
    is_number.then(|| format!("{}*{ending}", quoted_path(&plain)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn several_files_are_a_pattern_for_the_shell() {
        let of = |names: &[&str]| {
            let files: Vec<PathBuf> = names.iter().map(PathBuf::from).collect();
            pattern(&files)
        };
        let several = of(&["a b/run-0002.atrace", "a b/run-0003.atrace"]);
        assert_eq!(several.as_deref(), Some("'a b/run-'*.atrace"));
        assert_eq!(of(&["run-0001.atrace"]), None);
        assert_eq!(of(&["run.atrace", "run-0002.atrace"]), None);
    }
}
