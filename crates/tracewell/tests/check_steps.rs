//! Tests the meaning of rules on traces that are written as letters, as `support/letters.rs` says.

#[path = "support/letters.rs"]
mod letters;

use letters::{feed, feed_words, schema};
use proptest::prelude::*;
use tracewell::check::{
    Check, FailureKind, RuleOutcome, Rules, RulesWriter, Verdict, WriteOptions,
};
use tracewell::model::{Batch, Flow, Rate, Sink, Trace};
use tracewell::source::Source;

fn verdict(rules: &str, events: &str) -> Verdict {
    let parsed = Rules::parse(&Source::new("test.rules", rules));
    let rules = parsed.rules.unwrap_or_else(|| panic!("{rules}: {:?}", parsed.findings));
    let mut check = Check::new(&rules);
    let trace = feed(events, &mut check);
    check.verdict(&trace)
}

#[track_caller]
fn passes(rules: &str, events: &str) {
    let verdict = verdict(rules, events);
    assert!(verdict.passed(), "{rules:?} on {events:?}: {:#?}", verdict.failures);
}

#[track_caller]
fn fails(rules: &str, events: &str, kind: FailureKind, at: Option<u64>) {
    let verdict = verdict(rules, events);
    let found: Vec<_> =
        verdict.failures.iter().map(|f| (f.kind, f.at.as_ref().map(|line| line.seq))).collect();
    assert_eq!(found, [(kind, at)], "{rules:?} on {events:?}");
}

use FailureKind::{Count, Early, Late, Missing, Never, Unanswered, Unexpected};

#[test]
fn steps_come_in_order_with_others_between() {
    passes("A\nB\nC", "A B C");
    passes("A; B; C", "X A Y Y B B C Z");
    fails("A; B; C", "A C B", Missing, None);
    fails("A; A", "A B", Missing, None);
    passes("complete", "A B");
}

#[test]
fn names_have_wildcards_and_alternatives() {
    passes("?; *; a | b", "X Y B");
    fails("A | B", "C D", Missing, None);
    passes("\"A\"", "A");
    fails("\"a\"", "A", Missing, None);
    passes("*(@label = B | C)", "A C");
}

#[test]
fn fields_are_compared() {
    passes("A(n = 7)", "A3 A7");
    passes("A(n > 3, n <= 0x7)", "A3 A7");
    fails("A(n != 7)", "A7", Missing, None);
    passes("A(n = 1 | 2 | 3)", "A3");
    passes("A(m = -5)", "A5");
    passes("A(m < 0)", "A5");
    passes("A(n = ?7*)", "A571");
    passes("A(@context = ma*, @cpu = 0, @family = letters, @id = 0, @ticks = 10)", "A");
    passes("A(@text = \"n=5, m=-5, h=0x00000005\")", "A5");
    fails("A(x = 1)", "A", Missing, None);
    fails("A(x != 1)", "A", Missing, None);
}

#[test]
fn next_allows_nothing_between() {
    passes("A; next B", "X A B");
    fails("A; next B", "A X B", Unexpected, Some(1));
    passes("ignore X\nA; next B", "A X X B");
    passes("only A | B\nA; next B", "A X Y B");
    // X follows A, so the optional step is skipped.
    passes("A; optional next B; C", "A X B C");
    fails("A; optional next B; next C", "A X C", Unexpected, Some(1));
    // After X, the optional step is still possible: B matches it, and C follows B directly.
    passes("A; optional B; next C", "A X B C");
}

#[test]
fn strict_rules_name_every_event() {
    passes("strict\nA; B", "A B");
    fails("strict\nA; B", "A B C", Unexpected, Some(2));
    fails("strict\nA; B", "X A B", Unexpected, Some(0));
    fails("strict\nA; B", "A", Missing, None);
    passes("strict\n...\nA\n...\nB\n...", "X A Y Y B Z");
    fails("strict\n...\nA\nB", "X A Y B", Unexpected, Some(2));
    passes("strict\n{ A; B }\nany order { C; D }", "A B D C");
    fails("strict\nany order { C; D }", "D X C", Unexpected, Some(1));
}

