//! `aclrtRandomNumAsync`.

use super::acl;
use crate::ffi::In;
use crate::memory::random::{self, TaskInfo};

acl! {
    fn aclrtRandomNumAsync(info: In<TaskInfo>, stream: usize, _reserved: usize) {
        random::submit(&info.get()?, stream)
    }
}
