//! One stream copies in, another one works on the copied data and copies it back; an event orders them.
//!
//! `cargo build --example two_streams` links it to the bundled software runtime, and
//! `cargo run -- --soft target/debug/examples/two_streams` traces it there.
#![expect(unsafe_code, reason = "AscendCL is a C interface")]
#![expect(
    clippy::mod_module_files,
    reason = "cargo would build `acl.rs` as an example"
)]
#![expect(clippy::print_stdout, reason = "examples print their results")]
#![expect(clippy::print_stderr, reason = "examples print errors")]

mod acl;

use acl::{DeviceBuffer, Event, HostBuffer, Runtime, Stream};

const BYTES: usize = 2 << 20;

fn main() {
    let runtime = Runtime::start();
    {
        let (copying, working) = (Stream::new(), Stream::new());
        let arrived = Event::new();
        let mut host = HostBuffer::new(BYTES);
        let device = DeviceBuffer::new(BYTES);
        for round in 1..=3 {
            host.bytes().fill(0);
            copying.copy_in(&device, &host);
            copying.record(&arrived);
            working.wait_for(&arrived);
            working.fill(&device, round);
            working.copy_out(&host, &device);
            working.synchronize();
            let filled = host.bytes().iter().filter(|byte| **byte == round).count();
            println!("round {round}: {filled} of {BYTES} bytes");
        }
    }
    runtime.finish();
}
