//! What became of the budgets of servers.
//!
//! A server's budget falls while a task that it serves runs, or while another runs on that task's behalf. It is full
//! when it is replenished, and when the server has something to serve for the first time after its task's job
//! was done; it is 0 when the server says that it is used up; reclaimed time that is used adds to it. How large it is when full is
//! told from outside; else it is taken for the most that was used before it was used up.
//!
//! Some servers do not say whom they serve when they become active. Then it is the task of the activation right before
//! that record: the kernel activates the task, which wakes its server. A group of tasks is activated in the other order, each
//! server before its task: a server without such an activation before it serves the task of the one right after.
//! Who runs when the budget is used up is certain, and corrects both.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::accounts::Accounts;
use super::per::PerContext;
use super::step::Step;
use crate::analysis::Range;
use crate::model::{ContextId, Meaning, OnBehalf, Running, Trace};

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
    /// From being used up to being replenished, in ticks, of times that ended in the trace.
    pub without_budget: Range,
    /// The same times: beginning and end of each. Kept on request.
    pub without: Vec<(u64, u64)>,
    /// Ticks for which what it serves ran.
    pub supplied: u64,
    /// The most ticks that were used of one budget before it was used up.
    pub most_used: Option<u64>,
    /// How much of a full budget was used, in ticks: moments at which that began to change, or
    /// changed at once. Between two moments it changes evenly. Kept on request.
    pub used: Vec<Used>,
}

/// How much of a budget was used.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Used {
    /// When.
    pub ticks: u64,
    /// Ticks used; fewer than none where reclaimed time was given. `None` where all is used.
    pub used: Option<i64>,
}

/// What is followed of a server.
#[derive(Debug)]
struct Followed {
    figures: Server,
    exhausted_since: Option<u64>,
    used: i64,
    /// Whether the next activation begins with a full budget.
    idle: bool,
    /// True once the server itself named its task.
    names_task: bool,
    /// Ticks supplied to a task that was inferred, since that was last confirmed.
    unconfirmed: u64,
}

impl Followed {
    fn new(key: u64) -> Self {
        let figures = Server {
            key,
            task: None,
            active: 0,
            exhausted: 0,
            replenished: 0,
            reclaiming: 0,
            used_reclaimed: 0,
            without_budget: Range::default(),
            without: Vec::new(),
            supplied: 0,
            most_used: None,
            used: Vec::new(),
        };
        let (names_task, unconfirmed) = (false, 0);
        Self { figures, exhausted_since: None, used: 0, idle: true, names_task, unconfirmed }
    }

    fn active(&mut self, ticks: u64, keeps: bool) {
        self.figures.active += 1;
        if std::mem::replace(&mut self.idle, false) && self.exhausted_since.is_none() {
            self.full(ticks, keeps);
        }
    }

    fn full(&mut self, ticks: u64, keeps: bool) {
        self.used = 0;
        self.point(ticks, keeps);
    }

    fn exhaust(&mut self, ticks: u64, keeps: bool) {
        self.figures.exhausted += 1;
        if self.exhausted_since.is_some() {
            return;
        }
        self.exhausted_since = Some(ticks);
        if self.figures.task.is_some() {
            let used = u64::try_from(self.used).unwrap_or(0);
            self.figures.most_used = self.figures.most_used.max(Some(used));
        }
        if keeps {
            self.figures.used.push(Used { ticks, used: None });
        }
    }

    fn replenish(&mut self, ticks: u64, keeps: bool) {
        self.figures.replenished += 1;
        if let Some(since) = self.exhausted_since.take() {
            self.figures.without_budget.add(ticks.saturating_sub(since));
            if keeps {
                self.figures.without.push((since, ticks));
            }
        }
        self.full(ticks, keeps);
    }

    fn reclaimed(&mut self, gained: u64, ticks: u64, keeps: bool) {
        self.figures.used_reclaimed += 1;
        self.used = self.used.saturating_sub_unsigned(gained);
        self.point(ticks, keeps);
    }

    /// What it serves ran for a while, up to now.
    fn serve(&mut self, spent: u64, now: u64, keeps: bool) {
        self.figures.supplied += spent;
        self.unconfirmed += spent;
        let from = Used { ticks: now - spent, used: Some(self.used) };
        self.used = self.used.saturating_add_unsigned(spent);
        if !keeps {
            return;
        }
        let points = &mut self.figures.used;
        // A fall that goes on needs no point of its own.
        let falls = match points.as_slice() {
            [.., before, last] => {
                *last == from && before.ticks < last.ticks && before.used < last.used
            }
            _ => false,
        };
        if falls {
            points.pop();
        } else if points.last() != Some(&from) {
            points.push(from);
        }
        self.point(now, keeps);
    }

    fn point(&mut self, ticks: u64, keeps: bool) {
        if keeps {
            self.figures.used.push(Used { ticks, used: Some(self.used) });
        }
    }
}

/// Follows the budgets of servers.
#[derive(Debug, Default)]
pub(super) struct Budgets {
    servers: Vec<Followed>,
    by_key: HashMap<u64, usize, RandomState>,
    /// The servers of tasks; one at most each, as far as the trace tells.
    by_task: HashMap<ContextId, usize, RandomState>,
    /// The task of the event before, if that activated it and no server became active because of it.
    activated: Option<ContextId>,
    /// The server of the event before, if that became active for an unknown task.
    unserved: Option<usize>,
    /// The ticks that each task had been served when its job was activated.
    begun: PerContext<Option<u64>>,
    /// Whether curves and times without budget are kept.
    keeps: bool,
}

