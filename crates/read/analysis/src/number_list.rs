//! Lists of numbers that the texts of calls contain, like `[0, 4096, 512]`.

/// The numbers of a list. One that was cut has fewer.
pub(crate) fn numbers(text: &str) -> Vec<i64> {
    let inner = text.trim_start_matches('[').trim_end_matches(']');
    let numbers = inner.split(", ");
    numbers.map_while(|it| it.parse().ok()).collect()
}

/// Whether there were more numbers than the record had room for.
pub(crate) fn is_cut(text: &str) -> bool {
    text.contains('…')
}
