//! Kernels and callbacks. A host cannot run a card's kernels: each launch is a task of the length
//! `launch_ns` that does nothing.

use super::rt;
use crate::code::{Outcome, check};
use crate::engine::task::Operator;
use crate::ffi::{Callback, In, Out, Text};
use crate::{callback, kernel, runtime, stream};

fn launch(name: &'static str, stream: usize) -> Outcome {
    let operator = Operator {
        name,
        duration_ns: runtime::get().options.launch_ns,
        effect: Box::new(|| {}),
    };
    stream::launch(stream, operator)
}

/// `rtDevBinary_t`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct DeviceBinary {
    magic: u32,
    version: u32,
    code: usize,
    length: u64,
}

type Function = Option<extern "C" fn(usize)>;

rt! {
    fn rtKernelLaunch(_f: usize, _n: u32, _args: usize, _size: u32, _sm: usize, stream: usize) {
        launch("rtKernelLaunch", stream)
    }

    fn rtDevBinaryRegister(binary: In<DeviceBinary>, handle: Out<usize>) {
        handle.check()?;
        let binary = binary.get()?;
        check(binary.code != 0 && binary.length > 0, "there is no code")?;
        handle.put(kernel::register()?)
    }

    fn rtFunctionRegister(binary: usize, stub: usize, name: Text, _info: usize, _mode: u32) {
        check(stub != 0, "the function is NULL")?;
        name.get()?;
        kernel::binary(binary).map(drop)
    }

    fn rtBinaryUnLoad(binary: usize) { kernel::unload(binary) }

    fn rtDevBinaryUnRegister(binary: usize) { kernel::unload(binary) }

    fn rtKernelLaunchEx(_args: usize, _size: u32, _flags: u32, stream: usize) {
        launch("rtKernelLaunchEx", stream)
    }

    fn rtKernelLaunchFwk(_name: usize, _args: usize, _size: u32, _flags: u32, stream: usize) {
        launch("rtKernelLaunchFwk", stream)
    }

    fn rtKernelLaunchWithFlag(
        _f: usize,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _flags: u32,
    ) {
        launch("rtKernelLaunchWithFlag", stream)
    }

    fn rtKernelLaunchWithFlagV2(
        _f: usize,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _flags: u32,
        _config: usize,
    ) {
        launch("rtKernelLaunchWithFlagV2", stream)
    }

    fn rtKernelLaunchWithHandle(
        _handle: usize,
        _key: u64,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _info: usize,
    ) {
        launch("rtKernelLaunchWithHandle", stream)
    }

    fn rtKernelLaunchWithHandleV2(
        _handle: usize,
        _key: u64,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _config: usize,
    ) {
        launch("rtKernelLaunchWithHandleV2", stream)
    }

    fn rtFftsPlusTaskLaunch(_info: usize, stream: usize) { launch("rtFftsPlusTaskLaunch", stream) }

    fn rtFftsPlusTaskLaunchWithFlag(_info: usize, stream: usize, _flags: u32) {
        launch("rtFftsPlusTaskLaunchWithFlag", stream)
    }

    fn rtStarsTaskLaunch(_sqe: usize, _len: u32, stream: usize) {
        launch("rtStarsTaskLaunch", stream)
    }

    fn rtStarsTaskLaunchWithFlag(_sqe: usize, _len: u32, stream: usize, _flags: u32) {
        launch("rtStarsTaskLaunchWithFlag", stream)
    }

    fn rtCallbackLaunch(function: Function, data: usize, stream: usize, blocks: bool) {
        let bound = function.map(|function| Callback { function, data });
        callback::launch(bound, u32::from(blocks), stream)
    }

    fn rtVectorCoreKernelLaunch(
        _f: usize,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _flags: u32,
        _config: usize,
    ) {
        launch("rtVectorCoreKernelLaunch", stream)
    }

    fn rtVectorCoreKernelLaunchWithHandle(
        _handle: usize,
        _key: u64,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _config: usize,
    ) {
        launch("rtVectorCoreKernelLaunchWithHandle", stream)
    }

    fn rtCpuKernelLaunchWithFlag(
        _library: usize,
        _name: usize,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _flags: u32,
    ) {
        launch("rtCpuKernelLaunchWithFlag", stream)
    }

    fn rtAicpuKernelLaunchExWithArgs(
        _kind: u32,
        _name: usize,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _flags: u32,
    ) {
        launch("rtAicpuKernelLaunchExWithArgs", stream)
    }

    fn rtAicpuKernelLaunchWithFlag(
        _names: usize,
        _n: u32,
        _args: usize,
        _sm: usize,
        stream: usize,
        _flags: u32,
    ) {
        launch("rtAicpuKernelLaunchWithFlag", stream)
    }

    fn rtLaunchKernelByFuncHandle(_f: usize, _n: u32, _args: usize, stream: usize) {
        launch("rtLaunchKernelByFuncHandle", stream)
    }

    fn rtLaunchKernelByFuncHandleV2(_f: usize, _n: u32, _args: usize, stream: usize, _c: usize) {
        launch("rtLaunchKernelByFuncHandleV2", stream)
    }

    fn rtLaunchKernelByFuncHandleV3(_f: usize, _n: u32, _args: usize, stream: usize, _c: usize) {
        launch("rtLaunchKernelByFuncHandleV3", stream)
    }

    fn rtLaunchKernelWithArgsArray(_f: usize, _n: u32, stream: usize, _c: usize, _args: usize) {
        launch("rtLaunchKernelWithArgsArray", stream)
    }

    fn rtMultipleTaskInfoLaunch(_info: usize, stream: usize) {
        launch("rtMultipleTaskInfoLaunch", stream)
    }

    fn rtCCULaunch(_info: usize, stream: usize) { launch("rtCCULaunch", stream) }

    fn rtLaunchDqsTask(stream: usize, _config: usize) { launch("rtLaunchDqsTask", stream) }

    fn rtLaunchDvppTask(_sqe: usize, _len: u32, stream: usize, _config: usize) {
        launch("rtLaunchDvppTask", stream)
    }

    fn rtProcessHostFunc(timeout_ms: i32) { callback::process_host(timeout_ms) }

    fn rtSubscribeHostFunc(thread: u64, stream: usize) {
        callback::subscribe_host(thread, stream)
    }

    fn rtUnSubscribeHostFunc(thread: u64, stream: usize) {
        callback::unsubscribe_host(thread, stream)
    }

    fn rtSubscribeReport(thread: u64, stream: usize) { callback::subscribe(thread, stream) }

    fn rtUnSubscribeReport(thread: u64, stream: usize) { callback::unsubscribe(thread, stream) }

    fn rtProcessReport(timeout_ms: i32) { callback::process(timeout_ms) }
}
