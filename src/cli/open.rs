//! `open`: shows a recording in Perfetto's UI, which fetches it from this process.
//!
//! The page runs in the user's browser and takes traces of `http://127.0.0.1:9001` only. The offered
//! trace has an unguessable path, so that other users of the host cannot fetch it.

mod response;

use std::fmt::Write as _;
use std::fs::File;
use std::io::Read;
use std::net::Ipv4Addr;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, anyhow, bail};
use tiny_http::Server;

use super::args::{OpenArgs, STDIN};
use super::{export, open_trace};
use crate::output::{print, print_message, print_status};
use response::{ResponseOutcome, TraceOffer};

pub(crate) fn run(args: &OpenArgs) -> anyhow::Result<u8> {
    let ui = args.ui.trim_end_matches('/');
    if !ui.starts_with("https://") && !ui.starts_with("http://") {
        bail!("--ui {ui}: it begins with https:// or http://");
    }
    // Before the work, not after it.
    let server = listen(args.port)?;
    let folder = std::env::temp_dir();
    let mut file = open_trace::unnamed(&folder)
        .with_context(|| format!("cannot keep the export in {}", folder.display()))?;
    let status = export::into_unnamed(&args.export(), &mut file)?;
    let offer = TraceOffer {
        path: format!("/{}/{}", token()?, name(&args.file)),
        origin: origin(ui).to_owned(),
        bytes: file.metadata().context("cannot read the export")?.len(),
        file,
    };
    let port = server
        .server_addr()
        .to_ip()
        .map_or(args.port, |it| it.port());
    let link = format!("{ui}/#!/?url=http://127.0.0.1:{port}{}", offer.path);
    print(&format!("{link}\n"))?;
    print_status(format!(
        "open this link in a browser on this host; from another host, first run: ssh -L {port}:127.0.0.1:{port} THIS-HOST"
    ));
    if args.browser {
        show(&link);
    }
    serve(&server, &offer);
    Ok(status)
}

fn listen(port: u16) -> anyhow::Result<Server> {
    Server::http((Ipv4Addr::LOCALHOST, port)).map_err(|error| {
        anyhow!("cannot listen on port {port} of 127.0.0.1: {error}; Perfetto's page asks at no other port than 9001, so end what uses it")
    })
}

/// Answers until the trace has been fetched.
fn serve(server: &Server, offer: &TraceOffer) {
    for request in server.incoming_requests() {
        match offer.respond(request) {
            ResponseOutcome::Fetched => return print_status("the trace has been fetched"),
            ResponseOutcome::BrokenOff => print_message(
                "the browser stopped before the end of the trace: load the page again",
            ),
            ResponseOutcome::Other => {}
        }
    }
}

/// Starts the user's browser. Without one, the link is on the screen.
fn show(link: &str) {
    let browser = std::env::var_os("BROWSER").filter(|it| !it.is_empty());
    let browser = browser.unwrap_or_else(|| "xdg-open".into());
    let mut command = Command::new(&browser);
    command.arg(link).stdin(Stdio::null()).stdout(Stdio::null());
    if let Err(error) = command.spawn() {
        print_message(format!(
            "cannot start {}: {error}; open the link yourself",
            browser.display()
        ));
    }
}

/// 128 random bits.
fn token() -> anyhow::Result<String> {
    let mut bits = [0; 16];
    let read = File::open("/dev/urandom").and_then(|mut it| it.read_exact(&mut bits));
    read.context("cannot read /dev/urandom")?;
    let mut text = String::new();
    for byte in bits {
        write!(text, "{byte:02x}")?;
    }
    Ok(text)
}

/// The page shows this name. Characters that a URL would have to encode become `_`.
fn name(trace: &Path) -> String {
    let stem = match trace.file_stem() {
        Some(stem) if trace != Path::new(STDIN) => stem.to_string_lossy(),
        _ => "trace".into(),
    };
    let is_plain = |it: char| it.is_ascii_alphanumeric() || "-_.".contains(it);
    let plain = stem.chars().map(|it| if is_plain(it) { it } else { '_' });
    plain.chain(".pftrace".chars()).collect()
}

/// Scheme, host and port of a URL: the browser's form of the requesting page.
fn origin(url: &str) -> &str {
    let host = url.find("://").map_or(0, |at| at + 3);
    let path = url[host..].find('/').map_or(url.len(), |at| host + at);
    &url[..path]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_need_no_encoding() {
        assert_eq!(name(Path::new("/x/run 1&é.atrace")), "run_1__.pftrace");
        assert_eq!(name(Path::new(STDIN)), "trace.pftrace");
    }

    #[test]
    fn a_page_is_known_by_its_origin() {
        assert_eq!(origin("https://ui.perfetto.dev"), "https://ui.perfetto.dev");
        assert_eq!(origin("http://host:1/a/b"), "http://host:1");
    }

    #[test]
    fn tokens_are_random() {
        let tokens = [token().unwrap(), token().unwrap()];
        assert_ne!(tokens[0], tokens[1]);
        assert!(tokens.iter().all(|it| it.len() == 32));
    }
}
