/* Tracewell's recorders for C and C++. Made from crates/capi/src by its tests: do not edit.
 *
 * Functions that return int return TW_OK (0), a negative TW_ code, or a positive error number of the
 * system. "The caller" of a pointer keeps what the text of the function says. Link libtracewell_capi. */

#ifndef TRACEWELL_H
#define TRACEWELL_H

#include <stddef.h>
#include <stdint.h>

/* Firmware that links the library without operating system defines TRACEWELL_FIRMWARE. */
#ifndef TRACEWELL_FIRMWARE
#define TRACEWELL_HOSTED
#endif

/*
 No thread, no process.
 */
#define TW_UNKNOWN UINT64_MAX

/*
 Two buffers, one of which is drained while the other fills.
 */
#define TW_ALTERNATE 0

/*
 One buffer, newest entries over oldest.
 */
#define TW_CIRCULAR 1

/*
 One buffer; the channel stops when it is full.
 */
#define TW_SINGLE 2

/*
 Events in `ids` are recorded, others are not (`-j`).
 */
#define TW_ONLY 1

/*
 Events in `ids` are not recorded, others are (`-k`).
 */
#define TW_EXCEPT 2

/*
 Flag of `tw_trcstop`: not done before the log is complete.
 */
#define TW_SERIAL 1073741824

/*
 Flag of `tw_trcstop`: throw away what is not in the log yet.
 */
#define TW_DISCARDBUFS 536870912

/*
 Done.
 */
#define TW_OK 0

/*
 A pointer is null that must not be.
 */
#define TW_NULL -1

/*
 An argument is outside its range, or a file is not what it should be.
 */
#define TW_INVALID -2

/*
 A fault in Tracewell itself was caught. What the call was about should not be used any more.
 */
#define TW_PANIC -3

/*
 The storage was never initialised.
 */
#define TW_NOT_INITIALISED -4

/*
 Memory or a buffer is too small (ThreadX: TX_SIZE_ERROR).
 */
#define TW_TOO_SMALL -5

/*
 Tracing is on already, or it is off (ThreadX: TX_NOT_DONE).
 */
#define TW_NOT_DONE -6

/*
 No channel, stream or event id is free.
 */
#define TW_NONE_FREE -7

/*
 Tracing is off; the channel is not started, off or stopped. Nothing was recorded or changed.
 */
#define TW_OFF -8

/*
 The channel's list of events, or a filter, leaves the event out.
 */
#define TW_EXCLUDED -9

/*
 There was no room for the event; the loss is counted, and stands in the trace.
 */
#define TW_MISSED -10

/*
 The channel has not stopped yet.
 */
#define TW_RUNNING -11

/*
 The channel's buffers are not drained yet.
 */
#define TW_DRAINING -12

/*
 The id means another event in this stream.
 */
#define TW_CONFLICT -13

/*
 There is nothing to be had: no stream in the environment, nothing waiting, no such entry or chunk.
 */
#define TW_NOTHING -14

/*
 The chunk is not free, or compressed.
 */
#define TW_NOT_FREE -15

/*
 The chunk records, is the successor of another one, or is being sent.
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
 Filters of active objects are.
 */
#define TW_RKH_FILTER_OBJECTS 2

/*
 Filters of signals are.
 */
#define TW_RKH_FILTER_SIGNALS 4

/*
 Records of user events are compiled in.
 */
#define TW_RKH_USER_TRACE (1 << 2)

/*
 Records of all groups are.
 */
#define TW_RKH_ALL_GROUPS (1 << 3)

/*
 Records of memory pools are.
 */
#define TW_RKH_MP (1 << 4)

/*
 Records of queues are.
 */
#define TW_RKH_QUE (1 << 5)

/*
 Records of active objects are.
 */
#define TW_RKH_SMA (1 << 6)

/*
 Records of timers are.
 */
#define TW_RKH_TMR (1 << 7)

/*
 Records of state machines are.
 */
#define TW_RKH_SM (1 << 8)

/*
 Records of the framework are.
 */
#define TW_RKH_FWK (1 << 9)

/*
 Records of failed assertions are.
 */
#define TW_RKH_ASSERT (1 << 10)

/*
 A filter is on: records are held back.
 */
#define TW_RKH_FILTER_ON 0

/*
 A filter is off: records pass.
 */
#define TW_RKH_FILTER_OFF 1

/*
 All groups, events, active objects or signals.
 */
#define TW_RKH_ALL UINT32_MAX

/*
 A record that is about no active object.
 */
#define TW_RKH_NO_OBJECT -1

/*
 A record that is about no signal.
 */
#define TW_RKH_NO_SIGNAL -1

/*
 An item: a signed number of 1 byte.
 */
#define TW_RKH_I8 0

/*
 An item: an unsigned number of 1 byte.
 */
#define TW_RKH_UI8 1

/*
 An item: a signed number of 2 bytes.
 */
#define TW_RKH_I16 2

/*
 An item: an unsigned number of 2 bytes.
 */
#define TW_RKH_UI16 3

/*
 An item: a signed number of 4 bytes.
 */
#define TW_RKH_I32 4

/*
 An item: an unsigned number of 4 bytes.
 */
#define TW_RKH_UI32 5

/*
 An item: a number to be shown in hexadecimal.
 */
#define TW_RKH_X32 6

/*
 An item: an object's address.
 */
#define TW_RKH_OBJ 9

/*
 An item: a function's address.
 */
#define TW_RKH_FUN 10

/*
 An item: a signal.
 */
#define TW_RKH_SIG 11

/*
 Names data at an address.
 */
#define TW_RKH_OBJECT 0

/*
 Names an active object.
 */
#define TW_RKH_ACTIVE_OBJECT 1

/*
 Names a queue.
 */
#define TW_RKH_QUEUE 2

/*
 Names a timer.
 */
#define TW_RKH_TIMER 3

/*
 Names what posts events.
 */
#define TW_RKH_ACTOR 4

/*
 Names a function.
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
 Names a signal, by number.
 */
#define TW_RKH_SIGNAL 8

/*
 Names an event pool: by number from 0 on in 3.x, by address before.
 */
#define TW_RKH_EVENT_POOL 9

/*
 Names a user event, by number from 0 on.
 */
#define TW_RKH_USER_EVENT 10

/*
 No chunk, where a chunk's number is told.
 */
#define TW_NO_CHUNK -1

/*
 The chunk may be selected or linked to.
 */
#define TW_FREE 1

/*
 It takes no more records.
 */
#define TW_FULL 2

/*
 Mode: at its end recording goes on at its start.
 */
#define TW_CYC 0

/*
 Mode: at its end recording goes on in the chunk that it is linked to.
 */
#define TW_JTN 4

/*
 Mode: at its end recording stops.
 */
#define TW_STOP 8

/*
 It is being sent.
 */
#define TW_BUSY 16

/*
 `tw_shark_chunk_delete` leaves it alone.
 */
#define TW_NODEL 32

/*
 Its content is compressed.
 */
#define TW_COMPR 64

#if defined(TRACEWELL_HOSTED)
/*
 The oldest packet of a thread is overwritten.
 */
#define TW_LOOP 0
#endif

#if defined(TRACEWELL_HOSTED)
/*
 The stream stops.
 */
#define TW_UNTIL_FULL 1
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Events are lost, and counted, until a log takes some out.
 */
#define TW_FLUSH 2
#endif

/*
 A thread, its service calls included.
 */
#define TW_THREAD 0

/*
 An interrupt service routine.
 */
#define TW_INTERRUPT 1

/*
 Before the scheduler started.
 */
#define TW_INITIALIZATION 2

/*
 Words of this machine's byte order.
 */
#define TW_NATIVE 0

/*
 Little-endian words.
 */
#define TW_LITTLE 1

/*
 Big-endian words.
 */
#define TW_BIG 2

#if defined(TRACEWELL_HOSTED)
/*
 A thread that flushes.
 */
typedef struct tw_flusher tw_flusher;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A log that is being written. One thread at a time.
 */
