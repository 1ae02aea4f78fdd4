import { randomUUID } from 'node:crypto';
import { clockSkewMs } from '@sluice/core';
import type { Clock, Ledger, Verifier } from '@sluice/core';
import { positionOf, redriveHeader, topics } from '@sluice/contracts';
import type { Bus, Outgoing } from '@sluice/bus';
import { configurationsOn, inForceOf } from '../configuration/log.js';
import { OwnCalls } from '../one-call/kept.js';
import type { Letter } from './letters.js';
import { digestOf, permitKey, permitOf } from './permit.js';
import type { Permit } from './permit.js';
import type { Plan, PlanFacts } from './plan.js';

type Stores = { readonly bus: Bus; readonly ledger: Ledger; readonly clock: Clock };

/** The result of a redrive. */
type Redrive =
  | { readonly kind: 'done' }
  /** It was re-driven before; `place` is where the record stands since, null if it is not found any more. */
  | { readonly kind: 'before'; readonly by: string; readonly at: number; readonly place: string | null }
  | { readonly kind: 'busy'; readonly by: string };

/**
 * Longer than any letter is kept, milliseconds: that it was re-driven is remembered for as long as it could be tried
 * again.
 */
const forEverMs = 100 * 365 * 24 * 3_600_000;

/** After so long without a permit, the process that began a redrive counts as gone, milliseconds. */
const beginMs = 60_000;

/**
 * A redrive whose record is not found may have been cut off before it was published; later than this it is not looked
 * for, milliseconds.
 */
const lookMs = 24 * 3_600_000;

/**
 * Puts a dead letter’s record on the log again, once: the permit is in the ledger before the record is on the log,
 * and the service that takes it lets nothing else use the permit. So a redrive that was cut off can be made again
 * without being made twice.
 */
export async function redrive(
  { id, dead }: Letter,
  plan: Exclude<Plan, { kind: 'refused' }>,
  by: string,
  { bus, ledger, clock }: Stores,
): Promise<Redrive> {
  const { kind, owner, since, message } = plan;
  const wanted: Permit = { kind, owner, since, digest: digestOf(message), by, at: clock.now() };
  const permit = await permitFor(id, wanted, { ledger, clock });
  if (permit === null) return { kind: 'busy', by: (await ledger.find(permitKey(id)))?.owner ?? '' };
  if (permit !== wanted) {
    const place = await publishedAs(id, message.topic, permit, bus);
    const cutOff = place === null && permit.digest === wanted.digest && wanted.at - permit.at < lookMs;
    if (!cutOff) return { kind: 'before', by: permit.by, at: permit.at, place };
  }
  const headers = { ...dead.headers, [redriveHeader]: id };
  await bus.publish([{ ...message, headers } as Outgoing]);
  return { kind: 'done' };
}

/** Who re-drove a letter and when; null if it was not re-driven. */
export function redriveOf(id: string, ledger: Pick<Ledger, 'find'>): Promise<Permit | null> {
  return permitOf(id, ledger);
}

/** What a redrive of the letter goes by; `identity` is whether the configuration in force asks for credentials. */
export async function redriveFacts(
  letter: Letter,
  identity: boolean,
  { ledger, clock }: Pick<Stores, 'ledger' | 'clock'>,
): Promise<PlanFacts> {
  const { dead, content } = letter;
  const before = await permitBefore(letter, ledger);
  const asker =
    identity && content.topic === topics.calls
      ? await new OwnCalls({ ledger, clock }).asker({ ...dead, ...content }, before?.owner)
      : null;
  return { identity, isAskerKept: asker !== null, now: clock.now(), before };
}

/** The permit with which the letter’s own record had been re-driven, if it was and the record is the very one. */
async function permitBefore({ dead, content }: Letter, ledger: Pick<Ledger, 'find'>): Promise<Permit | null> {
  const before = dead.headers[redriveHeader];
  if (before === undefined || content.topic === null) return null;
  const permit = await permitOf(before, ledger);
  return permit?.digest === digestOf(content) ? permit : null;
}

/** The permit in force, which is the wanted one if it was first; null while another process is about to make one. */
async function permitFor(
  id: string,
  wanted: Permit,
  { ledger, clock }: Pick<Stores, 'ledger' | 'clock'>,
): Promise<Permit | null> {
  const key = permitKey(id);
  const owner = `${wanted.by} (${randomUUID()})`;
  for (;;) {
    const claim = await ledger.claim({ key, owner, now: clock.now(), ttlMs: forEverMs });
    if (claim.owner === owner) {
      await ledger.settle(key, owner, JSON.stringify(wanted));
      return wanted;
    }
    const value = claim.value ?? (await ledger.find(key))?.value ?? null;
    if (value !== null) return JSON.parse(value) as Permit;
    if (clock.now() - claim.claimedAt < beginMs) return null;
    // The process that began was cut off before the permit was made, so nothing was published.
    await ledger.release(key, claim.owner);
  }
}

/** Where the re-driven record stands on the log; null if it is not there. */
async function publishedAs(id: string, topic: Outgoing['topic'], permit: Permit, bus: Bus): Promise<string | null> {
  const options = { from: { time: permit.at - clockSkewMs }, onUndecodable: () => undefined } as const;
  for await (const message of bus.read([topic], options))
    if (message.headers[redriveHeader] === id) return positionOf(message);
  return null;
}

/** Whether the configuration in force asks for credentials. */
export async function asksForCredentials(bus: Bus, signatures: Verifier): Promise<boolean> {
  const inForce = inForceOf(await configurationsOn(bus, signatures));
  return inForce !== undefined && inForce.read().identity.provider !== 'none';
}
