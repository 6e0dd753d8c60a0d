//! The tables of the databases that readers look for.

use super::rank_database::RankTable;

const fn table(name: &'static str, columns: &'static str) -> RankTable {
    RankTable { name, columns }
}

/// Texts, by number.
pub(super) const STRING_IDS: RankTable = table("STRING_IDS", "id INTEGER PRIMARY KEY, value TEXT");
pub(super) const SESSION_TIME_INFO: RankTable = table(
    "SESSION_TIME_INFO",
    "startTimeNs INTEGER, endTimeNs INTEGER",
);
pub(super) const HOST_INFO: RankTable = table("HOST_INFO", "hostUid TEXT, hostName TEXT");
pub(super) const NPU_INFO: RankTable = table("NPU_INFO", "id INTEGER, name TEXT");
pub(super) const RANK_DEVICE_MAP: RankTable =
    table("RANK_DEVICE_MAP", "rankId INTEGER, deviceId INTEGER");
pub(super) const META_DATA: RankTable = table("META_DATA", "name TEXT, value TEXT");
pub(super) const STEP_TIME: RankTable =
    table("STEP_TIME", "id INTEGER, startNs INTEGER, endNs INTEGER");
/// Tasks of the device.
pub(super) const TASK: RankTable = table(
    "TASK",
    "startNs INTEGER, endNs INTEGER, deviceId INTEGER, connectionId INTEGER, globalTaskId INTEGER, \
     globalPid INTEGER, taskType INTEGER, contextId INTEGER, streamId INTEGER, taskId INTEGER, modelId INTEGER",
);
/// Whether an operator was compiled for any shape.
pub(super) const STATES: &str = "opState";
/// The same where readers would take unknown states for dynamic ones.
pub(super) const KNOWN_STATES: &str = "opStateWhereKnown";
/// Tasks that compute.
pub(super) const COMPUTE_TASK_INFO: RankTable = table(
    "COMPUTE_TASK_INFO",
    "name INTEGER, globalTaskId INTEGER, blockDim INTEGER, mixBlockDim INTEGER, taskType INTEGER, opType INTEGER, \
     inputFormats INTEGER, inputDataTypes INTEGER, inputShapes INTEGER, outputFormats INTEGER, \
     outputDataTypes INTEGER, outputShapes INTEGER, attrInfo INTEGER, opStateWhereKnown INTEGER",
);
/// Collectives.
pub(super) const COMMUNICATION_OP: RankTable = table(
    "COMMUNICATION_OP",
    "opName INTEGER, startNs INTEGER, endNs INTEGER, connectionId INTEGER, groupName INTEGER, opId INTEGER, \
     relay INTEGER, retry INTEGER, dataType INTEGER, algType INTEGER, count INTEGER, opType INTEGER, deviceId INTEGER",
);
/// The waits of collectives for their last rank.
pub(super) const COMMUNICATION_TASK_INFO: RankTable = table(
    "COMMUNICATION_TASK_INFO",
    "name INTEGER, globalTaskId INTEGER, taskType INTEGER, planeId INTEGER, groupName INTEGER, notifyId INTEGER, \
     rdmaType INTEGER, srcRank INTEGER, dstRank INTEGER, transportType INTEGER, size INTEGER, dataType INTEGER, \
     linkType INTEGER, opId INTEGER, isMaster INTEGER",
);
pub(super) const MEMCPY_INFO: RankTable = table(
    "MEMCPY_INFO",
    "globalTaskId INTEGER, size INTEGER, memcpyOperation INTEGER",
);
/// Calls.
pub(super) const CANN_API: RankTable = table(
    "CANN_API",
    "startNs INTEGER, endNs INTEGER, type INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER",
);
/// Steps. Operators of the framework are not recorded.
pub(super) const PYTORCH_API: RankTable = table(
    "PYTORCH_API",
    "startNs INTEGER, endNs INTEGER, globalTid INTEGER, connectionId INTEGER, name INTEGER, sequenceNumber INTEGER, \
     fwdThreadId INTEGER, inputDtypes INTEGER, inputShapes INTEGER, callchainId INTEGER, type INTEGER",
);
pub(super) const CONNECTION_IDS: RankTable =
    table("CONNECTION_IDS", "id INTEGER, connectionId INTEGER");
