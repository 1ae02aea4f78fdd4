import { execFile } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { startProgram } from './child.js';
import type { Child } from './child.js';

/** What the measuring client sends as its key: LiteLLM’s proxy starts with none that is easily guessed. */
export const clientKey = `sk-${randomBytes(32).toString('hex')}`;

/**
 * LiteLLM’s proxy before the same upstream; null where there is no `litellm` on the PATH (`pip install
 * 'litellm[proxy]'`).
 */
export async function startLitellm(upstream: string): Promise<Child | null> {
  const found = await promisify(execFile)('litellm', ['--version']).then(
    ({ stdout }) => stdout.trim(),
    () => null,
  );
  if (found === null) {
    console.log('\nLiteLLM’s proxy is not measured: there is no `litellm` on the PATH.');
    return null;
  }
  const folder = await mkdtemp(join(tmpdir(), 'litellm-bench-'));
  const file = join(folder, 'config.yaml');
  const models = ['m', 'slow'].map((name) => ({
    model_name: name,
    litellm_params: { model: `openai/${name}`, api_base: `${upstream}/v1`, api_key: 'bench' },
  }));
  await writeFile(file, JSON.stringify({ model_list: models }));
  const args = (port: number): readonly string[] => ['--config', file, '--host', '127.0.0.1', '--port', String(port)];
  // Its list of prices is in the package; without this it asks for a newer one.
  const env = { LITELLM_MASTER_KEY: clientKey, LITELLM_LOCAL_MODEL_COST_MAP: 'True', LITELLM_LOG: 'ERROR' };
  const remove = (): Promise<void> => rm(folder, { recursive: true, force: true });
  try {
    const child = await startProgram('litellm', args, { env, ready: '/health/liveliness', waitMs: 300_000 });
    console.log(`\nBeside LiteLLM’s proxy: ${found}`);
    const close = async (): Promise<void> => {
      await child.close();
      await remove();
    };
    return { ...child, close };
  } catch (error) {
    console.log(`\nLiteLLM’s proxy is not measured: it did not start. ${(error as Error).message}`);
    await remove();
    return null;
  }
}
