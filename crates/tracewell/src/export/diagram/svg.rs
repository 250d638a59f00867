//! Draws sequence diagrams as SVG pictures, with one row per step, one column per participant, and
//! times at the left. The tooltip of a message shows the times at which the message was posted and
//! taken. There are no external fonts, pictures or scripts.

use std::fmt::Write as _;

use super::{Diagram, NoteKind, Step, StepKind, and_more};
use crate::export::escaped;

/// Distance between two participants, in pixels.
const COLUMN: usize = 170;
/// Distance from the left edge to the first participant. Times are printed in this space.
const MARGIN: usize = 190;
/// Distance between two steps.
const ROW: usize = 28;
/// Space above the first step.
const HEAD: usize = 90;
/// Approximate width of a letter.
const LETTER: usize = 7;

const STYLE: &str = "text{font:12px sans-serif;fill:#222}.t{font-size:11px;fill:#777;text-anchor:end}\
.m{text-anchor:middle}.h{font-weight:bold}.l{stroke:#bbb;stroke-dasharray:4 3}.a{stroke:#236;fill:none}\
.p{fill:#eef2fa;stroke:#236}.s{fill:#e8f5e4;stroke:#585}.r{fill:#fdf0dd;stroke:#a73}.x{fill:#fbe3e3;stroke:#a33}";

pub(super) fn text(diagram: &Diagram) -> String {
    let rows = diagram.steps.len() + usize::from(diagram.more > 0);
    let columns = diagram.participants.len();
    let (width, height) = (MARGIN + columns * COLUMN, HEAD + rows * ROW + 30);
    let mut svg = Svg(String::new());
    svg.add(format_args!(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{width}\" height=\"{height}\" \
         viewBox=\"0 0 {width} {height}\" role=\"img\">\n<title>{}</title>\n<style>{STYLE}</style>\n\
         <defs><marker id=\"e\" viewBox=\"0 0 8 8\" refX=\"8\" refY=\"4\" markerWidth=\"8\" markerHeight=\"8\" \
         orient=\"auto\"><path d=\"M0 0L8 4L0 8z\" fill=\"#236\"/></marker></defs>\n\
         <rect width=\"{width}\" height=\"{height}\" fill=\"#fff\"/>\n\
         <text x=\"10\" y=\"20\" class=\"h\">{}</text>\n",
        escaped(&diagram.title),
        escaped(&diagram.title),
    ));
    for (index, name) in diagram.participants.iter().enumerate() {
        svg.participant(center(index), height, name);
    }
    for (row, step) in diagram.steps.iter().enumerate() {
        svg.step(HEAD + row * ROW, columns, step);
    }
    if diagram.more > 0 {
        svg.across(HEAD + diagram.steps.len() * ROW, columns, &and_more(diagram.more));
    }
    svg.0.push_str("</svg>\n");
    svg.0
}

/// Returns the x position of a participant's line.
const fn center(index: usize) -> usize {
    MARGIN + index * COLUMN
}

struct Svg(String);

impl Svg {
    fn add(&mut self, text: std::fmt::Arguments<'_>) {
        // Writing to a `String` cannot fail.
        let _ = self.0.write_fmt(text);
    }

    fn participant(&mut self, x: usize, height: usize, name: &str) {
        self.add(format_args!(
            "<line x1=\"{x}\" y1=\"60\" x2=\"{x}\" y2=\"{}\" class=\"l\"/>\n",
            height - 10
        ));
        self.box_around(x, 36, 24, "p", &shortened(name, 22), name);
    }

    fn step(&mut self, y: usize, columns: usize, step: &Step) {
        self.add(format_args!(
            "<text x=\"{}\" y=\"{}\" class=\"t\">{}</text>\n",
            MARGIN - 80,
            y + 4,
            escaped(&step.time)
        ));
        match &step.kind {
            StepKind::Message { from, to, label, taken } => {
                let taken = taken.as_deref().unwrap_or("never seen");
                let hint = format!("{label}: posted {}, taken {taken}", step.time);
                self.arrow(y, *from, *to, label, &hint);
            }
            StepKind::Note { at, text, kind } => {
                let class = if *kind == NoteKind::State { "s" } else { "r" };
                self.box_around(center(*at), y - 9, 18, class, &shortened(text, 22), text);
            }
            StepKind::Across(text) => self.across(y, columns, text),
        }
    }

    fn arrow(&mut self, y: usize, from: usize, to: usize, label: &str, hint: &str) {
        let (x, end) = (center(from), center(to));
        self.add(format_args!("<g><title>{}</title>", escaped(hint)));
        // A message to the sender itself is a loop at the right of the sender's line.
        if from == to {
            let (out, above, below) = (x + 36, y - 6, y + 6);
            self.add(format_args!(
                "<path d=\"M{x} {above}H{out}V{below}H{x}\" class=\"a\" marker-end=\"url(#e)\"/>\
                 <text x=\"{}\" y=\"{}\">{}</text>",
                out + 4,
                y + 4,
                escaped(&shortened(label, 16))
            ));
        } else {
            // SVG cannot measure text here, so the room is estimated with a mean width of letters.
            let room = x.abs_diff(end) / LETTER;
            self.add(format_args!(
                "<path d=\"M{x} {y}H{end}\" class=\"a\" marker-end=\"url(#e)\"/>\
                 <text x=\"{}\" y=\"{}\" class=\"m\">{}</text>",
                x.midpoint(end),
                y - 4,
                escaped(&shortened(label, room))
            ));
        }
        self.0.push_str("</g>\n");
    }

    fn across(&mut self, y: usize, columns: usize, text: &str) {
        let (x, width) = (center(0) - 70, (columns - 1) * COLUMN + 140);
        self.add(format_args!(
            "<rect x=\"{x}\" y=\"{}\" width=\"{width}\" height=\"18\" class=\"x\"/>\
             <text x=\"{}\" y=\"{}\" class=\"m\">{}</text>\n",
            y - 9,
            x + width / 2,
            y + 4,
            escaped(text)
        ));
    }

    /// Draws a box that is as wide as its text. The box is centred on the line at `x`.
    fn box_around(
        &mut self,
        x: usize,
        y: usize,
        height: usize,
        class: &str,
        shown: &str,
        whole: &str,
    ) {
        let width = shown.chars().count() * LETTER + 14;
        self.add(format_args!(
            "<g><title>{}</title><rect x=\"{}\" y=\"{y}\" width=\"{width}\" height=\"{height}\" rx=\"4\" \
             class=\"{class}\"/><text x=\"{x}\" y=\"{}\" class=\"m\">{}</text></g>\n",
            escaped(whole),
            x - width / 2,
            y + height / 2 + 4,
            escaped(shown)
        ));
    }
}

/// Returns the text, shortened to `most` characters.
fn shortened(text: &str, most: usize) -> String {
    let most = most.max(2);
    match text.chars().count() > most {
        true => text.chars().take(most - 1).chain(['…']).collect(),
        false => text.to_owned(),
    }
}
