import pg from 'pg';
import { Fault } from '@sluice/core';
import { PlacementChanged } from './statements.js';

/** How sentences name the database; the password is no part of it. */
export interface DatabaseAddress {
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
}

/**
 * SQLSTATE classes that no waiting mends: data, constraints, authorization, unknown database, unknown schema, syntax
 * and access rules. All others (connection, resources, operator's intervention, deadlock, read-only standby, …) may
 * pass.
 */
const lastingClasses = ['22', '23', '28', '3D', '3F', '42'];

/** Whether asking again later may help. What is not from the server is a connection that broke or could not be had. */
export function mayPass(error: unknown): boolean {
  if (error instanceof pg.DatabaseError) return !lastingClasses.includes((error.code ?? '').slice(0, 2));
  if (error instanceof PlacementChanged) return false;
  return !(error instanceof TypeError) && !isTlsTrouble(error) && !isPasswordTrouble(error);
}

/**
 * What happens to a ledger in use, as Fault('ledger_unreachable', retryable): no record is at fault, whatever it is.
 */
export function unreachable(place: DatabaseAddress, error: unknown): Fault {
  return new Fault('ledger_unreachable', `${named(place)} ${complaint(place, error)}`, true, { cause: error });
}

/** What keeps a ledger from being opened, as Fault('ledger_unreachable', not retryable). */
export function lastingRefusal(place: DatabaseAddress, error: unknown): Fault {
  return new Fault('ledger_unreachable', `${named(place)} ${complaint(place, error)}`, false, { cause: error });
}

/** As `lastingRefusal`; `why` follows “The ledger’s database … at …”, and says what to change. */
export function refusal(place: DatabaseAddress, why: string): Fault {
  return new Fault('ledger_unreachable', `${named(place)} ${why}`, false);
}

function named({ host, port, database }: DatabaseAddress): string {
  return `The ledger’s database ${database} at ${host}:${port}`;
}

function complaint(place: DatabaseAddress, error: unknown): string {
  const code = codeOf(error);
  switch (code) {
    case 'ECONNREFUSED':
      return 'refuses connections. Start it, or correct its address.';
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
      return `cannot be found: the name ${place.host} does not resolve. Mend the host in its URL, or the name service.`;
    case 'ENOENT':
      return 'has no socket there. Start it, or correct its address.';
    case '28P01':
      return `refuses the password of ${place.user}. Mend user and password in its URL.`;
    case '28000':
      return `refuses the user ${place.user}: ${textOf(error)}. Let this user in, or name another one in its URL.`;
    case '3D000':
      return 'does not exist. Create it, or correct the name in its URL.';
    case '42501':
      return `does not let ${place.user} do this: ${textOf(error)}. Grant it, or name a schema that belongs to this user.`;
    case '42P01':
      return `lost a table of the ledger: ${textOf(error)}. Restore it; a restart makes an empty one.`;
    case '53300':
      return 'has no connection left. Raise max_connections, or run fewer processes.';
    case '57P03':
      return 'is starting or shutting down. Wait for it.';
    case '25006':
      return 'takes no writes: it is a standby, or read-only. Name the primary in its URL.';
  }
  if (/time-?out/i.test(textOf(error))) return 'does not answer in time. See whether it is overloaded or cut off.';
  if (isBroken(error)) return 'broke the connection. See whether it is running.';
  if (isPasswordTrouble(error)) return `asks ${place.user} for a password. Put it in its URL.`;
  if (isTlsTrouble(error)) return `cannot be trusted or has no TLS: ${textOf(error)}. Mend sslmode or the certificate.`;
  return `failed: ${textOf(error)}. See its log.`;
}

/** A name with several addresses fails with an AggregateError, which has the code and no text. */
function codeOf(error: unknown): string {
  return typeof error === 'object' && error !== null && 'code' in error ? String(error.code) : '';
}

function textOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return (text || codeOf(error)).replace(/\.$/, '');
}

/** Ended by the other side: an operator, a crash, the network. */
function isBroken(error: unknown): boolean {
  return (
    ['57P01', '57P02', 'ECONNRESET', 'EPIPE'].includes(codeOf(error)) || /^Connection terminated/.test(textOf(error))
  );
}

function isTlsTrouble(error: unknown): boolean {
  return /CERT|^ERR_(SSL|TLS)|UNABLE_TO_VERIFY/.test(codeOf(error)) || /does not support SSL/.test(textOf(error));
}

function isPasswordTrouble(error: unknown): boolean {
  return /^SASL: .*password/.test(textOf(error));
}
