/*
 * The recorder of tracewell_target.h.
 *
 * It writes the same bytes as tracewell_record::target in Rust; a test compares both. A packet has
 * a header of 28 bytes, followed by events. A slot of the ring contains one packet. The recorder
 * continues the checksum with each event and stores it together with the length as one word. The
 * open packet is therefore valid in a dump, too.
 */
#include "tracewell_target_bytes.h"
#include "tracewell_target_port.h"

#define HEADER      28u
#define CHECKED     24u
#define CONTROL     32u
#define ENTRY       32u
#define NAME        20u
#define MAX_PARTS   8u
#define MAX_BLOCK   64u
#define MAX_NUMBER  5u
#define MAX_EVENT   (1u + (3u * MAX_NUMBER))
#define MAX_USER    8u
#define REPEAT      64u
#define DEFINITIONS 255u
#define DELETED     1u
#define LARGER_IS_URGENT 0x200u /* the flag of TW_SYSTEM, in the form of TW_IDLE_TASK */
#define CLOSED      SLOT /* no event has room after this many bytes */
#define SLOT        ((uint32_t)TW_TARGET_SLOT)
#define ENTRIES     ((uint32_t)TW_TARGET_ENTRIES)
#define CORES       ((uint32_t)TW_TARGET_CORES)
#define SLOTS_AT    (CONTROL + (ENTRIES * ENTRY))

#if (TW_TARGET_SLOT < 64) || (TW_TARGET_SLOT > 4096) || ((TW_TARGET_SLOT % 4) != 0)
#error "TW_TARGET_SLOT must be a multiple of 4, from 64 to 4096"
#endif
#if (TW_TARGET_CORES < 1) || (TW_TARGET_CORES > 32)
#error "TW_TARGET_CORES must be from 1 to 32"
#endif

/* The packets of one core: the open packet, which receives events, and the closed packets before it. */
struct lane {
    uint64_t time;     /* time of the last event in ticks */
    uint8_t *packet;   /* the open packet, or the latest one if none is open */
    uint32_t number;   /* number of the open packet, or of the next packet if none is open */
    uint32_t events;   /* number of the next event */
    uint32_t last;     /* the counter at the last event */
    uint32_t read;     /* number of the next packet to read */
    uint16_t length;   /* bytes of the payload of the open packet; CLOSED if none is open */
    uint16_t sum;      /* checksum of the open packet */
    uint16_t refused;  /* events refused since the last packet was opened */
};

static struct {
    struct lane lanes[TW_TARGET_CORES];
    uint8_t *memory;
    uint32_t slots;          /* slots of each core */
    uint32_t filter;
    uint32_t objects;        /* numbers that tw_target_number() has returned */
    uint32_t define_number;  /* number of the next packet of definitions */
    uint16_t define_next;    /* index of the next definition to read */
    uint8_t since_repeat;    /* packets that were read since the definitions were repeated; at most REPEAT */
    uint8_t session;
    uint8_t read_core;       /* tw_target_read() copies the next packet from this core */
} tw;

/* Returns the slot of a packet. */
static uint8_t *slot_of(uint32_t core, uint32_t number)
{
    return &tw.memory[SLOTS_AT + (((core * tw.slots) + (number % tw.slots)) * SLOT)];
}

/* Stores the length and the checksum of a packet, which make it valid. */
static void seal(uint8_t *packet, uint32_t length, uint32_t sum)
{
    const uint32_t word = length | (sum << 16);
#if defined(__BYTE_ORDER__) && (__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__)
    /* One store, because a dump can be taken after any instruction. Slots are aligned to words. */
    *(volatile uint32_t *)(void *)&packet[CHECKED] = word;
#else
    put32(&packet[CHECKED], word);
#endif
}

/* Writes a header except its length and checksum. Returns the checksum of the header. */
static uint32_t header_to(uint8_t *to, uint32_t core, uint32_t number, uint32_t first, const struct lane *lane,
                          uint32_t refused)
{
    put32(to, 0x00019BF4u | (core << 24));
    put32(&to[4], number);
    put32(&to[8], first);
    put32(&to[12], (uint32_t)lane->time);
    put32(&to[16], (uint32_t)(lane->time >> 32));
    put32(&to[20], refused | ((uint32_t)tw.session << 16) | (CORES << 24));
    return crc_of(0xFFFFu, to, CHECKED);
}

