//! Follows requests for mutexes and semaphores: waits, the parts of each wait, and holding times.
//!
//! A request is blocked if the scheduler then chooses another task. It is also blocked if the
//! scheduler chooses the requesting task, but another task runs on its behalf. The wait for a mutex
//! ends when the task next runs. The wait for a semaphore ends as soon as the scheduler chooses the
//! task. Some protocols record a request twice. So if two requests of a task for the same mutex
//! have no event between them, they count as one. A task holds a mutex from its request, or from
//! the end of its wait, until the same task unlocks the mutex (`mutexes`). The deletion of a task
//! ends its wait.
//!
//! If the scheduler does not record on whose behalf a task runs, execution of the mutex owner
//! counts as blocking, and execution of other tasks counts as interference.
//!
//! Some kernels record when a task blocks (`Blocks`). Before they block the task, they may change
//! the owner's priority and record a choice of the scheduler for this change. Such a choice does
//! not show whether the request is blocked. On several cores, the choice may not be a separate
//! event. So a wait ends at the latest when the task itself records an event.
//!
//! `inversions` measures priority inversion.

use super::accounts::Accounts;
use super::inversions::{Inverted, Urgency};
use super::kinds::is_cause;
use super::moments::{Moments, Position};
use super::mutexes::{Mutexes, releases};
use super::per::{PerContext, PerCore};
use super::requests::{Ask, Asked, Request};
use super::resources::{Locks, Resource, Resources};
use super::step::Step;
use super::subject::Subject;
use super::waited::{InvertedWaits, LongestWaits, Waited, WorstWaits};
use crate::analysis::measured::{Distributions, Measure};
use crate::analysis::total::Total;
use crate::model::{ContextId, Meaning, OnBehalf, Running};

/// Maximum number of simultaneous waits that are checked for inversion. Few tasks wait at the same
/// time, but damaged traces may have thousands of waits.
const MAX_BLOCKED: usize = 1024;

/// Requests of a task for objects other than mutexes, by type code. There are few types per task.
pub(super) type Waits = Vec<(Option<u32>, Locks)>;

/// The open requests, the held mutexes, and the figures per task and object.
#[derive(Clone, Debug, Default)]
pub(super) struct Requests {
    /// The figures of each task for mutexes, and for other objects.
    mutexes: PerContext<Locks>,
    others: PerContext<Waits>,
    resources: Resources,
    /// The tasks that hold mutexes.
    held: Mutexes,
    /// The task and the mutex of the previous event, if it was a request for a mutex.
    before: Option<(ContextId, Option<u64>)>,
    /// For each core, the latest request. It is removed at the next event that can make the
    /// scheduler choose another task.
    last: PerCore<Option<Asked>>,
    waiting: PerContext<Option<Request>>,
    /// Tasks that wait for mutexes and are checked for inversion.
    blocked: Vec<ContextId>,
    urgency: Urgency,
    waited: Vec<Waited>,
    longest: LongestWaits,
    /// Number of waits beyond those listed.
    more: u64,
    /// Maximum number of waits in the list, or 0 if a list is not wanted.
    room: usize,
    /// The worst waits, if they are listed instead of the first ones.
    worst: Option<WorstWaits>,
    /// The waits with priority inversion, if they are listed instead of the first waits.
    inverted: Option<InvertedWaits>,
    distributions: Distributions<Subject>,
    /// True if waiting and holding times are also collected for each pair of a task and an object.
    uses: bool,
}

impl Requests {
    /// Also collects waiting and holding times for each pair of a task and an object.
    pub(super) fn collect_uses(&mut self) {
        self.uses = true;
    }

    /// Lists the first `most` waits.
    pub(super) fn keep_each(&mut self, most: usize) {
        self.room = most;
    }

    /// Lists at most `most` of the waits with priority inversion; see
    /// [`Wanted::only_inverted`](super::Wanted::only_inverted).
    pub(super) fn keep_inverted(&mut self, most: usize) {
        self.inverted = Some(InvertedWaits::new(most));
    }

    /// Lists the worst waits; see [`Wanted::worst_waits`](super::Wanted::worst_waits).
    pub(super) fn keep_worst(&mut self, most: usize) {
        self.worst = Some(WorstWaits::new(most));
    }

    pub(super) fn distributions(&mut self) -> &mut Distributions<Subject> {
        &mut self.distributions
    }

