//! Long recordings, finished and growing, as the view gets them.

use std::fs::{self, File, OpenOptions};
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

use ascend_trace_model::file::Writer;
use ascend_trace_model::rows::EndRow;
use ascend_trace_testkit::workload::{self, Workload};
use ascend_trace_viewer::{ExportNews, Recording, Source};

use super::{FileSource, Reading, WHOLE_BYTES};

/// Long enough to be read part by part.
fn long_file() -> Vec<u8> {
    let (session, tables) = workload::leading();
    let mut writer = Writer::create(Vec::new(), &session, &tables).unwrap();
    let workload = Workload {
        steps: 9_000,
        ..Workload::default()
    };
    let mut last = None;
    workload::run(workload, |row| {
        if let Some(row) = last.replace(row) {
            writer.push(row).unwrap();
        }
    });
    let end = EndRow {
        end_ns: 1,
        exit_status: 5,
    };
    let bytes = writer.finish(end).unwrap();
    assert!(bytes.len() as u64 > WHOLE_BYTES);
    bytes
}

/// Polls as the view does until something holds.
fn until(source: &mut FileSource, what: &str, holds: impl Fn(&FileSource) -> bool) {
    let begin = Instant::now();
    while !holds(source) {
        source.poll().unwrap();
        source.next_part();
        assert!(begin.elapsed() < Duration::from_secs(300), "no {what}");
        std::thread::sleep(Duration::from_millis(1));
    }
}

fn span(source: &FileSource) -> Option<(i64, i64)> {
    source.overview()?.span
}

fn write(path: &Path, bytes: &[u8]) -> FileSource {
    fs::write(path, bytes).unwrap();
    FileSource::open(path).unwrap()
}

#[test]
fn a_long_file_is_read_where_one_looks() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = write(&folder.path().join("long.atrace"), &long_file());
    assert!(matches!(source.reading, Reading::Parts(_)));
    assert!(source.trace().calls().is_empty());
    until(&mut source, "span", |it| span(it).is_some());
    let (begin, end) = span(&source).unwrap();
    // What there is to draw comes after the span, with the first part.
    until(&mut source, "streams", |it| it.trace().streams().len() == 4);
    // All of it is too much to be read call by call.
    source.look_at((begin, end));
    until(&mut source, "answer", |it| !it.is_loading());
    assert!(source.trace().calls().is_empty());
    assert!(source.overview().unwrap().loaded.is_none());
    let middle = begin + (end - begin) / 2;
    source.look_at((middle, middle + 1_000_000));
    until(&mut source, "part", |it| !it.trace().calls().is_empty());
    let (from, to) = source.overview().unwrap().loaded.unwrap();
    assert!(from <= middle && to >= middle + 1_000_000);
    let progress = source.poll().unwrap();
    assert_eq!(progress.recording, Recording::Ended { status: 5 });
}

#[test]
fn a_recording_that_grows_long_is_followed_on() {
    let bytes = long_file();
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("growing.atrace");
    let mut source = write(&path, &bytes[..200_000]);
    source.ours = true;
    assert!(matches!(source.reading, Reading::Whole(_)));
    source.poll().unwrap();
    assert!(source.overview().is_none() && !source.trace().calls().is_empty());
    let mut file: File = OpenOptions::new().append(true).open(&path).unwrap();
    let mut rest = &bytes[200_000..];
    let mut last = 0;
    while !rest.is_empty() {
        let (piece, after) = rest.split_at(rest.len().min(400_000));
        rest = after;
        file.write_all(piece).unwrap();
        let moved = |it: &FileSource| match span(it) {
            Some((_, end)) => end > last,
            None => matches!(it.reading, Reading::Whole(_)),
        };
        let begin = Instant::now();
        until(&mut source, "news", moved);
        println!("{} bytes: seen after {:.1?}", piece.len(), begin.elapsed());
        if let Some((_, end)) = span(&source) {
            last = end;
            source.look_at((end - 2_000_000, end));
        }
        source.poll().unwrap();
    }
    assert!(matches!(source.reading, Reading::Parts(_)));
    until(&mut source, "end", |it| it.trace().end().is_some());
    until(&mut source, "calls", |it| !it.trace().calls().is_empty());
}

#[test]
fn a_file_that_is_no_trace_is_refused_at_once() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("notes.txt");
    fs::write(&path, vec![b'x'; 3 << 20]).unwrap();
    assert!(FileSource::open(&path).is_err());
}

/// Waits for the last news of an export.
fn exported(source: &mut FileSource) -> ExportNews {
    let begin = Instant::now();
    loop {
        match source.export_news() {
            Some(ExportNews::Reached(done, all)) => assert!(done <= all),
            Some(news) => return news,
            None => std::thread::sleep(Duration::from_millis(1)),
        }
        assert!(begin.elapsed() < Duration::from_secs(300), "no export");
    }
}

#[test]
fn all_and_ranges_are_exported_by_the_name_of_the_file() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = write(&folder.path().join("long.atrace"), &long_file());
    until(&mut source, "span", |it| span(it).is_some());
    let (begin, end) = span(&source).unwrap();
    let name = |name: &str| folder.path().join(name).display().to_string();
    let range = Some((begin, begin + (end - begin) / 20));
    for (file, range) in [("part.json", range), ("part.pftrace.gz", range)] {
        source.export(&name(file), range).unwrap();
        let news = exported(&mut source);
        assert!(
            matches!(&news, ExportNews::Done(text) if text.contains(file)),
            "{news:?}"
        );
    }
    let text = fs::read_to_string(name("part.json")).unwrap();
    assert!(text.starts_with('{') && text.contains("MatMul"));
    assert_eq!(
        fs::read(name("part.pftrace.gz")).unwrap()[..2],
        [0x1f, 0x8b]
    );
    // What is there is not replaced, and what is no format is refused.
    let refused = |source: &mut FileSource, file: &str| {
        let error = source.export(&name(file), None).unwrap_err();
        error.to_string()
    };
    assert!(refused(&mut source, "part.json").contains("exists"));
    assert!(refused(&mut source, "part.txt").contains(".pftrace"));
}

#[test]
fn an_export_that_is_stopped_leaves_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let mut source = write(&folder.path().join("long.atrace"), &long_file());
    let path = folder.path().join("all.json");
    source.export(&path.display().to_string(), None).unwrap();
    source.stop_export();
    let news = exported(&mut source);
    assert!(
        matches!(&news, ExportNews::Failed(text) if text.contains("stopped")),
        "{news:?}"
    );
    let left = fs::read_dir(folder.path()).unwrap().count();
    assert_eq!(left, 1, "only the trace");
}
