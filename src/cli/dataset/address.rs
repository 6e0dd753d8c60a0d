//! The name of a dataset: a folder, or the URL of an object store.

use std::path::Path;

/// The URL, if it is one. A folder with such a name can be written with `./` before it.
pub(crate) fn url(place: &Path) -> Option<&str> {
    let text = place.to_str()?;
    let (scheme, _) = text.split_once("://")?;
    let is_scheme = !scheme.is_empty() && scheme.chars().all(|it| it.is_ascii_alphanumeric());
    is_scheme.then_some(text)
}

/// Message of a build without object stores.
#[cfg(all(feature = "parquet", not(feature = "object-store")))]
pub(super) fn not_built(url: &str) -> anyhow::Error {
    anyhow::anyhow!(
        "{url}: this build has no object stores: build it with --features object-store, or name a folder"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_folders_are_distinguished() {
        for place in ["s3://fleet/a", "s3://", "gs://x", "https://host/x"] {
            assert_eq!(url(Path::new(place)), Some(place));
        }
        for place in [
            "fleet",
            "/a/b",
            "./s3://fleet",
            "s3:/fleet",
            "://x",
            "a b://c",
            "",
        ] {
            assert_eq!(url(Path::new(place)), None, "{place}");
        }
    }
}
