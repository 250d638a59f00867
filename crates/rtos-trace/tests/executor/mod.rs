//! The real executor of embassy with two tasks, on threads of this machine. The tasks also write
//! their own log, and the tests compare traces with it.

use std::pin::Pin;
use std::sync::mpsc::{Sender, channel};
use std::sync::{LazyLock, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Instant;

use embassy_executor::Executor;
use embassy_time::Timer;
use tracewell::analysis::scheduling::{Scheduling, Wanted};
use tracewell::format::Settings;
use tracewell::input::Input;

/// Returns the microseconds since the first call.
pub(crate) fn clock() -> u32 {
    static START: LazyLock<Instant> = LazyLock::new(Instant::now);
    START.elapsed().as_micros() as u32
}

/// An execution: the name of the task, and the clock at the beginning and at the end.
pub(crate) type Execution = (&'static str, u32, u32);

static LOG: Mutex<Vec<Execution>> = Mutex::new(Vec::new());

/// A task that logs its executions, and reports its end.
struct Logged {
    name: &'static str,
    steps: Pin<Box<dyn Future<Output = ()>>>,
    done: Sender<()>,
}

impl Future for Logged {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let begin = clock();
        let result = self.steps.as_mut().poll(context);
        LOG.lock().unwrap().push((self.name, begin, clock()));
        if result.is_ready() {
            self.done.send(()).unwrap();
        }
        result
    }
}

/// A flag that one task sets and the other task clears, and the task that waits for the change.
static FLAG: Mutex<(bool, Option<Waker>)> = Mutex::new((false, None));

fn change_flag(value: bool) {
    let mut flag = FLAG.lock().unwrap();
    flag.0 = value;
    if let Some(waker) = flag.1.take() {
        waker.wake();
    }
}

async fn until_flag_is(value: bool) {
    std::future::poll_fn(|context| {
        let mut flag = FLAG.lock().unwrap();
        if flag.0 == value {
            return Poll::Ready(());
        }
        flag.1 = Some(context.waker().clone());
        Poll::Pending
    })
    .await;
}

fn work(microseconds: u32) {
    let start = clock();
    while clock() - start < microseconds {
        std::hint::spin_loop();
    }
}

const ROUNDS: usize = 20;

#[embassy_executor::task]
async fn sensor(done: Sender<()>) {
    let steps = async {
        for _ in 0..ROUNDS {
            // On a busy machine, the timer may expire before it is asked. Then this is no pause.
            Timer::after_millis(1).await;
            work(100);
            change_flag(true);
            until_flag_is(false).await;
        }
    };
    Logged { name: "sensor", steps: Box::pin(steps), done }.await;
}

#[embassy_executor::task]
async fn control(done: Sender<()>) {
    let steps = async {
        for _ in 0..ROUNDS {
            until_flag_is(true).await;
            change_flag(false);
            work(300);
        }
        // The task wakes itself, so the executor runs it once more.
        let mut woken = false;
        std::future::poll_fn(|context| {
            if std::mem::replace(&mut woken, true) {
                return Poll::Ready(());
            }
            context.waker().wake_by_ref();
            Poll::Pending
        })
        .await;
    };
    Logged { name: "control", steps: Box::pin(steps), done }.await;
}

/// Runs both tasks to their ends, and returns their log.
pub(crate) fn run() -> Vec<Execution> {
    let (done, is_done) = channel();
    std::thread::spawn(move || {
        let executor = Box::leak(Box::new(Executor::new()));
        executor.run(|spawner| {
            let (sensor, control) = (sensor(done.clone()).unwrap(), control(done).unwrap());
            sensor.metadata().set_name("sensor");
            control.metadata().set_name("control");
            spawner.spawn(sensor);
            spawner.spawn(control);
        })
    });
    for _ in ["sensor", "control"] {
        is_done.recv().unwrap();
    }
    LOG.lock().unwrap().clone()
}

/// Compares a trace with the log of the tasks. The clock of the trace has `rate` ticks per
/// microsecond.
pub(crate) fn compare(bytes: &[u8], own: &[Execution], rate: u64) {
    let mut executed = Vec::new();
    let mut input = Input::from_bytes("trace", bytes.to_vec(), Settings::default()).unwrap();
    let trace = input
        .for_each(|event| {
            if ["run", "switch", "preempt"].contains(&event.kind().label.as_str()) {
                executed.push((event.argument(0).unwrap(), event.row.ticks));
            }
        })
        .unwrap();
    assert!(trace.losses.is_empty());
    assert_eq!(trace.text("kernel"), "embassy");
    let name =
        |task: u64| trace.contexts.get(trace.contexts.find(task).unwrap()).unwrap().name.as_str();
    let named: Vec<_> = executed.iter().filter(|run| run.0 != 0).map(|run| name(run.0)).collect();
    assert_eq!(named, own.iter().map(|execution| execution.0).collect::<Vec<_>>());
    assert!(executed.iter().any(|run| run.0 == 0));

    let mut scheduling = Scheduling::new(Wanted::default());
    let mut input = Input::from_bytes("trace", bytes.to_vec(), Settings::default()).unwrap();
    let trace = input.read(&mut scheduling).unwrap();
    let figures = scheduling.figures(&trace);
    let tasks = figures.tasks.iter().filter_map(|task| Some((task, task.execution?)));
    let mut names = Vec::new();
    for (task, execution) in tasks {
        let name = trace.contexts.get(task.context).unwrap().name.as_str();
        names.push(name);
        let own = own.iter().filter(|execution| execution.0 == name);
        let ticks: u32 = own.clone().map(|(_, begin, end)| end - begin).sum();
        // The time in the trace includes the executor's own work before and after the task. The
        // last execution may end after the trace.
        let last = own.clone().next_back().map_or(0, |(_, begin, end)| end - begin);
        let count = own.count();
        let time = execution.ticks / rate + u64::from(last) + 1;
        // The log rounds each time down to microseconds.
        assert!(time + count as u64 >= u64::from(ticks), "{name}: {time}, {ticks}");
        assert!(count > ROUNDS);
    }
    names.sort_unstable();
    assert_eq!(names, ["control", "sensor"]);
    let core = figures.cores[0];
    assert!(core.idle > 0 && core.tasks / rate > 19 * 400, "{core:?}");
}
