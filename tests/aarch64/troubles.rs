//! Tests that are known to fail in the emulator sometimes, without a fault of the tested code.

/// One test a line: its name, a colon, and why.
const LIST: &str = include_str!("troubles.txt");

/// The known reason of a test's failure.
fn reason(name: &str) -> Option<&'static str> {
    let lines = LIST.lines().filter(|line| !line.starts_with('#'));
    let mut known = lines.filter_map(|line| line.split_once(": "));
    known.find_map(|(test, why)| (test == name).then_some(why))
}

/// The names of failed tests, from the output of a test program.
fn failed(said: &str) -> Vec<&str> {
    let lines = said.lines().filter_map(|line| line.strip_prefix("test "));
    lines
        .filter_map(|line| line.strip_suffix(" ... FAILED"))
        .collect()
}

/// Number of tests that may fail because of slow emulation; more than these have a fault.
const FEW: usize = 3;

/// A test program that did not succeed, test by test.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Failures<'s> {
    /// Those that are known to fail, and why.
    pub(crate) known: Vec<(&'s str, &'static str)>,
    /// Those to run again alone: with a processor for each, an emulated program is only slow.
    pub(crate) again: Vec<&'s str>,
}

/// Judges a test program that did not succeed; all that it says, if it ended in another way or too many of its
/// tests are not known to fail.
pub(crate) fn judge(said: &str) -> Result<Failures<'_>, String> {
    let mut failures = Failures::default();
    for name in failed(said) {
        match reason(name) {
            Some(why) => failures.known.push((name, why)),
            None => failures.again.push(name),
        }
    }
    let is_none = failures == Failures::default();
    if is_none || failures.again.len() > FEW {
        return Err(format!("{:?} failed\n{said}", failures.again));
    }
    Ok(failures)
}

/// Output of a failed test.
pub(crate) fn words_of<'s>(said: &'s str, name: &str) -> &'s str {
    let begin = said.find(&format!("---- {name} stdout ----"));
    let words = begin.map_or(said, |begin| &said[begin..]);
    let end = words[1..]
        .find("\n---- ")
        .map_or(words.len(), |end| end + 1);
    &words[..end]
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
fn only_known_failures_are_accepted() {
    let known = LIST.lines().find(|line| !line.starts_with('#'));
    let said = |name: &str| format!("test a::b ... ok\ntest {name} ... FAILED\n");
    if let Some((name, _)) = known.and_then(|line| line.split_once(": ")) {
        let said = said(name);
        let failures = judge(&said).unwrap();
        assert_eq!((failures.known.len(), failures.again.len()), (1, 0));
    }
    let said_other = said("other::test");
    assert_eq!(judge(&said_other).unwrap().again, ["other::test"]);
    let many: String = (0..=FEW)
        .map(|it| said(&format!("other::test_{it}")))
        .collect();
    assert!(judge(&many).is_err());
    assert!(judge("Segmentation fault").is_err());
}

#[test]
fn the_words_of_a_test_are_found_among_those_of_others() {
    let said = "---- a::b stdout ----\none\n\n---- c::d stdout ----\ntwo\n";
    assert_eq!(words_of(said, "a::b"), "---- a::b stdout ----\none\n");
    assert_eq!(words_of(said, "c::d"), "---- c::d stdout ----\ntwo\n");
}
