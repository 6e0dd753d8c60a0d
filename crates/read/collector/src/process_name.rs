//! Name of a process that runs a program of an interpreter: `train.py` says more than `python3.11`.

/// The name of a process by its executable's, and the words that it was started with, a NUL between two.
pub fn name(executable: String, command: &str) -> String {
    match is_python(&executable).then(|| script(command)).flatten() {
        Some(script) => script.to_owned(),
        None => executable,
    }
}

fn is_python(executable: &str) -> bool {
    let version = executable.strip_prefix("python");
    version.is_some_and(|it| it.bytes().all(|byte| byte.is_ascii_digit() || byte == b'.'))
}

/// The script or module in Python's command line; `None` where it reads a program from elsewhere.
fn script(command: &str) -> Option<&str> {
    let mut words = command.split('\0').skip(1);
    while let Some(word) = words.next() {
        let Some(options) = word.strip_prefix('-').filter(|it| !it.is_empty()) else {
            return (word != "-").then(|| file_name(word));
        };
        if let Some(long) = options.strip_prefix('-') {
            if long == "check-hash-based-pycs" {
                words.next()?;
            }
            continue;
        }
        // One letter after another, up to the first that takes the rest, or else the next word.
        let Some(place) = options.find(['c', 'm', 'W', 'X']) else {
            continue;
        };
        let rest = &options[place + 1..];
        let value = match rest.is_empty() {
            true => words.next()?,
            false => rest,
        };
        match options.as_bytes()[place] {
            b'c' => return None,
            b'm' => return Some(value),
            _ => {}
        }
    }
    None
}

/// The last part of a path, without what says that the line was cut.
fn file_name(path: &str) -> &str {
    path.rsplit('/')
        .next()
        .filter(|it| !it.is_empty())
        .unwrap_or(path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processes_of_an_interpreter_are_named_by_the_script() {
        for (executable, words, expected) in [
            (
                "python3.11",
                &["python", "train.py", "--steps", "3"][..],
                "train.py",
            ),
            ("python3", &["python3", "-u", "/x/y/train.py"], "train.py"),
            (
                "python3",
                &["python3", "-W", "ignore", "-X", "dev", "a.py", "-m"],
                "a.py",
            ),
            (
                "python",
                &[
                    "python",
                    "-Wignore",
                    "--check-hash-based-pycs",
                    "never",
                    "b.py",
                ],
                "b.py",
            ),
            (
                "python3",
                &["python3", "-um", "torch.distributed.run", "t.py"],
                "torch.distributed.run",
            ),
            (
                "python3",
                &["python3", "/v/bin/torchrun", "t.py"],
                "torchrun",
            ),
            ("python3", &["python3", "-c", "print(1)", "x.py"], "python3"),
            ("python3", &["python3", "-"], "python3"),
            ("python3", &["python3"], "python3"),
            ("pythonic", &["pythonic", "train.py"], "pythonic"),
            ("train", &["train", "x.py"], "train"),
        ] {
            assert_eq!(
                name(executable.to_owned(), &words.join("\0")),
                expected,
                "{words:?}"
            );
        }
        assert_eq!(name("python3".to_owned(), ""), "python3");
    }
}
