import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from '../address.ts';
import type { Place } from '../instance.ts';
import { freePort } from '../ports.ts';
import type { Service } from './instance.ts';
import { findPrometheus } from './prometheus-binaries.ts';

/** Not roles.yml: a test runs the roles it needs, and no deployment's list. */
const rules = ['recording', 'services', 'security'].map((name) =>
  join(import.meta.dirname, `../../../ops/prometheus/rules/${name}.yml`),
);

/** A server that looks every second, at what its file of targets lists, under the project's own rules. */
export async function describePrometheus(place: Place): Promise<{ address: Address; service: Service }> {
  const { prometheus } = await findPrometheus(place.say, place.ending);
  const inPlace = (name: string): string => join(place.folder, name);
  const targets = inPlace('targets.json');
  const configuration = {
    global: { scrape_interval: '1s', scrape_timeout: '1s', evaluation_interval: '1s' },
    rule_files: rules,
    scrape_configs: [{ job_name: 'sluice', file_sd_configs: [{ files: [targets], refresh_interval: '1s' }] }],
  };
  await writeFile(targets, '[]');
  // JSON is YAML.
  await writeFile(inPlace('prometheus.yml'), JSON.stringify(configuration));
  const port = await freePort();
  return {
    address: { kind: 'prometheus', url: `http://127.0.0.1:${port}`, targets },
    service: {
      command: prometheus,
      args: [
        `--config.file=${inPlace('prometheus.yml')}`,
        `--storage.tsdb.path=${inPlace('data')}`,
        `--web.listen-address=127.0.0.1:${port}`,
      ],
      cwd: place.folder,
      log: inPlace('prometheus.log'),
      stopSignal: 'SIGTERM',
      endSignal: 'KILL',
    },
  };
}
