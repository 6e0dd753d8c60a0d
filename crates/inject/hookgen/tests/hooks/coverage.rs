//! The embedded table is complete, and agrees with the tables.

use std::collections::BTreeSet;

use ascend_trace_format::api::{ArgKind, ArgPart, Blocks, Role, TaskKind};
use ascend_trace_hookgen::{ApiModel, HookSpec, HookTable, Param};

const API: &str = include_str!("../../data/api.tsv");
const API_EXTRA: &str = include_str!("../../data/api_extra.tsv");
const API_ACLNN: &str = include_str!("../../data/api_aclnn.tsv");
const API_RT: &str = include_str!("../../data/api_rt.tsv");

/// Every row: name, and the columns submits_task and blocks_host.
fn all_rows() -> Vec<(&'static str, &'static str, &'static str)> {
    let tables = [API, API_EXTRA, API_ACLNN, API_RT].into_iter();
    let lines = tables.flat_map(|table| table.lines().skip(1));
    lines
        .map(|line| line.split('\t').collect::<Vec<_>>())
        .map(|row| (row[0], row[7], row[9]))
        .collect()
}

#[test]
fn every_function_is_hooked_or_says_why_not() {
    let table = HookTable::embedded().unwrap();
    let known: BTreeSet<&str> = (table.hooks.iter().map(|hook| hook.name.as_str()))
        .chain(table.unhooked.iter().map(|unhooked| unhooked.name.as_str()))
        .collect();
    let rows = all_rows();
    assert!(rows.len() >= 1646, "only {} functions", rows.len());
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
    let host = "takes rtBindHostpidInfo by value, which no table describes";
    assert_eq!(
        reasons,
        [("rtBindHostPid", host), ("rtUnbindHostPid", host)]
    );
}

#[test]
fn every_group_is_hooked() {
    let spec = HookSpec::embedded().unwrap();
    let chosen: BTreeSet<&String> = spec.groups.iter().collect();
    assert_eq!(chosen, spec.group.keys().collect());
}

