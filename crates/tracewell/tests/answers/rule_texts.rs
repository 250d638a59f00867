//! Texts of rules, and the traces of letters on which they are checked.

use tracewell::check::{Fraction, Quantity, Value, Worst, WriteOptions};

use crate::edits::Random;

/// Rules, each with the traces on which they are checked.
pub(crate) const RULES: &[(&str, &[&str])] = &[
    ("A; B; C", &["A B C", "A C B", "", "X A A B X C Z", "A B !2 C"]),
    ("A(n = 1); B(n = 2)", &["A2 A1 B1 B2", "A1 B1 B3 X Y Z A B C", "A1 B C", "A2"]),
    ("A; B(x = 1)", &["A B", "A C"]),
    ("strict\nA; B", &["A B", "A B C D E", "X A B", "A", "A !1 B", ""]),
    ("strict\n...\nA\nB\n...\nC", &["X A B Y C", "A X B C", "A B C D", "A B Y C D E F"]),
    ("strict\nA\n{ B; C }\n...", &["A B C D", "A B X C", "A X B C"]),
    ("strict\nignore X\nA; next B\n", &["X A X B X", "A B C", "A X C B"]),
    ("only A | B\nA; next B; A", &["A X B Y A", "A X A B A", "X Y"]),
    ("A; next B; next C", &["A B C", "A X B C", "A B X C", "A B"]),
    ("A; next { B; C }; D", &["A B X C D", "A X B C D", "A B C X D"]),
    ("A; optional next B; C", &["A X B C", "A B C", "A C"]),
    ("A; ...; { B; next C }; D", &["A X B X C D", "A X B C D"]),
    (
        "A as start; B within 20 us; C within 50 us of start; D after 10 us",
        &["A B C D", "A@0 B@20 C@50 D@60", "A@0 B@21 C D", "A@0 B@5 C@51 D@70", "A B C@30 D@39"],
    ),
    ("A within 10 ticks; B after 20 us", &["A B@30", "A B@29", "A@11 B", "A@5 A B@45 B@50"]),
    ("either A as m or B; C within 5 us of m; D", &["A@7 C@12 D", "A@7 C@13 D", "B@7 C@12 D@99"]),
    ("A; B after 30 ticks of m", &["A B"]),
    ("A as m; B; C after 30 us of m", &["A B C@40", "A B C@39", "A B C@41"]),
    ("{ A; B; C } within 30 us; D", &["A B C D", "A B C@41 D", "A X B@31 Y C", "A@31 B C D"]),
    ("any order { A; B; { C; D } }; E", &["B C A D E", "B C A E D", "A B C C", "D C D B A E"]),
    ("any order { A within 15 us; B; next C }", &["B A C", "A X B C", "A B C", "B C X A"]),
    ("any order { optional A; optional B within 15 us }; C", &["C", "B C", "X X B C", "A X X C"]),
    (
        "any order { optional { A; next B }; optional { C; next D } }; E",
        &["A X C Y E", "A B C D E", "A B C X D E", "C A D B E"],
    ),
    ("any order { A; A; A }; next B", &["A A X A B", "A A A B", "A A A X B"]),
    ("either A or B; C", &["B C", "X C", "A B", "B A C"]),
    ("either { A; B }\nor { A; C }\nor D", &["A C B", "D", "A D", "C B A"]),
    ("either { A; next B } or { C within 20 us; D }; E", &["A X B E", "C D E", "X X C D E", "X"]),
    ("either optional A or B; C", &["C", "A C", "B C"]),
    ("optional A; optional B; C", &["C", "A C", "B C", "A B C", "B A C", "A"]),
    ("optional { A; B }; C", &["C", "A B C", "A C", "A C B"]),
    ("repeat 3 A; B", &["A A A B", "A A B", "A A A A B", "A"]),
    ("repeat 2..3 { A; optional B }; C", &["A A C", "A B A C", "A B A B A B C", "A B C"]),
    ("repeat ..2 { A; B }; C", &["C", "A B C", "A C", "A B A B A B C"]),
    ("repeat { A(n = $x); B(n = $x) }; C", &["A1 B1 A2 B2 C", "A1 B2 C", "A1 B1 A2 B1 C"]),
    ("repeat 2 { A; next B within 5 us }; C", &["A@0 B@5 A@10 B@16", "A B@15 X A B@25 C", "A X B"]),
    ("strict\nrepeat 2..3 { A; B }\nC", &["A B A B C", "A B C", "A B A B A B A", "A B X A B C"]),
    ("repeat 2 { optional A; optional B }; C", &["C", "A B A C", "A A B C", "B A A C"]),
    ("repeat 2 A within 15 us; B", &["A A B", "A X A B", "X X A A B"]),
    ("A(n = $x); B(n > $x, m = $y); C(m != $y)", &["A1 B2 C2 C3", "A1 B1 B2 C2", "A1 B0"]),
    ("A(n = $x) | B(m = $x); C(n = $x)", &["A1 C2 C1", "B1 C1", "B0 C0"]),
    ("A(n = $x, n = 2); B(n = $x)", &["A1 A2 B1 B2", "A1 B1"]),
    ("A(n < $x); B", &["A B"]),
    ("A(@context = \"other task\"); B(@context != main)", &["A#2 B B#2", "A B#2", "A#2 B X"]),
    ("A(@object = 1); B", &["A1 B"]),
    ("A(@text = $t); A(@text = $t)", &["A1 A2 A1", "A1 A2"]),
    ("A(@name = $t); B(@name = $t)", &["A B"]),
    ("A(@text = $t); A(@text != $t)", &["A1 A1 A2", "A1 A1"]),
    ("A(@text = $t); A(@text < $t)", &["A2 A1 A3"]),
    ("A(@context = $c); B(@context = $c)", &["A#2 B B#2", "A B#2"]),
    ("A(@context = $c); B(@context > $c)", &["A B#2", "A#2 B"]),
    ("*(@ticks = $t); *(@ticks > $t)", &["A@5 B@5 C@6", "A@5 B@5"]),
    ("*(h = 0x1F); *(m < -3, n in (4, 5))", &["A31 B4 C6", "A31 B6", "A30"]),
    ("?(n = 1 | 2); *(@label = B | C)", &["X1 C", "X3 Y2 B", "X2 D"]),
    ("\"A\"; \"b\"", &["A B", "A"]),
    ("complete", &["A B", "A !3 B", "A ! B", "A !0 B"]),
    ("A; complete\nlost = 0", &["A B", "A !3 B", "A ! B", "A ! B !1 C", "!2 A"]),
    ("lost < 3\nlost <= 3\nlost != 3", &["A !2 B !1 C", "A", "A !5 B", "A ! B !3 C"]),
    ("lost = 0\nnever X", &["A !1 X", "A X !1 B"]),
    ("A\nB within 5 us\nrule one { A; C }\nlost = 0", &["A !1 X", "A B !2"]),
    ("lost > 2\nlost >= 3\nlost = 2", &["A !2 B !1 C", "A", "A !2 B", "A ! B !3"]),
    ("never X", &["A B", "A X X", "X", "A !1 B"]),
    ("never X(n = 1) from A until B", &["X1 A X B X1", "A B A X1 B", "A A X1", "X1", "A2 C"]),
    ("never X from A(n = 1)", &["A2 A3 X", "A1 X", "X A1", "A X A1 A X", "A2"]),
    ("never X until B(n = 2)", &["A X B2", "A B2 X", "A B1 B3", "B2", "A X"]),
    ("count 2 A", &["A A", "A", "A A A A", ""]),
    ("count 1..2 A(n = 1) | B", &["A1 B", "A2", "A1 A1 B B", "B A2"]),
    ("count 2.. X from A until B", &["A X X B", "A X B X X", "A X X X B A B", "A X", "X X"]),
    ("count ..1 X from A until B", &["A B", "A X B A X X B", "X X A X", "A X X"]),
    ("count 0 X", &["A", "X"]),
    ("eventually C from A", &["A C", "C A", "C", "A"]),
    ("eventually C until B", &["C B", "B C", "C", "A"]),
    (
        "whenever A(n = $x) then B(n = $x) within 20 us",
        &["A1 A2 B1 B2", "A1 X B1", "A1 A1 B1 X X X", "A1 B2 A2 B2 B1", "A1", "B1", "A1 A2 X X X"],
    ),
    ("whenever A then B", &["A A B", "A B A", "B", "A A", "X A B A C"]),
    ("whenever A(n > 1) then B until C", &["A2 B C", "A2 C", "A0 A1 C", "A2 A2", "A0 X"]),
    (
        "whenever A then B(n = 1) within 25 ticks from C until D",
        &["A C A B1 D", "C A D A", "C A B X X B1 D", "C A A X X B1", "C D A", "C C A X B1 D D"],
    ),
    (
        "each A then B within 25 us",
        &["A A B B", "A A B X B", "A X X A B B", "A X X X A B", "A A A X X X B B B", "A", "B B"],
    ),
    ("each A(n = $x) then B(n = $x)", &["A1 A2 B2 B1", "A1 A1 B1", "A1 A2 B3", "B1 A1"]),
    ("each A then B from C until D", &["A C A B D", "C A A B D A", "C A", "C X D", "C A A A D"]),
    ("each A then A", &["A A", "A", "A A A"]),
    ("whenever A then A within 10 us", &["A A", "A X A", "A A A"]),
    ("A; B\nnever C\ncount 1 D\neach A then D", &["A B C", "A D B", "A C D D B", "C"]),
    ("rule one { A; B }\nrule \"two words\" { never C; strict; B }", &["A B", "B C", "A C A"]),
    ("ignore X | Y(n = 1)\nA; next B", &["A X Y1 B", "A Y B", "A Y1 C"]),
    ("ignore A(@context = mian)\nonly *(@context = mian)\nnever B(@context = mian)\nA", &["A B"]),
    ("A; never B(x = 1); C(y = 2, n = 1)", &["A B C1"]),
    ("never A | B(n = 1)", &["A1", "B", "C"]),
    ("A\n# comment\nB # more", &["A B", "A"]),
    ("\n\nA;;B\n", &["A B"]),
    (
        "A(\n  n = 1,\n  m = -1\n)\nany order {\n  B\n  C; D\n}\nrule x {\n  repeat 2 {\n    E\n  }\n}",
        &["A1 D B C E E", "A1 B E"],
    ),
    ("optional A; optional B; optional C; optional D; optional E; F", &["", "A", "E"]),
    ("any order { A; B; C; D; E; F }", &["", "A", "A B C D E"]),
    ("repeat 2 { A; B }; C", &["A B A", "A B", "", "A B C"]),
    ("A; repeat ..2 B within 15 us; C", &["A B B C", "A X B C", "A C", "A B X B"]),
    ("A; optional { next B; D }; next C", &["A C", "A B C", "A X C", "A B D C"]),
    ("A; { optional B within 15 us; optional C }; D", &["A X X B D", "A C D", "A B X C D"]),
];

