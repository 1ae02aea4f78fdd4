import type { CallInChild } from '../call-in-child.js';

/**
 * Puts in place of `fetch` one whose requests the service makes, to the hosts that the tool’s file names. `running`
 * is the call of the moment: outside of one there is none.
 */
export function fetchByService(running: () => CallInChild | undefined): void {
  const own = globalThis.fetch;
  const asking = async (input: string | URL | Request, init?: RequestInit): Promise<Response> => {
    const url = input instanceof Request ? input.url : String(input);
    // What has no host is no request over a network.
    if (/^(?:data|blob):/i.test(url)) return own(input, init);
    const call = running();
    if (call === undefined) throw new TypeError('fetch failed: a tool has a network in its calls alone.');
    return call.fetch('network', input, init);
  };
  Object.defineProperty(globalThis, 'fetch', { value: asking, writable: true, configurable: true });
}
