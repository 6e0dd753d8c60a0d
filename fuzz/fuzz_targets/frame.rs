//! Puts chunks behind right checksums, which a fuzzer would not find by itself.

/// The header of a file of the newest version.
pub(crate) fn header() -> Vec<u8> {
    let mut file = ascend_trace_format::version::FILE_MAGIC.to_vec();
    let version = ascend_trace_format::version::FILE_VERSION;
    file.extend_from_slice(&version.to_le_bytes());
    file.extend_from_slice(&[0; 4]);
    file
}

pub(crate) fn append(file: &mut Vec<u8>, kind: &[u8; 4], payload: &[u8]) {
    let begin = file.len();
    file.extend_from_slice(b"\xa7CHK");
    file.extend_from_slice(kind);
    file.extend_from_slice(&(payload.len() as u32).to_le_bytes());
    file.extend_from_slice(&crc(payload).to_le_bytes());
    let own = crc(&file[begin..]);
    file.extend_from_slice(&own.to_le_bytes());
    file.extend_from_slice(payload);
}

/// A payload as a packed one: an LZ4 block of literals only.
pub(crate) fn packed(plain: &[u8]) -> Vec<u8> {
    let mut out = (plain.len() as u32).to_le_bytes().to_vec();
    if plain.len() < 15 {
        out.push((plain.len() as u8) << 4);
    } else {
        out.push(0xf0);
        let mut left = plain.len() - 15;
        while left >= 255 {
            out.push(255);
            left -= 255;
        }
        out.push(left as u8);
    }
    out.extend_from_slice(plain);
    out
}

fn crc(bytes: &[u8]) -> u32 {
    let step = |crc: u32, byte: &u8| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| {
            (crc >> 1) ^ (0xedb8_8320 & (crc & 1).wrapping_neg())
        })
    };
    !bytes.iter().fold(u32::MAX, step)
}
