//! How many parameters the first functions of known operators have. Floating-point numbers travel in other registers than
//! the words of a call.

include!(concat!(env!("OUT_DIR"), "/operator_words.rs"));

/// Numbers of parameters, without the two at the end.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct ParameterCounts {
    pub(super) floats: u8,
    /// The others.
    pub(super) words: u8,
}

/// The parameters of an operator, given the hash of its name.
pub(super) fn of(operator: u64) -> Option<ParameterCounts> {
    let hash = operator & !COUNT_BITS;
    let at = OPERATORS.binary_search_by_key(&hash, |it| it & !COUNT_BITS);
    let counts = OPERATORS.get(at.ok()?)? & COUNT_BITS;
    Some(ParameterCounts {
        floats: (counts & ((1 << FLOAT_BITS) - 1)) as u8,
        words: (counts >> FLOAT_BITS) as u8,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use ascend_trace_format::fnv;

    #[test]
    fn operators_are_found_by_name() {
        let of = |name: &str| of(fnv::hash(name.as_bytes()));
        let counts = |words, floats| Some(ParameterCounts { floats, words });
        assert_eq!(of("aclnnLayerNorm"), counts(7, 1));
        assert_eq!(of("aclnnApplyAdamWV2"), counts(8, 5));
        assert_eq!(of("aclnnTril"), counts(3, 0));
        assert_eq!(of("aclnnOwnBlend"), None);
    }
}
