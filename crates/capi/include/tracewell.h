/* Tracewell's recorders for C and C++. Generated from crates/capi/src by its tests: do not edit.
 *
 * A function that returns int returns TW_OK (0), a negative TW_ code, or a positive system error number,
 * unless its comment describes another result. "Ownership" states who owns memory after the call. "Errors"
 * lists the possible codes. "Safety" lists the obligations of the caller. Link libtracewell_capi. */

#ifndef TRACEWELL_H
#define TRACEWELL_H

#include <stddef.h>
#include <stdint.h>

/* Define TRACEWELL_FIRMWARE to use the library that is built without an operating system. */
#ifndef TRACEWELL_FIRMWARE
#define TRACEWELL_HOSTED
#endif

/*
 An unknown thread or process.
 */
#define TW_UNKNOWN UINT64_MAX

/*
 Two buffers: one is drained while the other is filled.
 */
#define TW_ALTERNATE 0

/*
 One buffer, in which new entries overwrite the oldest.
 */
#define TW_CIRCULAR 1

/*
 One buffer; the channel stops when it is full.
 */
#define TW_SINGLE 2

/*
 Only events in `ids` are recorded (`-j`).
 */
#define TW_ONLY 1

/*
 Events in `ids` are not recorded (`-k`).
 */
#define TW_EXCEPT 2

/*
 Flag of `tw_trcstop`: the call fails with TW_DRAINING until the log is complete.
 */
#define TW_SERIAL 1073741824

/*
 Flag of `tw_trcstop`: the call discards entries that are not in the log yet.
 */
#define TW_DISCARDBUFS 536870912

/*
 The call succeeded.
 */
#define TW_OK 0

/*
 A required pointer is null.
 */
#define TW_NULL -1

/*
 An argument is out of range, or a file has the wrong format.
 */
#define TW_INVALID -2

/*
 Tracewell caught an internal error. Do not use the object of the failed call again.
 */
#define TW_PANIC -3

/*
 The storage was not initialised.
 */
#define TW_NOT_INITIALISED -4

/*
 The memory or a buffer is too small (ThreadX: TX_SIZE_ERROR).
 */
#define TW_TOO_SMALL -5

/*
 Tracing is already in the requested state, on or off (ThreadX: TX_NOT_DONE).
 */
#define TW_NOT_DONE -6

/*
 No channel, stream or event id is free.
 */
#define TW_NONE_FREE -7

/*
 Tracing is off, or the channel is off, stopped or not started. The call had no effect.
 */
#define TW_OFF -8

/*
 A filter or the channel's list of ids excludes the event.
 */
#define TW_EXCLUDED -9

/*
 There was no space for the event. The loss is counted and marked in the trace.
 */
#define TW_MISSED -10

/*
 The channel is not stopped yet.
 */
#define TW_RUNNING -11

/*
 The channel's buffers are not drained yet.
 */
#define TW_DRAINING -12

/*
 The stream already uses the id for a different event type.
 */
#define TW_CONFLICT -13

/*
 The requested stream, data, entry or chunk does not exist.
 */
#define TW_NOTHING -14

/*
 The chunk is not free, or is compressed.
 */
#define TW_NOT_FREE -15

/*
 The chunk is recording, is being sent, or is the target of a link.
 */
#define TW_IN_USE -16

/*
 Dialect of the snapshots of March and April 2012.
 */
#define TW_RKH_2_0_PRE 0

/*
 Dialect of RKH 2.0 and 2.1.
 */
#define TW_RKH_2_0 1

/*
 Dialect of RKH 2.2.
 */
#define TW_RKH_2_2 2

/*
 Dialect of RKH 2.3 and 2.4.
 */
#define TW_RKH_2_3 3

/*
 Dialect of RKH 2.4.3.
 */
#define TW_RKH_2_4_3 4

/*
 Dialect of RKH 2.4.4.
 */
#define TW_RKH_2_4_4 5

/*
 Dialect of RKH 2.4.5 and 2.4.6.
 */
#define TW_RKH_2_4_5 6

/*
 Dialect of RKH 3.0.00 to 3.4.00.
 */
#define TW_RKH_3_4 7

/*
 Filters of groups and events are compiled in.
 */
#define TW_RKH_FILTER_EVENTS 1

/*
 Filters of active objects are compiled in.
 */
#define TW_RKH_FILTER_OBJECTS 2

/*
 Filters of signals are compiled in.
 */
#define TW_RKH_FILTER_SIGNALS 4

/*
 Records of user events are compiled in.
 */
#define TW_RKH_USER_TRACE (1 << 2)

/*
 Records of all groups are compiled in.
 */
#define TW_RKH_ALL_GROUPS (1 << 3)

/*
 Records of memory pools are compiled in.
 */
#define TW_RKH_MP (1 << 4)

/*
 Records of queues are compiled in.
 */
#define TW_RKH_QUE (1 << 5)

/*
 Records of active objects are compiled in.
 */
#define TW_RKH_SMA (1 << 6)

/*
 Records of timers are compiled in.
 */
#define TW_RKH_TMR (1 << 7)

/*
 Records of state machines are compiled in.
 */
#define TW_RKH_SM (1 << 8)

/*
 Records of the framework are compiled in.
 */
#define TW_RKH_FWK (1 << 9)

/*
 Records of failed assertions are compiled in.
 */
#define TW_RKH_ASSERT (1 << 10)

/*
 The filter is on and suppresses records.
 */
#define TW_RKH_FILTER_ON 0

/*
 The filter is off and lets records pass.
 */
#define TW_RKH_FILTER_OFF 1

/*
 Selects all groups, events, active objects or signals.
 */
#define TW_RKH_ALL UINT32_MAX

/*
 The record has no active object.
 */
#define TW_RKH_NO_OBJECT -1

/*
 The record has no signal.
 */
#define TW_RKH_NO_SIGNAL -1

/*
 Item type of a signed number of 1 byte.
 */
#define TW_RKH_I8 0

/*
 Item type of an unsigned number of 1 byte.
 */
#define TW_RKH_UI8 1

/*
 Item type of a signed number of 2 bytes.
 */
#define TW_RKH_I16 2

/*
 Item type of an unsigned number of 2 bytes.
 */
#define TW_RKH_UI16 3

/*
 Item type of a signed number of 4 bytes.
 */
#define TW_RKH_I32 4

/*
 Item type of an unsigned number of 4 bytes.
 */
#define TW_RKH_UI32 5

/*
 Item type of a number shown in hexadecimal.
 */
#define TW_RKH_X32 6

/*
 Item type of an object's address.
 */
#define TW_RKH_OBJ 9

/*
 Item type of a function's address.
 */
#define TW_RKH_FUN 10

/*
 Item type of a signal.
 */
#define TW_RKH_SIG 11

/*
 Names a data object by its address.
 */
#define TW_RKH_OBJECT 0

/*
 Names an active object.
 */
#define TW_RKH_ACTIVE_OBJECT 1

/*
 Names a queue by its address.
 */
#define TW_RKH_QUEUE 2

/*
 Names a timer by its address.
 */
#define TW_RKH_TIMER 3

/*
 Names a sender of events.
 */
#define TW_RKH_ACTOR 4

/*
 Names a function by its address.
 */
#define TW_RKH_FUNCTION 5

/*
 Names a state of an active object.
 */
#define TW_RKH_STATE 6

/*
 Names a pseudostate of an active object.
 */
#define TW_RKH_PSEUDOSTATE 7

/*
 Names a signal by its number.
 */
#define TW_RKH_SIGNAL 8

/*
 Names an event pool. In versions 3.x, `key` is the pool's number, counted from 0; in earlier
 versions, it is the pool's address.
 */
#define TW_RKH_EVENT_POOL 9

/*
 Names a user event by its number, counted from 0.
 */
#define TW_RKH_USER_EVENT 10

/*
 The chunk number that stands for no chunk.
 */
#define TW_NO_CHUNK -1

/*
 The chunk may be selected, and another chunk may be linked to it.
 */
#define TW_FREE 1

/*
 The chunk accepts no further records.
 */
#define TW_FULL 2

/*
 Mode cyclic: recording continues at the start of the chunk.
 */
#define TW_CYC 0

/*
 Mode jump: recording continues in the linked chunk.
 */
#define TW_JTN 4

/*
 Mode stop: recording stops at the end of the chunk.
 */
#define TW_STOP 8

/*
 The chunk is being sent.
 */
#define TW_BUSY 16

/*
 The chunk is protected: `tw_shark_chunk_delete` has no effect.
 */
#define TW_NODEL 32

/*
 The chunk's content is compressed.
 */
#define TW_COMPR 64

#if defined(TRACEWELL_HOSTED)
/*
 A full lane overwrites the oldest packet of its thread.
 */
#define TW_LOOP 0
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A full lane stops the stream.
 */
