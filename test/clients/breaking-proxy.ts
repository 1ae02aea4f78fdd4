import { createServer, request } from 'node:http';
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

/** What goes wrong next. */
export interface Breakage {
  /** So many answers are lost behind the gateway: it has the request, the client has nothing. */
  readonly lose?: number;
  /** So many requests are a 503 that asks to come back in a second. */
  readonly refuse?: number;
  /** The next answer that holds this text is cut behind it. */
  readonly cut?: string;
}

export interface BreakingProxy {
  readonly url: string;
  /** How often it broke something since. */
  readonly broken: number;
  break(breakage: Breakage): void;
  close(): Promise<void>;
}

const busy = JSON.stringify({ type: 'about:blank', title: 'Busy', status: 503, detail: 'Come back.', code: 'busy' });

/** A proxy in front of the gateway that breaks what it is told to break. */
export async function openBreakingProxy(target: string): Promise<BreakingProxy> {
  let [lose, refuse, cut, broken] = [0, 0, '', 0];
  const handle = (incoming: IncomingMessage, outgoing: ServerResponse): void => {
    if (refuse > 0) {
      [refuse, broken] = [refuse - 1, broken + 1];
      incoming.resume();
      outgoing.writeHead(503, { 'content-type': 'application/problem+json', 'retry-after': '1' }).end(busy);
      return;
    }
    const { method, headers } = incoming;
    const forwarded = request(`${target}${incoming.url ?? ''}`, { method, headers }, (answer) => {
      if (lose > 0) {
        [lose, broken] = [lose - 1, broken + 1];
        answer.resume();
        outgoing.destroy();
        return;
      }
      outgoing.writeHead(answer.statusCode ?? 502, answer.headers);
      let sent = '';
      answer.on('data', (piece: Buffer) => {
        sent += piece.toString('latin1');
        const end = cut === '' ? -1 : sent.indexOf(cut);
        outgoing.write(piece);
        if (end === -1) return;
        [cut, broken] = ['', broken + 1];
        // What was written is sent first.
        setTimeout(() => outgoing.destroy(), 50);
        answer.destroy();
      });
      answer.on('end', () => outgoing.end());
      answer.on('error', () => outgoing.destroy());
    });
    forwarded.on('error', () => outgoing.destroy());
    outgoing.on('close', () => forwarded.destroy());
    incoming.pipe(forwarded);
  };
  const server = createServer(handle);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get broken() {
      return broken;
    },
    break(next) {
      [lose, refuse, cut, broken] = [next.lose ?? 0, next.refuse ?? 0, next.cut ?? '', 0];
    },
    close: () => {
      server.closeAllConnections();
      return new Promise((resolve) => server.close(() => resolve()));
    },
  };
}
