//! Rounds of two threads, for a learner of hand-overs.

/// Rounds of one thread, and of another. `begins` gives the begin of the other's work, for a round and the end of the task before it.
pub(crate) fn rounds(begins: impl Fn(u64, u64) -> u64) -> String {
    let round = |round: u64| {
        let begin = round * 400;
        let end = begin + 60 + round % 4 * 20;
        let then = begins(round, end);
        format!(
            "s1: A[{}us..{end}us] by t1[{begin}us..{}us] | t1: sync(s1)[{}us..{}us]
             s2: B[{}us..{}us] by t2[{then}us..{}us] | t2: sync(s2)[{}us..{}us]",
            begin + 2,
            begin + 1,
            begin + 1,
            end + 3,
            then + 2,
            then + 30,
            then + 1,
            then + 1,
            then + 33
        )
    };
    let rounds: Vec<String> = (0..12).map(round).collect();
    rounds.join(" | ")
}
