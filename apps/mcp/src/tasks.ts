import { setTimeout as delay } from 'node:timers/promises';
import { noticeOf, topics } from '@sluice/contracts';
import type { Incoming } from '@sluice/bus';
import type { Runtime } from '@sluice/host';
import { CallerForms, cancelRun } from '@sluice/run';
import type { CallerForm } from '@sluice/run';
import { cancelledText, endOfRun, endOfStep, servedTask } from '@sluice/mcp';
import type { ServedTask, TaskEnd, TaskState } from '@sluice/mcp';
import { mayDecideOn } from './approvals.js';
import { attempt, keyInUse } from './call-texts.js';
import type { Caller } from './callers.js';
import type { CallsService } from './calls.service.js';
import type { CallOutcome } from './follow-call.js';
import { noForms } from './forms.js';
import { TaskRecords } from './task-records.js';
import type { TaskRecord } from './task-records.js';

/** Tasks that are followed in this process, at most; the one that was asked for least recently is left first. */
const mostFollowed = 250;
/** How long a look at the log waits behind one that was cut short, in milliseconds. */
const againMs = 1_000;

/** Who looks at a task. */
export interface Viewer {
  readonly caller: Caller;
  /** Whether its client shows forms. */
  readonly hasForms: boolean;
}

type Waiting = Extract<CallOutcome, { kind: 'waiting' }>;

/** A task that is followed here. */
interface FollowedTask {
  readonly stopping: AbortController;
  /** Resolves once all is known that the log has by now. */
  readonly isCurrent: Promise<unknown>;
  /** The approval that its call waits for; null where a decision that was made here is on its way. */
  approval: Waiting | null;
  /** The same, also while a decision is on its way, which may not count. */
  asked: Waiting | null;
  /** What the tool’s server said last. */
  message: string;
  at: number;
  end: TaskEnd | null;
}

/**
 * Calls of clients as tasks (revision 2025-11-25). A task is the run of its call: how it stands is read from the log,
 * at whichever replica it is asked for, and each follows the tasks that it is asked about, so that asking again costs
 * little.
 */
export class Tasks {
  readonly records: TaskRecords;
  private readonly followed = new Map<string, FollowedTask>();

  constructor(
    private readonly runtime: Runtime,
    private readonly calls: CallsService,
  ) {
    this.records = new TaskRecords(runtime);
  }

  /** The task as its viewer reads it. */
  async view(task: TaskRecord, viewer: Viewer): Promise<ServedTask> {
    const { end, approval, message, at } = await this.current(task, viewer.caller);
    if (end !== null) return servedTask(task, end, false);
    if (approval !== null) {
      const status = this.mayDecide(approval, viewer) ? 'input_required' : 'working';
      return servedTask(task, { status, message: approvalText(approval.requested), at }, true);
    }
    const form = await this.formOf(task, viewer);
    if (form !== null) {
      const asks = `The MCP server ${form.server} asks something.`;
      return servedTask(task, { status: 'input_required', message: asks, at }, true);
    }
    return servedTask(task, { status: 'working', message, at }, false);
  }

  /** Follows a task that begins here, whose client hears each change through `say`. */
  watch(task: TaskRecord, viewer: Viewer, say: (task: ServedTask) => Promise<void>): void {
    let said: TaskState['status'] = 'working';
    let before = Promise.resolve();
    const look = (): void => {
      before = before
        .then(async () => {
          const kept = await this.records.find(task.id, viewer.caller.principal);
          const now = await this.view(kept ?? task, viewer);
          if (now.status === said) return;
          said = now.status;
          await say(now);
        })
        .catch(() => undefined);
    };
    this.follow(task, viewer.caller, look);
  }

  /** What the viewer is asked on the way of the task: to decide on its approval, or to fill in a form. */
  async question(task: TaskRecord, viewer: Viewer): Promise<Waiting | Extract<CallOutcome, { kind: 'form' }> | null> {
    const { end, approval } = await this.current(task, viewer.caller);
    if (end !== null) return null;
    if (approval !== null) return this.mayDecide(approval, viewer) ? approval : null;
    const form = await this.formOf(task, viewer);
    return form === null ? null : { kind: 'form', form };
  }

  /** A decision was made here: the person is not asked again before it is known whether it counts. */
  decided({ id }: TaskRecord): void {
    const followed = this.followed.get(id);
    if (followed !== undefined) followed.approval = null;
  }

  /** Its form was answered here: a call that is parked for it goes on. */
  async answered({ id }: TaskRecord, caller: Caller): Promise<void> {
    const asked = this.followed.get(id)?.asked ?? null;
    if (asked !== null && asked.requested.question !== null) await this.calls.deciding(caller, () => null)(asked);
  }

  /** Ends the task, and what runs of it; false where it had ended before. */
  async cancel(task: TaskRecord, caller: Caller): Promise<boolean> {
    const { end } = await this.current(task, caller);
    if (end !== null) return false;
    const { clock } = this.runtime;
    await cancelRun(task.requestId, caller.principal, '', this.runtime);
    const cancelled: TaskEnd = { status: 'cancelled', message: cancelledText, at: clock.now() };
    const counts = await this.records.end(task, caller.principal, cancelled);
    const followed = this.followed.get(task.id);
    if (followed !== undefined) followed.end = counts;
    return counts.status === 'cancelled';
  }

