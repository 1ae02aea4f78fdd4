import { z } from 'zod';
import { CallSecrets } from '@sluice/core';
import type { BoundTool, Redaction, ToolInvocation, ToolPipeline, Verdict } from '@sluice/core';
import { bindTool, defineTool } from '@sluice/tools';
import { configurationWith } from './configuration.js';

export const secret = 'planted-4711';

/** What the probe tool was called with: whatever it sees, it would use. */
export interface Seen {
  readonly args: unknown;
  readonly capabilities: readonly string[];
}

/**
 * A case that one stage is there for: with the stage as it is the call is refused or cleaned, without it the harm is
 * done.
 */
export interface Scenario {
  readonly stage: string;
  readonly does: string;
  /** Changes to a call that would succeed, so that only this stage stands in its way. */
  readonly tool?: (tool: BoundTool) => BoundTool;
  readonly call?: Partial<ToolInvocation>;
  readonly pipeline?: Partial<ToolPipeline>;
  /** The stage taken out: what passes everything. */
  readonly without: { readonly tool?: (tool: BoundTool) => BoundTool; readonly pipeline?: Partial<ToolPipeline> };
  /** The outcome with the stage: an error code, or ok with no secret in it. */
  readonly outcome: string;
  /** Whether what the stage prevents has happened. */
  readonly harm: (seen: readonly Seen[], result: string) => boolean;
}

const pass: Verdict = { ok: true };
const deny = (code: 'policy_denied' | 'authz_denied'): Verdict => ({ ok: false, code, message: 'No.' });
const ran = (seen: readonly Seen[]): boolean => seen.length > 0;

export const scenarios: readonly Scenario[] = [
  {
    stage: 'eligible',
    does: 'a tool that was not offered',
    pipeline: { eligible: () => deny('policy_denied') },
    without: { pipeline: { eligible: () => pass } },
    outcome: 'policy_denied',
    harm: ran,
  },
  {
    stage: 'policy',
    does: 'a tool that the policy does not allow',
    pipeline: { allowed: () => deny('policy_denied') },
    without: { pipeline: { allowed: () => pass } },
    outcome: 'policy_denied',
    harm: ran,
  },
  {
    stage: 'authorize',
    does: 'a caller who may not',
    pipeline: { authorize: () => Promise.resolve(deny('authz_denied')) },
    without: { pipeline: { authorize: () => Promise.resolve(pass) } },
    outcome: 'authz_denied',
    harm: ran,
  },
  {
    stage: 'authorize validated',
    does: 'a caller who may not with the arguments as they were checked',
    pipeline: { authorizeValidated: () => Promise.resolve(deny('authz_denied')) },
    without: { pipeline: { authorizeValidated: () => Promise.resolve(pass) } },
    outcome: 'authz_denied',
    harm: ran,
  },
  {
    stage: 'connection',
    does: 'a connection that the grant does not hold',
    pipeline: { connection: () => Promise.resolve(deny('policy_denied')) },
    without: { pipeline: { connection: () => Promise.resolve(pass) } },
    outcome: 'policy_denied',
    harm: ran,
  },
  {
    stage: 'approval',
    does: 'a call that was not approved',
    pipeline: {
      approval: () =>
        Promise.resolve({ ok: false, code: 'policy_denied', reason: 'approval_refused', message: 'Refused.' }),
    },
    without: { pipeline: { approval: () => Promise.resolve(pass) } },
    outcome: 'policy_denied',
    harm: ran,
  },
  {
    stage: 'rate',
    does: 'a call beyond what a minute may hold',
    pipeline: {
      rate: () => Promise.resolve({ ok: false, code: 'unavailable', reason: 'rate_limited', message: 'Later.' }),
    },
    without: { pipeline: { rate: () => Promise.resolve(pass) } },
    outcome: 'unavailable',
    harm: ran,
  },
  {
    stage: 'validate input',
    does: 'arguments against the schema',
    call: { args: { word: 'a', connectionId: 'mine' } },
    without: { tool: (tool) => ({ ...tool, validateInput: (args) => args }) },
    outcome: 'validation',
    harm: (seen) => JSON.stringify(seen).includes('connectionId'),
  },
  {
    stage: 'capabilities',
    does: 'a capability that the tool did not declare',
    pipeline: { capabilities: () => Promise.resolve({ clock: {}, secrets: secret }) },
    without: { tool: (tool) => ({ ...tool, exec: probe.unguarded }) },
    outcome: 'ok',
    harm: (seen) => seen.some(({ capabilities }) => capabilities.includes('secrets')),
  },
  {
    stage: 'validate output',
    does: 'a result of another shape',
    tool: (tool) => ({ ...tool, exec: () => Promise.resolve({ word: secret, more: secret, not: 1 }) }),
    without: { tool: (tool) => ({ ...tool, validateOutput: (output) => output as never }) },
    outcome: 'validation',
    harm: (_seen, result) => result.includes(secret),
  },
  {
    stage: 'redact',
    does: 'a field that may not leave',
    without: { tool: (tool) => ({ ...tool, redact: (output) => output }) },
    outcome: 'ok',
    harm: (_seen, result) => result.includes(secret),
  },
  {
    stage: 'conceal',
    does: 'a tool that repeats its credential',
    tool: (tool) => ({ ...tool, exec: () => Promise.resolve({ word: `it is ${secret}`, more: '' }) }),
    pipeline: {
      conceal: (_tool, result) => {
        const secrets = new CallSecrets();
        secrets.add([secret]);
        return secrets.result(result);
      },
    },
    without: { pipeline: { conceal: (_tool, result) => result } },
    outcome: 'ok',
    harm: (_seen, result) => result.includes(secret),
  },
];

const seen: Seen[] = [];
const contract = defineTool({
  type: 'probe',
  description: 'Keeps what it was called with.',
  input: z.strictObject({ word: z.string() }),
  output: z.strictObject({ word: z.string(), more: z.string() }),
  effect: 'read_only',
  redaction: { fields: ['word'] },
  capabilities: ['clock'],
  repeatable: true,
  requiresConnection: false,
  execute: (args, _context, capabilities) => {
    seen.push({ args, capabilities: Object.keys(capabilities) });
    return Promise.resolve({ word: args.word, more: secret });
  },
});

/** The tool of all scenarios, as the executor binds it, and what it saw. */
export const probe = {
  seen,
  bound: (): BoundTool => bindTool(contract, configurationWith(contract)),
  /** The same with another redaction than its contract's, past everything that would have refused it. */
  under: (redaction: Redaction): BoundTool => {
    const tool = configurationWith(contract);
    return bindTool(contract, { ...tool, spec: tool.spec && { ...tool.spec, redaction } });
  },
  /** What a tool would see if nobody chose its capabilities for it. */
  unguarded: (args: unknown, _context: unknown, capabilities: object): Promise<unknown> => {
    seen.push({ args, capabilities: Object.keys(capabilities) });
    return Promise.resolve({ word: 'a', more: secret });
  },
};
