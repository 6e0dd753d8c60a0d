//! Collectives that some ranks have not joined.

use ascend_trace_format::api::ArgPart;
use ascend_trace_recording::{Call, StreamId, ThreadId};

use super::super::queues::PendingTask;
use super::super::ranks::{CommKey, PeerState, Rank, makes};
use super::super::report::{Culprit, RootKind, Subject};
use super::Follow;

/// Ranks that a sentence names.
const NAMED: usize = 8;

impl Follow<'_> {
    /// A stream has reached a collective.
    pub(super) fn collective(
        &mut self,
        stream: StreamId,
        entry: &PendingTask,
        (comm, number): (CommKey, u64),
    ) -> Culprit {
        let name = self.words.stream(stream);
        let about = self.about_entry(stream, entry);
        let (own, size) = self.state.ranks.size(comm).unzip();
        let of = match (own, size) {
            (Some(own), Some(size)) => format!(" as rank {own} of {size}"),
            _ => String::new(),
        };
        let what = format!(
            "{name} has reached {}, collective {number} of its communicator{of}",
            entry.name
        );
        self.link(about.clone(), what);
        let others = self.state.ranks.others(comm, number);
        let behind = |it: &&Rank| it.peer.as_ref().is_some_and(|peer| peer.count < number);
        if let Some(Rank {
            rank,
            peer: Some(peer),
        }) = others.iter().find(behind)
        {
            return self.rank_behind(*rank, peer, (entry, number));
        }
        let place = |it: &Rank| it.peer.as_ref().and_then(|peer| peer.place);
        let held = others
            .iter()
            .find_map(|it| Some((it.rank, place(it).filter(|at| !self.progress.is_at(*at))?)));
        if let Some((rank, place)) = held {
            self.ranked = Some(self.path.len());
            return self.behind(place, &format!("that of rank {rank}"));
        }
        let absent = others.iter().filter(|it| it.peer.is_none());
        let absent: Vec<u64> = absent.map(|it| it.rank).collect();
        self.ranks_unknown(about, entry, &absent, size.is_none())
    }

    /// A rank has submitted fewer collectives.
    fn rank_behind(
        &mut self,
        rank: u64,
        peer: &PeerState,
        (entry, number): (&PendingTask, u64),
    ) -> Culprit {
        let last = match &peer.last {
            Some(last) => format!(
                "its last is {}, number {}, {} ago",
                last.name,
                peer.count,
                self.words.ago(last.begin)
            ),
            None => "it has submitted none".to_owned(),
        };
        let what = format!("rank {rank} has not submitted collective {number}: {last}");
        let subject = self.words.about_thread(peer.thread);
        let gone = self.words.gone(peer.process);
        let host = self.state.hosts.get(peer.thread);
        let is_blocked = host.is_some_and(|it| it.is_blocked(self.trace));
        if is_blocked && gone.is_none() {
            self.link(subject, what);
            self.ranked = Some(self.path.len());
            return self.thread(peer.thread);
        }
        let (what, advice) = match gone {
            Some(end) => (
                format!("{what}; its process ended {} ago", self.words.ago(end)),
                "look at why the process of this rank ended".to_owned(),
            ),
            None => (what, self.doing(peer.thread)),
        };
        Culprit {
            rank: Some(rank),
            since_ns: Some(entry.begin),
            ..self.culprit((RootKind::Rank, gone.is_some()), subject, what, advice)
        }
    }

    /// The recording does not have the ranks that may be late.
    fn ranks_unknown(
        &self,
        about: Subject,
        entry: &PendingTask,
        absent: &[u64],
        no_size: bool,
    ) -> Culprit {
        let since_ns = Some(entry.begin);
        if absent.is_empty() && !no_size {
            let what = format!("{} runs on all ranks and has not ended", entry.name);
            let advice = "look at the link between the devices".to_owned();
            return Culprit {
                since_ns,
                ..self.culprit((RootKind::Running, false), about, what, advice)
            };
        }
        let what = match no_size {
            true => "the recording does not say which ranks take part".to_owned(),
            false => format!("the recording does not have {}", ranks(absent)),
        };
        let advice = "record all ranks into one file, or look at the recordings of the other ranks";
        Culprit {
            rank: absent.first().copied().filter(|_| absent.len() == 1),
            since_ns,
            ..self.culprit((RootKind::Rank, false), about, what, advice.to_owned())
        }
    }

    /// A thread is in the call that makes a communicator, which waits for all ranks. Nothing for another call.
    pub(super) fn joining(&mut self, thread: ThreadId, call: &Call) -> Option<Culprit> {
        let function = self.trace.function(call.function);
        makes(function)?;
        let word = |call: &Call, part: ArgPart| {
            let function = self.trace.function(call.function);
            let value = self.trace.args(call).get(function.part(part)?);
            value.copied()
        };
        let size = word(call, ArgPart::Ranks)?;
        let hosts = &self.state.hosts;
        let open = hosts.threads().into_iter().filter_map(|it| hosts.get(it));
        let open = open.flat_map(|it| &it.open).map(|it| &it.call);
        let waiting = open.filter(|it| {
            makes(self.trace.function(it.function)).is_some()
                && word(it, ArgPart::Ranks) == Some(size)
        });
        let come: Vec<u64> = waiting.filter_map(|it| word(it, ArgPart::Rank)).collect();
        let absent = (0..size.min(65_536)).filter(|rank| !come.contains(rank));
        let absent: Vec<u64> = absent.collect();
        let name = self.words.function(call);
        let what = format!(
            "{name} waits for all {size} ranks; {} did not call it, as far as the recording shows",
            ranks(&absent)
        );
        let advice =
            "look at the processes of these ranks: they may have failed, or have other settings";
        Some(Culprit {
            rank: absent.first().copied().filter(|_| absent.len() == 1),
            since_ns: Some(call.begin),
            ..self.culprit(
                (RootKind::Rank, false),
                self.words.about_thread(thread),
                what,
                advice.to_owned(),
            )
        })
    }
}

/// `rank 3`, `ranks 1, 3 and 5 more`.
fn ranks(ranks: &[u64]) -> String {
    let noun = if ranks.len() == 1 { "rank" } else { "ranks" };
    let named: Vec<String> = ranks.iter().take(NAMED).map(u64::to_string).collect();
    let more = match ranks.len().saturating_sub(NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    format!("{noun} {}{more}", named.join(", "))
}