TW_CALLED void close_packet(struct lane *lane)
{
    if (lane->length != CLOSED) {
        lane->length = (uint16_t)CLOSED;
        lane->number++;
    }
}

static void open_packet(struct lane *lane, uint32_t core)
{
    close_packet(lane);
    /* The reader loses the packet in this slot, because the new packet overwrites it. */
    if ((lane->number - lane->read) >= tw.slots) {
        lane->read = lane->number - (tw.slots - 1u);
    }
    lane->packet = slot_of(core, lane->number);
    lane->sum = (uint16_t)header_to(lane->packet, core, lane->number, lane->events, lane, lane->refused);
    lane->length = 0;
    lane->refused = 0;
    seal(lane->packet, 0, lane->sum);
}

/* Advances the time of a core to the present. Returns the ticks since the core's last event. */
static uint32_t advance(struct lane *lane)
{
    const uint32_t now = TW_TARGET_CLOCK();
    const uint32_t ticks = now - lane->last;
    lane->last = now;
    lane->time += ticks;
    return ticks;
}

/* Adds an event to the open packet. The bytes of the event are already in the packet, up to `end`.
 * `sum` is the checksum of the packet with the event. */
static void commit(struct lane *lane, const uint8_t *end, uint32_t sum)
{
    uint8_t *const packet = lane->packet;
    const uint32_t length = (uint32_t)(end - packet) - HEADER;
    lane->sum = (uint16_t)sum;
    lane->length = (uint16_t)length;
    lane->events++;
    seal(packet, length, sum);
}

/*
 * Opens a new packet if the open one has no room for an event with these ticks and `length` bytes of
 * arguments. Returns the ticks to store: 0 for the first event of a packet, otherwise `ticks`.
 */
static uint32_t make_room(struct lane *lane, uint32_t core, uint32_t ticks, uint32_t length)
{
    const uint32_t needed = HEADER + 1u + size_of(ticks) + length;
    if ((lane->length + needed) > SLOT) {
        open_packet(lane, core);
        ticks = 0;
    }
    return ticks;
}

static int passes(uint32_t code)
{
    return (TW_GROUP(code) & tw.filter) != 0u;
}

void tw_target_event(uint32_t code, uint32_t first, uint32_t second)
{
    if (passes(code)) {
        const uint32_t state = TW_TARGET_LOCK();
        const uint32_t core = TW_TARGET_CORE();
        struct lane *const lane = &tw.lanes[core];
        uint32_t count = TW_ID(code) >> 6;
        uint32_t ticks = advance(lane);
        uint32_t byte = TW_ID(code);
        uint32_t sum = lane->sum;
        uint32_t value = 0; /* the remaining bits of the current number */
        uint8_t *to;

        /* Compute the length only if the longest event would not fit. */
        if ((HEADER + lane->length + MAX_EVENT) > SLOT) {
            const uint32_t length = ((count > 0u) ? size_of(first) : 0u) + ((count > 1u) ? size_of(second) : 0u);
            ticks = make_room(lane, core, ticks, length);
            sum = lane->sum;
        }
        to = &lane->packet[HEADER + lane->length];
        count++;
        /* One loop writes the id, the ticks and the arguments, because calling a function for each
         * number would take longer than encoding it. */
        for (;;) {
            *to++ = (uint8_t)byte;
            sum = crc(sum, byte);
            if (value == 0u) {
                if (count == 0u) {
                    break;
                }
                count--;
                value = ticks;
                ticks = first;
                first = second;
            }
            byte = value & 0x7Fu;
            value >>= 7;
            if (value != 0u) {
                byte |= 0x80u;
            }
        }
        commit(lane, to, sum);
        TW_TARGET_UNLOCK(state);
    }
}

static uint32_t zigzag(int32_t value)
{
    return ((uint32_t)value << 1) ^ ((value < 0) ? 0xFFFFFFFFu : 0u);
}

void tw_target_value(uint32_t channel, int32_t value)
{
    TW_EVENT(TW_VALUE, channel, zigzag(value));
}

/* Records an event with a block. `block[0]` is free for the length, and the content of `length` bytes
 * begins at `block[1]`. */