#[test]
fn blocks_come_in_any_order() {
    passes("any order { A; B; { C; D } }; E", "B C A D E");
    fails("any order { A; B }; C", "A C B", Missing, None);
    passes("any order { A; A }", "A X A");
    fails("any order { A; { B; C } }", "A C B", Missing, None);
}

#[test]
fn one_of_several_alternatives_occurs() {
    passes("either A or B; C", "B C");
    passes("either { A; B }\nor { A; C }", "A C B");
    fails("either { A; B } or { C; D }", "C B A", Missing, None);
}

#[test]
fn optional_steps_may_be_left_out() {
    passes("A; optional B; C", "A C");
    passes("A; optional { B; C }; D", "A B C D");
    // A block that has begun must be completed.
    fails("A; optional { B; C }; D", "A B D", Missing, None);
}

#[test]
fn steps_are_repeated() {
    passes("repeat 3 A; B", "A A X A B");
    fails("repeat 3 A; B", "A A B", Missing, None);
    passes("repeat 2..3 A; B", "A A B");
    passes("repeat ..2 { A; B }; C", "A B A B C");
    passes("repeat { A; B }; C", "A B A B A B C");
    fails("strict\nrepeat 2 A", "A A A", Unexpected, Some(2));
    passes("strict\nrepeat A\nB", "A A A B");
    passes("strict\nrepeat { A; optional B }\nC", "A B A A C");
}

#[test]
fn variables_keep_their_values() {
    passes("A(n = $x); B(n = $x)", "A3 B2 B3");
    fails("A(n = $x); B(n = $x)", "A3 B2", Missing, None);
    passes("A(n = $x); B(n > $x); C(n != $x)", "A3 B3 B4 C3 C4");
    fails("A(n = $x); B(n > $x)", "A3 B2 B3", Missing, None);
    fails("A(n = $x); C(n != $x)", "A3 C3", Missing, None);
    // Each repetition sets the variable again.
    passes("repeat 2 { A(n = $x); B(n = $x) }; C", "A1 B1 A2 B2 C");
    fails("repeat 2 { A(n = $x); B(n = $x) }", "A1 B1 A2 B1", Missing, None);
    // A variable that is set before the block keeps its value.
    fails("A(n = $x); repeat 2 B(n = $x)", "A1 B1 B2", Missing, None);
    // A partial match does not set a variable.
    passes("A(n = $x, m = -2); B(n = $x)", "A1 A2 B2");
}

#[test]
fn values_of_a_variable_are_compared_as_numbers_however_they_are_shown() {
    passes("A(n = $x); B(h = $x)", "A10 B10");
    fails("A(n = $x); B(h = $x)", "A10 B11", Missing, None);
}

#[test]
fn signed_arguments_of_64_bits_are_compared_with_their_sign() {
    let check = |rules: &str| {
        let rules = Rules::parse(&Source::new("test.rules", rules)).rules.unwrap();
        let mut check = Check::new(&rules);
        let trace = feed_words("A5000000000 B-3", 8, &mut check);
        check.verdict(&trace).passed()
    };
    assert!(
        check("A(m = -5000000000); B(m = 3, m > -1)")
            && check("A(m < 0); B(n < 18446744073709551615)")
    );
    assert!(!check("A(m = 5000000000)") && !check("A(m > 0)"));
}

#[test]
fn an_optional_next_step_is_left_out_if_another_event_comes_first() {
    passes("A; optional { next B; D }; C", "A X B C");
    passes("A; optional { next B; D }; C", "A B D C");
    // The dots precede the block; within the block, no other events are allowed.
    passes("A; ...; { B; optional { next C; D }; E }", "A X B X C E");
    fails("A; ...; { B; optional { next C; D }; E }", "A X B C E", Missing, None);
}

