-- Makes the tables of an export of Nsight Systems from the tables of a trace. Names and meaning of the tables and columns
-- are those that its documentation describes. A value that AscendCL does not have, or that was not recorded, is null.
-- docs/EXPORT.md describes what differs.

CREATE INDEX temp.calls_by_number ON calls (call);

-- Texts once, as numbers. The whole name of a kernel is a text of its own where it is shown in a short form.
CREATE TABLE StringIds (id INTEGER PRIMARY KEY, value TEXT NOT NULL);
CREATE TEMP TABLE texts (id INTEGER PRIMARY KEY, value TEXT NOT NULL UNIQUE);
INSERT OR IGNORE INTO texts (value) SELECT name FROM temp.tasks WHERE name IS NOT NULL;
INSERT OR IGNORE INTO texts (value) SELECT whole_name FROM temp.tasks WHERE whole_name IS NOT NULL;
INSERT OR IGNORE INTO texts (value) SELECT name FROM temp.calls WHERE name IS NOT NULL;
INSERT OR IGNORE INTO texts (value) SELECT name FROM temp.ranges WHERE name IS NOT NULL;
INSERT OR IGNORE INTO texts (value) SELECT args FROM temp.ranges WHERE args IS NOT NULL;
INSERT OR IGNORE INTO texts (value) SELECT kind FROM temp.ranges WHERE kind IS NOT NULL;
INSERT OR IGNORE INTO texts (value) SELECT name FROM temp.processes WHERE name IS NOT NULL;
INSERT INTO StringIds SELECT id, value FROM texts ORDER BY id;

-- A process as one number: its number in the recording, then 24 bits of its pid, then 24 bits for a thread.
CREATE TEMP VIEW numbered_processes AS
SELECT process, (process << 48) | ((pid & 16777215) << 24) AS globalPid, pid, rank, name, begin_ns, end_ns
FROM temp.processes;

-- Names of tables have no case, and the temporary tables come first.
CREATE TABLE main.PROCESSES (globalPid INTEGER, pid INTEGER, name TEXT);
INSERT INTO main.PROCESSES
SELECT globalPid, pid, name || coalesce(' rank ' || rank, '') FROM numbered_processes;

CREATE TEMP TABLE timed AS
SELECT
    t.*, (t.process << 48) | ((t.pid & 16777215) << 24) AS globalPid,
    (SELECT id FROM texts WHERE value = t.name) AS short_id,
    (SELECT id FROM texts WHERE value = coalesce(t.whole_name, t.name)) AS whole_id
FROM temp.tasks AS t WHERE t.begin_ns IS NOT NULL;

CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER,
    demangledName INTEGER NOT NULL, shortName INTEGER NOT NULL, mangledName INTEGER, launchType INTEGER, cacheConfig INTEGER,
    registersPerThread INTEGER, gridX INTEGER, gridY INTEGER, gridZ INTEGER, blockX INTEGER, blockY INTEGER, blockZ INTEGER,
    staticSharedMemory INTEGER, dynamicSharedMemory INTEGER, localMemoryPerThread INTEGER, localMemoryTotal INTEGER,
    gridId INTEGER, sharedMemoryExecuted INTEGER, graphNodeId INTEGER, sharedMemoryLimitConfig INTEGER
);
INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL
    (start, end, deviceId, contextId, streamId, correlationId, globalPid, demangledName, shortName, mangledName)
SELECT begin_ns, end_ns, device, process, stream_id, call, globalPid, whole_id, short_id, whole_id
FROM timed WHERE kind IN ('kernel', 'collective', 'graph', 'other') ORDER BY begin_ns;

-- Directions of copies, by the numbers that these tables have for them.
CREATE TABLE ENUM_CUDA_MEMCPY_OPER (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUDA_MEMCPY_OPER VALUES
    (0, 'CUDA_MEMCPY_KIND_UNKNOWN', 'Unknown'), (1, 'CUDA_MEMCPY_KIND_HTOD', 'Host-to-Device'),
    (2, 'CUDA_MEMCPY_KIND_DTOH', 'Device-to-Host'), (8, 'CUDA_MEMCPY_KIND_DTOD', 'Device-to-Device'),
    (9, 'CUDA_MEMCPY_KIND_HTOH', 'Host-to-Host'), (10, 'CUDA_MEMCPY_KIND_PTOP', 'Peer-to-Peer');
CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, bytes INTEGER NOT NULL,
    copyKind INTEGER NOT NULL, deprecatedSrcId INTEGER, srcKind INTEGER, dstKind INTEGER, srcDeviceId INTEGER,
    srcContextId INTEGER, dstDeviceId INTEGER, dstContextId INTEGER, migrationCause INTEGER, graphNodeId INTEGER,
    virtualAddress INTEGER
);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY
    (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, copyKind, srcKind, dstKind)