#define TW_UNTIL_FULL 1
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Events that do not fit are lost and counted, until a log drains the stream.
 */
#define TW_FLUSH 2
#endif

/*
 Context of a thread, including its service calls.
 */
#define TW_THREAD 0

/*
 Context of an interrupt service routine.
 */
#define TW_INTERRUPT 1

/*
 Context of initialisation, before the scheduler starts.
 */
#define TW_INITIALIZATION 2

/*
 Words in this machine's byte order.
 */
#define TW_NATIVE 0

/*
 Words in little-endian order.
 */
#define TW_LITTLE 1

/*
 Words in big-endian order.
 */
#define TW_BIG 2

#if defined(TRACEWELL_HOSTED)
/*
 A thread that writes a stream to a file.
 */
typedef struct tw_flusher tw_flusher;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 An open log. Only one thread may use it at a time.
 */
typedef struct tw_log tw_log;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 The records of a chunk that is being sent.
 */
typedef struct tw_shark_dump tw_shark_dump;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A sender of chunks. Only one thread may use it at a time.
 */
typedef struct tw_shark_sender tw_shark_sender;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A stream, into which any number of threads may record at the same time.
 */
typedef struct tw_stream tw_stream;
#endif

/*
 An AIX trace with up to eight channels. Its words are private.

 The storage must be static or filled with zeros, and initialised by `tw_aix_init` before use.
 */
typedef struct tw_aix {
  uint64_t words[640];
} tw_aix;

/*
 A source of timestamps.

 `read` is called once per recorded event, from within the recording call, and must not record.
 If it is null, events are numbered instead of timed.
 */
typedef struct tw_clock {
  /*
   Returns the current tick. Its argument is `context`.
   */
  uint64_t (*read)(void *context);
  /*
   The argument passed to `read`; may be null.
   */
  void *context;
  /*
   Mask of the valid bits of a tick, normally 2^n - 1. 0 selects the default: the word size for
   ThreadX, 64 bits for the other dialects.
   */
  uint64_t valid_mask;
} tw_clock;

/*
 The traced machine. Its strings are null-terminated and must outlive the trace; null is an empty
 string.
 */
typedef struct tw_aix_machine {
  /*
   Nanoseconds = ticks * multiplier / divisor. If multiplier and divisor are 0, a tick is a
   nanosecond.
   */
  uint64_t multiplier;
  /*
   The divisor in the formula of `multiplier`.
   */
  uint64_t divisor;
  /*
   Name and release of the operating system.
   */
  const char *system;
  /*
   Name of the node.
   */
  const char *node;
  /*
   Id of the machine.
   */
  const char *machine;
  /*
   Internet address of the machine, as a string.
   */
  const char *address;
  /*
   Number of CPUs; 0 means 1.
   */
  uint32_t cpus;
  /*
   Number of traced CPUs; 0 means 1.
   */
  uint32_t cpus_traced;
  /*
   Word size of the entries that the trace itself adds: 32 for 32 bits, any other value for 64
   bits.
   */
  uint32_t bits;
} tw_aix_machine;

/*
 The context of a call. Use TW_UNKNOWN for an unknown thread or process.
 */
typedef struct tw_aix_context {
  /*
   Id of the thread.
   */
  uint64_t tid;
  /*
   Process id of the thread.
   */
  uint64_t pid;
  /*
   CPU number, from 0.
   */
  uint16_t cpu;
} tw_aix_context;

/*
 Options of a channel. All zeros select the event trace with alternate buffers. The referenced
 memory must stay valid until the channel is finished.
 */
typedef struct tw_aix_options {
  /*
   The current wall-clock time in nanoseconds since 1970, UTC.
   */
  uint64_t wall_clock_ns;
  /*
   Maximum size of the log in bytes; 0 for no limit.
   */
  uint64_t log_size;
  /*
   The command shown in a report's header; null for none.
   */
  const char *command;
  /*
   16-bit hook ids (0x1230 for hook 123); see `list`.
   */
  const uint16_t *ids;
  /*
   Number of ids in `ids`.
   */
  size_t id_count;
  /*
   The events to record: 0 for all, TW_ONLY for those in `ids`, TW_EXCEPT for all others.
   */
  uint8_t list;
  /*
   TW_ALTERNATE, TW_CIRCULAR or TW_SINGLE.
   */
  uint8_t mode;
  /*
   Number of a generic channel, 1 to 7; 0 for the event trace.
   */
  uint8_t generic;
  /*
   1 to start recording only when `tw_trcon` is called.
   */
  uint8_t deferred;
  /*
   1 to stop when the log is full; 0 to continue at its start.
   */
  uint8_t stop_at_log_size;
  /*
   1 if the log contains the entries of one CPU and accompanies a base log.
   */
  uint8_t per_cpu;
} tw_aix_options;

/*
 Complete frames for the log, oldest first.
 */
typedef struct tw_aix_chunk {
  /*
   The bytes of the frames.
   */
  const void *bytes;
  /*
   Number of bytes to write.
   */
  size_t length;
  /*
   1 if the log has reached its maximum size. In this case, truncate the log to its header
   before you write the bytes.
   */
  int starts_over;
} tw_aix_chunk;

/*
 Counts of a channel's entries since it was started.
 */
typedef struct tw_aix_counts {
  /*
   Entries stored in a buffer.
   */
  uint64_t recorded;
  /*
   Entries that were not stored because there was no space.
   */
  uint64_t missed;
  /*
   Entries that were overwritten before they were drained.
   */
  uint64_t overwritten;
  /*
   Entries that were discarded by `tw_trcstop`.
   */
  uint64_t discarded;
  /*
   For a circular buffer, the number of times that it wrapped; for other buffers, the number of
   gaps. A gap is a series of consecutive missed entries.
   */
  uint64_t buffer_wraps;
  /*
   Number of times that the log started over.
   */
  uint64_t log_wraps;
} tw_aix_counts;

#if defined(TRACEWELL_HOSTED)
/*
 Writes bytes of a log to a destination. Returns the number of bytes accepted, at least 1, or a
 negative error number. Bytes that were not accepted are passed again.
 */
typedef ptrdiff_t (*tw_sink)(void *context, const void *bytes, size_t length);
#endif

/*
 The settings of RKH's configuration macros. A size is the number of bytes of a value in a
 record: 2 or 4 for addresses, otherwise 1, 2 or 4.
 */
typedef struct tw_rkh_settings {
  /*
   The dialect, such as TW_RKH_3_4.
   */
  uint8_t dialect;
  /*
   Size of event ids (`RKH_CFG_TRC_SIZEOF_TE_ID`).
   */
  uint8_t id;
  /*
   Nonzero if records have sequence numbers (`RKH_CFG_TRC_NSEQ_EN`).
   */
  uint8_t sequence;
  /*
   Size of timestamps (`RKH_CFGPORT_TRC_SIZEOF_TSTAMP`); 0 if records have no timestamp
   (`RKH_CFG_TRC_TSTAMP_EN`).
   */
  uint8_t stamp;
  /*
   Nonzero if records have a checksum (`RKH_CFG_TRC_CHK_EN`).
   */
  uint8_t checksum;
  /*
   Size of data addresses (`RKH_CFGPORT_TRC_SIZEOF_PTR`).
   */
  uint8_t pointer;
  /*
   Size of function addresses (`RKH_CFGPORT_TRC_SIZEOF_FUN_PTR`).
   */
  uint8_t function;
  /*
   Size of signals (`RKH_CFG_FWK_SIZEOF_EVT`).
   */
  uint8_t signal;
  /*
   Size of the field that contains the size of an event (`RKH_CFG_FWK_SIZEOF_EVT_SIZE`).
   */
  uint8_t event_size;
  /*
   Size of the field that contains a number of memory blocks (`RKH_CFG_MP_SIZEOF_NBLOCK`).
   */
  uint8_t block_count;
  /*
   Size of the field that contains the size of a memory block (`RKH_CFG_MP_SIZEOF_BSIZE`).
   */
  uint8_t block_size;
  /*
   Size of the field that contains a number of queue elements (`RKH_CFG_QUE_SIZEOF_NELEM`).
   */
  uint8_t queue_count;
  /*
   Size of the field that contains a number of timer ticks (`RKH_CFG_TMR_SIZEOF_NTIMER`).
   */
  uint8_t timer_ticks;
  /*
   Nonzero if senders are recorded (`RKH_CFG_SMA_TRC_SNDR_EN`).
   */
  uint8_t sender;
  /*
   Nonzero if queues have low-water marks (`RKH_CFG_QUE_GET_LWMARK_EN`).
   */
  uint8_t queue_low_water;
  /*
   Nonzero if memory pools have low-water marks (`RKH_CFG_MP_GET_LWM_EN`).
   */
  uint8_t pool_low_water;
  /*
   Maximum number of event pools (`RKH_CFG_FWK_MAX_EVT_POOL`). Numbers above 15 are recorded as
   15.
   */
  uint8_t max_pools;
  /*
   The compiled-in filters: any combination of TW_RKH_FILTER_EVENTS, TW_RKH_FILTER_OBJECTS and
   TW_RKH_FILTER_SIGNALS. With 0, no filter exists and all compiled-in records are recorded.
   */
  uint8_t filters;
  /*
   0 for the framework's buffer, which drops its oldest bytes when it is full; 1 for a buffer
   that drops each record that does not fit.
   */
  uint8_t whole_records;
  /*
   RKH's version, such as 0x3400 for 3.4.00. It must belong to the dialect.
   */
  uint16_t version;
  /*
   The compiled-in records: any combination of TW_RKH_USER_TRACE, TW_RKH_ASSERT,
   TW_RKH_ALL_GROUPS and the bits of single groups, such as TW_RKH_SM.
   */
  uint32_t compiled;
  /*
   Clock rate in ticks per second. The configuration record of the stream contains only the low
   16 bits of this rate.
   */
  uint32_t stamps_per_second;
  /*
   Ids of single events that are not compiled in. May be null if `left_out_count` is 0.
   */
  const uint8_t *left_out;
  /*
   Number of ids in `left_out`.
   */
  size_t left_out_count;
} tw_rkh_settings;