typedef struct tw_log tw_log;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A chunk that is being sent.
 */
typedef struct tw_shark_dump tw_shark_dump;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Carries chunks. One thread at a time.
 */
typedef struct tw_shark_sender tw_shark_sender;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A stream, to which any number of threads record at a time.
 */
typedef struct tw_stream tw_stream;
#endif

/*
 An AIX trace: up to eight channels. Its words are nobody's business.

 Static memory or zeroed; `tw_aix_init` before anything else.
 */
typedef struct tw_aix {
  uint64_t words[640];
} tw_aix;

/*
 Where time stamps come from.

 `read` is called once for each recorded event, in the context of the call that records; it must not
 record. Null counts the events instead of time.
 */
typedef struct tw_clock {
  /*
   Returns the present tick. `context` is handed to it.
   */
  uint64_t (*read)(void *context);
  /*
   What `read` is given; may be null.
   */
  void *context;
  /*
   The bits of a tick that count, normally 2^n - 1; 0 for the dialect's usual width (ThreadX that
   of its words, the others 64 bits).
   */
  uint64_t valid_mask;
} tw_clock;

/*
 The traced machine. Its texts end with a NUL and stay as long as the trace; null is an empty one.
 */
typedef struct tw_aix_machine {
  /*
   Nanoseconds = ticks * multiplier / divisor; 0 and 0 for a tick a nanosecond.
   */
  uint64_t multiplier;
  /*
   See multiplier.
   */
  uint64_t divisor;
  /*
   Operating system and release.
   */
  const char *system;
  /*
   Node name.
   */
  const char *node;
  /*
   Machine id.
   */
  const char *machine;
  /*
   Internet address.
   */
  const char *address;
  /*
   CPUs in the machine; 0 is 1.
   */
  uint32_t cpus;
  /*
   CPUs that are traced; 0 is 1.
   */
  uint32_t cpus_traced;
  /*
   Bits of the words of entries that the trace records by itself: 32, or 64 for anything else.
   */
  uint32_t bits;
} tw_aix_machine;

/*
 Who calls. A thread or process that is not known is TW_UNKNOWN.
 */
typedef struct tw_aix_context {
  /*
   Thread.
   */
  uint64_t tid;
  /*
   Its process.
   */
  uint64_t pid;
  /*
   CPU, from 0.
   */
  uint16_t cpu;
} tw_aix_context;

/*
 What a channel is to be like; all 0 is the event trace with alternate buffers. What it points at
 stays as long as the channel is not finished.
 */
typedef struct tw_aix_options {
  /*
   Wall clock now, in nanoseconds since 1970, UTC.
   */
  uint64_t wall_clock_ns;
  /*
   Bytes of the log; 0 for no limit.
   */
  uint64_t log_size;
  /*
   The command, for the heading of a report; null for none.
   */
  const char *command;
  /*
   16-bit hook ids (0x1230 for hook 123); see `list`.
   */
  const uint16_t *ids;
  /*
   How many ids.
   */
  size_t id_count;
  /*
   0 for all events, TW_ONLY, TW_EXCEPT.
   */
  uint8_t list;
  /*
   TW_ALTERNATE, TW_CIRCULAR or TW_SINGLE.
   */
  uint8_t mode;
  /*
   1 for a generic channel, 1 to 7; 0 for the event trace.
   */
  uint8_t generic;
  /*
   1 to record nothing before `tw_trcon`.
   */
  uint8_t deferred;
  /*
   1 to stop where the log is full; 0 to start it over.
   */
  uint8_t stop_at_log_size;
  /*
   1 for the log of one CPU beside a base log.
   */
  uint8_t per_cpu;
} tw_aix_options;

/*
 Frames for the log, oldest first, none split.
 */
typedef struct tw_aix_chunk {
  /*
   The frames.
   */
  const void *bytes;
  /*
   How many bytes.
   */
  size_t length;
  /*
   1 where the log has reached its size: cut it behind its header first.
   */
  int starts_over;
} tw_aix_chunk;

/*
 How many entries went where since the channel was started.
 */
typedef struct tw_aix_counts {
  /*
   Stored in a buffer.
   */
  uint64_t recorded;
  /*
   Not stored for want of room.
   */
  uint64_t missed;
  /*
   Stored, and overwritten before anybody saw them.
   */
  uint64_t overwritten;
  /*
   Stored, and thrown away at the stop.
   */
  uint64_t discarded;
  /*
   Times that a circular buffer came round, or that entries began to be missed.
   */
  uint64_t buffer_wraps;
  /*
   Times that the log started over.
   */
  uint64_t log_wraps;
} tw_aix_counts;

#if defined(TRACEWELL_HOSTED)
/*
 Takes bytes of a log: returns how many it took, 1 at least, or the negative of an error number. The
 bytes that it did not take come again.
 */
typedef ptrdiff_t (*tw_sink)(void *context, const void *bytes, size_t length);
#endif

/*
 What RKH's configuration macros say. Sizes are in bytes: 1, 2 or 4, those of addresses 2 or 4.
 */
typedef struct tw_rkh_settings {
  /*
   TW_RKH_3_4 or another dialect.
   */
  uint8_t dialect;
  /*
   Event id (`RKH_CFG_TRC_SIZEOF_TE_ID`).
   */
  uint8_t id;
  /*
   Whether records are numbered (`RKH_CFG_TRC_NSEQ_EN`).
   */
  uint8_t sequence;
  /*
   Time stamp (`RKH_CFGPORT_TRC_SIZEOF_TSTAMP`); 0 for none (`RKH_CFG_TRC_TSTAMP_EN`).
   */
  uint8_t stamp;
  /*
   Whether records have a checksum (`RKH_CFG_TRC_CHK_EN`).
   */
  uint8_t checksum;
  /*
   Address (`RKH_CFGPORT_TRC_SIZEOF_PTR`).
   */
  uint8_t pointer;
  /*
   Address of a function (`RKH_CFGPORT_TRC_SIZEOF_FUN_PTR`).
   */
  uint8_t function;
  /*
   Signal (`RKH_CFG_FWK_SIZEOF_EVT`).
   */
  uint8_t signal;
  /*
   Size of an event (`RKH_CFG_FWK_SIZEOF_EVT_SIZE`).
   */
  uint8_t event_size;
  /*
   Count of memory blocks (`RKH_CFG_MP_SIZEOF_NBLOCK`).
   */
  uint8_t block_count;
  /*
   Size of a memory block (`RKH_CFG_MP_SIZEOF_BSIZE`).
   */
  uint8_t block_size;
  /*
   Count of queue elements (`RKH_CFG_QUE_SIZEOF_NELEM`).
   */
  uint8_t queue_count;
  /*
   Timer ticks (`RKH_CFG_TMR_SIZEOF_NTIMER`).
   */
  uint8_t timer_ticks;
  /*
   Whether senders are recorded (`RKH_CFG_SMA_TRC_SNDR_EN`).
   */
  uint8_t sender;
  /*
   Whether queues have low-water marks (`RKH_CFG_QUE_GET_LWMARK_EN`).
   */
  uint8_t queue_low_water;
  /*
   Whether memory pools have them (`RKH_CFG_MP_GET_LWM_EN`).
   */
  uint8_t pool_low_water;
  /*
   The most event pools, 15 at most (`RKH_CFG_FWK_MAX_EVT_POOL`).
   */
  uint8_t most_pools;
  /*
   Bits of TW_RKH_FILTER_EVENTS, _OBJECTS, _SIGNALS: which filters there are; 0 records everything.
   */
  uint8_t filters;
  /*
   0 for the framework's buffer, which loses its oldest bytes when it is full; 1 for one that leaves
   out whole records.
   */
  uint8_t whole_records;
  /*
   RKH's version, 0x3400 for 3.4.00; one of the dialect's.
   */
  uint16_t version;
  /*
   Bits of TW_RKH_ALL_GROUPS, _USER_TRACE, _ASSERT, or of single groups: what is compiled in.
   */
  uint32_t compiled;
  /*
   Ticks of the clock per second; readers are told 16 bits of it.
   */
  uint32_t stamps_per_second;
  /*
   Codes of single events that are not compiled in; may be null.
   */
  const uint8_t *left_out;
  /*
   How many.
   */
  size_t left_out_count;
} tw_rkh_settings;