/// Texts that are not rules.
pub(crate) const WRONG: &[&str] = &[
    "",
    "# only a comment",
    "strict",
    "ignore A",
    "rule one { }",
    "rule { A }",
    "rule one A",
    "rule one { rule two { A } }",
    "rule one { A",
    "A }",
    "A B",
    "A; strict",
    "A; strict; B; C D",
    "A(n = 1",
    "A(n 1)",
    "A(n = 1 m = 2)",
    "A(= 1)",
    "A(n = )",
    "A(@nothing = 1)",
    "A(n = $)",
    "A(n = $x | 2)",
    "A(n = 1) |",
    "| A",
    "A ||B",
    "A within",
    "A within 5",
    "A within 5 apples",
    "A within 99999999999999999999 ms",
    "A within 1.5 ticks",
    "A within 2 ms of start",
    "A as one; B as one",
    "A as",
    "A after 2 ms of A",
    "{ A; B } as one",
    "{ A } after 2 ms",
    "{ }",
    "{ A; ... }",
    "{ ... }",
    "any { A }",
    "any order A",
    "any order { }",
    "either A",
    "either A or",
    "optional",
    "repeat 3..2 A",
    "repeat .. A",
    "repeat 2",
    "{ never A }",
    "repeat 2 count 1 A",
    "{ rule x { A } }",
    "{ strict; A }",
    "ignore A(n = $x)\nB(n = $x)",
    "only A(n = $x)\nA",
    "count A",
    "count 1.. ",
    "count 5..4 A",
    "never",
    "eventually",
    "whenever A",
    "whenever A then",
    "whenever A then B within",
    "each A then B within 5 us of A",
    "never A from",
    "never A until",
    "never A until B from C",
    "A \"text",
    "A \u{1}",
    "response < 2 ms",
    "response(a) < 2 ms",
    "response(a).p98 < 2 ms",
    "response(a, b).max < 2 ms",
    "response().max < 2 ms",
    "response(a).max 2 ms",
    "response(a).max < 2",
    "response(a).max < 2 %",
    "respons(a).max < 2 ms",
    "nothing_like_it(a).max < 2 ms",
    "nothing_like_it < 2 ms",
    "wait(a, b, c).max < 2 ms",
    "jitter(a).max < 2 ms",
    "jitter(a, 0 ms).max < 2 ms",
    "jitter(a, 10 ticks).max < 2 ms",
    "jitter(a*, 10 ms).max < 2 ms",
    "jitter(a, 10 ms).max < 2 ms\njitter(\"a\", 20 ms).max < 2 ms",
    "jitter(a, 10 ms).max < 2 ms\njitter(b, 20 ms).max < 2 ms\njitter(a, 10 ms).min > 1 us",
    "jitter(, 10 ms).max < 2 ms",
    "between(a).max < 2 ms",
    "between(a, b?).max < 2 ms",
    "between < 2 ms",
    "between(a, b, c).max < 2 ms",
    "wait < 2 ms",
    "wait.max < 2 ms",
    "lost.max < 2",
    "waits.max < 2",
    "wait.most < 2",
    "wait.p99.9 < 2",
    "message().max < 2 ms",
    "inversions() < 2",
    "load(\"interrupts*\") in 1 ms < 2 %",
    "load(inter*) in 1 ms < 2 %",
    "load < 2 %",
    "load(a) < 101 %",
    "load(a) < 2 ms",
    "load(a) in 1 ms < 2 %",
    "load(interrupts) in 2 ms < 2 %",
    "load(interrupts) in 10 ticks < 2 %",
    "stack(a).max < 2 %",
    "queue(a) < 2",
    "queue(a).max < 2",
    "inversions(a, b) = 0",
    "missed = x",
    "missed(a).count = 0",
    "lost(a) = 0",
    "lost = -1",
    "lost 0",
];