    /// Begins a range: forgets the figures and keeps the open requests and the held mutexes.
    pub(super) fn restart(&mut self) {
        (self.mutexes, self.others) = Default::default();
        self.resources.restart();
        self.waited.clear();
        self.longest = LongestWaits::default();
        self.worst.iter_mut().for_each(WorstWaits::restart);
        self.inverted.iter_mut().for_each(InvertedWaits::restart);
        self.more = 0;
    }

    /// Stores the priority of a task.
    pub(super) fn note_priority(&mut self, task: ContextId, priority: u16) {
        self.urgency.note(task, priority);
    }

    /// Returns true if `priority` is the known priority of a task.
    #[inline(always)]
    pub(super) fn has_priority(&self, task: ContextId, priority: u16) -> bool {
        self.urgency.is(task, priority)
    }

    /// Returns true if a request of a task is blocked.
    #[inline(always)]
    pub(super) fn waits(&self, task: ContextId) -> bool {
        self.waiting.get(task).is_some_and(Option::is_some)
    }

    /// Handles an event other than a request, an unlock or a choice. The event's task is not
    /// waiting.
    #[inline(always)]
    pub(super) fn pass(&mut self, cpu: u16, is_cause: bool) {
        self.before = None;
        if is_cause && let Some(last) = self.last.get_mut(cpu) {
            *last = None;
        }
    }

    /// Handles an event other than a request, an unlock or a choice.
    pub(super) fn pass_step(
        &mut self,
        step: &Step,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        self.recorded(step, accounts, moments);
        self.pass(step.cpu, is_cause(step.meaning));
    }

    /// Ends the wait of a task that recorded an event. The task is running, so its wait has ended,
    /// even if no choice of the scheduler showed this.
    #[inline]
    fn recorded(&mut self, step: &Step, accounts: &Accounts, moments: &mut impl Moments) {
        if let Some(by) = step.recorded_by.filter(|by| self.waits(*by)) {
            self.end_wait(by, step, accounts, moments);
        }
    }

    /// Handles an event of any kind.
    pub(super) fn take(
        &mut self,
        step: &Step,
        before: &Running<OnBehalf>,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        self.recorded(step, accounts, moments);
        // A choice after a mere priority change does not show whether the open request is blocked.
        if self.last.at(step.cpu).as_ref().is_some_and(|last| last.outlasts(step)) {
            self.before = None;
            return;
        }
        let Some(request) = self.asked(step, accounts, moments) else { return };
        if let (Some(Meaning::Delete), Some(task)) = (step.meaning, step.subject) {
            self.deleted(task, Position::of(step), accounts, moments);
        }
        if step.chooses() {
            self.chosen(step, before, accounts, moments);
        }
        if is_cause(step.meaning) {
            *self.last.at(step.cpu) = request;
        }
    }

    /// Handles a choice of the scheduler. The event must not also be a request or an unlock.
    #[inline]
    pub(super) fn choose(
        &mut self,
        step: &Step,
        before: &Running<OnBehalf>,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        self.recorded(step, accounts, moments);
        self.before = None;
        // A choice after a mere priority change does not show whether the open request is blocked.
        if self.last.at(step.cpu).as_ref().is_some_and(|last| last.outlasts(step)) {
            return;
        }
        self.chosen(step, before, accounts, moments);
    }

    /// Handles a request of the running task. The event is not a choice. `uncharged` is the time
    /// for which the task has run since the previous charge.
    #[inline(always)]
    pub(super) fn ask(
        &mut self,
        ask: Ask,
        cpu: u16,
        uncharged: u64,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        if !self.repeats(ask) {
            let asked = self.requested(ask, accounts, moments);
            let last = self.last.at(cpu).insert(asked);
            last.totals.own.charge(uncharged);
        }
    }

    /// Handles an unlock by the running task, or a request by an unknown task. The event is not a
    /// choice.
    #[inline]
    pub(super) fn unlock(
        &mut self,
        unlocks: Option<(ContextId, u64)>,
        cpu: u16,
        at: Position,
        moments: &mut impl Moments,
    ) {
        self.before = None;
        if let Some((task, key)) = unlocks {
            self.unlocked(task, key, at, moments);
        }
        *self.last.at(cpu) = None;
    }

