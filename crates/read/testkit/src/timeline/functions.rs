//! The hook table of a timeline: the functions that its calls are calls of.

use std::collections::{BTreeMap, HashMap};

use ascend_trace_recording::rows::{ArgRow, FunctionRow, TablesRow};

/// Collects the functions a timeline uses.
#[derive(Default)]
pub(super) struct UsedFunctions {
    rows: Vec<FunctionRow>,
    numbers: HashMap<String, u16>,
}

impl UsedFunctions {
    /// The number of the function `name`; if it is not one of those below, it is made by `other`.
    pub(super) fn number(&mut self, name: &str, other: fn(&str) -> FunctionRow) -> u16 {
        if let Some(number) = self.numbers.get(name) {
            return *number;
        }
        let number = self.rows.len() as u16;
        self.rows.push(known(name).unwrap_or_else(|| other(name)));
        self.numbers.insert(name.to_owned(), number);
        number
    }

    /// The function with this number.
    pub(super) fn row(&self, number: u16) -> &FunctionRow {
        &self.rows[usize::from(number)]
    }

    pub(super) fn into_tables(self) -> TablesRow {
        let codes = [
            (0, "ACL_SUCCESS"),
            (107000, "ACL_ERROR_RT_PARAM_INVALID"),
            (107003, "ACL_ERROR_RT_STREAM_CONTEXT"),
            (107025, "ACL_ERROR_RT_STREAM_UNJOINED"),
            (107027, "ACL_ERROR_RT_STREAM_CAPTURED"),
            (207001, "ACL_ERROR_RT_MEMORY_ALLOCATION"),
            (507000, "ACL_ERROR_RT_INTERNAL_ERROR"),
            (507046, "ACL_ERROR_RT_STREAM_SYNC_TIMEOUT"),
        ];
        let kinds = [
            (1, "ACL_MEMCPY_HOST_TO_DEVICE"),
            (2, "ACL_MEMCPY_DEVICE_TO_HOST"),
        ];
        let types = [(3, "HCCL_DATA_TYPE_FP16"), (4, "HCCL_DATA_TYPE_FP32")];
        TablesRow {
            first: 0,
            functions: self.rows,
            enumerations: BTreeMap::from([
                ("aclError".to_owned(), constants(&codes)),
                ("HcclDataType".to_owned(), constants(&types)),
                ("aclrtMemcpyKind".to_owned(), constants(&kinds)),
            ]),
        }
    }
}

fn constants(all: &[(i64, &str)]) -> BTreeMap<i64, String> {
    let owned = all.iter().map(|(value, name)| (*value, (*name).to_owned()));
    owned.collect()
}

/// A function that launches a kernel, in the shape of aclnn's second phase.
pub(super) fn kernel(name: &str) -> FunctionRow {
    let args = "workspace:pointer workspaceSize:size executor:handle@executor stream:stream";
    row(name, "op", "task", "kernel", args)
}

/// A function that does nothing to streams.
pub(super) fn plain(name: &str) -> FunctionRow {
    row(name, "other", "plain", "", "size:size")
}

