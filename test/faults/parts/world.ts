import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { decodeFinished } from '../../../libs/bus/src/kafka/commit/finished-set.ts';
import { violations } from '../check/check.ts';
import { agreement } from '../check/agreement.ts';
import { unknownOutcomes } from '../check/effects.ts';
import type { Observed } from '../check/observed.ts';
import { standstill } from '../check/standstill.ts';
import { webhooksAgain } from '../check/webhooks.ts';
import { actingConfiguration } from '../../harness/acting-configuration.ts';
import { freshPrefix } from '../../infra/fresh.ts';
import { Watcher } from '../read/watcher.ts';
import { audited } from './audited.ts';
import { behindLine } from './behind-line.ts';
import { startEffects } from './effects.ts';
import type { Effects } from './effects.ts';
import { startInfrastructure } from './infrastructure.ts';
import type { Infrastructure } from './infrastructure.ts';
import { Load } from './load.ts';
import { startModel } from './model.ts';
import { notifyingConfiguration, receiverVariables, startReceiver } from './receiver.ts';
import type { Receiver } from './receiver.ts';
import { command, roles, Services } from './services.ts';
import type { Role } from './services.ts';
import type { TcpProxy } from './tcp-proxy.ts';
import { Traps } from './traps.ts';

/** How long nothing may move, once nothing is broken any more, before it is stuck, milliseconds. */
const patienceMs = 120_000;
/** So many looks do not all meet a moment at which everything is done in order. */
const enoughLooks = 10;

/**
 * Everything there is in one run of the suite on Kafka: what the services need, the services, what is asked of them
 * and who looks on.
 */
export interface World {
  readonly infrastructure: Infrastructure;
  /** What the services call, each over a line of its own. */
  readonly model: { readonly line: TcpProxy };
  readonly effects: { readonly line: TcpProxy };
  readonly receiver: { readonly line: TcpProxy };
  readonly services: Services;
  readonly traps: Traps;
  readonly load: Load;
  readonly watcher: Watcher;
  readonly say: (line: string) => void;
  /** While the work goes on: what is committed agrees with what has outputs. Returns what does not. */
  lookOn(): Promise<readonly string[]>;
  /** Waits until nothing moves, then returns each broken promise. */
  settle(): Promise<readonly string[]>;
  /** That no look saw what the metadata is for, if there were enough of them. */
  neverBeyond(): readonly string[];
  /** Writes down what was seen last, for whoever looks into what went wrong. */
  writeDown(file: string): void;
  /** What was seen so far, in figures. */
  summary(): string;
  close(): Promise<void>;
}

export async function openWorld(folder: string, brokers: 1 | 3, say: (line: string) => void): Promise<World> {
  mkdirSync(folder, { recursive: true, mode: 0o711 });
  const prefix = freshPrefix('faults');
  const log = join(folder, 'services.log');
  const keys = join(folder, 'keys.json');
  const variables = (role: Role | 'auditor'): Record<string, string> => ({
    ...infrastructure.variables,
    ...(role === 'notifier' ? receiverVariables : {}),
    SLUICE_PREFIX: prefix,
    SLUICE_DATA: join(folder, 'data'),
    SLUICE_KEYS: readFileSync(`${keys}.${role}`, 'utf8'),
  });
  const services = new Services(variables, log, say);
  const traps = new Traps(services);
  const [model, effects, receiver] = await Promise.all([
    behindLine(startModel, traps.seen),
    behindLine(startEffects, traps.seen),
    behindLine(startReceiver, traps.seen),
  ]);
  const infrastructure = await startInfrastructure(folder, brokers, traps.seen);

  const environment = { ...infrastructure.variables, SLUICE_PREFIX: prefix, SLUICE_DATA: join(folder, 'data') };
  await command(['keys', 'new', keys], environment);
  for (const role of [...roles, 'auditor', 'config'])
    writeFileSync(`${keys}.${role}`, await command(['keys', 'export', role, keys], environment));
  const file = join(folder, 'sluice.yaml');
  writeFileSync(file, actingConfiguration(model.url, effects.url) + notifyingConfiguration(receiver.url));
  await command(['config', 'apply', file], { ...environment, SLUICE_KEYS_FILE: `${keys}.config` });

  const watcher = new Watcher(infrastructure.brokerAddresses, infrastructure.registryUrl, prefix);
  const load = new Load(watcher.kafka, prefix);
  await Promise.all([watcher.open(), load.open()]);
  services.complete();
  const auditor = (args: readonly string[]): Promise<string> => command(args, variables('auditor'), [0, 1]);
  return {
    ...looking({ watcher, load, effects, receiver }, auditor),
    infrastructure,
    model,
    effects,
    receiver,
    services,
    traps,
    load,
    watcher,
    say,
    close,
  };

  async function close(): Promise<void> {
    await services.close();
    await Promise.allSettled([watcher.close(), load.close()]);
    await Promise.all([model.close(), effects.close(), receiver.close()]);
    await infrastructure.close();
  }
}

