//! A configuration: keys, and layouts that are shown and kept.

use crate::config::Config;
use crate::keymap;

use super::harness::{LARGE, OutputLines, PIPELINE, Player};
use super::scene::scene;

#[track_caller]
fn configured(mut player: Player, text: &str) -> Player {
    player.log = Some(OutputLines(vec!["a line".to_owned()]));
    player.app.config = Config::parse(text).expect("it is right");
    player.begin();
    player
}

/// The names of the lanes from top to bottom.
fn lanes(player: &Player) -> Vec<String> {
    let rows = player.app.camera.rows.iter().filter_map(|row| row.track());
    rows.map(|key| crate::display_names::lane(&player.trace, key))
        .collect()
}

#[test]
fn keys_run_their_bound_actions_and_the_screen_shows_them() {
    let text = "[keys]\nj = \"next stall\"\nctrl-x = \"every action by name\"\ni = \"none\"\nx = \"layout few\"\n[layouts.few]\nfilter = \"stream\"\n";
    let mut player = configured(Player::new(PIPELINE, LARGE), text);
    assert!(!player.line_with("q quit").contains("i stalls"));
    player.play("j");
    let mut usual = Player::new(PIPELINE, LARGE);
    usual.play("n");
    assert_eq!(player.selected(), usual.selected());
    player.play("i");
    assert!(player.app.panels.list.is_none(), "it is bound to nothing");
    player.play("ctrl-x s t a l l");
    assert!(
        player.line_with("next stall").contains(" j n "),
        "{}",
        player.picture()
    );
    player.play("esc ?");
    let picture = player.picture();
    assert!(
        picture.contains("Changed by the configuration"),
        "{picture}"
    );
    assert!(player.line_with("ctrl-x").contains("every action by name"));
    player.play("esc x");
    assert!(lanes(&player).iter().all(|it| it.contains("stream")));
}