/*
 The control block of an RKH trace; opaque.

 Use static or zeroed memory, and call `tw_rkh_init` first.
 */
typedef struct tw_rkh {
  uint64_t words[56];
} tw_rkh;

/*
 Bytes to send, in the memory of the buffer.
 */
typedef struct tw_rkh_block {
  /*
   The first byte of the block.
   */
  const uint8_t *bytes;
  /*
   Number of bytes in the block.
   */
  size_t length;
} tw_rkh_block;

/*
 The fill level of a buffer, and its losses.
 */
typedef struct tw_rkh_status {
  /*
   Number of bytes to be sent.
   */
  size_t waiting;
  /*
   Number of bytes that newer bytes overwrote, modulo 2^32; always 0 in a buffer that drops
   whole records.
   */
  uint32_t overwritten;
  /*
   Number of dropped records, modulo 2^32; always 0 in the framework's buffer.
   */
  uint32_t dropped;
} tw_rkh_status;

/*
 A S.Ha.R.K. tracer with up to 256 chunks. Its words are private.

 The storage must be static or filled with zeros, and initialised by `tw_shark_init` before use.
 */
typedef struct tw_shark {
  uint64_t words[2400];
} tw_shark;

/*
 The status of a tracer. Each count is the number of events since `tw_shark_init` that were not
 stored, unless its comment states otherwise.
 */
typedef struct tw_shark_status {
  /*
   Events logged while tracing was off.
   */
  uint64_t disabled;
  /*
   Events hidden by their family's filter.
   */
  uint64_t filtered;
  /*
   Events logged while no chunk was selected.
   */
  uint64_t no_chunk;
  /*
   Events logged while the selected chunk was full.
   */
  uint64_t full;
  /*
   Events logged while the selected chunk was being sent.
   */
  uint64_t busy;
  /*
   Events with an invalid code: 0, or a command on the fast path.
   */
  uint64_t refused;
  /*
   Number of times that a command requested the next chunk, but no chunk was linked. These
   commands are not lost events.
   */
  uint64_t no_successor;
  /*
   Events that a cyclic chunk overwrote after it wrapped.
   */
  uint64_t overwritten;
  /*
   Overwritten essential events for which the emergency area had no space.
   */
  uint64_t essential_overwritten;
  /*
   1 while tracing is on.
   */
  int on;
  /*
   The recording chunk, or TW_NO_CHUNK.
   */
  int16_t current;
  /*
   One bit per family, 1 if the family is hidden.
   */
  uint16_t hidden;
} tw_shark_status;

/*
 Sizes of a chunk's areas.
 */
typedef struct tw_shark_areas {
  /*
   Bytes for records, at least 32. A remainder smaller than a record is not used.
   */
  uint32_t normal;
  /*
   Bytes for essential records that the normal area cannot hold: 0, or at least 32. A decoder
   needs essential records to interpret the others.
   */
  uint32_t emergency;
  /*
   Address of the image in the target; 0 selects the low 32 bits of its real address.
   */
  uint32_t base_address;
} tw_shark_areas;

/*
 An entry of the chunk table.
 */
typedef struct tw_shark_chunk {
  /*
   Size of the normal area in bytes.
   */
  uint32_t normal;
  /*
   Size of the emergency area in bytes.
   */
  uint32_t emergency;
  /*
   Offset of the next record in the normal area, in bytes.
   */
  uint32_t position;
  /*
   Number of bytes used in the emergency area.
   */
  uint32_t kept;
  /*
   Number of times that a cyclic chunk wrapped.
   */
  uint32_t laps;
  /*
   The chunk in which recording continues, or TW_NO_CHUNK.
   */
  int16_t next;
  /*
   The chunk's number: its index in the table.
   */
  uint8_t number;
  /*
   Flags of the chunk, such as TW_CYC.
   */
  uint8_t flags;
  /*
   1 if events are being recorded into the chunk.
   */
  int current;
} tw_shark_chunk;

#if defined(TRACEWELL_HOSTED)
/*
 Transmits a datagram. Returns 0 or a system error number.
 */
typedef int (*tw_datagram)(void *context, const void *bytes, size_t length);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Options of a new stream. A field of 0 selects its default.
 */
typedef struct tw_stream_options {
  /*
   Maximum number of recording threads; 64 by default.
   */
  uint32_t lanes;
  /*
   Packets per thread, at least 2; 16 by default.
   */
  uint32_t packets;
  /*
   Packet size in bytes, a multiple of 8 from 512 to 1 MiB; 64 KiB by default.
   */
  uint32_t packet_size;
  /*
   Behaviour when full: TW_LOOP, TW_UNTIL_FULL or TW_FLUSH.
   */
  uint8_t policy;
  /*
   1 if forked child processes record as well.
   */
  uint8_t inherited;
} tw_stream_options;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 The status of a stream. Counts start when the stream is created or cleared.
 */
typedef struct tw_stream_status {
  /*
   Events lost because there was no space.
   */
  uint64_t lost;
  /*
   Events lost because no lane was free, signal handlers were nested too deeply, or the event
   type could not be stored.
   */
  uint64_t lost_unplaced;
  /*
   Events lost while a full stream was suspended.
   */
  uint64_t lost_suspended;
  /*
   Events that were stored in the stream but not written to its log.
   */
  uint64_t lost_log;
  /*
   Number of threads that have a lane.
   */
  uint32_t lanes;
  /*
   Error number of the first failed flush; 0 for none.
   */
  int32_t flush_error;
  /*
   1 if the stream is recording.
   */
  int running;
  /*
   1 if a thread has no space for its next event: the event would overwrite another event or be
   lost.
   */
  int full;
} tw_stream_status;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 An event type that `tw_define` defined in a stream. It may be copied freely.
 */
typedef struct tw_event {
  /*
   The id of the event type in the stream.
   */
  uint16_t id;
  /*
   The family of the event type, 0 to 62.
   */
  uint16_t family;
} tw_event;
#endif

/*
 The control block of a ThreadX trace. Its words are private.

 The storage must be static or filled with zeros, and initialised by `tw_threadx_init` before
 use.
 */
typedef struct tw_threadx {
  uint64_t words[40];
} tw_threadx;

/*
 The kind of target that an image is built for. If all fields are 0, the defaults apply.
 */
typedef struct tw_threadx_layout {
  /*
   Address of the image in the target; 0 selects the real address. The header contains this
   address.
   */
  uint64_t base_address;
  /*
   Size of a registry name in bytes; 0 selects 32. TraceX rejects 64 and more.
   */
  uint16_t name_size;
  /*
   Word size in bits: 32, or 64, which TraceX cannot read. 0 selects 32, the size of `ULONG` on
   nearly every port. Addresses and numbers are truncated to this size.
   */
  uint8_t width;
  /*
   Byte order: TW_NATIVE, TW_LITTLE or TW_BIG.
   */
  uint8_t order;
} tw_threadx_layout;

/*
 A kernel object: its address, name, kind and parameters.
 */
typedef struct tw_threadx_object {
  /*
   Address of the object's control block.
   */
  uint64_t pointer;
  /*
   Null-terminated name in any encoding; null for none. It is copied.
   */
  const char *name;
  /*
   First parameter: a thread's stack start, a timer's initial ticks, a semaphore's initial
   count, the size of a queue or pool in bytes, or 1 for a mutex with priority inheritance.
   */
  uint64_t parameter1;
  /*
   Second parameter: a thread's stack size in bytes, a timer's reschedule ticks, a queue's
   words per message, or the size of a pool's blocks in bytes.
   */
  uint64_t parameter2;
  /*
   Priority, for a thread.
   */
  uint16_t priority;
  /*
   1 thread, 2 timer, 3 queue, 4 semaphore, 5 mutex, 6 event flags, 7 block pool, 8 byte pool.
   */
  uint8_t kind;
} tw_threadx_object;

