//! Callbacks and host functions.

use super::acl;
use crate::callback;
use crate::ffi::Callback;

type Function = Option<extern "C" fn(usize)>;

fn bind(function: Function, data: usize) -> Option<Callback> {
    function.map(|function| Callback { function, data })
}

acl! {
    fn [aclrtSubscribeReport; rtSubscribeReport](thread: u64, stream: usize) { callback::subscribe(thread, stream) }

    fn [aclrtUnSubscribeReport; rtUnSubscribeReport](thread: u64, stream: usize) { callback::unsubscribe(thread, stream) }

    fn [aclrtProcessReport; rtProcessReport](timeout_ms: i32) { callback::process(timeout_ms) }

    fn [aclrtSubscribeHostFunc; rtSubscribeHostFunc](thread: u64, stream: usize) {
        callback::subscribe_host(thread, stream)
    }

    fn [aclrtUnSubscribeHostFunc; rtUnSubscribeHostFunc](thread: u64, stream: usize) {
        callback::unsubscribe_host(thread, stream)
    }

    fn [aclrtProcessHostFunc; rtProcessHostFunc](timeout_ms: i32) { callback::process_host(timeout_ms) }

    fn aclrtLaunchCallback(function: Function, data: usize, block_type: u32, stream: usize) {
        callback::launch(bind(function, data), block_type, stream)
    }

    fn aclrtLaunchHostFunc(stream: usize, function: Function, data: usize) {
        callback::launch_host(bind(function, data), stream)
    }
}
