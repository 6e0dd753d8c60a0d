//! The memory that tasks use: which of it is in common, and which was written before.

use super::{finds, found, is_fine};

#[test]
fn which_uses_of_memory_disturb_each_other() {
    for (first, second, is_race) in [
        // Two reads.
        ("memcpy(64,9000,1000)", "memcpy(64,8000,1000)", false),
        // Next to each other, and one byte in common.
        ("memcpy(64,1000,5000)", "memcpy(64,9000,1064)", false),
        ("memcpy(65,1000,5000)", "memcpy(64,9000,1064)", true),
        ("memcpy(64,1000,5000)", "memcpy(64,9000,937)", true),
        ("memcpy(64,1000,5000)", "memcpy(64,9000,936)", false),
        // A write after a read, and after a write.
        ("memcpy(64,9000,1000)", "memcpy(64,1000,5000)", true),
        ("memcpy(64,1000,5000)", "memcpy(64,1032,6000)", true),
        ("memset(64,1000,0)", "memcpy(64,9000,1000)", true),
        ("memset(64,1000,0)", "memset(64,1000,0)", true),
        ("memset(64,1000,0)", "memset(64,2000,0)", false),
        // Nothing at all, and no address.
        ("memset(0,1000,0)", "memset(64,1000,0)", false),
        ("memset(64,0,0)", "memset(64,0,0)", false),
        // What kernels use is not known.
        ("memset(64,1000,0)", "Add(64,1000)", false),
    ] {
        let text = format!(
            "s1: {first}[1000..1010] by t1[0..5] | s2: {second}[1000..1010] by t1[100..105]"
        );
        match is_race {
            true => finds("data-race", &text),
            false => is_fine(&text),
        }
        // On one stream everything is in order.
        is_fine(
            &text
                .replace("s2:", "s1:")
                .replace("[1000..1010] by t1[100", "[1010..1020] by t1[100"),
        );
    }
}

#[test]
fn copies_in_rows_use_the_memory_of_their_rows() {
    // Width, target, its pitch, source, its pitch, rows.
    for (first, second, is_race) in [
        // The left and the right half of the rows.
        ("(8,1000,16,5000,8,4)", "(8,1008,16,6000,8,4)", false),
        ("(9,1000,16,5000,9,4)", "(8,1008,16,6000,8,4)", true),
        // The row after the last one, and the last one.
        ("(8,1000,16,5000,8,4)", "(8,1064,16,6000,8,4)", false),
        ("(8,1000,16,5000,8,4)", "(8,1048,16,6000,8,4)", true),
        // The second one reads written rows, the gaps between them, or memory in front of them.
        ("(8,1000,16,5000,8,4)", "(8,7000,8,1000,16,4)", true),
        ("(8,1000,16,5000,8,4)", "(8,7000,8,1008,16,4)", false),
        ("(8,1000,16,5000,8,4)", "(8,7000,8,936,16,4)", false),
        // Rows without gaps.
        ("(16,1000,16,5000,16,4)", "(64,1063,64,6000,64,1)", true),
        ("(16,1000,16,5000,16,4)", "(64,1064,64,6000,64,1)", false),
    ] {
        let text = format!(
            "s1: aclrtMemcpy2dAsync{first}[1000..1010] by t1[0..5]
             s2: aclrtMemcpy2dAsync{second}[1000..1010] by t1[100..105]"
        );
        match is_race {
            true => finds("data-race", &text),
            false => is_fine(&text),
        }
        is_fine(&format!("{text} | t1: sync(s1)[50..60]"));
    }
    let text = "s1: aclrtMemcpy2dAsync(8,1000,16,5000,8,4)[1000..1010] by t1[0..5] | t1: aclrtMemcpy2d(16,7000,16,1000,16,4)[50..60]";
    let found = found(text);
    assert!(found[0].what.contains("reads 32 B that"), "{found:#?}");
}

