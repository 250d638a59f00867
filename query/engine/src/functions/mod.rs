//! Functions of SQL for traces. `arg(args, 'name')` is not here: `sql` rewrites it.

mod format;
mod time;

use datafusion::logical_expr::ScalarUDF;

/// Returns our functions, to be registered with a session.
pub fn functions() -> [ScalarUDF; 2] {
    [time::ticks_to_ns(), ScalarUDF::from(format::Format::default())]
}
