import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { projectRoot } from '../../harness/configurations.js';

const load = (file: string): Promise<unknown> => import(join(projectRoot, file));
const { goTool, go } = (await load('bin/go-tools.mjs')) as {
  readonly goTool: (name: 'helm' | 'kubeconform') => string;
  readonly go: () => string | undefined;
};
export const { layOutChart } = (await load('bin/chart.mjs')) as {
  readonly layOutChart: (folder: string, version?: string) => string;
};

export interface Said {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

export function runs(program: string, args: readonly string[], cwd = projectRoot, input = ''): Said {
  const { status, stdout, stderr, error } = spawnSync(program, args, {
    cwd,
    input,
    encoding: 'utf8',
    maxBuffer: 64 << 20,
  });
  return { code: status, output: stdout, errors: error === undefined ? stderr : error.message };
}

/** Helm and kubeconform as bin/go-tools.mjs finds or builds them. */
export const helm = (...args: readonly string[]): Said => runs(goTool('helm'), args);
export const kubeconform = (input: string, ...args: readonly string[]): Said =>
  runs(goTool('kubeconform'), args, projectRoot, input);

/** The folder of a Go module’s sources, from the module proxy or Go’s own cache. */
export function moduleFolder(module: string, cwd: string): string {
  const { code, output, errors } = runs(go() ?? 'go', ['mod', 'download', '-json', module], cwd);
  if (code !== 0) throw new Error(`The Go module ${module} cannot be had: ${output}${errors}`);
  return (JSON.parse(output) as { readonly Dir: string }).Dir;
}
