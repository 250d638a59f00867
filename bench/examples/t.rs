//! tmp
use std::time::Instant;
use tracewell::input::{Input, Settings};
use tracewell::model::{Batch, Flow, Sink, Trace};
struct C(u64);
impl Sink for C {
    fn events(&mut self, _: &Trace, b: &Batch<'_>) -> Flow {
        self.0 += b.columns.id.iter().filter(|i| **i == 0x82).count() as u64;
        Flow::Continue(())
    }
}
fn main() {
    let f = std::env::args().nth(1).unwrap();
    for _ in 0..5 {
        let t = Instant::now();
        let mut c = C(0);
        let tr = Input::open(f.as_ref(), Settings::default()).unwrap().read(&mut c).unwrap();
        eprintln!("{:.2} ns {}", t.elapsed().as_nanos() as f64 / tr.events as f64, c.0);
    }
}
