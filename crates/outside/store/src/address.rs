//! The URL of a place in an object store.

use object_store::path::Path;

use crate::StoreError;

/// The target of a URL.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Address {
    pub(crate) bucket: String,
    /// What all names begin with.
    pub(crate) prefix: Path,
}

impl Address {
    pub(crate) fn parse(url: &str) -> Result<Self, StoreError> {
        let Some(rest) = url.strip_prefix("s3://") else {
            return Err(StoreError::Scheme(url.to_owned()));
        };
        let (bucket, prefix) = rest.split_once('/').unwrap_or((rest, ""));
        let is_name = |it: char| it.is_ascii_alphanumeric() || "-._".contains(it);
        let is_bucket = !bucket.is_empty() && bucket.chars().all(is_name);
        // Those that no reader of such URLs decodes.
        let is_plain = |it: char| is_name(it) || "/=+@,:~".contains(it);
        let is_prefix = !prefix.starts_with('/') && prefix.chars().all(is_plain);
        match Path::parse(prefix).ok().filter(|_| is_bucket && is_prefix) {
            Some(prefix) => Ok(Self {
                bucket: bucket.to_owned(),
                prefix,
            }),
            None => Err(StoreError::Url(url.to_owned())),
        }
    }

    /// The URL that is shown for it.
    pub(crate) fn shown(&self) -> String {
        match self.prefix.as_ref() {
            "" => format!("s3://{}", self.bucket),
            prefix => format!("s3://{}/{prefix}", self.bucket),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_name_a_bucket_and_a_prefix() {
        let shown = |url| Address::parse(url).map(|it| it.shown());
        for (url, same) in [
            ("s3://fleet", "s3://fleet"),
            ("s3://fleet/", "s3://fleet"),
            ("s3://fleet/a/b/", "s3://fleet/a/b"),
            ("s3://fleet/a/b", "s3://fleet/a/b"),
        ] {
            assert_eq!(shown(url).unwrap(), same);
        }
    }

    #[test]
    fn other_urls_are_refused() {
        for url in [
            "s3://",
            "s3:///a",
            "s3://a b/c",
            "s3://a//b",
            "s3://a/../b",
            "s3://a/b?c",
            "s3://a/b%20c",
        ] {
            assert!(
                matches!(Address::parse(url), Err(StoreError::Url(_))),
                "{url}"
            );
        }
        for url in ["gs://a/b", "https://a/b", "S3://a"] {
            assert!(
                matches!(Address::parse(url), Err(StoreError::Scheme(_))),
                "{url}"
            );
        }
    }
}
