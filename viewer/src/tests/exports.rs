//! Exports from the view, as far as the state goes: the source writes them.

use std::time::Duration;

use super::harness::{LARGE, PIPELINE, Player, SMALL};
use crate::event::InputEvent;
use crate::job::{ExportJob, Job, JobKind, JobNews, JobProgress, JobRequest};

/// The export that the source is to begin.
fn begun(player: &mut Player) -> ExportJob {
    let orders = player.app.jobs.take_orders();
    match orders.into_iter().next() {
        Some(JobRequest::Start(Job::Export(export))) => export,
        other => panic!("no export: {other:?}"),
    }
}

#[test]
fn an_export_is_named_followed_and_over() {
    for size in [SMALL, LARGE] {
        let mut player = Player::new(PIPELINE, size);
        player.play("W e");
        let prompt = player.line_with("export what is on screen to: train.json");
        assert!(prompt.contains("Chrome") || size == SMALL, "{prompt}");
        player.play(". g z enter");
        let range = player.app.camera.viewport.range();
        let export = begun(&mut player);
        assert_eq!(
            (export.path.as_str(), export.range),
            ("train.json.gz", Some(range))
        );
        assert!(
            player
                .line_with("writing train.json.gz")
                .contains("esc: stop")
        );
        player.event(InputEvent::Clock(Duration::from_secs(10)));
        player.on_job_news(JobNews::Reached(export.number, JobProgress::Part(1, 4)));
        player.line_with("writing train.json.gz: 25 %, 30.0 s left");
        // One at a time; the visible range may change meanwhile.
        player.play("E");
        assert!(player.line_with("another export").contains("esc stops it"));
        player.play("a");
        assert!(player.app.jobs.take_orders().is_empty());
        player.on_job_news(JobNews::Done(
            export.number,
            "wrote train.json.gz".to_owned(),
        ));
        player.line_with("wrote train.json.gz");
        assert!(player.app.jobs.of(JobKind::Export).is_none());
    }
}

#[test]
fn an_export_of_everything_does_not_depend_on_the_screen_and_esc_stops_it() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("W E enter");
    let export = begun(&mut player);
    assert_eq!((export.path.as_str(), export.range), ("train.json", None));
    player.play("esc");
    let orders = player.app.jobs.take_orders();
    assert!(
        matches!(orders[..], [JobRequest::Stop(number)] if number == export.number),
        "{orders:?}"
    );
    player.on_job_news(JobNews::Failed(export.number, "stopped".to_owned()));
    player.line_with("stopped");
    // Esc has its other meanings again.
    player.play("n esc");
    assert_eq!(player.selected(), "nothing");
}

#[test]
fn a_name_that_is_taken_back_exports_nothing() {
    let mut player = Player::new(PIPELINE, SMALL);
    player.play("e esc");
    assert!(player.app.jobs.take_orders().is_empty() && !player.app.jobs.is_any());
}
