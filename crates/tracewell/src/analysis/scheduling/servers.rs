//! What became of the budgets of servers.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::step::Step;
use crate::model::{ContextId, Meaning};

/// A server: a budget of execution that comes again, for a task or several.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// Its key as recorded.
    pub key: u64,
    /// The task that it serves, as far as the trace tells.
    pub task: Option<ContextId>,
    /// How often it had something to serve.
    pub active: u64,
    /// How often its budget was used up.
    pub exhausted: u64,
    /// How often it had its budget again.
    pub replenished: u64,
    /// How often it took over budget that others left.
    pub reclaiming: u64,
    /// How often it used reclaimed budget.
    pub used_reclaimed: u64,
    /// Ticks without budget, of exhaustions that ended in the trace.
    pub without_budget_ticks: u64,
    /// The longest of these.
    pub without_budget_max_ticks: u64,
    exhausted_since: Option<u64>,
}

impl Server {
    fn new(key: u64) -> Self {
        Self {
            key,
            task: None,
            active: 0,
            exhausted: 0,
            replenished: 0,
            reclaiming: 0,
            used_reclaimed: 0,
            without_budget_ticks: 0,
            without_budget_max_ticks: 0,
            exhausted_since: None,
        }
    }

    fn replenish(&mut self, ticks: u64) {
        self.replenished += 1;
        if let Some(since) = self.exhausted_since.take() {
            let without = ticks.saturating_sub(since);
            self.without_budget_ticks += without;
            self.without_budget_max_ticks = self.without_budget_max_ticks.max(without);
        }
    }
}

/// Follows the budgets of servers.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    servers: Vec<Server>,
    by_key: HashMap<u64, usize, RandomState>,
    /// The server that became active without saying for whom: for whoever is chosen next.
    for_next: Option<usize>,
}

impl Budgets {
    pub(super) fn take(&mut self, step: &Step) {
        match (step.meaning, step.object) {
            (Some(Meaning::Schedule), _) => {
                let server = self.for_next.take().and_then(|server| self.servers.get_mut(server));
                if let Some(server) = server {
                    server.task = step.subject;
                }
            }
            (Some(meaning), Some(key)) if is_budget(meaning) => {
                let index = self.index(key);
                self.budget(index, meaning, step);
            }
            _ => {}
        }
    }

    fn budget(&mut self, index: usize, meaning: Meaning, step: &Step) {
        let Some(server) = self.servers.get_mut(index) else { return };
        match meaning {
            Meaning::ServerActive => {
                server.active += 1;
                match step.subject {
                    Some(task) => server.task = Some(task),
                    None => self.for_next = Some(index),
                }
            }
            Meaning::BudgetExhausted => {
                server.exhausted += 1;
                server.exhausted_since.get_or_insert(step.ticks);
            }
            Meaning::BudgetReplenished => server.replenish(step.ticks),
            Meaning::BudgetReclaimed => server.reclaiming += 1,
            Meaning::ReclaimedUsed => server.used_reclaimed += 1,
            _ => {}
        }
    }

    /// The task of the server that an event is about.
    pub(super) fn task_of(&self, step: &Step) -> Option<ContextId> {
        if step.meaning != Some(Meaning::BudgetExhausted) {
            return None;
        }
        self.servers.get(*self.by_key.get(&step.object?)?)?.task
    }

    fn index(&mut self, key: u64) -> usize {
        let servers = &mut self.servers;
        *self.by_key.entry(key).or_insert_with(|| {
            servers.push(Server::new(key));
            servers.len() - 1
        })
    }

    pub(super) fn finish(&mut self) -> Vec<Server> {
        std::mem::take(&mut self.servers)
    }
}

fn is_budget(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::ServerActive
            | Meaning::BudgetExhausted
            | Meaning::BudgetReplenished
            | Meaning::BudgetReclaimed
            | Meaning::ReclaimedUsed
    )
}