static void add_block(uint32_t id, uint8_t *block, uint32_t length)
{
    const uint32_t state = TW_TARGET_LOCK();
    const uint32_t core = TW_TARGET_CORE();
    struct lane *const lane = &tw.lanes[core];
    const uint32_t ticks = make_room(lane, core, advance(lane), length + 1u);
    uint8_t *const from = &lane->packet[HEADER + lane->length];
    uint8_t *to = from;

    *to++ = (uint8_t)id;
    to = number_to(to, ticks);
    /* A length of at most 74 is one byte. */
    block[0] = (uint8_t)length;
    copy(to, block, length + 1u);
    to = &to[length + 1u];
    commit(lane, to, crc_of(lane->sum, from, (uint32_t)(to - from)));
    TW_TARGET_UNLOCK(state);
}

/* Maximum length of a block, which must fit into a packet after the id, the ticks and the length. */
static uint32_t most(void)
{
    const uint32_t room = SLOT - HEADER - 4u;
    return (room < (MAX_BLOCK + 10u)) ? room : (MAX_BLOCK + 10u);
}

void tw_target_text(uint32_t channel, const char *text)
{
    uint8_t block[1u + MAX_BLOCK + 10u];
    uint8_t *const first = &block[1];
    uint8_t *to = number_to(first, channel);
    uint32_t room = most() - (uint32_t)(to - first);

    if (!passes(TW_TEXT)) {
        return;
    }
    room = (room < MAX_BLOCK) ? room : MAX_BLOCK;
    for (; (*text != '\0') && (room > 0u); room--) {
        *to++ = (uint8_t)*text++;
    }
    add_block(TW_ID(TW_TEXT), block, (uint32_t)(to - first));
}

void tw_target_user(uint32_t event, const int32_t *arguments, uint32_t count)
{
    uint8_t block[1u + MAX_BLOCK + 10u];
    uint8_t *const first = &block[1];
    uint8_t *to = number_to(first, event);

    if (!passes(TW_USER)) {
        return;
    }
    for (uint32_t i = 0; (i < count) && (i < MAX_USER); i++) {
        const uint32_t value = zigzag(arguments[i]);
        if (((uint32_t)(to - first) + size_of(value)) <= most()) {
            to = number_to(to, value);
        }
    }
    add_block(TW_ID(TW_USER), block, (uint32_t)(to - first));
}

void tw_target_refuse(void)
{
    const uint32_t state = TW_TARGET_LOCK();
    struct lane *const lane = &tw.lanes[TW_TARGET_CORE()];
    close_packet(lane);
    lane->events++;
    if (lane->refused != 0xFFFFu) {
        lane->refused++;
    }
    TW_TARGET_UNLOCK(state);
}

uint32_t tw_target_number(void)
{
    const uint32_t state = TW_TARGET_LOCK();
    const uint32_t number = ++tw.objects;
    TW_TARGET_UNLOCK(state);
    return number;
}

void tw_target_set_filter(uint32_t groups)
{
    if (tw.memory != (uint8_t *)0) {
        tw.filter = groups | TW_ALWAYS;
    }
}

void tw_target_flush(void)
{
    for (uint32_t core = 0; core < CORES; core++) {
        const uint32_t state = TW_TARGET_LOCK();
        close_packet(&tw.lanes[core]);
        TW_TARGET_UNLOCK(state);
    }
}

static uint8_t *entry(uint32_t index)
{
    return &tw.memory[CONTROL + (index * ENTRY)];
}

/* Returns the entry for a part of a name: its own, else an unused one, else a deleted one, else ENTRIES. */
static uint32_t find_entry(uint32_t kind, uint32_t number, uint32_t part)
{
    uint32_t best = ENTRIES;
    uint32_t rank = 0; /* 1 if the best entry so far is deleted, 2 if it is unused */
    for (uint32_t i = 0; i < ENTRIES; i++) {
        const uint8_t *const at = entry(i);
        uint32_t found = (uint32_t)at[2] & DELETED;
        if ((at[0] == kind) && (at[1] == part) && (get32(&at[4]) == number)) {
            return i;
        }
        if (at[0] == 0u) {
            found = 2;
        }
        if (found > rank) {
            best = i;
            rank = found;
        }
    }
    return best;
}

/* Clears the entries of a task or object, from part number `part` on. If `flags` is not 0, sets these
 * flags in the entries instead. */
