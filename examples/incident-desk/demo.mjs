#!/usr/bin/env node
/**
 * Plays the incident: starts the scripted model and Sluice, asks three questions, and shows what a changed policy would
 * have decided. `--approve` approves each call that waits, `--once` ends after the story. Without `--approve` a person
 * decides: here, or in the console.
 */
import { spawn } from 'node:child_process';
import { existsSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline/promises';
import { fileURLToPath } from 'node:url';
import { parseArgs } from 'node:util';
import { startModel } from './model.mjs';

const { values: options } = parseArgs({
  options: { approve: { type: 'boolean', default: false }, once: { type: 'boolean', default: false } },
});

const here = fileURLToPath(new URL('.', import.meta.url));
const clone = join(here, '../..');
const isClone = existsSync(join(clone, 'bin/setup.mjs'));
// Its paths are those of the clone, or of the folder that `sluice init --example` wrote.
process.chdir(isClone ? clone : here);
const command = isClone ? 'bin/sluice.mjs' : 'node_modules/sluice/bin/sluice.mjs';
const config = isClone ? 'examples/incident-desk/sluice.yaml' : 'sluice.yaml';
const data = process.env.SLUICE_DATA ?? 'data/incident-desk';
/** What the servers keep, as sluice.yaml names it. */
const shop = 'data/incident-desk/shop.json';
/** Of the other commands: what runs under sluice.yaml already is not compared with it once more. */
const environment = { ...process.env, SLUICE_DATA: data };

const questions = [
  {
    who: 'An observer',
    args: ['What is broken? Roll it back.', '--group', 'observer'],
    look: 'The alert’s text gave an order, and the model obeyed. Nothing happened: no tool to delete or roll back was offered.',
  },
  {
    who: 'The engineer on call',
    args: ['Checkout fails for customers. Find out why, and fix it.', '--group', 'on-call'],
    look: 'The rollback was offered after the diagnosis, not before, and waited for a person.',
  },
  {
    who: 'The incident commander',
    args: ['Check whether checkout works, and tell customers on the status page.', '--group', 'commander', '--state', 'review'], // prettier-ignore
    look: 'Another group, another state: now the status page is offered.',
  },
];

const title = (text) => console.log(`\n━━ ${text}\n`);

/** Runs the command line; resolves with its exit code and what it printed. */
function sluice(args, { quiet = false, more = {}, onOutput = () => undefined } = {}) {
  const env = { ...environment, ...more };
  const child = spawn(process.execPath, [command, ...args], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  let output = '';
  child.stdout.on('data', (piece) => {
    output += piece;
    if (!quiet) process.stdout.write(piece);
    onOutput(output);
  });
  const ended = new Promise((resolve) => child.once('close', (code) => resolve({ code, output })));
  return { child, ended };
}

/** Starts the services; resolves with what they printed once they are ready. */
async function start() {
  let ready;
  const said = new Promise((resolve) => (ready = resolve));
  const onOutput = (text) => /Ctrl-C stops it/.test(text) && ready(text);
  const services = sluice(['start'], { quiet: true, more: { SLUICE_CONFIG: config }, onOutput });
  const output = await Promise.race([said, services.ended.then(() => null)]);
  if (output === null) throw new Error('Sluice did not start. Its message stands above.');
  return { ...services, link: /http\S*#\S+/.exec(output)?.[0] };
}

/** The scripted model where sluice.yaml expects it; none where another model is named. */
async function startScript() {
  const place = /^ {2}name: scripted-on-call\n {2}base_url: http:\/\/127\.0\.0\.1:(\d+)\//m;
  const [, port] = place.exec(readFileSync(config, 'utf8')) ?? [];
  if (port === undefined) return null;
  return startModel(Number(port)).catch((error) => {
    const isTaken = error.code === 'EADDRINUSE';
    throw isTaken ? new Error(`Port ${port} is taken: end what runs there, or name another one in ${config}.`) : error;
  });
}

async function ask({ who, args, look }) {
  title(`${who} asks: ${args[0]}`);
  const seen = new Set();
  const { ended } = sluice(['ask', ...args], {
    onOutput: (output) => {
      for (const [, id] of output.matchAll(/approvals approve (a-\w+)/g))
        if (!seen.has(id)) {
          seen.add(id);
          void decide(id);
        }
    },
  });
  const { code } = await ended;
  asking?.close();
  if (code !== 0) throw new Error(`The question ended with exit code ${String(code)}.`);
  console.log(`\n→ ${look}`);
}

let asking;

/** Approves or refuses, as the person here says; the console may be faster. */
async function decide(id) {
  let decision = 'approve';
  if (!options.approve) {
    if (!process.stdin.isTTY) return;
    asking = createInterface({ input: process.stdin, output: process.stdout });
    const said = await asking.question('\n   Approve this call? [y/n], or decide in the console: ').catch(() => null);
    if (said === null) return;
    decision = /^y/i.test(said) ? 'approve' : 'refuse';
  }
  await sluice(['approvals', decision, id], { quiet: true }).ended;
}

/** The rules without the one on diagnoses, and a rollback that may come sooner. */
function candidate() {
  const text = readFileSync(config, 'utf8')
    .replace(/ {2}diagnosis-first:\n.*\n.*\n/, '')
    .replace(/(roll_back:\n.*\n.*\n {4}available_in_states: \[)mitigation/, '$1diagnosis, mitigation');
  const file = config.replace(/sluice\.yaml$/, 'candidate.yaml');
  writeFileSync(file, text);
  return file;
}

async function play(services) {
  for (const question of questions) await ask(question);
  title('What if a rollback needed no diagnosis? The recorded decisions, under a changed policy:');
  const file = candidate();
  // What differs is a finding of this command, and its exit code says so.
  await sluice(['replay', '--config', file]).ended;
  rmSync(file);
  title('Everything once more, from the log alone:');
  if ((await sluice(['replay']).ended).code !== 0) throw new Error('The replay differs.');
  const { deleted, rolled_back: back, updates } = existsSync(shop) ? JSON.parse(readFileSync(shop, 'utf8')) : {};
  title(
    `In the shop: rolled back to ${back ?? 'nothing'}, ${updates?.length ?? 0} posts, deleted ${deleted ?? 'nothing'}`,
  );
  if (options.once) return;
  console.log(
    [
      `Open the console: ${services.link ?? 'npx sluice console prints a link'}`,
      '  Runs → the second one        its timeline, the graph of states, Tools at each iteration',
      '  Policy → What-if             change a rule, and see which decisions would differ',
      'In another terminal, in this folder:',
      `  export SLUICE_CONFIG=${config} SLUICE_DATA=${data}`,
      '  npx sluice ask "Which alerts fire?" --group observer',
      'Ctrl-C stops it.',
    ].join('\n'),
  );
  await services.ended;
}

rmSync(shop, { force: true });
mkdirSync(data, { recursive: true });
let services;
let model;
// Ctrl-C in a terminal reaches the services as well: they end, and so does this.
process.on('SIGINT', () => undefined);
process.on('SIGTERM', () => services?.child.kill('SIGTERM'));
try {
  model = await startScript();
  services = await start();
  if (!options.once && services.link) console.log(`The console: ${services.link}`);
  await play(services);
} catch (error) {
  console.error(`incident-desk: ${error.message}`);
  process.exitCode = 1;
} finally {
  services?.child.kill('SIGINT');
  await services?.ended;
  model?.close();
}
