//! Finding items: the answer to a [`Query`], walked in time order.

use ascend_trace_model::{FunctionId, Trace};

use crate::item::Item;
use crate::query::Query;
use crate::tracks::Tracks;

/// A question, and the functions whose names answer it.
#[derive(Clone, Debug)]
pub(crate) struct Search {
    pub(crate) text: String,
    query: Query,
    /// By function: whether its name has what is asked of names.
    named: Vec<bool>,
    /// By function: whether its calls have names of their own.
    labelled: Vec<bool>,
    /// Whether any function is there that could match.
    possible: bool,
}

impl Search {
    /// Reads a question; the error says what is wrong with it.
    pub(crate) fn new(text: &str, trace: &Trace) -> Result<Self, String> {
        let mut search = Self {
            text: text.to_owned(),
            query: Query::parse(text)?,
            named: Vec::new(),
            labelled: Vec::new(),
            possible: false,
        };
        search.update(trace);
        Ok(search)
    }

    /// Takes in functions that are new in the trace.
    pub(crate) fn update(&mut self, trace: &Trace) {
        let known = self.named.len().min(trace.functions().len());
        for function in &trace.functions()[known..] {
            let named = self.query.has_name(function);
            self.named.push(named);
            self.labelled.push(function.label.is_some());
            self.possible |= named || function.label.is_some();
        }
    }

    /// Whether a call of a function can be a match.
    pub(crate) fn may_match(&self, function: FunctionId) -> bool {
        // Of a function that is new, nothing is known.
        let named = self.named.get(function.index()).copied();
        named.unwrap_or(true) || self.labelled.get(function.index()).copied().unwrap_or(true)
    }

    pub(crate) fn is_match(&self, trace: &Trace, item: Item) -> bool {
        let call = trace.call(item.call(trace));
        // A launch is found as the task that it submitted.
        if matches!(item, Item::Call(_)) && call.task.is_some() {
            return false;
        }
        let FunctionId(function) = call.function;
        let named = self.named.get(function as usize).copied();
        self.query.is_match(trace, item, named.unwrap_or(false))
    }

    /// The place of an item among all matches, from 1, and how many there are.
    pub(crate) fn place(&self, trace: &Trace, item: Item) -> (usize, usize) {
        let order = |item: Item| (item.span(trace).0, item);
        let (own, mut place, mut all) = (order(item), 0, 0);
        let tasks =
            (0..trace.tasks().len() as u32).map(|id| Item::Task(ascend_trace_model::TaskId(id)));
        let calls =
            (0..trace.calls().len() as u32).map(|id| Item::Call(ascend_trace_model::CallId(id)));
        for other in tasks.chain(calls).filter(|it| self.is_match(trace, *it)) {
            all += 1;
            place += usize::from(order(other) <= own);
        }
        (place, all)
    }

    /// The first match in time order after `(time, item)`, or the last one before it.
    pub(crate) fn from(
        &self,
        trace: &Trace,
        tracks: &Tracks,
        from: (i64, Option<Item>),
        forward: bool,
    ) -> Option<Item> {
        if !self.possible {
            return None;
        }
        let found = tracks.originals().filter_map(|key| {
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
