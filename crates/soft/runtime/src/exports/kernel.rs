//! Kernels.

use std::ffi::c_char;

use super::acl;
use crate::code::{INVALID_PARAM, Outcome, check, fault};
use crate::ffi::{In, Out, Text};
use crate::kernel::{self, Arguments};
use crate::memory::{check_range, place_of};
use crate::stream::launch;

/// Where an address has to be written, and where in the arguments that address points.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct PlaceHolder {
    address_at: u32,
    data_at: u32,
}

acl! {
    fn aclrtBinaryLoadFromFile(path: Text, _options: usize, binary: Out<usize>) {
        binary.check()?;
        binary.put(kernel::load(&path.get()?)?)
    }

    fn aclrtBinaryUnLoad(binary: usize) { kernel::unload(binary) }

    fn aclrtBinaryGetFunction(binary: usize, name: Text, function: Out<usize>) {
        function.check()?;
        function.put(kernel::find(binary, &name.get()?)?)
    }

    fn aclrtGetFunctionName(function: usize, room: u32, name: Out<c_char>) {
        name.check()?;
        check(function != 0, "the function is NULL")?;
        let function = kernel::function(function)?;
        check(room as usize > function.name.len(), "the buffer is too small")?;
        name.put_text(&function.name);
        Ok(())
    }

    fn aclrtLaunchKernel(function: usize, blocks: u32, args: usize, size: usize, stream: usize) {
        launch::kernel(function, blocks, on_device(args, size)?, stream)
    }

    fn aclrtLaunchKernelV2(
        function: usize,
        blocks: u32,
        args: usize,
        size: usize,
        _config: usize,
        stream: usize,
    ) {
        launch::kernel(function, blocks, on_device(args, size)?, stream)
    }

    fn aclrtLaunchKernelWithHostArgs(
        function: usize,
        blocks: u32,
        stream: usize,
        _config: usize,
        args: In<u8>,
        size: usize,
        holders: In<PlaceHolder>,
        holder_count: usize,
    ) {
        let bytes = args.array(size)?;
        let holders = if holder_count == 0 { Vec::new() } else { holders.array(holder_count)? };
        let addresses: Vec<(u32, u32)> =
            holders.iter().map(|holder| (holder.address_at, holder.data_at)).collect();
        launch::kernel(function, blocks, kernel::copied(&bytes, &addresses)?, stream)
    }

    fn aclrtLaunchKernelWithConfig(
        function: usize,
        blocks: u32,
        stream: usize,
        _config: usize,
        args: usize,
        _reserved: usize,
    ) {
        let arguments = kernel::with_arguments(args, |builder| builder.arguments())?;
        launch::kernel(function, blocks, arguments, stream)
    }

    fn aclrtKernelArgsInit(function: usize, args: Out<usize>) {
        args.check()?;
        args.put(kernel::start_arguments(function)?)
    }

    fn aclrtKernelArgsAppend(
        args: usize,
        parameter: In<u8>,
        size: usize,
        handle: Out<usize>,
    ) {
        handle.check()?;
        let bytes = parameter.array(size)?;
        handle.put(kernel::with_arguments(args, |builder| builder.append(&bytes))?)
    }

    fn aclrtKernelArgsParaUpdate(
        args: usize,
        handle: usize,
        parameter: In<u8>,
        size: usize,
    ) {
        let bytes = parameter.array(size)?;
        kernel::with_arguments(args, |builder| builder.update(handle, &bytes))
    }

    fn aclrtKernelArgsFinalize(args: usize) {
        kernel::with_arguments(args, |builder| {
            builder.finish();
            Ok(())
        })
    }
}

/// Arguments in memory that the device can reach.
fn on_device(args: usize, size: usize) -> Outcome<Arguments> {
    if args == 0 {
        return fault(INVALID_PARAM, "the arguments are NULL");
    }
    let place = place_of(args);
    check(
        place != crate::memory::MemoryKind::Pageable,
        "the device cannot reach the arguments",
    )?;
    check_range(args, size, place)?;
    Ok(Arguments::OnDevice(args))
}
