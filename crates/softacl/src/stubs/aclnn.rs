//! Generated from the tables by `tests/it/stubs.rs`: aclnn.

accepted! {
    code:
        aclDumpOpTensors
    ;
}
