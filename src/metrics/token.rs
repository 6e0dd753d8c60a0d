//! What clients must know.

use std::fs::File;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, bail};

/// The longest token, with the line's end.
const MOST: u64 = 4096;

/// A secret. It is never printed.
#[derive(Clone)]
pub(super) struct AccessToken(Vec<u8>);

impl std::fmt::Debug for AccessToken {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("Token")
    }
}

impl AccessToken {
    /// Reads a file that has nothing but a token, as the `credentials_file` of Prometheus.
    pub(super) fn read(path: &Path) -> anyhow::Result<Self> {
        let shown = path.display();
        let file = File::open(path);
        let file = file.with_context(|| format!("--metrics-token: cannot open {shown}"))?;
        let mut bytes = Vec::new();
        let read = file.take(MOST + 1).read_to_end(&mut bytes);
        read.with_context(|| format!("--metrics-token: cannot read {shown}"))?;
        let token = bytes.trim_ascii();
        let is_plain = token.iter().all(u8::is_ascii_graphic);
        if token.is_empty() || !is_plain || bytes.len() as u64 > MOST {
            bail!("--metrics-token: {shown} holds no token: it is one word of ASCII characters");
        }
        Ok(Self(token.to_owned()))
    }

    /// Whether this is the value of a header `Authorization` with the token. It takes the same time for all words of
    /// one length.
    pub(super) fn is_in(&self, header: &str) -> bool {
        let (scheme, word) = header.trim().split_once(' ').unwrap_or_default();
        scheme.eq_ignore_ascii_case("bearer") && self.is(word.trim().as_bytes())
    }

    fn is(&self, word: &[u8]) -> bool {
        let pairs = self.0.iter().zip(word);
        let differing = pairs.fold(0, |sum, (one, other)| sum | (one ^ other));
        // The compiler must not end the loop at the first difference.
        std::hint::black_box(differing) == 0 && self.0.len() == word.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> anyhow::Result<AccessToken> {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("token");
        std::fs::write(&path, text).unwrap();
        AccessToken::read(&path)
    }

    #[test]
    fn a_token_is_one_word() {
        let token = of("s3cret-word\n").unwrap();
        assert!(token.is_in("Bearer s3cret-word"));
        assert!(token.is_in("bearer  s3cret-word "));
        for wrong in [
            "",
            "Bearer",
            "Bearer ",
            "Bearer s3cret",
            "Bearer s3cret-word-",
            "Bearer S3cret-word",
            "Basic s3cret-word",
            "s3cret-word",
        ] {
            assert!(!token.is_in(wrong), "{wrong}");
        }
        assert_eq!(format!("{token:?}"), "Token");
    }

    #[test]
    fn other_files_hold_no_token() {
        for text in ["", "\n", "two words", "wörd", &"x".repeat(5000)] {
            assert!(of(text).is_err(), "{text}");
        }
        assert!(AccessToken::read(Path::new("/nonexistent")).is_err());
    }
}
