//! Numbers for what threads ask for.

use rustc_hash::FxHashMap;

/// Meaning of a symbol.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum SymbolKind {
    Work,
    /// Brings data from the host.
    Load,
    /// Another copy, or a fill.
    Copy,
    /// The launch of a graph.
    Graph,
    /// The thread waits.
    Wait,
    /// The thread waits for a copy to the device.
    BlockingLoad,
}

impl SymbolKind {
    /// The thread waits.
    pub(super) fn waits(self) -> bool {
        matches!(self, Self::Wait | Self::BlockingLoad)
    }

    /// Data come from the host.
    pub(super) fn loads(self) -> bool {
        matches!(self, Self::Load | Self::BlockingLoad)
    }

    /// The device computes.
    pub(super) fn computes(self) -> bool {
        matches!(self, Self::Work | Self::Graph)
    }
}

/// A request without its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Request {
    pub(super) kind: SymbolKind,
    /// The serial of the launched graph, else 0.
    pub(super) graph: u32,
    pub(super) stream: u32,
    /// The device of the stream.
    pub(super) device: u32,
}

/// The stream of a request that is on none, and its device.
pub(super) const NO_STREAM: u32 = u32::MAX;

/// The least symbol, by kind, graph and device, and by name. Without a device, it is that of all devices.
type Shapes = FxHashMap<(SymbolKind, u32, Option<u32>), FxHashMap<String, u32>>;

/// Numbers for requests. Two requests that differ by their stream alone have different numbers, and one shape.
#[derive(Debug, Default)]
pub(super) struct Symbols {
    numbers: FxHashMap<Request, FxHashMap<String, u32>>,
    shapes: Shapes,
    all: Vec<Symbol>,
}

#[derive(Clone, Copy, Debug)]
struct Symbol {
    request: Request,
    shape: u32,
    device_shape: u32,
}

impl Symbols {
    pub(super) fn kind(&self, symbol: u32) -> SymbolKind {
        let symbol = self.all.get(symbol as usize);
        symbol.map_or(SymbolKind::Work, |it| it.request.kind)
    }

    pub(super) fn stream(&self, symbol: u32) -> u32 {
        let symbol = self.all.get(symbol as usize);
        symbol.map_or(NO_STREAM, |it| it.request.stream)
    }

    /// The device that it is for.
    pub(super) fn device(&self, symbol: u32) -> Option<u32> {
        let device = self.all.get(symbol as usize)?.request.device;
        (device != NO_STREAM).then_some(device)
    }

    /// The least symbol that differs by its stream at most, and is for the same device.
    pub(super) fn device_shape(&self, symbol: u32) -> u32 {
        let known = self.all.get(symbol as usize);
        known.map_or(symbol, |it| it.device_shape)
    }

    /// The least symbol that differs by its stream at most.
    pub(super) fn shape(&self, symbol: u32) -> u32 {
        self.all.get(symbol as usize).map_or(symbol, |it| it.shape)
    }

    pub(super) fn number(&mut self, request: Request, name: &str) -> u32 {
        let numbers = self.numbers.entry(request).or_default();
        if let Some(number) = numbers.get(name) {
            return *number;
        }
        let number = self.all.len() as u32;
        numbers.insert(name.to_owned(), number);
        let mut shape = |device: Option<u32>| {
            let shapes = self.shapes.entry((request.kind, request.graph, device));
            *shapes.or_default().entry(name.to_owned()).or_insert(number)
        };
        let (shape, device_shape) = (shape(None), shape(Some(request.device)));
        self.all.push(Symbol {
            request,
            shape,
            device_shape,
        });
        number
    }
}
