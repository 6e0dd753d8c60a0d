//! Calls that do not begin and end in order.
