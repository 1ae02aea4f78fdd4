import { ProblemError } from '../../packages/client/src/errors.js';
import { Sluice } from '../../packages/client/src/client.js';
import type {
  AgentRequest,
  AskedApproval,
  GivenStanding,
  ListAuditQuery,
  ListDeadLettersQuery,
  ListRunsQuery,
  ListToolsQuery,
} from '../../packages/client/src/generated/api.js';
import type { RunRef } from '../../packages/client/src/runs.js';
import type { ClientSettings, Driver, Outcome } from './driver.js';

interface Args {
  readonly request: AgentRequest;
  readonly run: RunRef;
  readonly key?: string;
  readonly timeout_ms?: number;
  readonly wait_seconds?: number;
  readonly reason?: string;
  readonly arguments?: Readonly<Record<string, unknown>>;
  readonly leave?: string;
  readonly take?: number;
  readonly query?: object;
  readonly session_id: string;
  readonly approval: AskedApproval;
  readonly approvals: readonly AskedApproval[];
  /** What is given, without its end. */
  readonly standing: object;
  readonly decision: 'approve' | 'refuse';
  readonly name: string;
  readonly question: string;
  readonly id: string;
  readonly hash: string;
  /** Its bytes in base64. */
  readonly file: string;
}

type Operation = (sluice: Sluice, args: Args) => Promise<unknown>;

const operations: Readonly<Record<string, Operation>> = {
  create_run: (sluice, { request, key }) =>
    sluice.runs.create(request, key === undefined ? {} : { idempotencyKey: key }),
  ask_run: (sluice, { request }) => sluice.runs.ask(request),
  upload: (sluice, { file, name }) =>
    sluice.runs.upload(new Uint8Array(Buffer.from(file, 'base64')), name === undefined ? {} : { name }),
  list_content: (sluice, { id }) => sluice.runs.listContent(id),
  read_content: async (sluice, { id, hash }) =>
    Buffer.from(await (await sluice.runs.content(id, hash)).arrayBuffer()).toString('base64'),
  get_run: (sluice, { run }) => sluice.runs.get(run),
  wait_run: (sluice, { run, timeout_ms: timeoutMs }) =>
    sluice.runs.wait(run, timeoutMs === undefined ? {} : { timeoutMs }),
  cancel_run: (sluice, { run, reason, timeout_ms: timeoutMs }) =>
    sluice.runs.cancel(run, {
      ...(reason === undefined ? {} : { reason }),
      ...(timeoutMs === undefined ? {} : { timeoutMs }),
    }),
  stream_run: (sluice, { request, leave }) => upTo(sluice.runs.stream(request), leave),
  follow_run: (sluice, { run }) => upTo(sluice.runs.follow(run), undefined),
  list_runs: (sluice, { query, take }) => sluice.runs.list(query as ListRunsQuery).take(take),
  list_pages: async (sluice, { query }) => {
    const pages: unknown[] = [];
    for await (const { items } of sluice.runs.list(query as ListRunsQuery).pages()) pages.push(items);
    return pages;
  },
  list_sessions: (sluice, { take }) => sluice.sessions.list().take(take),
  list_steps: (sluice, { session_id: id }) => sluice.sessions.steps(id),
  list_approvals: (sluice) => sluice.approvals.list().take(),
  get_approval: (sluice, { id }) => sluice.approvals.get(id),
  stream_approvals: async (sluice, { session_id: id }) => {
    const signal = AbortSignal.timeout(60_000);
    for await (const waiting of sluice.approvals.stream({ signal }))
      if (waiting.approval.session_id === id) return waiting;
    return null;
  },
  decide: (sluice, { approval, decision, reason, arguments: args, wait_seconds: waitSeconds }) =>
    sluice.approvals.decide(approval, decision, {
      ...(reason === undefined ? {} : { reason }),
      ...(args === undefined ? {} : { arguments: args }),
      ...(waitSeconds === undefined ? {} : { waitSeconds }),
    }),
  decide_all: (sluice, { approvals, decision }) =>
    sluice.approvals.decideAll({ decisions: approvals.map((one) => ({ ...one, decision })) }),
  give_standing: (sluice, { standing }) =>
    sluice.approvals.giveStanding({ ...standing, until: Date.now() + 3_600_000 } as GivenStanding),
  list_standing: async (sluice, { session_id: id }) => {
    const { standing_approvals: all } = await sluice.approvals.standing();
    return all.filter(({ session_id: session }) => session === id);
  },
  revoke_standing: (sluice, { id, reason = '' }) => sluice.approvals.revokeStanding(id, { reason }),
  list_groups: (sluice) => sluice.groups.list(),
  get_group: (sluice, { name }) => sluice.groups.get(name),
  recommend_groups: (sluice, { question }) => sluice.groups.recommend(question),
  get_specification: (sluice, { hash }) => sluice.tools.specification(hash),
  list_states: (sluice) => sluice.states.list(),
  state_diagram: (sluice) => sluice.states.diagram(),
  list_tools: (sluice, { query }) => sluice.tools.list(query as ListToolsQuery),
  list_audit: (sluice, { query, take }) => sluice.audit.list(query as ListAuditQuery).take(take),
  audit_csv: (sluice, { query }) => sluice.audit.csv(query as ListAuditQuery),
  list_dead_letters: (sluice, { query }) => sluice.deadLetters.list(query as ListDeadLettersQuery).take(),
  get_dead_letter: (sluice, { id }) => sluice.deadLetters.get(id),
  redrive: (sluice, { id }) => sluice.deadLetters.redrive(id),
  try_toolset: (sluice, { request }) => sluice.tools.tryToolset(request),
};

export const typescript: Driver = {
  async call(
    { url, token, retries, longest_retry_after_ms: longest }: ClientSettings,
    operation,
    args,
  ): Promise<Outcome> {
    const sluice = new Sluice({
      url,
      ...(token === null ? {} : { token: () => Promise.resolve(token) }),
      ...(retries === undefined ? {} : { retries }),
      ...(longest === undefined ? {} : { longestRetryAfterMs: longest }),
    });
    const act = operations[operation];
    if (act === undefined) throw new Error(`There is no operation ${operation}.`);
    try {
      return { result: await act(sluice, args as unknown as Args) };
    } catch (error) {
      if (!(error instanceof Error)) throw error;
      const { name, message } = error;
      const location = 'location' in error ? { location: error.location } : {};
      if (!(error instanceof ProblemError)) return { error: { name, message, ...location } };
      const { status, code, retryAfterMs } = error;
      return { error: { name, message, status, code, retry_after_ms: retryAfterMs } };
    }
  },
  close: () => Promise.resolve(),
};

async function upTo(events: AsyncIterable<{ readonly type: string }>, last: string | undefined): Promise<unknown> {
  const seen: unknown[] = [];
  for await (const event of events) {
    seen.push(event);
    if (event.type === last) break;
  }
  return seen;
}