/// The functions of AscendCL that timelines know: name, category, role, kind of task; arguments, each
/// with its kind, its enumeration or `out` after `=`, and its meaning after `@`; and facts after `+`.
const KNOWN: &[(&str, &str, &str, &str, &str)] = &[
    (
        "aclrtRecordEvent",
        "event",
        "record-event",
        "record",
        "event:event stream:stream",
    ),
    (
        "aclrtStreamWaitEvent",
        "event",
        "wait-event",
        "wait",
        "stream:stream event:event",
    ),
    (
        "aclrtSynchronizeStream",
        "sync",
        "sync-stream",
        "",
        "stream:stream",
    ),
    (
        "aclrtSynchronizeEvent",
        "sync",
        "sync-event",
        "",
        "event:event",
    ),
    ("aclrtSynchronizeDevice", "sync", "sync-device", "", ""),
    (
        "aclrtStreamQuery",
        "stream",
        "query-stream",
        "",
        "stream:stream status:int@status",
    ),
    (
        "aclrtQueryEventStatus",
        "event",
        "query-event",
        "",
        "event:event status:int@status",
    ),
    (
        "aclrtMemcpy",
        "memory",
        "blocking-copy",
        "",
        "dst:pointer@writes destMax:size src:pointer@reads count:size@extent kind:enum",
    ),
    (
        "aclrtMemcpyAsync",
        "memory",
        "task",
        "memcpy",
        "dst:pointer@writes destMax:size src:pointer@reads count:size@extent kind:enum stream:stream",
    ),
    (
        "aclrtMemsetAsync",
        "memory",
        "task",
        "memset",
        "devPtr:pointer@writes maxCount:size value:int count:size@extent stream:stream",
    ),
    (
        "aclrtMalloc",
        "memory",
        "plain",
        "",
        "devPtr:pointer@allocated size:size@size policy:enum",
    ),
    (
        "aclrtMallocCached",
        "memory",
        "plain",
        "",
        "devPtr:pointer@allocated size:size@size policy:enum",
    ),
    ("aclrtFree", "memory", "plain", "", "devPtr:pointer@freed"),
    (
        "aclrtFreeWithDevSync",
        "memory",
        "sync-device",
        "",
        "devPtr:pointer@freed",
    ),
    (
        "aclrtMallocHost",
        "memory",
        "plain",
        "",
        "hostPtr:pointer@host-allocated size:size@size",
    ),
    (
        "aclrtFreeHost",
        "memory",
        "plain",
        "",
        "hostPtr:pointer@host-freed",
    ),
    ("mstxMemHeapRegister", "mstx", "plain", "", "desc:heap"),
    (
        "mstxMemRegionsRegister",
        "mstx",
        "plain",
        "",
        "desc:regions",
    ),
    (
        "mstxMemRegionsUnregister",
        "mstx",
        "plain",
        "",
        "desc:region-refs",
    ),
    (
        "aclrtMemPoolMallocAsync",
        "memory",
        "task",
        "other",
        "ptr:pointer@pooled size:size@size stream:stream",
    ),
    (
        "aclrtMemPoolFreeAsync",
        "memory",
        "task",
        "other",
        "ptr:pointer@pool-freed stream:stream",
    ),
    (
        "aclrtMallocPhysical",
        "memory",
        "plain",
        "",
        "handle:handle@physical-allocated size:size@size",
    ),
    (
        "aclrtFreePhysical",
        "memory",
        "plain",
        "",
        "handle:handle@physical-freed",
    ),
    // The size, the address, the offset and the handle.
    (
        "aclrtMapMem",
        "memory",
        "plain",
        "",
        "virPtr:pointer@mapped-at size:size offset:uint handle:handle@mapped-physical",
    ),
    (
        "aclrtUnmapMem",
        "memory",
        "plain",
        "",
        "virPtr:pointer@unmapped",
    ),
    // The first number is the width.
    (
        "aclrtMemcpy2dAsync",
        "memory",
        "task",
        "memcpy",
        "dst:pointer@writes dpitch:uint@write-pitch src:pointer@reads spitch:uint@read-pitch width:size@extent height:uint@rows kind:enum=aclrtMemcpyKind stream:stream",
    ),
    (
        "aclrtMemcpy2d",
        "memory",
        "blocking-copy",
        "",
        "dst:pointer@writes dpitch:uint@write-pitch src:pointer@reads spitch:uint@read-pitch width:size@extent height:uint@rows",
    ),
    (
        "aclrtLaunchHostFunc",
        "callback",
        "task",
        "hostfunc",
        "stream:stream fn:function args:pointer",
    ),
    (
        "aclmdlRIExecuteAsync",
        "graph",
        "task",
        "graph",
        "modelRI:handle stream:stream",
    ),
    (
        "aclmdlRICaptureBegin",
        "graph",
        "capture-begin",
        "",
        "stream:stream mode:enum",
    ),
    (
        "aclmdlRICaptureEnd",
        "graph",
        "capture-end",
        "",
        "stream:stream modelRI:handle",
    ),
    (
        "aclmdlRIExecute",
        "graph",
        "execute-graph",
        "",
        "modelRI:handle timeout:timeout",
    ),
    (
        "aclmdlRICaptureTaskUpdateBegin",
        "graph",
        "update-begin",
        "",
        "stream:stream handle:handle",
    ),
    (
        "aclmdlRIDestroy",
        "graph",
        "destroy-graph",
        "",
        "modelRI:handle",
    ),
    (
        "aclrtCreateStream",
        "stream",
        "create-stream",
        "",
        "stream:stream",
    ),
    (
        "aclrtDestroyStream",
        "stream",
        "destroy-stream",
        "",
        "stream:stream",
    ),
    (
        "aclrtDestroyStreamForce",
        "stream",
        "destroy-stream",
        "",
        "stream:stream +forced",
    ),
    (
        "aclrtCreateEvent",
        "event",
        "create-event",
        "",
        "event:event",
    ),
    (
        "aclrtDestroyEvent",
        "event",
        "destroy-event",
        "",
        "event:event",
    ),
    (
        "aclrtSetDevice",
        "device",
        "set-device",
        "",
        "deviceId:device",
    ),
    (
        "aclrtResetDevice",
        "device",
        "reset-device",
        "",
        "deviceId:device",
    ),
    (
        "aclrtResetEvent",
        "event",
        "reset-event",
        "other",
        "event:event stream:stream",
    ),
    (
        "aclrtWaitAndResetNotify",
        "notify",
        "task",
        "notify",
        "notify:handle@notify timeout:timeout stream:stream +awaits",
    ),
    (
        "aclrtValueWait",
        "memory",
        "task",
        "value",
        "devAddr:pointer@address value:uint@value flag:uint@condition stream:stream +awaits",
    ),
    (
        "aclrtLaunchCallback",
        "callback",
        "task",
        "hostfunc",
        "blockType:enum@blocking fn:function userData:pointer stream:stream",
    ),
    (
        "aclrtSubscribeReport",
        "callback",
        "subscribe-reports",
        "",
        "threadId:uint@subscriber stream:stream",
    ),
    (
        "aclrtUnSubscribeReport",
        "callback",
        "unsubscribe-reports",
        "",
        "threadId:uint@subscriber stream:stream",
    ),
    (
        "aclrtProcessReport",
        "callback",
        "process-report",
        "",
        "timeout:timeout",
    ),
    (
        "aclrtReduceAsync",
        "memory",
        "task",
        "other",
        "count:size@extent dst:pointer@writes src:pointer@reads stream:stream",
    ),
    (
        "HcclAllReduce",
        "hccl",
        "task",
        "collective",
        "comm:handle@communicator count:uint@count dataType:enum=HcclDataType@data-type sendBuf:pointer@reads recvBuf:pointer@writes stream:stream +counts-all",
    ),
    (
        "HcclAllGather",
        "hccl",
        "task",
        "collective",
        "comm:handle@communicator count:uint@count dataType:enum=HcclDataType@data-type sendBuf:pointer@reads recvBuf:pointer@writes stream:stream +counts-share",
    ),
    (
        "HcclBroadcast",
        "hccl",
        "task",
        "collective",
        "comm:handle@communicator count:uint@count dataType:enum=HcclDataType@data-type root:uint@root stream:stream +counts-all",
    ),
    (
        "HcclSend",
        "hccl",
        "task",
        "collective",
        "comm:handle@communicator count:uint@count dataType:enum=HcclDataType@data-type destRank:uint@to-rank stream:stream +counts-all",
    ),
    (
        "HcclRecv",
        "hccl",
        "task",
        "collective",
        "comm:handle@communicator count:uint@count dataType:enum=HcclDataType@data-type srcRank:uint@from-rank stream:stream +counts-all",
    ),
    (
        "HcclBatchSendRecv",
        "hccl",
        "task",
        "collective",
        "comm:handle@communicator stream:stream sendRecvInfo:messages=HcclDataType",
    ),
    ("HcclGroupEnd", "hccl", "task", "collective", "+ends-group"),
    (
        "HcclCommInitRootInfo",
        "hccl",
        "plain",
        "",
        "nRanks:uint@ranks rank:uint@rank comm:handle=out@communicator",
    ),
    (
        "aclrtRecordNotify",
        "notify",
        "task",
        "notify",
        "notify:handle@notify stream:stream +sets",
    ),
    (
        "aclrtValueWrite",
        "memory",
        "task",
        "value",
        "devAddr:pointer@address value:uint@value flag:uint@condition stream:stream +sets",
    ),
    // An operator in two phases, which threads can share: planned by the first, submitted by the other.
    (
        "aclnnAddGetWorkspaceSize",
        "aclnn_operator",
        "plain",
        "",
        "executor:handle=out@executor",
    ),
    (
        "aclnnAdd",
        "aclnn_operator",
        "task",
        "kernel",
        "executor:handle@executor stream:stream",
    ),
    (
        "aclrtProfTrace",
        "profiling",
        "task",
        "other",
        "userdata:pointer length:int stream:stream",
    ),
];

