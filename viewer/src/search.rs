//! Finding items by name.

use ascend_trace_model::{FunctionId, Trace};

use crate::item::Item;
use crate::tracks::Tracks;

/// A text to look for, and the functions that have it in their names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Search {
    pub(crate) text: String,
    /// By function: whether its name matches.
    matches: Vec<bool>,
}

impl Search {
    pub(crate) fn new(text: &str, trace: &Trace) -> Self {
        let mut search = Self {
            text: text.to_lowercase(),
            matches: Vec::new(),
        };
        search.update(trace);
        search
    }

    /// Takes in functions that are new in the trace.
    pub(crate) fn update(&mut self, trace: &Trace) {
        for function in &trace.functions()[self.matches.len()..] {
            let name = function.name.to_lowercase();
            self.matches.push(name.contains(&self.text));
        }
    }

    pub(crate) fn is_match(&self, trace: &Trace, item: Item) -> bool {
        let call = trace.call(item.call(trace));
        // A launch is found as the task that it submitted.
        if matches!(item, Item::Call(_)) && call.task.is_some() {
            return false;
        }
        let FunctionId(function) = call.function;
        self.matches
            .get(function as usize)
            .copied()
            .unwrap_or(false)
    }

    /// The first match in time order after `(time, item)`, or the last one before it.
    pub(crate) fn from(
        &self,
        trace: &Trace,
        tracks: &Tracks,
        from: (i64, Option<Item>),
        forward: bool,
    ) -> Option<Item> {
        if !self.matches.contains(&true) {
            return None;
        }
        let found = tracks.keys().filter_map(|key| {
            let track = tracks.get(key)?;
            let step = |(time, item)| match forward {
                true => track.after(trace, time, item),
                false => track.before(trace, time, item),
            };
            let key = |item: Item| (item.span(trace).0, Some(item));
            let mut items = std::iter::successors(step(from), |item| step(key(*item)));
            items.find(|item| self.is_match(trace, *item))
        });
        let order = |item: &Item| (item.span(trace).0, *item);
        match forward {
            true => found.min_by_key(order),
            false => found.max_by_key(order),
        }
    }
}
