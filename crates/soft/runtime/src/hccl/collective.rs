//! A collective as a task of its stream.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use super::communicator::Communicator;
use super::element::combine;
use super::plan::{CollectivePlan, DataGet, DataParts, Message};
use super::region::{DataWindow, MessageSide, RankPair};
use super::{PARA, REMOTE, TIMEOUT};
use crate::clock::mono;
use crate::code::{Code, Outcome, SUCCESS};
use crate::memory::transfer::transfer_ns;
use crate::process;
use crate::sync::{Mutex, lock};

/// Codes of a stream's synchronisation for a dead peer, and for one that does not join.
const SUSPECT_REMOTE: Code = 507_057;
const TASK_TIMEOUT: Code = 107_020;

/// How often peers that do not come are looked for.
const CHECK_NS: u64 = 50_000_000;
/// Windows with more than this give their memory back at once.
const LARGE: u64 = 16 << 20;

pub(crate) struct Collective {
    /// In the truth log.
    pub(crate) name: &'static str,
    communicator: Arc<Communicator>,
    what: CollectiveWork,
    state: Mutex<CollectiveState>,
}

enum CollectiveWork {
    /// All ranks; the number among the communicator's collectives.
    All { plan: CollectivePlan, number: u64 },
    /// Messages with single ranks, all under way at once; the number of each among its pair's.
    Messages(Vec<(Message, u64)>),
}

#[derive(Default)]
struct CollectiveState {
    has_arrived: bool,
    /// Messages that are over, by place.
    over: Vec<bool>,
    end: u64,
    next_check: u64,
}

/// The engine's next action.
pub(crate) enum NextLook {
    Ends(u64),
    Again,
    Failed(Code),
}

impl Collective {
    /// Takes its turn among the communicator's collectives, in the order of calls.
    pub(crate) fn all(
        name: &'static str,
        communicator: Arc<Communicator>,
        plan: CollectivePlan,
    ) -> Self {
        let number = communicator.submitted.fetch_add(1, Ordering::AcqRel);
        Self::new(name, communicator, CollectiveWork::All { plan, number })
    }

    pub(crate) fn messages(
        name: &'static str,
        communicator: Arc<Communicator>,
        messages: Vec<Message>,
    ) -> Self {
        let mut turns = lock(&communicator.messages);
        let numbered = messages.into_iter().map(|message| {
            let turn = turns.entry(pair(&communicator, &message)).or_default();
            turn.submitted += 1;
            (message, turn.submitted - 1)
        });
        let what = CollectiveWork::Messages(numbered.collect());
        drop(turns);
        Self::new(name, communicator, what)
    }

    fn new(name: &'static str, communicator: Arc<Communicator>, what: CollectiveWork) -> Self {
        Self {
            name,
            communicator,
            what,
            state: Mutex::default(),
        }
    }

    /// Goes as far as it can. `begin` is when its turn in the stream came, which has passed.
    pub(crate) fn look(&self, begin: u64) -> NextLook {
        if self.communicator.error.load(Ordering::Acquire) != SUCCESS {
            return self.fail(self.communicator.async_error());
        }
        let mut state = lock(&self.state);
        let outcome = match &self.what {
            CollectiveWork::All { plan, number } => {
                self.look_at_all(&mut state, plan, *number, begin)
            }
            CollectiveWork::Messages(messages) => {
                self.look_at_messages(&mut state, messages, begin)
            }
        };
        match outcome {
            Ok(Some(end)) => NextLook::Ends(end),
            Ok(None) => self.wait(&mut state, begin),
            Err(failed) => self.fail(failed.code),
        }
    }

    /// Something is missing: is it still to come?
    fn wait(&self, state: &mut CollectiveState, begin: u64) -> NextLook {
        let now = mono();
        if now < state.next_check {
            return NextLook::Again;
        }
        // Peers may leave for good once they have done their part, so they are asked about only after a while.
        let is_first = state.next_check == 0;
        state.next_check = now + CHECK_NS;
        if now.saturating_sub(begin) > self.communicator.patience_ns {
            return self.fail(TIMEOUT);
        }
        if !is_first && self.misses_a_lost_peer(state) {
            return self.fail(REMOTE);
        }
        NextLook::Again
    }

    /// Whether a missing peer has died.
    fn misses_a_lost_peer(&self, state: &CollectiveState) -> bool {
        let communicator = &self.communicator;
        let is_missed = |lost: &usize| match &self.what {
            CollectiveWork::All { number, .. } => {
                communicator.region.arrived(*lost, *number).is_none()
            }
            CollectiveWork::Messages(messages) => {
                let mut left = messages.iter().zip(&state.over).filter(|(_, over)| !**over);
                left.any(|((message, _), _)| message.peer == *lost)
            }
        };
        communicator.lost_peers().any(|lost| is_missed(&lost))
    }

    fn fail(&self, code: Code) -> NextLook {
        self.communicator.error.store(code, Ordering::Release);
        NextLook::Failed(match code {
            TIMEOUT => TASK_TIMEOUT,
            _ => SUSPECT_REMOTE,
        })
    }

