import type { Clock } from '@sluice/core';
import { handledTopics, topicEntry, topics } from '@sluice/contracts';
import type { Topic } from '@sluice/contracts';
import { chainOf, decodeHead, sourceTopics } from '@sluice/audit';
import type { HandlerContext, Incoming, Outgoing } from '@sluice/bus';
import { authenticatorOf, openVerifier } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { AgentService } from '../../apps/agent/src/agent.service.js';
import { AuditService } from '../../apps/audit/src/audit.service.js';
import { defaultPace } from '../../apps/audit/src/pace.js';
import { Unsealed } from '../../apps/audit/src/unsealed.js';
import { ApprovalsService } from '../../apps/executor/src/approvals/approvals.service.js';
import { ExecutorService } from '../../apps/executor/src/executor.service.js';
import type { McpServers } from '../../apps/executor/src/mcp-servers.js';
import { Toolbox } from '../../apps/executor/src/toolbox.js';
import { FilterService } from '../../apps/filter/src/filter.service.js';
import { seedModel } from './runs.js';

/** What a group has of a topic: how far it is, and what the topic carries for it. */
interface Standing {
  readonly group: string;
  readonly topic: Topic;
  readonly carried: string;
}

/** The services that runs go through, without consumers: they are handed records, and hand back what follows. */
export class Services {
  private readonly filter: FilterService;
  private readonly agent: AgentService;
  private readonly toolbox: Toolbox;
  private readonly executor: ExecutorService;
  private readonly approvals: ApprovalsService;
  private readonly unsealed: Unsealed;
  private readonly audit: AuditService;
  private readonly carried = new Map<string, string>();

  constructor(
    private readonly runtime: Runtime & { readonly clock: Clock },
    servers: McpServers,
  ) {
    const models = { get: () => Promise.resolve(seedModel) };
    const authenticator = authenticatorOf(runtime);
    this.filter = new FilterService(runtime, authenticator);
    this.agent = new AgentService(runtime, models);
    this.toolbox = new Toolbox(runtime, servers, models);
    this.executor = new ExecutorService(runtime, this.toolbox);
    this.approvals = new ApprovalsService(runtime, this.executor, authenticator);
    this.unsealed = new Unsealed(runtime, defaultPace);
    const signatures = openVerifier(runtime.environment, runtime.signatures);
    this.audit = new AuditService(runtime, this.unsealed, defaultPace, { signatures, clock: runtime.clock });
  }

  start(): Promise<void> {
    return this.toolbox.prepare(this.runtime.configurations.current().configuration);
  }

  /** Hands each record to the service that handles it, side by side; returns what follows, in order. */
  async handle(messages: readonly Incoming[]): Promise<readonly Outgoing[]> {
    const outputs = await Promise.all(
      messages.map((message) => withContext('', (context) => this.one(message, context))),
    );
    return outputs.flatMap(({ result }) => result);
  }

  /** The audit's entries of them: those of a topic one after another, since each is chained to the one before. */
  async entriesOf(messages: readonly Incoming[]): Promise<readonly Outgoing[]> {
    const byChain = Map.groupBy(messages, chainOf);
    const entries = await Promise.all([...byChain].map(([chain, those]) => this.entriesInChain(chain, those)));
    return entries.flat();
  }

  /** Where all groups stand once everything is handled. */
  standings(): readonly Standing[] {
    const handled = handledTopics.map((topic) => ({ group: topicEntry(topic).handledBy ?? '', topic, carried: '' }));
    const audited = sourceTopics.map((topic) => {
      const carried = this.carried.get(chainOf({ topic, partition: 0 })) ?? '';
      return { group: 'audit', topic, carried };
    });
    return [...handled, ...audited];
  }

  /** Seals what is not sealed yet. */
  async close(): Promise<void> {
    await this.unsealed.close();
    await this.agent.onModuleDestroy();
    await this.toolbox.close();
  }

  private one(message: Incoming, context: HandlerContext): Promise<readonly Outgoing[]> {
    switch (message.topic) {
      case topics.requests:
        return this.filter.begin(message, context);
      case topics.steps:
        return this.filter.goOn(message, context);
      case topics.toolsets:
        return this.agent.takeTurn(message, context);
      case topics.toolCalls:
        return this.executor.execute(message, context);
      case topics.approvals:
        return this.approvals.take(message, context);
      default:
        return Promise.resolve([]);
    }
  }

  private async entriesInChain(chain: string, messages: readonly Incoming[]): Promise<readonly Outgoing[]> {
    const entries: Outgoing[] = [];
    for (const message of messages) {
      if (!sources.includes(message.topic)) continue;
      const source = message as Parameters<AuditService['tell']>[0];
      const before = this.carried.get(chain) ?? '';
      const { result, carried } = await withContext(before, (context) => this.audit.tell(source, context));
      if (decodeHead(carried) === null) throw new Error(`The audit left no head of ${chain}.`);
      this.carried.set(chain, carried);
      entries.push(...result);
    }
    return entries;
  }
}

const sources: readonly string[] = sourceTopics;
const never = new AbortController().signal;

/** What the bus gives a handler, where nothing fails and nothing is waited for. */
async function withContext<Result>(
  before: string,
  work: (context: HandlerContext) => Promise<Result>,
): Promise<{ readonly result: Result; readonly carried: string }> {
  const actions: (() => void)[] = [];
  let carried = before;
  const result = await work({
    signal: never,
    attempt: 1,
    carried: before,
    emit: () => undefined,
    afterCommit: (action) => void actions.push(action),
    credentialUsed: () => undefined,
    onRetry: () => undefined,
    carry: (text) => void (carried = text),
  });
  for (const action of actions) action();
  return { result, carried };
}