static void drop(uint32_t kind, uint32_t number, uint32_t part, uint32_t flags)
{
    for (uint32_t i = 0; i < ENTRIES; i++) {
        uint8_t *const at = entry(i);
        if ((at[0] != kind) || (at[1] < part) || (get32(&at[4]) != number)) {
            continue;
        }
        if (flags != 0u) {
            at[2] |= (uint8_t)flags;
        } else {
            clear(at, ENTRY);
        }
    }
}

void tw_target_define(uint32_t kind, uint32_t number, uint32_t value, uint32_t priority, const char *name)
{
    const uint32_t flags = kind >> 8;
    uint32_t lowest = ENTRIES;
    uint32_t part = 0;
    if (tw.memory == (uint8_t *)0) {
        return;
    }
    if (name == (const char *)0) {
        name = "";
    }
    const uint32_t state = TW_TARGET_LOCK();
    do {
        const uint32_t index = find_entry(kind & 0xFFu, number, part);
        uint8_t *to;
        if (index == ENTRIES) {
            put32(&tw.memory[20], get32(&tw.memory[20]) + 1u);
            lowest = ENTRIES;
            break;
        }
        to = entry(index);
        put32(to, (kind & 0xFFu) | (part << 8) | (flags << 16) | (priority << 24));
        put32(&to[4], number);
        put32(&to[8], value);
        for (uint32_t i = 0; i < NAME; i++) {
            to[12u + i] = (uint8_t)*name;
            if (*name != '\0') {
                name++;
            }
        }
        lowest = (index < lowest) ? index : lowest;
        part++;
    } while ((*name != '\0') && (part < MAX_PARTS));
    if (lowest < tw.define_next) {
        tw.define_next = (uint16_t)lowest;
    }
    /* If the earlier name was longer, it has further parts. */
    if (lowest != ENTRIES) {
        drop(kind & 0xFFu, number, part, 0);
    }
    TW_TARGET_UNLOCK(state);
}

void tw_target_remove(uint32_t kind, uint32_t number)
{
    if (tw.memory != (uint8_t *)0) {
        const uint32_t state = TW_TARGET_LOCK();
        drop(kind, number, 0, DELETED);
        TW_TARGET_UNLOCK(state);
    }
}

/* Copies one packet of definitions if there are new ones, and returns its length in bytes. */
static uint32_t read_definitions(uint8_t *out)
{
    const uint32_t state = TW_TARGET_LOCK();
    const uint32_t next = tw.define_next;
    const uint32_t room = (SLOT - HEADER) / ENTRY;
    uint32_t used = ENTRIES;
    uint32_t count;
    uint32_t sum;

    while ((used > 0u) && (entry(used - 1u)[0] == 0u)) {
        used--;
    }
    count = (used > next) ? (used - next) : 0u;
    count = (count < room) ? count : room;
    if (count == 0u) {
        TW_TARGET_UNLOCK(state);
        return 0;
    }
    sum = header_to(out, DEFINITIONS, tw.define_number, next, &tw.lanes[0], 0);
    copy(&out[HEADER], entry(next), count * ENTRY);
    tw.define_number++;
    tw.define_next = (uint16_t)(next + count);
    TW_TARGET_UNLOCK(state);
    sum = crc_of(sum, &out[HEADER], count * ENTRY);
    put32(&out[24], (count * ENTRY) | (sum << 16));
    return HEADER + (count * ENTRY);
}

uint32_t tw_target_read(uint8_t *out, uint32_t size)
{
    uint32_t length = 0;
    uint32_t empty = 0; /* cores in a row that had no packet */
    uint32_t more;

    if (tw.memory == (uint8_t *)0) {
        return 0;
    }
    /* Repeat the names even if the caller never reads all packets. */
    if (tw.since_repeat >= REPEAT) {
        tw.since_repeat = 0;
        tw.define_next = 0;
    }
    /* Names precede the events that refer to them, so copy all definitions first. */
    do {
        if ((size - length) < SLOT) {
            return length;
        }
        more = read_definitions(&out[length]);
        length += more;
    } while (more != 0u);
    /* Copy one packet of each core in turn, so that a busy core does not delay the packets of the others. */
    while (empty < CORES) {
        const uint32_t core = (CORES > 1u) ? tw.read_core : 0u;
        struct lane *const lane = &tw.lanes[core];
        uint32_t state = TW_TARGET_LOCK();
        const uint32_t number = lane->read;
        const uint8_t *const packet = slot_of(core, number);
        const uint32_t bytes = HEADER + (get32(&packet[24]) & 0xFFFFu);
        const int none = (number == lane->number);
        TW_TARGET_UNLOCK(state);
        if (none) {
            empty++;
        } else if ((length + bytes) > size) {
            return length;
        } else {
            empty = 0;
            copy(&out[length], packet, bytes);
            state = TW_TARGET_LOCK();
            /* `read` has changed if a new packet overwrote this packet during the copy. */
            if (lane->read == number) {
                lane->read = number + 1u;
                length += bytes;
                if (tw.since_repeat < REPEAT) {
                    tw.since_repeat++;
                }
            }
            TW_TARGET_UNLOCK(state);
        }
        tw.read_core = (uint8_t)((core + 1u) % CORES);
    }
    return length;
}

