//! Names of groups and collectives, in the form that readers take apart.

use ascend_trace_analysis::collectives::Peer;

/// A group of ranks.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct GroupName {
    pub(super) name: String,
    /// The number of the name, by which documents of communication know the group.
    pub(super) number: u64,
}

impl GroupName {
    pub(super) fn new(name: String) -> Self {
        let number = number(&name);
        Self { name, number }
    }
}

/// Two polynomials of the characters, each of 32 bits. Readers compute the same from the names in their metadata.
fn number(name: &str) -> u64 {
    const FACTORS: [u32; 2] = [29, 131];
    let [high, low] = FACTORS.map(|factor| {
        let letters = name.chars().map(u32::from);
        letters.fold(0_u32, |sum, letter| {
            sum.wrapping_mul(factor).wrapping_add(letter)
        })
    });
    u64::from(high) << 32 | u64::from(low)
}

/// The type of a collective: `hcom_allReduce_`.
pub(super) fn operation(function: &str, peer: Option<Peer>) -> String {
    let word = match peer {
        Some(Peer::Destination) => "send".to_owned(),
        Some(Peer::Source) => "receive".to_owned(),
        Some(Peer::Root) | None => {
            let word = function
                .trim_start_matches("Hccl")
                .trim_start_matches("Lccl");
            let mut letters = word.chars();
            let first = letters.next().map(|it| it.to_ascii_lowercase());
            first.into_iter().chain(letters).collect()
        }
    };
    format!("hcom_{word}_")
}

/// The name of a collective: its type, the end of the group's number, and its own number.
pub(super) fn collective(operation: &str, group: &GroupName, number: u64) -> String {
    format!("{operation}_{:03}_{number}_1", group.number % 1000)
}

/// The type of an operator: its name without the prefix of its interface.
pub(super) fn operator_type(label: &str) -> &str {
    let plain = label.strip_prefix("aclnn").unwrap_or(label);
    if plain.is_empty() { label } else { plain }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_have_the_parts_that_readers_look_for() {
        assert_eq!(operation("HcclAllReduce", None), "hcom_allReduce_");
        assert_eq!(operation("HcclRecv", Some(Peer::Source)), "hcom_receive_");
        assert_eq!(operation("HcclSend", Some(Peer::Destination)), "hcom_send_");
        let group = GroupName::new("ab".to_owned());
        assert_eq!(group.number, (97 * 29 + 98) << 32 | (97 * 131 + 98));
        let name = collective("hcom_send_", &group, 7);
        assert_eq!(name, format!("hcom_send__{:03}_7_1", group.number % 1000));
        assert_eq!(operator_type("aclnnRelu"), "Relu");
        assert_eq!(operator_type("MatMul"), "MatMul");
        assert_eq!(operator_type("aclnn"), "aclnn");
    }
}
