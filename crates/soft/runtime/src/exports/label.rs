//! Labels.

use super::acl;
use crate::ffi::{In, Out};
use crate::graph::jump;
use crate::label;

acl! {
    fn [aclrtCreateLabel; rtLabelCreate](out: Out<usize>) {
        out.check()?;
        out.put(jump::create_label()?)
    }

    fn [aclrtDestroyLabel; rtLabelDestroy](handle: usize) { label::destroy(handle) }

    fn [aclrtSetLabel; rtLabelSet](handle: usize, stream: usize) { jump::set_label(handle, stream) }

    fn aclrtCreateLabelList(labels: In<usize>, count: usize, out: Out<usize>) {
        out.check()?;
        out.put(label::create_list(&labels.array(count)?)?)
    }

    fn aclrtDestroyLabelList(list: usize) { label::destroy_list(list) }

    fn aclrtSwitchLabelByIndex(address: usize, count: u32, list: usize, stream: usize) {
        jump::switch_label(address, count, list, stream)
    }
}
