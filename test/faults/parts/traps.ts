import { ownerOf } from './owner-of.ts';
import type { Role, Services } from './services.ts';

/** A moment in the work of a service at which it can be killed: something that others see of it. */
export interface Point {
  readonly what: string;
  readonly role: Role;
}

/** Kills the process that comes first to a chosen point, from outside: it is seen on its connections. */
export class Traps {
  private readonly services: Services;
  private armed: { readonly point: Point; readonly sprung: () => void } | null = null;

  constructor(services: Services) {
    this.services = services;
  }

  /** Resolves when a service has come to the point and was killed there. */
  arm(point: Point): Promise<void> {
    return new Promise((sprung) => (this.armed = { point, sprung }));
  }

  disarm(): void {
    this.armed = null;
  }

  /** Told what is about to go over a connection; true if that was the end of its process, so that it must not go on. */
  readonly seen = (what: string, clientPort: number): boolean => {
    const armed = this.armed;
    if (armed === null || armed.point.what !== what) return false;
    const victims = this.services.running(armed.point.role);
    const processId = ownerOf(clientPort, victims);
    if (processId === undefined) return false;
    this.armed = null;
    this.services.kill(processId);
    armed.sprung();
    return true;
  };
}