function looking(
  { watcher, load, effects, receiver }: { watcher: Watcher; load: Load; effects: Effects; receiver: Receiver },
  /** Runs a command with what an auditor has; returns what it wrote. */
  auditor: (args: readonly string[]) => Promise<string>,
): Pick<World, 'lookOn' | 'settle' | 'neverBeyond' | 'summary' | 'writeDown'> {
  let last: Observed | undefined;
  let [looks, beyond] = [0, 0];
  return {
    lookOn: async () => {
      const before = await watcher.committed();
      looks++;
      if (before.some(({ offset, metadata }) => decodeFinished(offset, metadata).length > 0)) beyond++;
      const found = await watcher.read();
      // The markers of one transaction are written in any order: what has its output may be noted a little later.
      for (const until = Date.now() + 20_000; ; await sleep(200)) {
        const { asked, spoiled } = load;
        const said = agreement({ before, found, after: await watcher.committed(), asked, spoiled });
        if (said.length === 0 || Date.now() > until) return said;
      }
    },
    settle: async () => {
      let until = Date.now() + patienceMs;
      for (let before = ''; ; await sleep(500)) {
        const [committed, ends] = [await watcher.committed(), await watcher.ends()];
        const now = JSON.stringify([committed, ends]);
        if (now !== before) until = Date.now() + patienceMs;
        before = now;
        if (standstill({ committed, ends }).length > 0 && Date.now() < until) continue;
        const webhooks = [...receiver.webhooks];
        const found = await watcher.read();
        const { asked, spoiled } = load;
        last = { asked, spoiled, found, committed, ends, effects: new Map(effects.done), webhooks };
        const said = [...violations(last), ...(await audited(auditor, found, load.spoiled))];
        if (!said.some(mayPass) || Date.now() > until) return said;
      }
    },
    neverBeyond: () =>
      looks >= enoughLooks && beyond === 0
        ? [`In ${looks} looks while the work went on nothing was ever done beyond an offset: agreement was not tried.`]
        : [],
    writeDown: (file) => {
      if (last === undefined) return;
      writeFileSync(
        file,
        JSON.stringify(
          { ...last, effects: [...last.effects] },
          (name, value: unknown) => (name === 'value' ? undefined : value),
          1,
        ),
      );
    },
    summary: () =>
      last === undefined
        ? ''
        : `${last.asked.length} runs, ${last.found.length} records, ${last.effects.size} effects, ${unknownOutcomes(last)} declared outcome_unknown, ${last.spoiled.length} spoiled records, ${last.webhooks.length} webhooks and ${webhooksAgain(last)} of them again, ${beyond} of ${looks} looks saw work done beyond an offset`,
  };
}

/** What may be so because it is not over yet. */
export function mayPass(violation: string): boolean {
  return / has 0 ends| is at | still notes | has 0 dead letters|no step tells|^There was no webhook|no entry yet|could not do it/.test(
    violation,
  );
}
