//! From the name of a function to its number in the table.

use crate::functions::FUNCTIONS;

/// The number of the function with this name.
pub(crate) fn id(name: &[u8]) -> Option<usize> {
    // Most lookups are for other libraries' functions: their first letter excludes them.
    if !matches!(
        name.first()?,
        b'a' | b'A' | b'H' | b'h' | b'L' | b'm' | b'r'
    ) {
        return None;
    }
    FUNCTIONS
        .binary_search_by(|function| function.name.as_bytes().cmp(name))
        .ok()
}

/// Whether a name looks like one of AscendCL, in the table or not. Not those of POSIX access control
/// lists, which begin with `acl_`.
pub(crate) fn is_acl(name: &[u8]) -> bool {
    let follows = |prefix: &[u8]| {
        name.strip_prefix(prefix)
            .is_some_and(|rest| !rest.is_empty())
    };
    match name {
        [b'a', b'c', b'l', next, ..] => next.is_ascii_alphabetic(),
        _ => [&b"Acl"[..], b"Hccl", b"Lccl", b"mstx"]
            .iter()
            .any(|prefix| follows(prefix)),
    }
}

/// Whether a name looks like one of the layer below AscendCL. Others may have such names as well.
pub(crate) fn is_below(name: &[u8]) -> bool {
    let rest = name.strip_prefix(b"rts").or(name.strip_prefix(b"rt"));
    rest.and_then(<[u8]>::first)
        .is_some_and(u8::is_ascii_uppercase)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_function_of_the_table_is_found_by_its_name() {
        for (index, function) in FUNCTIONS.iter().enumerate() {
            assert_eq!(
                id(function.name.as_bytes()),
                Some(index),
                "{}",
                function.name
            );
        }
        assert_eq!(id(b""), None);
        assert_eq!(id(b"acl_get_file"), None);
        assert_eq!(id(b"aclrtMallo"), None);
    }

    #[test]
    fn names_of_other_interfaces_are_distinguished() {
        for name in [
            "aclnnAbs", "aclrtNew", "AclThing", "HcclNew", "LcclNew", "mstxNewA",
        ] {
            assert!(is_acl(name.as_bytes()), "{name}");
        }
        for name in ["rtNew", "rtsNew", "rtSNew"] {
            assert!(is_below(name.as_bytes()), "{name}");
        }
        for name in ["rt", "rtld", "rts", "rtsp_open", "sRtNew"] {
            assert!(!is_below(name.as_bytes()), "{name}");
        }
        for name in ["acl_get_file", "acl", "acl2", "Hccl", "malloc", "mst"] {
            assert!(!is_acl(name.as_bytes()), "{name}");
        }
    }
}
