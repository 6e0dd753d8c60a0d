//! Responses to the page.

use std::fs::File;
use std::io::{self, Write};
use std::os::unix::fs::FileExt;

use tiny_http::{Header, Method, Request, Response};

/// A trace that may be fetched.
pub(super) struct TraceOffer {
    pub(super) path: String,
    /// The page that may read it.
    pub(super) origin: String,
    pub(super) bytes: u64,
    pub(super) file: File,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ResponseOutcome {
    /// The last byte has been sent.
    Fetched,
    /// The client has closed the connection before.
    BrokenOff,
    /// Something else was asked for.
    Other,
}

/// The bytes from `at` to before `end` of a file that others may read at the same time.
struct FileRange<'f> {
    file: &'f File,
    at: u64,
    end: u64,
}

impl io::Read for FileRange<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let left = usize::try_from(self.end - self.at).unwrap_or(usize::MAX);
        let wanted = left.min(buffer.len());
        let read = self.file.read_at(&mut buffer[..wanted], self.at)?;
        self.at += read as u64;
        Ok(read)
    }
}

impl TraceOffer {
    pub(super) fn respond(&self, request: Request) -> ResponseOutcome {
        if request.url() != self.path {
            return self.refuse(request, 404);
        }
        match request.method() {
            Method::Get | Method::Head => self.send_trace(request),
            // A browser asks first whether a page may read from this host.
            Method::Options => self.refuse(request, 204),
            _ => self.refuse(request, 405),
        }
    }

    fn send_trace(&self, request: Request) -> ResponseOutcome {
        let range = header(&request, "Range").map(|text| range(&text, self.bytes));
        let (status, (at, end)) = match range {
            None => (200, (0, self.bytes)),
            Some(Some(part)) => (206, part),
            Some(None) => return self.refuse(request, 416),
        };
        let is_last = *request.method() == Method::Get && end == self.bytes;
        let piece = FileRange {
            file: &self.file,
            at,
            end,
        };
        let mut headers = self.headers();
        headers.extend(field("Content-Type", "application/octet-stream"));
        headers.extend(field("Accept-Ranges", "bytes"));
        if status == 206 {
            let all = self.bytes;
            headers.extend(field(
                "Content-Range",
                &format!("bytes {at}-{}/{all}", end - 1),
            ));
        }
        let length = usize::try_from(end - at).ok();
        let response = Response::new(status.into(), headers, piece, length, None);
        // With a known length, the page can show its progress.
        match send(request, response.with_chunked_threshold(usize::MAX)) {
            Ok(()) if is_last => ResponseOutcome::Fetched,
            Ok(()) => ResponseOutcome::Other,
            Err(_) => ResponseOutcome::BrokenOff,
        }
    }

    fn refuse(&self, request: Request, status: u16) -> ResponseOutcome {
        let mut response = Response::empty(status);
        for header in self.headers() {
            response.add_header(header);
        }
        if status == 416 {
            let all = format!("bytes */{}", self.bytes);
            field("Content-Range", &all).for_each(|it| response.add_header(it));
        }
        // A client that has closed the connection needs no response.
        let _ = request.respond(response);
        ResponseOutcome::Other
    }

    /// Headers that allow the page, and no other one, to read the response.
    fn headers(&self) -> Vec<Header> {
        let fields = [
            ("Access-Control-Allow-Origin", self.origin.as_str()),
            ("Access-Control-Allow-Methods", "GET, HEAD, OPTIONS"),
            ("Access-Control-Allow-Headers", "Range"),
            (
                "Access-Control-Expose-Headers",
                "Content-Length, Content-Range",
            ),
            ("Access-Control-Allow-Private-Network", "true"),
            ("Vary", "Origin"),
            ("Cache-Control", "no-store"),
        ];
        fields
            .iter()
            .flat_map(|(name, value)| field(name, value))
            .collect()
    }
}

/// [`Request::respond`] does not report a closed connection.
fn send(request: Request, response: Response<FileRange<'_>>) -> io::Result<()> {
    let (version, headers) = (request.http_version().clone(), request.headers().to_vec());
    let is_head = *request.method() == Method::Head;
    let mut writer = request.into_writer();
    response.raw_print(&mut writer, version, &headers, is_head, None)?;
    writer.flush()
}

fn field(name: &str, value: &str) -> impl Iterator<Item = Header> + use<> {
    Header::from_bytes(name, value).into_iter()
}

fn header(request: &Request, name: &'static str) -> Option<String> {
    let mut headers = request.headers().iter();
    let found = headers.find(|it| it.field.equiv(name))?;
    Some(found.value.as_str().to_owned())
}

/// The begin of one range of bytes, and the byte after its end; `None` for an invalid one.
fn range(text: &str, all: u64) -> Option<(u64, u64)> {
    let (first, last) = text.trim().strip_prefix("bytes=")?.split_once('-')?;
    let (at, end) = match (first.trim(), last.trim()) {
        ("", last) => (all.saturating_sub(last.parse().ok()?), all),
        (first, "") => (first.parse().ok()?, all),
        (first, last) => {
            let last: u64 = last.parse().ok()?;
            (first.parse().ok()?, last.saturating_add(1).min(all))
        }
    };
    (at < end).then_some((at, end))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_of_bytes_are_read() {
        assert_eq!(range("bytes=0-9", 100), Some((0, 10)));
        assert_eq!(range("bytes=90-", 100), Some((90, 100)));
        assert_eq!(range("bytes=-5", 100), Some((95, 100)));
        assert_eq!(range("bytes=-500", 100), Some((0, 100)));
        assert_eq!(range("bytes=90-900", 100), Some((90, 100)));
        for wrong in [
            "bytes=100-",
            "bytes=9-3",
            "bytes=x-",
            "items=0-1",
            "bytes=",
            "bytes=-0",
            "",
        ] {
            assert_eq!(range(wrong, 100), None, "{wrong}");
        }
    }
}