/// An event can make an optional block impossible. The rest of the rule must remain possible,
/// because otherwise correct traces would fail.
#[test]
fn an_optional_block_that_became_impossible_leaves_the_rest_of_a_rule_possible() {
    // The next repetition can begin.
    passes("repeat 2 { A; optional { next B; D } }; C", "A X A X C");
    fails("repeat 2 { A; optional { next B; D } }; C", "A X C", Missing, None);
    // Two blocks are impossible, but the step after them is not.
    passes("A; optional { next B; E }; optional { next C; E }; D", "A X D");
}

#[test]
fn a_range_of_counts_begins_with_the_smaller_number() {
    passes("count 2..2 A", "A A");
    let parsed = Rules::parse(&Source::new("test.rules", "count 3..2 A"));
    assert!(parsed.rules.is_none());
    assert_eq!(parsed.findings[0].message, "the first number is larger than the second");
}

#[test]
fn an_incomplete_repetition_is_reported_at_its_next_step() {
    for (events, expected) in [("A B A", "B"), ("A B", "A"), ("", "A")] {
        let rules = "repeat 2 { A; B }";
        let found = verdict(rules, events);
        let span = found.failures[0].span;
        assert_eq!(&rules[span.start as usize..span.end as usize], expected, "{events:?}");
    }
}

#[test]
fn times_are_limited() {
    passes("A; B within 20 us", "A X B");
    fails("A; B within 19 us", "A X B", Late, Some(2));
    fails("A; B within 19 us", "A X Y Z", Late, Some(2));
    fails("A; B within 5 ms", "A", Missing, None);
    passes("A; B within 20 ticks", "A X B");
    passes("A; B after 15 us", "A X B");
    fails("A; B after 15 us", "A B B", Early, Some(1));
    passes("A as start; B; C within 30 us of start", "A B X C");
    fails("A as start; B; C within 29 us of start", "A B X C", Late, Some(3));
    fails("A; { B; C } within 15 us", "A B C", Late, Some(2));
    passes("A within 10us", "A");
    fails("A within 1us", "A", Late, Some(0));
    // Each repetition, and each step of an any-order group, has its own time limit.
    passes("A; repeat 3 B within 10 us; C", "A B B B X X C");
    fails("repeat 2 { A; B within 19 us }", "A X Y Z", Late, Some(2));
    fails("A; any order { B within 10 us; C }", "A C B", Late, Some(2));
    // The time limit of an optional step applies only to that step.
    passes("A; optional B within 5 us; C", "A B C");
}

#[test]
fn some_things_never_happen() {
    passes("never X", "A B");
    fails("never X", "A X X", Never, Some(1));
    passes("never X from A until B", "X A B X");
    fails("never X from A until B", "A B A X B", Never, Some(3));
    fails("A; B\nnever C", "A C B", Never, Some(1));
}

#[test]
fn events_are_counted() {
    passes("count 2 A", "A B A");
    fails("count 2 A", "A", Count, None);
    fails("count 2 A", "A A A", Count, Some(2));
    fails("count ..1 A(n = 1)", "A1 A2 A1", Count, Some(2));
    passes("count 1..2 X from A until B", "A X B A X X B");
    fails("count 1..2 X from A until B", "A X B A B", Count, Some(4));
    passes("eventually C", "A B C");
    fails("eventually C", "A B", Count, None);
}

#[test]
fn events_are_answered() {
    passes("whenever A(n = $x) then B(n = $x) within 20 us", "A1 A2 B1 B2");
    fails("whenever A(n = $x) then B(n = $x) within 19 us", "A1 X B1", Late, Some(2));
    fails("whenever A(n = $x) then B(n = $x)", "A1 A2 B2", Unanswered, None);
    passes("whenever A then B", "A A B");
    passes("whenever A then B until C", "A B C A");
}

#[test]
fn each_event_has_an_answer_of_its_own() {
    passes("each A then B", "A A B B");
    fails("each A then B", "A A B", Unanswered, None);
    passes("each A(n = $x) then B(n = $x) within 20 us", "A1 A2 B1 B2");
    // For `each`, the first B answers only the first A. The second B answers the second A after 30
    // us, which is late.
    passes("whenever A then B within 20 us", "A A B X B");
    fails("each A then B within 20 us", "A A B X B", Late, Some(4));
    passes("each A then B within 30 us", "A A B X B");
    // The first answer is late and belongs to the first event, so the second answer is in time.
    fails("each A then B within 25 us", "A X X A B B", Late, Some(3));
    fails("each A then B until C", "A A B C B", Unanswered, Some(3));
}

