//! Functions of SQL for traces. `arg(args, 'name')` is not here: `sql` rewrites it.

mod format;
mod time;

use datafusion::execution::context::SessionContext;
use datafusion::logical_expr::ScalarUDF;

/// Adds the functions to a session.
pub(crate) fn register(context: &SessionContext) {
    context.register_udf(time::ticks_to_ns());
    context.register_udf(ScalarUDF::from(format::Format::default()));
}
