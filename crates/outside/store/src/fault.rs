//! Causes of requests that a store refused or failed, with advice for the user.

use std::error::Error;
use std::io;

use object_store::client::{HttpError, HttpErrorKind};

use crate::connect::StoreRoute;

/// A failed request. The text says what to do.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    #[error(
        "{0} names no place in an object store: write s3://BUCKET/PREFIX, with letters, digits and -._=+@,:~"
    )]
    Url(String),
    #[error("{0}: write s3://BUCKET/PREFIX. For other stores than Amazon's, set AWS_ENDPOINT")]
    Scheme(String),
    #[error("a variable for the object store is wrong: {0}")]
    Settings(String),
    #[error("{0} has no such bucket: make it, or correct AWS_ENDPOINT and AWS_REGION")]
    NoBucket(String),
    #[error("there are no credentials: set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")]
    NoCredentials,
    #[error("{0} denies access: check the credentials and their rights in this bucket: {1}")]
    Denied(String, String),
    #[error("{0} has no room: remove objects, or raise the quota: {1}")]
    Full(String, String),
    #[error("{0} cannot be reached: check the network and AWS_ENDPOINT: {1}")]
    Unreachable(String, String),
    #[error("{0} is not encrypted: set AWS_ALLOW_HTTP=true to allow that")]
    NotEncrypted(String),
    #[error("{0} has an error: {1}")]
    Other(String, String),
    #[error("a local file: {0}")]
    Local(io::Error),
    #[error("no thread for the object store: {0}")]
    NoThread(io::Error),
}

/// Codes of stores that have no room: of Amazon's, MinIO's and Huawei's interface.
const FULL: [&str; 6] = [
    "QuotaExceeded",
    "StorageFull",
    "InsufficientStorage",
    "InsufficientCapacity",
    "NoSpace",
    "QuotaTooLow",
];

impl StoreError {
    pub(crate) fn settings(error: &object_store::Error) -> Self {
        Self::Settings(reason(error))
    }

    /// Meaning of an error of a request.
    pub(crate) fn of(error: object_store::Error, way: &StoreRoute) -> Self {
        use object_store::Error as E;
        let (endpoint, text) = (way.endpoint.clone(), reason(&error));
        if text.contains("NoSuchBucket") {
            return Self::NoBucket(endpoint);
        }
        if FULL.iter().any(|it| text.contains(it)) {
            return Self::Full(endpoint, text);
        }
        if text.contains("URL scheme is not allowed") {
            return Self::NotEncrypted(endpoint);
        }
        match error {
            E::PermissionDenied { .. } | E::Unauthenticated { .. } => Self::Denied(endpoint, text),
            // The machine was asked for credentials first, and has none. The store was asked nothing.
            _ if !way.has_credentials && !is_said_by_store(&error) => Self::NoCredentials,
            _ if is_unreachable(&error) => Self::Unreachable(endpoint, text),
            _ => Self::Other(endpoint, text),
        }
    }
}

impl From<StoreError> for io::Error {
    fn from(fault: StoreError) -> Self {
        Self::other(fault)
    }
}

fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |it| (*it).source())
}

/// Whether an error is in the words of a store.
fn is_said_by_store(error: &object_store::Error) -> bool {
    between(&error.to_string(), "Code").is_some()
}

fn is_unreachable(error: &object_store::Error) -> bool {
    use HttpErrorKind::{Connect, Interrupted, Timeout};
    let kinds = causes(error).filter_map(|it| it.downcast_ref::<HttpError>());
    kinds
        .map(HttpError::kind)
        .any(|it| matches!(it, Connect | Timeout | Interrupted))
}

/// Text of an error: the store's words, or those of the deepest cause. On one line.
fn reason(error: &object_store::Error) -> String {
    let message = error.to_string();
    let text = match between(&message, "Code") {
        Some(code) => match between(&message, "Message") {
            Some(message) if message != code => format!("{code}: {message}"),
            _ => code.to_owned(),
        },
        None => causes(error)
            .last()
            .map_or(message.clone(), ToString::to_string),
    };
    let plain = text.split_whitespace().collect::<Vec<_>>().join(" ");
    plain
        .chars()
        .filter(|it| !it.is_control())
        .take(300)
        .collect()
}

/// The text of the first element of this name.
fn between<'t>(text: &'t str, name: &str) -> Option<&'t str> {
    let (_, rest) = text.split_once(&format!("<{name}>"))?;
    rest.split_once(&format!("</{name}>")).map(|it| it.0)
}

#[cfg(test)]
mod tests {
    use object_store::Error as E;

    use super::*;

    fn way(has_credentials: bool) -> StoreRoute {
        StoreRoute {
            endpoint: "http://store".to_owned(),
            has_credentials,
        }
    }

    fn body(code: &str) -> String {
        format!("Server: <Error><Code>{code}</Code><Message>Some\n text</Message></Error>")
    }

    fn generic(text: &str) -> E {
        E::Generic {
            store: "S3",
            source: text.to_owned().into(),
        }
    }

    fn message(error: E) -> String {
        StoreError::of(error, &way(true)).to_string()
    }

    #[test]
    fn errors_say_what_to_do() {
        for (code, words) in [
            ("NoSuchBucket", "has no such bucket"),
            ("XMinioAdminBucketQuotaExceeded", "raise the quota"),
            ("XMinioStorageFull", "raise the quota"),
            ("InternalError", "has an error: InternalError: Some text"),
        ] {
            let text = message(generic(&body(code)));
            assert!(
                text.contains(words) && text.contains("http://store"),
                "{text}"
            );
        }
        let denied = message(E::PermissionDenied {
            path: "a".to_owned(),
            source: body("AccessDenied").into(),
        });
        assert!(denied.contains("denies access"), "{denied}");
        assert!(denied.ends_with("AccessDenied: Some text"), "{denied}");
        let plain = message(generic("builder error: URL scheme is not allowed"));
        assert!(plain.contains("AWS_ALLOW_HTTP=true"), "{plain}");
    }

    #[test]
    fn a_network_that_is_away_is_known_by_its_kind() {
        let source = HttpError::new(HttpErrorKind::Connect, io::Error::other("refused"));
        let error = || E::Generic {
            store: "S3",
            source: Box::new(HttpError::new(
                HttpErrorKind::Connect,
                io::Error::other("refused"),
            )),
        };
        assert_eq!(source.kind(), HttpErrorKind::Connect);
        let text = message(error());
        assert!(
            text.contains("check the network") && text.ends_with("refused"),
            "{text}"
        );
        let text = StoreError::of(error(), &way(false)).to_string();
        assert!(text.contains("set AWS_ACCESS_KEY_ID"), "{text}");
        let text = StoreError::of(generic(&body("InternalError")), &way(false)).to_string();
        assert!(text.contains("has an error"), "{text}");
    }

    #[test]
    fn a_reason_is_short_and_on_one_line() {
        let text = message(generic(&"long\n".repeat(1000)));
        assert!(!text.contains('\n') && text.len() < 400, "{text}");
    }
}