/// JSON and tables show how many events a statement matched, and why the trace does not decide it.
#[test]
fn a_statement_that_is_decided_has_counts_and_needs_no_reason() {
    let result = |rules: &str, events: &str| {
        let verdict = verdict(rules, events);
        let [rule] = &verdict.rules[..] else { panic!("{:?}", verdict.rules) };
        (rule.matched, rule.held, rule.failed, rule.open_because.clone())
    };
    assert_eq!(result("each A then B", "A A X B B"), (4, 2, 0, None));
    assert_eq!(result("whenever A then B", "A A X B B"), (3, 1, 0, None));
    assert_eq!(result("whenever A(n = $x) then B(n = $x)", "A1 A2 B1 B2"), (4, 2, 0, None));
    assert_eq!(result("whenever A then B within 5 us", "A X B"), (1, 0, 1, None));
    let reason = "rule not decided: the trace has no event 'A'".to_owned();
    assert_eq!(result("whenever A then B", "X B"), (0, 0, 0, Some(reason)));
}

/// Returns the outcome of the only rule, and the numbers of events or ranges that held, were late
/// or are undecided.
#[track_caller]
fn outcome(rules: &str, events: &str) -> (RuleOutcome, [u64; 3]) {
    let verdict = verdict(rules, events);
    let [rule] = &verdict.rules[..] else { panic!("{:?}", verdict.rules) };
    let (outcome, counts) = (rule.outcome(), [rule.held, rule.late, rule.open]);
    assert_eq!(verdict.failures.is_empty(), outcome != Failed, "{rules} on {events}");
    assert_eq!(rule.open_because.is_some(), outcome == Open, "{rules} on {events}");
    assert_eq!(verdict.strict().failures.is_empty(), outcome == Held, "{rules} on {events}");
    (outcome, counts)
}

use RuleOutcome::{Failed, Held, Open};

#[test]
fn an_event_whose_answer_may_be_missing_is_neither_answered_nor_late() {
    for word in ["each", "whenever"] {
        let is = |rest: &str, events: &str, expected: (RuleOutcome, [u64; 3])| {
            assert_eq!(outcome(&format!("{word} {rest}"), events), expected, "{word} on {events}");
        };
        // The answer to the second A may be missing. The third A has its own answer.
        let events = "A1 B1 A2 !3 A3@500 B3";
        is("A(n = $x) then B(n = $x) within 20 us", events, (Held, [2, 0, 1]));
        is("A then B within 20 us", events, (Held, [2, 0, 1]));
        is("A then B", "A !1 X", (Open, [0, 0, 1]));
        is("A then B within 20 us", "A !1 X@500 B", (Open, [0, 0, 1]));
        // Two gaps without an event between them are one.
        is("A then B", "A !1 !1 A B", (Held, [1, 0, 1]));
        // The limit expired before the gap. The answer may be missing, too.
        is("A then B within 20 us", "A X X X !1 A B", (Failed, [1, 1, 0]));
        is("A then B within 20 us", "A !1 A X X X", (Failed, [0, 1, 1]));
        // For rules, the trace begins after the events that are missing before its first event.
        is("A then B", "!1 A X", (Failed, [0, 1, 0]));
        // The range may have ended in the gap.
        is("A then B from S until E", "S A B A !1 A E S A B E", (Held, [2, 0, 1]));
        is("A then B until E", "!1 !2 X !1 A E", (Open, [0, 0, 0]));
        is("A then B from S", "S A !1 A B A", (Failed, [1, 1, 1]));
    }
    let reason = verdict("each A then B", "X A !1 X").rules[0].open_because.clone();
    let expected = "rule not decided: the events that are missing after event 1 could decide it";
    assert_eq!(reason.as_deref(), Some(expected));
}

