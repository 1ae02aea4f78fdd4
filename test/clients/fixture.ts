import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { startGateway } from '../../apps/gateway/src/gateway.module.js';
import { audience, issuer, newIssuer } from '../../libs/identity/test/issuer.js';
import { configured } from '../harness/approving.js';
import { calls } from '../harness/configurations.js';
import { ScriptedModel, startSystem } from '../harness/system.js';
import { openBreakingProxy } from './breaking-proxy.js';
import type { BreakingProxy } from './breaking-proxy.js';

/** Answers by the question; `Slow` takes a minute unless it is aborted. */
class Model extends ScriptedModel {
  override async turn(
    request: Parameters<ScriptedModel['turn']>[0],
    options?: { readonly signal: AbortSignal },
  ): ReturnType<ScriptedModel['turn']> {
    if (request.question === 'Slow') await sleep(60_000, undefined, { ref: false, signal: options?.signal });
    return super.turn(request);
  }
}

const firstCalls: Readonly<Record<string, readonly [string, string]>> = {
  Look: calls.query,
  Reset: calls.reset,
  Research: ['core__research', '{"question":"Look"}'],
};

/** With an agent that is asked by `Research`. */
function withAgent(configuration: string): string {
  const research = 'type: agent, description: Finds things out, group: [agents], agent: { group: [read-only] }';
  return configuration
    .replace(/^policy:$/m, `  research: { ${research} }\npolicy:\n  allowed_agents: [research]`)
    .replace(/allowed_tools: \[/, 'allowed_tools: [research, ');
}

export interface Fixture {
  readonly proxy: BreakingProxy;
  /** The address of a gateway that lets a caller make two requests in a minute. */
  readonly limitedUrl: string;
  /** The credential of a user: ann and boss have all groups, bob few, nobody none that holds. */
  token(user: string): Promise<string>;
  close(): Promise<void>;
}

/** Two gateways and all services, with an identity, and a proxy in front of the first. */
export async function startFixture(): Promise<Fixture> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-clients-'));
  const keyFile = join(folder, 'issuer.json');
  const users = await newIssuer();
  writeFileSync(keyFile, JSON.stringify(users.jwks));
  const limits = `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience}, operators: [{ principals: ['user:olga'], tenants: [acme] }] }\nmodel: { provider: openai-compatible, name: scripted, base_url: 'http://127.0.0.1:9' }`; // prettier-ignore
  const model = new Model(({ question, history }) => {
    const call = firstCalls[question];
    if (question === 'Cut')
      return { answer: 'Half an ans', incomplete: { reason: 'length', finishReason: 'max_tokens' } };
    if (question === 'Number') return { answer: '```json\n{"n": 1.0}\n```' };
    if (call === undefined) return { answer: 'done' };
    return history.length === 0 ? { calls: [call] } : { answer: 'Found.' };
  });
  const system = await startSystem(withAgent(configured("{ approvers: ['user:boss'] }", { limits })), model);
  const { runtime } = system.embedded;
  const gateway = await startGateway(runtime);
  const limited = await startGateway({ ...runtime, environment: { ...runtime.environment, httpRequestsPerMinute: 2 } });
  // A dead letter, for operators.
  await system.bus.appendRaw('agent.steps', 'forged', Buffer.from('\u0000no record'), {});
  const proxy = await openBreakingProxy(gateway.url);
  return {
    proxy,
    limitedUrl: limited.url,
    token: (sub) =>
      sub === 'nobody'
        ? Promise.resolve('e30.e30.e30')
        : users.token({ sub, tool_groups: sub === 'bob' ? ['read-only'] : ['*'] }),
    async close() {
      await proxy.close();
      await gateway.close();
      await limited.close();
      await system.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}
