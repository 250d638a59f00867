use std::time::Instant;
use tracewell::input::*;
use tracewell::model::*;
struct N(u64);
impl Sink for N {
    fn events(&mut self, _: &Trace, b: &Batch<'_>) -> Flow {
        self.0 += b.len() as u64;
        Flow::Continue(())
    }
}
fn main() {
    let p = std::path::Path::new("/tmp/big.trx");
    for _ in 0..3 {
        let t = Instant::now();
        let b = std::fs::File::open(p).unwrap();
        let m = Bytes::map(&b).unwrap();
        let mut s = 0u64;
        let mut c = vec![0u64; 65536];
        let mut prev = 0u32;
        for e in m[2352..].as_chunks::<32>().0 {
            let st = u32::from_le_bytes(*e[12..].first_chunk().unwrap());
            s += u64::from(st.wrapping_sub(prev));
            prev = st;
            c[u16::from_le_bytes(*e[8..].first_chunk().unwrap()) as usize] += 1;
        }
        let n = m.len() / 32;
        println!("plain {:.2} ns {} {}", t.elapsed().as_nanos() as f64 / n as f64, s, c[6]);
        let t = Instant::now();
        let mut n = N(0);
        let mut i = Input::open(p, Settings::default()).unwrap();
        i.read(&mut n).unwrap();
        println!("decode {:.2} ns {}", t.elapsed().as_nanos() as f64 / n.0 as f64, n.0);
        let t = Instant::now();
        let mut w = tracewell::export::events::EventWriter::new(
            std::io::sink(),
            tracewell::export::events::EventFormat::Tsv,
            Default::default(),
        );
        let tr = i.read(&mut w).unwrap();
        w.finish().unwrap();
        println!("tsv {:.2} ns", t.elapsed().as_nanos() as f64 / tr.events as f64);
        let t = Instant::now();
        let mut w = tracewell::report::Report::new(std::io::sink(), Default::default());
        let tr = i.read(&mut w).unwrap();
        w.finish(&tr).unwrap();
        println!("report {:.2} ns", t.elapsed().as_nanos() as f64 / tr.events as f64);
    }
}
