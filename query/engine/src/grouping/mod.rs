//! A rule of the planner: groups by the numbers of words instead of the words.
//!
//! Words are texts that repeat, as numbers in a dictionary. The engine has no fast way to group by
//! them: it makes the text of each row, and compares texts. This rule replaces
//!
//! ```text
//! group by context_name, name, cpu
//! ```
//!
//! by
//!
//! ```text
//! the words of `words 0`, and cpu
//!   group by the numbers of (context_name, name) as `words 0`, cpu
//! ```
//!
//! A dictionary is valid for a few batches only, so `words` has numbers for the whole plan.

mod words;

use std::sync::Arc;

use datafusion::arrow::datatypes::DataType;
use datafusion::common::Result;
use datafusion::common::tree_node::{Transformed, TransformedResult, TreeNode};
use datafusion::config::ConfigOptions;
use datafusion::physical_expr::PhysicalExpr;
use datafusion::physical_expr::expressions::Column;
use datafusion::physical_optimizer::PhysicalOptimizerRule;
use datafusion::physical_plan::aggregates::{AggregateExec, AggregateMode, PhysicalGroupBy};
use datafusion::physical_plan::projection::ProjectionExec;
use datafusion::physical_plan::{ExecutionPlan, InputOrderMode};

use words::{Number, Word, Words};

/// The rule. It belongs at the end of the list, because other rules do not know its expressions.
#[derive(Debug)]
pub(crate) struct GroupByNumbers;

impl PhysicalOptimizerRule for GroupByNumbers {
    fn optimize(
        &self,
        plan: Arc<dyn ExecutionPlan>,
        _: &ConfigOptions,
    ) -> Result<Arc<dyn ExecutionPlan>> {
        plan.transform_up(|plan| {
            let other = plan.downcast_ref::<AggregateExec>().map(by_numbers).transpose()?;
            Ok(match other.flatten() {
                Some(other) => Transformed::yes(other),
                None => Transformed::no(plan),
            })
        })
        .data()
    }

    fn name(&self) -> &'static str {
        "group_by_numbers"
    }

    fn schema_check(&self) -> bool {
        true
    }
}

/// Number of words whose numbers fit into one value.
const WORDS: usize = 2;

/// Returns a plan with the rows of this step, or `None` if the step reads no words, or is not the
/// first of its aggregation: the later steps have few rows.
fn by_numbers(step: &AggregateExec) -> Result<Option<Arc<dyn ExecutionPlan>>> {
    use AggregateMode::{Partial, Single, SinglePartitioned};
    let groups = step.group_expr();
    let is_first = matches!(step.mode(), Partial | Single | SinglePartitioned);
    let is_ordered = *step.input_order_mode() != InputOrderMode::Linear;
    if !is_first || groups.has_grouping_set() || is_ordered || step.limit_options().is_some() {
        return Ok(None);
    }
    let (input, schema) = (step.input(), step.schema());
    let is_word = |(expr, _): &&(Arc<dyn PhysicalExpr>, String)| {
        expr.data_type(&input.schema()).is_ok_and(|data_type| data_type == word_type())
    };
    let (of_words, others): (Vec<_>, Vec<_>) = groups.expr().iter().partition(is_word);
    if of_words.is_empty() {
        return Ok(None);
    }
    let words = Arc::new(Words::default());
    let numbers = of_words.chunks(WORDS).enumerate().map(|(index, chunk)| {
        let of = chunk.iter().map(|(expr, _)| Arc::clone(expr)).collect();
        let number: Arc<dyn PhysicalExpr> = Arc::new(Number::new(Arc::clone(&words), of));
        (number, format!("words {index}"))
    });
    let columns: Vec<_> = numbers.chain(others.into_iter().cloned()).collect();
    let count = columns.len();
    let first_other = of_words.len().div_ceil(WORDS);
    let inner: Arc<dyn ExecutionPlan> = Arc::new(AggregateExec::try_new(
        *step.mode(),
        PhysicalGroupBy::new_single(columns),
        step.aggr_expr().to_vec(),
        step.filter_expr().to_vec(),
        Arc::clone(input),
        step.input_schema(),
    )?);

    // The columns of the original step, in their order.
    let column = |index: usize| -> Arc<dyn PhysicalExpr> {
        Arc::new(Column::new(inner.schema().field(index).name(), index))
    };
    let (mut word, mut other) = (0, first_other);
    let mut output: Vec<(Arc<dyn PhysicalExpr>, String)> = Vec::new();
    for (index, group) in groups.expr().iter().enumerate() {
        let expr: Arc<dyn PhysicalExpr> = if is_word(&group) {
            // The first of two words is in the upper half.
            let is_upper = word % WORDS == 0 && word + 1 < of_words.len();
            let field = Arc::clone(&schema.fields()[index]);
            let of = column(word / WORDS);
            word += 1;
            Arc::new(Word::new(Arc::clone(&words), of, is_upper, field))
        } else {
            other += 1;
            column(other - 1)
        };
        output.push((expr, schema.field(index).name().clone()));
    }
    let states = schema.fields().iter().skip(groups.expr().len()).enumerate();
    output.extend(states.map(|(index, field)| (column(count + index), field.name().clone())));
    let plan: Arc<dyn ExecutionPlan> = Arc::new(ProjectionExec::try_new(output, inner)?);
    // The steps above find their columns by this schema.
    Ok((plan.schema() == schema).then_some(plan))
}

/// The type of texts that repeat, in traces and in lakes.
fn word_type() -> DataType {
    DataType::Dictionary(Box::new(DataType::Int32), Box::new(DataType::Utf8))
}
