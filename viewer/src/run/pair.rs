//! The loop of a view of two recordings.

use std::time::{Duration, Instant};

use crate::action::{SourceRequest, ViewRequest};
use crate::app::ViewData;
use crate::event::InputEvent;
use crate::pair::{PairData, TraceComparer, ViewPair, areas, view};
use crate::source::TraceSource;
use crate::term;
use crate::theme::TerminalBackground;
use crate::view::details;

use super::{
    DrawnState, EventHandler, TICK, TerminalNews, ViewError, ViewOptions, ViewOutcome, begin,
    carry_out, clock, handle_events, is_busy, is_due, keep_picture, order, poll, still,
    take_terminal, tick, world,
};

/// The sources of both halves, the upper one first.
type PairSources<'s> = [&'s mut dyn TraceSource; 2];

/// Shows two recordings, one above the other, until the user leaves. The options are those of each half.
///
/// # Errors
/// When the terminal cannot be used. A source that fails does not end the view.
pub fn run_pair(
    mut sources: PairSources<'_>,
    comparer: &mut dyn TraceComparer,
    options: [ViewOptions; 2],
) -> Result<ViewOutcome, ViewError> {
    let (mut guard, theme) = take_terminal(&options[0])?;
    let size = term::size()?;
    let [upper, lower] = areas(size).map(|area| (area.width, area.height));
    let [one, other] = options;
    let halves = [
        begin(&*sources[0], one, theme, upper),
        begin(&*sources[1], other, theme, lower),
    ];
    let mut pair = ViewPair::new(halves, size);
    let begun = Instant::now();
    let mut polled = [None; 2];
    let mut seen = DrawnState::default();
    loop {
        for ((app, source), polled) in pair.halves.iter_mut().zip(&mut sources).zip(&mut polled) {
            if is_due(app, *source, *polled) {
                clock(app, *source, begun.elapsed());
                seen.data(poll(app, *source));
                *polled = Some(Instant::now());
            }
        }
        while let Some(compared) = comparer.news() {
            pair.on_comparison(compared);
            seen.input();
        }
        pair.settle();
        for (app, source) in pair.halves.iter().zip(&mut sources) {
            source.look_at(app.camera.viewport.range());
        }
        let drawn = match seen.take(pair.halves.iter().any(is_busy)) {
            true => guard.draw(|buffer| {
                let size = (buffer.area.width, buffer.area.height);
                if size != pair.size {
                    pair.update(worlds(&sources), InputEvent::Resize(size.0, size.1));
                }
                view(&pair, worlds(&sources), buffer);
            }),
            false => Ok(()),
        };
        if let Some(signal) = guard.end_signal() {
            return Ok(ViewOutcome::Signal(signal));
        }
        drawn?;
        if guard.suspend_signal() {
            guard.suspend()?;
            seen.input();
            continue;
        }
        let wait = wait(&pair, &sources);
        let mut stage = PairView {
            pair: &mut pair,
            worlds: worlds(&sources),
        };
        match handle_events(&mut stage, &mut guard, (begun, wait))? {
            TerminalNews::End(outcome) => return Ok(outcome),
            TerminalNews::Request(request) => {
                seen.input();
                carry_out_in_pair(&mut pair, &mut sources, request);
            }
            TerminalNews::Something => seen.input(),
            TerminalNews::Nothing => {}
        }
        for (app, source) in pair.halves.iter_mut().zip(&mut sources) {
            order(app, *source);
        }
    }
}

/// Lets the source with the focus carry out a request. A picture shows both.
fn carry_out_in_pair(pair: &mut ViewPair, sources: &mut PairSources<'_>, request: SourceRequest) {
    let focus = pair.focus;
    match request {
        SourceRequest::SavePicture { path } => {
            let picture = still::of_pair(pair, worlds(sources));
            let app = &mut pair.halves[focus];
            keep_picture(app, &mut *sources[focus], (&path, &picture));
        }
        request => carry_out(&mut pair.halves[focus], &mut *sources[focus], request),
    }
}

fn worlds<'w>(sources: &'w PairSources<'_>) -> PairData<'w> {
    let of = |source: &'w dyn TraceSource| -> ViewData<'w> { world(source) };
    [of(&*sources[0]), of(&*sources[1])]
}

/// The longest time between two polls of either source, or of the comparison.
fn wait(pair: &ViewPair, sources: &PairSources<'_>) -> Option<Duration> {
    let halves = pair.halves.iter().zip(sources);
    let ticks = halves.filter_map(|(app, source)| tick(app, &**source));
    let compares = pair.is_comparing().then_some(TICK);
    ticks.chain(compares).min()
}

/// A view of two recordings.
struct PairView<'a> {
    pair: &'a mut ViewPair,
    worlds: PairData<'a>,
}

impl EventHandler for PairView<'_> {
    fn update(&mut self, event: InputEvent) -> Vec<ViewRequest> {
        self.pair.update(self.worlds, event)
    }

    fn stand_on(&mut self, ground: TerminalBackground) {
        for half in &mut self.pair.halves {
            half.theme = half.theme.on(ground);
        }
    }

    fn details(&self) -> String {
        let focus = self.pair.focus;
        details(&self.pair.halves[focus], self.worlds[focus])
    }
}