#[test]
fn collectives_use_their_buffers() {
    // Communicator, count, type, the memory that it reads, and the one that it writes: 16 elements of 4 bytes.
    let reduce = "HcclAllReduce(1,16,4,1000,5000)";
    let gather = "HcclAllGather(1,16,4,1000,5000)";
    for (first, second, is_race) in [
        (reduce, "memcpy(64,9000,5000)", true),
        (reduce, "memcpy(64,9000,5064)", false),
        (reduce, "memset(64,1000,0)", true),
        (reduce, "memcpy(64,9000,1000)", false),
        // Of four ranks.
        (gather, "memcpy(64,9000,5192)", true),
        (gather, "memcpy(64,9000,5256)", false),
        (gather, "memset(64,1000,0)", true),
        (gather, "memset(64,1064,0)", false),
        // The other one is the second.
        ("memset(64,1000,0)", reduce, true),
        ("memcpy(64,9000,5000)", reduce, true),
        ("memcpy(64,9000,1000)", reduce, false),
        // The length of an element is not known.
        (
            "HcclAllReduce(1,16,9,1000,5000)",
            "memcpy(64,9000,5000)",
            false,
        ),
    ] {
        let text = format!(
            "t1: HcclCommInitRootInfo(4,0,1)[-20..-10]
             s1: {first}[1000..1010] by t1[0..5] | s2: {second}[1000..1010] by t1[100..105]"
        );
        match is_race {
            true => finds("data-race", &text),
            false => is_fine(&text),
        }
        is_fine(&format!("{text} | t1: sync(s1)[50..60]"));
    }
    // With other devices of the process, a collective may come after all earlier uses. Later uses need an order.
    let several = |first: &str, second: &str| {
        format!(
            "s9@1: A[0..1] by t1[-9..-8]
             s1: {first}[1000..1010] by t1[0..5] | s2: {second}[1000..1010] by t1[100..105]"
        )
    };
    finds("data-race", &several(reduce, "memcpy(64,9000,5000)"));
    is_fine(&several("memcpy(64,9000,5000)", reduce));
}

#[test]
fn a_reduction_changes_the_memory_that_it_adds_to() {
    let after = |second: &str| {
        format!(
            "s1: aclrtReduceAsync(64,1000,5000)[1000..1010] by t1[0..5] | s2: {second}[1000..1010] by t1[100..105]"
        )
    };
    finds("data-race", &after("memcpy(64,9000,1000)"));
    finds("data-race", &after("memset(64,5000,0)"));
    is_fine(&after("memcpy(64,9000,5000)"));
    is_fine(&after("memcpy(64,9000,1064)"));
}

/// Memory of 64 bytes at 1000 and at 2000; the first half of one is filled. Then a copy to the host, of all of the memory at an
/// address.
fn half_written_then_read(between: &str, address: u64) -> String {
    format!(
        "t1: aclrtMalloc(64,1000)[-20..-10] aclrtMalloc(64,2000)[-9..-8]
         s1: memset(32,1000,0)[1000..1010] by t1[0..5]
         {between}
         s1: aclrtMemcpy2dAsync(64,9000,64,{address},64,1,2)[5000..5010] by t1[100..105]"
    )
}

#[test]
fn a_copy_to_the_host_of_more_than_was_written_is_found() {
    let found = found(&half_written_then_read("", 1000));
    let [only] = &found[..] else {
        panic!("{found:#?}");
    };
    let said = "aclrtMemcpy2dAsync on stream 1 copies memory to the host, and nothing had written 32 B of it";
    assert!(
        only.check == "unwritten-read" && only.what.starts_with(said),
        "{found:#?}"
    );
    // The call that wrote too little is the other one.
    let other = only.other.as_ref().map(|it| it.name.as_str());
    assert_eq!(other, Some("aclrtMemsetAsync"), "{found:#?}");
    for (between, address, is_found) in [
        // The rest is written, also in another way, or not quite.
        (
            "s1: memset(32,1032,0)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
        (
            "s1: memset(31,1032,0)[1010..1020] by t1[10..15]",
            1000,
            true,
        ),
        (
            "s1: memcpy(40,1024,7000)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
        (
            "s1: aclrtMemcpy2dAsync(16,1032,16,7000,32,2)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
        // A copy takes it along; of memory that nothing has written, nothing is said.
        (
            "s1: memcpy(64,2000,1000)[1010..1020] by t1[10..15]",
            2000,
            true,
        ),
        (
            "s1: memcpy(64,2000,7000)[1010..1020] by t1[10..15]",
            2000,
            false,
        ),
        ("", 2000, false),
        // Other tasks may write it, before or after they were submitted in a graph.
        ("s1: Add[1010..1020] by t1[10..15]", 1000, false),
        ("s2: HcclAllReduce[1010..1020] by t1[10..15]", 1000, false),
        ("s1: graph[1010..1020] by t1[10..15]", 1000, false),
        // The same memory from another allocation.
        (
            "t1: aclrtFree(1000)[50..60] aclrtMalloc(64,1000)[61..62]",
            1000,
            false,
        ),
        // A task of another thread may write it before the notify.
        (
            "s1: aclrtWaitAndResetNotify(7)[1010..1020] by t1[10..15]",
            1000,
            false,
        ),
    ] {
        let found = super::found(&half_written_then_read(between, address));
        let is_here = found.iter().any(|it| it.check == "unwritten-read");
        assert_eq!(is_here, is_found, "{between}: {found:#?}");
    }
    // A kernel of before the allocation cannot write it.
    let text = half_written_then_read("", 1000);
    finds(
        "unwritten-read",
        &format!("s1: Add[-200..-190] by t1[-300..-290] | {text}"),
    );
    // A copy within the device.
    is_fine(&text.replace("64,1,2)", "64,1,3)"));
}
