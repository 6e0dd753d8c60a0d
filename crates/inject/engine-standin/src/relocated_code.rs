//! Copies of functions' first instructions, which do the same at another address.

use ascend_trace_engine::code;

use crate::memory;

/// Code at `address` with the effect of `head` at `entry`. It continues after the bytes of the patch.
#[cfg(target_arch = "x86_64")]
pub(crate) fn copy(head: &[u8], entry: usize, address: usize) -> Option<Vec<u8>> {
    use iced_x86::{BlockEncoder, BlockEncoderOptions, Decoder, DecoderOptions, InstructionBlock};

    let mut decoder = Decoder::with_ip(64, head, entry as u64, DecoderOptions::NONE);
    let mut instructions = Vec::new();
    while decoder.position() < code::PATCH {
        instructions.push(decoder.decode());
    }
    let block = InstructionBlock::new(&instructions, address as u64);
    let block = BlockEncoder::encode(64, block, BlockEncoderOptions::NONE).ok()?;
    let rest = memory::jump(entry + decoder.position());
    Some([&block.code_buffer[..], &rest].concat())
}

/// As above, of code that works at any address.
#[cfg(target_arch = "aarch64")]
pub(crate) fn copy(head: &[u8], entry: usize, _: usize) -> Option<Vec<u8>> {
    let moved = code::arm::movable(head, entry)?;
    Some([&head[..moved], &memory::jump(entry + moved)].concat())
}
