//! Follows the budgets of servers.
//!
//! A server's budget decreases while one of its tasks runs, or while another task runs on behalf of
//! such a task. The budget is full after a replenishment, and when the server becomes active for
//! the first time after its task completed a job. It is 0 when the server reports exhaustion.
//! Reclaimed time that the server uses is added to the budget. The largest amount that was used
//! before exhaustion is taken as the size of the full budget.
//!
//! Some servers do not name the served task when they become active. Usually it is the task that
//! the previous event activated, because the activation of a task wakes its server. If a group of
//! tasks is activated, each server becomes active directly before the activation of its task. So if
//! the previous event activated no task, or the task of another server of the group, the server
//! serves the task that the next event activates. The task that is running when the budget is
//! exhausted is certainly the served task, so it replaces a task that was only inferred.
//!
//! While events are missing, a budget can be replenished or exhausted. So after a gap it is unknown
//! until an event shows it.

use std::collections::HashMap;

use foldhash::fast::RandomState;

use super::accounts::Accounts;
use super::cores::Core;
use super::moments::{Budget, Moments, Position, ServerState};
use super::per::PerContext;
use super::step::Step;
use crate::analysis::Range;
use crate::analysis::total::Total;
use crate::model::{ContextId, Meaning, OnBehalf, Running, Trace};

/// A server, which gives one or more tasks a budget of execution time and replenishes it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Server {
    /// The key that events use for the server.
    pub key: u64,
    /// The served task, if the trace shows it.
    pub task: Option<ContextId>,
    /// Number of times that the server became active.
    pub active: u64,
    /// Number of times that the budget was exhausted.
    pub exhausted: u64,
    /// Number of replenishments of the budget.
    pub replenished: u64,
    /// Number of times that the server took over unused budget of other servers.
    pub reclaiming: u64,
    /// Number of times that the server used reclaimed budget.
    pub used_reclaimed: u64,
    /// Times in ticks from an exhaustion to the next replenishment, if the trace shows both.
    pub without_budget: Range,
    /// The intervals in which the budget was exhausted, if requested: the beginning and the end of
    /// each, in ticks.
    pub without: Vec<(u64, u64)>,
    /// Ticks for which the served task ran.
    pub supplied: u64,
    /// The largest number of ticks that were used before exhaustion.
    pub most_used: Option<u64>,
    /// The used part of the budget over time, if requested. The list has a point at each abrupt
    /// change of the curve's slope or value. Between two points, the curve is linear. After a point
    /// without a number, it has no value until the next point.
    pub used: Vec<Used>,
}

/// The part of a budget that has been used at a given time.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Used {
    /// Ticks since the first event of the trace.
    pub ticks: u64,
    /// Used ticks. Negative if reclaimed time was added. `None` if the budget is exhausted, or
    /// unknown because of missing events.
    pub used: Option<i64>,
}

