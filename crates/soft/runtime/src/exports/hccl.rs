//! Collective communication, from the view of one rank: communicators, collectives and messages.

use std::cell::RefCell;
use std::ffi::c_char;
use std::sync::Arc;

use super::acl;
use crate::code::{Code, Outcome, SUCCESS, fault};
use crate::engine::task::Work;
use crate::ffi::{In, Out};
use crate::hccl::collective::Collective;
use crate::hccl::{
    self, CollectivePlan, Communicator, Element, Message, PARA, PTR, ROOT_INFO_BYTES, RootInfo,
    found, segment,
};
use crate::memory::{MemoryKind, check_range, place_of};
use crate::stream::access;

/// The fields of `HcclCommConfig` that are read.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct CommConfig {
    size: usize,
    mark: u32,
    version: u32,
    reserved: u64,
    buffer_size: u32,
    deterministic: u32,
    name: [c_char; 128],
}

const CONFIG_MARK: u32 = 0xf0f0_f0f0;
/// `HCCL_COMM_CONFIG_RESERVED` of the imitated release: the number of fields of the configuration.
const CONFIG_CAPABILITIES: u32 = 9;
/// `COMM_NAME_MAX_LENGTH`.
const NAME_BYTES: usize = 128;

/// The name that a configuration gives; none without one.
fn name_of(config: &In<CommConfig>) -> Outcome<Option<String>> {
    let Some(config) = config.optional() else {
        return Ok(None);
    };
    if config.mark != CONFIG_MARK || config.size < size_of::<CommConfig>() {
        return fault(PARA, "the configuration was not initialised");
    }
    let bytes: Vec<u8> = config
        .name
        .iter()
        .take_while(|it| **it != 0)
        .map(|it| *it as u8)
        .collect();
    let name = String::from_utf8_lossy(&bytes).into_owned();
    Ok((!name.is_empty()).then_some(name))
}

fn put(to: &Out<usize>, made: impl FnOnce() -> Outcome<usize>) -> Outcome {
    if to.is_null() {
        return fault(PTR, "an output pointer is NULL");
    }
    to.put(made()?)
}

/// The program's memory, which devices have to reach.
fn checked(address: usize, bytes: u64) -> Outcome {
    if bytes == 0 {
        return Ok(());
    }
    if address == 0 {
        return fault(PTR, "a buffer is NULL");
    }
    let place = place_of(address);
    if place == MemoryKind::Pageable || check_range(address, bytes as usize, place).is_err() {
        return fault(PARA, "a buffer is not in memory of the device");
    }
    Ok(())
}

fn bytes_of(count: u64, element: i32) -> Outcome<u64> {
    let size = Element::of(element)?.size() as u64;
    match count
        .checked_mul(size)
        .filter(|bytes| *bytes <= isize::MAX as u64)
    {
        Some(bytes) => Ok(bytes),
        None => fault(PARA, "the buffer is too large"),
    }
}

/// A rank that the communicator has.
fn known(communicator: &Communicator, rank: u32) -> Outcome<usize> {
    match (rank as usize) < communicator.ranks {
        true => Ok(rank as usize),
        false => fault(PARA, "the communicator has no such rank"),
    }
}

fn submit(
    name: &'static str,
    communicator: &Arc<Communicator>,
    stream: usize,
    plan: CollectivePlan,
) -> Outcome {
    let stream = access::of_context(stream)?;
    if stream.route.is_capturing() {
        return fault(hccl::NOT_SUPPORTED, "collectives cannot be captured");
    }
    let communicator = Arc::clone(communicator);
    let work = |_| Work::Collective(Box::new(Collective::all(name, communicator, plan)));
    stream.submit(work).map(drop)
}

thread_local! {
    /// How deep groups are nested, and the messages of the outermost one.
    static GROUP: RefCell<(u32, Vec<GroupedMessage>)> = const { RefCell::new((0, Vec::new())) };
}

/// A message that waits for the end of its group.
struct GroupedMessage {
    communicator: Arc<Communicator>,
    stream: usize,
    message: Message,
}

fn submit_messages(
    name: &'static str,
    communicator: &Arc<Communicator>,
    stream: usize,
    messages: Vec<Message>,
) -> Outcome {
    let stream = access::of_context(stream)?;
    if stream.route.is_capturing() {
        return fault(hccl::NOT_SUPPORTED, "messages cannot be captured");
    }
    let communicator = Arc::clone(communicator);
    let work = |_| Work::Collective(Box::new(Collective::messages(name, communicator, messages)));
    stream.submit(work).map(drop)
}