#[test]
fn steps_do_not_fail_because_of_missing_events() {
    let is = |rules: &str, events: &str, expected: RuleOutcome| {
        assert_eq!(outcome(rules, events).0, expected, "{rules} on {events}");
    };
    is("A; B; C", "A B !2 C", Held);
    is("A; B", "A !1 X", Open);
    is("A; B", "A B !1 X", Held);
    is("A; B", "X !1 X A X", Open);
    is("A; B", "!1 A X", Failed);
    is("A; B within 20 us", "A !1 B", Held);
    is("A; B within 20 us", "A !1 B@500", Open);
    is("A; B within 20 us", "A X X X !1 B", Failed);
    is("A; B after 15 us", "A !1 X B", Held);
    is("A; B after 15 us", "A !1 B", Open);
    is("A; B after 15 us", "A B !1", Failed);
    // `next` and `strict` allow no events between two steps, so none may be missing there.
    is("A; next B", "A !1 B", Open);
    is("A; next B", "A !1 X B", Open);
    is("A; next B", "A X !1 B", Failed);
    is("A; next B", "X !1 A B !1 X", Held);
    is("A; optional next B; C", "A !1 C", Held);
    is("A; optional next B; C", "A !1 B C", Open);
    is("strict\nA; B", "A !1 B", Open);
    is("strict\nA; B", "A B !1", Open);
    is("strict\nA; B", "A B X !1", Failed);
    is("strict\nA; B", "!1 A B", Held);
    is("strict\nA\n...\nB", "A !1 B", Held);
    is("strict\nA\n...\n{ B; C }", "A !1 B !1 C", Open);
    is("strict\nA\n...", "A !1", Held);
    let reason = verdict("A; next B", "X A !1 B").rules[0].open_because.clone();
    let expected = "rule not decided: events are missing after event 1, and none may be there";
    assert_eq!(reason.as_deref(), Some(expected));
}

#[test]
fn a_count_is_not_too_low_because_of_missing_events() {
    let is = |rules: &str, events: &str, expected: (RuleOutcome, [u64; 3])| {
        assert_eq!(outcome(rules, events), expected, "{rules} on {events}");
    };
    is("never X", "A !1 B", (Held, [1, 0, 0]));
    is("never X", "A !1 X", (Failed, [0, 0, 0]));
    is("never X from A", "A !1 X", (Failed, [0, 0, 0]));
    is("count 2 A", "A !1 X", (Open, [0, 0, 1]));
    is("count 2 A", "A !1 A", (Held, [1, 0, 0]));
    is("count ..1 A", "A !1 A", (Failed, [0, 0, 0]));
    is("eventually C", "A !1 B", (Open, [0, 0, 1]));
    is("eventually C", "!1 A B", (Failed, [0, 0, 0]));
    // The end of the range may be missing.
    is("never X from A until B", "A !1 X B", (Open, [0, 0, 1]));
    is("never X from A until B", "A X !1 B", (Failed, [0, 0, 0]));
    is("never X from A until B", "A !1 B A B !1 X", (Held, [1, 0, 1]));
    is("never X until B", "A !1 X B", (Open, [0, 0, 1]));
    // A range can begin in a gap, and then contains more events than those after its second A.
    is("count 1.. X from A until B", "A !1 A B", (Open, [0, 0, 2]));
    is("count 1.. X from A until B", "A X B !1 A B A B", (Failed, [1, 0, 1]));
}

/// Finding a value that the user may have meant takes time and memory, so both are bounded.
#[test]
fn a_suggestion_is_one_of_the_first_values() {
    // The text of `An` with an error in the last digit.
    let wrong = |n: u64| format!("n={n}, m=-{n}, h=0x{n:07X}_");
    let is_suggested = |n: u64, events: &str| {
        let verdict = verdict(&format!("whenever A(@text = \"{}\") then B", wrong(n)), events);
        let reason = verdict.rules[0].open_because.clone().unwrap();
        reason.contains(&format!("did you mean 'n={n}, "))
    };
    let different: String = (0..100).map(|n| format!("A{n} ")).collect();
    assert!(is_suggested(63, &different) && !is_suggested(64, &different));
    let [before, after] = [4095, 4096].map(|count| "A1 ".repeat(count) + "A7");
    assert!(is_suggested(7, &before) && !is_suggested(7, &after));
}