/// A server and its budget.
#[derive(Clone, Debug)]
struct Followed {
    figures: Server,
    exhausted_since: Option<u64>,
    used: i64,
    /// False after a gap, until an event shows the budget.
    is_known: bool,
    /// Number of cores on which the server's task runs.
    serving: u16,
    /// True if the budget is full at the next activation.
    idle: bool,
    /// True if the server itself has named its task.
    names_task: bool,
    /// Ticks charged for an inferred task since the budget was last exhausted. Only an exhaustion
    /// shows for certain which task is served.
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
        Self {
            figures,
            exhausted_since: None,
            used: 0,
            is_known: true,
            serving: 0,
            idle: true,
            names_task: false,
            unconfirmed: 0,
        }
    }

    /// Returns true if the curve has a value: the budget is known and not exhausted.
    fn has_budget(&self) -> bool {
        self.is_known && self.exhausted_since.is_none()
    }

    fn state(&self) -> ServerState {
        let budget = match self.exhausted_since {
            Some(_) => Budget::Exhausted,
            None if self.is_known => Budget::Used(self.used),
            None => Budget::Unknown,
        };
        ServerState { budget, serving: self.serving }
    }

    fn active(&mut self, ticks: u64, keeps: bool) {
        self.figures.active += 1;
        // If an exhausted server becomes active, it waits for its replenishment.
        if std::mem::replace(&mut self.idle, false) && self.exhausted_since.is_none() {
            self.full(ticks, keeps);
        }
    }

    fn full(&mut self, ticks: u64, keeps: bool) {
        self.is_known = true;
        self.jump(0, ticks, keeps);
    }

    fn exhaust(&mut self, ticks: u64, keeps: bool) {
        self.figures.exhausted += 1;
        // If exhaustion is reported again, the beginning of the time without budget does not
        // change.
        if self.exhausted_since.is_some() {
            return;
        }
        self.exhausted_since = Some(ticks);
        // If the task is unknown, nothing was charged, so the amount used does not show the size of
        // the budget. Neither does the amount that was used since a gap.
        if self.figures.task.is_some() && self.is_known {
            let used = u64::try_from(self.used).unwrap_or(0);
            self.figures.most_used = self.figures.most_used.max(Some(used));
        }
        self.end_curve(ticks, keeps);
    }

    fn replenish(&mut self, ticks: u64, keeps: bool) {
        self.figures.replenished += 1;
        if let Some(since) = self.exhausted_since.take() {
            self.figures.without_budget.add(ticks.saturating_sub(since));
            if keeps {
                self.figures.without.push((since, ticks));
            }
            // While the budget was exhausted, the curve had no value.
            self.used = 0;
        }
        self.full(ticks, keeps);
    }

    fn reclaimed(&mut self, gained: u64, ticks: u64, keeps: bool) {
        self.figures.used_reclaimed += 1;
        if !self.has_budget() {
            return;
        }
        self.jump(self.used.saturating_sub_unsigned(gained), ticks, keeps);
    }

    /// Changes the number of used ticks abruptly. The curve gets a point with the old number, too,
    /// because it is linear between two points.
    fn jump(&mut self, used: i64, ticks: u64, keeps: bool) {
        if used != self.used {
            self.go_on_until(ticks, keeps);
        }
        self.used = used;
        self.point(ticks, keeps);
    }

    /// Adds the point at which a level part of the curve ends.
    fn go_on_until(&mut self, ticks: u64, keeps: bool) {
        let goes_on = |last: &Used| last.used == Some(self.used) && last.ticks < ticks;
        if self.figures.used.last().is_some_and(goes_on) {
            self.point(ticks, keeps);
        }
    }

    /// Adds the point from which on the curve has no value.
    fn end_curve(&mut self, ticks: u64, keeps: bool) {
        if keeps {
            self.go_on_until(ticks, keeps);
            self.figures.used.push(Used { ticks, used: None });
        }
    }

    /// Handles missing events after `ticks`. The curve has no value until an event shows the
    /// budget.
    fn gap(&mut self, ticks: u64, keeps: bool) {
        if self.has_budget() && !self.figures.used.is_empty() {
            self.end_curve(ticks, keeps);
        }
        (self.is_known, self.exhausted_since) = (false, None);
        (self.idle, self.serving) = (false, 0);
    }

    /// Charges the `spent` ticks before `now`, in which the served task ran.
    fn serve(&mut self, spent: u64, now: u64, keeps: bool) {
        self.figures.supplied.charge(spent);
        self.unconfirmed.charge(spent);
        if !self.has_budget() {
            return;
        }
        let from = Used { ticks: now - spent, used: Some(self.used) };
        self.used = self.used.saturating_add_unsigned(spent);
        if !keeps {
            return;
        }
        let points = &mut self.figures.used;
        // If the decrease merely continues, no new point is needed.
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
#[derive(Clone, Debug, Default)]
pub(super) struct Budgets {
    servers: Vec<Followed>,
    by_key: HashMap<u64, usize, RandomState>,
    /// The server of each task. A task has at most one server.
    by_task: HashMap<ContextId, usize, RandomState>,
    /// The task that the previous event activated. `None` if this task was assigned to a server
    /// that became active directly before the activation.
    activated: Option<ContextId>,
    /// The server that became active at the previous event, if the task that it serves is unknown.
    unserved: Option<usize>,
    /// For each task, the value of [`Accounts::served`] when its current job began: at the
    /// activation, or at the completion of the previous job.
    begun: PerContext<Option<u64>>,
    /// True if the caller wants lists of budget curves and times without budget.
    keeps: bool,
    /// For each core, the servers whose tasks it runs.
    on_cores: Vec<[Option<usize>; 2]>,
    /// True if the present event has changed which task a server serves.
    is_remapped: bool,
    /// The servers whose state the present event has changed.
    changed: Vec<usize>,
}

impl Budgets {
    pub(super) fn keep_each(&mut self) {
        self.keeps = true;
    }

    /// Begins a range at `from`: forgets the figures and keeps the budgets.
    pub(super) fn restart(&mut self, from: u64) {
        let keeps = self.keeps;
        for server in &mut self.servers {
            let task = server.figures.task;
            server.figures = Server { task, ..Followed::new(server.figures.key).figures };
            if keeps {
                let used = server.has_budget().then_some(server.used);
                server.figures.used.push(Used { ticks: from, used });
            }
        }
    }

    /// Handles an event. `before` is the context that ran before the event.
    pub(super) fn take(
        &mut self,
        trace: &Trace,
        step: &Step,
        before: &Running<OnBehalf>,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        let (activated, unserved) = (self.activated, self.unserved);
        self.pass();
        match (step.meaning, step.subject, step.object) {
            (Some(Meaning::Activate), Some(task), _) => {
                // Further activations do not reset the account of a pending job.
                self.begun.at(task).get_or_insert(accounts.served(task));
                match unserved {
                    Some(server) => self.serves(server, task),
                    None => self.activated = Some(task),
                }
            }
            (Some(meaning @ (Meaning::Complete | Meaning::Delete)), Some(task), _) => {
                // Later charges belong to the next job, unless the task is deleted.
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
                // The running task exhausted the budget, so the server serves this task, even if
                // another task was inferred before.
                if let Some(ran) = before.now().of.get() {
                    self.confirm(index, ran, accounts, moments);
                }
                let keeps = self.keeps;
                self.servers[index].exhaust(step.ticks, keeps);
                self.changed.push(index);
            }
            (Some(meaning), _, Some(key)) if is_budget(meaning) => {
                let index = self.index(key);
                self.budget(trace, index, meaning, step);
            }
            _ => {}
        }
    }

    /// Handles an event that concerns neither a job nor a server.
    #[inline(always)]
    pub(super) fn pass(&mut self) {
        (self.activated, self.unserved) = (None, None);
    }

    /// Marks a server as active for the task that the server names, or for the task that the
    /// previous event activated.
    fn active(
        &mut self,
        key: u64,
        named: Option<ContextId>,
        activated: Option<ContextId>,
        ticks: u64,
    ) {
        let (index, keeps) = (self.index(key), self.keeps);
        self.changed.push(index);
        let server = &mut self.servers[index];
        server.active(ticks, keeps);
        server.names_task |= named.is_some();
        match named.or(activated) {
            Some(task) => self.serves(index, task),
            None => self.unserved = Some(index),
        }
    }

    /// Handles the exhaustion of the budget while `ran` was running. This shows that the server
    /// serves the task `ran`. If the server was charged for another task, this function subtracts
    /// the ticks of that task since the previous exhaustion, and adds the ticks of `ran`'s job.
    fn confirm(
        &mut self,
        index: usize,
        ran: ContextId,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        let server = &mut self.servers[index];
        let wrong = std::mem::take(&mut server.unconfirmed);
        if server.figures.task == Some(ran) || server.names_task {
            return;
        }
        let begun = self.begun.get(ran).copied().flatten();
        // Replace the ticks of the inferred task by the ticks of this task's job.
        let own = begun.map_or(0, |begun| accounts.served(ran).saturating_sub(begun));
        let supplied = server.figures.supplied;
        server.figures.supplied = supplied.saturating_sub(wrong).saturating_add(own);
        moments.supply_corrected(index, supplied, server.figures.supplied);
        server.used = i64::try_from(own).unwrap_or(i64::MAX);
        self.serves(index, ran);
    }

    /// Handles missing events. After the gap, the most recent activation and the budgets are
    /// unknown. `before` is the tick of the last event before the gap.
    pub(super) fn gap(&mut self, before: u64) {
        (self.activated, self.unserved) = (None, None);
        self.begun = PerContext::default();
        self.on_cores.clear();
        let keeps = self.keeps;
        self.servers.iter_mut().for_each(|server| server.gap(before, keeps));
    }

    /// Returns true if no event has named a server.
    #[inline(always)]
    pub(super) fn is_empty(&self) -> bool {
        self.servers.is_empty()
    }

    /// Reports the servers whose state an event has changed. `core` is the core on which the event
    /// has changed who runs, if there is one.
    #[inline(never)]
    pub(super) fn report(
        &mut self,
        cores: &[Core],
        core: Option<usize>,
        at: Position,
        moments: &mut impl Moments,
    ) {
        if std::mem::take(&mut self.is_remapped) {
            (0..cores.len()).for_each(|core| self.follow(cores, core));
        } else if let Some(core) = core {
            self.follow(cores, core);
        }
        for index in self.changed.drain(..) {
            if let Some(server) = self.servers.get(index) {
                moments.budget(index, server.state(), at);
            }
        }
    }

    /// Determines which servers' tasks a core runs.
    fn follow(&mut self, cores: &[Core], core: usize) {
        let Some(Core { running, .. }) = cores.get(core) else { return };
        let now = if running.in_interrupt() { [None; 2] } else { self.served_by(running) };
        if core >= self.on_cores.len() {
            self.on_cores.resize(core + 1, [None; 2]);
        }
        let before = std::mem::replace(&mut self.on_cores[core], now);
        if before == now {
            return;
        }
        for index in before.into_iter().flatten() {
            self.servers[index].serving -= 1;
            self.changed.push(index);
        }
        for index in now.into_iter().flatten() {
            self.servers[index].serving += 1;
            self.changed.push(index);
        }
    }

    /// Returns the servers of the running task and of the task on whose behalf it runs. If both
    /// have the same server, returns it only once.
    fn served_by(&self, running: &Running<OnBehalf>) -> [Option<usize>; 2] {
        let OnBehalf { runs, of } = running.now();
        let server = |task: ContextId| self.by_task.get(&task).copied();
        let (first, second) = (runs.get().and_then(server), of.get().and_then(server));
        [first, second.filter(|_| first != second)]
    }

    fn serves(&mut self, index: usize, task: ContextId) {
        let Some(server) = self.servers.get_mut(index) else { return };
        // A server serves one task at a time, and a task has one server.
        let before = server.figures.task.replace(task);
        if before == Some(task) && self.by_task.get(&task) == Some(&index) {
            return;
        }
        if let Some(before) = before.filter(|before| *before != task) {
            self.by_task.remove(&before);
        }
        self.by_task.insert(task, index);
        self.is_remapped = true;
    }

    fn budget(&mut self, trace: &Trace, index: usize, meaning: Meaning, step: &Step) {
        let keeps = self.keeps;
        let Some(server) = self.servers.get_mut(index) else { return };
        self.changed.push(index);
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

    /// Charges the `ticks` ticks before `now` to the context `running`.
    #[inline(always)]
    pub(super) fn charge(&mut self, running: &Running<OnBehalf>, ticks: u64, now: u64) {
        if !self.by_task.is_empty() && !running.in_interrupt() && ticks > 0 {
            self.charge_servers(running, ticks, now);
        }
    }

    #[inline(never)]
    fn charge_servers(&mut self, running: &Running<OnBehalf>, ticks: u64, now: u64) {
        for index in self.served_by(running).into_iter().flatten() {
            if let Some(server) = self.servers.get_mut(index) {
                server.serve(ticks, now, self.keeps);
            }
        }
    }

    /// If an event reports that the budget of a server is exhausted, returns the server's task.
    /// Returns `None` for other events, or if the task is unknown.
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
