"""Checks a Perfetto trace with the message classes of the Python package `perfetto`.

The path of the trace is the only argument. Prints the number of packets.
"""

import sys

from google.protobuf.unknown_fields import UnknownFieldSet
from perfetto.protos.perfetto.trace import perfetto_trace_pb2 as definitions

RUNNING, DEAD = 3, 7
BEGIN, END, INSTANT, COUNTER = 1, 2, 3, 4


def known(message, place):
    """Asserts that all fields of a message are defined, at every level."""
    assert len(UnknownFieldSet(message)) == 0, place
    for field, value in message.ListFields():
        if field.type == field.TYPE_MESSAGE:
            for inner in value if field.is_repeated else [value]:
                known(inner, f"{place}.{field.name}")


def defined(event, names):
    """Asserts that the sequence has defined the names of an event."""
    categories, events, annotations = names
    assert all(iid in categories for iid in event.category_iids), event
    assert not event.name_iid or event.name_iid in events, event
    for annotation in event.debug_annotations:
        assert not annotation.name_iid or annotation.name_iid in annotations, event


class Threads:
    """Follows the states of threads and the threads on cores."""

    def __init__(self):
        self.state, self.core = {}, {}
        self.switches = {}

    def change(self, time, event):
        thread, state = event.tid, event.state
        assert 2 <= state <= DEAD, event
        assert self.state.get(thread) != DEAD, event
        on = [core for core, runs in self.core.items() if runs == thread]
        if state == RUNNING:
            assert not on, event
            left = self.core.get(event.cpu)
            assert left is None, f"thread {left} has no state after core {event.cpu}"
            self.core[event.cpu] = thread
        elif on:
            assert on == [event.cpu], event
            self.core[event.cpu] = None
        self.state[thread] = state


def check(path):
    trace = definitions.Trace()
    with open(path, "rb") as file:
        trace.ParseFromString(file.read())
    known(trace, "trace")
    tracks, threads, flows, depths, begins = set(), set(), {}, {}, {}
    names = ({}, {}, {})
    states, last = Threads(), 0
    for number, packet in enumerate(trace.packet):
        assert packet.trusted_packet_sequence_id == 1
        assert packet.sequence_flags & 2
        assert packet.sequence_flags & 1 or number > 0
        if packet.sequence_flags & 1:
            names = ({}, {}, {})
        interned = packet.interned_data
        fields = (interned.event_categories, interned.event_names, interned.debug_annotation_names)
        for table, entries in zip(names, fields):
            for entry in entries:
                assert entry.iid not in table and entry.iid > 0
                table[entry.iid] = entry.name
        if packet.HasField("timestamp"):
            assert packet.timestamp >= last, f"packet {number}: the time descends"
            last = packet.timestamp
        kind = packet.WhichOneof("data")
        if kind == "track_descriptor":
            descriptor = packet.track_descriptor
            assert descriptor.uuid not in tracks and descriptor.uuid > 0
            assert not descriptor.HasField("parent_uuid") or descriptor.parent_uuid in tracks
            tracks.add(descriptor.uuid)
        elif kind == "generic_kernel_process_tree":
            threads.update(thread.tid for thread in packet.generic_kernel_process_tree.threads)
        elif kind == "generic_kernel_task_state_event":
            event = packet.generic_kernel_task_state_event
            assert event.tid in threads
            states.change(packet.timestamp, event)
        elif kind == "track_event":
            event = packet.track_event
            assert event.track_uuid in tracks
            defined(event, names)
            if event.type == BEGIN:
                begins.setdefault(event.track_uuid, []).append(packet.timestamp)
            elif event.type == END:
                assert begins[event.track_uuid].pop() <= packet.timestamp
            else:
                assert event.type in (INSTANT, COUNTER)
            for flow in event.flow_ids:
                flows[flow] = flows.get(flow, 0) + 1
            for flow in event.terminating_flow_ids:
                assert flows[flow] == 1, f"flow {flow} has no beginning"
                flows[flow] += 1
    assert all(not open for open in begins.values()), "a slice has no end"
    assert all(ends == 2 for ends in flows.values()), "a flow has one end"
    return len(trace.packet)


print(check(sys.argv[1]))
