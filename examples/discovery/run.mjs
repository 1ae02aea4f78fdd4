/**
 * Tool discovery at work, in one command and without a key: a made-up model, Sluice’s proxy before it, and a client
 * with 60 tools. node examples/discovery/run.mjs
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { converse } from './client.mjs';
import { startModel } from './model.mjs';

const here = dirname(fileURLToPath(import.meta.url));
const questions = [
  'Why did the last build of the checkout service fail?',
  'Convert 30 euros to a currency for a traveller.',
  'What is the weather in Oslo?',
];

const requests = [];
const model = await startModel(0, requests);
const modelUrl = `http://127.0.0.1:${String(model.address().port)}`;
const folder = mkdtempSync(join(tmpdir(), 'sluice-discovery-'));
const config = join(folder, 'sluice.yaml');
const written = readFileSync(join(here, 'sluice.yaml'), 'utf8').replace('http://127.0.0.1:8099', modelUrl);
writeFileSync(config, written.replace(/^ {2}folder: .*/m, `  folder: '${folder}'`));

const sluice = spawn(process.execPath, [join(here, '../../bin/sluice.mjs'), 'start'], {
  env: {
    ...process.env,
    ...{ SLUICE_CONFIG: config, SLUICE_DATA: join(folder, 'data'), NO_COLOR: '1' },
    // Another Sluice may run here, and its ports be set.
    ...{ SLUICE_PORT: '0', SLUICE_HTTP_PORT: '0', SLUICE_MCP_PORT: '0', SLUICE_PROXY_PORT: '0' },
  },
  stdio: ['ignore', 'pipe', 'inherit'],
});
const proxyUrl = await new Promise((resolve, reject) => {
  let said = '';
  sluice.stdout.on('data', (chunk) => {
    said += String(chunk);
    const found = /proxy (http:\S+)/.exec(said);
    if (found !== null) resolve(found[1]);
  });
  sluice.once('exit', () => reject(new Error(`Sluice did not start:\n${said}`)));
});

try {
  const tools = JSON.parse(readFileSync(join(here, 'tools.json'), 'utf8'));
  const write = (text) => process.stdout.write(text);
  for (const question of questions) {
    write(`\n> ${question}\n`);
    for (const [way, baseUrl] of [
      ['without Sluice', modelUrl],
      ['with Sluice   ', proxyUrl],
    ]) {
      write(`${way}  `);
      const before = requests.length;
      await converse({ baseUrl: `${baseUrl}/v1`, question, tools, write });
      const seen = requests.slice(before);
      const bytes = seen.reduce((sum, one) => sum + one.bytes, 0);
      write(
        `                tools that the model was shown: ${seen.map((one) => one.tools).join(', ')} (${String(bytes)} bytes of definitions)\n`,
      );
    }
  }
} finally {
  sluice.kill('SIGTERM');
  await new Promise((resolve) => sluice.once('exit', resolve));
  model.close();
  model.closeAllConnections();
}
const file = join(folder, 'tool_discovery.jsonl');
if (existsSync(file)) console.log(`\n${file}:\n${readFileSync(file, 'utf8')}`);