/* Searches the slots of a core for valid packets of an earlier run. Returns the number of the newest packet
 * plus 1, or 0 if there is none. */
static uint32_t next_number(uint32_t core)
{
    uint32_t newest = 0;
    int found = 0;
    for (uint32_t i = 0; i < tw.slots; i++) {
        const uint8_t *const at = slot_of(core, i);
        const uint32_t length = get32(&at[24]) & 0xFFFFu;
        const uint32_t number = get32(&at[4]) + 1u;
        if ((get32(at) != (0x00019BF4u | (core << 24))) || (length > (SLOT - HEADER))) {
            continue;
        }
        if (crc_of(crc_of(0xFFFFu, at, CHECKED), &at[HEADER], length) != (get32(&at[24]) >> 16)) {
            continue;
        }
        if (!found || ((number - newest) < 0x80000000u)) {
            newest = number;
            found = 1;
        }
    }
    return newest;
}

/* Writes the first 20 bytes of the control block. The checksum at their end makes them valid. */
static void control_to(uint8_t *to, uint32_t session)
{
    put32(to, 0x41545754u); /* TWTA */
    put32(&to[4], 0x54454752u); /* RGET */
    put32(&to[8], 1u | (CORES << 8) | (SLOT << 16));
    put32(&to[12], tw.slots | (ENTRIES << 16));
    put32(&to[16], session);
    put32(&to[16], session | (crc_of(0xFFFFu, to, 18) << 16));
}

int tw_target_init(uint32_t *memory, uint32_t bytes, const struct tw_target_options *options)
{
    uint8_t control[20];
    uint8_t *const to = (uint8_t *)memory;
    uint32_t kept = options->keep;
    uint32_t slots = (bytes > SLOTS_AT) ? ((bytes - SLOTS_AT) / (SLOT * CORES)) : 0u;
    uint32_t now;

    if (slots < 2u) {
        return -1;
    }
    /* An interrupt must not record before the ring is complete. */
    tw.filter = 0;
    clear((uint8_t *)&tw, (uint32_t)sizeof tw);
    tw.memory = to;
    tw.slots = (slots < 0xFFFFu) ? slots : 0xFFFFu;
    /* The ring of an earlier run may have any session, so the comparison uses the session in the memory. */
    control_to(control, to[16]);
    for (uint32_t i = 0; i < 20u; i++) {
        kept &= (control[i] == to[i]) ? 1u : 0u;
    }
    if (kept != 0u) {
        tw.session = (uint8_t)(to[16] + 1u);
    }
    /* This clears the control block first, so a decoder finds no invalid ring in a dump that is taken now. */
    clear(to, SLOTS_AT + ((kept != 0u) ? 0u : (CORES * tw.slots * SLOT)));
    now = TW_TARGET_CLOCK();
    for (uint32_t core = 0; core < CORES; core++) {
        struct lane *const lane = &tw.lanes[core];
        lane->length = (uint16_t)CLOSED;
        lane->last = now;
        lane->number = next_number(core);
        lane->read = lane->number;
    }
    tw_target_define(TW_SYSTEM | ((options->larger_is_urgent != 0u) ? LARGER_IS_URGENT : 0u), 0, options->rate, 0,
                     options->kernel);
    control_to(to, tw.session);
    tw.filter = 0xFFFFFFFFu;
    tw_target_event(TW_START, 0, 0);
    return 0;
}