SELECT
    begin_ns, end_ns, device, process, stream_id, call, globalPid, coalesce(bytes, 0),
    CASE direction WHEN 'H2D' THEN 1 WHEN 'D2H' THEN 2 WHEN 'D2D' THEN 8 WHEN 'H2H' THEN 9 WHEN 'P2P' THEN 10 ELSE 0 END,
    -- Memory of a device. Whether that of a host is pinned was not recorded.
    CASE WHEN direction IN ('D2H', 'D2D', 'P2P') THEN 2 END, CASE WHEN direction IN ('H2D', 'D2D', 'P2P') THEN 2 END
FROM timed WHERE kind = 'memcpy' ORDER BY begin_ns;

CREATE TABLE CUPTI_ACTIVITY_KIND_MEMSET (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER NOT NULL, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER NOT NULL, correlationId INTEGER, globalPid INTEGER, value INTEGER,
    bytes INTEGER NOT NULL, graphNodeId INTEGER, memKind INTEGER
);
INSERT INTO CUPTI_ACTIVITY_KIND_MEMSET
    (start, end, deviceId, contextId, streamId, correlationId, globalPid, bytes, memKind)
SELECT begin_ns, end_ns, device, process, stream_id, call, globalPid, coalesce(bytes, 0), 2
FROM timed WHERE kind = 'memset' ORDER BY begin_ns;

CREATE TEMP TABLE made AS
SELECT
    c.*, (c.process << 48) | ((c.pid & 16777215) << 24) AS globalPid,
    (SELECT id FROM texts WHERE value = c.name) AS name_id
FROM temp.calls AS c;

CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME (
    start INTEGER NOT NULL, end INTEGER NOT NULL, eventClass INTEGER NOT NULL, globalTid INTEGER,
    correlationId INTEGER, nameId INTEGER NOT NULL, returnValue INTEGER, callchainId INTEGER
);
INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME (start, end, eventClass, globalTid, correlationId, nameId, returnValue)
SELECT begin_ns, end_ns, 0, globalPid | (tid & 16777215), call, name_id, ret FROM made ORDER BY begin_ns;

