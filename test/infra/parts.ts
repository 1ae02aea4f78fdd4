import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { given } from './address.ts';
import type { Address, Kind, SharedKind } from './address.ts';
import { hasDocker, startContainer } from './docker/start.ts';
import type { Instance, Place } from './instance.ts';
import { startLocally } from './local/start.ts';
import type { Command, Started } from './protocol.ts';

/**
 * Milliseconds that a start under way may take to notice the end. One that pulls an image won't, and has nothing to
 * remove.
 */
const graceAtEnd = 3_000;

/** All parts of a run. Each kind is started once and shared; a test may own further ones. */
export class Parts {
  private readonly folder: string;
  private readonly say: (notice: string) => void;
  private readonly shared = new Map<SharedKind, Promise<Address>>();
  private readonly owned = new Map<string, Instance>();
  private readonly kept = new Set<Instance>();
  private readonly starting = new Set<Promise<Instance>>();
  private readonly ending = new AbortController();
  private count = 0;

  constructor(folder: string, say: (notice: string) => void) {
    this.folder = folder;
    this.say = say;
  }

  async obey(command: Command): Promise<Started | null> {
    switch (command.do) {
      case 'share':
        return { id: '', address: await this.share(command.kind) };
      case 'own': {
        const instance = await this.start(command.kind);
        const id = `${command.kind}-${++this.count}`;
        this.owned.set(id, instance);
        return { id, address: instance.address };
      }
      case 'release': {
        const instance = this.owner(command.id);
        this.owned.delete(command.id);
        await instance.remove();
        this.kept.delete(instance);
        return null;
      }
      case 'inflict':
        await this.owner(command.id).inflict(command.fault);
        return null;
    }
  }

  /** Removes all there is, and then what came up in the meantime. */
  async end(): Promise<void> {
    this.ending.abort(new Error('The test run has ended.'));
    await this.removeAll();
    await Promise.race([Promise.allSettled(this.starting), sleep(graceAtEnd)]);
    await this.removeAll();
  }

  private async removeAll(): Promise<void> {
    const removed = await Promise.allSettled([...this.kept].map((instance) => instance.remove()));
    for (const outcome of removed) if (outcome.status === 'rejected') this.say(String(outcome.reason));
  }

  /** A failed start is kept like any other: each further test would wait for the same failure. */
  private share(kind: SharedKind): Promise<Address> {
    const there = this.shared.get(kind);
    if (there !== undefined) return there;
    const named = given(kind, process.env);
    const address = named === null ? this.start(kind).then((instance) => instance.address) : Promise.resolve(named);
    this.shared.set(kind, address);
    return address;
  }

  private owner(id: string): Instance {
    const instance = this.owned.get(id);
    if (instance === undefined) throw new Error(`There is no part ${id}: it was released, or nobody started it.`);
    return instance;
  }

  private start(kind: Kind): Promise<Instance> {
    const starting = this.startSomewhere(kind);
    this.starting.add(starting);
    const forget = (): void => void this.starting.delete(starting);
    starting.then(forget, forget);
    return starting;
  }

  private async startSomewhere(kind: Kind): Promise<Instance> {
    const folder = join(this.folder, `part-${++this.count}`);
    await mkdir(folder, { mode: 0o711 });
    const place: Place = {
      folder,
      ending: this.ending.signal,
      say: this.say,
      keep: (instance) => this.kept.add(instance),
    };
    // It scrapes services of this machine, on loopback, where a container does not get.
    if (kind !== 'prometheus' && (await hasDocker())) {
      try {
        return await startContainer(kind, place);
      } catch (error) {
        this.ending.signal.throwIfAborted();
        this.say(
          `Docker is there, but ${kind} did not start in it (${error instanceof Error ? error.message : String(error)}); trying what the package registries have.`,
        );
      }
    }
    return await startLocally(kind, place);
  }
}