#[test]
fn a_layout_selects_lanes_their_order_and_panels() {
    let text = "
layout = \"mine\"
[layouts.mine]
output = true
details = \"large\"
arrows = \"selection\"
hide = [\"tracer overhead\", \"losses\", \"nodes\", \"thread * t2\"]
pin = [\"stream 3\"]
order = [\"device 1\", \"stream 5\", \"stream 2\"]
";
    let player = configured(Player::of(scene(), LARGE), text);
    assert_eq!(
        lanes(&player),
        [
            "device 0 stream 3",
            "device 1 stream 4",
            "device 0 stream 5",
            "device 0 stream 2",
            "device 0 stream 0 default",
            "device 0 stream 1",
            "device 0 stream 6",
            "callbacks of device 0 stream 6",
            "device 0 HCCL 0x4d on stream 6",
            "ranges of thread 1001 t1",
            "ranges of thread 1001 t1",
            "thread 1001 t1",
        ]
    );
    assert!(
        player.app.panels.log_open
            && player.app.panels.large_detail
            && !player.app.camera.all_arrows
    );
    assert!(player.app.message.is_none(), "{:?}", player.app.message);
}

#[test]
fn a_layout_folds_devices_and_threads() {
    let text = "layout = \"a\"\n[layouts.a]\nfold = [\"device 0\", \"threads\"]\n";
    let player = configured(Player::of(scene(), LARGE), text);
    let picture = player.picture();
    assert!(
        picture.contains("▸device 0") && picture.contains("▸threads"),
        "{picture}"
    );
    assert!(!picture.contains("▸device 1"), "{picture}");
}

#[test]
fn changes_of_the_user_apply_after_the_layout() {
    let text = "layout = \"a\"\n[layouts.a]\nhide = [\"stream 1\"]\nfold = [\"threads\"]\n";
    let mut player = configured(Player::of(scene(), LARGE), text);
    assert!(!lanes(&player).contains(&"device 0 stream 1".to_owned()));
    player.play("X C");
    assert!(lanes(&player).contains(&"device 0 stream 1".to_owned()));
    // More of the recording comes.
    player.data();
    assert!(lanes(&player).contains(&"device 0 stream 1".to_owned()));
    assert!(lanes(&player).contains(&"thread 1001 t1".to_owned()));
}

#[test]
fn lanes_that_come_later_are_arranged_as_well() {
    let text = "layout = \"a\"\n[layouts.a]\nhide = [\"stream 2\"]\npin = [\"stream 3\"]\n";
    let mut player = configured(Player::new("s1: A[0us..5us]", LARGE), text);
    player.trace =
        ascend_trace_testkit::timeline("s1: A[0us..5us]\ns2: B[6us..7us]\ns3: C[8us..9us]");
    player.data();
    let lanes = lanes(&player);
    assert_eq!(
        lanes[..2],
        ["device 0 stream 3", "device 0 stream 1"],
        "{lanes:?}"
    );
    assert!(!lanes.contains(&"device 0 stream 2".to_owned()));
}

#[test]
fn a_layout_can_be_kept_and_shown_again() {
    let mut player = configured(Player::of(scene(), LARGE), "");
    player.play("o r / gelu enter x / add enter v / softmax enter");
    let arranged = lanes(&player);
    player.play("V m i n e enter");
    let (name, text) = player.saved_layout().expect("something to keep");
    assert_eq!(name, "mine");
    assert!(text.starts_with("\n[layouts.\"mine\"]\n"), "{text}");
    // In the same view by its name.
    player.play("esc X o r : l a y o u t space m i n e enter");
    assert_eq!(lanes(&player), arranged);
    assert!(player.app.panels.log_open && !player.app.camera.all_arrows);
    // In another one from the file.
    let mut again = configured(
        Player::of(scene(), LARGE),
        &format!("layout = \"mine\"\n{text}"),
    );
    assert_eq!(lanes(&again), arranged);
    assert!(again.app.panels.log_open && !again.app.camera.all_arrows);
    again.play("V m i n e enter");
    assert!(again.picture().contains("there is a layout “mine”"));
    assert!(again.saved_layout().is_none());
}

#[test]
fn a_layout_that_is_kept_has_no_numbers_of_threads_and_processes() {
    let mut player = configured(Player::of(scene(), LARGE), "");
    let hide = |player: &mut Player, name: &str| {
        let rows = player.app.camera.rows.iter().filter_map(|row| row.track());
        let mut rows =
            rows.filter(|key| crate::display_names::lane(&player.trace, *key).starts_with(name));
        player.app.camera.lane = rows.next();
        player.play("x");
    };
    for name in ["tracer overhead", "losses", "thread 1002"] {
        hide(&mut player, name);
    }
    player.play("V a enter");
    let (_, text) = player.saved_layout().expect("something to keep");
    assert!(
        text.contains("hide = [\"thread * t2\", \"tracer overhead\", \"losses\"]"),
        "{text}"
    );
}

#[test]
fn a_layout_that_cannot_be_saved_is_dropped_and_says_why() {
    let mut player = configured(Player::of(scene(), LARGE), "");
    player.play("V a enter");
    let (name, _) = player.saved_layout().expect("something to keep");
    crate::update::on_layout_saved(&mut player.app, &name, Err("no room".to_owned()));
    assert!(player.picture().contains("the layout is not kept: no room"));
    assert!(player.app.config.layouts.is_empty());
    crate::update::on_layout_saved(&mut player.app, &name, Ok("config.toml".to_owned()));
    assert!(player.picture().contains("kept in config.toml"));
}

#[test]
fn the_manual_has_every_action_by_its_name() {
    let manual = include_str!("../../../docs/VIEWER.md");
    for (action, name) in crate::action::COMMANDS {
        assert!(manual.contains(&format!("`{name}`")), "{name}");
        let keys = keymap::keys_of(*action);
        let row = manual
            .lines()
            .find(|line| line.starts_with(&format!("| `{name}` |")));
        let row = row.unwrap_or_else(|| panic!("no row of {name}"));
        for key in keys {
            let key = if key == "`" {
                "`` ` ``".to_owned()
            } else {
                format!("`{key}`")
            };
            assert!(row.contains(&key), "{name}: {key}");
        }
    }
}

/// The example of the manual is a configuration.
#[test]
fn the_manual_shows_a_configuration_that_is_right() {
    let manual = include_str!("../../../docs/VIEWER.md");
    let blocks = manual.split("```toml\n").skip(1);
    let examples: Vec<&str> = blocks.filter_map(|rest| rest.split("```").next()).collect();
    assert!(!examples.is_empty());
    for example in examples {
        let config = Config::parse(example).unwrap_or_else(|error| panic!("{error}\n{example}"));
        assert!(config.first.is_some() && !config.layouts.is_empty());
    }
}
