//! Measures the peak memory of commands on large inputs.

use std::io::Write;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

use super::plan::{Plan, Result, program};

/// Prints the peak anonymous memory of `report` on the ThreadX trace. Use `--size 1GiB` for a large
/// trace.
pub(crate) fn report(file: &Path) -> Result<()> {
    let mut report =
        Command::new(program()?).arg("report").arg(file).stdout(Stdio::null()).spawn()?;
    let peak = anonymous_peak(&mut report)?;
    let size = file.metadata()?.len() >> 20;
    println!("\nAnonymous memory of `report` on {size} MiB: at most {peak} KiB");
    Ok(())
}

/// Prints the peak anonymous memory of `info` for an RKH stream that contains only one flag. The
/// decoder must drop the bytes, so its memory must not grow.
pub(crate) fn rkh_without_flags(plan: &Plan) -> Result<()> {
    let mut info = Command::new(program()?)
        .args(["info", "--format-in", "rkh", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()?;
    let pieces = plan.size >> 18;
    let mut stream = info.stdin.take().ok_or("standard input is a pipe")?;
    let writer = std::thread::spawn(move || {
        let piece = [0x55; 1 << 20];
        stream
            .write_all(&[0x7E])
            .and_then(|()| (0..pieces).try_for_each(|_| stream.write_all(&piece)))
    });
    let peak = anonymous_peak(&mut info)?;
    writer.join().map_err(|_| "the writer has panicked")??;
    println!(
        "Anonymous memory of `info` on {pieces} MiB of RKH without a flag: at most {peak} KiB"
    );
    Ok(())
}

/// Waits until a program ends. Returns its peak anonymous memory in KiB.
fn anonymous_peak(program: &mut Child) -> Result<u64> {
    let status = format!("/proc/{}/status", program.id());
    let mut peak = 0;
    while program.try_wait()?.is_none() {
        let text = std::fs::read_to_string(&status).unwrap_or_default();
        let anonymous = text.lines().find_map(|line| line.strip_prefix("RssAnon:"));
        let kib = anonymous.and_then(|line| line.split_whitespace().next()?.parse().ok());
        peak = peak.max(kib.unwrap_or(0));
        std::thread::sleep(Duration::from_millis(2));
    }
    Ok(peak)
}
