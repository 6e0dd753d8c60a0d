"""Reads a Perfetto trace with the official schema and imports it by the trace processor's rules.

Usage: perfetto_check.py FILE

Needs the packages `perfetto` and `protobuf`. Prints what it imported as one JSON object: numbers of
slices, marks, flows and counter values, and every complaint that the trace processor would count as
an error or that means something was dropped. The exit status is 1 when there is a complaint.
"""

import json
import sys

from google.protobuf import unknown_fields
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as schema

MONOTONIC = 3
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


class Sequence:
    """What holds for the packets of a sequence."""

    def __init__(self):
        self.names = {}
        self.keys = {}
        self.categories = {}
        self.strings = {}
        self.clock = None
        self.track = None
        # Its own clocks: the last time on each.
        self.last = {}


class Importer:
    def __init__(self):
        self.complaints = []
        self.tracks = {}
        self.sequences = {}
        self.open = {}
        self.slices = []
        self.marks = 0
        self.active = {}
        self.flows = []
        self.counters = 0

    def complain(self, text):
        self.complaints.append(text)

    def tokenize(self, packets):
        """What happens in the order of the file: names and tracks. Answers the events."""
        events = []
        primary = None
        for packet in packets:
            sequence = self.sequences.setdefault(
                packet.trusted_packet_sequence_id, Sequence()
            )
            if len(unknown_fields.UnknownFieldSet(packet)):
                self.complain("a packet with fields that the schema does not know")
            if packet.HasField("trace_packet_defaults"):
                defaults = packet.trace_packet_defaults
                sequence.clock = defaults.timestamp_clock_id
                sequence.track = defaults.track_event_defaults.track_uuid
            if packet.HasField("clock_snapshot"):
                snapshot = packet.clock_snapshot
                primary = snapshot.primary_trace_clock or primary
                for it in snapshot.clocks:
                    if it.is_incremental:
                        sequence.last[it.clock_id] = it.timestamp
                ids = {it.clock_id for it in packet.clock_snapshot.clocks}
                if MONOTONIC not in ids:
                    self.complain("the snapshot lacks the clock of the packets")
            interned = packet.interned_data
            for table, entries in (
                (sequence.categories, interned.event_categories),
                (sequence.names, interned.event_names),
                (sequence.keys, interned.debug_annotation_names),
            ):
                for entry in entries:
                    if table.setdefault(entry.iid, entry.name) != entry.name:
                        self.complain(f"iid {entry.iid} means two names")
            for entry in interned.debug_annotation_string_values:
                sequence.strings[entry.iid] = entry.str.decode()
            if packet.HasField("track_descriptor"):
                track = packet.track_descriptor
                if track.uuid in self.tracks:
                    self.complain(f"track {track.uuid} is described twice")
                self.tracks[track.uuid] = track
            if packet.HasField("track_event"):
                event = packet.track_event
                if primary != MONOTONIC:
                    self.complain("an event comes before its clock")
                self.check_names(event, sequence)
                track = event.track_uuid or sequence.track
                if track not in self.tracks:
                    self.complain(f"no track {track}")
                events.append((self.time(packet, sequence), track, event))
        for track in self.tracks.values():
            if track.parent_uuid and track.parent_uuid not in self.tracks:
                self.complain(f"track {track.uuid} has a parent that is nowhere")
        return events

    def time(self, packet, sequence):
        clock = packet.timestamp_clock_id or sequence.clock
        if clock in sequence.last:
            sequence.last[clock] += packet.timestamp
            return sequence.last[clock]
        if clock != MONOTONIC:
            self.complain(f"clock {clock} is not introduced")
        return packet.timestamp

    def check_names(self, event, sequence):
        if event.name_iid and event.name_iid not in sequence.names:
            self.complain(f"name {event.name_iid} is not introduced")
        for iid in event.category_iids:
            if iid not in sequence.categories:
                self.complain(f"category {iid} is not introduced")
        for annotation in event.debug_annotations:
            if annotation.name_iid not in sequence.keys:
                self.complain(f"key {annotation.name_iid} is not introduced")
            iid = annotation.string_value_iid
            if iid and iid not in sequence.strings:
                self.complain(f"string {iid} is not introduced")

    def parse(self, time, track, event):
        """What happens in the order of time."""
        stack = self.open.setdefault(track, [])
        if event.type == BEGIN:
            self.slices.append([time, None])
            stack.append(len(self.slices) - 1)
            self.flow(event, len(self.slices) - 1)
        elif event.type == END:
            if not stack:
                self.complain(f"an end without a begin at {time}")
                return
            index = stack.pop()
            self.slices[index][1] = time
            if event.name_iid:
                self.complain("ends have no names")
            self.flow(event, index)
        elif event.type == INSTANT:
            self.marks += 1
            self.slices.append([time, time])
            self.flow(event, len(self.slices) - 1)
        elif event.type == COUNTER:
            if not self.tracks[track].HasField("counter"):
                self.complain("a value on a track that is no counter")
            self.counters += 1
        else:
            self.complain(f"type {event.type}")

    def flow(self, event, index):
        for flow in event.flow_ids:
            if flow in self.active:
                self.flows.append((self.active[flow], index))
            self.active[flow] = index
        for flow in event.terminating_flow_ids:
            if flow not in self.active:
                self.complain(f"flow {flow} ends without a start")
                continue
            self.flows.append((self.active.pop(flow), index))

    def finish(self):
        for stack in self.open.values():
            if stack:
                self.complain("a slice that does not end")
        for begin, end in self.flows:
            if self.slices[begin][0] > self.slices[end][0]:
                self.complain("an arrow that would be turned around")


def main():
    trace = schema.Trace()
    with open(sys.argv[1], "rb") as file:
        trace.ParseFromString(file.read())
    importer = Importer()
    events = importer.tokenize(trace.packet)
    for time, track, event in sorted(events, key=lambda it: it[0]):
        importer.parse(time, track, event)
    importer.finish()
    print(
        json.dumps(
            {
                "slices": len(importer.slices) - importer.marks,
                "marks": importer.marks,
                "flows": len(importer.flows),
                "counters": importer.counters,
                "tracks": len(importer.tracks),
                "complaints": importer.complaints[:20],
            }
        )
    )
    return 1 if importer.complaints else 0


if __name__ == "__main__":
    sys.exit(main())
