//! Derives the effect of a function from its name and shape: headers contain no more.

use super::items::DeclaredFunction;

const STREAM: &str = "aclrtStream";
const SUFFIX: &str = "GetWorkspaceSize";

/// The name of the call that comes before that of an operator.
pub(crate) fn first_phase(operator: &str) -> String {
    format!("{operator}{SUFFIX}")
}

pub(crate) fn is_first_phase(name: &str) -> bool {
    name.ends_with(SUFFIX)
}

/// The position of the stream that a function works on, and whether it hands the stream out.
pub(crate) fn stream(declared: &DeclaredFunction) -> Option<(usize, bool)> {
    let of = |wanted: &str| {
        let is_it = |(ctype, _): &(String, String)| ctype == wanted;
        declared.params.iter().rposition(is_it)
    };
    of(STREAM)
        .map(|index| (index, false))
        .or_else(|| of("aclrtStream *").map(|index| (index, true)))
}

/// Whether it submits a task to its stream argument. `has` says whether a function of a name exists.
pub(crate) fn submits(name: &str, declared: &DeclaredFunction, has: impl Fn(&str) -> bool) -> bool {
    if !matches!(stream(declared), Some((_, false))) {
        return false;
    }
    name.ends_with("Async") || (is_second_phase(declared) && has(&first_phase(name)))
}

/// The second call of an operator: workspace, its size, the executor and a stream.
fn is_second_phase(declared: &DeclaredFunction) -> bool {
    let types: Vec<&str> = declared
        .params
        .iter()
        .map(|(ctype, _)| ctype.as_str())
        .collect();
    types == ["void *", "uint64_t", "aclOpExecutor *", STREAM]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn declared(types: &[&str]) -> DeclaredFunction {
        DeclaredFunction {
            ret: "int".to_owned(),
            params: types
                .iter()
                .map(|it| (it.to_string(), "x".to_owned()))
                .collect(),
            is_variadic: false,
        }
    }

    #[test]
    fn what_takes_a_stream_need_not_submit() {
        let operator = declared(&["void *", "uint64_t", "aclOpExecutor *", STREAM]);
        assert!(submits("aclnnNew", &operator, |name| name
            == "aclnnNewGetWorkspaceSize"));
        assert!(!submits("aclnnInit", &operator, |_| false));
        let copy = declared(&["void *", "size_t", STREAM]);
        assert!(submits("aclrtCopyAsync", &copy, |_| false));
        assert!(!submits("aclrtCopyInfo", &copy, |_| false));
        let made = declared(&["aclrtStream *"]);
        assert!(!submits("aclrtCreateAsync", &made, |_| false));
        assert_eq!(stream(&made), Some((0, true)));
    }
}