/// A misspelt name in a condition of `never` or `ignore` matches nothing, so without a message the
/// user would not notice the mistake.
#[test]
fn names_in_conditions_that_nothing_has_are_reported_for_any_name_of_events() {
    for rules in
        ["never A(@context = mian)", "never ?(@context = mian)", "ignore *(@context = mian)\nA"]
    {
        let verdict = verdict(rules, "A B");
        let messages: Vec<_> = verdict.absent.iter().map(|found| found.message.as_str()).collect();
        assert_eq!(
            messages,
            ["no context named 'mian' in this trace; did you mean 'main'?"],
            "{rules}"
        );
    }
    for rules in ["never ?(x = 1)", "never A(x = 1)"] {
        let verdict = verdict(rules, "A B");
        assert_eq!(verdict.warnings.len(), 1, "{rules}: no event has an argument x");
    }
}

#[test]
fn events_without_an_answer_in_time_are_counted() {
    let counts = |rules: &str, events: &str| {
        let verdict = verdict(rules, events);
        let [rule] = &verdict.rules[..] else { panic!("{:?}", verdict.rules) };
        let messages = verdict.failures.iter().map(|failure| failure.message.clone()).collect();
        (rule.held, rule.late, messages)
    };
    let first = |message: &str| vec![message.to_owned()];
    // The events are at 10, 20, … us. The first two A events wait for 30 us, and the third A event
    // waits for 20 us.
    let expected = (1, 2, first("no answer within 25 us (2 of 3 events in all)"));
    assert_eq!(counts("each A then B within 25 us", "A A X B B A X B"), expected);
    assert_eq!(
        counts("each A then B", "A A B A"),
        (1, 2, first("no answer (2 of 3 events in all)"))
    );
    let expected = (0, 1, first("no answer within 25 us"));
    assert_eq!(counts("each A then B within 25 us", "A X X B"), expected);
    // For `whenever`, several events that have the same answer count once.
    let expected = (0, 2, first("no answer within 15 us (2 times in all)"));
    assert_eq!(counts("whenever A then B within 15 us", "A A X B A X X B"), expected);
    // The memory for late events without an answer is bounded, but all of these events are counted.
    let many = "A X ".repeat(10_000);
    assert_eq!(counts("each A then B within 15 us", &many).1, 10_000);
    let most = "no answer (4096 of 4096 events in all)".to_owned();
    assert_eq!(counts("each A then B", &"A ".repeat(4096)).2, [most]);
    for events in [4097, 10_000] {
        let message = "more than 4096 events wait for answers".to_owned();
        assert_eq!(counts("each A then B", &"A ".repeat(events)).2, [message]);
    }
}

#[test]
fn conditions_of_only_the_last_alternative_get_a_warning() {
    let warnings = |rules: &str| -> Vec<String> {
        let parsed = Rules::parse(&Source::new("test.rules", rules));
        assert!(parsed.rules.is_some());
        parsed.findings.into_iter().map(|finding| finding.message).collect()
    };
    assert_eq!(
        warnings("never A | \"b c\" | D(n = 1, m = 2)"),
        [
            "these conditions apply only to D: for all events, write A(n = 1, m = 2) | \"b c\"(n = 1, \
          m = 2) | D(n = 1, m = 2); if the others need no conditions, write A() | \"b c\"() | \
          D(n = 1, m = 2)"
        ]
    );
    for rules in ["A | B", "A(n = 1)", "A(n = 1) | B", "A() | B(n = 1)", "A(n = 2) | B(n = 1)"] {
        assert_eq!(warnings(rules), [""; 0], "{rules}");
    }
}

#[test]
fn an_answer_that_does_not_come_is_missed_at_an_event_of_any_name() {
    fails("whenever A then B within 25 us", "A X X X B", Late, Some(3));
    passes("whenever A then B within 25 us", "A X B X X X X");
    fails("whenever A then B within 15 us", "A B A X X X", Late, Some(4));
    fails("whenever A(n = $x) then B(n = $x) within 25 ticks", "A1 A2 B1 X X", Late, Some(4));
    fails("whenever A then B within 1 s", "A@10 X@20 X@1000010 Y@1000011", Late, Some(3));
}

