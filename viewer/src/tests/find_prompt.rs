//! The find prompt.

use super::harness::{PIPELINE, Player, SMALL};

fn found(question: &str) -> String {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("/");
    for letter in question.chars() {
        let word = match letter {
            ' ' => "space".to_owned(),
            letter => letter.to_string(),
        };
        player.play(&word);
    }
    player.play("enter");
    format!(
        "{}: {}",
        player.selected(),
        player.app.message.clone().unwrap_or_default()
    )
}

#[test]
fn matches_are_counted() {
    assert_eq!(found("matmul"), "task MatMul at 481000: 1 of 2");
}

#[test]
fn regular_expressions_arguments_lengths_and_failures_are_found() {
    assert_eq!(found("/^(soft|layer)/"), "task Softmax at 1101000: 1 of 2");
    assert_eq!(found("matmul <500us"), "task MatMul at 1281000: 1 of 1");
    assert_eq!(found("!"), "call Free at 1620000: 1 of 1");
    assert_eq!(
        found("memcpy count=1048576"),
        "task MemcpyAsync at 1905000: 1 of 1"
    );
}

#[test]
fn an_invalid_query_is_refused() {
    assert!(found("/(/").contains("/(/ is not a regular expression"));
    assert!(found(">fast").contains("“fast” is not a duration"));
}

#[test]
fn the_last_query_comes_back_and_can_be_changed() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("/ matmul enter / up backspace");
    assert!(player.picture().contains("/matmu▏"));
    player.play("enter");
    assert_eq!(player.app.message.as_deref(), Some("2 of 2"));
}
