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
//! A kernel that records when a task blocks (`Blocks`) says so itself. Before that it may change the owner's priority, which
//! are choices that leave the request open. A wait ends at the latest when the task records something itself: on several
//! cores the choice may be no event of its own.
//!
//! Priority inversion is in `inversions`.

use std::collections::{BTreeMap, HashMap};

use foldhash::fast::RandomState;

use super::accounts::{Accounts, Split};
use super::inversions::{Inverted, Urgency};
use super::is_cause;
use super::per::{PerContext, PerCore};
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
    /// Requests that had to wait for a mutex whose owner was less urgent by its priority.
    pub inversions: u64,
    /// Of waits that ended in the trace and were inverted by priority: for how many ticks. These inversions are unbounded:
    /// another task than the owner held up the one that waits.
    pub inverted: Range,
}

/// A mutex or a semaphore.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Resource {
    /// Its key as recorded: an address, or a number.
    pub key: u64,
    /// True for a mutex.
    pub is_mutex: bool,
    /// Type code of the object; `None` if events do not tell it: then what is no mutex is a semaphore.
    pub kind: Option<u32>,
    /// Ticks of the last request.
    pub last_ticks: u64,
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
    /// True for a mutex.
    pub is_mutex: bool,
    /// Type code of the object, as in [`Resource::kind`].
    pub kind: Option<u32>,
    /// Who held the mutex, or ran on behalf of the task that waits for it: the end of the chain of owners.
    pub owner: Option<ContextId>,
    /// Ticks of the request.
    pub from: u64,
    /// Ticks at which it went on.
    pub until: u64,
    /// What the time between was spent on; not told where there are several cores.
    pub spent: Option<Split>,
    /// Ticks of inversion by deadlines, if its deadline is known.
    pub inverted: Option<u64>,
    /// Ticks of inversion by priorities, if its priority is recorded.
    pub inverted_by_priority: Option<u64>,
}

/// A request, as long as it is not known whether it is blocked, or while it is.
#[derive(Clone, Copy, Debug)]
struct Request {
    task: ContextId,
    key: Option<u64>,
    is_mutex: bool,
    kind: Option<u32>,
    ticks: u64,
    totals: Split,
    owner: Option<ContextId>,
    /// What the owner had run at the request, where nothing tells on whose behalf it does.
    owner_ran: Option<u64>,
    inverted: Inverted,
}

impl Request {
    /// Whether two events ask for the same.
    fn repeats(&self, other: &Self) -> bool {
        self.is_mutex && other.is_mutex && (self.task, self.key) == (other.task, other.key)
    }

    /// Returns true if a choice leaves it open: the task that asks goes on, to change the priority of another.
    fn outlasts(&self, step: &Step) -> bool {
        matches!(step.meaning, Some(Meaning::Blocks | Meaning::Ready))
            && step.subject != Some(self.task)
            && (step.recorded_by, step.next) == (Some(self.task), Some(self.task))
    }
}

/// Tasks whose waits for mutexes are asked for inversion at once. Few wait at once; damage makes thousands.
const MAX_BLOCKED: usize = 1024;

/// The name of a resource: true for a mutex, its type code, its key.
type Name = (bool, Option<u32>, u64);

/// Waits of a task for what is no mutex, by type code; few types each.
pub(super) type Waits = Vec<(Option<u32>, Locks)>;

/// Follows requests.
#[derive(Debug, Default)]
pub(super) struct Requests {
    mutexes: PerContext<Locks>,
    others: PerContext<Waits>,
    /// With the ticks of the last request.
    resources: BTreeMap<Name, (u64, Locks)>,
    /// Mutexes that are held: since when, and their names.
    held: HashMap<(ContextId, u64), (u64, Name), RandomState>,
    /// Who holds each.
    holders: HashMap<u64, ContextId, RandomState>,
    /// The event before, if it was a request.
    before: Option<Request>,
    /// The last event of each core that can be why the scheduler chooses, if it was a request.
    last: PerCore<Option<Request>>,
    waiting: PerContext<Option<Request>>,
    /// Tasks that wait for mutexes, of which inversion is reckoned.
    blocked: Vec<ContextId>,
    urgency: Urgency,
    waited: Vec<Waited>,
    /// Waits that found no room in `waited`.
    more: u64,
    /// Waits that are kept one by one; 0 unless that is wanted.
    room: usize,
}

