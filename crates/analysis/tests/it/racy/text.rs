//! The text of a program.

use std::fmt::Write as _;

use ascend_trace_testkit::racy::{BLOCK, Op};

/// The program as a timeline: the call of operation N begins at 10 N.
pub(super) fn text(ops: &[Op]) -> String {
    let mut text = String::new();
    for (place, op) in ops.iter().enumerate() {
        let (begin, end) = (10 * place, 10 * place + 5);
        let task = format!("[{end}..{}] by t1[{begin}..{end}]", end + 1);
        let call = format!("[{begin}..{end}]");
        let _ = match op {
            Op::Copy(stream, to, from, bytes) => {
                writeln!(text, "s{}: memcpy({bytes},{to},{from}){task}", stream + 1)
            }
            Op::Fill(stream, to, bytes) => {
                writeln!(text, "s{}: memset({bytes},{to},0){task}", stream + 1)
            }
            Op::Blocking(to, from, bytes) => {
                writeln!(text, "t1: aclrtMemcpy({bytes},{to},{from}){call}")
            }
            Op::Record(stream, event) => writeln!(text, "s{}: rec(E{event}){task}", stream + 1),
            Op::Wait(stream, event, number) => {
                writeln!(text, "s{}: wait(E{event}#{number}){task}", stream + 1)
            }
            Op::SyncStream(stream) => writeln!(text, "t1: sync(s{}){call}", stream + 1),
            Op::SyncEvent(event, number) => writeln!(text, "t1: sync(E{event}#{number}){call}"),
            Op::QueryEvent(event, number) => writeln!(text, "t1: query(E{event}#{number}){call}"),
            Op::SyncDevice => writeln!(text, "t1: sync(){call}"),
            Op::Malloc(block) => writeln!(text, "t1: aclrtMalloc({BLOCK},{block}){call}"),
            Op::Free(block) => writeln!(text, "t1: aclrtFree({block}){call}"),
        };
    }
    text
}
