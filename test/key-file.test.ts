import { mkdtempSync, rmSync, unlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, it } from '@jest/globals';
import { readEnvironment } from '@sluice/host';
import { audience, issuer, newIssuer } from '../libs/identity/test/issuer.js';
import { run as check } from '../apps/sluice/src/commands/check.js';
import { workflowConfiguration } from './harness/configurations.js';
import { eventually } from './harness/eventually.js';
import { inProcess } from './harness/in-process.js';
import { inOrder, ScriptedModel, startSystem } from './harness/system.js';

const folder = mkdtempSync(join(tmpdir(), 'sluice-key-file-'));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const configurationWith = (keyFile: string): string =>
  workflowConfiguration({
    limits: `identity: { provider: jwt, key_file: "${keyFile}", issuer: "${issuer}", audience: ${audience} }`,
  });

it.each([
  ['is not there', undefined],
  ['holds neither a JWKS nor a public key or certificate as PEM', '{ "no": "keys" }'],
])('`check` refuses an identity.key_file that %s', async (why, text) => {
  const keyFile = join(folder, `checked-${text === undefined ? 'missing' : 'wrong'}.json`);
  if (text !== undefined) writeFileSync(keyFile, text);
  const file = join(folder, 'checked.yaml');
  writeFileSync(file, configurationWith(keyFile));
  const { code, output } = await inProcess(check, readEnvironment({ SLUICE_DATA: folder }), file);
  expect(code).toBe(1);
  expect(output).toContain(`identity.key_file: found the file ${keyFile}, which ${why}`);
  writeFileSync(keyFile, JSON.stringify((await newIssuer()).jwks));
  expect(await inProcess(check, readEnvironment({ SLUICE_DATA: folder }), file)).toMatchObject({ code: 0 });
});

it('a reload refuses a key file that cannot be used, and the filter is not ready while that in force cannot', async () => {
  const keyFile = join(folder, 'issuer.json');
  const keys = JSON.stringify((await newIssuer()).jwks);
  writeFileSync(keyFile, keys);
  const system = await startSystem(configurationWith(keyFile), new ScriptedModel(inOrder()));
  try {
    const { configurations, health } = system.embedded.runtime;
    const { version } = configurations.current().configuration;
    writeFileSync(system.configFile, configurationWith(join(folder, 'none.json')));
    await eventually(
      () => system.metric('sluice_configuration_refused_total', { source: 'file' }),
      (refused) => refused > 0,
    );
    expect(configurations.current().configuration.version).toBe(version);

    const identity = async () => (await health.readiness()).checks['identity.key_file'];
    expect(await identity()).toBe('ok');
    unlinkSync(keyFile);
    expect(await identity()).toBe(`The file ${keyFile} with the keys for credentials is not there.`);
    expect((await health.readiness()).status).toBe('unavailable');
    writeFileSync(keyFile, keys);
    expect(await identity()).toBe('ok');
  } finally {
    await system.close();
  }
});