/*
 The control block of an RKH trace. Its words are nobody's business.

 Static memory or zeroed; `tw_rkh_init` before anything else.
 */
typedef struct tw_rkh {
  uint64_t words[56];
} tw_rkh;

/*
 Bytes that go to the link, in the memory of the buffer.
 */
typedef struct tw_rkh_block {
  /*
   The first one.
   */
  const uint8_t *bytes;
  /*
   How many.
   */
  size_t length;
} tw_rkh_block;

/*
 What a buffer holds and has lost.
 */
typedef struct tw_rkh_status {
  /*
   Bytes that wait for the link.
   */
  size_t waiting;
  /*
   Bytes lost because newer ones came, modulo 2^32; 0 in a buffer of whole records.
   */
  uint32_t overwritten;
  /*
   Records left out, modulo 2^32; 0 in the framework's buffer.
   */
  uint32_t dropped;
} tw_rkh_status;

/*
 A S.Ha.R.K. tracer: up to 256 chunks. Its words are nobody's business.

 Static memory or zeroed; `tw_shark_init` before anything else.
 */
typedef struct tw_shark {
  uint64_t words[2400];
} tw_shark;

/*
 How a tracer stands. The counts are of events that were not stored, since `tw_shark_init`.
 */
typedef struct tw_shark_status {
  /*
   Logged while tracing was off.
   */
  uint64_t disabled;
  /*
   Hidden by their family's filter.
   */
  uint64_t filtered;
  /*
   Logged while no chunk was selected.
   */
  uint64_t no_chunk;
  /*
   Logged while the chunk was full.
   */
  uint64_t full;
  /*
   Logged while the chunk was being sent.
   */
  uint64_t busy;
  /*
   Of a code that is no event's: 0, or a command on the fast path.
   */
  uint64_t refused;
  /*
   Commands to go to the next chunk where there was none; no event is lost by that.
   */
  uint64_t no_successor;
  /*
   Stored, and overwritten by a later lap of a cyclic chunk.
   */
  uint64_t overwritten;
  /*
   Of those, the essential ones for which the emergency area had no room.
   */
  uint64_t essential_overwritten;
  /*
   1 while tracing is on.
   */
  int on;
  /*
   The chunk that records, or TW_NO_CHUNK.
   */
  int16_t current;
  /*
   A bit for each family that is hidden.
   */
  uint16_t hidden;
} tw_shark_status;

/*
 Sizes of a chunk's areas.
 */
typedef struct tw_shark_areas {
  /*
   Bytes for records, 32 at least; what is left over behind the last whole record is not used.
   */
  uint32_t normal;
  /*
   Bytes for records without which the others cannot be read: 0, or 32 at least.
   */
  uint32_t emergency;
  /*
   Address that the image says it lies at; 0 for the low 32 bits of where it does.
   */
  uint32_t base_address;
} tw_shark_areas;

/*
 What the chunk table tells of a chunk.
 */
typedef struct tw_shark_chunk {
  /*
   Bytes of the normal area.
   */
  uint32_t normal;
  /*
   Bytes of the emergency area.
   */
  uint32_t emergency;
  /*
   Bytes behind the start of the normal area at which the next record goes.
   */
  uint32_t position;
  /*
   Bytes of the emergency area that are in use.
   */
  uint32_t kept;
  /*
   Times that a cyclic chunk began again at its start.
   */
  uint32_t laps;
  /*
   The chunk that recording goes on in, or TW_NO_CHUNK.
   */
  int16_t next;
  /*
   Its index in the table.
   */
  uint8_t number;
  /*
   Its flags.
   */
  uint8_t flags;
  /*
   1 where it is the one that records.
   */
  int current;
} tw_shark_chunk;

#if defined(TRACEWELL_HOSTED)
/*
 Carries a datagram: returns 0, or an error number of the system.
 */
typedef int (*tw_datagram)(void *context, const void *bytes, size_t length);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 What a new stream is to be; 0 anywhere is the usual.
 */
typedef struct tw_stream_options {
  /*
   Threads that can record at a time; usually 64.
   */
  uint32_t lanes;
  /*
   Packets of a thread, 2 at least; usually 16.
   */
  uint32_t packets;
  /*
   Bytes of a packet, 512 to 1 MiB, a multiple of 8; usually 64 KiB.
   */
  uint32_t packet_size;
  /*
   When it is full: TW_LOOP, TW_UNTIL_FULL, TW_FLUSH.
   */
  uint8_t policy;
  /*
   1 where children of a fork record as well.
   */
  uint8_t inherited;
} tw_stream_options;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 How a stream stands. Counts are since it was made or cleared.
 */
typedef struct tw_stream_status {
  /*
   Events lost for want of room.
   */
  uint64_t lost;
  /*
   Events lost because no lane was free, signal handlers interrupted each other too deeply, or the
   event type had no place.
   */
  uint64_t lost_unplaced;
  /*
   Events lost while a full stream was suspended.
   */
  uint64_t lost_suspended;
  /*
   Events that were in the stream and never reached its log.
   */
  uint64_t lost_log;
  /*
   Threads that have a lane.
   */
  uint32_t lanes;
  /*
   Error number of the first flush that failed; 0 for none.
   */
  int32_t flush_error;
  /*
   1 where it records.
   */
  int running;
  /*
   1 where the next event of some thread displaces another one, or has no room.
   */
  int full;
} tw_stream_status;
#endif

#if defined(TRACEWELL_HOSTED)
/*
 An event type in a stream, from `tw_define`. Copy it as you like.
 */
typedef struct tw_event {
  /*
   Its id in the stream.
   */
  uint16_t id;
  /*
   Its family, 0 to 62.
   */
  uint16_t family;
} tw_event;
#endif

/*
 The control block of a ThreadX trace. Its words are nobody's business.

 Static memory or zeroed; `tw_threadx_init` before anything else.
 */
typedef struct tw_threadx {
  uint64_t words[40];
} tw_threadx;

/*
 For which kind of target an image is made; all 0 is the usual.
 */
typedef struct tw_threadx_layout {
  /*
   What the header says the address of the first byte is; 0 for where the memory lies.
   */
  uint64_t base_address;
  /*
   Bytes of a registry slot's name; 0 for 32. TraceX refuses 64 and more.
   */
  uint16_t name_size;
  /*
   Bits of a word, to which addresses and numbers are cut: 32, or 64 which TraceX cannot read; 0
   for 32, the `ULONG` of nearly every port.
   */
  uint8_t width;
  /*
   TW_NATIVE, TW_LITTLE or TW_BIG.
   */
  uint8_t order;
} tw_threadx_layout;

/*
 A kernel object: what gives an address a name.
 */
typedef struct tw_threadx_object {
  /*
   Address of its control block.
   */
  uint64_t pointer;
  /*
   Its name with a NUL, any encoding; null for none. Copied.
   */
  const char *name;
  /*
   First parameter, by type: stack start, initial ticks, size, count.
   */
  uint64_t parameter1;
  /*
   Second parameter, by type: stack size, reschedule ticks, words of a message, block size.
   */
  uint64_t parameter2;
  /*
   Priority of a thread.
   */
  uint16_t priority;
  /*
   1 thread, 2 timer, 3 queue, 4 semaphore, 5 mutex, 6 event flags, 7 block pool, 8 byte pool.
   */
  uint8_t kind;
} tw_threadx_object;

/*
 Who records an event.
 */
typedef struct tw_threadx_context {
  /*
   Address of the thread's control block, not 0; for an interrupt that of the thread that was
   interrupted, 0 for none.
   */
  uint64_t address;
  /*
   Present priority of a thread, 0 to 1023.
   */
  uint16_t priority;
  /*
   Its preemption threshold; the priority where it has none.
   */
  uint16_t threshold;
  /*
   TW_THREAD, TW_INTERRUPT or TW_INITIALIZATION.
   */
  uint8_t kind;
  /*
   The core that records, from 0.
   */
  uint8_t core;
} tw_threadx_context;

