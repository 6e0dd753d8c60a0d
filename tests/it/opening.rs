//! `open`: a page in a browser fetches the trace.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, ChildStdout, Command, Stdio};

use crate::support::{Recording, Run, program, run, tool};

/// `open`, which waits for a page.
struct Opened {
    child: Child,
    /// Its further output.
    out: BufReader<ChildStdout>,
    link: String,
}

fn recording() -> Recording {
    Run::new(&program("many_streams")).traced()
}

impl Opened {
    fn of(recording: &Recording, options: &[&str]) -> Self {
        let mut command = tool();
        command.arg("open").args(options).arg(recording.trace());
        Self::start(command)
    }

    fn start(mut command: Command) -> Self {
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap());
        let mut link = String::new();
        out.read_line(&mut link).unwrap();
        let link = link.trim().to_owned();
        Self { child, out, link }
    }

    /// Where the page fetches the trace: host and port, and the path.
    fn place(&self) -> (&str, &str) {
        let (_, url) = self.link.split_once("/#!/?url=http://").expect(&self.link);
        url.split_at(url.find('/').unwrap())
    }

    fn ask(&self, request: &str) -> (String, Vec<u8>) {
        let mut stream = self.send(request);
        let mut answer = Vec::new();
        stream.read_to_end(&mut answer).unwrap();
        let end = answer.windows(4).position(|it| it == b"\r\n\r\n").unwrap();
        let head = String::from_utf8(answer[..end].to_vec()).unwrap();
        (head, answer[end + 4..].to_vec())
    }

    fn send(&self, request: &str) -> TcpStream {
        let (host, path) = self.place();
        let mut stream = TcpStream::connect(host).unwrap();
        let request = request.replace("PATH", path);
        write!(
            stream,
            "{request}\r\nHost: {host}\r\nOrigin: https://ui.perfetto.dev\r\nConnection: close\r\n\r\n"
        )
        .unwrap();
        stream
    }

    /// Waits for its end, and returns its output.
    fn end(mut self) -> String {
        let mut more = String::new();
        self.out.read_to_string(&mut more).unwrap();
        assert_eq!(more, "");
        let outcome = self.child.wait_with_output().unwrap();
        let said = String::from_utf8(outcome.stderr).unwrap();
        assert_eq!(outcome.status.code(), Some(0), "{said}");
        said
    }
}

#[test]
fn a_page_fetches_the_trace_once_and_no_other_client_does() {
    let recording = recording();
    let exported = recording.beside("run.pftrace");
    let mut export = tool();
    export.args(["export", "--format", "perfetto", "-o"]);
    run(export.arg(&exported).arg(recording.trace())).expect(0);
    let expected = std::fs::read(&exported).unwrap();

    let opened = Opened::of(&recording, &["--port", "0"]);
    assert!(
        opened
            .link
            .starts_with("https://ui.perfetto.dev/#!/?url=http://127.0.0.1:"),
        "{}",
        opened.link
    );
    assert!(opened.link.ends_with(".pftrace"), "{}", opened.link);
    // Clients without the path, and other requests of a page.
    assert!(opened.ask("GET /run.pftrace HTTP/1.1").0.contains(" 404 "));
    assert!(opened.ask("POST PATH HTTP/1.1").0.contains(" 405 "));
    let (asked, _) = opened.ask("OPTIONS PATH HTTP/1.1");
    assert!(asked.contains(" 204 "), "{asked}");
    assert!(
        asked.contains("Access-Control-Allow-Origin: https://ui.perfetto.dev"),
        "{asked}"
    );
    let (head, nothing) = opened.ask("HEAD PATH HTTP/1.1");
    let length = format!("Content-Length: {}", expected.len());
    assert!(head.contains(" 200 ") && head.contains(&length), "{head}");
    assert!(nothing.is_empty());
    let (part, bytes) = opened.ask("GET PATH HTTP/1.1\r\nRange: bytes=10-19");
    let range = format!("Content-Range: bytes 10-19/{}", expected.len());
    assert!(part.contains(" 206 ") && part.contains(&range), "{part}");
    assert_eq!(bytes, expected[10..20]);
    let beyond = format!("GET PATH HTTP/1.1\r\nRange: bytes={}-", expected.len());
    assert!(opened.ask(&beyond).0.contains(" 416 "));
    // The whole trace, and the end.
    let (head, bytes) = opened.ask("GET PATH HTTP/1.1");
    assert!(head.contains(" 200 ") && head.contains(&length), "{head}");
    assert!(bytes == expected, "{} {}", bytes.len(), expected.len());
    let said = opened.end();
    assert!(said.contains("ssh -L "), "{said}");
    assert!(said.ends_with("the trace has been fetched\n"), "{said}");
}

#[test]
fn a_named_browser_gets_the_link_and_another_page_may_be_used() {
    let recording = recording();
    let shown = recording.beside("shown");
    let browser = recording.beside("browser.sh");
    let script = format!(
        "#!/bin/sh\necho \"$1\" > {}.new && mv {0}.new {0}\n",
        shown.display()
    );
    crate::support::process::write_executable(&browser, script.as_bytes());
    let mut command = tool();
    command.args([
        "open",
        "--port",
        "0",
        "--browser",
        "--ui",
        "http://own:1/ui/",
    ]);
    command.arg(recording.trace()).env("BROWSER", &browser);
    let opened = Opened::start(command);
    assert!(
        opened.link.starts_with("http://own:1/ui/#!/?url="),
        "{}",
        opened.link
    );
    while !shown.exists() {
        std::thread::sleep(std::time::Duration::from_millis(10));
    }
    assert_eq!(std::fs::read_to_string(&shown).unwrap().trim(), opened.link);
    let (head, _) = opened.ask("GET PATH HTTP/1.1");
    assert!(
        head.contains("Access-Control-Allow-Origin: http://own:1\r\n"),
        "{head}"
    );
    opened.end();
}

#[test]
fn a_port_that_is_taken_and_wrong_words_are_said() {
    let recording = recording();
    let first = Opened::of(&recording, &["--port", "0"]);
    let (_, port) = first.place().0.split_once(':').unwrap();
    let refused = |options: &[&str]| {
        let mut command = tool();
        command.arg("open").args(options).arg(recording.trace());
        run(&mut command).expect(2).err()
    };
    let said = refused(&["--port", port]);
    let expected = format!("ascend-trace: cannot listen on port {port} of 127.0.0.1: ");
    assert!(
        said.starts_with(&expected) && said.lines().count() == 1,
        "{said}"
    );
    let said = refused(&["--port", "0", "--ui", "ui.perfetto.dev"]);
    assert!(
        said.contains("--ui ui.perfetto.dev: it begins with https:// or http://"),
        "{said}"
    );
    first.ask("GET PATH HTTP/1.1");
    first.end();
}
