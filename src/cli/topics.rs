//! The documents, in the binary: it may be all that there is on a machine.

use std::ffi::{OsStr, OsString};

/// Each document by the name under which it is asked for.
pub(super) const TOPICS: &[(&str, &str)] = &[
    ("readme", include_str!("../../README.md")),
    ("analysis", include_str!("../../docs/ANALYSIS.md")),
    ("architecture", include_str!("../../ARCHITECTURE.md")),
    ("assistants", include_str!("../../docs/MCP.md")),
    ("changelog", include_str!("../../CHANGELOG.md")),
    ("checks", include_str!("../../docs/CHECKS.md")),
    ("cli", include_str!("../../docs/CLI.md")),
    ("clients", include_str!("../../docs/CLIENTS.md")),
    ("coming_from", include_str!("../../docs/COMING_FROM.md")),
    ("contributing", include_str!("../../CONTRIBUTING.md")),
    ("design", include_str!("../../docs/DESIGN.md")),
    ("engines", include_str!("../../docs/ENGINES.md")),
    ("errors", include_str!("../../docs/ERRORS.md")),
    ("exports", include_str!("../../docs/EXPORT.md")),
    ("fleet", include_str!("../../docs/FLEET.md")),
    ("queries", include_str!("../../docs/QUERIES.md")),
    ("format", include_str!("../../docs/FORMAT.md")),
    ("graphs", include_str!("../../docs/GRAPHS.md")),
    ("hangs", include_str!("../../docs/HANGS.md")),
    ("hooking", include_str!("../../docs/HOOKING.md")),
    ("json", include_str!("../../docs/JSON.md")),
    ("metrics", include_str!("../../docs/METRICS.md")),
    ("overhead", include_str!("../../docs/OVERHEAD.md")),
    ("production", include_str!("../../docs/PRODUCTION.md")),
    ("python", include_str!("../../docs/PYTHON.md")),
    ("pytorch", include_str!("../../docs/PYTORCH.md")),
    ("reality", include_str!("../../docs/REALITY.md")),
    ("reliability", include_str!("../../docs/RELIABILITY.md")),
    ("reports", include_str!("../../docs/REPORT.md")),
    ("security", include_str!("../../SECURITY.md")),
    ("softacl", include_str!("../../docs/SOFTACL.md")),
    ("stacks", include_str!("../../docs/STACKS.md")),
    ("stalls", include_str!("../../docs/STALLS.md")),
    ("style", include_str!("../../docs/STYLE.md")),
    ("timing", include_str!("../../docs/TIMING.md")),
    ("tutorial-cpp", include_str!("../../docs/tutorials/cpp.md")),
    (
        "tutorial-pytorch",
        include_str!("../../docs/tutorials/pytorch.md"),
    ),
    ("tutorial-sre", include_str!("../../docs/tutorials/sre.md")),
    ("viewer", include_str!("../../docs/VIEWER.md")),
];

/// The document that the words ask for: `help TOPIC`. The name of its file will do as well.
pub(super) fn topic_of(words: &[OsString]) -> Option<&'static str> {
    let (first, topic) = (words.get(1)?, words.get(2)?.to_str()?);
    if first != OsStr::new("help") {
        return None;
    }
    let topic = topic.to_ascii_lowercase();
    let topic = topic.strip_prefix("docs/").unwrap_or(&topic);
    let name = match topic.strip_suffix(".md") {
        Some("export") => "exports",
        Some("mcp") => "assistants",
        Some("report") => "reports",
        Some(name) => name,
        None => topic,
    };
    let found = TOPICS.iter().find(|(known, _)| *known == name);
    found.map(|(_, text)| *text)
}

#[cfg(test)]
mod tests {
    use super::super::args::COMMANDS;
    use super::*;

    fn found(topic: &str) -> bool {
        let words = ["ascend-trace", "help", topic].map(OsString::from);
        topic_of(&words).is_some()
    }

    #[test]
    fn every_document_is_a_topic_and_no_topic_is_a_command() {
        let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/docs");
        for entry in std::fs::read_dir(folder).unwrap().flatten() {
            let name = entry.file_name().into_string().unwrap();
            if name.ends_with(".md") {
                assert!(found(&name), "{name}");
                assert!(found(&format!("docs/{name}")), "{name}");
            }
        }
        let is_fine = |name: &str| !COMMANDS.contains(&name) && found(name);
        assert!(TOPICS.iter().all(|(name, _)| is_fine(name)));
        assert!(!found("export") && !found("nothing"));
    }
}