#[test]
fn a_limit_of_seconds_follows_a_clock_that_changes_its_rate() {
    /// Forwards events. From the fourth event on, the clock has a tenth of its first rate.
    struct Slower<'a, 'r>(&'a mut Check<'r>);
    impl Sink for Slower<'_, '_> {
        fn events(&mut self, trace: &Trace, batch: &Batch<'_>) -> Flow {
            let mut slower = Trace::new("letters", schema(), trace.payload, trace.clock.clone());
            slower.contexts.add(trace.contexts.iter().next().unwrap().1.clone());
            if batch.first >= 3 {
                slower.clock.change_rate(30, Rate::new(100_000, 1).unwrap());
            }
            self.0.events(&slower, batch)
        }
    }
    let rules = Rules::parse(&Source::new("test.rules", "whenever A then B within 1 ms"));
    let rules = rules.rules.unwrap();
    let mut check = Check::new(&rules);
    // 100 ticks are 100 us at first, and 1 ms from the fourth event on.
    let trace = feed("A@0 X@10 X@20 X@30 X@100 X@140 X@900", &mut Slower(&mut check));
    let verdict = check.verdict(&trace);
    assert_eq!(verdict.failures[0].at.as_ref().map(|line| line.seq), Some(5));
}

#[test]
fn equal_events_in_a_row_are_written_as_one_step() {
    let rules = written("A4 A4 A4 B5 A4 C6 C6");
    let steps: Vec<_> = rules.lines().skip(3).collect();
    let step = |name, n: i32| format!("{name}(n = {n}, m = -{n}, h = 0x{n:X}, @context = main)");
    let expected = [
        format!("repeat 3 {}", step("A", 4)),
        step("B", 5),
        step("A", 4),
        format!("repeat 2 {}", step("C", 6)),
    ];
    assert_eq!(steps, expected, "{rules}");
    passes(&rules, "A4 A4 A4 B5 A4 C6 C6");
    for others in ["A4 A4 B5 A4 C6 C6", "A4 A4 A4 A4 B5 A4 C6 C6", "A4 A4 A4 B5 A4 C6"] {
        assert!(!verdict(&rules, others).passed(), "{others}");
    }
}

#[test]
fn rules_with_names_are_apart() {
    let rules = "A; B\nrule \"second\" { B; A }";
    let verdict = verdict(rules, "A B");
    let names: Vec<_> = verdict.failures.iter().map(|f| f.rule.as_deref()).collect();
    assert_eq!(names, [Some("second")]);
    passes(rules, "B A B A");
    passes("rule one { strict; ignore C; A; B }\nrule two { only C; strict; C }", "A C B");
}

#[test]
fn a_failure_shows_the_event_that_nearly_fits() {
    let verdict = verdict("A\nB(n = 3)", "X A Y B5 B4 Z");
    let failure = &verdict.failures[0];
    let (since, span) = failure.since.clone().unwrap();
    assert_eq!((since.seq, span.start), (1, 0));
    let near = failure.near.clone().unwrap();
    assert_eq!((near.event.seq, near.why.as_str()), (3, "n is 5"));
    assert_eq!(failure.context.iter().map(|line| line.seq).collect::<Vec<_>>(), [2, 3, 4, 5]);
}

#[test]
fn a_failure_shows_the_events_around_it() {
    let verdict = verdict("never X", "A B C D E F G X H I J K");
    let around: Vec<_> = verdict.failures[0].context.iter().map(|line| line.seq).collect();
    assert_eq!(around, [2, 3, 4, 5, 6, 7, 8, 9]);
}

fn written(events: &str) -> String {
    let mut writer = RulesWriter::new(Vec::new(), "test", WriteOptions::default()).unwrap();
    let trace = feed(events, &mut writer);
    writer.finish(&trace).unwrap();
    String::from_utf8(writer.into_inner().unwrap()).unwrap()
}

