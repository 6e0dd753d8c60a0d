use std::path::Path;
use std::sync::Mutex;

use ascend_trace_recording::Recording;
use ascend_trace_recording::rows::{
    CallRow, FunctionRow, LossRow, ProcessRow, StreamRow, TablesRow, ThreadRow,
};
use ascend_trace_testkit::whole::opened;

use super::*;

const SECOND: i64 = 1_000_000_000;
const CREATE: u16 = 0;
const PLAIN: u16 = 1;

static SAID: Mutex<Vec<String>> = Mutex::new(Vec::new());

fn tables() -> TablesRow {
    let function = |name: &str, role: &str| FunctionRow {
        name: name.to_owned(),
        role: role.to_owned(),
        ..FunctionRow::default()
    };
    TablesRow {
        functions: vec![
            function("create", "create-stream"),
            function("plain", "plain"),
        ],
        ..TablesRow::default()
    }
}

/// A recording with one batch a second.
struct Rolled {
    folder: tempfile::TempDir,
    board: Arc<Switchboard>,
    roll: Roll,
    writer: ChunkWriter<TraceOutput>,
    second: i64,
}

impl Rolled {
    fn new(at: RollAt, keep: Option<usize>) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let first = folder.path().join("run-0001.atrace");
        let options = RollOptions {
            at,
            keep,
            force: false,
        };
        let session = SessionRow {
            host: "h".to_owned(),
            part: Some(PartRow { number: 1 }),
            ..SessionRow::default()
        };
        let file = File::options();
        let file = file
            .clone()
            .read(true)
            .write(true)
            .create_new(true)
            .open(&first);
        let output = TraceOutput::new(file.unwrap(), true);
        let board = Arc::<Switchboard>::default();
        let say = |text: &str| SAID.lock().unwrap().push(text.to_owned());
        let mut rolled = Self {
            roll: Roll::new(options, session.clone(), first, say, Arc::clone(&board), 0),
            writer: ChunkWriter::create(output, &session, &tables()).unwrap(),
            board,
            folder,
            second: 0,
        };
        let stream = StreamRow {
            serial: 1,
            ..StreamRow::default()
        };
        let rows = [
            Row::Process(ProcessRow::default()),
            Row::Thread(ThreadRow::default()),
            Row::Stream(stream),
            call(CREATE, 0, Some(1)),
            Row::Loss(LossRow {
                calls: 3,
                ..LossRow::default()
            }),
        ];
        rolled.write(&rows);
        rolled
    }

    fn write(&mut self, rows: &[Row]) {
        let mut encoder = Encoder::new();
        for row in rows {
            encoder.push(row);
        }
        self.writer.write(&encoder.seal()).unwrap();
        self.roll.turn(&mut self.writer, self.second * SECOND);
    }

    /// A batch of this many calls each second.
    fn seconds(&mut self, seconds: i64, calls: i64) {
        for _ in 0..seconds {
            self.second += 1;
            let begin = self.second * SECOND;
            let rows = (0..calls).map(|it| call(PLAIN, begin + it, None));
            self.write(&rows.collect::<Vec<Row>>());
        }
    }

    fn end(mut self) -> (tempfile::TempDir, Vec<PathBuf>) {
        let mut encoder = Encoder::new();
        encoder.push(&Row::End(EndRow {
            exit_status: 7,
            ..EndRow::default()
        }));
        self.writer.write(&encoder.seal()).unwrap();
        (self.folder, self.board.parts().into())
    }
}

fn call(function: u16, at: i64, stream: Option<u32>) -> Row {
    Row::Call(CallRow {
        function,
        begin_ns: at,
        end_ns: at + 1,
        stream,
        // Something that does not pack.
        args: (0..60)
            .map(|it| (at as u64 + it).wrapping_mul(0x9e37_79b9_7f4a_7c15))
            .collect(),
        ..CallRow::default()
    })
}

fn names(files: &[PathBuf]) -> Vec<String> {
    let names = files.iter().map(|it| it.file_name().unwrap());
    names.map(|it| it.to_str().unwrap().to_owned()).collect()
}

/// Calls of the whole recording, and its losses.
fn joined(files: &[PathBuf]) -> (u64, u64, Option<i32>) {
    let mut recording = Recording::open_parts(files, |_, _| true).unwrap();
    recording.check().unwrap();
    assert!(recording.final_warnings().is_empty());
    let calls = recording.counts().calls;
    let trace = recording.entities();
    (calls, trace.losses().calls, trace.exit_status())
}

fn refusal(files: &[PathBuf]) -> String {
    let refused = Recording::open_parts(files, |_, _| true);
    refused.err().unwrap().to_string()
}

#[test]
fn each_file_opens_alone_and_all_together_have_each_call_once() {
    let mut rolled = Rolled::new(RollAt::Time(Duration::from_secs(10)), None);
    rolled.seconds(35, 2);
    let (_folder, mut files) = rolled.end();
    let expected = [
        "run-0001.atrace",
        "run-0002.atrace",
        "run-0003.atrace",
        "run-0004.atrace",
    ];
    assert_eq!(names(&files), expected);
    for (at, file) in files.iter().enumerate() {
        let (trace, warnings) = opened(file).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(trace.streams().len(), 1, "it still exists");
        let is_last = at + 1 == files.len();
        assert_eq!(trace.end_reason(), (!is_last).then_some(GOES_ON));
        assert_eq!(trace.exit_status(), is_last.then_some(7));
        let begin = at as i64 * 10 * SECOND;
        let own = trace.calls().iter().filter(|it| it.begin > begin);
        // A file ends with the batch of its last second.
        assert_eq!(own.count(), if is_last { 10 } else { 20 }, "{at}");
    }
    // In any order of the names.
    files.reverse();
    assert_eq!(joined(&files), (71, 3, Some(7)));
    // The oldest files may be missing: then their calls are.
    let later = Recording::open_parts(&files[..2], |_, _| true).unwrap();
    let begin = later.span().unwrap().begin;
    assert!(begin >= 20 * SECOND, "{begin}");
}

