//! A process that imitates an object store.

use std::io::{BufRead, BufReader, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::Mutex;
use std::time::{Duration, Instant};

use tempfile::TempDir;

pub(super) struct Server {
    pub(super) address: String,
    folder: TempDir,
    child: Child,
    channel: Mutex<(ChildStdin, BufReader<ChildStdout>)>,
}

impl Server {
    /// With a bucket `fleet`, if there is a Python for it.
    pub(super) fn start() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/object_store/server.py");
        let mut command = Command::new(python()?);
        // It only connects to itself.
        command
            .env("no_proxy", "127.0.0.1")
            .arg(script)
            .arg(folder.path());
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut child = command.stderr(Stdio::null()).spawn().unwrap();
        let input = child.stdin.take().unwrap();
        let mut output = BufReader::new(child.stdout.take().unwrap());
        let mut address = String::new();
        output.read_line(&mut address).unwrap();
        assert!(address.starts_with("http://"), "the server has not started");
        Some(Self {
            address: address.trim().to_owned(),
            folder,
            child,
            channel: Mutex::new((input, output)),
        })
    }

    /// The reply to a command.
    pub(super) fn ask(&self, command: &str) -> String {
        let mut channel = self.channel.lock().unwrap();
        writeln!(channel.0, "{command}").unwrap();
        let mut line = String::new();
        channel.1.read_line(&mut line).unwrap();
        assert!(line.ends_with('\n'), "no reply to {command}");
        line.trim().to_owned()
    }

    pub(super) fn number(&self, command: &str) -> u64 {
        self.ask(command).parse().unwrap()
    }

    /// The file that has the server refuse tables.
    pub(super) fn refusal(&self) -> PathBuf {
        self.folder.path().join("refuse")
    }

    /// Refuses tables with a status and a code, or takes them again.
    pub(super) fn refuse(&self, with: Option<&str>) {
        match with {
            Some(with) => std::fs::write(self.refusal(), with).unwrap(),
            None => std::fs::remove_file(self.refusal()).unwrap(),
        }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Waits until something is true.
#[track_caller]
pub(super) fn until(mut is_so: impl FnMut() -> bool) {
    let begin = Instant::now();
    while !is_so() {
        assert!(
            begin.elapsed() < Duration::from_secs(60),
            "it does not come"
        );
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A python that has the server.
#[expect(clippy::print_stderr, reason = "skipped tests say why")]
fn python() -> Option<PathBuf> {
    let variable = "ASCEND_TRACE_S3_PYTHON";
    let named = std::env::var_os(variable).map(PathBuf::from);
    let python = named.clone().unwrap_or_else(|| "python3".into());
    let found = Command::new(&python)
        .args(["-c", "import moto.server"])
        .output();
    let has_it = found.is_ok_and(|it| it.status.success());
    if !has_it {
        assert_eq!(named, None, "{variable} names a python without moto");
        eprintln!("skipped: python3 has no moto; {variable} can name one that has");
    }
    has_it.then_some(python)
}
