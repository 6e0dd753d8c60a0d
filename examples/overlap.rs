//! Two halves of the memory take turns: while one stream works on one half, another stream copies
//! the next part into the other.
//!
//! `cargo build --example overlap` links it to the bundled software runtime, and
//! `cargo run -- --soft target/debug/examples/overlap` traces it there.
#![expect(unsafe_code, reason = "AscendCL is a C interface")]
#![expect(
    clippy::mod_module_files,
    reason = "cargo would build `acl.rs` as an example"
)]
#![expect(clippy::print_stdout, reason = "examples print their results")]
#![expect(clippy::print_stderr, reason = "examples print errors")]

mod acl;

use acl::{DeviceBuffer, Event, HostBuffer, Runtime, Stream};

const BYTES: usize = 1 << 20;
const PARTS: usize = 8;

/// One of the two halves.
struct Half {
    host: HostBuffer,
    device: DeviceBuffer,
    /// The part has been copied in.
    full: Event,
    /// The work on it is done.
    free: Event,
}

fn main() {
    let runtime = Runtime::start();
    {
        let (copying, working) = (Stream::new(), Stream::new());
        let mut halves = [0, 1].map(|_| Half {
            host: HostBuffer::new(BYTES),
            device: DeviceBuffer::new(BYTES),
            full: Event::new(),
            free: Event::new(),
        });
        for part in 0..PARTS {
            let half = &halves[part % 2];
            if part >= 2 {
                copying.wait_for(&half.free);
            }
            copying.copy_in(&half.device, &half.host);
            copying.record(&half.full);
            working.wait_for(&half.full);
            working.fill(&half.device, part as u8 + 1);
            working.record(&half.free);
        }
        for half in &halves {
            working.copy_out(&half.host, &half.device);
        }
        working.synchronize();
        let last = halves.each_mut().map(|half| half.host.bytes()[BYTES - 1]);
        println!("{PARTS} parts in turns, the last two were {last:?}");
    }
    runtime.finish();
}
