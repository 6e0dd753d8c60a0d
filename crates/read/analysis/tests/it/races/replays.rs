//! Replays of graphs, which use the memory of their tasks.

use super::{finds, found, is_fine};

/// Graph 1 copies 64 bytes from 5000 to 1000; the case gives the calls after its capture, from 20 on.
fn captured(then: &str) -> String {
    format!(
        "t1: capture(s3)[0..1] of g1 end(s3)[10..11] of g1
         s3: memcpy(64,1000,5000)[captured] by t1[2..3] of g1
         {then}"
    )
}

#[test]
fn a_replay_uses_what_its_tasks_use() {
    let replay = "s1: graph[1000..1010] by t1[20..25] of g1";
    let read = "s2: memcpy(64,9000,1000)[5000..5010] by t1[100..105]";
    let found = found(&captured(&format!("{replay} | {read}")));
    assert_eq!(found.len(), 1, "{found:#?}");
    assert!(
        found[0].what.starts_with(
            "aclrtMemcpyAsync on stream 2 reads 64 B that aclmdlRIExecuteAsync on stream 1 writes"
        ),
        "{found:#?}"
    );
    is_fine(&captured(&format!(
        "{replay} | t1: sync(s1)[30..1020] | {}",
        read.replace("100..105", "1030..1040")
    )));
    is_fine(&captured(&format!(
        "{replay} | s2: memcpy(64,9000,2000)[5000..5010] by t1[100..105]"
    )));
    // The memory that a graph uses after a change of its nodes is not known.
    let changed = "t1: aclmdlRICaptureTaskUpdateBegin(0)[12..13]";
    is_fine(&captured(&format!("{changed} | {replay} | {read}")));
}

#[test]
fn a_replay_after_its_memory_was_given_back_is_found() {
    let freed = |then: &str| {
        format!(
            "t1: aclrtMalloc(64,1000)[-9..-8] aclrtMalloc(64,3000)[-7..-6]
             {}",
            captured(&format!("t1: {then}"))
        )
    };
    let replay = "| s1: graph[1000..1010] by t1[60..65] of g1";
    let early = freed(&format!("aclrtFree(1000)[20..21] {replay}"));
    let found = found(&early);
    assert_eq!(found.len(), 1, "{found:#?}");
    assert_eq!(
        found[0].what,
        "aclmdlRIExecuteAsync on stream 1 replays a graph that uses memory which aclrtFree (call 5) gave back"
    );
    // The same address is other memory.
    let again = "aclrtFree(1000)[20..21] aclrtMalloc(64,1000)[22..23]";
    finds("freed-under-graph", &freed(&format!("{again} {replay}")));
    is_fine(&freed(&format!("aclrtFree(3000)[20..21] {replay}")));
    is_fine(&freed(&format!(
        "sync()[70..1020] aclrtFree(1000)[1030..1031] {replay}"
    )));
    // A graph with the same number is another one after the end of the first.
    is_fine(&freed(
        "aclrtFree(1000)[20..21] aclmdlRIDestroy(7)[22..23] of g1",
    ));
}