/// Limits of figures.
pub(crate) const THRESHOLDS: &[&str] = &[
    "response(\"a b\").max < 1000 ticks",
    "response(control).p99 <= 1 ms",
    "response(c*).mean < 1000 ticks",
    "response(c).count = 4",
    "start(c).min > 900 ticks",
    "wake(c).p50 >= 1 ms",
    "execution(c).p90 = 1000 ticks",
    "blocking(c).p99.9 != 1000 ticks",
    "wait(m, \"a\\\"b\").sd < 1 us",
    "held(m).mean > 999 ns",
    "interrupt(i).mean = 1 ms",
    "message(q, s).mean < 1000001 ns",
    "message_response(q).max < 2 ms",
    "response(t).max < 50 ms",
    "jitter(t, 10 ms).max < 900 us",
    "between(\"one\", two).max < 1.5 ms",
    "load(c) < 20 %",
    "load(interrupts) in 10 ms <= 19.9999%",
    "load(\"interrupts\") in 100 ms < 20.00001 %",
    "load(\"interrupts\") in 100 ms < 20.1 %",
    "load(interrupts) in 1 ms >= 0.5 %",
    "stack(*) < 20%",
    "queue(q).most < 4",
    "queue(q).least >= 4",
    "inversions = 0",
    "inversions(m) < 4",
    "missed <= 4",
    "missed(t) != 3",
    "lost = 0",
    "lost < 5\nlost <= 4\nlost > 3\nlost >= 4\nlost != 4\nlost = 4",
    "rule limits { response(t).max < 5 ticks\nresponse(t).min > 900 ticks }",
    "response(t).max <= 18446744073709551615 ticks",
];

