//! The text of a program.

use std::fmt::Write as _;

use ascend_trace_testkit::racy::{BLOCK, RacyOp};

/// The program as a timeline: the call of operation N begins at 10 N.
pub(super) fn text(ops: &[RacyOp]) -> String {
    let mut text = String::new();
    for (place, op) in ops.iter().enumerate() {
        let (begin, end) = (10 * place, 10 * place + 5);
        let task = format!("[{end}..{}] by t1[{begin}..{end}]", end + 1);
        let call = format!("[{begin}..{end}]");
        let _ = match op {
            RacyOp::Copy(stream, to, from, bytes) => {
                writeln!(text, "s{}: memcpy({bytes},{to},{from}){task}", stream + 1)
            }
            RacyOp::Fill(stream, to, bytes) => {
                writeln!(text, "s{}: memset({bytes},{to},0){task}", stream + 1)
            }
            RacyOp::Blocking(to, from, bytes) => {
                writeln!(text, "t1: aclrtMemcpy({bytes},{to},{from}){call}")
            }
            RacyOp::Record(stream, event) => writeln!(text, "s{}: rec(E{event}){task}", stream + 1),
            RacyOp::Wait(stream, event, number) => {
                writeln!(text, "s{}: wait(E{event}#{number}){task}", stream + 1)
            }
            RacyOp::SyncStream(stream) => writeln!(text, "t1: sync(s{}){call}", stream + 1),
            RacyOp::SyncEvent(event, number) => writeln!(text, "t1: sync(E{event}#{number}){call}"),
            RacyOp::QueryEvent(event, number) => {
                writeln!(text, "t1: query(E{event}#{number}){call}")
            }
            RacyOp::SyncDevice => writeln!(text, "t1: sync(){call}"),
            RacyOp::Malloc(block) => writeln!(text, "t1: aclrtMalloc({BLOCK},{block}){call}"),
            RacyOp::Free(block) => writeln!(text, "t1: aclrtFree({block}){call}"),
        };
    }
    text
}
