//! Rules that are checked on random traces, one verdict for each text.

use tracewell::check::Rules;
use tracewell::source::Source;

const RKH: &[&str] = &[
    "SMA_FIFO as posted\nSMA_GET within 50 ms\nSM_* within 0.2 s of posted\nSMA_FIFO after 10 ms",
    "any order { SMA_FIFO; { SMA_GET; SMA_LIFO } } within 200 ms\neither SMA_FIFO or SMA_LIFO",
    "optional SMA_LIFO\nrepeat 2..3 { SMA_FIFO(sig = $s); SMA_GET(sig = $s) }\nSMA_GET",
    "repeat 4 SMA_GET\noptional { SMA_FIFO; SMA_FIFO }\nany order { SMA_GET; optional SMA_LIFO }",
    "either { SMA_FIFO; SMA_LIFO } or { SMA_GET; SMA_GET }\nrepeat SMA_FIFO within 5 ms",
    "strict\nonly SM_* | SMA_*\n...\nSMA_FIFO\nSMA_GET\n...",
    "strict\nignore SM_*\n...\nSMA_GET\nrepeat ..2 SMA_FIFO\nSMA_LIFO",
    "complete\nnext SMA_FIFO\nnext SMA_GET",
    "never SMA_LIFO",
    "never SMA_GET from SMA_FIFO until SMA_LIFO",
    "count 1..5 SMA_FIFO from SMA_LIFO until SMA_GET",
    "count 3 SMA_GET\neventually SMA_GET from SMA_FIFO",
    "each SMA_FIFO(ao = $a, sig = $s) then SMA_GET(ao = $a, sig = $s) within 20 ms",
    "each SMA_FIFO then SMA_GET",
    "each SMA_FIFO then SMA_GET within 8 ticks from SMA_LIFO until SM_DCH",
    "whenever SMA_FIFO(sig = $s) then SMA_GET(sig = $s) within 30 ticks",
    "whenever SMA_FIFO(nelem >= 2) | SMA_LIFO then SMA_GET",
    "never SMA_FIFOO\nnever SMA_GET(ao = nothing)\ncount 2 SMA_GET(nelem = 77)",
    "any order { optional { SMA_FIFO; QUE_FULL }; optional { SMA_GET; QUE_FULL } }\nSMA_LIFO",
];

const THREADX: &[&str] = &[
    "tx_mutex_get(@context = alpha)\ntx_mutex_put(@context = alpha) within 300 us\ntx_mutex_get",
    "each tx_mutex_get(mutex_ptr = $m) then tx_mutex_put(mutex_ptr = $m) within 200 us",
    "whenever tx_mutex_get(mutex_ptr = $m) then tx_mutex_put(mutex_ptr = $m)",
    "never tx_mutex_put(@context = beta) from tx_mutex_get(@context = alpha) until tx_mutex_put",
    "count ..3 tx_mutex_get from tx_mutex_put until tx_mutex_put",
    "any order { tx_mutex_get; tx_mutex_put; tx_semaphore_get }\nrepeat 2.. tx_mutex_get",
];

/// Returns the rules for traces of a format.
pub(crate) fn of(format: &str) -> Vec<Rules> {
    let texts = match format {
        "rkh" => RKH,
        "threadx" => THREADX,
        _ => &[],
    };
    let parse = |text: &&str| {
        let parsed = Rules::parse(&Source::new("test.rules", *text));
        parsed.rules.unwrap_or_else(|| panic!("{text}: {:?}", parsed.findings))
    };
    texts.iter().map(parse).collect()
}