/// The values of a figure in earlier runs, in all units.
pub(crate) const BASELINE: &[Quantity] = &[
    Quantity::Ticks(1000),
    Quantity::Ticks(900),
    Quantity::Nanoseconds(1_000_000),
    Quantity::Share(200_000),
    Quantity::Count(4),
    Quantity::Count(3),
];

/// Values that a figure can have.
pub(crate) fn values() -> Vec<Result<Vec<Value>, String>> {
    let tick = |ticks: u64| Value {
        subject: Some(format!("task {ticks}")),
        nanoseconds: Some(ticks * 1000),
        ..Value::of(Quantity::Ticks(ticks))
    };
    let mean = |numerator: u128, denominator: u128| {
        let exact = Fraction::new(numerator, denominator);
        let exact_nanoseconds = Fraction::new(numerator * 1000, denominator);
        Value {
            exact: Some(exact),
            exact_nanoseconds: Some(exact_nanoseconds),
            nanoseconds: Some(exact_nanoseconds.floor()),
            ..Value::of(Quantity::Ticks(exact.floor()))
        }
    };
    let place = |seq, time_ns| Value {
        worst: Some(Worst { seq, ticks: 7, time_ns, quantity: Quantity::Ticks(50) }),
        part: Some(3),
        subject: Some("some\ttask".to_owned()),
        ..tick(1051)
    };
    let of = |quantities: &[Quantity]| Ok(quantities.iter().copied().map(Value::of).collect());
    let huge = |denominator| Value {
        exact: Some(Fraction::new(u128::MAX, denominator)),
        exact_nanoseconds: Some(Fraction::new(u128::MAX, denominator)),
        ..tick(u64::MAX / 1000)
    };
    vec![
        Err("nothing was computed".to_owned()),
        Ok(Vec::new()),
        Ok(vec![tick(999), tick(1000), tick(3)]),
        Ok(vec![tick(1000)]),
        Ok(vec![tick(1001), tick(999)]),
        Ok(vec![tick(900), tick(1051), tick(1050)]),
        Ok(vec![tick(949)]),
        Ok(vec![mean(1_000_001, 1000)]),
        Ok(vec![mean(2_999_999, 3000), mean(2_999_998, 3000)]),
        Ok(vec![mean(1_001_999, 1001), tick(1000)]),
        Ok(vec![mean(999_999, 1_000_000), mean(1, 3)]),
        Ok(vec![mean(5, 0)]),
        Ok(vec![mean(2001, 2000)]),
        Ok(vec![mean(1999, 2000)]),
        Ok(vec![tick(42_000)]),
        Ok(vec![tick(42_001)]),
        Ok(vec![Value { nanoseconds: Some(42_000_001), ..tick(42_000) }]),
        Ok(vec![huge(3), huge(2), tick(5)]),
        Ok(vec![huge(2), huge(3)]),
        Ok(vec![place(Some(3), Some(1_500_000))]),
        Ok(vec![place(None, None), tick(1052)]),
        of(&[Quantity::Ticks(1000)]),
        of(&[Quantity::Share(200_000), Quantity::Share(5)]),
        of(&[Quantity::Share(199_999), Quantity::Share(209_999)]),
        of(&[Quantity::Share(5_000), Quantity::Share(1_000_000)]),
        of(&[Quantity::Count(4)]),
        of(&[Quantity::Count(0), Quantity::Count(3)]),
        of(&[Quantity::Count(5), Quantity::Count(4), Quantity::Count(3)]),
        of(&[Quantity::Ticks(0), Quantity::Ticks(u64::MAX)]),
    ]
}