/*
 The context that records an event.
 */
typedef struct tw_threadx_context {
  /*
   Address of the thread's control block, not 0. In an interrupt: address of the interrupted
   thread's control block, or 0 if no thread was interrupted.
   */
  uint64_t address;
  /*
   Current priority of the thread, 0 to 1023.
   */
  uint16_t priority;
  /*
   Preemption threshold of the thread; its priority if it has none.
   */
  uint16_t threshold;
  /*
   TW_THREAD, TW_INTERRUPT or TW_INITIALIZATION.
   */
  uint8_t kind;
  /*
   Number of the recording core, counted from 0.
   */
  uint8_t core;
} tw_threadx_context;

/*
 Called whenever the ring wraps, from within the call that recorded the last event.

 `trace` represents the trace during this call only. Use it instead of the control block to
 record, filter or disable.
 */
typedef void (*tw_threadx_notify)(struct tw_threadx *trace, void *context);

/*
 The position of a recorded event, for `tw_threadx_patch`.
 */
typedef struct tw_threadx_entry {
  uint64_t words[2];
} tw_threadx_entry;

/*
 The arguments of the events at the start and end of an interrupt service routine.
 */
typedef struct tw_threadx_isr {
  /*
   The number of the routine, chosen by the application.
   */
  uint64_t number;
  /*
   An address on the stack that the routine uses.
   */
  uint64_t stack;
  /*
   The kernel's system state: the nesting depth on most ports.
   */
  uint64_t system_state;
  /*
   The kernel's preemption-disable count.
   */
  uint64_t preempt_disable;
} tw_threadx_isr;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Initialises a trace without channels.

 `clock` and `machine` are copied, but the strings of `machine` and the memory of the clock's
 context are not copied.

 Ownership: the caller keeps `trace`, which need not be freed. Errors: TW_NULL. Safe in a signal
 handler or interrupt.

 # Safety
 * Each string of the machine must be null, or be null-terminated and outlive the trace.
 */
int tw_aix_init(struct tw_aix *trace,
                const struct tw_clock *clock,
                const struct tw_aix_machine *machine);

/*
 Records a 32-bit event on channel 0 (`trchook`). The entry contains 0, 1 or 5 of the words,
 depending on the type in the hook word.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF, TW_EXCLUDED, TW_MISSED; TW_INVALID
 if the hook word has no valid type. Safe in a signal handler or interrupt if no other call on
 this trace can be in progress.
 */
int tw_trchook(struct tw_aix *trace,
               const struct tw_aix_context *context,
               uint32_t hook_word,
               uint32_t d1,
               uint32_t d2,
               uint32_t d3,
               uint32_t d4,
               uint32_t d5);

/*
 Records a 32-bit event on channel 0 from a program (`utrchook`).

 Number of words, ownership, errors and safety are as for `tw_trchook`.
 */
int tw_utrchook(struct tw_aix *trace,
                const struct tw_aix_context *context,
                uint32_t hook_word,
                uint32_t d1,
                uint32_t d2,
                uint32_t d3,
                uint32_t d4,
                uint32_t d5);

/*
 Records a 64-bit event on channel 0 (`trchook64`, `utrchook64`). The length in the hook word is
 the number of words in the entry, 0 to 5.

 Ownership, errors and safety are as for `tw_trchook`.
 */
int tw_trchook64(struct tw_aix *trace,
                 const struct tw_aix_context *context,
                 uint64_t hook_word,
                 uint64_t d1,
                 uint64_t d2,
                 uint64_t d3,
                 uint64_t d4,
                 uint64_t d5);

/*
 Records a generic event: one data word and up to 4096 bytes (`trcgen`). The hook word has 32
 bits.

 Ownership: the bytes are copied. Errors and safety are as for `tw_trchook`. In addition, the
 call fails with TW_INVALID if `length` is more than 4096.

 # Safety
 * `data` must point to `length` bytes.
 */
int tw_trcgen(struct tw_aix *trace,
              const struct tw_aix_context *context,
              uint32_t channel,
              uint32_t hook_word,
              uint32_t data_word,
              size_t length,
              const void *data);

/*
 Like `tw_trcgen`, with the timestamp flag in the hook word (`trcgent`).

 Ownership, errors and safety are as for `tw_trcgen`.

 # Safety
 * `data` must point to `length` bytes.
 */
int tw_trcgent(struct tw_aix *trace,
               const struct tw_aix_context *context,
               uint32_t channel,
               uint32_t hook_word,
               uint32_t data_word,
               size_t length,
               const void *data);

/*
 Starts a channel in a buffer (`trcstart`) and stores its number: 0 for the event trace, 1 to 7
 for a generic channel.

 Ownership: the channel owns the buffer until `tw_aix_finish`; the memory that `options` refers
 to must stay valid until then. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NONE_FREE,
 TW_TOO_SMALL. Safe in an interrupt if no other call on this trace can be in progress.

 # Safety
 * `buffer` must point to `size` bytes that are not used for anything else until `tw_aix_finish`.
 * The command must be null or null-terminated, and `ids` must point to `id_count` numbers. The
   command and the ids must stay valid until `tw_aix_finish`.
 */
int tw_trcstart(struct tw_aix *trace,
                const struct tw_aix_context *context,
                void *buffer,
                size_t size,
                const struct tw_aix_options *options,
                uint32_t *channel);

/*
 Switches a channel on (`trcon`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF if the channel is not started or
 has stopped. Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_trcon(struct tw_aix *trace, const struct tw_aix_context *context, uint32_t channel);

/*
 Switches a channel off (`trcoff`). `tw_trcon` switches it on again.

 Ownership, errors and safety are as for `tw_trcon`.
 */
int tw_trcoff(struct tw_aix *trace, const struct tw_aix_context *context, uint32_t channel);

/*
 Stops a channel permanently (`trcstop`). Entries in its buffers can still be drained. TW_SERIAL
 or TW_DISCARDBUFS may be added to `channel`.

 Ownership: the channel owns the buffer until `tw_aix_finish`. Errors: TW_NULL,
 TW_NOT_INITIALISED; TW_OFF if the channel is not started; TW_INVALID if both flags are given.
 With TW_SERIAL, the call fails with TW_DRAINING until everything is drained: drain, and call
 again. Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_trcstop(struct tw_aix *trace, const struct tw_aix_context *context, uint32_t channel);

/*
 Stores the header of a channel's log, and the length of this header.

 Ownership: the caller keeps `buffer`. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF if the channel
 is not started; TW_TOO_SMALL if the header does not fit (1024 bytes suffice unless strings are
 long). Safe in an interrupt if no other call on this trace can be in progress.

 # Safety
 * `buffer` must have space for `size` bytes.
 */
int tw_aix_header(struct tw_aix *trace,
                  uint32_t channel,
                  void *buffer,
                  size_t size,
                  size_t *length);

/*
 Stores the location of the next bytes for a channel's log: a full buffer or, if the channel has
 stopped, the remaining bytes. Until `tw_aix_drained`, further calls store the same location.
 Meanwhile, recording continues in the other buffer.

 Ownership: the channel owns the bytes; read them before `tw_aix_drained`. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_NOTHING. Safe in an interrupt if no other call on this trace can be in
 progress.
 */
int tw_aix_waiting(struct tw_aix *trace, uint32_t channel, struct tw_aix_chunk *chunk);

/*
 Releases the bytes that `tw_aix_waiting` returned, after they were written to the log.

 Ownership: the recorder owns the bytes again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING.
 Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_aix_drained(struct tw_aix *trace, uint32_t channel);

/*
 Finishes a stopped and drained channel, and frees its number.

 Ownership: the buffer belongs to the caller again. Errors: TW_NULL, TW_NOT_INITIALISED,
 TW_RUNNING, TW_DRAINING; TW_OFF if the channel is not started. Safe in an interrupt if no other
 call on this trace can be in progress.
 */
int tw_aix_finish(struct tw_aix *trace, uint32_t channel);

/*
 Stores the counts of a channel.

 Ownership: the caller keeps `counts`. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF if the channel
 is not started. Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_aix_count(struct tw_aix *trace, uint32_t channel, struct tw_aix_counts *counts);

/*
 Returns a description of a code in English. For positive codes use strerror.

 Ownership: the string is constant and never freed. Errors: none. Safe in a signal handler.
 */
const char *tw_message(int code);

