/**
 * Helm and kubeconform, which are programs in Go: the one that a variable names, else one that is built here once, of
 * the version that the tests know. What is on the PATH may be of another version, so it is not used unless it is named.
 */
import { spawnSync } from 'node:child_process';
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

const root = dirname(dirname(fileURLToPath(import.meta.url)));

/** Without a cluster Helm takes the version of Kubernetes that its own release is built with, else 1.20. */
const kubernetesVersion = ['pkg/chartutil', 'pkg/lint/rules'].map(
  (part) => `-X helm.sh/helm/v3/${part}.k8sVersionMajor=1 -X helm.sh/helm/v3/${part}.k8sVersionMinor=37`,
);

const goTools = {
  helm: {
    path: 'helm.sh/helm/v3/cmd/helm',
    version: 'v3.22.0',
    variable: 'SLUICE_HELM',
    flags: ['-ldflags', kubernetesVersion.join(' ')],
  },
  kubeconform: {
    path: 'github.com/yannh/kubeconform/cmd/kubeconform',
    version: 'v0.8.0',
    variable: 'SLUICE_KUBECONFORM',
    flags: [],
  },
};

/** Where Go is: on the PATH, or where its installer puts it. */
const goes = ['go', '/usr/local/go/bin/go', '/opt/homebrew/bin/go', 'C:\\Program Files\\Go\\bin\\go.exe'];

/** The path of Go, or undefined. */
export const go = () => goes.find((one) => spawnSync(one, ['version']).status === 0);

/** The path of a tool; builds it if it is not there, which takes minutes the first time. */
export function goTool(name) {
  const { path, version, variable, flags } = goTools[name];
  const given = process.env[variable];
  if (given) {
    if (!existsSync(given)) throw new Error(`${variable} is ${given}, where nothing is.`);
    return given;
  }
  const folder = join(root, 'node_modules', '.cache', 'go', `${name}-${version}`);
  const program = join(folder, process.platform === 'win32' ? `${name}.exe` : name);
  if (existsSync(program)) return program;
  const compiler = go();
  if (compiler === undefined)
    throw new Error(
      `${name} ${version} is built with Go, which is not installed. Install it, or set ${variable} to the path of a ${name}.`,
    );
  console.error(`sluice: building ${name} ${version} (once; a few minutes) …`);
  mkdirSync(folder, { recursive: true });
  const { status } = spawnSync(compiler, ['install', ...flags, `${path}@${version}`], {
    env: { ...process.env, GOBIN: folder },
    stdio: ['ignore', 2, 2],
  });
  if (status !== 0)
    throw new Error(
      `${name} ${version} could not be built; the lines above say why. Set ${variable} to the path of one that is there.`,
    );
  return program;
}
