import { ToolUserError } from '@sluice/core';
import type { ToolCapabilities } from '@sluice/core';
import type { Capabilities, ServiceCapabilities } from '@sluice/tools';
import type { NetworkRequests } from './network/requests.js';
import { sentError } from './errors.js';
import { bodyBytes } from './messages.js';
import type { Answer, CapabilityCall, FromChild, SentRequest, SentResponse, ToChild } from './messages.js';
import { isRemote, remoteMethods } from './remote.js';

/** Gives a call in a tool’s process what its contract declares, and nothing else, whatever the process asks for. */
export class ServedCall {
  private readonly asked = new Map<number, AbortController>();

  constructor(
    private readonly declared: readonly string[],
    private readonly given: ToolCapabilities,
    private readonly connectionId: string | undefined,
    private readonly hosts: readonly string[],
  ) {}

  take(message: FromChild, send: (message: ToChild) => void): void {
    switch (message.say) {
      case 'progress':
        if (this.declared.includes('progress'))
          (this.given as Partial<Capabilities>).progress?.report(String(message.text));
        return;
      case 'stop':
        this.asked.get(message.ask)?.abort(new Error('The tool does not wait for it any more.'));
        return;
      case 'ask': {
        const { n, ask } = message;
        void this.answer(message).then((answer) => {
          this.asked.delete(ask);
          send({ do: 'answer', n, ask, ...answer });
        });
        return;
      }
      case 'loaded':
      case 'parsed':
      case 'refused':
      case 'ended':
      case 'threw':
      case 'stale':
        // The end of the task, which is not a matter of this.
        return;
    }
  }

  private async answer({ ask, ...asked }: CapabilityCall & { readonly ask: number }): Promise<Answer> {
    const stop = new AbortController();
    this.asked.set(ask, stop);
    try {
      return { ok: true, value: await this.perform(asked, stop.signal) };
    } catch (error) {
      return { ok: false, error: sentError(error) };
    }
  }

  private async perform({ capability, method, args, signalAt }: CapabilityCall, signal: AbortSignal): Promise<unknown> {
    if (capability === 'network') return this.requested(args[0]?.value as SentRequest, signal);
    if (
      !this.declared.includes(capability) ||
      !isRemote(capability) ||
      !(remoteMethods[capability] as readonly string[]).includes(method)
    )
      throw new Error(`The tool does not declare ${String(capability)}.${String(method)}.`);
    if (capability === 'connections') return this.fetched(args[0]?.value as SentRequest, signal);
    const implementation = this.given[capability] as Readonly<
      Record<string, (...given: unknown[]) => Promise<unknown>>
    >;
    const perform = implementation[method];
    if (perform === undefined) throw new Error(`There is no ${capability}.${method}.`);
    const values = args.map(({ value }, at) => (at === signalAt ? signal : value));
    return perform.apply(implementation, values);
  }

  /** A request of the tool’s own `fetch`, to a host that its file names. */
  private async requested(request: SentRequest, signal: AbortSignal): Promise<SentResponse> {
    const { network, auth } = this.given as Partial<ServiceCapabilities & { readonly network: NetworkRequests }>;
    if (this.hosts.length > 0 && network !== undefined)
      return network.send(request, this.hosts, signal, auth?.requireOwnHost);
    throw new ToolUserError(
      "The tool’s file declares no network, so nothing was asked: its author writes network: ['host'] into its definition.",
    );
  }

  /** The request is made here, so that the tool’s process never has the credential. */
  private async fetched(request: SentRequest, signal: AbortSignal): Promise<SentResponse> {
    const { connections } = this.given as Partial<Capabilities>;
    if (connections === undefined || this.connectionId === undefined) throw new Error('The call has no connection.');
    const { url, method, headers, redirect, body } = request;
    const response = await connections.for(this.connectionId).fetch(url, {
      method,
      headers: headers.map(([name, value]) => [name, value] as [string, string]),
      redirect,
      body: body === null ? null : Buffer.from(body, 'base64'),
      signal,
    });
    return {
      url: response.url,
      status: response.status,
      statusText: response.statusText,
      redirected: response.redirected,
      headers: [...response.headers],
      body: (await bodyOf(response))?.toString('base64') ?? null,
    };
  }
}

async function bodyOf({ body }: Response): Promise<Buffer | null> {
  if (body === null) return null;
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of body as unknown as AsyncIterable<Uint8Array>) {
    bytes += chunk.length;
    if (bytes > bodyBytes) throw new Error(`The response is larger than ${String(bodyBytes)} bytes.`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}
