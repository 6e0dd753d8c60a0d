//! The texts in the sources of a program: its string literals, without those of its tests.

/// A string literal and the line on which it begins.
#[derive(Debug, PartialEq)]
pub(super) struct Literal {
    pub(super) text: String,
    pub(super) line: usize,
    /// Whether it is the message of an error or warning.
    pub(super) is_error: bool,
}

/// The string literals before the tests of a source file. Tests in a separate file are no end of this one.
pub(super) fn of(source: &str) -> Vec<Literal> {
    let mut reader = Reader::new(&source[..begin_of_tests(source)]);
    let mut found = Vec::new();
    while !reader.rest.is_empty() {
        found.extend(reader.next());
    }
    found
}

/// Where the module begins that has the tests of a source file.
fn begin_of_tests(source: &str) -> usize {
    const BEGIN: &str = "#[cfg(test)]\nmod ";
    let begins = source.match_indices(BEGIN).map(|(at, _)| at);
    let has_body = |at: &usize| {
        let line = source[at + BEGIN.len()..].lines().next();
        line.is_some_and(|line| line.contains('{'))
    };
    begins.into_iter().find(has_body).unwrap_or(source.len())
}

/// A source without its comments, strings and characters, which become spaces.
pub(super) fn code(source: &str) -> String {
    let mut reader = Reader::new(source);
    let mut code = String::new();
    while !reader.rest.is_empty() {
        let before = reader.rest;
        reader.next();
        let taken = &before[..before.len() - reader.rest.len()];
        let is_code = taken.chars().count() == 1;
        code.push_str(if is_code { taken } else { " " });
    }
    code
}

struct Reader<'s> {
    source: &'s str,
    rest: &'s str,
    line: usize,
}

impl<'s> Reader<'s> {
    fn new(source: &'s str) -> Self {
        Self {
            source,
            rest: source,
            line: 1,
        }
    }

    fn take(&mut self, bytes: usize) -> &'s str {
        let (taken, rest) = self.rest.split_at(bytes.min(self.rest.len()));
        self.line += taken.matches('\n').count();
        self.rest = rest;
        taken
    }

    /// Skips the next item, and returns it if it is a string.
    fn next(&mut self) -> Option<Literal> {
        let rest = self.rest;
        if rest.starts_with("//") {
            self.take(rest.find('\n').unwrap_or(rest.len()));
        } else if rest.starts_with("r\"") || rest.starts_with("r#") {
            return self.raw();
        } else if rest.starts_with('"') {
            return Some(self.string());
        } else if let Some(character) = character(rest) {
            self.take(character);
        } else {
            let first = rest.chars().next().map_or(1, char::len_utf8);
            self.take(first);
        }
        None
    }

    fn raw(&mut self) -> Option<Literal> {
        let hashes = self.rest[1..].bytes().take_while(|it| *it == b'#').count();
        let line = self.line;
        self.take(1 + hashes);
        if !self.rest.starts_with('"') {
            return None;
        }
        self.take(1);
        let end = format!("\"{}", "#".repeat(hashes));
        let bytes = self.rest.find(&end).unwrap_or(self.rest.len());
        let text = self.take(bytes).to_owned();
        self.take(end.len());
        let is_error = false;
        Some(Literal {
            text,
            line,
            is_error,
        })
    }

    fn string(&mut self) -> Literal {
        let line = self.line;
        let begin = self.source.len() - self.rest.len();
        let is_error = is_error(&self.source[..begin]);
        let mut text = String::new();
        let mut characters = self.rest.char_indices().skip(1).peekable();
        let mut end = self.rest.len();
        while let Some((at, c)) = characters.next() {
            match c {
                '"' => {
                    end = at + 1;
                    break;
                }
                '\\' => match characters.next().map(|(_, c)| c) {
                    Some('n') => text.push('\n'),
                    Some('\n') => while characters.next_if(|(_, c)| c.is_whitespace()).is_some() {},
                    Some(c) => text.push(c),
                    None => {}
                },
                c => text.push(c),
            }
        }
        self.take(end);
        Literal {
            text,
            line,
            is_error,
        }
    }
}

/// Whether the code before a string makes an error or a warning of it.
fn is_error(before: &str) -> bool {
    const MAKERS: [&str; 8] = [
        "bail!(",
        "anyhow!(",
        "ensure!(",
        "context(",
        "Err(",
        "other(",
        "print_message(",
        "#[error(",
    ];
    let near = before.char_indices().rev().nth(120).map_or(0, |(at, _)| at);
    let mut code: String = before[near..].split_whitespace().collect();
    while let Some(shorter) = ["format!(", "||", "{", "&"]
        .iter()
        .find_map(|end| code.strip_suffix(end))
    {
        code = shorter.to_owned();
    }
    let failure = code.strip_suffix(',').map(|code| {
        let is_name = |c: char| c.is_alphanumeric() || c == '_' || c == ':';
        code.trim_end_matches(is_name).ends_with("Failure::new(")
    });
    failure == Some(true) || MAKERS.iter().any(|maker| code.ends_with(maker))
}

/// Number of bytes of a character literal, if one begins here: a lifetime is not one.
fn character(rest: &str) -> Option<usize> {
    let inner = rest.strip_prefix('\'')?;
    match inner.strip_prefix('\\') {
        Some(escaped) => {
            let first = escaped.chars().next()?.len_utf8();
            Some(2 + first + escaped[first..].find('\'')? + 1)
        }
        None => {
            let first = inner.chars().next()?.len_utf8();
            inner[first..].starts_with('\'').then_some(first + 2)
        }
    }
}

#[test]
fn texts_are_found_and_comments_and_tests_are_not() {
    let source = r####"// "no"
fn f<'a>(c: char) { c == '"' || c == '\''; g("one \"x\" \
    two", r#"three "four""#); }
#[cfg(test)]
mod tests { "no" }
"####;
    let texts: Vec<_> = of(source)
        .into_iter()
        .map(|it| (it.text, it.line))
        .collect();
    assert_eq!(
        texts,
        [
            ("one \"x\" two".to_owned(), 2),
            ("three \"four\"".to_owned(), 3)
        ]
    );
}

#[test]
fn tests_in_another_file_end_no_source() {
    let source = "#[cfg(test)]\nmod docs;\nconst A: &str = \"one two\";\n#[cfg(test)]\nmod tests {\n\"no\" }";
    assert_eq!(of(source).len(), 1);
}

#[test]
fn code_has_no_comments_and_no_strings() {
    let source = "fn a() { b(\"c \\\" d\", 'e', r#\"f\"#) } // g";
    assert_eq!(code(source), "fn a() { b( ,  ,  ) }  ");
}

#[test]
fn messages_of_errors_are_known_by_the_code_around() {
    for code in [
        "bail!(\"a b\")",
        ".with_context(|| format!(\"a {b}\"))",
        "Failure::new(error::TROUBLE, format!(\"a b\"))",
        "#[error(\n    \"a b\")]",
    ] {
        assert!(of(code)[0].is_error, "{code}");
    }
    assert!(!of("line(format!(\"a b\"))")[0].is_error);
}
