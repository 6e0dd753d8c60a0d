//! `--version --verbose`: what this binary is made of, for reports of faults.

use std::ffi::OsString;

use ascend_trace_format::version::JSON_SCHEMA_VERSION;
use ascend_trace_tables as tables;

use super::args::first_word;
use crate::unpack;

/// The text if the words ask for the version and for details.
pub(super) fn version_of(words: &[OsString]) -> Option<String> {
    let is = |word: &OsString, names: [&str; 2]| names.iter().any(|name| word == name);
    let rest = words.get(1..)?;
    let own = rest.get(..first_word(words).saturating_sub(1))?;
    let version = rest.get(own.len())?;
    let is_verbose = |words: &[OsString]| words.iter().any(|word| is(word, ["-v", "--verbose"]));
    let after = rest.get(own.len() + 1..).unwrap_or_default();
    let is_asked = is(version, ["-V", "--version"]) && (is_verbose(own) || is_verbose(after));
    is_asked.then(text)
}

fn text() -> String {
    let mut features = vec![
        (cfg!(feature = "softacl"), "softacl"),
        (cfg!(feature = "operators"), "operators"),
        (cfg!(feature = "parquet"), "parquet"),
        (cfg!(feature = "sqlite"), "sqlite"),
        (cfg!(feature = "query"), "query"),
        (cfg!(feature = "bindgen"), "bindgen"),
        (cfg!(feature = "frida"), "frida"),
    ];
    features.retain(|(is_there, _)| *is_there);
    let features: Vec<&str> = features.into_iter().map(|(_, name)| name).collect();
    let engines = match cfg!(feature = "frida") {
        true => "preload, frida",
        false => "preload",
    };
    let profile = if cfg!(debug_assertions) {
        "debug"
    } else {
        "release"
    };
    let lines = [
        ("commit", env!("ASCEND_TRACE_COMMIT").to_owned()),
        (
            "target",
            format!("{}, {profile}", env!("ASCEND_TRACE_TARGET")),
        ),
        ("engines", engines.to_owned()),
        ("features", features.join(", ")),
        ("intercepted functions", tables::FUNCTIONS.len().to_string()),
        (
            "hash of the hook table",
            format!("{:016x}", tables::TABLE_HASH),
        ),
        ("hash of the libraries", unpack::content_hash().to_owned()),
        ("version of JSON documents", JSON_SCHEMA_VERSION.to_string()),
    ];
    let lines = lines
        .iter()
        .map(|(name, value)| format!("{name}: {value}\n"));
    let head = format!("ascend-trace {}\n", env!("CARGO_PKG_VERSION"));
    head + &lines.collect::<String>()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn asked_for(words: &str) -> bool {
        let words = std::iter::once("ascend-trace").chain(words.split_whitespace());
        version_of(&words.map(OsString::from).collect::<Vec<_>>()).is_some()
    }

    #[test]
    fn details_come_with_the_version_where_both_are_asked_for() {
        for words in [
            "--version --verbose",
            "-v -V",
            "-V -v",
            "--verbose --color never --version",
        ] {
            assert!(asked_for(words), "{words}");
        }
        // The last two are options of a program that is recorded.
        for words in [
            "--version",
            "-V",
            "--verbose",
            "",
            "-v ./app -V",
            "./app --version --verbose",
        ] {
            assert!(!asked_for(words), "{words}");
        }
    }

    #[test]
    fn the_details_name_the_parts_of_the_binary() {
        let text = text();
        for name in ["commit: ", "target: ", "engines: preload", "hook table: "] {
            assert!(text.contains(name), "{text}");
        }
    }
}