    /// Counts the request or the unlock that an event contains. Returns `None` if the event repeats
    /// a request. Otherwise, returns the request of the event, if there is one.
    fn asked(
        &mut self,
        step: &Step,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) -> Option<Option<Asked>> {
        if let Some(ask) = Ask::of(step) {
            return (!self.repeats(ask)).then(|| Some(self.requested(ask, accounts, moments)));
        }
        self.before = None;
        if let (Some(Meaning::Unlock), Some(task), Some(key)) =
            (step.meaning, step.subject, step.object)
            && releases(step.holds)
        {
            self.unlocked(task, key, Position::of(step), moments);
        }
        Some(None)
    }

    /// Returns true if a request has the same task and the same mutex as the request of the
    /// previous event. Stores the request, because the next event may repeat it.
    #[inline(always)]
    fn repeats(&mut self, ask: Ask) -> bool {
        let now = ask.is_mutex.then_some((ask.task, ask.key));
        let again = now.is_some() && self.before == now;
        self.before = now;
        again
    }

    /// Counts a request.
    #[inline(always)]
    fn requested(&mut self, ask: Ask, accounts: &Accounts, moments: &mut impl Moments) -> Asked {
        let Ask { task, key, is_mutex, kind, from, holds } = ask;
        let totals = accounts.totals(task);
        if is_mutex {
            self.mutexes.at(task).requests += 1;
        } else {
            of_kind(self.others.at(task), kind).requests += 1;
        }
        let resource = key.map(|key| self.resources.number((is_mutex, kind, key)));
        if let (Some(resource), Some(key)) = (resource, key) {
            let row = self.resources.at(resource);
            row.figures.requests += 1;
            row.last_ticks = from.ticks;
            if is_mutex {
                let is_held = holds.is_some_and(|holds| holds > 0);
                if self.held.requested(task, key, (!is_held).then_some((from, resource))) {
                    moments.locked(task, key, kind, from);
                }
            }
        }
        Asked { task, key, is_mutex, kind, from, totals, resource }
    }

    fn unlocked(&mut self, task: ContextId, key: u64, at: Position, moments: &mut impl Moments) {
        let on_cores = self.last.len() > 1;
        let Some(unlocked) = self.held.unlocked(task, key, at, on_cores) else { return };
        let row = self.resources.at(unlocked.resource);
        let Some(since) = unlocked.since else {
            moments.holder_unknown(key, row.kind(), at);
            return;
        };
        let ticks = at.ticks.saturating_sub(since.ticks);
        self.mutexes.at(task).hold.add(ticks);
        row.figures.hold.add(ticks);
        let subject = row.subject();
        self.distributions.add_at(&mut row.holds, Measure::Hold, subject, ticks, at);
        if self.uses {
            self.distributions.add(Measure::Hold, row.subject_of(task), ticks, at);
        }
        moments.unlocked(task, key, row.kind(), at);
        if let Some(next) = unlocked.next {
            moments.locked(next, key, row.kind(), at);
        }
    }

    /// Handles the deletion of a task. A later task with the same context neither waits nor holds a
    /// mutex.
    fn deleted(
        &mut self,
        task: ContextId,
        at: Position,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        if self.waits(task) {
            self.stop_wait(task, at, accounts, moments);
        }
        self.last.all().for_each(|last| _ = last.take_if(|last| last.task == task));
        self.held.deleted(task);
        moments.deleted(task, at);
    }

    /// Handles a choice of the scheduler. Afterwards, no request of this core is open.
    #[inline]
    fn chosen(
        &mut self,
        step: &Step,
        before: &Running<OnBehalf>,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        if step.next == step.chosen() {
            // The wait of this task has ended, whatever it waited for.
            if let Some(task) = step.next.filter(|task| self.waits(*task)) {
                self.end_wait(task, step, accounts, moments);
            }
        } else {
            self.continues(step.next, true, step, accounts, moments);
            self.continues(step.chosen(), false, step, accounts, moments);
        }
        let last = self.last.at(step.cpu);
        let Some(request) = last else { return };
        // A mutex request is blocked if the scheduler chose the requesting task, but another task
        // runs on its behalf. A semaphore request is blocked if the scheduler chose another task.
        let answers = if request.is_mutex {
            step.subject == Some(request.task) && step.next != Some(request.task)
        } else {
            step.chosen() != Some(request.task)
        };
        if !answers || before.task() != Some(request.task) {
            *last = None;
        } else if let Some(asked) = last.take() {
            self.begin_wait(asked, step, accounts, moments);
        }
    }