#if defined(TRACEWELL_HOSTED)
/*
 Starts a thread that writes a stream to a new file. An existing file is replaced.

 If a write fails, the thread retries it and the stream's status reports the error.

 Ownership: the caller owns `*flusher` and passes it to `tw_flusher_stop`; it is null after an
 error. The stream may be closed before the flusher stops. Errors: TW_NULL, or an error of the
 system. Not for signal handlers.

 # Safety
 * `file` must be null-terminated.
 */
int tw_flusher_start(const struct tw_stream *stream, const char *file, struct tw_flusher **flusher);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Writes all events recorded before the call, and ends the log and the thread.

 Ownership: the flusher is freed, even after an error. Errors: TW_NULL, or an error of the file.
 After an error of the file, some events are not in the log, and the stream's status counts them.
 Not for signal handlers.
 */
int tw_flusher_stop(struct tw_flusher *flusher);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Creates a log in a new file. An existing file is replaced. The first `tw_log_drain` writes the
 header.

 Ownership: the caller owns `*log` and passes it to `tw_log_close`; it is null after an error.
 Errors: TW_NULL, or an error of the system. Not for signal handlers.

 # Safety
 * `file` must be null-terminated.
 */
int tw_log_create(const char *file, struct tw_log **log);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Creates a log whose bytes are passed to `sink`, together with `context`.

 Ownership: as `tw_log_create`; the memory of `context` must outlive the log. Errors: TW_NULL.
 Not for signal handlers.
 */
int tw_log_to(tw_sink sink, void *context, struct tw_log **log);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Moves new records from a stream to the log. `events` receives the number of events in these
 records, and may be null. A log belongs to one stream, and a stream has one log at a time.

 Ownership: none. Errors: TW_NULL, or an error of the destination; no record is lost, and the
 next call continues. Not for signal handlers.
 */
int tw_log_drain(struct tw_log *log, const struct tw_stream *stream, uint64_t *events);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Drains the stream again, writes the index, and closes the log.

 Ownership: the log is freed, even after an error. Errors: TW_NULL, or an error of the
 destination. After an error of the destination, some events are not in the log, and the stream's
 status counts them. Not for signal handlers.
 */
int tw_log_close(struct tw_log *log, const struct tw_stream *stream);
#endif

/*
 Fills in default settings: dialect 3.4, the sizes that Trazer assumes, all records and filters
 compiled in, a clock of 1 kHz and the framework's buffer.

 Ownership: the caller keeps `settings`. Errors: TW_NULL. Safe in a signal handler or interrupt.
 */
int tw_rkh_usual(struct tw_rkh_settings *settings);

/*
 Initialises a control block; `tw_rkh_open` starts its stream.

 All filter bits are clear. From RKH 2.4.4 on, a clear bit suppresses records, so all filters are
 on at first. `signals` holds one bit per signal; it may be null if signal filters are not
 compiled in. Ownership: the caller keeps `trace`, which must not move while it is in use and
 need not be freed. The trace keeps using `memory` and `signals`. `clock` and `settings` are
 copied. Errors: TW_NULL; TW_INVALID for an unknown size or dialect. Safe in an interrupt.

 # Safety
 * `memory` must point to `size` bytes and `signals` to `signals_size` bytes, and nothing else
   may use them while the trace is in use.
 * `left_out` in the settings must point to `left_out_count` ids.
 */
int tw_rkh_init(struct tw_rkh *trace,
                const struct tw_rkh_settings *settings,
                const struct tw_clock *clock,
                void *memory,
                size_t size,
                void *signals,
                size_t signals_size);

/*
 Clears the buffer and starts a stream with a flag byte and the configuration record, which has
 the sequence number 0 (`rkh_trc_init`, `RKH_TRC_SEND_CFG`). The filters do not change. After
 this call, send the bytes in the buffer.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_MISSED if the buffer is too small. Safe
 in an interrupt if no other call can be in progress.
 */
int tw_rkh_open(struct tw_rkh *trace);

/*
 Records the configuration again. A decoder that reads this record discards all names.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_MISSED; TW_INVALID in dialects without
 such a record. Safe in an interrupt if no other call can be in progress.
 */
int tw_rkh_configuration(struct tw_rkh *trace);

/*
 Removes the oldest bytes, at most `most` of them, and stores their location
 (`rkh_trc_get_block`).

 A block is contiguous in memory, so it can be shorter than `most` although more bytes are
 waiting. Call again until the result is TW_NOTHING. Ownership: the bytes do not change until the
 next record. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if the buffer is empty. Safe in an
 interrupt if no other call can be in progress.
 */
int tw_rkh_get_block(struct tw_rkh *trace, size_t most, struct tw_rkh_block *block);

/*
 Moves up to `size` bytes to `out`, and stores their number in `count`
 (`rkh_trc_getWholeBlock`).

 Ownership: the caller keeps `out`. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if the buffer
 is empty. Safe in an interrupt if no other call can be in progress.

 # Safety
 * `out` must have space for `size` bytes.
 */
int tw_rkh_read(struct tw_rkh *trace, void *out, size_t size, size_t *count);

/*
 Stores the fill level of the buffer, and its losses.

 Ownership: the caller keeps `status`. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt
 if no other call can be in progress.
 */
int tw_rkh_get_status(struct tw_rkh *trace, struct tw_rkh_status *status);

/*
 Switches the filter of a group (`RKH_FILTER_ON_GROUP`, `RKH_FILTER_OFF_GROUP`), but not the
 filters of its events. TW_RKH_ALL selects all groups.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for an unknown group. Safe in
 an interrupt if no other call can be in progress.
 */
int tw_rkh_filter_group(struct tw_rkh *trace, uint32_t group, uint8_t on_or_off);

/*
 Switches the filter of a group and those of all its events (`RKH_FILTER_ON_GROUP_ALL_EVENTS`,
 `RKH_FILTER_OFF_GROUP_ALL_EVENTS`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for an unknown group. Safe in
 an interrupt if no other call can be in progress.
 */
int tw_rkh_filter_group_all_events(struct tw_rkh *trace, uint8_t group, uint8_t on_or_off);

/*
 Switches the filter of an event (`RKH_FILTER_ON_EVENT`, `RKH_FILTER_OFF_EVENT`). Switching this
 filter off also switches off the filter of the event's group. TW_RKH_ALL selects all groups and
 events.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for an unknown event. Safe in
 an interrupt if no other call can be in progress.
 */
int tw_rkh_filter_event(struct tw_rkh *trace, uint32_t code, uint8_t on_or_off);

/*
 Switches the filter of the active object with the given priority, 0 to 63 (`RKH_FILTER_ON_SMA`,
 `RKH_FILTER_OFF_SMA`). TW_RKH_ALL selects all active objects.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for a priority above 63. Safe
 in an interrupt if no other call can be in progress.
 */
int tw_rkh_filter_object(struct tw_rkh *trace, uint32_t priority, uint8_t on_or_off);

/*
 Switches the filter of a signal (`RKH_FILTER_ON_SIGNAL`, `RKH_FILTER_OFF_SIGNAL`). TW_RKH_ALL
 selects all signals.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for a signal outside the table
 passed to `tw_rkh_init`. Safe in an interrupt if no other call can be in progress.
 */
int tw_rkh_filter_signal(struct tw_rkh *trace, uint32_t signal, uint8_t on_or_off);

/*
 Begins the record of an event (`RKH_TRC_BEGIN`). Write its arguments in order, then call
 `tw_rkh_end`.

 The filters use `priority` (the priority of the record's active object, or TW_RKH_NO_OBJECT) and
 `signal` (the record's signal, or TW_RKH_NO_SIGNAL). A record that is still open is aborted.
 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_EXCLUDED if a filter suppresses the
 record; TW_OFF if the record is not compiled in; TW_INVALID if the dialect has no such event.
 After an error no record is open, and all calls up to and including `tw_rkh_end` have no effect.
 Safe in an interrupt if no other call can be in progress.
 */
int tw_rkh_begin(struct tw_rkh *trace, uint8_t code, int32_t priority, int64_t signal);

/*
 Writes a number or an address as the next argument. High bits that do not fit are dropped. Pass
 all arguments: the call ignores an argument that the settings omit.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no record is open.
 `tw_rkh_end` reports an argument that the event does not have. Safe in an interrupt if no other
 call can be in progress.
 */
int tw_rkh_arg(struct tw_rkh *trace, uint32_t value);

/*
 Writes a string as the next argument.

 Ownership: the string is copied; null is an empty string. Errors: as `tw_rkh_arg`. Safe in an
 interrupt if no other call can be in progress.

 # Safety
 * `value` must be null or null-terminated.
 */
int tw_rkh_text(struct tw_rkh *trace, const char *value);

/*
 Writes bytes of an argument whose format the program defines. Only user events (in versions of
 RKH before 2.3) and expectations of unit tests have such an argument. It is always the last one.

 Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call
 can be in progress.

 # Safety
 * `bytes` must point to `length` bytes.
 */
int tw_rkh_bytes(struct tw_rkh *trace, const void *bytes, size_t length);