impl Requests {
    /// Keeps waits one by one, at most so many.
    pub(super) fn keep_each(&mut self, most: usize) {
        self.room = most;
    }

    /// A task recorded an event at this priority.
    pub(super) fn note_priority(&mut self, task: ContextId, priority: u16) {
        self.urgency.note(task, priority);
    }

    pub(super) fn take(&mut self, step: &Step, before: &Running<OnBehalf>, accounts: &Accounts) {
        if let Some(by) = step.recorded_by
            && let Some(Some(waiting)) = self.waiting.get(by)
        {
            self.goes_on(Some(by), waiting.is_mutex, step.ticks, accounts);
        }
        let request = request(step, accounts);
        let again = request.zip(self.before).is_some_and(|(now, before)| now.repeats(&before));
        self.before = request;
        if again || self.last.at(step.cpu).is_some_and(|last| last.outlasts(step)) {
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
            *self.last.at(step.cpu) = request;
        }
    }

    fn requested(&mut self, request: &Request) {
        self.each(request, |figures| figures.requests += 1);
        if let Some(name) = request.name() {
            self.resources.entry(name).or_default().0 = request.ticks;
        }
        if let Some(key) = request.key.filter(|_| request.is_mutex) {
            let name = (true, request.kind, key);
            self.held.entry((request.task, key)).or_insert((request.ticks, name));
            self.holders.entry(key).or_insert(request.task);
        }
    }

    fn unlocked(&mut self, step: &Step) {
        let (Some(task), Some(key)) = (step.subject, step.object) else { return };
        if self.holders.get(&key) == Some(&task) {
            self.holders.remove(&key);
        }
        if let Some((since, name)) = self.held.remove(&(task, key)) {
            let ticks = step.ticks.saturating_sub(since);
            self.mutexes.at(task).hold.add(ticks);
            self.resources.entry(name).or_default().1.hold.add(ticks);
        }
    }

    fn chosen(&mut self, step: &Step, before: &Running<OnBehalf>, accounts: &Accounts) {
        self.goes_on(step.next, true, step.ticks, accounts);
        self.goes_on(step.chosen(), false, step.ticks, accounts);
        let Some(request) = self.last.at(step.cpu).take() else { return };
        let answers = if request.is_mutex {
            step.subject == Some(request.task) && step.next != Some(request.task)
        } else {
            step.chosen() != Some(request.task)
        };
        if answers && before.task() == Some(request.task) {
            let mut request = self.owned(request, step, accounts);
            if request.is_mutex && self.blocked.len() < MAX_BLOCKED {
                request.inverted = self.urgency.inverted(request.task);
                self.blocked.push(request.task);
            }
            let inverts = request.is_mutex && self.urgency.inverts(request.task, request.owner);
            self.each(&request, |figures| {
                figures.blocks += 1;
                figures.inversions += u64::from(inverts);
            });
            *self.waiting.at(request.task) = Some(request);
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
            if mutex {
                self.blocked.retain(|waits| *waits != task);
            }
            self.ended(&request, ticks, accounts);
        }
    }

    fn ended(&mut self, request: &Request, now: u64, accounts: &Accounts) {
        let Request { task, key, is_mutex, .. } = *request;
        let ticks = now.saturating_sub(request.ticks);
        let mut spent = accounts.split(task, request.totals, ticks);
        if let (Some(owner), Some(before)) = (request.owner, request.owner_ran) {
            let owned = spent.interference.min(accounts.ran(owner).saturating_sub(before));
            spent.blocking += owned;
            spent.interference -= owned;
        }
        let by_priority = request.inverted.by_priority;
        self.each(request, |figures| {
            figures.wait.add(ticks);
            figures.spent.add(spent);
            by_priority
                .filter(|ticks| *ticks > 0)
                .into_iter()
                .for_each(|t| figures.inverted.add(t));
        });
        if let Some(key) = key.filter(|_| is_mutex) {
            self.held.insert((task, key), (now, (true, request.kind, key)));
            self.holders.insert(key, task);
        }
        if self.waited.len() >= self.room {
            self.more += u64::from(self.room > 0);
        } else {
            self.waited.push(Waited {
                context: task,
                key,
                is_mutex,
                kind: request.kind,
                owner: request.owner,
                from: request.ticks,
                until: now,
                spent: Some(spent),
                inverted: request.inverted.by_deadline,
                inverted_by_priority: by_priority,
            });
        }
    }

