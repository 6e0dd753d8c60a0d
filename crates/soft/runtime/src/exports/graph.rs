//! Graphs: capture, replay, and looking into them.

use std::ffi::c_char;

use super::acl;
use crate::code::{
    INVALID_PARAM, Outcome, RT_INTERNAL, RT_PARAM_INVALID, RT_STREAM_NOT_CAPTURED, check, fault,
    require,
};
use crate::ffi::{Callback, In, Out, Text};
use crate::graph::params::TaskParams;
use crate::graph::{build, capture, debug, execute, group, introspect, lifetime, modes, params};

type Function = Option<extern "C" fn(usize)>;

const NO_RESULT: &str = "the result is NULL";

fn some(function: Function) -> Outcome<extern "C" fn(usize)> {
    match function {
        Some(function) => Ok(function),
        None => fault(RT_PARAM_INVALID, "the function is NULL"),
    }
}

/// Gives a list in the two steps that C callers take: first its length, then its elements.
fn put_list(found: &[usize], list: &Out<usize>, length: &Out<u32>) -> Outcome {
    let room = length.get()? as usize;
    if !list.is_null() {
        check(room >= found.len(), "the array is too short")?;
        list.put_all(found);
    }
    length.put(found.len() as u32)
}

acl! {
    fn [aclmdlRICaptureBegin; rtStreamBeginCapture](stream: usize, mode: u32) { capture::begin(stream, mode) }

    fn aclmdlRICaptureEnd(stream: usize, model: Out<usize>) {
        let ended = capture::end(stream, !model.is_null());
        // Where nothing was captured the result stays as it was.
        if ended.is_ok() || ended.is_err_and(|failed| failed.code != RT_STREAM_NOT_CAPTURED) {
            model.put_if_wanted(ended.unwrap_or(0));
        }
        ended.map(drop)
    }

    fn aclmdlRICaptureGetInfo(stream: usize, status: Out<u32>, model: Out<usize>) {
        if stream == 0 || (status.is_null() && model.is_null()) {
            return fault(INVALID_PARAM, "the stream or both results are NULL");
        }
        let (found, graph) = capture::info(stream)?;
        status.put_if_wanted(found);
        model.put_if_wanted(graph);
        Ok(())
    }

    fn [aclmdlRICaptureThreadExchangeMode; rtThreadExchangeCaptureMode](mode: Out<u32>) { modes::exchange(&mode) }

    fn aclmdlRICaptureToModelRIBegin(stream: usize, model: usize, mode: u32) {
        capture::begin_into(stream, model, mode)
    }

    fn aclmdlRICaptureTaskGrpBegin(stream: usize) { group::begin_group(stream) }

    fn aclmdlRICaptureTaskGrpEnd(stream: usize, group: Out<usize>) {
        group.check()?;
        let ended = group::end_group(stream);
        group.put(*ended.as_ref().unwrap_or(&0))?;
        ended.map(drop)
    }

    fn aclmdlRICaptureTaskUpdateBegin(stream: usize, group: usize) {
        group::begin_update(stream, group)
    }

    fn aclmdlRICaptureTaskUpdateEnd(stream: usize) { group::end_update(stream) }

    fn aclmdlRIExecuteAsync(model: usize, stream: usize) { execute::execute_async(model, stream) }

    fn aclmdlRIExecute(model: usize, timeout_ms: i32) { execute::execute(model, timeout_ms) }

    fn [aclmdlRIDestroy; rtModelDestroy](model: usize) { lifetime::destroy(model) }

    fn aclmdlRIDestroyRegisterCallback(model: usize, function: Function, data: usize) {
        check(model != 0, "the graph is NULL")?;
        let function = some(function)?;
        lifetime::of_context(model)?.add_callback(Callback { function, data })
    }

    fn aclmdlRIDestroyUnregisterCallback(model: usize, function: Function) {
        check(model != 0, "the graph is NULL")?;
        let function = some(function)?;
        lifetime::of_context(model)?.remove_callback(function)
    }

    fn [aclmdlRIBuildBegin; rtModelCreate](model: Out<usize>, flags: u32) {
        model.check()?;
        model.put(build::begin(flags)?)
    }

    fn [aclmdlRIBindStream; rtModelBindStream](model: usize, stream: usize, flags: u32) {
        build::bind(model, stream, flags)
    }

    fn [aclmdlRIEndTask; rtEndGraph](model: usize, stream: usize) { build::end_task(model, stream) }

    fn aclmdlRIBuildEnd(model: usize, reserved: usize) {
        require(reserved == 0, "the last argument is reserved")?;
        build::end(model)
    }

    fn [aclmdlRIUnbindStream; rtModelUnbindStream](model: usize, stream: usize) { build::unbind(model, stream) }

    fn [aclmdlRIDebugJsonPrint; rtModelDebugJsonPrint](model: usize, path: Text, flags: u32) {
        debug::write(model, path.optional(), flags)
    }

    fn [aclmdlRIDebugPrint; rtModelDebugDotPrint](model: usize) { debug::print(model) }

    fn [aclmdlRIGetId; rtModelGetId](model: usize, id: Out<u32>) {
        id.check()?;
        id.put(lifetime::of_context(model)?.id)
    }

    fn [aclmdlRISetName; rtSetModelName](model: usize, name: Text) {
        lifetime::of_context(model)?.set_name(name.get()?);
        Ok(())
    }

    fn aclmdlRIGetName(model: usize, room: u32, name: Out<c_char>) {
        name.check()?;
        let text = lifetime::of_context(model)?.name();
        if room as usize <= text.len() {
            return fault(RT_INTERNAL, "the buffer is too small");
        }
        name.put_text(&text);
        Ok(())
    }

    fn aclmdlRIGetStreams(model: usize, streams: Out<usize>, count: Out<u32>) {
        check(!count.is_null(), NO_RESULT)?;
        put_list(&introspect::stream_handles(model)?, &streams, &count)
    }

    fn aclmdlRIGetTasksByStream(stream: usize, tasks: Out<usize>, count: Out<u32>) {
        check(!count.is_null(), NO_RESULT)?;
        put_list(&introspect::task_handles(stream)?, &tasks, &count)
    }

    fn aclmdlRITaskGetType(task: usize, kind: Out<u32>) {
        check(!kind.is_null(), NO_RESULT)?;
        kind.put(introspect::kind_of(task)?)
    }

    fn aclmdlRITaskGetSeqId(task: usize, id: Out<u32>) {
        check(!id.is_null(), NO_RESULT)?;
        id.put(introspect::seq_of(task)?)
    }

    fn aclmdlRITaskGetParams(task: usize, params: Out<TaskParams>) {
        params::params_of(task, &params)
    }

    fn aclmdlRITaskSetParams(task: usize, params: In<TaskParams>) {
        params::set_params(task, &params)
    }

    fn aclmdlRITaskDisable(task: usize) { introspect::disable(task) }

    fn aclmdlRIUpdate(model: usize) { introspect::update(model) }

    fn aclmdlRIAbort(model: usize) { execute::abort(model) }
}
