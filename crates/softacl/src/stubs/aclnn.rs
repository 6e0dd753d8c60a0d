//! Generated from the tables by `tests/it/stubs.rs`: aclnn.

accepted! {
    code:
        aclDumpOpTensors
    ;
}

unsupported! {
    code:
        AclSetDynamicInputTensorAddr
        AclSetDynamicOutputTensorAddr
        AclSetDynamicTensorAddr
        AclSetInputTensorAddr
        AclSetOutputTensorAddr
        AclSetTensorAddr
        aclDestroyAclOpExecutor
        aclDestroyBoolArray
        aclDestroyFloatArray
        aclDestroyIntArray
        aclDestroyScalar
        aclDestroyScalarList
        aclDestroyTensor
        aclDestroyTensorList
        aclGetBoolArraySize
        aclGetDataType
        aclGetFloatArraySize
        aclGetFormat
        aclGetIntArraySize
        aclGetRawTensorAddr
        aclGetScalarListSize
        aclGetStorageShape
        aclGetTensorListSize
        aclGetViewOffset
        aclGetViewShape
        aclGetViewStrides
        aclInitTensor
        aclSetAclOpExecutorRepeatable
        aclSetDynamicInputTensorAddr
        aclSetDynamicOutputTensorAddr
        aclSetDynamicTensorAddr
        aclSetInputTensorAddr
        aclSetOutputTensorAddr
        aclSetRawTensorAddr
        aclSetTensorAddr
        aclnnFinalize
        aclnnInit
    ;
    zero:
        aclCreateBoolArray
        aclCreateFloatArray
        aclCreateIntArray
        aclCreateScalar
        aclCreateScalarList
        aclCreateTensor
        aclCreateTensorList
    ;
}