    /// Handles a request that is blocked.
    fn begin_wait(
        &mut self,
        asked: Asked,
        step: &Step,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        let mut request = self.owned(asked, step, accounts);
        if asked.is_mutex && self.blocked.len() < MAX_BLOCKED {
            request.inverted = self.urgency.inverted(asked.task);
            self.blocked.push(asked.task);
        }
        let inverts = asked.is_mutex && self.urgency.inverts(asked.task, request.owner);
        request.inverts = inverts;
        self.each(&asked, |figures| {
            figures.blocks += 1;
            figures.inversions += u64::from(inverts);
        });
        if let (true, Some(key)) = (asked.is_mutex, asked.key) {
            self.held.waits(asked.task, key);
        }
        moments.wait_began(&request.wait());
        *self.waiting.at(asked.task) = Some(request);
    }

    /// Returns the request as a blocked request, with the owner of the requested object.
    fn owned(&mut self, asked: Asked, step: &Step, accounts: &Accounts) -> Request {
        let inverted = Inverted::default();
        let request = Request { asked, owner: None, owner_ran: None, inverted, inverts: false };
        if !asked.is_mutex {
            return request;
        }
        // A `Schedule` event names the task that runs on behalf of the waiting task: the owner, or
        // a task for which the owner itself waits.
        if step.meaning == Some(Meaning::Schedule) {
            return Request { owner: step.next, ..request };
        }
        let holder = asked.key.and_then(|key| self.held.holder(key));
        let owner = holder.filter(|holder| *holder != asked.task);
        Request { owner, owner_ran: owner.map(|owner| accounts.ran(owner)), ..request }
    }

    /// Ends the wait of a task that continues: a wait for a mutex if `mutex` is true, otherwise a
    /// wait for another object.
    #[inline]
    fn continues(
        &mut self,
        task: Option<ContextId>,
        mutex: bool,
        step: &Step,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        let Some(task) = task else { return };
        if let Some(Some(request)) = self.waiting.get(task)
            && request.asked.is_mutex == mutex
        {
            self.end_wait(task, step, accounts, moments);
        }
    }

    /// Ends the wait of a task that continues.
    fn end_wait(
        &mut self,
        task: ContextId,
        step: &Step,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) {
        let at = Position::of(step);
        let Some(asked) = self.stop_wait(task, at, accounts, moments) else { return };
        let Asked { key, kind, is_mutex, resource, .. } = asked;
        if let (true, Some(key), Some(resource)) = (is_mutex, key, resource)
            && self.held.got(task, key, at, resource)
        {
            moments.locked(task, key, kind, at);
        }
    }

    /// Ends the wait of a task. Returns its request, if it waits.
    fn stop_wait(
        &mut self,
        task: ContextId,
        at: Position,
        accounts: &Accounts,
        moments: &mut impl Moments,
    ) -> Option<Asked> {
        let request = self.waiting.at(task).take()?;
        if request.asked.is_mutex {
            self.blocked.retain(|waits| *waits != task);
        }
        self.ended(&request, at, accounts);
        moments.wait_ended(&request.wait(), at);
        Some(request.asked)
    }

    fn ended(&mut self, request: &Request, at: Position, accounts: &Accounts) {
        let now = at.ticks;
        let Asked { task, key, is_mutex, kind, from, totals, resource } = request.asked;
        let ticks = now.saturating_sub(from.ticks);
        let mut spent = accounts.split(task, totals, ticks);
        // Here the trace does not show on whose behalf a task runs, so the accounts counted the
        // owner's execution as interference.
        if let (Some(owner), Some(before)) = (request.owner, request.owner_ran) {
            let owned = spent.interference.min(accounts.ran(owner).saturating_sub(before));
            spent.blocking.charge(owned);
            spent.interference -= owned;
        }
        let by_priority = request.inverted.by_priority;
        self.each(&request.asked, |figures| {
            figures.wait.add(ticks);
            figures.spent.add(spent);
            if request.inverts {
                figures.add_inversion(ticks, at);
            }
            by_priority
                .filter(|ticks| *ticks > 0)
                .into_iter()
                .for_each(|t| figures.inverted.add(t));
        });
        if let Some(resource) = resource {
            let row = self.resources.at(resource);
            let subject = row.subject();
            self.distributions.add_at(&mut row.waits, Measure::Wait, subject, ticks, at);
            if self.uses {
                self.distributions.add(Measure::Wait, row.subject_of(task), ticks, at);
            }
        }
        if is_mutex {
            let task = Subject::Task(task);
            self.distributions.add(Measure::MutexWait, task, ticks, at);
            self.distributions.add(Measure::Blocking, task, spent.blocking, at);
        }
        let waited = Waited {
            context: task,
            key,
            is_mutex,
            kind,
            owner: request.owner,
            event: from.seq,
            from: from.ticks,
            until: now,
            spent: Some(spent),
            inverted: request.inverted.by_deadline,
            inverted_by_priority: by_priority,
        };
        self.longest.offer(&waited);
        if let Some(worst) = &mut self.worst {
            worst.offer(waited);
            return;
        }
        if let Some(inverted) = &mut self.inverted {
            inverted.offer(waited);
        } else if self.waited.len() < self.room {
            self.waited.push(waited);
        } else {
            self.more += u64::from(self.room > 0);
        }
    }