pub(crate) fn known(name: &str) -> Option<FunctionRow> {
    KNOWN
        .iter()
        .find(|entry| entry.0 == name)
        .map(|(name, category, role, task, args)| row(name, category, role, task, args))
}

fn row(name: &str, category: &str, role: &str, task: &str, args: &str) -> FunctionRow {
    let (facts, arguments): (Vec<&str>, Vec<&str>) = args
        .split_whitespace()
        .partition(|word| word.starts_with('+'));
    let part = |(at, word): (u8, &&str)| Some((word.split_once('@')?.1.to_owned(), at));
    let parts = (0..).zip(&arguments).filter_map(part).collect();
    let args: Vec<ArgRow> = arguments.into_iter().map(argument).collect();
    let position = |kind: &str| {
        args.iter()
            .position(|arg| arg.kind == kind)
            .map(|at| at as u8)
    };
    // Of several sizes the last is the one that is moved: the first is the room there is.
    let bytes = args
        .iter()
        .rposition(|arg| arg.kind == "size")
        .map(|at| at as u8);
    let moves = role == "blocking-copy" || matches!(task, "memcpy" | "memset");
    FunctionRow {
        name: name.to_owned(),
        category: category.to_owned(),
        role: role.to_owned(),
        task: task.to_owned(),
        blocks: if role.starts_with("sync") || role == "blocking-copy" {
            "yes"
        } else {
            "no"
        }
        .to_owned(),
        ret: "error".to_owned(),
        stream: position("stream"),
        event: position("event"),
        bytes: if moves { bytes } else { None },
        label: None,
        parts,
        facts: facts.iter().map(|word| word[1..].to_owned()).collect(),
        args,
    }
}

fn argument(text: &str) -> ArgRow {
    let text = text.split_once('@').map_or(text, |(text, _)| text);
    let (name, kind) = text.split_once(':').unwrap_or((text, "uint"));
    let (kind, more) = kind.split_once('=').unwrap_or((kind, ""));
    ArgRow {
        name: name.to_owned(),
        kind: kind.to_owned(),
        out: more == "out",
        enumeration: match (kind, more) {
            ("enum", "") => format!("acl_{name}"),
            ("enum" | "messages", name) => name.to_owned(),
            _ => String::new(),
        },
        is_written: more == "written",
    }
}
