//! What CUDA calls what AscendCL does, by the names in Kineto's files.

use std::borrow::Cow;

use ascend_trace_analysis::collectives::Collective;
use ascend_trace_format::api::{Role, TaskKind};
use ascend_trace_recording::{Call, Direction, Task, Trace};

/// CUDA's name of a call, where such a function exists.
pub(super) fn call(trace: &Trace, call: &Call) -> Option<&'static str> {
    let function = trace.function(call.function);
    let kind = call.task.map(|id| trace.task(id).kind).or(function.task);
    kind.and_then(submission)
        .or_else(|| by_role(function.role))
        .or_else(|| by_name(&function.name))
}

fn submission(kind: TaskKind) -> Option<&'static str> {
    Some(match kind {
        TaskKind::Kernel | TaskKind::Collective => "cudaLaunchKernel",
        TaskKind::Memcpy => "cudaMemcpyAsync",
        TaskKind::Memset => "cudaMemsetAsync",
        TaskKind::HostFunc => "cudaLaunchHostFunc",
        TaskKind::Record => "cudaEventRecord",
        TaskKind::Wait => "cudaStreamWaitEvent",
        TaskKind::Graph => "cudaGraphLaunch",
        TaskKind::Notify | TaskKind::Value | TaskKind::Other => return None,
    })
}

fn by_role(role: Role) -> Option<&'static str> {
    Some(match role {
        Role::SyncStream => "cudaStreamSynchronize",
        Role::SyncEvent => "cudaEventSynchronize",
        Role::SyncDevice => "cudaDeviceSynchronize",
        Role::CreateStream => "cudaStreamCreate",
        Role::DestroyStream => "cudaStreamDestroy",
        Role::CreateEvent => "cudaEventCreate",
        Role::DestroyEvent => "cudaEventDestroy",
        Role::QueryStream => "cudaStreamQuery",
        Role::QueryEvent => "cudaEventQuery",
        Role::SetDevice => "cudaSetDevice",
        Role::CaptureBegin => "cudaStreamBeginCapture",
        Role::CaptureEnd => "cudaStreamEndCapture",
        _ => return None,
    })
}

fn by_name(name: &str) -> Option<&'static str> {
    Some(match name {
        "aclrtMalloc" | "aclrtMallocAlign32" | "aclrtMallocCached" => "cudaMalloc",
        "aclrtFree" => "cudaFree",
        "aclrtMallocHost" => "cudaMallocHost",
        "aclrtFreeHost" => "cudaFreeHost",
        "aclrtMemcpy" => "cudaMemcpy",
        "aclrtMemset" => "cudaMemset",
        _ => return None,
    })
}

/// CUDA's name of a task, where readers depend on it. An operator has its usual name.
pub(super) fn task<'t>(trace: &'t Trace, task: &Task) -> Option<Cow<'t, str>> {
    let call = trace.call(task.call);
    match task.kind {
        TaskKind::Memcpy => Some(copy(trace.direction(call)).into()),
        TaskKind::Memset => Some("Memset (Device)".into()),
        TaskKind::Kernel | TaskKind::Collective => {
            Collective::of(trace, call)?;
            let function = trace.function(call.function).name.as_str();
            let what = function
                .trim_start_matches("Hccl")
                .trim_start_matches("Lccl");
            Some(format!("ncclKernel_{what}").into())
        }
        _ => None,
    }
}

fn copy(direction: Option<Direction>) -> &'static str {
    match direction {
        Some(Direction::HostToDevice) => "Memcpy HtoD",
        Some(Direction::DeviceToHost) => "Memcpy DtoH",
        Some(Direction::DeviceToDevice) => "Memcpy DtoD",
        Some(Direction::Peer) => "Memcpy PtoP",
        Some(Direction::HostToHost) => "Memcpy HtoH",
        None => "Memcpy",
    }
}
