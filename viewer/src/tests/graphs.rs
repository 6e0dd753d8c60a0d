//! Captures, their nodes and their replays.

use super::harness::{LARGE, Player};

/// A graph of two streams that is replayed twice, and a capture that fails.
const GRAPHS: &str = "
t1: capture(s1)[0..10us] of g1 end(s1)[70us..80us] of g1
t1: capture(s1)[600us..610us] of g2 end(s1)[700us..710us] of g2=107025
s1: Add[captured] by t1[20us..21us] of g1 rec(E)[captured] by t1[30us..31us] of g1
s2: wait(E)[captured] by t1[32us..33us] of g1 Mul[captured] by t1[40us..41us] of g1 rec(F)[captured] by t1[50us..51us] of g1
s1: wait(F)[captured] by t1[52us..53us] of g1
s1: graph[200us..300us] by t1[100us..101us] of g1 graph[300us..500us] by t1[102us..103us] of g1
s1: rec(G)[captured] by t1[620us..621us] of g2
s2: wait(G)[captured] by t1[630us..631us] of g2 Sub[captured] by t1[640us..641us] of g2
";

fn screen(script: &str) -> String {
    let mut player = Player::new(GRAPHS, LARGE);
    player.play(script);
    player.picture()
}

#[test]
fn captures_lie_on_the_lane_of_the_host_and_replays_have_numbers() {
    let screen = screen("");
    assert!(screen.contains("graph 1 replay 2"), "{screen}");
    assert!(screen.contains("┈ FAILED ┈"), "{screen}");
    assert!(screen.contains('┈'), "{screen}");
}

#[test]
fn a_selected_replay_lists_the_nodes_of_its_graph() {
    let screen = screen("/ Execute enter");
    assert!(screen.contains("replay 1 of graph 1"), "{screen}");
    assert!(
        screen.contains("6 nodes on streams 1 2, 2 replays"),
        "{screen}"
    );
    assert!(screen.contains("4 Mul (stream 2 after 3)"), "{screen}");
}

#[test]
fn the_end_of_a_failed_capture_says_why() {
    let screen = screen("/ CaptureEnd enter > enter");
    assert!(screen.contains("graph 2  failed with 107025"), "{screen}");
    assert!(
        screen.contains("stream 2 joined the capture and did not come back"),
        "{screen}"
    );
}
