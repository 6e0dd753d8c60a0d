//! Generated from the tables by `tests/it/stubs.rs`: hccl.

accepted! {
    zero:
        HcclSetConfig
        mstxDomainCreateA
        mstxMemHeapRegister
    ;
    nothing:
        mstxDomainDestroy
        mstxDomainMarkA
        mstxDomainRangeEnd
        mstxMarkA
        mstxMemHeapUnregister
        mstxMemRegionsRegister
        mstxMemRegionsUnregister
        mstxRangeEnd
    ;
}

unsupported! {
    code:
        LcalCommInit
        LcalCommInitAll
        LcalCommInitRankLocal
        LcclAllGather
        LcclAllReduce
        LcclBroadcast
        LcclCommDestroy
        LcclReduceScatter
    ;
    hccl:
        HcclCommActivateCommMemory
        HcclCommDeactivateCommMemory
        HcclCommDeregister
        HcclCommExchangeMem
        HcclCommInitClusterInfo
        HcclCommInitClusterInfoConfig
        HcclCommRegister
        HcclCommResume
        HcclCommSetMemoryRange
        HcclCommSuspend
        HcclCommUnsetMemoryRange
        HcclCommWorkingDevNicSet
        HcclGetCommConfig
        HcclGetConfig
        HcclSetCommConfig
    ;
    nothing:
        HcclCommConfigInit
    ;
}