/// Ranges and marks.
pub(super) const MSTX_EVENTS: RankTable = table(
    "MSTX_EVENTS",
    "startNs INTEGER, endNs INTEGER, eventType INTEGER, rangeId INTEGER, category INTEGER, message INTEGER, \
     globalTid INTEGER, endGlobalTid INTEGER, domainId INTEGER, connectionId INTEGER",
);
/// Allocations.
pub(super) const OP_MEMORY: RankTable = table(
    "OP_MEMORY",
    "name INTEGER, size INTEGER, allocationTime INTEGER, releaseTime INTEGER, activeReleaseTime INTEGER, \
     duration INTEGER, activeDuration INTEGER, allocationTotalAllocated INTEGER, allocationTotalReserved INTEGER, \
     allocationTotalActive INTEGER, releaseTotalAllocated INTEGER, releaseTotalReserved INTEGER, \
     releaseTotalActive INTEGER, streamPtr INTEGER, deviceId INTEGER",
);
pub(super) const MEMORY_RECORD: RankTable = table(
    "MEMORY_RECORD",
    "component INTEGER, timestamp INTEGER, totalAllocated INTEGER, totalReserved INTEGER, totalActive INTEGER, \
     streamPtr INTEGER, deviceId INTEGER",
);
pub(super) const ENUM_API_TYPE: RankTable =
    table("ENUM_API_TYPE", "id INTEGER PRIMARY KEY, name TEXT");
pub(super) const ENUM_HCCL_DATA_TYPE: RankTable =
    table("ENUM_HCCL_DATA_TYPE", "id INTEGER PRIMARY KEY, name TEXT");
pub(super) const ENUM_HCCL_LINK_TYPE: RankTable =
    table("ENUM_HCCL_LINK_TYPE", "id INTEGER PRIMARY KEY, name TEXT");
pub(super) const ENUM_HCCL_TRANSPORT_TYPE: RankTable = table(
    "ENUM_HCCL_TRANSPORT_TYPE",
    "id INTEGER PRIMARY KEY, name TEXT",
);
pub(super) const ENUM_MEMCPY_OPERATION: RankTable =
    table("ENUM_MEMCPY_OPERATION", "id INTEGER PRIMARY KEY, name TEXT");
pub(super) const ENUM_MSTX_EVENT_TYPE: RankTable =
    table("ENUM_MSTX_EVENT_TYPE", "id INTEGER PRIMARY KEY, name TEXT");

/// All tables of `ascend_pytorch_profiler_RANK.db`.
pub(super) const PROFILER: [RankTable; 24] = [
    STRING_IDS,
    SESSION_TIME_INFO,
    HOST_INFO,
    NPU_INFO,
    RANK_DEVICE_MAP,
    META_DATA,
    STEP_TIME,
    TASK,
    COMPUTE_TASK_INFO,
    COMMUNICATION_OP,
    COMMUNICATION_TASK_INFO,
    MEMCPY_INFO,
    CANN_API,
    PYTORCH_API,
    CONNECTION_IDS,
    MSTX_EVENTS,
    OP_MEMORY,
    MEMORY_RECORD,
    ENUM_API_TYPE,
    ENUM_HCCL_DATA_TYPE,
    ENUM_HCCL_LINK_TYPE,
    ENUM_HCCL_TRANSPORT_TYPE,
    ENUM_MEMCPY_OPERATION,
    ENUM_MSTX_EVENT_TYPE,
];
pub(super) const COMM_ANALYZER_TIME: RankTable = table(
    "CommAnalyzerTime",
    "hccl_op_name TEXT, group_name TEXT, start_timestamp NUMERIC, elapse_time NUMERIC, transit_time NUMERIC, \
     wait_time NUMERIC, synchronization_time NUMERIC, idle_time NUMERIC, step TEXT, type TEXT",
);
pub(super) const COMM_ANALYZER_BANDWIDTH: RankTable = table(
    "CommAnalyzerBandwidth",
    "hccl_op_name TEXT, group_name TEXT, transport_type TEXT, transit_size NUMERIC, transit_time NUMERIC, \
     bandwidth NUMERIC, large_packet_ratio NUMERIC, package_size NUMERIC, count NUMERIC, total_duration NUMERIC, \
     step TEXT, type TEXT",
);
pub(super) const COMM_ANALYZER_MATRIX: RankTable = table(
    "CommAnalyzerMatrix",
    "hccl_op_name TEXT, group_name TEXT, src_rank TEXT, dst_rank TEXT, transport_type TEXT, transit_size NUMERIC, \
     transit_time NUMERIC, bandwidth NUMERIC, step TEXT, type TEXT, op_name TEXT",
);
pub(super) const STEP_TRACE_TIME: RankTable = table(
    "StepTraceTime",
    "deviceId INTEGER, step TEXT, computing NUMERIC, communication_not_overlapped NUMERIC, overlapped NUMERIC, \
     communication NUMERIC, free NUMERIC, stage NUMERIC, bubble NUMERIC, \
     communication_not_overlapped_and_exclude_receive NUMERIC, preparing NUMERIC",
);

/// All tables of `analysis.db`.
pub(super) const ANALYSIS: [RankTable; 4] = [
    COMM_ANALYZER_TIME,
    COMM_ANALYZER_BANDWIDTH,
    COMM_ANALYZER_MATRIX,
    STEP_TRACE_TIME,
];
