import { ToolConnectionDeniedError, ToolConnectionUnreachableError } from '@sluice/core';
import type {
  CallSecrets,
  ConnectionAnswer,
  ConnectionBroker,
  ConnectionSettings,
  Credential,
  ToolInvocationContext,
} from '@sluice/core';
import { formsOf } from '@sluice/connections';
import type { CallCredential } from '@sluice/tools';

/**
 * The credential of one call, which is asked for now, and once again if it is refused. What was given is among the
 * call's secrets before anybody sees it. Throws where there is none, telling denial and outage apart; why is in the
 * operator's log.
 */
export async function openCredential(
  broker: ConnectionBroker,
  settings: ConnectionSettings | undefined,
  { tenantId, actorId, subjectId }: ToolInvocationContext,
  secrets: CallSecrets,
  signal: AbortSignal,
): Promise<CallCredential> {
  if (settings === undefined) throw thrownFor('unreachable');
  const use = { tenantId, actorId, subjectId: subjectId ?? null };
  const ask = async (refused?: Credential): Promise<ConnectionAnswer> => {
    const answer = await broker.credential(settings, use, signal, refused);
    if (answer.ok) secrets.add(formsOf(answer.credential.token));
    return answer;
  };
  const first = await ask();
  if (!first.ok) throw thrownFor(first.why);
  let current = first.credential;
  let renewing: Promise<boolean> | undefined;
  return {
    connectionId: settings.id,
    // Compiled by a former version it names none, and then the credential goes nowhere.
    hosts: settings.hosts ?? [],
    get token() {
      return current.token;
    },
    // Requests of one call may go side by side, and be refused together: they share what was asked for once.
    renew: () =>
      (renewing ??= ask(current).then((answer) => {
        if (!answer.ok || answer.credential.token === current.token) return false;
        current = answer.credential;
        return true;
      })),
  };
}

function thrownFor(why: 'denied' | 'unreachable'): Error {
  switch (why) {
    case 'denied':
      return new ToolConnectionDeniedError('The caller is given no credential for the connection of this tool.');
    case 'unreachable':
      return new ToolConnectionUnreachableError('The credential for the connection of this tool cannot be had now.');
  }
}
