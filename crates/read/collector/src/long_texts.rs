//! Texts that are longer than a record: put together from their parts, and written once.

use std::collections::{HashMap, HashSet};

use ascend_trace_format::fnv;
use ascend_trace_format::long_text::KEPT;
use ascend_trace_format::record::{MAX_LONG_TEXT, kinds};
use ascend_trace_recording::rows::LongTextRow;

use super::decode::RecordOrigin;

/// The long texts of a recording.
#[derive(Debug, Default)]
pub(crate) struct LongTexts {
    /// Bytes of the text that each thread is sending, with its hash.
    partial: HashMap<u32, (u64, Vec<u8>)>,
    /// Hashes of the texts in the file.
    written: HashSet<u64>,
}

impl LongTexts {
    /// The row of a text, with its last part; `None` before, and when the file has it.
    pub(crate) fn take(
        &mut self,
        part: &kinds::TextPart<'_>,
        origin: RecordOrigin,
    ) -> Option<LongTextRow> {
        let (hash, bytes) = self.partial.entry(origin.thread).or_default();
        if part.offset == 0 {
            *hash = part.hash;
            bytes.clear();
        }
        // A part before it was lost.
        if *hash != part.hash || bytes.len() != part.offset as usize {
            return None;
        }
        bytes.extend_from_slice(part.bytes.copy(&mut [0; MAX_LONG_TEXT]));
        let length = part.length as usize;
        if bytes.len() < length.min(KEPT) {
            return None;
        }
        let (hash, bytes) = self.partial.remove(&origin.thread)?;
        // The program may have changed the text since it was hashed.
        let is_cut = length >= KEPT && fnv::hash(&bytes) != hash;
        if !is_cut && fnv::hash(&bytes) != hash {
            return None;
        }
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if is_cut {
            text.push('…');
        }
        self.written
            .insert(hash)
            .then_some(LongTextRow { hash, text })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::long_text::Reference;
    use ascend_trace_format::record::Text;

    fn send(all: &mut LongTexts, text: &[u8], thread: u32, skip: usize) -> Option<LongTextRow> {
        let (_, hash) = Reference::to(text).unwrap();
        let kept = text.get(..KEPT).unwrap_or(text);
        let origin = RecordOrigin {
            process: 1,
            thread,
            tid: thread,
        };
        let mut row = None;
        for (number, bytes) in kept.chunks(MAX_LONG_TEXT).enumerate().skip(skip) {
            let part = kinds::TextPart {
                hash,
                offset: (number * MAX_LONG_TEXT) as u32,
                length: kept.len() as u32,
                bytes: Text::new(bytes),
            };
            assert_eq!(row, None, "no row before the last part");
            row = all.take(&part, origin);
        }
        row
    }

    #[test]
    fn a_text_is_put_together_and_written_once() {
        let mut all = LongTexts::default();
        let text = "kernel<float, ".repeat(200);
        let row = send(&mut all, text.as_bytes(), 1, 0).unwrap();
        assert_eq!(row.text, text);
        assert_eq!(send(&mut all, text.as_bytes(), 2, 0), None);
        let other = send(&mut all, &text.as_bytes()[1..], 2, 0).unwrap();
        assert_ne!(other.hash, row.hash);
    }

    #[test]
    fn a_text_without_its_first_part_is_no_text() {
        let mut all = LongTexts::default();
        let text = "kernel<float, ".repeat(200);
        assert_eq!(send(&mut all, text.as_bytes(), 1, 1), None);
        assert!(send(&mut all, text.as_bytes(), 1, 0).is_some());
    }

    #[test]
    fn a_very_long_text_is_cut_with_a_mark() {
        let mut all = LongTexts::default();
        let row = send(&mut all, &[b'k'; KEPT + 1], 1, 0).unwrap();
        assert_eq!(row.text.len(), KEPT + '…'.len_utf8());
        assert!(row.text.ends_with('…'));
    }
}
