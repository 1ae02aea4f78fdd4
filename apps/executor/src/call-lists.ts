import { isElsewhere, lookupFact } from '@sluice/core';
import type { Configuration, ListCaller, ListSettings, Lookup, LookupAnswer } from '@sluice/core';
import type { NetworkRequests } from '@sluice/isolation';
import { ListReader } from '@sluice/sources';
import type { Runtime } from '@sluice/host';

/** Between two lines of the log about the same list, in milliseconds. */
const quietMs = 60_000;

/** The lists that bounds of arguments name and that are kept elsewhere, as the executor asks about them. */
export class CallLists {
  private readonly reader: ListReader;
  private inForce: Configuration | null = null;
  /** What the log said last of a list: one that is read for each caller may fail for some of them. */
  private readonly said = new Map<string, { readonly isRead: boolean; readonly at: number }>();

  constructor(
    private readonly runtime: Runtime,
    requestsOf: (configuration: Configuration) => NetworkRequests,
  ) {
    const { environment, metrics } = runtime;
    this.reader = new ListReader({
      requests: {
        send: (...given) => {
          if (this.inForce === null) throw new Error('no configuration is in force');
          return requestsOf(this.inForce).send(...given);
        },
      },
      secret: (variable) => environment.secret(variable),
      now: () => performance.now(),
      onRead: (list, why) => this.say(list, why),
    });
    const gauge = metrics.listAge as typeof metrics.listAge & { collect?: () => void };
    gauge.collect = () => {
      gauge.reset();
      for (const [list, age] of this.reader.ages()) gauge.set({ list }, age / 1_000);
    };
  }

  /** Begins to read the lists of the configuration that is in force from now on. */
  use(configuration: Configuration): void {
    this.inForce = configuration;
    const { lists = {} } = configuration;
    for (const list of Object.keys(lists).filter((name) => isElsewhere(name, lists)))
      for (const outcome of ['read', 'failed']) this.runtime.metrics.listReads.inc({ list, outcome }, 0);
    this.reader.use(lists);
  }

  /** Whether lists have values, by names of facts. A list is where the first configuration says that looks it up. */
  async answers(
    asked: readonly Lookup[],
    caller: ListCaller,
    under: readonly Configuration[],
  ): Promise<Readonly<Record<string, LookupAnswer>>> {
    const read = async (name: string) => [name, await this.values(name, caller, under)] as const;
    const values = new Map(await Promise.all([...new Set(asked.map(({ list }) => list))].map(read)));
    return Object.fromEntries(
      asked.map((one) => {
        const known = values.get(one.list) ?? null;
        return [lookupFact(one), known === null ? 'failed' : known.has(one.value) ? 'listed' : 'not listed'];
      }),
    );
  }

  close(): void {
    this.reader.close();
  }

  private async values(name: string, caller: ListCaller, under: readonly Configuration[]) {
    const list = under
      .map(({ lists = {} }): ListSettings | undefined => (Object.hasOwn(lists, name) ? lists[name] : undefined))
      .find((one) => one !== undefined && 'lookup' in one);
    return list !== undefined && 'lookup' in list ? this.reader.values(name, list.lookup, caller) : null;
  }

  private say(list: string, why: string | null): void {
    const { log, metrics } = this.runtime;
    metrics.listReads.inc({ list, outcome: why === null ? 'read' : 'failed' });
    const isRead = why === null;
    const before = this.said.get(list) ?? { isRead: true, at: -Infinity };
    const now = performance.now();
    if (before.isRead === isRead || now - before.at < quietMs) return;
    this.said.set(list, { isRead, at: now });
    if (isRead) log.info({ list }, 'a list that bounds name can be read again');
    else log.error({ list, why }, 'a list that bounds name cannot be read; without values of it calls are refused');
  }
}
