import { expect, it } from '@jest/globals';
import { compileConfiguration } from '@sluice/configuration';
import { sampleInputs } from './sample-inputs.js';

const hook = {
  ...{ scheme: 'github', secret_env: 'HOOK_SECRET', previous_secret_env: 'FORMER_SECRET', question: 'Sort it.' },
  ...{ groups: ['basic'], principal: 'service:github', tenant: 'acme' },
};

it('says which secrets of a hook are not set', () => {
  const tool = { text: { type: 'text-completion', group: ['basic'] } };
  const { findings, problems } = compileConfiguration(
    { tool, policy: { allowed_tools: ['text'] }, hook: { issues: hook } },
    { ...sampleInputs, isSet: (variable: string) => variable === 'FORMER_SECRET' },
  );
  expect(problems).toEqual([]);
  expect(findings.filter(({ kind }) => kind === 'unset_variable')).toEqual([
    expect.objectContaining({ path: 'hook.issues.secret_env', message: expect.stringContaining('HOOK_SECRET') }),
  ]);
});
