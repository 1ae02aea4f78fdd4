import { credentialOf, sealedScheme, senderHeader } from '@sluice/bus';
import type { Incoming } from '@sluice/bus';
import { recordContent, recordNames, sha256, topics, verifierOf } from '@sluice/contracts';
import type { CredentialTopic, RecordOf } from '@sluice/contracts';
import type { Principal } from '@sluice/core';
import type { Seals } from '@sluice/identity';
import { senderName } from '@sluice/run';

type Headers = Readonly<Record<string, string>>;

/**
 * What is sealed: the credential, and the record that it is good for, so that a copy of the header proves nothing on
 * another one.
 */
interface Sealed {
  readonly authorization: string;
  readonly topic: string;
  readonly request_id: string;
  /** Of the record’s content; absent from producers that seal by themselves. */
  readonly digest?: string;
}

/**
 * Credentials on their way over the log. On Kafka they are sealed to who verifies them; the embedded log blanks them
 * itself.
 */
export class Credentials {
  constructor(private readonly own: Seals | null) {}

  /** The headers that carry a credential with a record; in clear where nothing is sealed here. */
  async headersFor<T extends CredentialTopic>(
    { topic, record }: { readonly topic: T; readonly record: RecordOf<T> },
    authorization: string | undefined,
    sender: Principal | null,
  ): Promise<Headers> {
    if (authorization === undefined) return {};
    const about = { topic, request_id: requestIdOf(topic, record), digest: digestOf(topic, record) };
    const text = JSON.stringify({ authorization, ...about } satisfies Sealed);
    const sealed = (await this.own?.seal(sealedTo(topic), text)) ?? null;
    if (sealed === null) return { authorization };
    // Where the sender is not known here, requests with the same credential still share a lane.
    const name = sender === null ? sha256(authorization) : senderName(sender);
    return { authorization: `${sealedScheme}${sealed}`, [senderHeader]: name };
  }

  /**
   * The credential of a record, as it was before it was sealed; undefined where there is none that holds for this
   * record.
   */
  async of({ topic, record, headers }: Incoming<CredentialTopic>): Promise<string | undefined> {
    const written = credentialOf(headers);
    if (written === undefined || !isSealed(headers)) return written;
    const text = (await this.own?.open(sealedTo(topic), written.slice(sealedScheme.length))) ?? null;
    return text === null ? undefined : heldBy(text, topic, record);
  }

  /** Whether credentials are sealed here; keys of a former version are not for that. */
  get isSealing(): boolean {
    return this.own?.canSeal === true;
  }

  /** Whether this process reads what is sealed on the topic. */
  canOpen(topic: CredentialTopic): boolean {
    return this.own?.canOpen(sealedTo(topic)) === true;
  }
}

export function isSealed(headers: Headers): boolean {
  return credentialOf(headers)?.startsWith(sealedScheme) === true;
}

function heldBy<T extends CredentialTopic>(text: string, topic: T, record: RecordOf<T>): string | undefined {
  try {
    const sealed = JSON.parse(text) as Partial<Sealed>;
    const isFor = sealed.topic === topic && sealed.request_id === requestIdOf(topic, record);
    const isWhole = sealed.digest === undefined || sealed.digest === digestOf(topic, record);
    return isFor && isWhole && typeof sealed.authorization === 'string' ? sealed.authorization : undefined;
  } catch {
    return undefined;
  }
}

/** Who opens the credentials of the topic: for calls two services, since the filter ends those that are overdue. */
function sealedTo(topic: CredentialTopic): 'filter' | 'executor' | 'call' {
  return topic === topics.calls ? 'call' : verifierOf(topic);
}

function requestIdOf<T extends CredentialTopic>(topic: T, record: RecordOf<T>): string {
  if (topic === 'agent.approvals') return (record as RecordOf<'agent.approvals'>).decided?.requestId ?? '';
  return (record as RecordOf<'agent.requests' | 'agent.cancellations'>).requestId ?? '';
}

function digestOf<T extends CredentialTopic>(topic: T, record: RecordOf<T>): string {
  return sha256(recordContent(recordNames[topic], record));
}