/*
 Ends a record (`RKH_TRC_END`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no record is open; TW_MISSED
 if the buffer dropped the record; TW_INVALID if the arguments did not match the event. After
 TW_INVALID, the record is aborted; with the framework's buffer, decoders count it as lost. Safe
 in an interrupt if no other call can be in progress.
 */
int tw_rkh_end(struct tw_rkh *trace);

/*
 Records a complete event whose arguments are all numbers.

 Ownership: the arguments are copied. Errors: as `tw_rkh_begin` and `tw_rkh_end`. Safe in an
 interrupt if no other call can be in progress.

 # Safety
 * `arguments` must point to `count` numbers.
 */
int tw_rkh_record(struct tw_rkh *trace,
                  uint8_t code,
                  int32_t priority,
                  int64_t signal,
                  const uint32_t *arguments,
                  size_t count);

/*
 Begins the record of the user event with the given number, counted from 0 (`RKH_TRC_USR_BEGIN`).
 Write items, then call `tw_rkh_end`.

 Ownership: none. Errors: as `tw_rkh_begin`. Safe in an interrupt if no other call can be in
 progress.
 */
int tw_rkh_begin_user(struct tw_rkh *trace, uint8_t number);

/*
 Writes the next item of a user event. `item_type` is one of TW_RKH_I8 to TW_RKH_X32, TW_RKH_OBJ,
 TW_RKH_FUN or TW_RKH_SIG.

 `width` is the minimum number of characters to print, 0 to 15; it has no effect on addresses and
 signals. Ownership: none. Errors: as `tw_rkh_arg`; TW_INVALID for another type. Safe in an
 interrupt if no other call can be in progress.
 */
int tw_rkh_item(struct tw_rkh *trace, uint8_t item_type, uint8_t width, uint32_t value);

/*
 Writes a string as the next item of a user event.

 Ownership: the string is copied; null is an empty string. Errors: as `tw_rkh_arg`. Safe in an
 interrupt if no other call can be in progress.

 # Safety
 * `value` must be null or null-terminated.
 */
int tw_rkh_item_text(struct tw_rkh *trace, const char *value);

/*
 Writes memory of at most 255 bytes as the next item of a user event.

 Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call
 can be in progress.

 # Safety
 * `bytes` must point to `length` bytes.
 */
int tw_rkh_item_memory(struct tw_rkh *trace, const void *bytes, uint8_t length);

/*
 Records a name for an address or a number (`RKH_TR_FWK_...`). `kind` is one of TW_RKH_OBJECT to
 TW_RKH_USER_EVENT. Filters do not apply. Send the bytes before the buffer fills up.

 `owner` is the active object of a state or pseudostate, and has no effect for all other kinds.
 Ownership: the name is copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_MISSED; TW_INVALID if the
 dialect has no record for this kind. Safe in an interrupt if no other call can be in progress.

 # Safety
 * `name` must be null or null-terminated.
 */
int tw_rkh_symbol(struct tw_rkh *trace,
                  uint8_t kind,
                  uint32_t owner,
                  uint32_t key,
                  const char *name);

/*
 Records a failed assertion (`RKH_TR_FWK_ASSERT`): the module's name without `.c`, and the line.
 The filter of the event and the filter of its group apply. Send the bytes before the program
 stops.

 Ownership: the string is copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_EXCLUDED, TW_OFF,
 TW_MISSED; TW_INVALID in dialects older than 2.3. Safe in an interrupt if no other call can be
 in progress.

 # Safety
 * `module` must be null or null-terminated.
 */
int tw_rkh_assertion(struct tw_rkh *trace, const char *module, uint16_t line);

/*
 Initialises a tracer. It is off, has no chunks, and hides no families.

 `clock` is copied, and the memory of its context must outlive the trace. Ticks are unwrapped to
 64 bits. If the clock has fewer bits and no event is logged for longer than one period of the
 clock, later timestamps are too small.

 Ownership: the caller keeps `trace`, which need not be freed. Errors: TW_NULL. Safe in a signal
 handler or interrupt.
 */
int tw_shark_init(struct tw_shark *trace, const struct tw_clock *clock);

/*
 Switches recording on (`FTrace_enable`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no chunk is selected. Safe
 in an interrupt if no other call on this trace can be in progress.
 */
int tw_shark_enable(struct tw_shark *trace);

/*
 Switches recording off (`FTrace_disable`). Chunks, positions and filters are kept.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call on
 this trace can be in progress.
 */
int tw_shark_disable(struct tw_shark *trace);

/*
 Logs an event (`TRACER_LOGEVENT`): a code, a 16-bit parameter and a 32-bit parameter. Code 0xFF
 is the command of `tw_shark_next_chunk`.

 At the end of a chunk, the chunk's mode determines the next step: recording continues at the
 start of the chunk, continues in the linked chunk, or stops. If the chunk is full, essential
 events are stored in its emergency area. For each cause, `tw_shark_get_status` reports the
 number of events that were not stored.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF; TW_EXCLUDED if the family is
 hidden; TW_MISSED if no chunk has space; TW_NOTHING for the command if no chunk is linked;
 TW_INVALID for code 0. Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_shark_log(struct tw_shark *trace, uint8_t code, uint16_t par1, uint32_t par2);

/*
 Logs an event without checking its family's filter (`FAST_TRACER_LOGEVENT`). Readers ignore the
 second parameter of such records, because the kernel's fast path writes none.

 Ownership, errors and safety are as for `tw_shark_log`; in addition, code 0xFF causes
 TW_INVALID.
 */
int tw_shark_log_fast(struct tw_shark *trace, uint8_t code, uint16_t par1, uint32_t par2);

/*
 Marks the current chunk as full, whatever its mode is, and continues in the chunk linked to it
 (`FTrace_EVT_next_chunk`). No record is stored.

 Ownership, errors and safety are as for `tw_shark_log`.
 */
int tw_shark_next_chunk(struct tw_shark *trace);

/*
 Hides a family, or shows it again if `status` is 0 (`FTrace_set_filter`). If tracing is on, the
 call logs the change. Only the low four bits of `family` are used.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for family 15, which holds
 commands; TW_MISSED if the filter is set but there was no space for the record. Safe in an
 interrupt if no other call on this trace can be in progress.
 */
int tw_shark_set_filter(struct tw_shark *trace, uint8_t family, uint16_t status);

/*
 Stores the status of a tracer.

 Ownership: the caller keeps `status`. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt
 if no other call on this trace can be in progress.
 */
int tw_shark_get_status(struct tw_shark *trace, struct tw_shark_status *status);

/*
 Creates a chunk (`FTrace_chunk_create`) and stores its number, which is the lowest free number.

 The chunk uses 48 bytes plus both areas. The call fills this part of the memory with zeros.
 Between two calls the memory is an image that `tracewell` can read. Without TW_FREE the chunk
 can be neither selected nor linked.

 Ownership: the trace owns the memory until `tw_shark_chunk_delete`. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_TOO_SMALL, TW_NONE_FREE; TW_INVALID for invalid sizes or flags. Safe in
 an interrupt if no other call on this trace can be in progress.

 # Safety
 * `memory` must point to `size` bytes that are not used for anything else until the chunk is
   deleted or compressed.
 */
int tw_shark_chunk_create(struct tw_shark *trace,
                          void *memory,
                          size_t size,
                          const struct tw_shark_areas *areas,
                          uint8_t flags,
                          uint8_t *number);

/*
 Deletes a chunk (`FTrace_chunk_delete`) and stores the location of its memory, which still holds
 the records. If the chunk has TW_NODEL, stores null and does nothing.

 Ownership: the memory belongs to the caller again. Errors: TW_NULL, TW_NOT_INITIALISED;
 TW_NOTHING if there is no such chunk; TW_IN_USE while the chunk is recording, is the target of a
 link, or is being sent. Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_shark_chunk_delete(struct tw_shark *trace, uint8_t number, void **memory);

/*
 Replaces a chunk's flags (`FTrace_set_chunk_flags`), except for TW_BUSY and TW_COMPR. If
 TW_FREE was not set before, setting it clears the chunk.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE; TW_INVALID for
 invalid flags. Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_shark_set_chunk_flags(struct tw_shark *trace, uint8_t number, uint8_t flags);

/*
 Stores a chunk's flags (`FTrace_get_chunk_flags`), including TW_FULL and TW_BUSY.

 Ownership: the caller keeps `flags`. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in an
 interrupt if no other call on this trace can be in progress.
 */
int tw_shark_get_chunk_flags(struct tw_shark *trace, uint8_t number, uint8_t *flags);

/*
 Selects a free chunk for recording (`FTrace_actual_chunk_select`) and clears its TW_FREE flag.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_NOT_FREE; TW_IN_USE while
 the chunk is being sent. Safe in an interrupt if no other call on this trace can be in progress.
 */