impl Budgets {
    pub(super) fn keep_each(&mut self) {
        self.keeps = true;
    }

    /// Takes an event with who ran before it.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        step: &Step,
        before: &Running<OnBehalf>,
        accounts: &Accounts,
    ) {
        let (activated, unserved) = (self.activated.take(), self.unserved.take());
        match (step.meaning, step.subject, step.object) {
            (Some(Meaning::Activate), Some(task), _) => {
                self.begun.at(task).get_or_insert(accounts.served(task));
                match unserved {
                    Some(server) => self.serves(server, task),
                    None => self.activated = Some(task),
                }
            }
            (Some(meaning @ (Meaning::Complete | Meaning::Delete)), Some(task), _) => {
                let goes_on = meaning == Meaning::Complete;
                *self.begun.at(task) = goes_on.then(|| accounts.served(task));
                let server = self.by_task.get(&task);
                if let Some(server) = server.and_then(|index| self.servers.get_mut(*index)) {
                    server.idle = true;
                }
            }
            (Some(Meaning::ServerActive), named, Some(key)) => {
                self.active(key, named, activated, step.ticks);
            }
            (Some(Meaning::BudgetExhausted), _, Some(key)) => {
                let index = self.index(key);
                if let Some(ran) = before.now().of.get() {
                    self.confirm(index, ran, accounts);
                }
                let keeps = self.keeps;
                self.servers[index].exhaust(step.ticks, keeps);
            }
            (Some(meaning), _, Some(key)) if is_budget(meaning) => {
                let index = self.index(key);
                self.budget(trace, index, meaning, step);
            }
            _ => {}
        }
    }

    /// A server has something to serve: the task that it names, or the one that was activated right before.
    fn active(
        &mut self,
        key: u64,
        named: Option<ContextId>,
        activated: Option<ContextId>,
        ticks: u64,
    ) {
        let (index, keeps) = (self.index(key), self.keeps);
        let server = &mut self.servers[index];
        server.active(ticks, keeps);
        server.names_task |= named.is_some();
        match named.or(activated) {
            Some(task) => self.serves(index, task),
            None => self.unserved = Some(index),
        }
    }

    /// A task ran while the budget of a server was used up: the server serves that one. What was taken for
    /// supplied to another since that was last certain goes to this one's job.
    fn confirm(&mut self, index: usize, ran: ContextId, accounts: &Accounts) {
        let server = &mut self.servers[index];
        let wrong = std::mem::take(&mut server.unconfirmed);
        if server.figures.task == Some(ran) || server.names_task {
            return;
        }
        let begun = self.begun.get(ran).copied().flatten();
        let own = begun.map_or(0, |begun| accounts.served(ran).saturating_sub(begun));
        server.figures.supplied = server.figures.supplied.saturating_sub(wrong) + own;
        server.used = i64::try_from(own).unwrap_or(i64::MAX);
        self.serves(index, ran);
    }

    /// Events are missing: what was activated last is not known.
    pub(super) fn gap(&mut self) {
        (self.activated, self.unserved) = (None, None);
        self.begun = PerContext::default();
    }

    fn serves(&mut self, index: usize, task: ContextId) {
        let Some(server) = self.servers.get_mut(index) else { return };
        if let Some(before) = server.figures.task.replace(task).filter(|before| *before != task) {
            self.by_task.remove(&before);
        }
        self.by_task.insert(task, index);
    }

    fn budget(&mut self, trace: &Trace, index: usize, meaning: Meaning, step: &Step) {
        let keeps = self.keeps;
        let Some(server) = self.servers.get_mut(index) else { return };
        match meaning {
            Meaning::BudgetReplenished => server.replenish(step.ticks, keeps),
            Meaning::BudgetReclaimed => server.figures.reclaiming += 1,
            Meaning::ReclaimedUsed => {
                let microseconds = step.value.unwrap_or(0);
                let rate = trace.clock.rate;
                let gained = rate.map_or(0, |rate| rate.ticks(microseconds.saturating_mul(1000)));
                server.reclaimed(gained, step.ticks, keeps);
            }
            _ => {}
        }
    }

    /// So many ticks passed up to now while this was going on.
    pub(super) fn charge(&mut self, running: &Running<OnBehalf>, ticks: u64, now: u64) {
        if running.in_interrupt() || ticks == 0 || self.by_task.is_empty() {
            return;
        }
        let OnBehalf { runs, of } = running.now();
        let server = |task: ContextId| self.by_task.get(&task).copied();
        let (first, second) = (runs.get().and_then(server), of.get().and_then(server));
        for index in [first, second.filter(|_| first != second)].into_iter().flatten() {
            if let Some(server) = self.servers.get_mut(index) {
                server.serve(ticks, now, self.keeps);
            }
        }
    }

    /// The task of the server that an event is about.
    pub(super) fn task_of(&self, step: &Step) -> Option<ContextId> {
        if step.meaning != Some(Meaning::BudgetExhausted) {
            return None;
        }
        self.servers.get(*self.by_key.get(&step.object?)?)?.figures.task
    }

    fn index(&mut self, key: u64) -> usize {
        let servers = &mut self.servers;
        *self.by_key.entry(key).or_insert_with(|| {
            servers.push(Followed::new(key));
            servers.len() - 1
        })
    }

    pub(super) fn finish(&mut self) -> Vec<Server> {
        std::mem::take(&mut self.servers).into_iter().map(|server| server.figures).collect()
    }
}

fn is_budget(meaning: Meaning) -> bool {
    matches!(
        meaning,
        Meaning::BudgetReplenished | Meaning::BudgetReclaimed | Meaning::ReclaimedUsed
    )
}
