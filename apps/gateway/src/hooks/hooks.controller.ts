import { Controller, Inject, Param, Req } from '@nestjs/common';
import type { Request } from 'express';
import { tenantHeader } from '@sluice/bus';
import { deepestJson, isDeeperThan, isJsonText } from '@sluice/core';
import type { HookScheme, HookSettings, JsonValue } from '@sluice/core';
import { topics } from '@sluice/contracts';
import { deliveryId, deliveryProblem, hookHeaders } from '@sluice/identity';
import type { Delivery } from '@sluice/identity';
import { channelHeader, hookCredential, hookRequest, ownPrincipal, requestOwner } from '@sluice/run';
import { hookSecrets, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Callers } from '../caller.js';
import { Route } from '../openapi/route.js';
import { Refusal } from '../refusal.js';
import { requireSize } from '../requests.js';
import { clearJson } from '../strict-body.js';

/** Bytes of a delivery: it goes along with its request, so that the filter can verify it. */
const mostBytes = 262_144;
/** Deliveries a minute of a hook whose secret is not here, so that each goes onto the log unverified. */
const mostUnverified = 60;
const minuteMs = 60_000;

/** Webhooks of other systems, each of which starts a run (docs/hooks.md). */
@Controller()
export class HooksController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Callers) private readonly callers: Callers,
  ) {}

  @Route('receiveHook')
  async receive(@Param('name') name: string, @Req() http: Request): Promise<object> {
    this.callers.requireNear(http);
    const { bus, configurations, credentials } = this.runtime;
    const { configuration } = configurations.current();
    const hook = configuration.hooks?.find((one) => one.name === name);
    if (hook === undefined)
      throw new Refusal(404, 'not_found', 'There is no hook of this name. Look at `hook` of the configuration.');
    const delivery = deliveryOf(http, hook.scheme);
    await this.require(hook, delivery);
    const id = deliveryId(hook.scheme, delivery);
    if (id === null)
      throw new Refusal(400, 'invalid_request', 'The delivery has no id of at most 256 characters, by which it is known again.'); // prettier-ignore
    const record = hookRequest(hook, { id, body: delivery.body });
    requireSize(topics.requests, record);
    const principal = ownPrincipal(hook, configuration);
    const run = { requestId: record.requestId ?? '', tenant: principal.tenantId };
    const answer = { request_id: run.requestId, session_id: run.requestId };
    if ((await requestOwner(run, this.runtime)) !== null) return { ...answer, status: 'accepted_before' };
    const written = { topic: topics.requests, record } as const;
    const credential = hookCredential({ hook: name, version: configuration.version, ...delivery });
    const own = await credentials.headersFor(written, credential, principal);
    const headers = { ...own, [channelHeader]: 'hook', [tenantHeader]: run.tenant };
    await bus.publish([{ ...written, key: run.requestId, headers }]);
    return { ...answer, status: 'accepted' };
  }

  /** Refuses what the hook’s sender did not sign, where the secret is here; else the filter alone does. */
  private async require(hook: HookSettings, delivery: Delivery): Promise<void> {
    const { clock, environment, rates } = this.runtime;
    const secrets = hookSecrets(hook, environment);
    if (secrets.length > 0) {
      const problem = deliveryProblem(hook.scheme, delivery, { secrets, at: clock.now() });
      if (problem !== null) throw new Refusal(401, 'authz_denied', problem);
      return;
    }
    const taken = await rates.take({ key: `hook/${hook.name}`, limit: mostUnverified, windowMs: minuteMs });
    if (taken.within) return;
    const seconds = Math.max(1, Math.ceil(taken.retryAfterMs / 1_000));
    const message = `This hook takes ${mostUnverified} deliveries in a minute. Try again in ${seconds} s.`;
    throw new Refusal(429, 'rate_limited', message, { 'retry-after': String(seconds) });
  }
}

/** The delivery with the bytes that were signed. Throws Refusal(400, 413 or 415). */
function deliveryOf(http: Request & { rawBody?: Buffer }, scheme: HookScheme): Delivery {
  const { rawBody } = http;
  const value = clearJson(http);
  if (rawBody === undefined) throw new Refusal(400, 'invalid_request', 'The delivery has no body. Send it as JSON.');
  if (rawBody.byteLength > mostBytes)
    throw new Refusal(413, 'too_large', `The delivery is larger than the ${mostBytes} bytes that one may have.`);
  const headers = hookHeaders[scheme].flatMap((name) => {
    const value = http.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  const body = rawBody.toString('utf8');
  // The parser of bodies passes over a byte order mark; what is signed has it.
  if (!isJsonText(body))
    throw new Refusal(400, 'invalid_request', 'The delivery is no JSON, or has a byte order mark.');
  if (isDeeperThan(value as JsonValue, deepestJson))
    throw new Refusal(400, 'invalid_request', `The delivery is nested deeper than ${deepestJson} levels.`);
  return { headers: Object.fromEntries(headers), body };
}
