//! The embedded table: nothing is forgotten, and what the tables say is kept.

use std::collections::BTreeSet;

use ascend_trace_format::api::{ArgKind, Blocks, Role, TaskKind};
use ascend_trace_hookgen::{ApiModel, HookSpec, HookTable};

const API: &str = include_str!("../../data/api.tsv");
const API_EXTRA: &str = include_str!("../../data/api_extra.tsv");

/// The rows of the runtime group: name, and the columns submits_task and blocks_host.
fn runtime_rows() -> Vec<(&'static str, &'static str, &'static str)> {
    let rows = API
        .lines()
        .skip(1)
        .map(|line| line.split('\t').collect::<Vec<_>>());
    rows.filter(|row| row[11] == "libacl_rt.so")
        .map(|row| (row[0], row[7], row[9]))
        .collect()
}

#[test]
fn every_function_of_the_runtime_is_hooked_or_says_why_not() {
    let table = HookTable::embedded().unwrap();
    let known: BTreeSet<&str> = (table.hooks.iter().map(|hook| hook.name.as_str()))
        .chain(table.unhooked.iter().map(|unhooked| unhooked.name.as_str()))
        .collect();
    let rows = runtime_rows();
    assert!(rows.len() >= 404, "only {} functions", rows.len());
    for (name, ..) in &rows {
        assert!(
            known.contains(name),
            "{name} is neither hooked nor named as not hooked"
        );
    }
    assert_eq!(known.len(), rows.len());
    let reasons: Vec<_> = table
        .unhooked
        .iter()
        .map(|u| (u.name.as_str(), u.reason.as_str()))
        .collect();
    assert_eq!(
        reasons,
        [("aclAppLog", "takes a variable number of arguments")]
    );
}

#[test]
fn every_group_can_be_hooked() {
    let model = ApiModel::embedded().unwrap();
    let spec = HookSpec::embedded().unwrap().with_all_groups();
    let table = HookTable::build(&model, &spec).unwrap();
    let rows = (API.lines().count() - 1) + (API_EXTRA.lines().count() - 1);
    assert_eq!(table.hooks.len() + table.unhooked.len(), rows);
    let names: Vec<&str> = table.unhooked.iter().map(|u| u.name.as_str()).collect();
    // Both take a union that no table describes; the third takes a variable number of arguments.
    assert_eq!(names, ["HcclSetCommConfig", "HcclSetConfig", "aclAppLog"]);
}

#[test]
fn every_submitting_function_has_a_kind_of_task_and_a_stream() {
    let table = HookTable::embedded().unwrap();
    for (name, submits, _) in runtime_rows() {
        let Some(hook) = table.hook(name) else {
            continue;
        };
        assert_eq!(hook.task.is_some(), submits == "y", "{name}");
        if submits == "y" {
            let stream = &hook.args[usize::from(hook.stream.unwrap())];
            assert_eq!(
                (stream.kind, stream.out),
                (ArgKind::Stream, false),
                "{name}"
            );
        }
    }
}

#[test]
fn every_blocking_function_has_a_role_or_a_reason() {
    let table = HookTable::embedded().unwrap();
    let spec = HookSpec::embedded().unwrap();
    for (name, _, blocks) in runtime_rows() {
        let Some(hook) = table.hook(name) else {
            continue;
        };
        assert_eq!(hook.blocks == Blocks::Yes, blocks == "y", "{name}");
        let reason = spec.function(name).and_then(|said| said.plain.as_ref());
        let is_explained = hook.role != Role::Plain || reason.is_some();
        assert!(hook.blocks != Blocks::Yes || is_explained, "{name}");
    }
}

#[test]
fn the_calls_that_the_tracer_lives_on_have_their_roles() {
    let table = HookTable::embedded().unwrap();
    for (name, role, task) in [
        ("aclrtMemcpyAsync", Role::Task, Some(TaskKind::Memcpy)),
        ("aclrtMemsetAsync", Role::Task, Some(TaskKind::Memset)),
        (
            "aclrtLaunchKernelWithConfig",
            Role::Task,
            Some(TaskKind::Kernel),
        ),
        ("aclrtLaunchCallback", Role::Task, Some(TaskKind::HostFunc)),
        ("aclrtLaunchHostFunc", Role::Task, Some(TaskKind::HostFunc)),
        ("aclrtRecordNotify", Role::Task, Some(TaskKind::Notify)),
        ("aclrtValueWait", Role::Task, Some(TaskKind::Value)),
        ("aclmdlRIExecuteAsync", Role::Task, Some(TaskKind::Graph)),
        (
            "aclrtRecordEvent",
            Role::RecordEvent,
            Some(TaskKind::Record),
        ),
        (
            "aclrtStreamWaitEvent",
            Role::WaitEvent,
            Some(TaskKind::Wait),
        ),
        ("aclrtResetEvent", Role::ResetEvent, Some(TaskKind::Other)),
        ("aclrtMemcpy", Role::BlockingCopy, None),
        ("aclrtSynchronizeStream", Role::SyncStream, None),
        ("aclrtSynchronizeEventWithTimeout", Role::SyncEvent, None),
        ("aclrtSynchronizeDevice", Role::SyncDevice, None),
        ("aclrtQueryEventStatus", Role::QueryEvent, None),
        ("aclrtQueryEventWaitStatus", Role::Plain, None),
        ("aclmdlRICaptureBegin", Role::CaptureBegin, None),
        ("aclmdlRICaptureEnd", Role::CaptureEnd, None),
    ] {
        let hook = table.hook(name).unwrap();
        assert_eq!((hook.role, hook.task), (role, task), "{name}");
    }
}

#[test]
fn nothing_of_models_built_by_hand_is_timed() {
    let table = HookTable::embedded().unwrap();
    for hook in table.hooks.iter().filter(|hook| hook.task.is_some()) {
        let is_of_models = [
            "Label",
            "SwitchStream",
            "ActiveStream",
            "EndTask",
            "AddCondTask",
        ]
        .iter()
        .any(|word| hook.name.contains(word));
        assert!(!(is_of_models && hook.timed), "{}", hook.name);
    }
}