#[test]
fn every_submitting_function_has_a_kind_of_task_and_a_stream() {
    let table = HookTable::embedded().unwrap();
    let spec = HookSpec::embedded().unwrap();
    for (name, submits, _) in all_rows() {
        let Some(hook) = table.hook(name) else {
            continue;
        };
        let said = spec.function(name);
        if said.is_some_and(|it| it.plain.is_some()) {
            continue;
        }
        assert_eq!(hook.task.is_some(), submits == "y", "{name}");
        let is_streamless = said.is_some_and(|it| it.streamless.is_some());
        assert!(!is_streamless || hook.stream.is_none(), "{name}");
        if submits == "y" && !is_streamless {
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
    for (name, _, blocks) in all_rows() {
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
        ("aclrtQueryEventWaitStatus", Role::QueryWaits, None),
        ("aclmdlRICaptureBegin", Role::CaptureBegin, None),
        ("rtKernelLaunch", Role::Task, Some(TaskKind::Kernel)),
        ("rtStarsTaskLaunch", Role::Task, Some(TaskKind::Kernel)),
        ("rtMemcpyAsync", Role::Task, Some(TaskKind::Memcpy)),
        ("rtReduceAsync", Role::Task, Some(TaskKind::Other)),
        ("rtModelExecute", Role::Task, Some(TaskKind::Graph)),
        ("rtNotifyWait", Role::Task, Some(TaskKind::Notify)),
        ("rtCallbackLaunch", Role::Task, Some(TaskKind::HostFunc)),
        ("rtEventRecord", Role::RecordEvent, Some(TaskKind::Record)),
        ("rtStreamWaitEvent", Role::WaitEvent, Some(TaskKind::Wait)),
        ("rtStreamSynchronize", Role::SyncStream, None),
        ("rtStreamBeginCapture", Role::CaptureBegin, None),
        ("rtStreamEndCapture", Role::CaptureEnd, None),
        ("rtDeviceReset", Role::ResetDevice, None),
        ("rtCtxDestroy", Role::DestroyContext, None),
        ("aclopExecuteV2", Role::Task, Some(TaskKind::Kernel)),
        ("aclmdlExecuteAsync", Role::Task, Some(TaskKind::Graph)),
        ("HcclAllReduce", Role::Task, Some(TaskKind::Collective)),
        ("mstxMarkA", Role::Mark, None),
        ("mstxRangeStartA", Role::RangeBegin, None),
        ("mstxRangeEnd", Role::RangeEnd, None),
        ("aclmdlRICaptureEnd", Role::CaptureEnd, None),
    ] {
        let hook = table.hook(name).unwrap();
        assert_eq!((hook.role, hook.task), (role, task), "{name}");
    }
}

#[test]
fn arguments_have_the_parts_that_their_functions_give_them() {
    let table = HookTable::embedded().unwrap();
    for (name, parts, facts) in [
        ("aclrtCreateStreamWithConfig", "flags=2 priority=1", ""),
        ("aclrtCreateEventExWithFlag", "flags=1", "unbound"),
        ("rtEventCreate", "", "keeps-times"),
        ("aclrtQueryEvent", "status=1", "zero-when-done"),
        ("rtEventQuery", "", ""),
        (
            "aclrtMemcpyAsync",
            "bulk=3 destination=0 direction=4 extent=3 reads=2 source=2 writes=0",
            "",
        ),
        // Addresses of addresses: their target is not known.
        (
            "aclrtMemcpyAsyncWithOffset",
            "bulk=4 destination=0 direction=6 source=3",
            "",
        ),
        ("aclrtMemcpyFromSymbol", "extent=3 writes=0", ""),
        ("aclrtMemcpyToSymbol", "extent=2 reads=1", ""),
        ("rtMemsetAsync", "extent=3 writes=0", ""),
        ("aclrtMemset", "extent=3 writes=0", ""),
        ("aclrtMemPoolMallocAsync", "pooled=0 size=1", ""),
        ("aclrtMemPoolFreeAsync", "pool-freed=0", ""),
        ("aclrtMallocPhysical", "physical-allocated=0 size=1", ""),
        ("aclrtFreePhysical", "physical-freed=0", ""),
        ("aclrtMapMem", "mapped-at=0 mapped-physical=3", ""),
        ("aclrtUnmapMem", "unmapped=0", ""),
        (
            "aclrtMemcpy2dAsync",
            "bulk=4 destination=0 direction=6 extent=4 read-pitch=3 reads=2 rows=5 source=2 write-pitch=1 writes=0",
            "",
        ),
        ("aclrtStreamQuery", "status=1", ""),
        ("aclrtDestroyStreamForce", "", "forced"),
        ("rtStreamDestroy", "", ""),
        ("aclmdlRIExecuteAsync", "graph=0", ""),
        ("rtModelLoadComplete", "graph=0", "completes-graph"),
        ("aclrtCntNotifyWaitWithTimeout", "counter=0", "awaits"),
        ("rtsValueWrite", "address=0 condition=2 value=1", "sets"),
        ("aclrtLaunchCallback", "blocking=2 host-function=0", ""),
        (
            "HcclReduce",
            "communicator=6 count=2 data-type=3 reads=0 reduction=4 root=5 writes=1",
            "counts-all",
        ),
        (
            "HcclSend",
            "communicator=4 count=1 data-type=2 reads=0 to-rank=3",
            "counts-all",
        ),
        (
            "HcclReduceScatter",
            "communicator=5 count=2 data-type=3 reads=0 reduction=4 writes=1",
            "counts-share",
        ),
        (
            "HcclBroadcast",
            "communicator=4 count=1 data-type=2 reads=0 root=3 writes=0",
            "counts-all",
        ),
        ("aclrtReduceAsync", "extent=2 reads=1 writes=0", ""),
        (
            "HcclReduceScatterV",
            "communicator=7 count=4 data-type=5 reduction=6",
            "",
        ),
        (
            "HcclCommInitRootInfoConfig",
            "communicator=4 identity=1 rank=2 ranks=0",
            "",
        ),
        ("aclrtMallocHostWithCfg", "host-allocated=0 size=1", ""),
        ("aclrtFreeWithDevSync", "freed=0", ""),
        (
            "aclInitTensor",
            "data-type=3 data=9 layout=6 offset=5 operand=0 strides=4",
            "makes-operand",
        ),
        ("aclnnAddGetWorkspaceSize", "executor=5 writes=3", ""),
        ("aclnnAdd", "executor=2 extent=1 writes=0", ""),
        ("aclrtSubscribeReport", "subscriber=0", "asks"),
        ("aclDestroyIntArray", "operand=0", "ends-operand"),
        ("aclDestroyAclOpExecutor", "", ""),
        ("mstxDomainRangeEnd", "domain=0 range=1", ""),
        ("aclrtLaunchKernelWithHostArgs", "", "by-handle"),
    ] {
        let hook = table.hook(name).unwrap();
        let of = |(part, at): &(ArgPart, u8)| format!("{}={at}", part.name());
        let mut found: Vec<String> = hook.parts.iter().map(of).collect();
        found.sort();
        assert_eq!(found.join(" "), parts, "{name}");
        let found: Vec<&str> = hook.facts.iter().map(|it| it.name()).collect();
        assert_eq!(found.join(" "), facts, "{name}");
    }
}

#[test]
fn tasks_have_the_kind_of_the_argument_that_names_them() {
    let table = HookTable::embedded().unwrap();
    for (name, label) in [
        ("aclrtLaunchKernelWithConfig", Some("funcHandle")),
        ("aclrtLaunchKernelWithArgsArray", Some("func")),
        ("aclopCompileAndExecute", Some("opType")),
        ("aclopExecWithHandle", Some("handle")),
        ("aclmdlExecuteAsync", Some("modelId")),
        ("rtKernelLaunch", Some("stubFunc")),
        ("rtAicpuKernelLaunchExWithArgs", Some("opName")),
        ("rtKernelLaunchFwk", Some("opName")),
        ("aclrtMemcpyAsync", None),
        ("aclmdlUnload", None),
    ] {
        let hook = table.hook(name).unwrap();
        let found = hook
            .label
            .map(|index| hook.args[usize::from(index)].name.as_str());
        assert_eq!(found, label, "{name}");
    }
    let named = |name| table.hook(name).unwrap().names.unwrap();
    assert_eq!(named("aclrtBinaryGetFunction").key, Some(2));
    assert_eq!(named("mstxDomainCreateA").key, None);
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
            "rtStreamActive",
            "rtStreamSwitch",
            "rtEndGraph",
            "rtModelExit",
        ]
        .iter()
        .any(|word| hook.name.contains(word));
        assert!(!(is_of_models && hook.timed), "{}", hook.name);
    }
}

#[test]
fn no_function_has_more_arguments_than_a_stub_would_pass_on() {
    let model = ApiModel::embedded().unwrap();
    // As if nothing were passed in registers.
    let bytes = |param: &Param| {
        let ctype = &param.ctype;
        let is_value = ctype.pointers.is_empty() && ctype.arrays.is_empty();
        let whole = model.structs.get(&ctype.base);
        let whole = whole.filter(|_| is_value && ctype.function.is_none());
        whole.map_or(8, |it| it.size.next_multiple_of(8))
    };
    for function in &model.functions {
        let bytes: usize = function.params.iter().map(bytes).sum();
        assert!(bytes <= 512, "{}: {bytes}", function.name);
    }
}
