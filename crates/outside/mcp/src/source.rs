//! Lines of the program's source around a call site.

use std::fs;
use std::path::Path;

/// Lines before and after the line of a call.
const AROUND: usize = 12;
/// A longer file is no source.
const MOST_BYTES: u64 = 4 << 20;

/// A file and a line, as documents of reports have them.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct SourcePlace {
    pub(crate) file: String,
    pub(crate) line: usize,
}

/// The places in a document that a client may mean: only files that the recording names are read.
pub(crate) fn named(document: &serde_json::Value, site: &str) -> Option<SourcePlace> {
    let mut found = Vec::new();
    collect(document, &mut found);
    let (file, line) = site.trim().rsplit_once(':')?;
    let line: usize = line.parse().ok()?;
    let is_it = |it: &SourcePlace| {
        it.line == line && (it.file == file || it.file.ends_with(&format!("/{file}")))
    };
    found.into_iter().find(is_it)
}

/// All pairs of `file` and `line` in a document.
fn collect(value: &serde_json::Value, found: &mut Vec<SourcePlace>) {
    match value {
        serde_json::Value::Array(values) => values.iter().for_each(|it| collect(it, found)),
        serde_json::Value::Object(fields) => {
            let file = fields.get("file").and_then(|it| it.as_str());
            let line = fields.get("line").and_then(serde_json::Value::as_u64);
            if let Some((file, line)) = file.zip(line) {
                found.push(SourcePlace {
                    file: file.to_owned(),
                    line: usize::try_from(line).unwrap_or(usize::MAX),
                });
            }
            fields.values().for_each(|it| collect(it, found));
        }
        _ => {}
    }
}

/// The lines around a place, with their numbers.
pub(crate) fn around(place: &SourcePlace) -> Result<String, String> {
    let path = Path::new(&place.file);
    let shown = path.display();
    let size = fs::metadata(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    if !size.is_file() || size.len() > MOST_BYTES {
        return Err(format!("{shown} is no source file"));
    }
    let text = fs::read(path).map_err(|error| format!("cannot read {shown}: {error}"))?;
    let text = String::from_utf8_lossy(&text);
    let first = place.line.saturating_sub(AROUND).max(1);
    let lines = text.lines().zip(1..).skip(first - 1).take(2 * AROUND + 1);
    let lines = lines.map(|(line, number)| {
        let mark = if number == place.line { '>' } else { ' ' };
        format!("{mark} {number:5} {line}\n")
    });
    let lines: String = lines.collect();
    match lines.is_empty() {
        true => Err(format!(
            "{shown} has no line {}: it has changed since",
            place.line
        )),
        false => Ok(format!("{shown}\n{lines}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_places_that_the_recording_names_are_found() {
        let document = serde_json::json!({
            "findings": [{ "sites": [{ "call_site": { "file": "/src/train.c", "line": 12 } }] }],
        });
        let place = named(&document, "train.c:12").unwrap();
        assert_eq!((&*place.file, place.line), ("/src/train.c", 12));
        assert!(named(&document, "/src/train.c:12").is_some());
        for wrong in ["train.c:13", "rain.c:12", "/etc/passwd:1", "train.c", ""] {
            assert_eq!(named(&document, wrong), None, "{wrong}");
        }
    }

    #[test]
    fn lines_around_have_numbers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.c");
        let text: String = (1..=100).map(|it| format!("line {it};\n")).collect();
        fs::write(&path, text).unwrap();
        let place = |line| SourcePlace {
            file: path.display().to_string(),
            line,
        };
        let text = around(&place(50)).unwrap();
        assert!(
            text.contains(">    50 line 50;") && text.contains("   38 line 38;"),
            "{text}"
        );
        assert!(around(&place(2)).unwrap().contains("     1 line 1;"));
        assert!(around(&place(500)).is_err());
    }
}
