import { describe, expect, it } from '@jest/globals';
import { valueWithoutSecrets, withoutSecrets } from '../src/configurations/hide.js';

describe('what is shown of a configuration', () => {
  it.each([
    ['url: https://ann:s3cret@host/x', 'url: https://(hidden)@host/x'],
    ['args: [server.mjs, --api-key=abc123, --port=80]', 'args: [server.mjs, --api-key=(hidden), --port=80]'],
    ['args: ["--token", "abc123", "-v"]', 'args: ["--token", "(hidden)", "-v"]'],
    ['header: Bearer abc.def', 'header: Bearer (hidden)'],
    ["args: ['--token', 'abc123', '-v']", "args: ['--token', '(hidden)', '-v']"],
    ['args: [--token, abc123, -v]', 'args: [--token, (hidden), -v]'],
    ['args:\n  - --token\n  - abc123\n  - -v', 'args:\n  - --token\n  - (hidden)\n  - -v'],
    ['url: https://host/mcp?tavilyApiKey=abc123&x=1', 'url: https://host/mcp?tavilyApiKey=(hidden)&x=1'],
    // Names of variables are no secrets.
    ['key_env: MODEL_KEY', 'key_env: MODEL_KEY'],
    ['max_output_tokens: 400', 'max_output_tokens: 400'],
  ])('has no secret: %s', (text, shown) => {
    expect(withoutSecrets(text)).toBe(shown);
  });

  it('is the same value but for what is hidden, whatever stands in it', () => {
    const value = { args: ['--secret=x"y', '--token', 'b', 'c'], nested: [{ token: 'a name' }], number: 1 };
    expect(valueWithoutSecrets(value)).toMatchObject({ nested: [{ token: 'a name' }], number: 1 });
    expect(valueWithoutSecrets(value).args).toEqual(['--secret=(hidden)"y', '--token', '(hidden)', 'c']);
  });

  it.each(['--key', '-', 'a.', 'eyJ-', 'x://:::', '?key', '"--key" '])(
    'takes time in proportion to the text: %s',
    (piece) => {
      const text = piece.repeat(Math.ceil(300_000 / piece.length));
      const begun = process.cpuUsage();
      withoutSecrets(text);
      expect(process.cpuUsage(begun).user / 1_000).toBeLessThan(3_000);
    },
  );
});
