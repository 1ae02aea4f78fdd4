import { spawn } from 'node:child_process';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { median, report } from './measure.js';

const main = join(import.meta.dirname, 'main.js');

/** Starts the built program as a user does and waits until readiness says ok. */
export async function benchProcess(): Promise<void> {
  const readyMs: number[] = [];
  const residentMb: number[] = [];
  for (let round = 0; round < 3; round++) {
    const folder = await mkdtemp(join(tmpdir(), 'sluice-bench-'));
    const port = 20_000 + Math.floor(Math.random() * 20_000);
    const start = performance.now();
    const child = spawn(process.execPath, [main, 'start'], {
      stdio: 'ignore',
      cwd: join(import.meta.dirname, '..'),
      env: { PATH: process.env['PATH'], HOME: process.env['HOME'], SLUICE_DATA: folder, SLUICE_PORT: String(port) },
    });
    try {
      await untilReady(`http://127.0.0.1:${port}/health/ready`, start + 30_000);
      readyMs.push(performance.now() - start);
      await new Promise((resolve) => setTimeout(resolve, 3_000));
      const status = await readFile(`/proc/${child.pid}/status`, 'utf8').catch(() => '');
      residentMb.push(Number(/VmRSS:\s+(\d+)/.exec(status)?.[1] ?? NaN) / 1_024);
    } finally {
      const exited = new Promise((resolve) => child.once('exit', resolve));
      child.kill('SIGTERM');
      await exited;
      await rm(folder, { recursive: true, force: true });
    }
  }
  report('All services in one process, after the sample (built)', [
    { name: 'ready after its start', value: median(readyMs) / 1_000, unit: 's', goal: { atMost: 3 } },
    { name: 'resident memory', value: median(residentMb), unit: 'MB', goal: { atMost: 250 } },
  ]);
}

async function untilReady(url: string, deadline: number): Promise<void> {
  while (performance.now() < deadline) {
    const ok = await fetch(url).then(
      (response) => response.ok,
      () => false,
    );
    if (ok) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  throw new Error(`${url} did not become ready in time.`);
}
