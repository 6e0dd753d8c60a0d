//! The words that records are written in.

use crate::coded_enum;

coded_enum! {
    /// Facts about a function that no table has.
    Shape {
        /// Nothing. Its calls have no arguments.
        Unknown = 0,
        /// It plans an operator. The record of a call has words that may be handles of tensors, then
        /// the size of the workspace and the executor that it returned, 0 where unknown.
        Planning = 1,
        /// It submits a planned operator: workspace, its size, executor, stream.
        Submitting = 2,
    }
}

coded_enum! {
    /// Result of fetching a function by name.
    Lookup {
        /// The program got a wrapper.
        Wrapped = 0,
        /// The libraries lack it.
        Absent = 1,
        /// The table has no such function: the program got the function itself.
        Unknown = 2,
        /// The table has no such function: its calls are recorded without their arguments. Also
        /// recorded when the program did not fetch it but is linked to it.
        Untyped = 3,
    }
}

coded_enum! {
    /// Counters that the interposer reports about itself.
    Counter {
        /// Device events that were injected.
        InjectedEvents = 1,
        /// Pairs that were still pending when their context or the process ended.
        LostPairs = 2,
        /// Tasks that were submitted with events around them.
        TimedTasks = 3,
        /// Time that the program's threads spent on these events, in nanoseconds.
        TimingNs = 4,
        /// Time that the program's threads spent on reading times after a synchronisation.
        HarvestNs = 5,
        /// The most pairs that one stream had in its queue or unread. A pair takes two places.
        MostPendingPairs = 6,
        /// For how long the host was suspended during the recording.
        SuspendedNs = 7,
        /// How often the host's wall clock was set during the recording.
        ClockSteps = 8,
        /// Functions that are in no table and got no stub because all were taken.
        StubsShort = 9,
        /// Calls that had not returned when their process, or the recording, ended.
        OpenCalls = 10,
        /// Calls that were left by exceptions, jumps or the end of their thread.
        LeftCalls = 11,
        /// Streams for which `--timing auto` went over to one event per task, for a while at least.
        ChainedStreams = 12,
        /// Streams for which it went over to timing every Nth task.
        SampledStreams = 13,
        /// Timed tasks that took less time than an event record does.
        ShortTasks = 14,
        /// Entries of the hardware's log that were received.
        LogEntries = 15,
        /// Those without times.
        TimelessEntries = 16,
        /// Number of requests without memory for a further buffer: their entries are lost.
        LogBuffersShort = 17,
        /// Entries of the log that were joined to tasks, and those that no task is certainly the reason for.
        JoinedEntries = 18,
        LooseEntries = 19,
        /// Stretches of streams in which the log did not agree with the submitted tasks.
        LogMismatches = 20,
        /// How often the program paused the recording, and for how long in all.
        Pauses = 21,
        PausedNs = 22,
        /// Time that the tool's events took on devices, as measured by stretches of tasks without events.
        EventsDeviceNs = 23,
        /// Time of streams from the end of one such task to the end of the next, in sum.
        StreamNs = 24,
        /// Calls that the filters left out.
        FilteredCalls = 25,
        /// Tasks of runs that have one time together.
        RunTasks = 26,
    }
}

coded_enum! {
    /// Subject of an entry in the hardware log. The code is msPTI's. Entries of copies and fills have
    /// the times of their calls, not of their runs.
    ActivityKind {
        Kernel = 2 "kernel",
        Communication = 9 "communication",
    }
}

coded_enum! {
    /// How it stands with the hardware's log.
    LogState {
        /// It is read.
        On = 1 "on",
        /// There is no msPTI.
        Absent = 2 "absent",
        /// Another profiler has it.
        Busy = 3 "busy",
        /// msPTI refused.
        Refused = 4 "refused",
        /// The program has begun its profiler.
        GaveWay = 5 "gave-way",
    }
}

coded_enum! {
    /// How the tasks of a stream are timed. The code is that in records and files, where 0 says nothing.
    Manner {
        /// An event before and one after each task.
        Events = 1 "events",
        /// On a busy stream one event for each task.
        Chained = 2 "chained",
        /// Every Nth task.
        Sampled = 3 "sampled",
    }
}