    fn look_at_all(
        &self,
        state: &mut CollectiveState,
        plan: &CollectivePlan,
        number: u64,
        begin: u64,
    ) -> Outcome<Option<u64>> {
        let communicator = &self.communicator;
        if communicator.over.load(Ordering::Acquire) != number {
            return Ok(None);
        }
        if !state.has_arrived {
            let window = DataWindow::Rank(communicator.rank, number);
            for part in &plan.shows {
                self.write(window, part)?;
            }
            communicator
                .region
                .arrive(communicator.rank, number, begin, plan.print);
            state.has_arrived = true;
        }
        let mut last = 0;
        for rank in 0..communicator.ranks {
            let Some((begin, print)) = communicator.region.arrived(rank, number) else {
                return Ok(None);
            };
            if print != plan.print {
                return crate::code::fault(PARA, "the ranks ask for different collectives");
            }
            last = last.max(begin);
        }
        for get in &plan.gets {
            self.get(get, number)?;
        }
        let shown: u64 = plan.shows.iter().map(|part| part.bytes).sum();
        if shown > LARGE && number > 0 {
            // All ranks have joined here, so the earlier data have no readers.
            communicator
                .region
                .clear(DataWindow::Rank(communicator.rank, number + 1));
        }
        communicator.over.store(number + 1, Ordering::Release);
        Ok(Some(last + duration_ns(plan.traffic)))
    }

    fn look_at_messages(
        &self,
        state: &mut CollectiveState,
        messages: &[(Message, u64)],
        begin: u64,
    ) -> Outcome<Option<u64>> {
        state.over.resize(messages.len(), false);
        for (place, (message, number)) in messages.iter().enumerate() {
            if !state.over[place]
                && let Some(end) = self.look_at(message, *number, begin)?
            {
                state.over[place] = true;
                state.end = state.end.max(end);
            }
        }
        Ok(state
            .over
            .iter()
            .all(|over| *over)
            .then_some(state.end.max(begin)))
    }

    /// A message has ended for both when both have joined it, and its bytes are transferred.
    fn look_at(&self, message: &Message, number: u64, begin: u64) -> Outcome<Option<u64>> {
        let communicator = &self.communicator;
        let (region, pair) = (&communicator.region, pair(communicator, message));
        let turn = lock(&communicator.messages)
            .get(&pair)
            .map_or(0, |turns| turns.over);
        // A pair has one message under way.
        if turn != number || region.taken(pair) < number {
            return Ok(None);
        }
        let (own, other) = match message.is_sent {
            true => (MessageSide::Sender, MessageSide::Receiver),
            false => (MessageSide::Receiver, MessageSide::Sender),
        };
        if region.arrived_at_pair(pair, own, number).is_none() {
            if message.is_sent {
                self.write(DataWindow::Pair(pair), &message.part())?;
            }
            region.arrive_at_pair(pair, own, number, begin, message.bytes);
        }
        let Some((there, bytes)) = region.arrived_at_pair(pair, other, number) else {
            return Ok(None);
        };
        if bytes != message.bytes {
            return crate::code::fault(PARA, "a message is not as long as its receiver thinks");
        }
        if !message.is_sent {
            self.read(DataWindow::Pair(pair), &message.part())?;
            region.take(pair, number);
        }
        let own_begin = region
            .arrived_at_pair(pair, own, number)
            .map_or(begin, |(begin, _)| begin);
        if let Some(turns) = lock(&communicator.messages).get_mut(&pair) {
            turns.over = number + 1;
        }
        Ok(Some(own_begin.max(there) + duration_ns(bytes)))
    }

    fn get(&self, get: &DataGet, number: u64) -> Outcome {
        match get {
            DataGet::Copy { from, to } => self.read(DataWindow::Rank(*from, number), to),
            DataGet::Combine {
                to,
                element,
                reduction,
            } => {
                let sources = (0..self.communicator.ranks).map(|rank| {
                    let mut bytes = vec![0; to.bytes as usize];
                    self.communicator.region.read(
                        DataWindow::Rank(rank, number),
                        to.offset,
                        &mut bytes,
                    )?;
                    Ok(bytes)
                });
                let sources = sources.collect::<Outcome<Vec<_>>>()?;
                memory(to).copy_from_slice(&combine(*element, *reduction, &sources));
                Ok(())
            }
        }
    }

    fn write(&self, window: DataWindow, part: &DataParts) -> Outcome {
        self.communicator
            .region
            .write(window, part.offset, memory(part))
    }

    fn read(&self, window: DataWindow, part: &DataParts) -> Outcome {
        self.communicator
            .region
            .read(window, part.offset, memory(part))
    }
}

/// The program's bytes.
fn memory(part: &DataParts) -> &'static mut [u8] {
    if part.bytes == 0 {
        return &mut [];
    }
    // SAFETY: the call that submitted the task checked that they are in memory of this library, which
    // stays mapped; the program does not touch them until the task has ended.
    unsafe { std::slice::from_raw_parts_mut(part.address as *mut u8, part.bytes as usize) }
}

impl Message {
    const fn part(&self) -> DataParts {
        DataParts {
            address: self.address,
            bytes: self.bytes,
            offset: 0,
        }
    }
}

fn pair(communicator: &Communicator, message: &Message) -> RankPair {
    match message.is_sent {
        true => RankPair {
            from: communicator.rank,
            to: message.peer,
        },
        false => RankPair {
            from: message.peer,
            to: communicator.rank,
        },
    }
}

fn duration_ns(traffic: u64) -> u64 {
    let options = process::options();
    options
        .hccl_ns
        .saturating_add(transfer_ns(traffic, options.hccl_mbps))
}