int tw_shark_chunk_select(struct tw_shark *trace, uint8_t number);

/*
 Links chunk `from` to chunk `to` (`FTrace_chunk_link`): when `from` fills up or recording moves
 away from it, recording continues in `to` and the link is removed. Clears the TW_FREE flag of
 `to`. `before` receives the former successor of `from` or TW_NO_CHUNK, and may be null.

 Ownership: none. Errors: as `tw_shark_chunk_select` for `to`; TW_NOTHING and TW_IN_USE for
 `from`; TW_INVALID if the links would form a circle. Safe in an interrupt if no other call on
 this trace can be in progress.
 */
int tw_shark_chunk_link(struct tw_shark *trace, uint8_t from, uint8_t to, int16_t *before);

/*
 Stores the number of the first chunk with one of the given flags (`FTrace_get_first_chunk`).
 If `flags` has mode bits, the chunk must have exactly this mode. 0 finds the first cyclic chunk.

 Ownership: the caller keeps `number`. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in
 an interrupt if no other call on this trace can be in progress.
 */
int tw_shark_get_first_chunk(struct tw_shark *trace, uint8_t flags, uint8_t *number);

/*
 Copies up to `room` entries of the chunk table (`FTrace_get_chunk_table`), ordered by number.
 `count` receives the number of chunks.

 Ownership: the caller keeps `table` and `count`. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an
 interrupt if no other call on this trace can be in progress.

 # Safety
 * `table` must have space for `room` chunks.
 */
int tw_shark_get_chunk_table(struct tw_shark *trace,
                             struct tw_shark_chunk *table,
                             size_t room,
                             size_t *count);

/*
 Stores the location of a chunk's image: its descriptor, header and both areas. `tracewell` can
 read the image if it is saved as a file.

 Ownership: the trace owns the bytes, and the next call may change them. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_NOTHING; TW_IN_USE while the chunk is being sent. Safe in an interrupt if
 no other call on this trace can be in progress.
 */
int tw_shark_image(struct tw_shark *trace, uint8_t number, const void **bytes, size_t *length);

/*
 Stores the number of bytes that a chunk needs when it is compressed.

 Ownership: the caller keeps `size`. Errors: as `tw_shark_compress_chunk`. Safe in an interrupt
 if no other call on this trace can be in progress.
 */
int tw_shark_compressed_size(struct tw_shark *trace, uint8_t number, size_t *size);

/*
 Compresses a chunk into other memory (`FTrace_compress_chunk`) and stores the location of its
 former memory. The chunk keeps its number and content. Its flags become `new_flags`, with
 TW_COMPR added and TW_FREE removed. The time is proportional to the chunk's size.

 Ownership: the trace owns `memory` until the chunk is deleted; `*before` belongs to the caller
 again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_TOO_SMALL; TW_INVALID for invalid
 flags; TW_NOT_FREE if the chunk is already compressed; TW_IN_USE while the chunk is recording,
 is the target of a link, or is being sent. After an error the chunk is unchanged. Safe in an
 interrupt if no other call on this trace can be in progress.

 # Safety
 * `memory` must point to `size` bytes that are not used for anything else until the chunk is
   deleted.
 */
int tw_shark_compress_chunk(struct tw_shark *trace,
                            uint8_t number,
                            uint8_t new_flags,
                            void *memory,
                            size_t size,
                            void **before);

#if defined(TRACEWELL_HOSTED)
/*
 Creates a sender that writes each chunk's records to a file (`FTrace_init_disk_writer`). If the
 last component of `file` is `NAME`, the chunk that is sent first is written to `0NAME` in the
 same folder, the next one to `1NAME`, and so on. A file appears when it is complete. `file`
 itself is not written.

 Ownership: the caller owns `*sender` and passes it to `tw_shark_sender_close`; it is null after
 an error. Errors: TW_NULL, or an error of the system; TW_INVALID if the name is unsuitable or
 too long. Not for signal handlers.

 # Safety
 * `file` must be null-terminated.
 */
