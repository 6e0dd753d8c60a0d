//! Memory in use by call site.

use ascend_trace_analysis::memory::{Allocations, MemoryInUse};
use ascend_trace_analysis::{Fold, Window};
use ascend_trace_testkit::timeline;

fn memory(text: &str) -> MemoryInUse {
    let trace = timeline(text);
    Allocations::default().of(&Window::whole(&trace))
}

#[test]
fn what_is_not_freed_is_in_use() {
    let found = memory(
        "t1: aclrtMalloc(64,1000)[0..10us] aclrtFree(1000)[20us..25us] aclrtMalloc(100,1000)[30us..45us]
         t1: aclrtFree(1000)[60us..61us]=107000 aclrtMallocHost(7,2000)[70us..71us]",
    );
    assert!(found.is_known);
    assert_eq!(found.bytes(), 107);
    let [device, host] = &found.sites[..] else {
        panic!("{found:?}")
    };
    let words = (device.function.as_str(), device.count, device.bytes);
    assert_eq!(words, ("aclrtMalloc", 1, 100));
    assert_eq!((device.allocations, host.allocations), (2, 1));
    // The free at 60 µs failed: the second allocation stays.
    let largest = device.largest.expect("its call");
    assert_eq!((largest.call.begin, largest.bytes), (30_000, 100));
}

#[test]
fn nothing_is_in_use_after_everything_is_freed() {
    let found = memory("t1: aclrtMalloc(64,1000)[0..10us] aclrtFree(1000)[20us..25us]");
    assert_eq!(found.sites, []);
}

#[test]
fn an_allocation_that_failed_and_a_free_of_nothing_count_nothing() {
    let found = memory(
        "t1: aclrtMalloc(64,1000)[0..10us]=207001 aclrtFree(3000)[20us..25us] aclrtMalloc(5,0)[30us..31us]",
    );
    assert_eq!(found.sites, []);
}
