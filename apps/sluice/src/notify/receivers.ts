import { Fault, receiversOf, secretVariables } from '@sluice/core';
import type { Documents, NotifyReceiver, NotifySettings } from '@sluice/core';
import { groupOfSubscription, topics } from '@sluice/contracts';
import type { Bus } from '@sluice/bus';
import { openBus, openLedger, privateDocuments, requireLog, systemClock, verifierIfAny } from '@sluice/host';
import { receiverOf, StoredSubscriptions } from '@sluice/notify';
import { configurationsOn, inForceOf } from '@sluice/run';
import type { CommandContext } from '../commands/command-context.js';
import { configurationOf } from '../system/compile-once.js';

/** A receiver, and how far its deliveries are. */
export interface ListedReceiver {
  readonly name: string;
  readonly madeBy: 'configuration' | 'http';
  readonly receiver: NotifyReceiver;
  /** Records that its deliveries are behind; null where it is not known. */
  readonly behind: number | null;
}

interface Found {
  readonly notify: NotifySettings | null;
  readonly all: readonly ListedReceiver[];
}

/** The receivers of a file; without one those of the configuration in force, and those that were made over HTTP. */
export async function receiversFound(config: string | undefined, context: CommandContext): Promise<Found> {
  if (config !== undefined) {
    const notify = (await configurationOf(config, context)).notify ?? null;
    return { notify, all: configuredIn(notify).map((one) => ({ ...one, behind: null })) };
  }
  const { environment, log } = context;
  requireLog(environment);
  const { bus } = await openBus(environment, log);
  try {
    const current = inForceOf(await configurationsOn(bus, verifierIfAny(environment)));
    const notify = current?.read().notify ?? null;
    // Without a section `notify` none of those that were made over HTTP is sent anything.
    const made = notify === null ? [] : await madeOverHttp(context);
    const all = [...configuredIn(notify), ...made];
    return { notify, all: await Promise.all(all.map((one) => withLag(one, bus))) };
  } finally {
    await bus.close();
  }
}

/** The variables of its secrets, those that the gateway reads too, that are not set here. */
export function unsetVariables(
  receiver: NotifyReceiver,
  secret: (variable: string) => string | undefined,
): readonly string[] {
  const { signingSecretEnv, credentialEnv } = (receiver.kind === 'slack' ? receiver.deciding : undefined) ?? {};
  const named = [...Object.values(secretVariables(receiver)), signingSecretEnv, credentialEnv];
  return named.filter((one): one is string => one !== undefined && !isSet(one, secret));
}

function isSet(variable: string, secret: (variable: string) => string | undefined): boolean {
  try {
    return (secret(variable) ?? '') !== '';
  } catch {
    // The file that is to hold it cannot be read.
    return false;
  }
}

type Named = Omit<ListedReceiver, 'behind'>;

function configuredIn(notify: NotifySettings | null): readonly Named[] {
  return receiversOf(notify ?? undefined).map((receiver) => ({
    ...{ name: receiver.id, madeBy: 'configuration' as const, receiver },
  }));
}

/** Says so where they cannot be read here. */
async function madeOverHttp(context: CommandContext): Promise<readonly Named[]> {
  const { environment, log, note } = context;
  if (environment.bus === 'kafka' && environment.databaseUrl === null) {
    note('Subscriptions that were made over HTTP are not among these: DATABASE_URL is not set here.\n');
    return [];
  }
  const { ledger } = await openLedger(environment, log);
  try {
    return await storedIn(privateDocuments(ledger.documents, environment, () => undefined));
  } catch (error) {
    if (!(error instanceof Fault && error.code === 'content_unreachable')) throw error;
    note(`${error.message} Set the SLUICE_CONTENT_KEYS of the gateway here to list them.\n`);
    return [];
  } finally {
    await ledger.close();
  }
}

async function storedIn(documents: Pick<Documents, 'find' | 'put'>): Promise<readonly Named[]> {
  const now = systemClock.now();
  const stored = await new StoredSubscriptions(documents).all();
  return stored.map((one) => ({ name: one.name, madeBy: 'http' as const, receiver: receiverOf(one, now) }));
}

async function withLag(one: Named, bus: Bus): Promise<ListedReceiver> {
  const lag = await bus.groupLag(groupOfSubscription(one.receiver.id), [topics.notifications]);
  return { ...one, behind: lag.reduce((sum, { records }) => sum + records, 0) };
}
