//! Records two tasks of embassy's executor into a stream, and saves the stream in a file:
//!
//! ```sh
//! cargo run -p tracewell-rtos-trace --features std --example executor -- executor.twl
//! tracewell analyze executor.twl
//! ```

use std::fs::File;
use std::sync::Arc;
use std::time::{Duration, Instant};

use embassy_executor::Executor;
use embassy_time::{Ticker, Timer};
use tracewell_record::stream::{EventType, Family, Stream, StreamOptions};
use tracewell_rtos_trace::StreamTrace;

rtos_trace::global_trace! {StreamTrace}

const PROGRAM: Family = Family::new(1, "program");
static SAMPLE: EventType<(u32,)> = EventType::new(PROGRAM, "sample", &["value"]);

fn work(time: Duration) {
    let start = Instant::now();
    while start.elapsed() < time {
        std::hint::spin_loop();
    }
}

/// Takes a sample every 2 ms. After the final sample, saves the stream and ends the program.
#[embassy_executor::task]
async fn sampler(stream: Arc<Stream>, path: String) {
    let mut ticker = Ticker::every(embassy_time::Duration::from_millis(2));
    for value in 0..25 {
        ticker.next().await;
        stream.record(&SAMPLE, (value,));
        work(Duration::from_micros(200));
    }
    stream.stop();
    let saved = File::create(&path).and_then(|file| stream.save(file));
    std::process::exit(match saved {
        Ok(_) => 0,
        Err(error) => {
            eprintln!("{path}: {error}");
            1
        }
    });
}

/// Does work in the background, which delays the sampler.
#[embassy_executor::task]
async fn logger() {
    loop {
        Timer::after_millis(5).await;
        work(Duration::from_millis(1));
    }
}

fn main() {
    let Some(path) = std::env::args().nth(1) else {
        eprintln!("usage: executor FILE");
        std::process::exit(2);
    };
    let stream = Stream::anonymous(&StreamOptions::default()).expect("there is memory");
    let stream = Arc::new(stream);
    stream.start();
    StreamTrace::init(stream.clone(), "embassy").expect("the stream is empty");
    let executor = Box::leak(Box::new(Executor::new()));
    executor.run(|spawner| {
        let (sampler, logger) = (sampler(stream, path).unwrap(), logger().unwrap());
        sampler.metadata().set_name("sampler");
        logger.metadata().set_name("logger");
        spawner.spawn(sampler);
        spawner.spawn(logger);
    })
}
