//! A call that has returned, as it is recorded.

use ascend_trace_format::api::Function;
use ascend_trace_format::record::Call;

use crate::function_facts::Traits;

/// A returned call, and the facts about its function.
pub(crate) struct CallRecord<'a> {
    pub(crate) function: &'static Function,
    pub(crate) traits: &'static Traits,
    pub(crate) call: Call<'a>,
}
