//! Names of trace files that say who recorded: `%p`, `%r`, `%h` and `%q{VARIABLE}` in `--output`.

use std::ffi::{OsStr, OsString};
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use ascend_trace_format::rank::{RANK_VARIABLES, is_rank};

/// Facts that are known before the program runs.
pub(super) trait NameContext {
    fn variable(&self, name: &OsStr) -> Option<OsString>;
    fn host(&self) -> String;

    /// The rank that a launcher gave to this process.
    fn rank(&self) -> Option<String> {
        RANK_VARIABLES.iter().find_map(|name| {
            let value = self.variable(OsStr::new(name))?;
            let text = value.to_str()?;
            is_rank(text.as_bytes()).then(|| text.to_owned())
        })
    }
}

/// Those of this process.
pub(super) struct ProcessContext;

impl NameContext for ProcessContext {
    fn variable(&self, name: &OsStr) -> Option<OsString> {
        std::env::var_os(name)
    }

    fn host(&self) -> String {
        let names = rustix::system::uname();
        names.nodename().to_string_lossy().into_owned()
    }
}

/// A name in which nothing but the program's pid is missing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct NamePattern {
    /// The text between the places of the pid.
    pieces: Vec<Vec<u8>>,
}

impl NamePattern {
    /// Fills in all but the pid.
    pub(super) fn expand(pattern: &Path, own: &impl NameContext) -> anyhow::Result<Self> {
        let shown = pattern.display();
        let mut pieces = vec![Vec::new()];
        let mut rest = pattern.as_os_str().as_bytes();
        while let [first, after @ ..] = rest {
            rest = after;
            let piece = pieces.last_mut().context("a name has a piece")?;
            if *first != b'%' {
                piece.push(*first);
                continue;
            }
            let Some((letter, after)) = rest.split_first() else {
                bail!("--output {shown}: {NO_PATTERN}");
            };
            rest = after;
            match letter {
                b'%' => piece.push(b'%'),
                b'p' => pieces.push(Vec::new()),
                b'h' => piece.extend(without_slashes(own.host().as_bytes())),
                b'r' => piece.extend(rank(own).with_context(|| format!("--output {shown}"))?),
                b'q' => {
                    let (name, after) =
                        braced(rest).with_context(|| format!("--output {shown}: {NO_PATTERN}"))?;
                    rest = after;
                    let Some(value) = own.variable(name) else {
                        let name = name.display();
                        bail!("--output {shown}: the variable {name} is not set");
                    };
                    piece.extend(value.as_bytes());
                }
                _ => bail!("--output {shown}: {NO_PATTERN}"),
            }
        }
        let name = Self { pieces };
        if name.fixed().is_none() && name.folder_has_pid() {
            bail!("--output {shown}: %p can be in the file's name only, not in a folder's");
        }
        Ok(name)
    }

    /// The whole name, if no pid is missing.
    pub(super) fn fixed(&self) -> Option<PathBuf> {
        match self.pieces.as_slice() {
            [only] => Some(OsString::from_vec(only.clone()).into()),
            _ => None,
        }
    }

    pub(super) fn with_pid(&self, pid: u32) -> PathBuf {
        self.with(&pid.to_string())
    }

    /// As it is shown while the pid is not known.
    pub(super) fn without_pid(&self) -> PathBuf {
        self.with("PID")
    }

    fn with(&self, pid: &str) -> PathBuf {
        OsString::from_vec(self.pieces.join(pid.as_bytes())).into()
    }

    fn folder_has_pid(&self) -> bool {
        let last = self.pieces.split_first().map_or(&[][..], |(_, last)| last);
        last.iter().any(|piece| piece.contains(&b'/'))
    }
}

const NO_PATTERN: &str = "after % comes p (the program's pid), r (its rank), h (the host), \
     q{NAME} (a variable of the environment), or a second % for a % in the name";

fn rank(own: &impl NameContext) -> anyhow::Result<Vec<u8>> {
    let Some(rank) = own.rank() else {
        let names = RANK_VARIABLES.join(", ");
        bail!("there is no rank for %r: none of {names} is a number");
    };
    Ok(rank.into_bytes())
}

/// The text in braces at the beginning, and the rest.
fn braced(text: &[u8]) -> Option<(&OsStr, &[u8])> {
    let text = text.strip_prefix(b"{")?;
    let end = text.iter().position(|byte| *byte == b'}')?;
    let (name, rest) = text.split_at_checked(end)?;
    (!name.is_empty()).then_some((OsStr::from_bytes(name), rest.get(1..)?))
}

fn without_slashes(text: &[u8]) -> impl Iterator<Item = u8> {
    text.iter().map(|byte| match byte {
        b'/' => b'_',
        other => *other,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    struct FixedContext(&'static [(&'static str, &'static str)]);

    impl NameContext for FixedContext {
        fn variable(&self, name: &OsStr) -> Option<OsString> {
            let found = self.0.iter().find(|(known, _)| name == *known);
            found.map(|(_, value)| (*value).into())
        }

        fn host(&self) -> String {
            "node/7".to_owned()
        }
    }

    fn expand(pattern: &str, variables: &'static [(&'static str, &'static str)]) -> String {
        match NamePattern::expand(Path::new(pattern), &FixedContext(variables)) {
            Ok(name) => name.with_pid(42).display().to_string(),
            Err(error) => format!("{error:#}"),
        }
    }

    #[test]
    fn each_pattern_expands_as_documented() {
        let variables = &[("PMIX_RANK", "3"), ("RANK", "none"), ("JOB", "a/b")];
        assert_eq!(expand("t-%r.atrace", variables), "t-3.atrace");
        assert_eq!(expand("%h-%p-%p", variables), "node_7-42-42");
        assert_eq!(expand("/x/%q{JOB}/%%p", variables), "/x/a/b/%p");
        assert_eq!(expand("plain", variables), "plain");
    }

    #[test]
    fn what_cannot_be_filled_in_is_refused_with_the_reason() {
        for (pattern, reason) in [
            ("50%", "after % comes"),
            ("t-%x", "after % comes"),
            ("%q{A", "after % comes"),
            ("%q{}", "after % comes"),
            ("%q{A}", "the variable A is not set"),
            ("t-%r", "PMIX_RANK"),
            ("%p/t.atrace", "not in a folder's"),
        ] {
            let answer = expand(pattern, &[]);
            assert!(answer.contains(reason), "{pattern}: {answer}");
            assert!(answer.starts_with("--output"), "{pattern}: {answer}");
        }
    }

    #[test]
    fn a_name_without_the_pid_is_known_at_once() {
        let name =
            |pattern: &str| NamePattern::expand(Path::new(pattern), &FixedContext(&[])).unwrap();
        assert_eq!(name("a%%b").fixed(), Some("a%b".into()));
        assert_eq!(name("a%p").fixed(), None);
    }
}
