import { request } from 'node:http';
import type { AddressOf, Kind, SharedKind } from './address.ts';
import { supervisorVariable } from './protocol.ts';
import type { Answer, Command, Fault, Started } from './protocol.ts';

/** Milliseconds that a `beforeAll` which asks for parts should allow: the first run ever downloads what it starts. */
export const startTimeout = 300_000;

/**
 * The shared part of this test run, started when the first test asks for it. Keep to topics, groups and databases of
 * your own (`freshPrefix`, `freshDatabase`): others use it at the same time.
 * @throws Error with the reason and the end of the log if it can't be had
 */
export async function infra<K extends SharedKind>(kind: K): Promise<AddressOf<K>> {
  const { address } = await ask({ do: 'share', kind });
  return address as AddressOf<K>;
}

/**
 * A part of a test's own, to be hurt without hurting the neighbours. It ends with `release`, at the latest with the
 * test run.
 */
export interface Owned<K extends Kind> {
  readonly address: AddressOf<K>;
  /** Asks it to end, and waits until it has. */
  stop(): Promise<void>;
  /** Ends it at once, as a crash would. */
  kill(): Promise<void>;
  /** Starts it again with the same address and the data it had; ready when resolved. */
  start(): Promise<void>;
  /** `stop`, then `start`. */
  restart(): Promise<void>;
  /** It keeps its connections, and says nothing any more. */
  pause(): Promise<void>;
  resume(): Promise<void>;
  /** Ends it for good and removes its data. */
  release(): Promise<void>;
}

/**
 * Starts a second, private instance, from Docker or from the registries, whatever the environment names. Same errors
 * as `infra`.
 */
export async function own<K extends Kind>(kind: K): Promise<Owned<K>> {
  const { id, address } = await ask({ do: 'own', kind });
  const inflict = (fault: Fault) => async () => void (await send({ do: 'inflict', id, fault }));
  const [stop, start] = [inflict('stop'), inflict('start')];
  return {
    address: address as AddressOf<K>,
    stop,
    start,
    kill: inflict('kill'),
    pause: inflict('pause'),
    resume: inflict('resume'),
    restart: async () => {
      await stop();
      await start();
    },
    release: async () => void (await send({ do: 'release', id })),
  };
}

async function ask(command: Command): Promise<Started> {
  const started = await send(command);
  if (started === null) throw new Error(`The supervisor answered ${command.do} without an address.`);
  return started;
}

/** Not `fetch`: that gives up on an answer after five minutes, and a first download may take longer. */
async function send(command: Command): Promise<Started | null> {
  const supervisor = process.env[supervisorVariable];
  if (supervisor === undefined) {
    throw new Error(
      `${supervisorVariable} is not set, so ${'kind' in command ? command.kind : 'this'} cannot be started. Run the tests through jest with the project's jest.config.mjs; a test of a library that needs real parts belongs to the list there.`,
    );
  }
  const text = await new Promise<string>((resolve, reject) => {
    const call = request(supervisor, { method: 'POST', agent: false }, (response) => {
      const chunks: Buffer[] = [];
      response.on('data', (chunk: Buffer) => chunks.push(chunk));
      response.on('end', () => resolve(Buffer.concat(chunks).toString()));
      response.on('error', reject);
    });
    call.on('error', reject);
    call.end(JSON.stringify(command));
  });
  const answer = JSON.parse(text) as Answer;
  if ('refused' in answer) throw new Error(answer.refused);
  return answer.started;
}
