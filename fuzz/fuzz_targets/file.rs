//! The reader of trace files: bytes as they are, and as the content of a chunk of each kind.
#![no_main]

mod frame;

use ascend_trace_recording::{Recording, file};
use libfuzzer_sys::fuzz_target;

const KINDS: [&[u8; 4]; 18] = [
    b"SESS", b"TABL", b"PROC", b"THRD", b"CTXT", b"STRM", b"EVNT", b"CALL", b"TIME", b"ANCH",
    b"LOSS", b"CNTR", b"NAME", b"RNGE", b"COVR", b"COST", b"OPEN",
    b"END ",
];

fn read(bytes: &[u8]) {
    // As rows, as for repacking, and as a recording in memory.
    let _ = file::read(bytes);
    if let Ok(mut recording) = Recording::from_bytes(bytes.to_vec()) {
        let _ = recording.whole();
    }
}

fuzz_target!(|data: &[u8]| {
    let Some((&which, rest)) = data.split_first() else {
        return;
    };
    match KINDS.get(usize::from(which)) {
        None => read(rest),
        Some(kind) => {
            let mut bytes = frame::header();
            let payload = if *kind == b"SESS" {
                rest.to_vec()
            } else {
                frame::packed(rest)
            };
            frame::append(&mut bytes, kind, &payload);
            read(&bytes);
        }
    }
});