/*
 Called each time the ring was filled to its end, from inside the call that recorded the last event.

 `trace` stands for the trace during the call only; use it, not the control block, to record, filter
 or disable in there.
 */
typedef void (*tw_threadx_notify)(struct tw_threadx *trace, void *context);

/*
 An event that was recorded, for `tw_threadx_patch`.
 */
typedef struct tw_threadx_entry {
  uint64_t words[2];
} tw_threadx_entry;

/*
 What the events around an interrupt service routine say.
 */
typedef struct tw_threadx_isr {
  /*
   The number that the application gave the routine.
   */
  uint64_t number;
  /*
   Address on the stack that it uses.
   */
  uint64_t stack;
  /*
   The kernel's system state: the nesting depth on most ports.
   */
  uint64_t system_state;
  /*
   The kernel's count of reasons not to preempt.
   */
  uint64_t preempt_disable;
} tw_threadx_isr;

#ifdef __cplusplus
extern "C" {
#endif // __cplusplus

/*
 Initialises a trace whose channels are all free.

 Ownership: `trace` stays the caller's; nothing has to be freed. `clock` and `machine` are copied,
 but not the machine's texts and what the clock's context points at. Errors: TW_NULL. Safe in a signal
 handler or interrupt.

 # Safety
 * the machine's texts are null, or end with a NUL and stay as long as the trace.
 */
int tw_aix_init(struct tw_aix *trace, const struct tw_clock *clock, const struct tw_aix_machine *machine);

/*
 Records a 32-bit event on channel 0 (`trchook`): the type in the hook word says whether 0, 1 or 5 of
 the words go into the entry.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF, TW_EXCLUDED, TW_MISSED, TW_INVALID for a
 hook word that makes no entry. Safe in a signal handler or interrupt if no other call on this trace
 can be under way.
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
 Records a 32-bit event on channel 0 from a program (`utrchook`). What is recorded, ownership, errors
 and safety are those of `tw_trchook`.
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
 Records a 64-bit event on channel 0 (`trchook64`, `utrchook64`): the length in the hook word says how
 many of the words go into the entry, 0 to 5.

 Ownership, errors and safety as `tw_trchook`.
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
 Records a generic event: one data word and up to 4096 bytes (`trcgen`). The hook word is a 32-bit one.

 Ownership: the bytes are copied. Errors and safety as `tw_trchook`; TW_INVALID for more bytes.

 # Safety
 * `data` has `length` bytes.
 */
int tw_trcgen(struct tw_aix *trace,
              const struct tw_aix_context *context,
              uint32_t channel,
              uint32_t hook_word,
              uint32_t data_word,
              size_t length,
              const void *data);

/*
 As `tw_trcgen`, with the mark of a time stamp in the hook word (`trcgent`).

 Ownership, errors and safety as `tw_trcgen`.

 # Safety
 * `data` has `length` bytes.
 */
int tw_trcgent(struct tw_aix *trace,
               const struct tw_aix_context *context,
               uint32_t channel,
               uint32_t hook_word,
               uint32_t data_word,
               size_t length,
               const void *data);

/*
 Starts a channel in a buffer (`trcstart`) and stores its number: 0 for the event trace, 1 to 7 for
 a generic one.

 Ownership: the buffer is the channel's until `tw_aix_finish`; what `options` points at stays as
 long. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NONE_FREE, TW_TOO_SMALL. Safe in an
 interrupt if no other call on this trace can be under way.

 # Safety
 * `buffer` has `size` bytes that nobody else uses until `tw_aix_finish`.
 * the command is null or ends with a NUL; `ids` has `id_count` numbers; both stay until then.
 */
int tw_trcstart(struct tw_aix *trace,
                const struct tw_aix_context *context,
                void *buffer,
                size_t size,
                const struct tw_aix_options *options,
                uint32_t *channel);

/*
 Switches a channel on (`trcon`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where it is not started or has stopped.
 Safe in an interrupt if no other call on this trace can be under way.
 */
int tw_trcon(struct tw_aix *trace, const struct tw_aix_context *context, uint32_t channel);

/*
 Switches a channel off; it can be switched on again (`trcoff`).

 Ownership, errors and safety as `tw_trcon`.
 */
int tw_trcoff(struct tw_aix *trace, const struct tw_aix_context *context, uint32_t channel);

/*
 Stops a channel for good (`trcstop`); what is in its buffers waits to be drained. `channel` may have
 TW_SERIAL or TW_DISCARDBUFS.

 Ownership: the buffer stays the channel's until `tw_aix_finish`. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_OFF where it is not started, TW_INVALID for both flags, TW_DRAINING with
 TW_SERIAL until all is drained: drain, and call again. Safe in an interrupt if no other call on this
 trace can be under way.
 */
int tw_trcstop(struct tw_aix *trace, const struct tw_aix_context *context, uint32_t channel);

/*
 Writes what the log of a channel begins with, and how many bytes that are.

 Ownership: `buffer` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where the channel
 is not started, TW_TOO_SMALL where it does not fit (1024 bytes do unless texts are long). Safe in an
 interrupt if no other call on this trace can be under way.

 # Safety
 * `buffer` has `size` bytes.
 */
int tw_aix_header(struct tw_aix *trace, uint32_t channel, void *buffer, size_t size, size_t *length);

/*
 What the log of a channel gets next: a full buffer, or what is left when it has stopped. The same
 until `tw_aix_drained`, while recording goes on elsewhere.

 Ownership: the bytes are the channel's; read them before `tw_aix_drained`. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_NOTHING. Safe in an interrupt if no other call on this trace can be under way.
 */
int tw_aix_waiting(struct tw_aix *trace, uint32_t channel, struct tw_aix_chunk *chunk);

/*
 Says that what `tw_aix_waiting` showed is in the log.

 Ownership: its bytes are the recorder's again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe
 in an interrupt if no other call on this trace can be under way.
 */
int tw_aix_drained(struct tw_aix *trace, uint32_t channel);

/*
 Ends a stopped channel whose buffers are drained; its number is free.

 Ownership: the buffer is the caller's again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where it
 is not started, TW_RUNNING, TW_DRAINING. Safe in an interrupt if no other call on this trace can be
 under way.
 */
int tw_aix_finish(struct tw_aix *trace, uint32_t channel);

/*
 How many entries of a channel went where.

 Ownership: `counts` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_OFF where it is not
 started. Safe in an interrupt if no other call on this trace can be under way.
 */
int tw_aix_count(struct tw_aix *trace, uint32_t channel, struct tw_aix_counts *counts);

/*
 What a code means, in English; for a positive one ask strerror.

 Ownership: the text is constant and never freed. Errors: none. Safe in a signal handler.
 */
const char *tw_message(int code);

#if defined(TRACEWELL_HOSTED)
/*
 Starts a thread that flushes a stream to a new file, in place of one that is there.

 Ownership: `*flusher` is the caller's, to be given to `tw_flusher_stop`; null on errors. The stream
 may be closed before. Errors: TW_NULL, or the system's. While it runs, errors of the file show in the
 stream's status, and it tries again. Not for signal handlers.

 # Safety
 * `file` ends with a NUL.
 */
int tw_flusher_start(const struct tw_stream *stream, const char *file, struct tw_flusher **flusher);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Flushes what was recorded before the call, ends the log and the thread.

 Ownership: the flusher is gone, whatever is returned. Errors: TW_NULL, or the file's: then some events
 are not in the log, and the stream's status counts them. Not for signal handlers.
 */
int tw_flusher_stop(struct tw_flusher *flusher);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Begins a log in a new file, in place of one that is there. Nothing is written before the first
 `tw_log_drain`.

 Ownership: `*log` is the caller's, to be given to `tw_log_close`; null on errors. Errors: TW_NULL, or
 the system's. Not for signal handlers.

 # Safety
 * `file` ends with a NUL.
 */
int tw_log_create(const char *file, struct tw_log **log);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Begins a log that goes to a function, which `context` is handed to.

 Ownership: as `tw_log_create`; what `context` points at stays as long as the log. Errors: TW_NULL. Not
 for signal handlers.
 */
int tw_log_to(tw_sink sink, void *context, struct tw_log **log);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Takes out of a stream what came into it, and writes it; `events` gets how many events that were, and
 may be null. A log belongs to one stream, and a stream has one log at a time.

 Ownership: none. Errors: TW_NULL, or the sink's; nothing is lost by that, the next call goes on.
 Not for signal handlers.
 */
int tw_log_drain(struct tw_log *log, const struct tw_stream *stream, uint64_t *events);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Drains once more and ends the log with its index.

 Ownership: the log is gone, whatever is returned. Errors: TW_NULL, or the sink's: then some events
 are not in the log, and the stream's status counts them. Not for signal handlers.
 */
int tw_log_close(struct tw_log *log, const struct tw_stream *stream);
#endif

/*
 Fills in settings: dialect 3.4, the sizes that Trazer assumes, everything compiled in, a clock of
 1 kHz, the framework's buffer.

 Ownership: `settings` is the caller's. Errors: TW_NULL. Safe in a signal handler or interrupt.
 */
int tw_rkh_usual(struct tw_rkh_settings *settings);

/*
 Initialises a control block; `tw_rkh_open` starts its stream.

 All bits of the filters are clear: from 2.4.4 on nothing that can be filtered is recorded until they
 are switched off. `signals` has a bit for each signal to be filtered; without that filter it may be
 null.
 Ownership: `trace` stays the caller's and must stay where its users find it; nothing has to be freed.
 The memory and `signals` are the trace's for as long as it is used. `clock` and `settings` are copied.
 Errors: TW_NULL, TW_INVALID for a size or dialect that there is not. Safe in an interrupt.

 # Safety
 * `memory` has `size` bytes and `signals` has `signals_size` bytes that nobody else uses as long as
   the trace is used.
 * `left_out` of the settings has `left_out_count` codes.
 */
int tw_rkh_init(struct tw_rkh *trace,
                const struct tw_rkh_settings *settings,
                const struct tw_clock *clock,
                void *memory,
                size_t size,
                void *signals,
                size_t signals_size);

/*
 Empties the buffer and begins a stream: the flag, number 0, the configuration record
 (`rkh_trc_init`, `RKH_TRC_SEND_CFG`). The filters stay. Send the bytes.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_MISSED where the buffer is too small. Safe
 in an interrupt if no other call can be under way.
 */
int tw_rkh_open(struct tw_rkh *trace);

/*
 Records the configuration once more. Readers forget all symbols there.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID in dialects without such a record,
 TW_MISSED. Safe in an interrupt if no other call can be under way.
 */
int tw_rkh_configuration(struct tw_rkh *trace);

/*
 Takes out the oldest bytes, `most` at most, that lie together (`rkh_trc_get_block`).

 There may be more behind them: call until TW_NOTHING. Ownership: the bytes stay as they are until the
 next record. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where there are none. Safe in an interrupt
 if no other call can be under way.
 */
int tw_rkh_get_block(struct tw_rkh *trace, size_t most, struct tw_rkh_block *block);

/*
 Copies out as many bytes as there are and fit; `count` gets how many (`rkh_trc_getWholeBlock`).

 Ownership: `out` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where there are
 none. Safe in an interrupt if no other call can be under way.

 # Safety
 * `out` has `size` bytes.
 */
int tw_rkh_read(struct tw_rkh *trace, void *out, size_t size, size_t *count);

/*
 What the buffer holds and has lost.

 Ownership: `status` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no
 other call can be under way.
 */
int tw_rkh_get_status(struct tw_rkh *trace, struct tw_rkh_status *status);

/*
 A group's filter alone, or TW_RKH_ALL (`RKH_FILTER_ON_GROUP`, `RKH_FILTER_OFF_GROUP`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID where there is no such group. Safe
 in an interrupt if no other call can be under way.
 */
int tw_rkh_filter_group(struct tw_rkh *trace, uint32_t group, uint8_t on_or_off);

/*
 A group's filter and those of all its events (`RKH_FILTER_ON_GROUP_ALL_EVENTS`,
 `RKH_FILTER_OFF_GROUP_ALL_EVENTS`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID where there is no such group. Safe
 in an interrupt if no other call can be under way.
 */
int tw_rkh_filter_group_all_events(struct tw_rkh *trace, uint8_t group, uint8_t on_or_off);

/*
 An event's filter; switching it off switches off that of its group as well. Or TW_RKH_ALL: those of
 all groups and events (`RKH_FILTER_ON_EVENT`, `RKH_FILTER_OFF_EVENT`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID where there is no such event. Safe
 in an interrupt if no other call can be under way.
 */
int tw_rkh_filter_event(struct tw_rkh *trace, uint32_t code, uint8_t on_or_off);

/*
 The filter of an active object, by its priority below 64, or TW_RKH_ALL (`RKH_FILTER_ON_SMA`,
 `RKH_FILTER_OFF_SMA`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID past the table. Safe in an interrupt
 if no other call can be under way.
 */
int tw_rkh_filter_object(struct tw_rkh *trace, uint32_t priority, uint8_t on_or_off);

/*
 The filter of a signal, or TW_RKH_ALL (`RKH_FILTER_ON_SIGNAL`, `RKH_FILTER_OFF_SIGNAL`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID past the table that
 `tw_rkh_init` was given. Safe in an interrupt if no other call can be under way.
 */
int tw_rkh_filter_signal(struct tw_rkh *trace, uint32_t signal, uint8_t on_or_off);

/*
 Begins the record of an event (`RKH_TRC_BEGIN`): its arguments follow in order, then `tw_rkh_end`.

 `priority` is that of the active object that the record is about, `signal` its signal, for the
 filters; or TW_RKH_NO_OBJECT, TW_RKH_NO_SIGNAL. A record that is open is given up.
 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_EXCLUDED by a filter, TW_OFF if not compiled
 in, TW_INVALID where the dialect has no such event; nothing is open then, and what follows up to
 `tw_rkh_end` does nothing. Safe in an interrupt if no other call can be under way.
 */
int tw_rkh_begin(struct tw_rkh *trace, uint8_t code, int32_t priority, int64_t signal);

/*
 The next argument, a number or an address; high bits that do not fit are cut off. Give also those that
 the settings leave out: they are not written.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where no record is open; that it is
 none of the event's is said by `tw_rkh_end`. Safe in an interrupt if no other call can be under way.
 */
int tw_rkh_arg(struct tw_rkh *trace, uint32_t value);

/*
 The next argument, a text.

 Ownership: the text is copied; null is an empty one. Errors: as `tw_rkh_arg`. Safe in an interrupt if
 no other call can be under way.

 # Safety
 * `value` is null or ends with a NUL.
 */
int tw_rkh_text(struct tw_rkh *trace, const char *value);

/*
 Bytes of the last argument where their form is the program's (user events before 2.3, and what a unit
 test expects).

 Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call can be
 under way.

 # Safety
 * `bytes` has `length` bytes.
 */
int tw_rkh_bytes(struct tw_rkh *trace, const void *bytes, size_t length);

/*
 Ends a record (`RKH_TRC_END`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where none is open, TW_MISSED where
 the buffer left it out, TW_INVALID where the arguments were not the event's: it is given up, which
 readers of the framework's buffer count. Safe in an interrupt if no other call can be under way.
 */
int tw_rkh_end(struct tw_rkh *trace);

/*
 Records an event whose arguments are numbers, all at once.

 Ownership: the arguments are copied. Errors: as `tw_rkh_begin` and `tw_rkh_end`. Safe in an interrupt
 if no other call can be under way.

 # Safety
 * `arguments` has `count` numbers.
 */
int tw_rkh_record(struct tw_rkh *trace,
                  uint8_t code,
                  int32_t priority,
                  int64_t signal,
                  const uint32_t *arguments,
                  size_t count);

/*
 Begins the record of a user event (`RKH_TRC_USR_BEGIN`), by its number from 0 on: items follow, then
 `tw_rkh_end`.

 Ownership: none. Errors: as `tw_rkh_begin`. Safe in an interrupt if no other call can be under way.
 */
int tw_rkh_begin_user(struct tw_rkh *trace, uint8_t number);

/*
 The next item of a user event: one of TW_RKH_I8 to TW_RKH_X32, TW_RKH_OBJ, _FUN, _SIG.

 `width` is how many characters to print, 0 to 15; addresses and signals have none.
 Ownership: none. Errors: as `tw_rkh_arg`; TW_INVALID for another type. Safe in an interrupt if no other
 call can be under way.
 */
int tw_rkh_item(struct tw_rkh *trace, uint8_t item_type, uint8_t width, uint32_t value);

/*
 The next item of a user event, a text.

 Ownership: the text is copied; null is an empty one. Errors: as `tw_rkh_arg`. Safe in an interrupt if
 no other call can be under way.

 # Safety
 * `value` is null or ends with a NUL.
 */
int tw_rkh_item_text(struct tw_rkh *trace, const char *value);

/*
 The next item of a user event, memory of at most 255 bytes.

 Ownership: the bytes are copied. Errors: as `tw_rkh_arg`. Safe in an interrupt if no other call can be
 under way.

 # Safety
 * `bytes` has `length` bytes.
 */
int tw_rkh_item_memory(struct tw_rkh *trace, const void *bytes, uint8_t length);

/*
 Names an address or a number (`RKH_TR_FWK_...`): `kind` is TW_RKH_OBJECT to TW_RKH_USER_EVENT. No
 filter is asked. Send the bytes before the buffer is full.

 `owner` is the active object of a state, nothing else's. Ownership: the name is copied. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_MISSED, TW_INVALID where the dialect has no record for it. Safe in an interrupt
 if no other call can be under way.

 # Safety
 * `name` is null or ends with a NUL.
 */
int tw_rkh_symbol(struct tw_rkh *trace, uint8_t kind, uint32_t owner, uint32_t key, const char *name);

/*
 Records a failed assertion (`RKH_TR_FWK_ASSERT`): a module's name without `.c`, and the line. The
 filters of group and event are asked. Send the bytes before the program stops.

 Ownership: the text is copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_EXCLUDED, TW_OFF, TW_MISSED,
 TW_INVALID before dialect 2.3. Safe in an interrupt if no other call can be under way.

 # Safety
 * `module` is null or ends with a NUL.
 */
int tw_rkh_assertion(struct tw_rkh *trace, const char *module, uint16_t line);

/*
 Initialises a tracer without chunks, off, with nothing hidden.

 Ownership: `trace` stays the caller's; nothing has to be freed. `clock` is copied; what its context
 points at must stay as long as the trace. It is unwrapped to 64 bits: one with fewer has to be read
 once in its period. Errors: TW_NULL. Safe in a signal handler or interrupt.
 */
int tw_shark_init(struct tw_shark *trace, const struct tw_clock *clock);

/*
 Switches recording on (`FTrace_enable`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where no chunk is selected. Safe in
 an interrupt if no other call on this trace can be under way.
 */
int tw_shark_enable(struct tw_shark *trace);

/*
 Switches recording off (`FTrace_disable`); chunks, positions and filters stay.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call on this
 trace can be under way.
 */
int tw_shark_disable(struct tw_shark *trace);

/*
 Logs an event (`TRACER_LOGEVENT`): the code, a parameter of 16 and one of 32 bits. Code 0xFF is the
 command of `tw_shark_next_chunk`.

 Where a chunk ends, a cyclic one goes on at its start, one that jumps in its successor; of a full one
 the emergency area takes what the others cannot be read without. What is not stored is counted by
 cause: `tw_shark_get_status`.
 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED; TW_OFF, TW_EXCLUDED where its family is hidden,
 TW_MISSED where no chunk has room, TW_NOTHING for the command without a successor, TW_INVALID for
 code 0. Safe in an interrupt if no other call on this trace can be under way.
 */
int tw_shark_log(struct tw_shark *trace, uint8_t code, uint16_t par1, uint32_t par2);

/*
 Logs an event without asking for its family's filter (`FAST_TRACER_LOGEVENT`). Readers leave the
 second parameter of such records out, for the kernel's fast path writes none.

 Ownership, errors and safety as `tw_shark_log`; code 0xFF is TW_INVALID too.
 */
int tw_shark_log_fast(struct tw_shark *trace, uint8_t code, uint16_t par1, uint32_t par2);

/*
 Makes the current chunk full and goes on in its successor, whatever its mode
 (`FTrace_EVT_next_chunk`). Nothing is stored.

 Ownership, errors and safety as `tw_shark_log`.
 */
int tw_shark_next_chunk(struct tw_shark *trace);

/*
 Hides a family (`status` other than 0) or shows it again (`FTrace_set_filter`), and logs that while
 tracing is on. Of `family` the low nibble counts.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID for family 15, which has commands;
 TW_MISSED where the filter is set and the record of it found no room. Safe in an interrupt if no
 other call on this trace can be under way.
 */
int tw_shark_set_filter(struct tw_shark *trace, uint8_t family, uint16_t status);

/*
 How a tracer stands, and what it did not store.

 Ownership: `status` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no
 other call on this trace can be under way.
 */
int tw_shark_get_status(struct tw_shark *trace, struct tw_shark_status *status);

/*
 Makes a chunk (`FTrace_chunk_create`) and stores its number, the lowest that is free.

 Of the memory 48 bytes and both areas are used and zeroed; between two calls that is an image which
 `tracewell` reads. Without TW_FREE the chunk can be neither selected nor linked.
 Ownership: the memory is the trace's until `tw_shark_chunk_delete`. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_INVALID for sizes or flags, TW_TOO_SMALL, TW_NONE_FREE. Safe in an interrupt
 if no other call on this trace can be under way.

 # Safety
 * `memory` has `size` bytes that nobody else uses until the chunk is deleted or compressed.
 */
int tw_shark_chunk_create(struct tw_shark *trace,
                          void *memory,
                          size_t size,
                          const struct tw_shark_areas *areas,
                          uint8_t flags,
                          uint8_t *number);

/*
 Takes a chunk out of the table (`FTrace_chunk_delete`) and stores its memory, in which its records
 still are; null, and nothing is done, where it has TW_NODEL.

 Ownership: the memory is the caller's again. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where
 there is no such chunk, TW_IN_USE while it records, is linked to or is being sent. Safe in an
 interrupt if no other call on this trace can be under way.
 */
int tw_shark_chunk_delete(struct tw_shark *trace, uint8_t number, void **memory);

/*
 Replaces a chunk's flags (`FTrace_set_chunk_flags`), TW_BUSY and TW_COMPR excepted. TW_FREE, where it
 was not set before, empties the chunk.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags, TW_IN_USE.
 Safe in an interrupt if no other call on this trace can be under way.
 */
int tw_shark_set_chunk_flags(struct tw_shark *trace, uint8_t number, uint8_t flags);

/*
 A chunk's flags (`FTrace_get_chunk_flags`), TW_FULL and TW_BUSY included.

 Ownership: `flags` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in an
 interrupt if no other call on this trace can be under way.
 */
int tw_shark_get_chunk_flags(struct tw_shark *trace, uint8_t number, uint8_t *flags);

/*
 Makes a free chunk the one that records (`FTrace_actual_chunk_select`), which uses TW_FREE up.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_NOT_FREE, TW_IN_USE while it is
 being sent. Safe in an interrupt if no other call on this trace can be under way.
 */
int tw_shark_chunk_select(struct tw_shark *trace, uint8_t number);

/*
 Lets recording go on in chunk `to` when `from` is full or left (`FTrace_chunk_link`), which uses
 TW_FREE of `to` up. A jump uses the link up. `before`, which may be null, gets the successor that
 `from` had, or TW_NO_CHUNK.

 Ownership: none. Errors: as `tw_shark_chunk_select` for `to`; TW_NOTHING and TW_IN_USE for `from`;
 TW_INVALID for a circle. Safe in an interrupt if no other call on this trace can be under way.
 */
int tw_shark_chunk_link(struct tw_shark *trace, uint8_t from, uint8_t to, int16_t *before);

/*
 Stores the number of the first chunk with one of these flags (`FTrace_get_first_chunk`). Mode bits
 are compared as a mode; 0 finds the first cyclic chunk.

 Ownership: `number` is the caller's. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING. Safe in an
 interrupt if no other call on this trace can be under way.
 */
int tw_shark_get_first_chunk(struct tw_shark *trace, uint8_t flags, uint8_t *number);

/*
 Copies what is in the chunk table (`FTrace_get_chunk_table`), in the order of numbers, as far as
 there is room; `count` gets how many chunks there are.

 Ownership: `table` and `count` are the caller's. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an
 interrupt if no other call on this trace can be under way.

 # Safety
 * `table` has room for `room` chunks.
 */
int tw_shark_get_chunk_table(struct tw_shark *trace,
                             struct tw_shark_chunk *table,
                             size_t room,
                             size_t *count);

/*
 Stores where a chunk's image lies: descriptor, head, both areas. Save it as a file for `tracewell`.

 Ownership: the bytes are the trace's; they change with the next call. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE while it is being sent. Safe in an interrupt if no other
 call on this trace can be under way.
 */
int tw_shark_image(struct tw_shark *trace, uint8_t number, const void **bytes, size_t *length);

/*
 Stores how many bytes of memory a chunk takes when it is compressed.

 Ownership: `size` is the caller's. Errors: as `tw_shark_compress_chunk`. Safe in an interrupt if no
 other call on this trace can be under way.
 */
int tw_shark_compressed_size(struct tw_shark *trace, uint8_t number, size_t *size);

/*
 Compresses a chunk into other memory (`FTrace_compress_chunk`) and stores the memory that it had. It
 keeps its number, gets `new_flags` with TW_COMPR and without TW_FREE, and sends what it would have
 sent before.

 Ownership: `memory` is the trace's until the chunk is deleted; `*before` is the caller's again.
 Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags, TW_TOO_SMALL, TW_NOT_FREE where
 it is compressed, TW_IN_USE while it records, is linked to or is being sent; nothing was changed then.
 Takes time in proportion to the chunk's size. Safe in an interrupt if no other call on this trace can be
 under way.

 # Safety
 * `memory` has `size` bytes that nobody else uses until the chunk is deleted.
 */
int tw_shark_compress_chunk(struct tw_shark *trace,
                            uint8_t number,
                            uint8_t new_flags,
                            void *memory,
                            size_t size,
                            void **before);

#if defined(TRACEWELL_HOSTED)
/*
 A sender that writes each chunk's records to a file: `0NAME`, `1NAME`, ... beside `file`, which is
 not written itself (`FTrace_init_disk_writer`). A file appears when all of it is on the disk.

 Ownership: `*sender` is the caller's, to be given to `tw_shark_sender_close`; null on errors. Errors:
 TW_NULL, TW_INVALID for a name that is none or too long, or the system's. Not for signal handlers.

 # Safety
 * `file` ends with a NUL.
 */
int tw_shark_disk_writer(const char *file, struct tw_shark_sender **sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A sender of UDP datagrams (`FTrace_OSD_init_udp`) from one address to another, each `HOST:PORT`; the
 kernel has port 20000 on both ends. `pause_us` is how long it pauses behind each datagram: 5000 is
 the kernel's.

 Nothing acknowledges a datagram: success says that the system took it.
 Ownership: as `tw_shark_disk_writer`. Errors: TW_NULL, TW_INVALID for a text that is no address, or the
 system's. Not for signal handlers.

 # Safety
 * `local` and `target` end with a NUL.
 */
int tw_shark_udp_sender(const char *local,
                        const char *target,
                        uint32_t pause_us,
                        struct tw_shark_sender **sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 A sender that gives the same datagrams to a function, which `context` is handed to: for a serial
 line, a network stack without sockets. A chunk without records makes a datagram of no bytes.

 Ownership: as `tw_shark_disk_writer`; what `context` points at stays as long as the sender. Errors:
 TW_NULL. Not for signal handlers.
 */
int tw_shark_datagrams(tw_datagram send, void *context, struct tw_shark_sender **sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Ends a sender. Null is allowed.

 Ownership: the sender is gone. Errors: none. Not for signal handlers.
 */
void tw_shark_sender_close(struct tw_shark_sender *sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Sends a chunk and gives it new flags (`FTrace_send_chunk`), of which TW_FREE empties it. Nobody may
 call anything else with the trace meanwhile: for slow carriers there are `tw_shark_begin_send` and what
 follows.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING, TW_INVALID for flags, TW_IN_USE where
 it is being sent or linked to, or the sender's: the chunk is as it was, send it again. Not for signal
 handlers.
 */
int tw_shark_send_chunk(struct tw_shark *trace,
                        uint8_t number,
                        uint8_t new_flags,
                        struct tw_shark_sender *sender);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Takes a chunk's records out for a sender, while recording goes on in other chunks. Events for this
 one are dropped and counted until `tw_shark_end_send`.

 Ownership: `*dump` is the caller's, to be given to `tw_shark_end_send`; null on errors. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_NOTHING, TW_IN_USE. Not for signal handlers.
 */
int tw_shark_begin_send(struct tw_shark *trace, uint8_t number, struct tw_shark_dump **dump);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Sends what was taken out, without the trace.

 Ownership: none. Errors: TW_NULL, or the sender's: send it again, or give the chunk back as it was.
 Not for signal handlers.
 */
int tw_shark_send(struct tw_shark_sender *sender, const struct tw_shark_dump *dump);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Gives a chunk back to its trace: with new flags where it was sent (`sent` 1), as it was where not (0).

 Ownership: the dump is gone, whatever is returned. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID for
 flags (the chunk is as it was) or another trace's dump (its chunk stays busy). Not for signal handlers.
 */
int tw_shark_end_send(struct tw_shark *trace, struct tw_shark_dump *dump, int sent, uint8_t new_flags);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Makes a stream, suspended: in a new file, under `/dev/shm` say, or for a null path in memory without
 one. `options` may be null for the usual.

 Ownership: `*stream` is the caller's, to be given to `tw_stream_close`; null on errors. The file
 stays when the stream is closed. Errors: TW_NULL, TW_INVALID, TW_TOO_SMALL, TW_NONE_FREE at the 17th
 stream, or the system's (EEXIST). Not for signal handlers.

 # Safety
 * `file` is null or ends with a NUL.
 */
int tw_stream_create(const char *file, const struct tw_stream_options *options, struct tw_stream **stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Opens the stream that another process made in a file.

 Ownership: as `tw_stream_create`. Errors: TW_NULL, TW_INVALID where the file is no stream's,
 TW_NONE_FREE, or the system's. Not for signal handlers.

 # Safety
 * `file` ends with a NUL.
 */
int tw_stream_open(const char *file, struct tw_stream **stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Opens the stream that `TRACEWELL_STREAM` in the environment names: the one of `tracewell record`,
 which has started it.

 Ownership: as `tw_stream_create`. Errors: TW_NOTHING where nobody records (every other function takes
 the null stream that is stored then, and says TW_NULL), else as `tw_stream_open`. Not for signal
 handlers; no other thread may change the environment meanwhile.
 */
int tw_stream_from_environment(struct tw_stream **stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Closes a stream. Null is allowed.

 Ownership: the stream is gone; its file stays. Nobody may be inside a call with it, and logs that
 drain it must not again; a flusher keeps what it needs. Errors: none. Not for signal handlers.
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
 Stops recording; events that begin after the return are not recorded.

 Ownership: none. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_stop(const struct tw_stream *stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Forgets all records and the counts of losses; recording goes on.

 Ownership: none. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_clear(const struct tw_stream *stream);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Sets which families are not recorded, a bit each.

 Ownership: none. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_filter_families(const struct tw_stream *stream, uint64_t families);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Sets whether events of one id are left out (1) or recorded (0).

 Ownership: none. Errors: TW_NULL, TW_INVALID for an id beyond 2047. Safe in a signal handler.
 */
int tw_stream_filter_event(const struct tw_stream *stream, uint16_t id, int left_out);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 How a stream stands.

 Ownership: `status` is the caller's. Errors: TW_NULL. Safe in a signal handler.
 */
int tw_stream_get_status(const struct tw_stream *stream, struct tw_stream_status *status);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Defines an event type in a stream: `"net/sent(length:u64,queue:hex,note:text)"`. The kinds of
 fields are u64, i64, hex, bool, f64, and as the last one text or bytes.

 A type that the stream has already keeps its id, so every process and thread may define.
 Ownership: the text is copied. Errors: TW_NULL, TW_INVALID for another text or a family beyond 62,
 TW_NONE_FREE at the 1985th type. Safe in a signal handler.

 # Safety
 * `event_type` ends with a NUL.
 */
int tw_define(const struct tw_stream *stream,
              uint16_t family,
              const char *event_type,
              struct tw_event *event);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Records an event: a number for each field, the bits of a double for an f64. Never waits, never
 allocates. What is filtered out, suspended or lost is no error here: `tw_stream_get_status` counts.

 Ownership: the fields are copied. Errors: TW_NULL, TW_INVALID for a family that does not exist.
 Safe in a signal handler, also in one that interrupts this very function.

 # Safety
 * `fields` has `count` numbers.
 */
int tw_record(const struct tw_stream *stream, struct tw_event event, const uint64_t *fields, size_t count);
#endif

#if defined(TRACEWELL_HOSTED)
/*
 Records an event whose last field is text or bytes, with at most 15 fields before it. One that is too
 long for a packet is lost, and counted.

 Ownership: fields and bytes are copied. Errors: TW_NULL, TW_INVALID for more fields or a family that
 does not exist. Safe in a signal handler, also in one that interrupts this very function.

 # Safety
 * `fields` has `count` numbers.
 * `bytes` has `length` bytes.
 */
int tw_record_with(const struct tw_stream *stream,
                   struct tw_event event,
                   const uint64_t *fields,
                   size_t count,
                   const void *bytes,
                   size_t length);
#endif

/*
 Initialises a control block, off, for words of 32 bits in this machine's byte order.

 Ownership: `trace` stays the caller's and must stay where its users find it; nothing has to be
 freed. `clock` is copied; what its context points at must stay as long as the trace.
 Errors: TW_NULL. Not for a trace that is on. Safe in a signal handler or interrupt.
 */
int tw_threadx_init(struct tw_threadx *trace, const struct tw_clock *clock);

/*
 Initialises a control block, off, for another kind of target.

 Ownership and safety as `tw_threadx_init`; `layout` is copied. Errors: TW_NULL, TW_INVALID for a
 width or byte order that is none.
 */
int tw_threadx_init_for(struct tw_threadx *trace,
                        const struct tw_clock *clock,
                        const struct tw_threadx_layout *layout);

/*
 Switches tracing on in memory and records two RUNNING events (`tx_trace_enable`).

 The memory holds a header of 48 bytes, `registry_slots` times 48 bytes, and 32 bytes for each event;
 at every moment between two calls it is an image that TraceX reads: save it as a `.trx` file.
 Ownership: the memory is the trace's until `tw_threadx_disable`; `objects` (those that exist now)
 are copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_TOO_SMALL, TW_NOT_DONE where it is on,
 TW_INVALID. Safe in an interrupt if no other call can be under way.

 # Safety
 * `memory` has `size` bytes that nobody else uses until the trace is disabled.
 * `objects` has `object_count` objects, whose names are null or end with a NUL.
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

 Ownership: the memory is the caller's again, and holds the complete image. Errors: TW_NULL,
 TW_NOT_INITIALISED, TW_NOT_DONE where it is off. Safe in an interrupt if no other call can be
 under way.
 */
int tw_threadx_disable(struct tw_threadx *trace);

/*
 Whether tracing is on: 1, 0, or an error.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt.
 */
int tw_threadx_is_on(struct tw_threadx *trace);

/*
 Sets what is called after each wrap, null for nothing (`tx_trace_buffer_full_notify`).

 Ownership: what `notify_context` points at must stay as long as the notification is set.
 Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can be under way.
 */
int tw_threadx_buffer_full_notify(struct tw_threadx *trace, tw_threadx_notify notify, void *notify_context);

/*
 Stops recording classes of events (`tx_trace_event_filter`): bits of `TX_TRACE_..._EVENTS`.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
 be under way.
 */
int tw_threadx_event_filter(struct tw_threadx *trace, uint32_t classes);

/*
 Records classes of events again (`tx_trace_event_unfilter`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED. Safe in an interrupt if no other call can
 be under way.
 */
int tw_threadx_event_unfilter(struct tw_threadx *trace, uint32_t classes);

/*
 Gives an object's address a name (`tx_trace_object_register`).

 Ownership: the object and its name are copied. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING
 where tracing is off or the registry is full. Safe in an interrupt if no other call can be under way.

 # Safety
 * the object's name is null or ends with a NUL.
 */
int tw_threadx_register(struct tw_threadx *trace, const struct tw_threadx_object *object);

/*
 Says that an object was deleted (`tx_trace_object_unregister`); it keeps its name until its slot is
 needed.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_NOTHING where no object has the address.
 Safe in an interrupt if no other call can be under way.
 */
int tw_threadx_unregister(struct tw_threadx *trace, uint64_t pointer);

/*
 Records an event of the kernel: its id, four information words, the bit of its class.

 `entry` may be null; else it gets what `tw_threadx_patch` wants. Ownership: `entry` is the caller's.
 Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NOTHING where tracing is off or the class
 filtered out. Safe in an interrupt if no other call can be under way.

 # Safety
 * `info` has 4 numbers.
 */
int tw_threadx_insert(struct tw_threadx *trace,
                      const struct tw_threadx_context *context,
                      uint32_t id,
                      const uint64_t *info,
                      uint32_t class_bit,
                      struct tw_threadx_entry *entry);

/*
 Replaces information word 1 to 4 of an event, if its slot still holds it.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID for another number, TW_NOTHING
 where the event is gone. Safe in an interrupt if no other call can be under way.
 */
int tw_threadx_patch(struct tw_threadx *trace,
                     const struct tw_threadx_entry *entry,
                     uint32_t number,
                     uint64_t value);

/*
 Records an event of the application (`tx_trace_user_event_insert`), ids 4096 to 65535.

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID, TW_NOT_DONE where tracing is
 off; an event that is filtered out is none. Safe in an interrupt if no other call can be under way.
 */
int tw_threadx_user_event(struct tw_threadx *trace,
                          const struct tw_threadx_context *context,
                          uint32_t id,
                          uint64_t info1,
                          uint64_t info2,
                          uint64_t info3,
                          uint64_t info4);

/*
 Records the start of an interrupt service routine (`tx_trace_isr_enter_insert`).

 Ownership: none. Errors: TW_NULL, TW_NOT_INITIALISED, TW_INVALID; that nothing is recorded while
 tracing is off is none. Safe in an interrupt if no other call can be under way.
 */
int tw_threadx_isr_enter(struct tw_threadx *trace,
                         const struct tw_threadx_context *context,
                         const struct tw_threadx_isr *isr);

/*
 Records the end of an interrupt service routine (`tx_trace_isr_exit_insert`).

 Ownership: none. Errors: as `tw_threadx_isr_enter`. Safe in an interrupt if no other call can be
 under way.
 */
int tw_threadx_isr_exit(struct tw_threadx *trace,
                        const struct tw_threadx_context *context,
                        const struct tw_threadx_isr *isr);

#ifdef __cplusplus
}  // extern "C"
#endif  // __cplusplus

#endif  /* TRACEWELL_H */