#[test]
fn a_set_has_no_gap_and_is_of_one_recording() {
    let mut rolled = Rolled::new(RollAt::Time(Duration::from_secs(10)), None);
    rolled.seconds(35, 1);
    let (_folder, files) = rolled.end();
    let without = |number: usize| {
        let mut some = files.clone();
        some.remove(number);
        some
    };
    let text = refusal(&without(1));
    assert!(
        text.contains("there is a gap: part 2 of the recording"),
        "{text}"
    );
    assert_eq!(joined(&without(3)).2, None, "its end is not known");
    let mut twice = files.clone();
    let copy = files[0].with_file_name("copy.atrace");
    fs::copy(&files[0], &copy).unwrap();
    twice.push(copy);
    assert!(refusal(&twice).contains("are the same part"));
    let mut other = Rolled::new(RollAt::Time(Duration::from_secs(10)), None);
    other.roll.session.host = "another".to_owned();
    other.seconds(15, 1);
    let (_other, others) = other.end();
    let mixed = [files[0].clone(), others[1].clone()];
    assert!(refusal(&mixed).contains("are of different recordings"));
}

#[test]
fn only_the_last_files_stay() {
    let mut rolled = Rolled::new(RollAt::Time(Duration::from_secs(10)), Some(2));
    rolled.seconds(55, 1);
    let (folder, files) = rolled.end();
    assert_eq!(names(&files), ["run-0005.atrace", "run-0006.atrace"]);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 2);
    let (trace, _) = opened(&files[0]).unwrap();
    assert_eq!(trace.streams().len(), 1, "it was made in the first file");
}

/// More than a thread reads at a time.
#[test]
fn a_large_file_is_read_while_it_is_written() {
    let size = PIECE + 4 * REST;
    let mut rolled = Rolled::new(RollAt::Bytes(size), None);
    while rolled.board.parts().len() < 2 {
        rolled.seconds(1, 1000);
        // A disk is slower than this.
        if let Collected::There(thread) = &rolled.roll.collected {
            while !thread.is_finished() {
                std::thread::yield_now();
            }
        }
    }
    let calls = rolled.second as u64 * 1000 + 1;
    let (_folder, files) = rolled.end();
    let first = length(&files[0]);
    assert!((size..size + (1 << 20)).contains(&first), "{first}");
    assert_eq!(joined(&files).0, calls);
}

fn length(path: &Path) -> u64 {
    fs::metadata(path).unwrap().len()
}

#[test]
fn a_file_that_cannot_be_followed_grows() {
    let mut rolled = Rolled::new(RollAt::Time(Duration::from_secs(10)), None);
    let away = tempfile::tempdir().unwrap();
    rolled.roll.first = away.path().join("not there/run-0001.atrace");
    rolled.seconds(25, 1);
    let said = SAID.lock().unwrap().clone();
    let own = said.iter().filter(|it| it.contains("not there"));
    let own: Vec<_> = own.collect();
    assert_eq!(own.len(), 1, "{said:?}");
    assert!(own[0].contains("grows until that is possible"), "{own:?}");
    let (_folder, files) = rolled.end();
    assert_eq!(joined(&files).0, 26);
}

/// Three weeks with a file each hour, of which a day stays. Each file has the objects of the first one.
#[test]
fn files_of_weeks_have_what_they_depend_on() {
    const HOUR: i64 = 3600;
    const HOURS: i64 = 3 * 7 * 24;
    let mut rolled = Rolled::new(RollAt::Time(Duration::from_secs(HOUR as u64)), Some(24));
    for _ in 0..HOURS * 4 {
        // The next batch comes in a quarter of an hour.
        rolled.second += HOUR / 4 - 1;
        rolled.seconds(1, 1);
        assert!(rolled.board.parts().len() <= 24);
    }
    let end = rolled.second * SECOND;
    let (folder, files) = rolled.end();
    assert_eq!(files.len(), 24);
    assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 24);
    assert_eq!(
        names(&files[23..]),
        [format!("run-{:04}.atrace", HOURS + 1)]
    );
    let lengths: Vec<u64> = files.iter().take(23).map(|it| length(it)).collect();
    assert!(lengths.iter().all(|it| *it < 16 << 10), "{lengths:?}");
    for file in &files {
        let (trace, warnings) = opened(file).unwrap();
        assert!(warnings.is_empty(), "{warnings:?}");
        assert_eq!(trace.streams().len(), 1);
        assert_eq!(trace.losses().calls, 3);
    }
    let all = Recording::open_parts(&files, |_, _| true).unwrap();
    let span = all.span().unwrap();
    assert!(end - span.begin <= 24 * HOUR * SECOND && span.end >= end);
}
