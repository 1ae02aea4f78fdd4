import { describe, expect, it } from '@jest/globals';
import { npmErrorIn } from '../src/npm-error.js';

const log = 'A complete log of this run can be found in: /home/ann/.npm/_logs/debug-0.log';

describe('what npm says of a package that it could not start', () => {
  it.each([
    [
      'none of the name',
      [
        'code E404',
        '404 Not Found - GET somewhere',
        "404  The requested resource '@acme/mcp-server@*' could not be found or you do not have permission to access it.",
      ],
      'npm has no package @acme/mcp-server that you may read: check its name',
    ],
    [
      'none of the name, without a scope',
      ['code E404', "404  '…' is not in this registry. The requested resource 'mcp-server@1.2' could not be found"],
      'npm has no package mcp-server that you may read: check its name',
    ],
    [
      'no such version',
      ['code ETARGET', 'notarget No matching version found for @acme/mcp-server@99.0.0.'],
      'npm has no version @acme/mcp-server@99.0.0: check the version',
    ],
    [
      'a registry that asks who one is',
      ['code E401', 'Unable to authenticate'],
      'npm’s registry does not let you read the package (E401)',
    ],
    [
      'no network',
      ['code EAI_AGAIN', 'errno EAI_AGAIN', 'request to somewhere failed'],
      'npm cannot reach its registry (EAI_AGAIN), and the package is not in its cache',
    ],
    [
      'anything else',
      ['code EBADENGINE', 'engine Unsupported engine'],
      'npm ended with EBADENGINE: engine Unsupported engine',
    ],
  ])('%s', (_, said, sentence) => {
    for (const begins of ['npm error', 'npm ERR!'])
      expect(npmErrorIn([...said, log].map((line) => `${begins} ${line}`))).toBe(sentence);
  });

  it('is nothing where npm says no code, or did not speak', () => {
    expect(npmErrorIn(['Error: no key'])).toBeNull();
    expect(npmErrorIn([`npm error ${log}`])).toBeNull();
    expect(npmErrorIn([])).toBeNull();
  });
});
