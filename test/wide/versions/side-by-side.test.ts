import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { readKeySet } from '@sluice/identity';
import type { KeySet } from '@sluice/identity';
import { openCluster } from '../../cluster/cluster.js';
import type { Cluster, Role } from '../../cluster/cluster.js';
import { effectServer } from '../../cluster/effect-server.js';
import type { EffectServer } from '../../cluster/effect-server.js';
import { KafkaReader } from '../../cluster/reader.js';
import { eventually } from '../../harness/eventually.js';
import { sluice } from '../../harness/program.js';
import type { Program, Run } from '../../harness/program.js';
import { scriptedEndpoint } from '../../harness/scripted-endpoint.js';
import type { ScriptedEndpoint } from '../../harness/scripted-endpoint.js';
import { startTimeout } from '../../infra/client.ts';
import { approve, script, waiting, withSigning } from './approved.js';
import { startFormer } from './ledger.js';
import { Load } from './load.js';
import { otherVersion } from './other-version.js';
import type { OtherVersion } from './other-version.js';

/** As docs/operations.md#upgrades has it: the audit first, executors last. */
const forth: readonly Role[] = ['audit', 'filter', 'agent', 'executor'];
/** Executors first; the audit last, once it has told of everything. */
const back: readonly Role[] = ['executor', 'agent', 'filter'];

/** Services of the other version read no Toolset that names its tools (docs/operations.md, upgrades). */
const whole = { SLUICE_TOOLSETS: 'whole' };

describe('another version and this one side by side on Kafka', () => {
  let other: OtherVersion;
  let model: ScriptedEndpoint;
  let effects: EffectServer;
  let cluster: Cluster;
  beforeAll(async () => {
    other = otherVersion();
    model = await scriptedEndpoint(script, 5);
    effects = await effectServer(20);
    cluster = await openCluster(withSigning(model.baseUrl, effects.url), {}, await keysOf(other.run), other.run);
  }, 600_000 + startTimeout);
  afterAll(async () => {
    await cluster?.close();
    await effects?.close();
    await model?.close();
  }, 120_000);

  it('role by role forth and back: no run lost, none ended twice, each effect once, replay and audit find nothing', async () => {
    const running = new Map<Role, Program>();
    for (const role of forth) running.set(role, await cluster.start(role, {}, other.run));
    const reader = await KafkaReader.open(cluster);
    const load = new Load(reader);
    const codes: (number | null)[] = [];
    let refused: readonly string[] | null = null;
    /** As an orchestrator does: the next one comes, both work a while, then the one before is asked to end. */
    const replace = async (role: Role, run: Run): Promise<void> => {
      const before = running.get(role) as Program;
      const started =
        run === sluice
          ? { program: await cluster.start(role, whole), refused: null }
          : await startFormer(cluster, role, run);
      refused ??= started.refused;
      running.set(role, started.program);
      await load.ends(5);
      before.process.kill('SIGTERM');
      codes.push((await before.ended).code);
      await load.ends(5);
    };
    const told = (): Promise<number> =>
      eventually(
        async () => (await verified(cluster)).sources.waiting,
        (count) => count === 0,
      );
    try {
      await load.during(async () => {
        await load.ends(5);
        const asked = await waiting(cluster, reader, 'signed-1');
        for (const role of forth) await replace(role, sluice);
        await approve(cluster, reader, asked, 'signed-1');
        // What an executor of this version put off the deadline of has to end before the way back.
        await approve(cluster, reader, await waiting(cluster, reader, 'signed-2'), 'signed-2');
        for (const role of back) await replace(role, other.run);
      });
      await told();
      await load.during(() => replace('audit', other.run));
      await told();
    } finally {
      await reader.close();
    }

    const { asked } = load;
    const signed = 2;
    // It knows the ledger's format 4; the statement that gives it back is docs/operations.md's.
    if (other.isFormer) expect(refused).toEqual([expect.any(String), '4']);
    expect(codes).toEqual(codes.map(() => 0));
    expect(asked).toBeGreaterThan(60);
    expect([reader.responses.length, reader.ended.size]).toEqual([asked + signed, asked + signed]);
    expect(reader.responses.filter(({ kind }) => kind !== 'answer')).toEqual([]);
    const all = [...reader.steps].filter(([id]) => id.startsWith('r-')).map(([, steps]) => steps);
    expect(all.map((steps) => steps.map(({ iteration }) => iteration))).toEqual(all.map(() => [1, 2]));
    expect([all.length, reader.steps.size]).toEqual([asked, asked + signed]);
    const steps = [...reader.steps.values()].flat();
    // An instance that the machine gave no time for longer than the session timeout leaves a call open, and says so.
    const unknown = steps.filter(({ reason }) => reason === 'outcome_unknown').length;
    expect(steps.filter(({ outcome, reason }) => outcome !== 'ok' && reason !== 'outcome_unknown')).toEqual([]);
    const counts = [...effects.done.values()];
    expect(counts.filter((count) => count !== 1)).toEqual([]);
    expect(counts.length).toBeGreaterThanOrEqual(asked + signed - unknown);

    // Findings of security are dead letters with their code.
    expect(await cluster.command('dead-letters', 'list')).toBe('There are no dead letters.\n');
    const { findings, found, sources } = await verified(cluster);
    expect([found, findings]).toEqual([0, []]);
    const replayed = await replay(cluster);
    expect(replayed).toMatchObject({ different: 0, not_replayable: 0, undecodable: 0 });
    console.log(
      `${asked} runs, ${counts.length} effects once each, ${unknown} declared outcome_unknown; ` +
        `${replayed.equal} decisions equal in replay, ${sources.compared} records as the audit tells`,
    );
  }, 1_200_000);
});

/** Keys that a version makes itself: a former one refuses a set with roles that came later. */
async function keysOf(run: Run): Promise<KeySet> {
  const folder = mkdtempSync(join(tmpdir(), 'sluice-versions-'));
  try {
    const file = join(folder, 'keys.json');
    const { code, errors } = await run(['keys', 'new', file], { SLUICE_DATA: folder }).ended;
    if (code !== 0) throw new Error(`The other version made no keys: ${errors}`);
    return readKeySet(readFileSync(file, 'utf8'), file);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

interface Report {
  readonly found: number;
  readonly findings: readonly object[];
  readonly sources: { readonly compared: number; readonly waiting: number };
}

async function verified(cluster: Cluster): Promise<Report> {
  return JSON.parse(await said(cluster, ['audit', 'verify', '--json'])) as Report;
}

interface Replayed {
  readonly equal: number;
  readonly different: number;
}

async function replay(cluster: Cluster): Promise<Replayed> {
  return JSON.parse((await said(cluster, ['replay', '--json'])).trim().split('\n').at(-1) ?? '') as Replayed;
}

/** What a command of this version says, whatever it finds. */
async function said(cluster: Cluster, args: readonly string[]): Promise<string> {
  const { output, errors } = await sluice(args, { ...cluster.variables, SLUICE_KEYS: cluster.auditorKeys }).ended;
  if (output === '') throw new Error(`sluice ${args.join(' ')} said nothing: ${errors}`);
  return output;
}
