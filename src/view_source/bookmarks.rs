//! Bookmarks of a trace: `FILE.marks`, one a line.

use std::io;
use std::path::{Path, PathBuf};

use ascend_trace_viewer::Bookmark;

/// The file that keeps the bookmarks of a trace.
fn beside(trace: &Path) -> PathBuf {
    let mut name = trace.as_os_str().to_owned();
    name.push(".marks");
    PathBuf::from(name)
}

/// The stored bookmarks; none without such a file. Invalid lines are skipped.
pub(super) fn read(trace: &Path) -> Vec<Bookmark> {
    let text = std::fs::read_to_string(beside(trace)).unwrap_or_default();
    text.lines().filter_map(parse).collect()
}

fn parse(line: &str) -> Option<Bookmark> {
    let mut fields = line.splitn(3, '\t');
    let mut number = || fields.next()?.parse().ok();
    let (begin, end) = (number()?, number()?);
    let name = fields.next()?;
    (begin < end && !name.is_empty()).then(|| Bookmark {
        name: name.to_owned(),
        begin,
        end,
    })
}

/// Keeps bookmarks instead of those that were kept; without any there is no file.
pub(super) fn write(trace: &Path, bookmarks: &[Bookmark]) -> io::Result<()> {
    let path = beside(trace);
    if bookmarks.is_empty() {
        return match std::fs::remove_file(&path) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
            _ => Ok(()),
        };
    }
    let line = |it: &Bookmark| {
        let name = it.name.replace(['\t', '\n', '\r'], " ");
        format!("{}\t{}\t{name}\n", it.begin, it.end)
    };
    let text: String = bookmarks.iter().map(line).collect();
    std::fs::write(&path, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bookmark(name: &str, begin: i64, end: i64) -> Bookmark {
        Bookmark {
            name: name.to_owned(),
            begin,
            end,
        }
    }

    #[test]
    fn written_bookmarks_are_read_back_and_none_remove_the_file() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("t.atrace");
        assert_eq!(read(&trace), []);
        let all = [bookmark("矩阵 first", -5, 10), bookmark("b", 0, i64::MAX)];
        write(&trace, &all).unwrap();
        assert_eq!(read(&trace), all);
        write(&trace, &[]).unwrap();
        write(&trace, &[]).unwrap();
        assert!(!beside(&trace).exists());
    }

    #[test]
    fn lines_that_mean_nothing_are_passed_over() {
        let folder = tempfile::tempdir().unwrap();
        let trace = folder.path().join("t.atrace");
        std::fs::write(beside(&trace), "\n1\t2\n9\t3\tback\n1\t2\tgood\nx\ty\tz\n").unwrap();
        assert_eq!(read(&trace), [bookmark("good", 1, 2)]);
    }
}