/// Sends or receives, at once or with the other messages of the group.
fn message(
    name: &'static str,
    handle: usize,
    stream: usize,
    peer: u32,
    is_sent: bool,
    [address, bytes]: [u64; 2],
) -> Outcome {
    let communicator = found(handle)?;
    let peer = known(&communicator, peer)?;
    checked(address as usize, bytes)?;
    let message = Message {
        peer,
        is_sent,
        address: address as usize,
        bytes,
    };
    let is_grouped = GROUP.with_borrow_mut(|(depth, grouped)| {
        if *depth > 0 {
            grouped.push(GroupedMessage {
                communicator: Arc::clone(&communicator),
                stream,
                message,
            });
        }
        *depth > 0
    });
    if is_grouped {
        return Ok(());
    }
    submit_messages(name, &communicator, stream, vec![message])
}

/// Submits the collected calls of a group, a task per communicator and stream.
fn end_group(mut grouped: Vec<GroupedMessage>) -> Outcome {
    while let Some(first) = grouped.first() {
        let (communicator, stream) = (Arc::clone(&first.communicator), first.stream);
        let belongs = |it: &GroupedMessage| {
            Arc::ptr_eq(&it.communicator, &communicator) && it.stream == stream
        };
        let (own, others): (Vec<_>, Vec<_>) = grouped.into_iter().partition(belongs);
        grouped = others;
        let messages = own.into_iter().map(|it| it.message).collect();
        submit_messages("HcclBatchSendRecv", &communicator, stream, messages)?;
    }
    Ok(())
}

/// `HcclSendRecvItem`.
#[repr(C)]
#[derive(Clone, Copy)]
pub(crate) struct SendRecvItem {
    kind: i32,
    buffer: usize,
    count: u64,
    element: i32,
    peer: u32,
}

fn numbers(values: &In<u64>, ranks: usize) -> Outcome<Vec<u64>> {
    values
        .array(ranks)
        .or_else(|_| fault(PTR, "an array is NULL"))
}

/// A rank's share of the busiest link where everybody sends to everybody.
const fn share(bytes: u64, ranks: usize) -> u64 {
    bytes / ranks as u64 * (ranks as u64 - 1)
}