-- Times in which the host waited, and those in which a stream waited for an event.
CREATE TABLE ENUM_CUPTI_SYNC_TYPE (id INTEGER PRIMARY KEY, name TEXT, label TEXT);
INSERT INTO ENUM_CUPTI_SYNC_TYPE VALUES
    (1, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_EVENT_SYNCHRONIZE', 'Event synchronize'),
    (2, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_WAIT_EVENT', 'Stream wait event'),
    (3, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_STREAM_SYNCHRONIZE', 'Stream synchronize'),
    (4, 'CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE', 'Context synchronize');
CREATE TABLE CUPTI_ACTIVITY_KIND_SYNCHRONIZATION (
    start INTEGER NOT NULL, end INTEGER NOT NULL, deviceId INTEGER, contextId INTEGER NOT NULL,
    greenContextId INTEGER, streamId INTEGER, correlationId INTEGER, globalPid INTEGER, syncType INTEGER NOT NULL,
    eventId INTEGER
);
INSERT INTO CUPTI_ACTIVITY_KIND_SYNCHRONIZATION
    (start, end, deviceId, contextId, streamId, correlationId, globalPid, syncType, eventId)
SELECT m.begin_ns, m.end_ns, m.device, m.process, m.stream_id, m.call, m.globalPid,
    CASE f.role WHEN 'sync-event' THEN 1 WHEN 'sync-stream' THEN 3 ELSE 4 END, m.event_serial
FROM made AS m JOIN (SELECT DISTINCT name, role FROM temp.functions) AS f ON f.name = m.name
WHERE f.role IN ('sync-event', 'sync-stream', 'sync-device')
UNION ALL
SELECT t.begin_ns, t.end_ns, t.device, t.process, t.stream_id, t.call, t.globalPid, 2, c.event_serial
FROM timed AS t LEFT JOIN temp.calls AS c ON c.call = t.call WHERE t.kind = 'wait'
ORDER BY 1;

-- 59 is a range of a thread, 34 a mark.
CREATE TABLE NVTX_EVENTS (
    start INTEGER NOT NULL, end INTEGER, eventType INTEGER NOT NULL, rangeId INTEGER, category INTEGER, color INTEGER,
    text TEXT, globalTid INTEGER, endGlobalTid INTEGER, textId INTEGER, domainId INTEGER, uint64Value INTEGER,
    int64Value INTEGER, doubleValue REAL, uint32Value INTEGER, int32Value INTEGER, floatValue REAL, jsonTextId INTEGER,
    jsonText TEXT, binaryData BLOB
);
INSERT INTO NVTX_EVENTS (start, end, eventType, text, globalTid, textId, domainId, jsonTextId, jsonText)
SELECT
    r.begin_ns, CASE WHEN r.end_ns > r.begin_ns THEN r.end_ns END, CASE WHEN r.end_ns > r.begin_ns THEN 59 ELSE 34 END,
    r.name, (r.process << 48) | ((r.pid & 16777215) << 24) | (r.tid & 16777215),
    (SELECT id FROM texts WHERE value = r.name), 0, (SELECT id FROM texts WHERE value = r.args), r.args
FROM temp.ranges AS r WHERE r.name IS NOT NULL ORDER BY r.begin_ns;

CREATE TEMP TABLE used_devices AS
SELECT DISTINCT device, pid FROM temp.tasks WHERE device IS NOT NULL
UNION SELECT DISTINCT device, pid FROM temp.calls WHERE device IS NOT NULL;
CREATE TABLE TARGET_INFO_GPU (
    vmId INTEGER, id INTEGER NOT NULL, name TEXT, busLocation TEXT, isDiscrete INTEGER, l2CacheSize INTEGER,
    totalMemory INTEGER, memoryBandwidth INTEGER, clockRate INTEGER, smCount INTEGER, pwGpuId INTEGER, uuid TEXT,
    luid INTEGER, chipName TEXT, cuDevice INTEGER, ctxswDevPath TEXT, ctrlDevPath TEXT, revision INTEGER, nodeMask INTEGER,
    constantMemory INTEGER, maxIPC INTEGER, maxRegistersPerBlock INTEGER, maxShmemPerBlock INTEGER,
    maxShmemPerBlockOptin INTEGER, maxShmemPerSm INTEGER, maxRegistersPerSm INTEGER, threadsPerWarp INTEGER,
    asyncEngines INTEGER, maxWarpsPerSm INTEGER, maxBlocksPerSm INTEGER, maxThreadsPerBlock INTEGER,
    maxBlockDimX INTEGER, maxBlockDimY INTEGER, maxBlockDimZ INTEGER, maxGridDimX INTEGER, maxGridDimY INTEGER,
    maxGridDimZ INTEGER, computeMajor INTEGER, computeMinor INTEGER, smMajor INTEGER, smMinor INTEGER
);
-- The address is that of the card, where all processes have the same one for this number.
INSERT INTO TARGET_INFO_GPU (id, name, busLocation, cuDevice)
SELECT
    device, 'Ascend device ' || device,
    (
        SELECT CASE WHEN count(DISTINCT d.pci_address) = 1 THEN min(d.pci_address) END
        FROM temp.devices AS d WHERE d.device = used.device
    ),
    device
FROM (SELECT DISTINCT device FROM used_devices) AS used ORDER BY device;
CREATE TABLE TARGET_INFO_CUDA_DEVICE (
    gpuId INTEGER, cudaId INTEGER, pid INTEGER, uuid TEXT, numMultiprocessors INTEGER
);
INSERT INTO TARGET_INFO_CUDA_DEVICE (gpuId, cudaId, pid) SELECT device, device, pid FROM used_devices ORDER BY device, pid;

-- Facts about the recording, one by one.
CREATE TABLE META_DATA_CAPTURE (name TEXT, value TEXT);
INSERT INTO META_DATA_CAPTURE
SELECT 'ASCEND_TRACE_' || upper(each.key), CAST(each.value AS TEXT) FROM temp.recording, json_each(about) AS each;

CREATE INDEX kernels_by_start ON CUPTI_ACTIVITY_KIND_KERNEL (start);
CREATE INDEX kernels_by_correlation ON CUPTI_ACTIVITY_KIND_KERNEL (correlationId);
CREATE INDEX calls_by_correlation ON CUPTI_ACTIVITY_KIND_RUNTIME (correlationId);
CREATE INDEX ranges_by_thread ON NVTX_EVENTS (globalTid, start);
