//! Computes next contexts and inserted events as TraceX does, and compares the results with a slow
//! model. The model follows the wording of the rules, and scans all events for each search.

use proptest::prelude::*;
use tracewell::export::tracex::{Facts, INITIALIZATION, INTERRUPT, Trace};
use tracewell_wire::threadx::Event;

const FACTS: Facts = Facts {
    timer_valid_mask: u32::MAX,
    trace_id: 0,
    object_name_size: 32,
    trace_base_address: 0,
    registry_start: 0,
    registry_end: 0,
    buffer_start: 0,
    buffer_end: 0,
    buffer_current: 0,
};

/// Context, priority word or priority, id, information words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
struct ModelEvent {
    context: u32,
    word: u32,
    id: u32,
    info: [u32; 4],
    ticks: u64,
    next: u32,
    priority: u32,
    threshold: Option<u32>,
    inserted: bool,
}

fn in_thread(event: &ModelEvent) -> bool {
    event.context != INTERRUPT && event.context != INITIALIZATION
}

fn next_contexts(events: &mut [ModelEvent]) {
    let (mut current, mut nesting) = (0, 0_u32);
    for k in 0..events.len() {
        let event = events[k];
        let follower = events.get(k + 1).copied();
        let [i1, i2, _, i4] = event.info;
        if in_thread(&event) {
            (current, nesting) = (event.context, 0);
        }
        let next_thread = (k + 1..events.len()).find(|j| in_thread(&events[*j]));
        if !in_thread(&event) {
            let word = event.word;
            let from_thread = k > 1 && events[k - 1].context != INTERRUPT;
            if event.context == INTERRUPT && word != 0 && word != INTERRUPT && from_thread {
                (events[k - 1].next, current) = (word, word);
            }
            events[k].next = event.context;
            match event.id {
                3 => nesting += 1,
                2 => current = i4,
                5 => current = i1,
                1 if i4 != 0 => current = i4,
                1 => {
                    for later in events[k + 1..].iter().filter(|later| in_thread(later)) {
                        if later.context == current {
                            break;
                        }
                        if later.context == i1 {
                            current = i1;
                            break;
                        }
                    }
                }
                4 => nesting = nesting.saturating_sub(1),
                _ => {}
            }
            if nesting == 0 {
                events[k].next = match follower {
                    None => current,
                    Some(f) if f.context == INTERRUPT && f.id != 1 => {
                        if f.word != 0 {
                            f.word
                        } else {
                            current
                        }
                    }
                    Some(f) => f.context,
                };
            }
            continue;
        }
        let next = match event.id {
            2 if follower.is_some_and(|f| event.context == i1 && f.context == i1) => event.context,
            2 => i4,
            1 if i4 != 0 => i4,
            1 => match next_thread {
                Some(j) if events[j].context == i1 => i1,
                _ => event.context,
            },
            109 if i2 != 0 => i2,
            109 => match next_thread {
                Some(j) => {
                    let a = events[j].context;
                    let explained = events[k + 1..j]
                        .iter()
                        .any(|between| [1, 2].contains(&between.id) && between.info[0] == a);
                    if a != event.context && !explained { a } else { event.context }
                }
                None => event.context,
            },
            _ => follower.filter(in_thread).map_or(event.context, |f| f.context),
        };
        events[k].next = next;
        current = next;
    }
}

fn with_running(events: &[ModelEvent]) -> Vec<ModelEvent> {
    let mut list = Vec::new();
    for (k, event) in events.iter().enumerate() {
        list.push(*event);
        let Some(follower) = events.get(k + 1) else { continue };
        if event.next == event.context || event.next == follower.context {
            continue;
        }
        let source = |other: &ModelEvent| {
            if other.context == event.next && other.id != 6 {
                Some((other.priority, other.threshold))
            } else {
                let creates = other.id == 100 && other.info[0] == event.next;
                creates.then_some((other.info[1], Some(0)))
            }
        };
        let special = [0, INTERRUPT, INITIALIZATION].contains(&event.next);
        let earlier = || events[..k].iter().rev().find_map(source);
        let later = || events[k..].iter().find_map(source);
        let found = if special { None } else { earlier().or_else(later) };
        let (priority, threshold) = found.unwrap_or((0, Some(0)));
        let room = follower.ticks - event.ticks > 12;
        list.push(ModelEvent {
            context: event.next,
            word: 0,
            id: 6,
            info: [0; 4],
            ticks: event.ticks + if room { 12 } else { 0 },
            next: event.next,
            priority,
            threshold,
            inserted: true,
        });
    }
    list
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(2000))]
    #[test]
    fn the_fast_forms_agree_with_the_rules_as_worded(
        drawn in proptest::collection::vec(
            (0..5_usize, 0..9_usize, any::<[u8; 5]>(), 0..30_u32),
            1..40,
        ),
    ) {
        let contexts = [INTERRUPT, INITIALIZATION, 0x1000, 0x2000, 0x3000];
        let ids = [1, 2, 3, 4, 5, 6, 100, 109, 83];
        let word = |byte: u8| [0, 0, 0x1000, 0x2000, 0x3000, INTERRUPT][usize::from(byte) % 6];
        let mut ticks = 0;
        let mut events = Vec::new();
        for (position, (context, id, bytes, step)) in drawn.iter().enumerate() {
            ticks += if position == 0 { 0 } else { u64::from(*step) };
            let context = contexts[*context];
            let thread = context != INTERRUPT && context != INITIALIZATION;
            let [a, b, c, d, e] = *bytes;
            let priorities = 0x8000_0000 | (u32::from(a) << 16) | u32::from(b);
            let word_1 = if thread { priorities } else { word(a) };
            events.push(ModelEvent {
                context,
                word: word_1,
                id: ids[*id],
                info: [word(b), word(c), word(d), word(e)],
                ticks,
                next: context,
                priority: if thread { word_1 & 0x3FF } else { word_1 },
                threshold: thread.then_some(u32::from(a)),
                inserted: false,
            });
        }
        let entries = events.iter().map(|event| Event {
            context: event.context.into(),
            priority_word: event.word.into(),
            id_word: event.id.into(),
            stamp: event.ticks,
            info: event.info.map(u64::from),
        });
        let trace = Trace::new(FACTS, true, [], entries);
        let fast: Vec<_> = trace
            .events
            .iter()
            .map(|event| ModelEvent {
                context: event.context,
                word: event.priority_word,
                id: event.id().into(),
                info: event.info,
                ticks: event.ticks,
                next: event.next,
                priority: event.priority,
                threshold: event.threshold,
                inserted: event.inserted,
            })
            .collect();
        next_contexts(&mut events);
        prop_assert_eq!(fast, with_running(&events));
    }
}
