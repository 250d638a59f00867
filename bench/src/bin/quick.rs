//! tmp
fn main() {
    use tracewell_bench::{posix, stream, median};
    let own = stream::stream().unwrap();
    let mut without: Vec<f64> = (0..100).map(|_| posix::events(64)).collect();
    let (recording, id) = posix::stream().unwrap();
    let mut found: [Vec<f64>; 5] = Default::default();
    for _ in 0..100 {
        let round = [stream::events(&own), posix::events(id), posix::filtered(&recording, id), posix::suspended(&recording, id), stream::counter_reads()];
        found.iter_mut().zip(round).for_each(|(a, o)| a.push(o));
    }
    let f = found.map(|mut a| median(&mut a));
    println!("stream event {:.1} posix {:.1} filtered {:.1} suspended {:.1} counter {:.1} without {:.1} read {:.1} M/s", f[0], f[1], f[2], f[3], f[4], median(&mut without), posix::read_back().unwrap()/1e6);
}