int tw_shark_disk_writer(const char *file, struct tw_shark_sender **sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Creates a sender that sends UDP datagrams from address `local` to address `target`
 (`FTrace_OSD_init_udp`). Both addresses have the form `HOST:PORT`. The kernel uses port 20000 at
 both ends. `pause_us` is the pause after each datagram in microseconds; the kernel pauses for
 5000.

 Datagrams are not acknowledged: success means only that the system accepted them.

 Ownership: as `tw_shark_disk_writer`. Errors: TW_NULL, or an error of the system; TW_INVALID for
 an invalid address. Not for signal handlers.

 # Safety
 * `local` and `target` must be null-terminated.
 */
int tw_shark_udp_sender(const char *local,
                        const char *target,
                        uint32_t pause_us,
                        struct tw_shark_sender **sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Creates a sender that passes the datagrams to a function, together with `context`. Use it for
 serial lines and for network stacks without sockets. A chunk without records is sent as a
 datagram of 0 bytes.

 Ownership: as `tw_shark_disk_writer`; the memory of `context` must outlive the sender. Errors:
 TW_NULL. Not for signal handlers.
 */
int tw_shark_datagrams(tw_datagram send, void *context, struct tw_shark_sender **sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Frees a sender. Null is allowed.

 Ownership: the sender is freed. Errors: none. Not for signal handlers.
 */
void tw_shark_sender_close(struct tw_shark_sender *sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Sends a chunk and then sets its flags (`FTrace_send_chunk`). The flag TW_FREE clears the chunk.
 No other function may use the trace in the meantime. For slow senders use `tw_shark_begin_send`,
 `tw_shark_send` and `tw_shark_end_send`.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, or an error of the sender;
 TW_INVALID for invalid flags; TW_IN_USE if the chunk is being sent or is the target of a link.
 After an error the chunk is unchanged and can be sent again. Not for signal handlers.
 */
int tw_shark_send_chunk(struct tw_shark *trace,
                        uint8_t number,
                        uint8_t new_flags,
                        struct tw_shark_sender *sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Copies a chunk's records for a sender, while recording continues in other chunks. Until
 `tw_shark_end_send`, events for this chunk are dropped and counted.

 Ownership: the caller owns `*dump` and passes it to `tw_shark_end_send`; it is null after an
 error. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE. Not for signal handlers.
 */
int tw_shark_begin_send(struct tw_shark *trace, uint8_t number, struct tw_shark_dump **dump);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Sends the copied records. Does not use the trace.

 Ownership: none. Errors: TW_NULL, or an error of the sender. After an error, call this function
 again, or call `tw_shark_end_send` with `sent` 0. Not for signal handlers.
 */
int tw_shark_send(struct tw_shark_sender *sender, const struct tw_shark_dump *dump);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Returns a chunk to its trace. If `sent` is 1, the chunk was sent and gets the new flags. If
 `sent` is 0, the chunk is unchanged.

 Ownership: the dump is freed, even after an error. Errors: TW_NULL, TW_NOT_INITIALISED;
 TW_INVALID for invalid flags (the chunk is unchanged) or for the dump of another trace (the
 dumped chunk stays busy). Not for signal handlers.
 */
int tw_shark_end_send(struct tw_shark *trace,
                      struct tw_shark_dump *dump,
                      int sent,
                      uint8_t new_flags);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Creates a suspended stream in a new file, for example in `/dev/shm`, or only in memory if `file`
 is null. `options` may be null for the defaults.

 Ownership: the caller owns `*stream` and passes it to `tw_stream_close`; it is null after an
 error. The file is kept when the stream is closed. Errors: TW_NULL, TW_INVALID, TW_TOO_SMALL, or
 an error of the system (EEXIST); TW_NONE_FREE if the process already has 16 streams. Not for
 signal handlers.

 # Safety
 * `file` must be null or null-terminated.
 */
int tw_stream_create(const char *file,
                     const struct tw_stream_options *options,
                     struct tw_stream **stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Opens a stream that another process created in a file.

 Ownership: as `tw_stream_create`. Errors: TW_NULL, TW_NONE_FREE, or an error of the system;
 TW_INVALID if the file is not a stream. Not for signal handlers.

 # Safety
 * `file` must be null-terminated.
 */
int tw_stream_open(const char *file, struct tw_stream **stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Opens the stream that the environment variable `TRACEWELL_STREAM` names. `tracewell record` sets
 this variable for the programs that it starts.

 Ownership: as `tw_stream_create`. Errors: TW_NOTHING if the variable is not set, otherwise as
 `tw_stream_open`. After TW_NOTHING the stored stream is null. `tw_stream_close` accepts null;
 all other functions return TW_NULL for it. Not for signal handlers; no other thread may change
 the environment during the call.
 */
int tw_stream_from_environment(struct tw_stream **stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Closes a stream. Null is allowed.

 Ownership: the stream is freed; its file is kept. No call on the stream may be in progress, and
 logs of the stream must not be drained again; an active flusher may continue. Errors: none. Not
 for signal handlers.
 */
void tw_stream_close(struct tw_stream *stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Starts recording.

 Ownership: none. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_start(const struct tw_stream *stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Stops recording. Events that begin after the call are not recorded.

 Ownership: none. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_stop(const struct tw_stream *stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Removes all records and resets the counts of losses. A running stream continues to record.

 Ownership: none. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_clear(const struct tw_stream *stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Sets the filter of families: one bit per family, 1 if the family is not recorded.

 Ownership: none. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_filter_families(const struct tw_stream *stream, uint64_t families);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Excludes events with the given id (`left_out` 1) or records them again (0).

 Ownership: none. Errors: TW_NULL; TW_INVALID for an id above 2047. Safe in a signal handler.
 */
int tw_stream_filter_event(const struct tw_stream *stream, uint16_t id, int left_out);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Stores the status of a stream.

 Ownership: the caller keeps `status`. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_get_status(const struct tw_stream *stream, struct tw_stream_status *status);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Defines an event type in a stream, such as `"net/sent(length:u64,queue:hex,note:text)"`. The
 types of fields are u64, i64, hex, bool and f64; the last field may also be text or bytes.

 If the stream already has this event type, the call returns its id. So every process and thread
 may define the type.

 Ownership: the string is copied. Errors: TW_NULL; TW_INVALID for a malformed string or a family
 above 62; TW_NONE_FREE if the stream already has 1984 types. Safe in a signal handler.

 # Safety
 * `event_type` must be null-terminated.
 */
int tw_define(const struct tw_stream *stream,
              uint16_t family,
              const char *event_type,
              struct tw_event *event);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Records an event with one number per field. For an f64 field, pass the bits of a double. Never
 waits and never allocates. It is not an error if the event is filtered out or lost, or if the
 stream is suspended. `tw_stream_get_status` reports losses.

 Ownership: the fields are copied. Errors: TW_NULL; TW_INVALID for an invalid family. Safe in a
 signal handler, even in one that interrupts this function.

 # Safety
 * `fields` must point to `count` numbers.
 */
int tw_record(const struct tw_stream *stream,
              struct tw_event event,
              const uint64_t *fields,
              size_t count);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Records an event whose last field is a string or bytes, with at most 15 fields before it. An
 event that does not fit into a packet is lost and counted.

 Ownership: fields and bytes are copied. Errors: TW_NULL; TW_INVALID for more than 15 fields or
 an invalid family. Safe in a signal handler, even in one that interrupts this function.

 # Safety
 * `fields` must point to `count` numbers.
 * `bytes` must point to `length` bytes.
 */
int tw_record_with(const struct tw_stream *stream,
                   struct tw_event event,
                   const uint64_t *fields,
                   size_t count,
                   const void *bytes,
                   size_t length);
#endif

/*
 Initialises a control block, with tracing off, for 32-bit words in this machine's byte order.
 Must not be called for a trace that is on.

 Ownership: the caller keeps `trace`, which must not move and need not be freed. `clock` is
 copied, and the memory of its context must outlive the trace. Errors: TW_NULL. Safe in a signal
 handler or interrupt.
 */
int tw_threadx_init(struct tw_threadx *trace, const struct tw_clock *clock);

/*
 Initialises a control block, with tracing off, for another kind of target.

 Ownership and safety are as for `tw_threadx_init`; `layout` is copied. Errors: TW_NULL;
 TW_INVALID for an invalid word size or byte order.
 */
int tw_threadx_init_for(struct tw_threadx *trace,
                        const struct tw_clock *clock,
                        const struct tw_threadx_layout *layout);

/*
 Switches tracing on in the given memory and records two RUNNING events (`tx_trace_enable`).

 The memory holds a header of 48 bytes, 48 bytes per registry slot, and 32 bytes per event.
 Between two calls the memory is always an image that TraceX can read: save it as a `.trx` file.

 Ownership: the trace owns the memory until `tw_threadx_disable`; the existing objects in
 `objects` are copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_TOO_SMALL, TW_INVALID; TW_NOT_DONE
 if tracing is already on. Safe in an interrupt if no other call can be in progress.

 # Safety
 * `memory` must point to `size` bytes that are not used for anything else until the trace is
   disabled.
 * `objects` must point to `object_count` objects, whose names must be null or null-terminated.
 */
int tw_threadx_enable(struct tw_threadx *trace,
                      void *memory,
                      size_t size,
                      size_t registry_slots,
                      const struct tw_threadx_object *objects,
                      size_t object_count,
                      const struct tw_threadx_context *context);

/*
 Switches tracing off (`tx_trace_disable`).

 Ownership: the memory belongs to the caller again and holds the complete image. Errors: TW_NULL,
 TW_NOT_INITIALISED; TW_NOT_DONE if tracing is already off. Safe in an interrupt if no other call
 can be in progress.
 */
int tw_threadx_disable(struct tw_threadx *trace);

/*
 Returns 1 if tracing is on, 0 if it is off, or an error.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt.
 */
int tw_threadx_is_on(struct tw_threadx *trace);

/*
 Sets the function to call whenever the ring wraps; null for none
 (`tx_trace_buffer_full_notify`).

 Ownership: the memory of `notify_context` must stay valid while the function is set. Errors:
 TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can be in progress.
 */
int tw_threadx_buffer_full_notify(struct tw_threadx *trace,
                                  tw_threadx_notify notify,
                                  void *notify_context);

/*
 Stops recording some classes of events (`tx_trace_event_filter`). `classes` is any combination
 of ThreadX's `TX_TRACE_..._EVENTS`.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
 be in progress.
 */
int tw_threadx_event_filter(struct tw_threadx *trace, uint32_t classes);

/*
 Records classes of events again (`tx_trace_event_unfilter`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
 be in progress.
 */
int tw_threadx_event_unfilter(struct tw_threadx *trace, uint32_t classes);

/*
 Registers an object, so that readers can show its name instead of its address
 (`tx_trace_object_register`).

 Ownership: the object and its name are copied. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING
 if tracing is off or the registry is full. Safe in an interrupt if no other call can be in
 progress.

 # Safety
 * The object's name must be null or null-terminated.
 */
int tw_threadx_register(struct tw_threadx *trace, const struct tw_threadx_object *object);

/*
 Marks an object as deleted (`tx_trace_object_unregister`). The object's name is kept until its
 slot is reused.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_NOTHING if no object has the address.
 Safe in an interrupt if no other call can be in progress.
 */
int tw_threadx_unregister(struct tw_threadx *trace, uint64_t pointer);

/*
 Records an event of the kernel: its id, four information words, and the bit of its class.

 `entry` receives the position for `tw_threadx_patch`, and may be null.

 Ownership: the caller keeps `entry`. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID; TW_NOTHING
 if tracing is off or the class is filtered out. Safe in an interrupt if no other call can be in
 progress.

 # Safety
 * `info` must point to 4 numbers.
 */
int tw_threadx_insert(struct tw_threadx *trace,
                      const struct tw_threadx_context *context,
                      uint32_t id,
                      const uint64_t *info,
                      uint32_t class_bit,
                      struct tw_threadx_entry *entry);

/*
 Replaces one of the information words 1 to 4 of an event, if its slot still holds the event.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_INVALID for any other number;
 TW_NOTHING if the event was overwritten. Safe in an interrupt if no other call can be in
 progress.
 */
int tw_threadx_patch(struct tw_threadx *trace,
                     const struct tw_threadx_entry *entry,
                     uint32_t number,
                     uint64_t value);

/*
 Records an event of the application (`tx_trace_user_event_insert`) with an id from 4096 to
 65535. It is not an error if the event is filtered out.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID; TW_NOT_DONE if tracing is off.
 Safe in an interrupt if no other call can be in progress.
 */
int tw_threadx_user_event(struct tw_threadx *trace,
                          const struct tw_threadx_context *context,
                          uint32_t id,
                          uint64_t info1,
                          uint64_t info2,
                          uint64_t info3,
                          uint64_t info4);

/*
 Records the start of an interrupt service routine (`tx_trace_isr_enter_insert`). If tracing is
 off, does nothing and returns TW_OK.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID. Safe in an interrupt if no
 other call can be in progress.
 */
int tw_threadx_isr_enter(struct tw_threadx *trace,
                         const struct tw_threadx_context *context,
                         const struct tw_threadx_isr *isr);

/*
 Records the end of an interrupt service routine (`tx_trace_isr_exit_insert`).

 Ownership: none. Errors: as `tw_threadx_isr_enter`. Safe in an interrupt if no other call can be
 in progress.
 */
int tw_threadx_isr_exit(struct tw_threadx *trace,
                        const struct tw_threadx_context *context,
                        const struct tw_threadx_isr *isr);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TRACEWELL_H */