    /// Updates the figures of a task and of the requested object.
    fn each(&mut self, request: &Asked, mut change: impl FnMut(&mut Locks)) {
        if request.is_mutex {
            change(self.mutexes.at(request.task));
        } else {
            change(of_kind(self.others.at(request.task), request.kind));
        }
        if let Some(resource) = request.resource {
            change(&mut self.resources.at(resource).figures);
        }
    }

    /// Returns true if tasks wait for mutexes.
    #[inline]
    pub(super) fn has_blocked(&self) -> bool {
        !self.blocked.is_empty()
    }

    /// Charges priority inversion to the tasks that wait for mutexes. The context `running` ran for
    /// `ticks` ticks. `deadline` returns the absolute deadline of a task if it is known.
    pub(super) fn charge(
        &mut self,
        running: &Running<OnBehalf>,
        ticks: u64,
        deadline: impl Fn(ContextId) -> Option<u64>,
        moments: &mut impl Moments,
    ) {
        if running.in_interrupt() {
            return;
        }
        let Some(runs) = running.task() else { return };
        for task in &self.blocked {
            let Some(request) =
                self.waiting.at(*task).as_mut().filter(|request| request.asked.is_mutex)
            else {
                continue;
            };
            // Time does not count as inversion while the owner runs, or while another task runs on
            // behalf of the waiting task.
            let helps = request.owner == Some(runs) || running.now().of.get() == Some(*task);
            let before = request.inverted;
            request.inverted.charge(*task, runs, helps, ticks, &self.urgency, &deadline);
            if request.inverted.ticks() > before.ticks() {
                moments.inverted(*task, runs, ticks);
            }
        }
    }

    /// Handles missing events. After the gap, the ends of waits are unknown, and held mutexes may
    /// have been released.
    pub(super) fn gap(&mut self) {
        self.waiting.all().for_each(|request| *request = None);
        self.blocked.clear();
        self.held.gap();
        self.before = None;
        self.last.all().for_each(|last| *last = None);
    }

    /// Returns a task's figures for mutexes and for other objects.
    pub(super) fn of(&mut self, task: ContextId) -> (Locks, Waits) {
        (*self.mutexes.at(task), std::mem::take(self.others.at(task)))
    }

    /// Returns true if events have priorities.
    pub(super) fn knows_priorities(&self) -> bool {
        self.urgency.is_known()
    }

    /// Returns the longest waits for mutexes, longest first.
    pub(super) fn longest(&mut self, cores: usize) -> Vec<Waited> {
        self.longest.finish(cores)
    }

    /// Returns all requested objects, the listed waits, and the number of further waits.
    pub(super) fn finish(&mut self, cores: usize) -> (Vec<Resource>, Vec<Waited>, u64) {
        let mut waited = std::mem::take(&mut self.waited);
        if let Some(worst) = &mut self.worst {
            (waited, self.more) = worst.finish();
        } else if let Some(inverted) = &mut self.inverted {
            (waited, self.more) = inverted.finish();
        }
        if cores > 1 {
            waited.iter_mut().for_each(Waited::forget_parts);
        }
        (self.resources.finish(), waited, self.more)
    }
}