#[test]
fn written_rules_allow_events_where_some_are_missing() {
    let events = "!1 A B !2 !3 B C !";
    let rules = written(events);
    assert_eq!(rules.lines().filter(|line| *line == "...").count(), 3, "{rules}");
    passes(&rules, events);
    passes(&rules, "A B A B C C");
    fails(&rules, "A A B B C", Unexpected, Some(1));
}

proptest! {
    /// Rules that were generated from a trace hold for that trace. The same rules fail if events of
    /// the trace are missing or swapped.
    #[test]
    fn written_rules_know_their_trace(
        events in proptest::collection::vec(("[A-E]", 0..4), 1..40),
        at in any::<prop::sample::Index>(),
        other in any::<prop::sample::Index>(),
    ) {
        let text = |events: &[(String, i32)]| {
            events.iter().map(|(name, n)| format!("{name}{n}")).collect::<Vec<_>>().join(" ")
        };
        let rules = written(&text(&events));
        prop_assert!(verdict(&rules, &text(&events)).passed());
        let (at, other) = (at.index(events.len()), other.index(events.len()));
        let mut fewer = events.clone();
        fewer.remove(at);
        prop_assert!(!verdict(&rules, &text(&fewer)).passed());
        let mut swapped = events.clone();
        swapped.swap(at, other);
        prop_assert_eq!(verdict(&rules, &text(&swapped)).passed(), swapped == events);
        let mut more = events.clone();
        more.insert(at, events[other].clone());
        prop_assert!(!verdict(&rules, &text(&more)).passed());
    }

    /// Checks optional steps, repeated steps, and steps in any order. The test also computes the
    /// result directly from the letters. Both results are equal, because no event matches two
    /// steps.
    #[test]
    fn blocks_agree_with_a_search_through_all_readings(
        events in "[A-D]{0,8}",
    ) {
        let rules = "strict\noptional A\nrepeat 1..3 B\nany order { C; D }";
        let spaced: Vec<_> = events.chars().map(String::from).collect();
        let rest = events.strip_prefix('A').unwrap_or(&events);
        let behind = rest.trim_start_matches('B');
        let rounds = rest.len() - behind.len();
        let expected = (1..=3).contains(&rounds) && matches!(behind, "CD" | "DC");
        prop_assert_eq!(verdict(rules, &spaced.join(" ")).passed(), expected);
    }

    /// A text of random words is either rejected with errors or accepted as rules. Accepted rules
    /// give a verdict, and at most one failure per statement.
    #[test]
    fn any_words_are_rules_or_have_findings(
        words in proptest::collection::vec(prop::sample::select(&WORDS[..]), 0..30),
        events in proptest::collection::vec("[A-D][1-3]", 0..20),
    ) {
        let text = words.join(" ");
        let parsed = Rules::parse(&Source::new("test.rules", &*text));
        match parsed.rules {
            None => prop_assert!(!parsed.findings.is_empty()),
            Some(rules) => {
                let mut check = Check::new(&rules);
                let trace = feed(&events.join(" "), &mut check);
                let verdict = check.verdict(&trace);
                prop_assert_eq!(verdict.events, events.len() as u64);
                prop_assert!(verdict.failures.len() <= 1 + words.len());
            }
        }
    }
}

const WORDS: [&str; 40] = [
    "A",
    "B",
    "C",
    "D",
    "A(n = 1)",
    "B(n = $x)",
    "C(n = $x, m < 0)",
    "A | B",
    "\n",
    "\n",
    "\n",
    ";",
    "next",
    "optional",
    "repeat",
    "repeat 2",
    "repeat ..3",
    "repeat 1..2",
    "either",
    "or",
    "any order",
    "{",
    "}",
    "{",
    "}",
    "within 15 us",
    "within 5 ticks",
    "after 10 us",
    "as t",
    "of t",
    "strict",
    "...",
    "ignore",
    "only",
    "never",
    "count 1..2",
    "eventually",
    "whenever",
    "then",
    "rule r {",
];
