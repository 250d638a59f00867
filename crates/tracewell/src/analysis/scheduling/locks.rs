//! Who asked for a mutex or a semaphore and had to wait, what the wait was spent on, who held it how long.
//!
//! A request is blocked if the scheduler's next choice, made because of it, is another task, or another that runs on
//! behalf of the one that asked; the wait for a mutex ends when that one is run next, the wait for a
//! semaphore when it is chosen. Two requests of a task for the same mutex with nothing between are one: some
//! protocols log it twice. A mutex is held from the request, or from the end of the wait for it, to
//! the unlock by the same task.
//!
//! Where the scheduler does not tell on whose behalf a task runs, the time in which the task that holds the
//! mutex runs is blocking, the time of others interference.
//!
//! A wait is inverted while a task runs that neither holds what is waited for nor has an earlier deadline. Deadlines
//! come from outside ([`super::Expected`]); without one for the task that waits, nothing is said.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::accounts::{Accounts, Split};
use super::is_cause;
use super::per::PerContext;
use super::step::Step;
use crate::analysis::Range;
use crate::model::{ContextId, Meaning, OnBehalf, Running};

/// Requests of a task for mutexes, or for semaphores.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Locks {
    /// Requests.
    pub requests: u64,
    /// Requests that had to wait.
    pub blocks: u64,
    /// From a request to being run again, in ticks, of waits that ended in the trace.
    pub wait: Range,
    /// What these waits were spent on together. `own` is the time until the scheduler answered the request.
    pub spent: Split,
    /// From getting it to giving it back, in ticks; of mutexes.
    pub hold: Range,
}

/// A mutex or a semaphore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// Its key as recorded: an address, or a number.
    pub key: u64,
    /// Whether it is a mutex; else a semaphore.
    pub is_mutex: bool,
    /// Its figures, over all tasks.
    pub figures: Locks,
}

/// A wait that ended in the trace.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Waited {
    /// Who waited.
    pub context: ContextId,
    /// For what.
    pub key: Option<u64>,
    /// Whether that is a mutex; else a semaphore.
    pub is_mutex: bool,
    /// Who held the mutex, or ran on behalf of the task that waits for it: the end of the chain of owners.
    pub owner: Option<ContextId>,
    /// Ticks of the request.
    pub from: u64,
    /// Ticks at which it went on.
    pub until: u64,
    /// What the time between was spent on; not told where there are several cores.
    pub spent: Option<Split>,
    /// Ticks of inversion, where its deadline is known.
    pub inverted: Option<u64>,
}

/// A request, as long as it is not known whether it is blocked, or while it is.
#[derive(Clone, Copy, Debug)]
struct Request {
    task: ContextId,
    key: Option<u64>,
    is_mutex: bool,
    ticks: u64,
    totals: Split,
    owner: Option<ContextId>,
    /// What the owner had run at the request, where nothing tells on whose behalf it does.
    owner_ran: Option<u64>,
    inverted: Option<u64>,
}

impl Request {
    /// Whether two events ask for the same.
    fn repeats(&self, other: &Self) -> bool {
        self.is_mutex && other.is_mutex && (self.task, self.key) == (other.task, other.key)
    }
}

/// Follows requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    mutexes: PerContext<Locks>,
    semaphores: PerContext<Locks>,
    resources: BTreeMap<(bool, u64), Locks>,
    /// Mutexes that are held: since when.
    held: HashMap<(ContextId, u64), u64, RandomState>,
    /// Who holds each.
    holders: HashMap<u64, ContextId, RandomState>,
    /// The event before, if it was a request.
    before: Option<Request>,
    /// The last event that can be why the scheduler chooses, if it was a request.
    last: Option<Request>,
    waiting: PerContext<Option<Request>>,
    waited: Vec<Waited>,
    /// Whether each wait is kept.
    keeps: bool,
}

impl Requests {
    pub(super) fn keep_each(&mut self) {
        self.keeps = true;
    }

    pub(super) fn take(&mut self, step: &Step, before: &Running<OnBehalf>, accounts: &Accounts) {
        let request = request(step, accounts);
        let again = request.zip(self.before).is_some_and(|(now, before)| now.repeats(&before));
        self.before = request;
        if again {
            return;
        }
        if let Some(request) = &request {
            self.requested(request);
        }
        if step.meaning == Some(Meaning::Unlock) {
            self.unlocked(step);
        }
        if step.chooses() {
            self.chosen(step, before, accounts);
        }
        if is_cause(step.meaning) {
            self.last = request;
        }
    }

    fn requested(&mut self, request: &Request) {
        self.each(request.task, request.key, request.is_mutex, |figures| figures.requests += 1);
        if let Some(key) = request.key.filter(|_| request.is_mutex) {
            self.held.entry((request.task, key)).or_insert(request.ticks);
            self.holders.entry(key).or_insert(request.task);
        }
    }

    fn unlocked(&mut self, step: &Step) {
        let (Some(task), Some(key)) = (step.subject, step.object) else { return };
        if self.holders.get(&key) == Some(&task) {
            self.holders.remove(&key);
        }
        if let Some(since) = self.held.remove(&(task, key)) {
            let ticks = step.ticks.saturating_sub(since);
            self.each(task, Some(key), true, |figures| figures.hold.add(ticks));
        }
    }

