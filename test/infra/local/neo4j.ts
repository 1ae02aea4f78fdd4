import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Address } from '../address.ts';
import type { Place } from '../instance.ts';
import { neo4jPassword, neo4jUser } from '../settings.ts';
import { freePort } from '../ports.ts';
import { runGuarded } from './guarded.ts';
import type { Program } from './guarded.ts';
import type { Service } from './instance.ts';
import { findJava } from './java.ts';
import { fetchFromMaven } from './maven.ts';

/** A Neo4j server, the community edition, that answers Bolt and nothing else. */
export async function describeNeo4j(place: Place): Promise<{ address: Address; service: Service }> {
  const java = await findJava();
  const jars = await fetchFromMaven('neo4j', 'copy-dependencies', place);
  const port = await freePort();
  const conf = join(place.folder, 'conf');
  await mkdir(conf);
  const settings = {
    'server.bolt.listen_address': `127.0.0.1:${port}`,
    'server.bolt.advertised_address': `127.0.0.1:${port}`,
    'server.http.enabled': 'false',
    'server.https.enabled': 'false',
    'server.memory.pagecache.size': '64m',
    // Tests of wrong passwords lock nobody out.
    'dbms.security.auth_max_failed_attempts': '0',
    'dbms.usage_report.enabled': 'false',
  };
  const lines = Object.entries(settings).map(([name, value]) => `${name}=${value}\n`);
  await writeFile(join(conf, 'neo4j.conf'), lines.join(''));
  const run = (flags: readonly string[], main: readonly string[]): Program => ({
    command: java,
    args: ['-XX:+UseSerialGC', '-XX:TieredStopAtLevel=1', ...flags, '-cp', join(jars, '*'), ...main],
    cwd: place.folder,
    env: { NEO4J_HOME: place.folder, NEO4J_CONF: conf },
    log: join(place.folder, 'neo4j.log'),
    endSignal: 'KILL',
  });
  const password = ['org.neo4j.cli.AdminTool', 'dbms', 'set-initial-password', neo4jPassword];
  await runGuarded(run(['-Xmx128m'], password), place.ending);
  const server = ['org.neo4j.server.CommunityEntryPoint', `--home-dir=${place.folder}`, `--config-dir=${conf}`];
  return {
    address: { kind: 'neo4j', neo4jUrl: `bolt://${neo4jUser}:${neo4jPassword}@127.0.0.1:${port}` },
    service: { ...run(['-Xmx512m'], server), stopSignal: 'SIGTERM' },
  };
}