/// Rules with names. The traces lack some of them.
pub(crate) const NAMES: &[&str] = &[
    "never tx_mutex_gte",
    "never \"tx_mutex_gte\"",
    "never \"tx mutex get\"",
    "never \"TX_MUTEX_GET\"",
    "never tx_mutex_get(mutx = 1)",
    "never tx_mutex_*(mutx = 1)",
    "never tx_mutex_get(mutex_ptr = 1) | tx_mutex_get(mutex_ptr = 1) | tx_mutex_get(mutx = 1)",
    "never thread_resumes(nothing = 1)",
    "never running(anything = 1)",
    "never 98",
    "never \"98\"",
    "never \"tx_mutex_get\" | \"TX_TRACE_MUTEX_GET\" | \"SMA_GET\" | \"SMA GET\"",
    "never user_event_50*(x = 1)\nnever user_event_5000(x = 1)\nnever \"user event 5000\"(x = 1)",
    "never 0x62",
    "never 5000\nnever 70000",
    "never \"user event 5000\"\nnever \"user event 1\"\nnever \"user event x\"",
    "never \"user event\"\nnever user_event_5000",
    "never *(zzz = 1)",
    "never zzz*",
    "never q?",
    "never SMA_FIFOO\nnever SMA_FIFO(a = 1)\nnever SMA_FIFO(ao = nothing)",
    "ignore tx_mutex_create(mutex = plane_mutex)\nonly *(@context = hihg)\ntx_mutex_create",
    "never tx_mutex_create(inheritance = non) | tx_mutex_create(mutex = \"plain mutex\")",
    "count 1 tx_mutex_create(mutex = plane_mutex)\nwhenever *(@context = hihg) then *",
    "each tx_mutex_get(a = 1) then tx_mutex_put(b = 1) from c until d",
    "any order { zzz; { yyy; optional xxx } }\neither www or repeat 2 vvv",
];