acl! {
    fn HcclGetRootInfo(info: Out<[u8; ROOT_INFO_BYTES]>) {
        if info.is_null() {
            return fault(PTR, "an output pointer is NULL");
        }
        let made = hccl::root_info()?;
        info.put([0; ROOT_INFO_BYTES])?;
        info.cast::<RootInfo>().put(made)
    }

    fn HcclCommInitRootInfo(ranks: u32, info: In<RootInfo>, rank: u32, made: Out<usize>) {
        let info = info.get().or_else(|_| fault(PTR, "the root info is NULL"))?;
        put(&made, || hccl::by_root_info(info, ranks, rank, None))
    }

    fn HcclCommInitRootInfoConfig(ranks: u32, info: In<RootInfo>, rank: u32, config: In<CommConfig>, made: Out<usize>) {
        let info = info.get().or_else(|_| fault(PTR, "the root info is NULL"))?;
        let name = name_of(&config)?;
        put(&made, || hccl::by_root_info(info, ranks, rank, name))
    }

    fn HcclCommInitAll(count: u32, devices: In<i32>, made: Out<usize>) {
        if made.is_null() {
            return fault(PTR, "an output pointer is NULL");
        }
        devices.array(count as usize).or_else(|_| fault(PTR, "the devices are NULL"))?;
        made.put_all(&hccl::all_in_one(count)?);
        Ok(())
    }

    fn HcclCreateSubCommConfig(
        parent: In<usize>,
        count: u32,
        ranks: In<u32>,
        id: u64,
        rank: u32,
        config: In<CommConfig>,
        made: Out<usize>,
    ) {
        let parent = parent.get().or_else(|_| fault(PTR, "the communicator is NULL"))?;
        if ranks.optional().is_none() {
            // The caller belongs to none of the groups.
            return put(&made, || Ok(0));
        }
        let (ranks, name) = (ranks.array(count as usize)?, name_of(&config)?);
        put(&made, || hccl::create_sub(parent, &ranks, id, rank, name))
    }

    fn HcclCommDestroy(communicator: usize) { hccl::destroy(communicator) }

    fn HcclGetRankId(communicator: usize, rank: Out<u32>) { rank.put(found(communicator)?.rank as u32) }

    fn HcclGetRankSize(communicator: usize, ranks: Out<u32>) { ranks.put(found(communicator)?.ranks as u32) }

    fn HcclGetCommName(communicator: usize, name: Out<c_char>) {
        let communicator = found(communicator)?;
        let text: String = communicator.name.chars().take(NAME_BYTES / 4 - 1).collect();
        if name.is_null() {
            return fault(PTR, "an output pointer is NULL");
        }
        name.put_text(&text);
        Ok(())
    }

    fn HcclGetCommAsyncError(communicator: usize, error: Out<Code>) {
        let found = found(communicator)?;
        error.put(found.async_error())
    }

    fn HcclGroupStart() {
        GROUP.with_borrow_mut(|(depth, _)| *depth += 1);
        Ok(())
    }

    fn HcclGroupEnd() {
        let ended = GROUP.with_borrow_mut(|(depth, grouped)| {
            *depth = depth.checked_sub(1)?;
            Some(if *depth == 0 { std::mem::take(grouped) } else { Vec::new() })
        });
        match ended {
            Some(grouped) => end_group(grouped),
            None => fault(PARA, "no group was begun"),
        }
    }

    fn HcclAllReduce(send: usize, receive: usize, count: u64, element: i32, reduction: i32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        checked(send, bytes)?;
        checked(receive, bytes)?;
        let plan = CollectivePlan::new(&[1, count, element as u64, reduction as u64]).show(send, bytes, 0);
        let plan = plan.combine([element, reduction], receive, bytes, 0)?;
        submit("HcclAllReduce", &communicator, stream, plan.taking(2 * share(bytes, communicator.ranks)))
    }

    fn HcclReduce(send: usize, receive: usize, count: u64, element: i32, reduction: i32, root: u32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        let root = known(&communicator, root)?;
        checked(send, bytes)?;
        let mut plan = CollectivePlan::new(&[2, count, element as u64, reduction as u64, root as u64]).show(send, bytes, 0);
        if root == communicator.rank {
            checked(receive, bytes)?;
            plan = plan.combine([element, reduction], receive, bytes, 0)?;
        }
        submit("HcclReduce", &communicator, stream, plan.taking(bytes))
    }

    fn HcclBroadcast(buffer: usize, count: u64, element: i32, root: u32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        let root = known(&communicator, root)?;
        checked(buffer, bytes)?;
        let plan = CollectivePlan::new(&[3, bytes, root as u64]);
        let plan = match root == communicator.rank {
            true => plan.show(buffer, bytes, 0),
            false => plan.copy(root, buffer, bytes, 0),
        };
        submit("HcclBroadcast", &communicator, stream, plan.taking(bytes))
    }

    fn HcclScatter(send: usize, receive: usize, count: u64, element: i32, root: u32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        let (root, ranks) = (known(&communicator, root)?, communicator.ranks as u64);
        checked(receive, bytes)?;
        let mut plan = CollectivePlan::new(&[4, bytes, root as u64]);
        if root == communicator.rank {
            checked(send, bytes * ranks)?;
            plan = plan.show(send, bytes * ranks, 0);
        }
        let plan = plan.copy(root, receive, bytes, bytes * communicator.rank as u64);
        submit("HcclScatter", &communicator, stream, plan.taking(bytes * (ranks - 1)))
    }

    fn HcclAllGather(send: usize, receive: usize, count: u64, element: i32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        checked(send, bytes)?;
        checked(receive, bytes * communicator.ranks as u64)?;
        let mut plan = CollectivePlan::new(&[5, bytes]).show(send, bytes, 0);
        for rank in 0..communicator.ranks {
            plan = plan.copy(rank, receive + rank * bytes as usize, bytes, 0);
        }
        submit("HcclAllGather", &communicator, stream, plan.taking(bytes * (communicator.ranks as u64 - 1)))
    }

    fn HcclAllGatherV(send: usize, count: u64, receive: usize, counts: In<u64>, places: In<u64>, element: i32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        let (counts, places) = (numbers(&counts, communicator.ranks)?, numbers(&places, communicator.ranks)?);
        checked(send, bytes)?;
        let mut plan = CollectivePlan::new(&[6]).show(send, bytes, 0);
        let mut all = 0;
        for rank in 0..communicator.ranks {
            let (bytes, place) = (bytes_of(counts[rank], element)?, bytes_of(places[rank], element)?);
            checked(receive + place as usize, bytes)?;
            plan = plan.copy(rank, receive + place as usize, bytes, 0);
            all += bytes;
        }
        submit("HcclAllGatherV", &communicator, stream, plan.taking(all - bytes.min(all)))
    }

    fn HcclReduceScatter(send: usize, receive: usize, count: u64, element: i32, reduction: i32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        let all = bytes * communicator.ranks as u64;
        checked(send, all)?;
        checked(receive, bytes)?;
        let plan = CollectivePlan::new(&[7, count, element as u64, reduction as u64]).show(send, all, 0);
        let plan = plan.combine([element, reduction], receive, bytes, bytes * communicator.rank as u64)?;
        submit("HcclReduceScatter", &communicator, stream, plan.taking(all - bytes))
    }

    fn HcclReduceScatterV(send: usize, counts: In<u64>, places: In<u64>, receive: usize, count: u64, element: i32, reduction: i32, communicator: usize, stream: usize) {
        let (communicator, bytes) = (found(communicator)?, bytes_of(count, element)?);
        let (counts, places) = (numbers(&counts, communicator.ranks)?, numbers(&places, communicator.ranks)?);
        checked(receive, bytes)?;
        let mut plan = CollectivePlan::new(&[8, element as u64, reduction as u64]);
        let mut all = 0;
        for rank in 0..communicator.ranks {
            let (bytes, place) = (bytes_of(counts[rank], element)?, bytes_of(places[rank], element)?);
            checked(send + place as usize, bytes)?;
            plan = plan.show(send + place as usize, bytes, segment(communicator.ranks, rank));
            all += bytes;
        }
        let offset = segment(communicator.ranks, communicator.rank);
        let plan = plan.combine([element, reduction], receive, bytes, offset)?;
        submit("HcclReduceScatterV", &communicator, stream, plan.taking(all - bytes.min(all)))
    }

    fn HcclAlltoAll(send: usize, count: u64, element: i32, receive: usize, receive_count: u64, receive_element: i32, communicator: usize, stream: usize) {
        let communicator = found(communicator)?;
        let (bytes, ranks) = (bytes_of(count, element)?, communicator.ranks);
        if bytes != bytes_of(receive_count, receive_element)? {
            return fault(PARA, "ranks send another number of bytes than they receive");
        }
        checked(send, bytes * ranks as u64)?;
        checked(receive, bytes * ranks as u64)?;
        let mut plan = CollectivePlan::new(&[9, bytes]).show(send, bytes * ranks as u64, 0);
        for rank in 0..ranks {
            plan = plan.copy(rank, receive + rank * bytes as usize, bytes, bytes * communicator.rank as u64);
        }
        submit("HcclAlltoAll", &communicator, stream, plan.taking(bytes * (ranks as u64 - 1)))
    }

    fn HcclAlltoAllV(send: usize, counts: In<u64>, places: In<u64>, element: i32, receive: usize, receive_counts: In<u64>, receive_places: In<u64>, receive_element: i32, communicator: usize, stream: usize) {
        let communicator = found(communicator)?;
        let ranks = communicator.ranks;
        let sent = BufferParts::of(send, &counts, &places, element, ranks)?;
        let received = BufferParts::of(receive, &receive_counts, &receive_places, receive_element, ranks)?;
        submit("HcclAlltoAllV", &communicator, stream, strewn(&communicator, &sent, &received))
    }

    fn HcclAlltoAllVC(send: usize, matrix: In<u64>, element: i32, receive: usize, receive_element: i32, communicator: usize, stream: usize) {
        let communicator = found(communicator)?;
        let (ranks, own) = (communicator.ranks, communicator.rank);
        let matrix = numbers(&matrix, ranks * ranks)?;
        let row: Vec<u64> = (0..ranks).map(|rank| matrix[own * ranks + rank]).collect();
        let column: Vec<u64> = (0..ranks).map(|rank| matrix[rank * ranks + own]).collect();
        let sent = BufferParts::new(send, &row, &sums(&row), element)?;
        let received = BufferParts::new(receive, &column, &sums(&column), receive_element)?;
        submit("HcclAlltoAllVC", &communicator, stream, strewn(&communicator, &sent, &received))
    }

    fn HcclBarrier(communicator: usize, stream: usize) {
        submit("HcclBarrier", &found(communicator)?, stream, CollectivePlan::new(&[10]))
    }

    fn HcclSend(buffer: usize, count: u64, element: i32, peer: u32, communicator: usize, stream: usize) {
        message("HcclSend", communicator, stream, peer, true, [buffer as u64, bytes_of(count, element)?])
    }

    fn HcclRecv(buffer: usize, count: u64, element: i32, peer: u32, communicator: usize, stream: usize) {
        message("HcclRecv", communicator, stream, peer, false, [buffer as u64, bytes_of(count, element)?])
    }

    fn HcclBatchSendRecv(items: In<SendRecvItem>, count: u32, communicator: usize, stream: usize) {
        let communicator = found(communicator)?;
        let items = items.array(count as usize).or_else(|_| fault(PTR, "the items are NULL"))?;
        let messages = items.iter().map(|item| {
            let bytes = bytes_of(item.count, item.element)?;
            checked(item.buffer, bytes)?;
            Ok(Message {
                peer: known(&communicator, item.peer)?,
                is_sent: item.kind == 0,
                address: item.buffer,
                bytes,
            })
        });
        let messages = messages.collect::<Outcome<Vec<_>>>()?;
        submit_messages("HcclBatchSendRecv", &communicator, stream, messages)
    }
}