  /** What is known of the task now. Throws an error of the protocol where this process cannot look now. */
  private async current(
    task: TaskRecord,
    caller: Caller,
  ): Promise<Pick<FollowedTask, 'end' | 'approval' | 'message' | 'at'>> {
    if (task.ended !== null) return { end: task.ended, approval: null, message: '', at: task.ended.at };
    const followed = this.followed.get(task.id) ?? this.follow(task, caller, () => undefined);
    // The one that was asked for last goes last.
    if (this.followed.delete(task.id)) this.followed.set(task.id, followed);
    await attempt(() => followed.isCurrent);
    return followed;
  }

  private follow(task: TaskRecord, caller: Caller, onChange: () => void): FollowedTask {
    const { clock } = this.runtime;
    const { promise: isCurrent, resolve, reject } = Promise.withResolvers<null>();
    isCurrent.catch(() => undefined);
    const stopping = new AbortController();
    const followed: FollowedTask = {
      ...{ stopping, isCurrent, approval: null, asked: null, message: '', at: task.createdAt, end: null },
    };
    const [oldest] = this.followed;
    if (this.followed.size >= mostFollowed && oldest !== undefined) {
      this.followed.delete(oldest[0]);
      oldest[1].stopping.abort();
    }
    this.followed.set(task.id, followed);
    const note = (message: Incoming): void => {
      if (!noteIn(followed, message)) return;
      followed.at = clock.now();
      onChange();
    };
    const forget = (): void => {
      if (this.followed.get(task.id) === followed) this.followed.delete(task.id);
    };
    void this.toItsEnd(task, caller, stopping.signal, { note, onLive: () => resolve(null), onForm: onChange })
      .then(async (end) => {
        if (end !== null) {
          followed.end = await this.records.end(task, caller.principal, end);
          onChange();
        }
        forget();
        resolve(null);
      })
      .catch((error: unknown) => {
        forget();
        reject(error instanceof Error ? error : new Error(String(error)));
      });
    return followed;
  }

  /** How the task’s call ends; null where it is followed no further. */
  private async toItsEnd(
    task: TaskRecord,
    caller: Caller,
    signal: AbortSignal,
    hears: { note(message: Incoming): void; onLive(): void; onForm(): void },
  ): Promise<TaskEnd | null> {
    const { clock } = this.runtime;
    for (;;) {
      const outcome = await this.calls.follow(caller, task, {
        signal,
        onLive: () => undefined,
        onRecord: (message) => hears.note(message),
        // A task waits for its decision as long as that may come.
        decide: () => Promise.resolve(true),
        formToShow: async () => {
          // Its client shows the form when it asks for the result.
          const without = task.hasForms ? null : noForms;
          const form = await this.calls.formToShow(caller, task.requestId, { without, of: () => null });
          hears.onLive();
          if (form !== null) hears.onForm();
          return null;
        },
      });
      const end = endOf(outcome, clock.now());
      if (end !== 'again') return end;
      await delay(againMs, undefined, { signal, ref: false }).catch(() => undefined);
      if (signal.aborted) return null;
    }
  }

  private mayDecide({ requested }: Waiting, { caller, hasForms }: Viewer): boolean {
    const { configurations, clock } = this.runtime;
    const { policy } = configurations.current().configuration;
    return hasForms && mayDecideOn(requested, caller, policy, clock.now());
  }

  /** What the task’s server wants to know of the viewer; null where it asks nothing. */
  private async formOf({ requestId }: TaskRecord, { caller, hasForms }: Viewer): Promise<CallerForm | null> {
    if (!hasForms) return null;
    return new CallerForms(this.runtime).waiting({ requestId, tenant: caller.principal.tenantId });
  }
}

/** Notes what a record says of how the task stands; whether that is news. */
function noteIn(followed: FollowedTask, message: Incoming): boolean {
  if (message.topic === topics.approvals) {
    const { requested, outcome } = message.record;
    const { partition, offset } = message;
    if (requested !== null)
      followed.asked = { kind: 'waiting', requested, place: { partition, offset }, notTaken: null };
    else if (outcome === null) return false;
    else if (outcome.notTaken === null) followed.asked = null;
    // What waits for an answer of its caller shows its form, and no approval.
    followed.approval = followed.asked?.requested.question === null ? followed.asked : null;
    return true;
  }
  const notice = message.topic === topics.progress ? noticeOf(message.record) : null;
  if (notice?.kind !== 'progress' || notice.message === '') return false;
  followed.message = notice.message;
  return true;
}

/** How the task ended, by what its call came to; null where that says nothing, `again` where the log is asked again. */
function endOf(outcome: CallOutcome, now: number): TaskEnd | 'again' | null {
  switch (outcome.kind) {
    case 'step':
      return endOfStep(outcome.step, now);
    case 'ended':
      return endOfRun(outcome.error, now);
    case 'not_theirs':
      return { status: 'failed', message: keyInUse, at: now };
    case 'cut':
      return outcome.why === 'slow' ? 'again' : null;
    case 'waiting':
    case 'form':
    case 'goes_on':
      return 'again';
  }
}

function approvalText({ approvalId, expiresAt }: Waiting['requested']): string {
  return `It waits for an approval (${approvalId}, until ${new Date(expiresAt).toISOString()}), and goes on by itself after the decision.`;
}