/// Traces for which rules are written, and the options of the writer.
pub(crate) fn written() -> Vec<(&'static str, WriteOptions)> {
    let words = |words: &[&str]| words.iter().map(|word| (*word).to_owned()).collect();
    let options = |events: &[&str], contexts: &[&str], without: &[&str]| WriteOptions {
        events: words(events),
        contexts: words(contexts),
        without: words(without),
    };
    let trace = "A1 A1 B2#2 !3 B2#2 ! C31 C31 C31 A1";
    vec![
        ("", options(&[], &[], &[])),
        (trace, options(&[], &[], &[])),
        (trace, options(&["A", "2"], &[], &["n", "m"])),
        (trace, options(&[], &["main"], &["h", "nothing"])),
        (trace, options(&["b", "x y"], &["other task", "no*"], &["m"])),
        (trace, options(&["7"], &["*"], &[])),
        (trace, options(&["until"], &[], &["n", "m", "h"])),
    ]
}

/// Returns random rules.
pub(crate) fn random(random: &mut Random) -> String {
    let mut text = String::new();
    for head in ["strict\n", "ignore E\n", "only A | B | C(n > 0)\n", "complete\n"] {
        if random.below(8) == 0 {
            text += head;
        }
    }
    let form = random.below(4);
    if form > 0 {
        for number in 0..1 + random.below(3) {
            if random.below(8) == 0 {
                text += "...\n";
            }
            let mark = (random.below(3) == 0).then_some(number);
            text += &step(random, 0, mark);
            text += "\n";
        }
    }
    if form != 1 {
        for _ in 0..1 + random.below(2) {
            text += &statement(random);
            text += "\n";
        }
    }
    if random.below(6) == 0 {
        text += &format!("rule other {{ {} }}", step(random, 1, None));
    }
    text
}

