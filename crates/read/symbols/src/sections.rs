//! The contents of sections of an object file, which may be compressed.

use std::io::Read as _;
use std::sync::Arc;

use object::{CompressionFormat, Object, ObjectSection};

use crate::file::Elf;

/// Debug information of one kind that is read. Larger ones are left out.
const MOST: u64 = 4 << 30;

/// The content of a section; empty if it does not exist, or cannot be read.
pub(crate) fn content(elf: &Elf<'_>, name: &str) -> Arc<[u8]> {
    read(elf, name).unwrap_or_default()
}

fn read(elf: &Elf<'_>, name: &str) -> Option<Arc<[u8]>> {
    let section = elf.section_by_name(name)?;
    let packed = section.compressed_data().ok()?;
    if packed.uncompressed_size > MOST {
        return None;
    }
    match packed.format {
        CompressionFormat::None => Some(packed.data.into()),
        CompressionFormat::Zlib => {
            let mut content = Vec::new();
            let reader = flate2::read::ZlibDecoder::new(packed.data);
            let mut reader = reader.take(packed.uncompressed_size);
            reader.read_to_end(&mut content).ok()?;
            Some(content.into())
        }
        _ => None,
    }
}
