//! Changes as they are written: `op=MatMul x0.5`, `stream=3 wait=none`, `sync=DeviceSync->event`, `copy x0`, `launch x0`.

use std::collections::BTreeSet;
use std::path::Path;

use anyhow::bail;

use ascend_trace_analysis::whatif::{Change, Narrow, WhatIf};
use ascend_trace_export::NamePattern;

/// Short names of functions that wait, and how the names of these functions begin.
const SYNCS: [(&str, &str); 3] = [
    ("devicesync", "aclrtSynchronizeDevice*"),
    ("streamsync", "aclrtSynchronizeStream*"),
    ("eventsync", "aclrtSynchronizeEvent*"),
];

/// A change that was read, before anything is known of the recording.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct ChangeSpec {
    text: String,
    kind: ChangeKind,
}

#[derive(Clone, Debug, PartialEq)]
enum ChangeKind {
    Operation(String, f64),
    Copy(f64),
    Launch(f64),
    NoWaits(Option<u32>, i64),
    Sync(String, Narrow),
}

/// Reads a change.
pub(crate) fn parse(text: &str) -> Result<ChangeSpec, String> {
    if Path::new(text).is_file() {
        return Err(
            "this is a file, not a change: name the files of `record --roll` by a pattern in quotes, such as 'run-*.atrace'"
                .to_owned(),
        );
    }
    let form = || {
        "a change is 'op=NAME xFACTOR', 'stream=ID wait=none', 'sync=FUNCTION->stream', '->event' or '->none', \
         'copy xFACTOR' or 'launch xFACTOR'"
            .to_owned()
    };
    let trimmed = text.trim();
    let kind = match trimmed.split_once('=') {
        Some(("op", rest)) => {
            let (name, times) = rest.rsplit_once(char::is_whitespace).ok_or_else(form)?;
            ChangeKind::Operation(name.trim().to_owned(), factor(times)?)
        }
        Some(("sync", rest)) => {
            let (name, narrow) = rest
                .split_once("->")
                .or_else(|| rest.split_once('→'))
                .ok_or_else(form)?;
            ChangeKind::Sync(
                name.trim().to_owned(),
                narrowed(narrow.trim()).ok_or_else(form)?,
            )
        }
        Some(("stream", rest)) => {
            let (stream, wait) = rest.split_once(char::is_whitespace).ok_or_else(form)?;
            if wait.trim() != "wait=none" {
                return Err(form());
            }
            let (device, id) = stream_of(stream).ok_or_else(form)?;
            ChangeKind::NoWaits(device, id)
        }
        _ => match trimmed.split_once(char::is_whitespace) {
            Some(("copy", times)) => ChangeKind::Copy(factor(times)?),
            Some(("launch", times)) => ChangeKind::Launch(factor(times)?),
            _ => return Err(form()),
        },
    };
    match &kind {
        ChangeKind::Operation(name, _) | ChangeKind::Sync(name, _) if name.is_empty() => {
            Err(form())
        }
        _ => Ok(ChangeSpec {
            text: trimmed.to_owned(),
            kind,
        }),
    }
}

/// Reads `x0.5`.
fn factor(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let number = text.strip_prefix(['x', '×']).filter(|it| {
        let is_digit = |c: char| c.is_ascii_digit() || c == '.';
        it.chars().all(is_digit)
    });
    let factor = number.and_then(|it| it.parse::<f64>().ok());
    factor.ok_or_else(|| {
        format!("{text} is no factor: write x0.5 for half of the time, x0 for none, x2 for twice")
    })
}

/// Reads `3` or, with the device, `1:3`.
fn stream_of(text: &str) -> Option<(Option<u32>, i64)> {
    match text.split_once(':') {
        Some((device, id)) => Some((Some(device.parse().ok()?), id.parse().ok()?)),
        None => Some((None, text.parse().ok()?)),
    }
}

fn narrowed(text: &str) -> Option<Narrow> {
    let all = [Narrow::Stream, Narrow::Event, Narrow::None];
    all.into_iter().find(|it| it.name() == text)
}

impl ChangeSpec {
    pub(super) fn text(&self) -> String {
        self.text.clone()
    }

    /// Its meaning in a recording.
    pub(super) fn resolve(&self, recording: &WhatIf) -> anyhow::Result<Change> {
        Ok(match &self.kind {
            ChangeKind::Copy(factor) => Change::Copy { factor: *factor },
            ChangeKind::Launch(factor) => Change::Launch { factor: *factor },
            ChangeKind::Operation(name, factor) => {
                let names = matching(name, recording.operations().iter().map(String::as_str));
                if names.is_empty() {
                    bail!(
                        "{}: no operation has this name: stats lists the names",
                        self.text
                    );
                }
                Change::Operation {
                    names,
                    factor: *factor,
                }
            }
            ChangeKind::NoWaits(device, stream_id) => {
                let is_it =
                    |it: (u32, i64)| it.1 == *stream_id && device.is_none_or(|own| own == it.0);
                if !recording.streams().any(is_it) {
                    bail!(
                        "{}: there is no such stream: info lists the streams",
                        self.text
                    );
                }
                Change::NoWaits {
                    device: *device,
                    stream_id: *stream_id,
                }
            }
            ChangeKind::Sync(name, narrow) => {
                let lower = name.to_lowercase();
                let short = SYNCS.iter().find(|it| it.0 == lower);
                let pattern = short.map_or(name.as_str(), |it| it.1);
                let functions = matching(pattern, recording.blocking().into_iter());
                if functions.is_empty() {
                    bail!("{}: no call of this function waited for a task", self.text);
                }
                Change::Sync {
                    functions,
                    narrow: *narrow,
                }
            }
        })
    }
}

fn matching<'n>(pattern: &str, names: impl Iterator<Item = &'n str>) -> BTreeSet<String> {
    let pattern = NamePattern::new(pattern);
    let own = names.filter(|it| pattern.matches(it));
    own.map(str::to_owned).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn changes_are_read_as_they_are_written() {
        let kind = |text: &str| parse(text).unwrap().kind;
        let operation = |name: &str, factor| ChangeKind::Operation(name.to_owned(), factor);
        assert_eq!(kind("op=MatMul x0.5"), operation("MatMul", 0.5));
        assert_eq!(kind(" op=a = b  ×2 "), operation("a = b", 2.0));
        assert_eq!(kind("stream=3 wait=none"), ChangeKind::NoWaits(None, 3));
        assert_eq!(
            kind("stream=1:3 wait=none"),
            ChangeKind::NoWaits(Some(1), 3)
        );
        for text in ["sync=DeviceSync→event", "sync=DeviceSync->event"] {
            assert_eq!(
                kind(text),
                ChangeKind::Sync("DeviceSync".to_owned(), Narrow::Event)
            );
        }
        assert_eq!(
            (kind("copy x0"), kind("launch x0.1")),
            (ChangeKind::Copy(0.0), ChangeKind::Launch(0.1))
        );
        let wrong = [
            "",
            "copy",
            "copy 0",
            "copy x",
            "copy x-1",
            "copy xnan",
            "op= x1",
            "op=A",
            "stream=a wait=none",
            "stream=3 wait=all",
            "sync=->none",
            "sync=A->device",
            "sync=A",
            "jump x2",
        ];
        for text in wrong {
            assert!(parse(text).is_err(), "{text}");
        }
    }
}