fn event(random: &mut Random, variables: &[&str]) -> String {
    let name = random.one_of(&["A", "B", "C", "D", "A", "B", "C", "*"]);
    let condition = match random.below(9) {
        0 | 1 => format!("(n = {})", random.one_of(variables)),
        2 => format!("(n = {})", random.below(3)),
        3 => format!("(n {} {})", random.one_of(&["!=", "<", ">="]), random.below(3)),
        4 => format!("(n > {})", random.one_of(variables)),
        5 => format!(", m = {})", random.one_of(variables)).replacen(", ", "(@ticks > 40, ", 1),
        6 => random.one_of(&["(@context = main)", "(n = 1) | B", " | D", "(n = 1 | 2)"]).to_owned(),
        _ => String::new(),
    };
    format!("{name}{condition}")
}

fn time(random: &mut Random) -> String {
    format!("{} {}", random.one_of(&[5, 9, 10, 20, 30, 60]), random.one_of(&["us", "ticks"]))
}

/// Returns a random step, which can be a block. If `mark` is a number, the step can give it as a
/// name to its event, or refer to the step before.
fn step(random: &mut Random, depth: usize, mark: Option<usize>) -> String {
    let steps = |random: &mut Random, separator: &str| {
        let count = 1 + random.below(3);
        let steps: Vec<_> = (0..count).map(|_| step(random, depth + 1, None)).collect();
        steps.join(separator)
    };
    let kind = if depth > 2 { 0 } else { random.below(12) };
    let mut text = match kind {
        7 => format!("{{ {} }}", steps(random, "; ")),
        8 => format!("any order {{ {} }}", steps(random, "; ")),
        9 => format!("either {} or {}", steps(random, " or "), step(random, depth + 1, None)),
        10 => format!("optional {}", step(random, depth + 1, None)),
        11 => {
            let range = random.one_of(&["", "2", "2..3", "..2", "2.."]);
            format!("repeat {range} {}", step(random, depth + 1, None))
        }
        _ => event(random, &["$x", "$y"]),
    };
    if random.below(7) == 0 {
        text = format!("next {text}");
    }
    if random.below(4) == 0 {
        text += &format!(" within {}", time(random));
    }
    if kind < 7 {
        if random.below(8) == 0 {
            text += &format!(" after {}", time(random));
            if let Some(number @ 1..) = mark {
                text += &format!(" of m{}", number - 1);
            }
        }
        text += &mark.map_or_else(String::new, |number| format!(" as m{number}"));
    }
    text
}

fn statement(random: &mut Random) -> String {
    let one = |random: &mut Random| event(random, &["$x"]);
    let mut text = match random.below(5) {
        0 => format!("never {}", one(random)),
        1 => {
            let range = random.one_of(&["0", "1", "2..3", "..2", "2.."]);
            format!("count {range} {}", one(random))
        }
        2 => format!("eventually {}", one(random)),
        kind => {
            let word = if kind == 3 { "whenever" } else { "each" };
            format!("{word} {} then {}", one(random), one(random))
        }
    };
    if text.contains(" then ") && random.below(2) == 0 {
        text += &format!(" within {}", time(random));
    }
    if random.below(3) == 0 {
        text += &format!(" from {}", one(random));
    }
    if random.below(3) == 0 {
        text += &format!(" until {}", one(random));
    }
    text
}
