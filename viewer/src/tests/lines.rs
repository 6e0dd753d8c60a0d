//! Lines below streams and threads: nodes of graphs, collectives, callbacks, ranges.

use crossterm::event::{MouseButton, MouseEventKind};

use super::harness::{LARGE, Player, SMALL};

/// A graph of two nodes that is replayed twice; a kernel between.
const GRAPH: &str = "
t1: capture(s1)[0..10us] of g1 end(s1)[70us..80us] of g1
s1: Add[captured] by t1[20us..21us] of g1 Mul[captured] by t1[40us..41us] of g1
s1: graph[200us..300us] by t1[100us..101us] of g1 Sub[300us..320us] by t1[101us..102us]
s1: graph[320us..500us] by t1[102us..103us] of g1
";

/// Rank 3 of 8 and two streams; a callback.
const COLLECTIVES: &str = "
t1: HcclCommInitRootInfo(8,3,77)[0..1us]
s1: HcclBroadcast(77,1024,4,5)[10us..60us] MatMul[60us..100us] HcclAllReduce(77,64)[110us..190us]
s2: hostfunc[20us..50us] Add[50us..90us]
";

#[test]
fn nodes_lie_below_their_replays_in_their_order() {
    let player = Player::new(GRAPH, LARGE);
    let (x, y) = player.place_of("└ nodes");
    let line = player
        .picture()
        .lines()
        .nth(usize::from(y))
        .map(str::to_owned);
    let line = line.expect("a line");
    assert!(
        x < 10 && line.contains("1 Add") && line.contains("2 Mul"),
        "{line}"
    );
    let (_, stream) = player.place_of("graph 1 replay 1");
    assert!(stream < y);
}

#[test]
fn nodes_are_walked_from_replay_to_replay() {
    let mut player = Player::new(GRAPH, LARGE);
    player.play("down right left");
    assert_eq!(player.selected(), "node 1 Add at 200000");
    let mut seen = Vec::new();
    for _ in 0..3 {
        player.play("right");
        seen.push(player.selected());
    }
    let expected = [
        "node 2 Mul at 250000",
        "node 1 Add at 320000",
        "node 2 Mul at 410000",
    ];
    assert_eq!(seen, expected);
    player.play("left left left");
    assert_eq!(player.selected(), "node 1 Add at 200000");
    let details = player.picture();
    assert!(details.contains("node 1 of graph 1 replay 1"), "{details}");
    assert!(details.contains("its nodes have no times"), "{details}");
    // From a node to its replay, and to the task that was captured.
    player.play("[");
    assert!(
        player.selected().starts_with("task"),
        "{}",
        player.selected()
    );
    player.play("tab");
    assert_eq!(player.selected(), "task Add at 20000");
}

#[test]
fn a_click_on_a_node_selects_it() {
    let mut player = Player::new(GRAPH, LARGE);
    let (x, y) = player.place_of("2 Mul");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x + 1, y);
    assert!(
        player.selected().starts_with("node 2 Mul"),
        "{}",
        player.selected()
    );
}

#[test]
fn nodes_that_share_cells_are_drawn_as_dots() {
    let nodes: String = (0..40)
        .map(|n| format!("A[captured] by t1[{}us..{}us] of g1 ", 20 + n, 21 + n))
        .collect();
    let text = format!(
        "t1: capture(s1)[0..10us] of g1 end(s1)[70us..80us] of g1
         s1: {nodes} graph[200us..300us] by t1[100us..101us] of g1 B[4000us..5000us]"
    );
    let line = Player::new(&text, SMALL).line_with("└ nodes");
    assert!(line.contains('⣀') && !line.contains("A"), "{line}");
}

#[test]
fn collectives_have_a_line_for_their_communicator() {
    let mut player = Player::new(COLLECTIVES, LARGE);
    let line = player.line_with("HCCL 004d rank 3/8");
    assert!(
        line.contains("Broadcast") && line.contains("AllReduce"),
        "{line}"
    );
    assert!(!line.contains("MatMul"), "{line}");
    // Walked along in their own line.
    player.play("down down down");
    assert!(player.line_with("HCCL 004d").starts_with('▶'));
    player.play("right");
    let first = player.selected();
    player.play("left left");
    assert_eq!(player.selected(), "task Broadcast at 10000");
    player.play("right");
    assert_eq!(
        player.selected(),
        "task AllReduce at 110000",
        "after {first}"
    );
    assert!(player.line_with("HCCL 004d").starts_with('▶'));
}

#[test]
fn a_collective_shows_its_communicator_and_its_bytes() {
    let mut player = Player::new(COLLECTIVES, SMALL);
    player.play("/ Broadcast enter enter");
    let line = player.line_with("HCCL 0x4d  rank 3 of 8");
    assert!(line.contains("4 KiB (1024 FP32)"), "{line}");
    // A broadcast moves its size over the links of a rank.
    let line = player.line_with("algorithm ≥ ");
    assert!(
        line.contains("algorithm ≥ 81.9 MB/s, bus ≥ 81.9 MB/s"),
        "{line}"
    );
    assert!(player.picture().contains("root 5"));
}

#[test]
fn host_functions_have_a_separate_line() {
    let mut player = Player::new(COLLECTIVES, LARGE);
    let line = player.line_with("└ callbacks");
    assert!(!line.contains("Add"), "{line}");
    let (_, y) = player.place_of("└ callbacks");
    let (x, _) = player.place_of("LaunchHostFunc");
    player.mouse(MouseEventKind::Down(MouseButton::Left), x, y);
    assert!(
        player.selected().contains("at 20000"),
        "{}",
        player.selected()
    );
    assert!(player.line_with("└ callbacks").starts_with('▶'));
}

#[test]
fn lines_of_a_stream_are_hidden_and_folded_with_it() {
    let mut player = Player::new(COLLECTIVES, LARGE);
    player.play("down x");
    assert!(!player.picture().contains("callbacks"));
    player.play("X");
    assert!(player.picture().contains("callbacks"));
    player.play("c");
    let picture = player.picture();
    assert!(
        !picture.contains("HCCL") && picture.contains("2 streams"),
        "{picture}"
    );
    // To look at one of them takes it apart again.
    player.play("/ Broadcast enter");
    assert!(player.picture().contains("HCCL"));
}

#[test]
fn each_of_these_lines_can_be_pinned_and_found_by_name() {
    let mut player = Player::new(COLLECTIVES, LARGE);
    player.play("\\ hccl enter");
    let picture = player.picture();
    assert!(
        picture.contains("HCCL 004d") && !picture.contains("callbacks"),
        "{picture}"
    );
    player.play("v X");
    let (_, pinned) = player.place_of("HCCL 004d");
    let (_, device) = player.place_of("device 0");
    assert!(pinned < device);
}