/// Parts of a buffer, one for each rank: address and bytes.
struct BufferParts(Vec<(usize, u64)>);

impl BufferParts {
    fn of(
        buffer: usize,
        counts: &In<u64>,
        places: &In<u64>,
        element: i32,
        ranks: usize,
    ) -> Outcome<Self> {
        Self::new(
            buffer,
            &numbers(counts, ranks)?,
            &numbers(places, ranks)?,
            element,
        )
    }

    fn new(buffer: usize, counts: &[u64], places: &[u64], element: i32) -> Outcome<Self> {
        let parts = counts.iter().zip(places).map(|(count, place)| {
            let (bytes, place) = (bytes_of(*count, element)?, bytes_of(*place, element)?);
            checked(buffer + place as usize, bytes)?;
            Ok((buffer + place as usize, bytes))
        });
        parts.collect::<Outcome<Vec<_>>>().map(Self)
    }
}

/// Where parts begin that follow each other.
fn sums(counts: &[u64]) -> Vec<u64> {
    let before = |sum: &mut u64, count: &u64| {
        let begin = *sum;
        *sum += count;
        Some(begin)
    };
    counts.iter().scan(0, before).collect()
}

fn strewn(
    communicator: &Communicator,
    sent: &BufferParts,
    received: &BufferParts,
) -> CollectivePlan {
    let ranks = communicator.ranks;
    let mut plan = CollectivePlan::new(&[11]);
    for (rank, (address, bytes)) in sent.0.iter().enumerate() {
        plan = plan.show(*address, *bytes, segment(ranks, rank));
    }
    for (rank, (address, bytes)) in received.0.iter().enumerate() {
        plan = plan.copy(rank, *address, *bytes, segment(ranks, communicator.rank));
    }
    let all: u64 = sent.0.iter().map(|(_, bytes)| bytes).sum();
    plan.taking(share(all, ranks))
}

// SAFETY: the name is AscendCL's; nothing else in this library defines it.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn HcclGetCommConfigCapability() -> u32 {
    CONFIG_CAPABILITIES
}

// SAFETY: see above.
#[unsafe(no_mangle)]
pub(crate) extern "C" fn HcclGetErrorString(code: Code) -> *const c_char {
    let text = match code {
        SUCCESS => c"no error",
        1 => c"a parameter is wrong",
        2 => c"a pointer is NULL",
        3 => c"out of memory",
        5 => c"not supported",
        6 => c"not found",
        8 => c"a system call failed",
        9 => c"a rank did not arrive in time",
        21 => c"a rank has ended",
        _ => c"an unknown error",
    };
    text.as_ptr()
}
