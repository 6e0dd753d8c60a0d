//! Executors: the first phase of an operator prepares them and the second phase submits them.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use super::call::{ArgumentRole, Call, Cost, WORKSPACE_ALIGN};
use super::object::{self, Object, ObjectKind};
use super::operand::ExecutionFrame;
use super::status::{INNER_NULL_POINTER, RUNTIME, null, refuse, require};
use softacl_base::runtime::{Describe, Submission};

use crate::code::{Code, Fault, Outcome, fault};
use crate::engine::task::Operator;
use crate::ffi::{Out, complain};
use crate::memory::transfer::transfer_ns;
use crate::memory::{MemoryKind, check_range, place_of};
use crate::stream::{access, launch};
use crate::{boundary, errors, process};

pub(crate) struct Executor {
    operator: &'static str,
    is_repeatable: AtomicBool,
    pub(super) work: Call,
}

fn duration_ns(cost: Cost) -> u64 {
    let options = process::options();
    let compute = cost.operations / (options.chip.tera_operations() * 1000);
    options
        .launch_ns
        .saturating_add(transfer_ns(cost.bytes, options.d2d_mbps).max(compute))
}

/// The first phase: checks the arguments and hands out an executor. The names are those of the two phases.
pub(super) fn first(
    [function, operator]: [&'static str; 2],
    workspace: &Out<u64>,
    executor: &Out<usize>,
    describe: &mut Describe<'_>,
) -> Code {
    boundary::call(function, || {
        if workspace.is_null() || executor.is_null() {
            return null("workspaceSize or executor is NULL");
        }
        let mut call = Call::default();
        describe(&mut call)?;
        let made = Executor::new(operator, call);
        workspace.put(made.work.workspace)?;
        executor.put(object::insert(Object::Executor(Arc::new(made)))?)
    })
}

/// The second phase.
pub(super) fn second(operator: &'static str, submission: Submission) -> Code {
    boundary::call(operator, || launch(operator, submission))
}

/// Describes an operator and submits its tasks at once, with a workspace of the host's. Where an output has its shape only when
/// they are done, it waits for them.
pub(crate) fn run(
    operator: &'static str,
    stream: usize,
    describe: impl FnOnce(&mut Call) -> Outcome,
) -> Outcome {
    let mut call = Call::default();
    describe(&mut call)?;
    let finds_shapes = call.finds_shapes;
    let executor = Executor::new(operator, call);
    let room = vec![0_u64; (executor.work.workspace + WORKSPACE_ALIGN) as usize / 8];
    let workspace = (room.as_ptr() as usize).next_multiple_of(WORKSPACE_ALIGN as usize);
    let mut frame = executor.frame(workspace)?;
    frame.room = room;
    executor.submit(&Arc::new(frame), stream)?;
    if finds_shapes {
        access::of_any_context(stream)?.synchronize(None)?;
    }
    Ok(())
}

/// Submits the tasks. An executor that is not repeatable is used up, even when
/// this fails.
fn launch(operator: &'static str, submission: Submission) -> Outcome {
    let Submission {
        workspace,
        workspace_size,
        executor,
        stream,
    } = submission;
    let executor = taken(operator, executor)?;
    if workspace_size > 0 && workspace == 0 {
        return null("the workspace is NULL");
    }
    executor.check_workspace(workspace, workspace_size)?;
    let frame = Arc::new(executor.frame(workspace)?);
    executor.submit(&frame, stream).map_err(|failed| {
        errors::note(operator, failed);
        Fault {
            code: RUNTIME,
            why: "the runtime refused a task",
        }
    })
}

/// The executor behind a handle, which is dead from here on unless it is repeatable.
fn taken(operator: &'static str, handle: usize) -> Outcome<Arc<Executor>> {
    if handle == 0 {
        report_failure(operator, "the executor is NULL");
        return null("the executor is NULL");
    }
    let executor = object::executor(handle)
        .inspect_err(|_| report_failure(operator, "no executor, or one that was used up"))?;
    if executor.operator != operator {
        report_failure(
            operator,
            &format!("the executor is one of {}", executor.operator),
        );
        return refuse("the executor belongs to another operator");
    }
    if !executor.is_repeatable.load(Ordering::Acquire) {
        object::destroy(handle, ObjectKind::Executor)?;
    }
    Ok(executor)
}

/// Programs often do not look at codes.
fn report_failure(operator: &str, what: &str) {
    if process::options().verbose {
        complain(&format!("{operator}: {what}"));
    }
}

impl Executor {
    pub(super) const fn new(operator: &'static str, work: Call) -> Self {
        Self {
            operator,
            is_repeatable: AtomicBool::new(false),
            work,
        }
    }

    fn check_workspace(&self, workspace: usize, size: u64) -> Outcome {
        if self.work.workspace == 0 {
            return Ok(());
        }
        require(
            size >= self.work.workspace,
            "the workspace is smaller than the first phase asked for",
        )?;
        let is_aligned = (workspace as u64).is_multiple_of(WORKSPACE_ALIGN);
        require(is_aligned, "the workspace is not aligned to 64 bytes")?;
        on_device(workspace, self.work.workspace as usize)
    }

    /// Where everything lies now.
    fn frame(&self, workspace: usize) -> Outcome<ExecutionFrame> {
        let mut tensors = Vec::with_capacity(self.work.arguments.len());
        for argument in &self.work.arguments {
            let data = argument.tensor.data();
            let view = &argument.operand.view;
            if !view.is_empty() {
                if data == 0 {
                    return null("a tensor has no address");
                }
                let is_aligned = data.is_multiple_of(view.kind.size());
                require(is_aligned, "a tensor's address is not aligned")?;
                on_device(data + view.address, view.span().unwrap_or(usize::MAX))?;
            }
            tensors.push(data);
        }
        Ok(ExecutionFrame {
            tensors,
            workspace,
            room: Vec::new(),
        })
    }

    fn submit(&self, frame: &Arc<ExecutionFrame>, stream: usize) -> Outcome {
        if self.work.steps.is_empty() {
            // Empty tensors need no work, but a wrong stream is still an error.
            return access::of_context(stream).map(drop);
        }
        self.work.steps.iter().try_for_each(|step| {
            let (effect, frame) = (Arc::clone(&step.effect), Arc::clone(frame));
            let operator = Operator {
                name: self.operator,
                duration_ns: duration_ns(step.cost),
                effect: Box::new(move || effect(&frame)),
            };
            launch::operator(stream, operator)
        })
    }

    /// How many tensors with one of the roles the program may have passed. Those that the work does not need may have any.
    fn count(&self, roles: &[ArgumentRole]) -> usize {
        let all = self.work.arguments.iter().map(|argument| argument.role);
        let wanted = all.filter(|role| roles.contains(role));
        let unused = self.work.tensors.saturating_sub(self.work.arguments.len());
        wanted.count() + unused
    }
}

/// Kernels reach device memory and pinned memory, within one allocation.
fn on_device(address: usize, size: usize) -> Outcome {
    let place = place_of(address);
    require(
        place != MemoryKind::Pageable,
        "the device cannot reach a tensor or the workspace",
    )?;
    match check_range(address, size, place) {
        Ok(()) => Ok(()),
        Err(_) => refuse("a tensor or the workspace reaches beyond its memory"),
    }
}

const NULL: Outcome = fault(INNER_NULL_POINTER, "a pointer is NULL");

pub(super) fn set_repeatable(handle: usize) -> Outcome {
    if handle == 0 {
        return NULL;
    }
    let executor = object::executor(handle)?;
    executor.is_repeatable.store(true, Ordering::Release);
    Ok(())
}

pub(super) fn destroy(handle: usize) -> Outcome {
    if handle == 0 {
        return NULL;
    }
    object::destroy(handle, ObjectKind::Executor)
}

/// Points a tensor of a repeatable executor to other memory. `roles` says among which of its tensors
/// the index counts.
pub(super) fn set_address(
    handle: usize,
    index: usize,
    roles: &[ArgumentRole],
    tensor: usize,
    address: usize,
) -> Outcome {
    if handle == 0 || tensor == 0 {
        return NULL;
    }
    let executor = object::executor(handle)?;
    require(
        index < executor.count(roles),
        "the operator has fewer tensors",
    )?;
    object::tensor(tensor)?.set_data(address);
    Ok(())
}

/// The same for a member of a list.
pub(super) fn set_member_address(
    handle: usize,
    index: usize,
    list: usize,
    address: usize,
) -> Outcome {
    if handle == 0 || list == 0 {
        return NULL;
    }
    object::executor(handle)?;
    object::member(list, index)?.set_data(address);
    Ok(())
}
