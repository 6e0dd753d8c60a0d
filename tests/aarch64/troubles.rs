//! Tests that are known to fail in the emulator now and then, through no fault of what is tested.

/// One test a line: its name, a colon, and why.
const LIST: &str = include_str!("troubles.txt");

/// What is known of a test.
fn reason(name: &str) -> Option<&'static str> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    let mut known = lines.filter_map(|line| line.split_once(": "));
    known.find_map(|(test, why)| (test == name).then_some(why))
}

/// The names of tests that have failed, from what a test program says.
fn failed(said: &str) -> Vec<&str> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("test "));
    lines
        .filter_map(|line| line.strip_suffix(" ... FAILED"))
        .collect()
}

/// Judges a test program that did not succeed: which of its tests failed, and why that is known; all
/// that it says, if it ended in another way or one of them is not known to fail.
pub(crate) fn judge(said: &str) -> Result<Vec<(&str, &'static str)>, String> {
    let failed = failed(said);
    let known = failed.iter().map(|name| Some((*name, reason(name)?)));
    match known.collect::<Option<Vec<_>>>() {
        Some(known) if !known.is_empty() => Ok(known),
        _ => Err(format!("{failed:?} failed\n{said}")),
    }
}

#[test]
fn every_known_trouble_is_a_test_with_a_reason() {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    for line in lines.filter(|line| !line.is_empty()) {
        let (name, why) = line.split_once(": ").expect(line);
        assert!(name.contains("::") && why.len() > 20, "{line}");
    }
}

#[test]
fn only_what_is_known_is_forgiven() {
    let known = LIST.lines().find(|line| !line.starts_with('#'));
    let said = |name: &str| format!("test a::b ... ok\ntest {name} ... FAILED\n");
    if let Some((name, _)) = known.and_then(|line| line.split_once(": ")) {
        assert_eq!(judge(&said(name)).unwrap().len(), 1);
    }
    assert!(judge(&said("other::test")).is_err());
    assert!(judge("Segmentation fault").is_err());
}
