//! The reader of indexes: a file with any bytes as its index and its fine lanes.
#![no_main]

mod frame;

use ascend_trace_recording::{Recording, TimeRange};
use libfuzzer_sys::fuzz_target;

fuzz_target!(|data: &[u8]| {
    let Some((&cut, rest)) = data.split_first() else {
        return;
    };
    let (summary, index) = rest.split_at(usize::from(cut).min(rest.len()));
    let mut bytes = frame::header();
    frame::append(&mut bytes, b"CALL", &frame::packed(&[0; 100]));
    frame::append(&mut bytes, b"SUMM", &frame::packed(summary));
    let place = bytes.len() as u64;
    frame::append(&mut bytes, b"INDX", &frame::packed(index));
    let mut root = place.to_le_bytes().to_vec();
    root.extend_from_slice(&12_u32.to_le_bytes());
    frame::append(&mut bytes, b"ROOT", &root);
    let end = [1, 0, 0, 0, 2, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0, 0, 0];
    frame::append(&mut bytes, b"END ", &frame::packed(&end));
    let Ok(mut recording) = Recording::from_bytes(bytes) else {
        return;
    };
    let TimeRange { begin, end } = recording.span().unwrap_or(TimeRange::new(0, 1));
    let _ = recording.summary((begin, end), 100);
    let _ = recording.window((begin, end / 2), 1_000);
    let _ = (recording.counts(), recording.final_warnings());
});
