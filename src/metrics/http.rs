//! Answers clients, of which none can hold up another one for long, nor anything else.
//!
//! Each connection has one request and a time in which it must be over. There is a limit to how many there are. So a
//! client that is silent or slow costs a thread for seconds.
//!
//! `tiny_http`, which `open` uses for this host alone, has no such limits: it waits for a request without an end, keeps
//! lines of any length, and starts a thread for each connection. Clients here can be on other hosts, and the memory is
//! that of the recorder.

use std::io::{self, ErrorKind, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context;

use super::control::{self, NoOrder};
use super::page::MetricsPage;
use super::text::CONTENT_TYPE;
use super::token::AccessToken;
use crate::control::ControlledRecording;
use crate::control::protocol::Reply;

/// Where the metrics are.
pub(super) const PATH: &str = "/metrics";

/// Connections at a time. More are closed at once.
const MOST_CLIENTS: usize = 16;
/// Time limit of a connection.
const PATIENCE: Duration = Duration::from_secs(10);
/// Time in which the rest of a client's data is read, so that it can read the response.
const PARTING: Duration = Duration::from_millis(500);
/// The longest request.
const MOST_BYTES: usize = 16 << 10;
/// The pause when no connection can be had: the process is out of descriptors.
const PAUSE: Duration = Duration::from_millis(200);

/// State shared by the connection threads.
struct Server {
    token: Option<AccessToken>,
    page: Arc<MetricsPage>,
    recording: ControlledRecording,
    clients: AtomicUsize,
}

/// Starts the thread that takes connections. It lives as long as the command.
pub(super) fn serve(
    listener: TcpListener,
    token: Option<AccessToken>,
    page: Arc<MetricsPage>,
    recording: ControlledRecording,
) -> anyhow::Result<()> {
    let server = Arc::new(Server {
        token,
        page,
        recording,
        clients: AtomicUsize::new(0),
    });
    std::thread::Builder::new()
        .name("metrics-http".into())
        .spawn(move || server.open(&listener))
        .map(drop)
        .context("cannot start the thread for clients")
}

/// One of the places that connections have.
struct ConnectionPermit(Arc<Server>);

impl Drop for ConnectionPermit {
    fn drop(&mut self) {
        self.0.clients.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Server {
    fn open(self: Arc<Self>, listener: &TcpListener) {
        for stream in listener.incoming() {
            match stream {
                Ok(stream) => self.let_in(stream),
                Err(_) => std::thread::sleep(PAUSE),
            }
        }
    }

    fn let_in(self: &Arc<Self>, stream: TcpStream) {
        let before = self.clients.fetch_add(1, Ordering::Relaxed);
        let permit = ConnectionPermit(Arc::clone(self));
        if before >= MOST_CLIENTS {
            return;
        }
        // Without a thread the connection is closed.
        let _ = std::thread::Builder::new()
            .name("metrics-client".into())
            .spawn(move || {
                // A client that has closed the connection needs no response.
                let _ = permit.0.attend(stream);
            });
    }

    fn attend(&self, stream: TcpStream) -> io::Result<()> {
        let mut client = ClientConnection {
            stream,
            until: Instant::now() + PATIENCE,
        };
        let answer = match client.request()? {
            Some(request) => self.response(&request),
            None => HttpResponse::status(400, "Bad Request"),
        };
        client.send(&answer.bytes)?;
        client.part()
    }

    /// The response to the head of a request.
    fn response(&self, request: &str) -> HttpResponse {
        let mut lines = request.split("\r\n");
        let mut words = lines.next().unwrap_or_default().split(' ');
        let (Some(method), Some(target), Some(version), None) =
            (words.next(), words.next(), words.next(), words.next())
        else {
            return HttpResponse::status(400, "Bad Request");
        };
        if !version.starts_with("HTTP/1.") {
            return HttpResponse::status(505, "HTTP Version Not Supported");
        }
        let is_allowed = self.token.as_ref().is_none_or(|token| {
            let value = header(lines, "authorization");
            value.is_some_and(|value| token.is_in(value))
        });
        // Who may not read learns of nothing else.
        if !is_allowed {
            return HttpResponse::with(401, "Unauthorized", "WWW-Authenticate: Bearer\r\n", "");
        }
        if target.starts_with(control::PATH) {
            return self.controlled(method, target);
        }
        if target.split('?').next() != Some(PATH) {
            return HttpResponse::status(404, "Not Found");
        }
        match method {
            "GET" => HttpResponse::page(&self.page.text(), true),
            "HEAD" => HttpResponse::page(&self.page.text(), false),
            _ => HttpResponse::with(405, "Method Not Allowed", "Allow: GET, HEAD\r\n", ""),
        }
    }

    /// Response to a request of control. It needs a token: each user of this host can connect.
    fn controlled(&self, method: &str, target: &str) -> HttpResponse {
        let refused = |text: &str| control::text_of(&Reply::refused(text));
        if self.token.is_none() {
            let text = refused("control by HTTP needs a token: give --metrics-token FILE");
            return HttpResponse::json(403, "Forbidden", "", &text);
        }
        let order = match control::order(method, target) {
            Ok(order) => order,
            Err(NoOrder::Unknown) => return HttpResponse::status(404, "Not Found"),
            Err(NoOrder::Method(needed)) => {
                let allow = format!("Allow: {needed}\r\n");
                return HttpResponse::with(405, "Method Not Allowed", &allow, "");
            }
            Err(NoOrder::Text) => {
                let text = refused("the command needs a text, such as /control/mark?text=TEXT");
                return HttpResponse::json(400, "Bad Request", "", &text);
            }
        };
        let reply = self.recording.obey(order);
        let text = control::text_of(&reply);
        match reply.error {
            None => HttpResponse::json(200, "OK", "Cache-Control: no-store\r\n", &text),
            Some(_) => HttpResponse::json(409, "Conflict", "", &text),
        }
    }
}

/// The value of a header, if there is exactly one.
fn header<'r>(lines: impl Iterator<Item = &'r str>, name: &str) -> Option<&'r str> {
    let pairs = lines.filter_map(|line| line.split_once(':'));
    let mut own = pairs.filter(|(key, _)| key.eq_ignore_ascii_case(name));
    let found = own.next()?.1;
    own.next().is_none().then_some(found.trim())
}

/// A response.
struct HttpResponse {
    bytes: Vec<u8>,
}

impl HttpResponse {
    fn status(code: u16, reason: &str) -> Self {
        Self::with(code, reason, "", "")
    }

    fn page(text: &str, has_body: bool) -> Self {
        let kind = format!("Content-Type: {CONTENT_TYPE}\r\nCache-Control: no-store\r\n");
        let length = text.len();
        let body = if has_body { text } else { "" };
        Self::assembled("200 OK", &kind, length, body)
    }

    fn json(code: u16, reason: &str, headers: &str, body: &str) -> Self {
        let headers = format!("Content-Type: application/json\r\n{headers}");
        Self::with(code, reason, &headers, body)
    }

    fn with(code: u16, reason: &str, headers: &str, body: &str) -> Self {
        Self::assembled(&format!("{code} {reason}"), headers, body.len(), body)
    }

    fn assembled(status: &str, headers: &str, length: usize, body: &str) -> Self {
        let head = format!(
            "HTTP/1.1 {status}\r\n{headers}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        );
        let bytes = (head + body).into_bytes();
        Self { bytes }
    }
}

/// A connection with a deadline.
struct ClientConnection {
    stream: TcpStream,
    until: Instant,
}

impl ClientConnection {
    /// The rest of its time.
    fn rest(&self) -> io::Result<Duration> {
        let rest = self.until.saturating_duration_since(Instant::now());
        match rest.is_zero() {
            true => Err(ErrorKind::TimedOut.into()),
            false => Ok(rest),
        }
    }

    /// The head of its request; none if it is no text or too long.
    fn request(&mut self) -> io::Result<Option<String>> {
        let mut bytes = Vec::new();
        let mut buffer = [0; 2048];
        while bytes.len() <= MOST_BYTES {
            self.stream.set_read_timeout(Some(self.rest()?))?;
            let read = match self.stream.read(&mut buffer) {
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                read => read?,
            };
            if read == 0 {
                return Err(ErrorKind::UnexpectedEof.into());
            }
            // The end may lie across two pieces.
            let seen = bytes.len().saturating_sub(3);
            bytes.extend_from_slice(&buffer[..read]);
            let end = bytes[seen..].windows(4).position(|it| it == b"\r\n\r\n");
            if let Some(end) = end {
                bytes.truncate(seen + end);
                return Ok(String::from_utf8(bytes).ok());
            }
        }
        Ok(None)
    }

    fn send(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            self.stream.set_write_timeout(Some(self.rest()?))?;
            match self.stream.write(bytes) {
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Ok(0) => return Err(ErrorKind::WriteZero.into()),
                written => bytes = &bytes[written?..],
            }
        }
        Ok(())
    }

    /// Ends the connection so that the client gets the whole response: unread data of the client would
    /// cut it off.
    fn part(mut self) -> io::Result<()> {
        self.stream.shutdown(Shutdown::Write)?;
        self.until = self.until.min(Instant::now() + PARTING);
        let mut buffer = [0; 2048];
        loop {
            self.stream.set_read_timeout(Some(self.rest()?))?;
            if self.stream.read(&mut buffer)? == 0 {
                return Ok(());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repeated_header_is_ignored() {
        let lines = ["Host: x", "AUTHORIZATION:  Bearer y "];
        let found = |lines: &[&'static str]| header(lines.iter().copied(), "authorization");
        assert_eq!(found(&lines), Some("Bearer y"));
        assert_eq!(found(&[lines[1], lines[1]]), None);
        assert_eq!(found(&["authorization"]), None);
    }
}
