/**
 * `npm run chart`: the Helm chart as a folder and as a file, in dist/chart or the folder that is named. What ops/chart
 * does not hold itself is put beside it: the version, the dashboards, the alerts and the sample configuration.
 */
import { spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { goTool } from './go-tools.mjs';

const root = dirname(dirname(fileURLToPath(import.meta.url)));
const inRoot = (...parts) => join(root, ...parts);

/** Roles that a release runs are its values' affair. */
const rulesOfRelease = 'roles.yml';

/** Lays the chart out in the folder, which is made new, in the package's version or another one. */
export function layOutChart(folder, version = JSON.parse(readFileSync(inRoot('package.json'), 'utf8')).version) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  for (const name of ['.helmignore', 'values.yaml', 'values.schema.json', 'templates'])
    cpSync(inRoot('ops/chart', name), join(folder, name), { recursive: true });
  cpSync(inRoot('LICENSE'), join(folder, 'LICENSE'));
  const chart = readFileSync(inRoot('ops/chart/Chart.yaml'), 'utf8').replace(/^#.*\n/, '');
  writeFileSync(join(folder, 'Chart.yaml'), chart.replace(/^(version|appVersion): .*$/gm, `$1: ${version}`));
  for (const [from, to, wanted] of [
    ['ops/grafana/dashboards', 'files/dashboards', (name) => name.endsWith('.json')],
    ['ops/prometheus/rules', 'files/rules', (name) => name.endsWith('.yml') && name !== rulesOfRelease],
  ]) {
    mkdirSync(join(folder, to), { recursive: true });
    for (const name of readdirSync(inRoot(from)).filter(wanted)) cpSync(inRoot(from, name), join(folder, to, name));
  }
  cpSync(inRoot('examples/countries/sluice.yaml'), join(folder, 'files/sluice.yaml'));
  return version;
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  try {
    const to = resolve(process.argv[2] ?? inRoot('dist/chart'));
    const version = layOutChart(join(to, 'sluice'));
    const { status, stderr } = spawnSync(goTool('helm'), ['package', join(to, 'sluice'), '--destination', to], {
      encoding: 'utf8',
    });
    if (status !== 0) throw new Error(`helm package failed: ${stderr}`);
    console.log(join(relative(process.cwd(), to), `sluice-${version}.tgz`));
  } catch (error) {
    console.error(`sluice: ${error.message}`);
    process.exitCode = 1;
  }
}