    fn chosen(&mut self, step: &Step, before: &Running<OnBehalf>, accounts: &Accounts) {
        self.goes_on(step.next, true, step.ticks, accounts);
        self.goes_on(step.chosen(), false, step.ticks, accounts);
        let Some(request) = self.last.take() else { return };
        let answers = if request.is_mutex {
            step.subject == Some(request.task) && step.next != Some(request.task)
        } else {
            step.chosen() != Some(request.task)
        };
        if answers && before.task() == Some(request.task) {
            self.each(request.task, request.key, request.is_mutex, |figures| figures.blocks += 1);
            *self.waiting.at(request.task) = Some(self.owned(request, step, accounts));
        }
    }

    /// A request that is blocked, with the owner of what it asks for.
    fn owned(&self, request: Request, step: &Step, accounts: &Accounts) -> Request {
        if !request.is_mutex {
            return request;
        }
        if step.meaning == Some(Meaning::Schedule) {
            return Request { owner: step.next, ..request };
        }
        let holder = request.key.and_then(|key| self.holders.get(&key).copied());
        let owner = holder.filter(|holder| *holder != request.task);
        Request { owner, owner_ran: owner.map(|owner| accounts.ran(owner)), ..request }
    }

    /// A task goes on; its wait is over if it waits for a mutex, or for a semaphore.
    fn goes_on(&mut self, task: Option<ContextId>, mutex: bool, ticks: u64, accounts: &Accounts) {
        let Some(task) = task else { return };
        let over = self.waiting.at(task).take_if(|request| request.is_mutex == mutex);
        if let Some(request) = over {
            self.ended(&request, ticks, accounts);
        }
    }

    fn ended(&mut self, request: &Request, now: u64, accounts: &Accounts) {
        let Request { task, key, is_mutex, .. } = *request;
        let ticks = now.saturating_sub(request.ticks);
        let mut spent = accounts.split(task, request.totals, ticks);
        if let (Some(owner), Some(before)) = (request.owner, request.owner_ran) {
            let owned = spent.interference.min(accounts.ran(owner) - before);
            spent.blocking += owned;
            spent.interference -= owned;
        }
        self.each(task, key, is_mutex, |figures| {
            figures.wait.add(ticks);
            figures.spent.add(spent);
        });
        if let Some(key) = key.filter(|_| is_mutex) {
            self.held.insert((task, key), now);
            self.holders.insert(key, task);
        }
        if self.keeps {
            self.waited.push(Waited {
                context: task,
                key,
                is_mutex,
                owner: request.owner,
                from: request.ticks,
                until: now,
                spent: Some(spent),
                inverted: request.inverted,
            });
        }
    }

    /// Changes the figures of a task and of what it asked for.
    fn each(
        &mut self,
        task: ContextId,
        key: Option<u64>,
        is_mutex: bool,
        mut change: impl FnMut(&mut Locks),
    ) {
        let tasks = if is_mutex { &mut self.mutexes } else { &mut self.semaphores };
        change(tasks.at(task));
        if let Some(key) = key {
            change(self.resources.entry((is_mutex, key)).or_default());
        }
    }

    /// So many ticks passed while this was going on; `deadline` says a task's, where it is known.
    pub(super) fn charge(
        &mut self,
        running: &Running<OnBehalf>,
        ticks: u64,
        deadline: impl Fn(ContextId) -> Option<u64>,
    ) {
        let Some(runs) = running.task().filter(|_| !running.in_interrupt()) else { return };
        let waiting = self.waiting.all().flatten();
        for request in waiting.filter(|request| request.is_mutex) {
            let Some(own) = deadline(request.task) else { continue };
            let helps = request.owner == Some(runs) || running.now().of.get() == Some(request.task);
            let urgent = deadline(runs).is_some_and(|deadline| deadline < own);
            let inverted = if helps || urgent { 0 } else { ticks };
            *request.inverted.get_or_insert(0) += inverted;
        }
    }

    /// Events are missing: waits have no known end, and what was held may be given back.
    pub(super) fn gap(&mut self) {
        self.waiting.all().for_each(|request| *request = None);
        self.held.clear();
        self.holders.clear();
        (self.before, self.last) = (None, None);
    }

    /// A task's figures of mutexes and of semaphores.
    pub(super) fn of(&mut self, task: ContextId) -> (Locks, Locks) {
        (*self.mutexes.at(task), *self.semaphores.at(task))
    }

    /// All mutexes and semaphores, and each wait.
    pub(super) fn finish(&mut self, cores: usize) -> (Vec<Resource>, Vec<Waited>) {
        let resources = std::mem::take(&mut self.resources).into_iter();
        let resources = resources
            .map(|((is_mutex, key), figures)| Resource { key, is_mutex, figures })
            .collect();
        let mut waited = std::mem::take(&mut self.waited);
        if cores > 1 {
            waited.iter_mut().for_each(|wait| wait.spent = None);
        }
        (resources, waited)
    }
}

fn request(step: &Step, accounts: &Accounts) -> Option<Request> {
    let is_mutex = match step.meaning? {
        Meaning::Lock => true,
        Meaning::Wait => false,
        _ => return None,
    };
    let (task, key, ticks) = (step.subject?, step.object, step.ticks);
    let totals = accounts.totals(task);
    Some(Request {
        task,
        key,
        is_mutex,
        ticks,
        totals,
        owner: None,
        owner_ran: None,
        inverted: None,
    })
}
