//! Kernels and callbacks. A host cannot run a card's kernels: each launch is a task of the length
//! `launch_ns` that does nothing.

use super::rt;
use crate::code::{API_NOT_SUPPORTED, Outcome, check, fault};
use crate::engine::task::Operator;
use crate::ffi::{Callback, In, Out, Text};
use crate::stream::launch;
use crate::{callback, kernel, process};

fn launch(name: &'static str, stream: usize) -> Outcome {
    let operator = Operator {
        name,
        duration_ns: process::options().launch_ns,
        effect: Box::new(|| {}),
    };
    launch::operator(stream, operator)
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

/// Declares functions that launch a kernel, reported by their names.
macro_rules! launches {
    (@each [$($name:ident),+] $arguments:tt $stream:ident) => {
        $(launches!(@each $name $arguments $stream);)+
    };
    (@each $name:ident $arguments:tt $stream:ident) => {
        rt! { fn $name $arguments { launch(stringify!($name), $stream) } }
    };
    ($($names:tt $arguments:tt on $stream:ident;)+) => {
        $(launches!(@each $names $arguments $stream);)+
    };
}

launches! {
    rtKernelLaunch(
        _f: usize, _n: u32, _args: usize, _size: u32, _sm: usize, stream: usize,
    ) on stream;
    rtKernelLaunchEx(_args: usize, _size: u32, _flags: u32, stream: usize) on stream;
    rtKernelLaunchFwk(_name: usize, _args: usize, _size: u32, _flags: u32, stream: usize) on stream;
    [rtKernelLaunchWithFlag, rtAicpuKernelLaunchWithFlag](
        _f: usize, _n: u32, _args: usize, _sm: usize, stream: usize, _flags: u32,
    ) on stream;
    [rtKernelLaunchWithFlagV2, rtVectorCoreKernelLaunch](
        _f: usize, _n: u32, _args: usize, _sm: usize, stream: usize, _flags: u32, _config: usize,
    ) on stream;
    [rtKernelLaunchWithHandle, rtKernelLaunchWithHandleV2, rtVectorCoreKernelLaunchWithHandle](
        _handle: usize, _key: u64, _n: u32, _args: usize, _sm: usize, stream: usize, _info: usize,
    ) on stream;
    [rtFftsPlusTaskLaunch, rtMultipleTaskInfoLaunch, rtCCULaunch](
        _info: usize, stream: usize,
    ) on stream;
    rtFftsPlusTaskLaunchWithFlag(_info: usize, stream: usize, _flags: u32) on stream;
    rtStarsTaskLaunch(_sqe: usize, _len: u32, stream: usize) on stream;
    rtStarsTaskLaunchWithFlag(_sqe: usize, _len: u32, stream: usize, _flags: u32) on stream;
    rtCpuKernelLaunchWithFlag(
        _library: usize, _name: usize, _n: u32, _args: usize, _sm: usize, stream: usize, _flags: u32,
    ) on stream;
    rtAicpuKernelLaunchExWithArgs(
        _kind: u32, _name: usize, _n: u32, _args: usize, _sm: usize, stream: usize, _flags: u32,
    ) on stream;
    rtLaunchKernelByFuncHandle(_f: usize, _n: u32, _args: usize, stream: usize) on stream;
    [rtLaunchKernelByFuncHandleV2, rtLaunchKernelByFuncHandleV3](
        _f: usize, _n: u32, _args: usize, stream: usize, _c: usize,
    ) on stream;
    rtLaunchKernelWithArgsArray(
        _f: usize, _n: u32, stream: usize, _c: usize, _args: usize,
    ) on stream;
    rtLaunchDqsTask(stream: usize, _config: usize) on stream;
    rtLaunchDvppTask(_sqe: usize, _len: u32, stream: usize, _config: usize) on stream;
}

rt! {
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

    // The oldest way: the arguments come by other calls, which do not exist here.
    fn rtLaunch(_stub: usize) {
        fault(API_NOT_SUPPORTED, "softacl has no launch without its arguments")
    }

    fn [rtBinaryUnLoad, rtDevBinaryUnRegister](binary: usize) { kernel::unload(binary) }

    fn rtCallbackLaunch(function: Function, data: usize, stream: usize, blocks: bool) {
        let bound = function.map(|function| Callback { function, data });
        callback::launch(bound, u32::from(blocks), stream)
    }
}
