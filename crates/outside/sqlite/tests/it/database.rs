use std::cell::RefCell;
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::rc::Rc;

use ascend_trace_export::{Csv, ExportSink, ExportSource, Exporter};
use ascend_trace_recording::Trace;
use ascend_trace_testkit::timeline;
use rusqlite::types::ValueRef;
use rusqlite::{Connection, OpenFlags};
use tempfile::TempDir;

/// Two processes, two devices, a graph, copies, waits and calls that block.
const EXAMPLE: &str = "t1: capture(s5)[0..1] of g1 end(s5)[4..5] of g1
    s5: memcpy[captured] by t1[2..3] of g1 graph[20us..22us] by t1[6..7] of g1 graph[22us..24us] by t1[8..9] of g1
    s1: A[1us..10us] rec(E) B[10us..30us] rec(F)
    s2@0: wait(E)[2us..10us] C[12us..20us] wait(F)[20us..30us]
    s3@1 by t2: memcpy(4096)[5us..9us] wait(E)
    t1: aclrtMalloc(64)[30us..31us] sync(s2)[31us..33us] sync(E)[34us..35us] sync()[36us..37us]
    p2.s1: D[1us..2us] rec(E)
    p2.t1: sync(s1)[3us..4us]";

pub(crate) fn example() -> Trace {
    timeline(EXAMPLE)
}

/// Files by name, while they are written.
#[derive(Clone, Debug, Default)]
struct Files(Rc<RefCell<BTreeMap<String, Vec<u8>>>>);

struct NamedFile(Files, String);

impl Write for NamedFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let mut files = self.0.0.borrow_mut();
        files.entry(self.1.clone()).or_default().extend(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl<'w> ExportSink<'w> for Files {
    fn open(&mut self, name: &str) -> io::Result<Box<dyn Write + 'w>> {
        Ok(Box::new(NamedFile(self.clone(), name.to_owned())))
    }
}

pub(crate) fn files(exporter: &dyn Exporter, trace: &Trace) -> BTreeMap<String, Vec<u8>> {
    let mut files = Files::default();
    exporter
        .export(&ExportSource::new(trace), &mut files)
        .expect("memory takes everything");
    files.0.take()
}

/// The CSV tables, by name: the header, then the rows.
pub(crate) fn csv(trace: &Trace) -> BTreeMap<String, Vec<Vec<String>>> {
    let files = files(&Csv, trace).into_iter();
    let tables = files.map(|(name, bytes)| {
        let mut reader = csv::ReaderBuilder::new();
        let reader = reader.has_headers(false);
        let rows = reader.from_reader(bytes.as_slice()).into_deserialize();
        let name = name.trim_end_matches(".csv").to_owned();
        (name, rows.collect::<Result<_, _>>().expect("valid CSV"))
    });
    tables.collect()
}

/// A database in a file.
pub(crate) struct Exported {
    folder: TempDir,
    connection: Connection,
}

impl Exported {
    pub(crate) fn of(exporter: &dyn Exporter, trace: &Trace) -> Self {
        Self::in_bytes(&files(exporter, trace)[""])
    }

    pub(crate) fn in_bytes(bytes: &[u8]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("t.sqlite");
        std::fs::write(&path, bytes).expect("a file");
        let connection = Connection::open_with_flags(&path, OpenFlags::SQLITE_OPEN_READ_ONLY);
        Self {
            folder,
            connection: connection.expect("a database"),
        }
    }

    pub(crate) fn path(&self) -> PathBuf {
        self.folder.path().join("t.sqlite")
    }

    /// The rows of a query as CSV has them, without those names of columns.
    #[track_caller]
    pub(crate) fn rows(&self, query: &str) -> Vec<Vec<String>> {
        let mut statement = self.connection.prepare(query).expect(query);
        let columns = statement.column_count();
        let mut rows = statement.query([]).expect(query);
        let mut all = Vec::new();
        while let Some(row) = rows.next().expect(query) {
            let cell = |place| match row.get_ref(place).expect(query) {
                ValueRef::Null => String::new(),
                ValueRef::Integer(value) => value.to_string(),
                ValueRef::Text(text) => String::from_utf8(text.to_vec()).expect("UTF-8"),
                other => panic!("{query}: {other:?}"),
            };
            all.push((0..columns).map(cell).collect());
        }
        all
    }

    /// The names of the columns of a query.
    #[track_caller]
    pub(crate) fn columns(&self, query: &str) -> Vec<String> {
        let statement = self.connection.prepare(query).expect(query);
        statement.column_names().map(str::to_owned).collect()
    }
}

/// What Python's own reader finds; nothing, with the reason, where there is no Python.
pub(crate) fn by_python(script: &str, database: &Path) -> Option<serde_json::Value> {
    let mut command = Command::new("python3");
    let output = command.args(["-c", script]).arg(database).output();
    let Some(output) = output.ok().filter(|it| it.status.code() != Some(77)) else {
        // If stderr is closed, no report is possible.
        let _ = writeln!(io::stderr(), "skipped: there is no python3 with sqlite3");
        return None;
    };
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{errors}");
    Some(serde_json::from_slice(&output.stdout).expect("JSON"))
}