    /// Changes the figures of a task and of what it asked for.
    fn each(&mut self, request: &Request, mut change: impl FnMut(&mut Locks)) {
        if request.is_mutex {
            change(self.mutexes.at(request.task));
        } else {
            change(of_kind(self.others.at(request.task), request.kind));
        }
        if let Some(name) = request.name() {
            change(&mut self.resources.entry(name).or_default().1);
        }
    }

    /// So many ticks passed while this was going on; `deadline` says a task's, where it is known.
    pub(super) fn charge(
        &mut self,
        running: &Running<OnBehalf>,
        ticks: u64,
        deadline: impl Fn(ContextId) -> Option<u64>,
    ) {
        if self.blocked.is_empty() || running.in_interrupt() {
            return;
        }
        let Some(runs) = running.task() else { return };
        for task in &self.blocked {
            let Some(request) = self.waiting.at(*task).as_mut().filter(|asked| asked.is_mutex)
            else {
                continue;
            };
            let helps = request.owner == Some(runs) || running.now().of.get() == Some(*task);
            request.inverted.charge(*task, runs, helps, ticks, &self.urgency, &deadline);
        }
    }

    /// Events are missing: waits have no known end, and what was held may be given back.
    pub(super) fn gap(&mut self) {
        self.waiting.all().for_each(|request| *request = None);
        self.blocked.clear();
        self.held.clear();
        self.holders.clear();
        self.before = None;
        self.last.all().for_each(|last| *last = None);
    }

    /// A task's figures of mutexes, and of what else it waited for.
    pub(super) fn of(&mut self, task: ContextId) -> (Locks, Waits) {
        (*self.mutexes.at(task), std::mem::take(self.others.at(task)))
    }

    /// Returns true if events have priorities.
    pub(super) fn knows_priorities(&self) -> bool {
        self.urgency.is_known()
    }

    /// All that was asked for; each wait, and how many waits found no room.
    pub(super) fn finish(&mut self, cores: usize) -> (Vec<Resource>, Vec<Waited>, u64) {
        let resources = std::mem::take(&mut self.resources).into_iter();
        let resources = resources.map(|((is_mutex, kind, key), (last_ticks, figures))| Resource {
            key,
            is_mutex,
            kind,
            last_ticks,
            figures,
        });
        let mut waited = std::mem::take(&mut self.waited);
        if cores > 1 {
            for wait in &mut waited {
                (wait.spent, wait.inverted, wait.inverted_by_priority) = (None, None, None);
            }
        }
        (resources.collect(), waited, self.more)
    }
}

impl Request {
    fn name(&self) -> Option<Name> {
        Some((self.is_mutex, self.kind, self.key?))
    }
}

/// The figures of a type.
fn of_kind(waits: &mut Waits, kind: Option<u32>) -> &mut Locks {
    let index = waits.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
        waits.push((kind, Locks::default()));
        waits.len() - 1
    });
    &mut waits[index].1
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
        kind: step.object_kind,
        ticks,
        totals,
        owner: None,
        owner_ran: None,
        inverted: Inverted::default(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Choice;

    #[test]
    fn waits_beyond_the_room_for_them_are_counted() {
        let (waits, other) = (ContextId(0), ContextId(1));
        let mut requests = Requests::default();
        requests.keep_each(2);
        let accounts = Accounts::default();
        for ticks in 0..3 {
            let mut running = Running::default();
            running.choose(OnBehalf::of(waits.into()));
            let ask = Step { ticks, object: Some(7), ..Step::about(Meaning::Wait, waits) };
            requests.take(&ask, &running, &accounts);
            requests.take(&Step::about(Meaning::Schedule, other), &running, &accounts);
            running.choose(OnBehalf::of(other.into()));
            requests.take(&Step::about(Meaning::Schedule, waits), &running, &accounts);
        }
        let (resources, waited, more) = requests.finish(1);
        assert_eq!((waited.len(), more), (2, 1));
        assert_eq!(resources[0].figures.wait.count, 3);
    }
}