/// Returns the figures for one type of object.
#[inline]
fn of_kind(waits: &mut Waits, kind: Option<u32>) -> &mut Locks {
    let index = waits.iter().position(|(known, _)| *known == kind).unwrap_or_else(|| {
        waits.push((kind, Locks::default()));
        waits.len() - 1
    });
    &mut waits[index].1
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
            requests.take(&ask, &running, &accounts, &mut ());
            let choice = Step::about(Meaning::Schedule, other);
            requests.take(&choice, &running, &accounts, &mut ());
            running.choose(OnBehalf::of(other.into()));
            let choice = Step::about(Meaning::Schedule, waits);
            requests.take(&choice, &running, &accounts, &mut ());
        }
        let (resources, waited, more) = requests.finish(1);
        assert_eq!((waited.len(), more), (2, 1));
        assert_eq!(resources[0].figures.wait.count, 3);
    }

    /// Returns the requests of a task after two waits. In each wait, the middle task runs for 11
    /// ticks, and then the owner for 7.
    fn after_two_waits() -> Requests {
        let [task, middle, owner] = [0, 1, 2].map(ContextId);
        let running = |task: ContextId| {
            let mut running = Running::default();
            running.choose(OnBehalf::of(task.into()));
            running
        };
        let mut requests = Requests::default();
        requests.keep_each(2);
        for (task, priority) in [(task, 5), (middle, 10), (owner, 20)] {
            requests.note_priority(task, priority);
        }
        let accounts = Accounts::default();
        for _ in 0..2 {
            let ask = Step { object: Some(7), ..Step::about(Meaning::Lock, task) };
            requests.take(&ask, &running(task), &accounts, &mut ());
            assert!(!requests.has_blocked());
            let choice = Step { next: Some(owner), ..Step::about(Meaning::Schedule, task) };
            requests.take(&choice, &running(task), &accounts, &mut ());
            assert!(requests.has_blocked() && requests.waits(task));
            requests.charge(&running(middle), 11, |_| None, &mut ());
            requests.charge(&running(owner), 7, |_| None, &mut ());
            let choice = Step::about(Meaning::Schedule, task);
            requests.take(&choice, &running(owner), &accounts, &mut ());
            assert!(!requests.has_blocked() && !requests.waits(task));
            let unlock = Step { object: Some(7), ..Step::about(Meaning::Unlock, task) };
            requests.take(&unlock, &running(task), &accounts, &mut ());
        }
        requests
    }

    /// The inversion of a wait does not depend on earlier waits. It is known only on one core.
    #[test]
    fn each_wait_has_its_own_inversion() {
        for (cores, inverted) in [(1, Some(11)), (2, None)] {
            let mut requests = after_two_waits();
            let longest = requests.longest(cores);
            let (_, waited, _) = requests.finish(cores);
            for waits in [longest, waited] {
                let found: Vec<_> = waits.iter().map(|wait| wait.inverted_by_priority).collect();
                assert_eq!(found, [inverted; 2], "{cores} cores");
            }
        }
    }

    #[test]
    fn nothing_is_requested_or_held_after_a_gap() {
        let [task, other] = [0, 1].map(ContextId);
        let mut running = Running::default();
        running.choose(OnBehalf::of(task.into()));
        let accounts = Accounts::default();
        let ask = |key| Step { object: Some(key), ..Step::about(Meaning::Lock, task) };
        let unlock = |key| Step { seq: 1, object: Some(key), ..Step::about(Meaning::Unlock, task) };
        let blocks = Step { next: Some(other), ..Step::about(Meaning::Schedule, task) };
        let after_gap = |before: &[Step], after: &[Step]| {
            let mut requests = Requests::default();
            for step in before {
                requests.take(step, &running, &accounts, &mut ());
            }
            requests.gap();
            for step in after {
                requests.take(step, &running, &accounts, &mut ());
            }
            (requests.has_blocked(), requests.mutexes.at(task).hold.count, requests.of(task).0)
        };
        let (is_blocked, _, locks) = after_gap(&[ask(7), blocks], &[]);
        assert_eq!((is_blocked, locks.blocks), (false, 1));
        // The choice does not belong to the request, because events between them are missing.
        let (is_blocked, _, locks) = after_gap(&[ask(7)], &[blocks]);
        assert_eq!((is_blocked, locks.blocks), (false, 0));
        // The same request again is a new one.
        assert_eq!(after_gap(&[ask(7)], &[ask(7)]).2.requests, 2);
        assert_eq!(after_gap(&[ask(7)], &[unlock(7)]).1, 0);
        assert_eq!(after_gap(&[], &[ask(7), unlock(7)]).1, 1);
    }
}
