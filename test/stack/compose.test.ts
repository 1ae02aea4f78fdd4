import { execFileSync } from 'node:child_process';
import { existsSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from '@jest/globals';
import { readContentKeys } from '@sluice/content';
import { services } from '@sluice/contracts';
import { projectRoot } from '../harness/configurations.js';
import { composeFile, endsByItself, isOwn, read, readYaml, withoutVariables } from './files.js';
import type { Service } from './files.js';

const stack = composeFile('docker-compose.yml');
const cluster = composeFile('compose.cluster.yml');
const confluent = composeFile('compose.confluent.yml');
const load = composeFile('compose.load.yml');
const files = { stack, cluster, confluent, load };
/** What is defined here and not only changed. */
const whole = [...Object.entries(stack.services), ...brokers()];
const own = whole.filter(([, service]) => isOwn(service));
const serving = own.filter(([, service]) => service.command?.[0] === 'serve');

function brokers(): [string, Service][] {
  return Object.entries(cluster.services).filter(([, { image }]) => image !== undefined);
}

/** Who reads or writes content, or what is sealed with its keys. */
const sealing = ['agent', 'executor', 'gateway', 'mcp', 'notifier'];

const page = read('docs/operations.md');

/** What the images declare with VOLUME. */
const declaredVolumes: Readonly<Record<string, readonly string[]>> = {
  'apache/kafka': ['/etc/kafka/secrets', '/mnt/shared/config', '/var/lib/kafka/data'],
  'apicurio/apicurio-registry': [],
  'confluentinc/cp-schema-registry': ['/etc/schema-registry/secrets'],
  postgres: ['/var/lib/postgresql/data'],
  'prom/prometheus': ['/prometheus'],
  'prom/alertmanager': ['/alertmanager'],
  'grafana/grafana': [],
};

describe('every service of the stack', () => {
  it.each(whole)('%s: a fixed image, a memory limit, bounded lines', (_, service) => {
    expect(withoutVariables(service.image ?? '')).toMatch(/^[\w./-]+:([\w.-]*\d[\w.-]*(@sha256:[0-9a-f]{64})?|local)$/);
    // A machine with a mirror, or without a registry, names another one.
    expect(service.image).toMatch(/^\$\{\w+_IMAGE:-[^}]+\}$/);
    expect(service.deploy?.resources?.limits?.memory).toMatch(/^\d+[mg]$/);
    expect(service.logging?.options).toEqual({ 'max-size': expect.any(String), 'max-file': expect.any(String) });
  });

  it.each(whole)('%s: is started again and has a health check, or ends by itself', (_, service) => {
    if (endsByItself(service)) return;
    expect(service.restart).toBe('unless-stopped');
    expect(service.healthcheck).toMatchObject({ test: expect.anything(), interval: expect.any(String) });
  });

  it.each(whole)(
    '%s: has no capability, gains no right, and writes to nothing but volumes and memory',
    (_, service) => {
      expect(service).toMatchObject({ read_only: true, cap_drop: ['ALL'], security_opt: ['no-new-privileges:true'] });
      expect(Object.keys(service)).not.toContain('cap_add');
      expect(Object.keys(service)).not.toContain('privileged');
    },
  );

  it('is pinned by a digest, but for the registry', () => {
    const others = [...whole, ['registry of Confluent', confluent.services['registry'] ?? {}] as const].filter(
      ([, service]) => !isOwn(service),
    );
    const pinned = others.filter(([, { image = '' }]) => image.includes('@sha256:')).map(([name]) => name);
    expect(pinned.sort()).toEqual(
      [
        'alertmanager',
        'grafana',
        'kafka',
        'kafka-2',
        'kafka-3',
        'postgres',
        'prometheus',
        'registry of Confluent',
      ].sort(),
    );
    expect(new Set(others.filter(([name]) => name.startsWith('kafka')).map(([, { image }]) => image)).size).toBe(1);
  });

  it('listens on loopback alone', () => {
    const ports = whole.flatMap(([, service]) => service.ports ?? []);
    expect(ports.length).toBeGreaterThan(4);
    for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:\$\{\w+_PORT:-\d+\}:\d+$/);
  });

  it('has no secret in its variables, only the file that holds it', () => {
    for (const [, { environment = {} }] of whole)
      for (const name of Object.keys(environment))
        if (/PASSWORD|SECRET|TOKEN|DATABASE_URL|SLUICE_KEYS|CONTENT_KEYS/.test(name)) expect(name).toMatch(/_FILE$/);
  });

  it('tells a service that its ports are published on this machine alone only where they are', () => {
    const told = whole.filter(([, service]) => service.environment?.['SLUICE_PUBLISHED_ON_LOOPBACK'] === 'true');
    expect(told.map(([name]) => name).sort()).toEqual(['gateway', 'mcp', 'proxy']);
    for (const [, { ports = [] }] of told) for (const port of ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  });

  it('mounts what is there, and keeps data in volumes', () => {
    const mounts = whole.flatMap(([, service]) => service.volumes ?? []);
    const volumes = { ...stack.volumes, ...cluster.volumes };
    // What stands for a variable is its default.
    const sources = mounts.map((mount) => withoutVariables(mount).split(':'));
    for (const [source = ''] of sources) {
      if (source.startsWith('./')) expect(existsSync(join(projectRoot, source))).toBe(true);
      else expect(Object.keys(volumes)).toContain(source);
    }
    for (const name of ['kafka', 'postgres', 'prometheus', 'grafana'])
      expect(stack.services[name]?.volumes?.some((mount) => mount.startsWith(`${name}:`))).toBe(true);
  });
});

describe('docker compose down --volumes', () => {
  const foreign = [...whole, ['registry', confluent.services['registry'] ?? {}] as const].filter(
    ([, service]) => !isOwn(service),
  );

  it.each(foreign)('%s: leaves no volume without a name, which a former `down` would have orphaned', (_, service) => {
    const declared = declaredVolumes[withoutVariables(service.image ?? '').split(':')[0] ?? ''];
    const mounted = [...(service.volumes ?? []).map((mount) => mount.split(':')[1]), ...(service.tmpfs ?? [])];
    expect(declared).toBeDefined();
    expect(mounted).toEqual(expect.arrayContaining([...(declared ?? [])]));
  });

  it('has every volume of a service in the file that mounts it, and the page names the profile that has one', () => {
    expect(read('ops/Dockerfile')).not.toMatch(/^VOLUME/m);
    for (const { services, volumes } of Object.values(files)) {
      const named = Object.values(services).flatMap(({ volumes: mounts = [] }) =>
        mounts.map((mount) => mount.split(':')[0] ?? '').filter((source) => /^[\w-]+$/.test(source)),
      );
      expect([...new Set(named)].sort()).toEqual(Object.keys(volumes).sort());
    }
    expect(page).toContain('docker compose --profile alerts down --volumes');
  });
});

describe('the services of the project’s own image', () => {
  it('find a folder of their own in the image for every volume that is written: a new volume takes its owner from that', () => {
    const image = read('ops/Dockerfile');
    const written = own.flatMap(([, { volumes = [] }]) => volumes.filter((mount) => /^[\w-]+:\/[^:]+$/.test(mount)));
    expect(written.length).toBeGreaterThan(8);
    for (const mount of written) expect(image).toMatch(new RegExp(`mkdir -p [^&]*${mount.split(':')[1]}[ \n]`));
  });

  it('are the roles, the command line and what makes the secrets; one of them builds the image', () => {
    expect(own.map(([name]) => name)).toEqual(expect.arrayContaining(['secrets', 'sluice', ...services]));
    const builds = own.filter(([, { build }]) => build !== undefined);
    expect(builds.map(([name]) => name)).toEqual(['secrets']);
    const [, base] = /^ARG NODE_IMAGE=(\S+)$/m.exec(read('ops/Dockerfile')) ?? [];
    expect(builds[0]?.[1].build?.args).toEqual({ NODE_IMAGE: `\${NODE_IMAGE:-${base}}` });
  });

  it.each(own.filter(([, service]) => endsByItself(service)))('%s: has no health, as it ends', (_, service) => {
    expect(service.healthcheck).toEqual({ disable: true });
  });

  it.each(own)('%s: may write nothing but its volumes, gains no rights, and reaps its children', (_, service) => {
    expect(service).toMatchObject({ read_only: true, init: true });
    expect(service.user).toBeUndefined();
  });

  it.each(serving)('%s: has longer to stop than running work has to end', (_, service) => {
    expect(Number.parseInt(service.stop_grace_period ?? '', 10)).toBeGreaterThan(10);
  });

  it('have no variable that is not on the page', () => {
    for (const [, { environment = {} }] of own)
      for (const name of Object.keys(environment)) expect(page).toContain(`| \`${name.replace(/_FILE$/, '')}\` |`);
  });

  it('each get the keys of their role alone; the whole set stays with the service that makes it', () => {
    for (const [name, { volumes = [] }] of serving) {
      const secrets = volumes.map((mount) => mount.split(':')[0]).filter((source) => source?.startsWith('secret-'));
      // Who signs nothing has the public keys.
      const own = ['gateway', 'proxy', 'mcp', 'notifier'].includes(name) ? 'secret-public' : `secret-${name}`;
      const local = ['gateway', 'mcp'].includes(name) ? ['secret-local'] : [];
      const content = sealing.includes(name) ? ['secret-content'] : [];
      expect(new Set(secrets)).toEqual(new Set(['secret-database', own, ...local, ...content]));
    }
    for (const [name, { volumes = [] }] of serving)
      for (const mount of volumes.filter((each) => each.startsWith('secret-')))
        expect([name, mount]).toEqual([name, expect.stringMatching(/:ro$/)]);
  });
});

describe('the keys of content', () => {
  it('are made once, and are where content is written and read, and what they seal beside it', () => {
    const file = '/run/sluice/content/keys';
    const having = own.filter(([, { environment = {} }]) => environment['SLUICE_CONTENT_KEYS_FILE'] !== undefined);
    expect(having.map(([name]) => name).sort()).toEqual(['sluice', ...sealing].sort());
    for (const [name, { environment = {}, volumes = [] }] of having) {
      expect([name, environment['SLUICE_CONTENT_KEYS_FILE']]).toEqual([name, file]);
      expect([name, volumes]).toEqual([name, expect.arrayContaining([`secret-content:${dirname(file)}:ro`])]);
    }
    expect(stack.services['secrets']?.volumes).toContain(`secret-content:${dirname(file)}`);
    const script = read('ops/image/secrets.sh');
    expect(script).toContain('[ -s "$folder/content/keys" ] || content_key | keep "$folder/content/keys" 400');
    // As the store takes them: 32 bytes in base64.
    const [, program = ''] = /^content_key\(\) \{\n {2}node -p '(.+)'$/m.exec(script) ?? [];
    const key = execFileSync(process.execPath, ['-p', program], { encoding: 'utf8' });
    expect(readContentKeys(key)).toHaveLength(1);
  });
});

describe('the files', () => {
  it('say on the page which variables they take', () => {
    const taken = Object.values(files).flatMap(({ text }) => [...text.matchAll(/\$\{(\w+)/g)].map(([, name]) => name));
    for (const name of new Set(taken)) expect(page).toContain(`\`${name}\``);
  });

  it.each(Object.entries(files))('%s: is accepted by docker-compose 1.29 as well', (_, { text, keys, services }) => {
    for (const key of keys) expect(key).toMatch(/^x-/);
    expect(text).not.toMatch(
      /start_interval|env_file|\$\{[^}]*\$\{|\$\{\w+:\+|!reset|!override|configs:|dockerfile_inline/,
    );
    for (const { environment = {}, depends_on = {} } of Object.values(services)) {
      for (const value of Object.values(environment)) expect(typeof value).toBe('string');
      for (const how of Object.values(depends_on)) expect(Object.keys(how)).toEqual(['condition']);
    }
  });

  it('give three brokers to everything that wants one', () => {
    const all = 'kafka:19092,kafka-2:19092,kafka-3:19092';
    for (const [name] of own.filter(([, { environment = {} }]) => 'KAFKA_BROKERS' in environment))
      expect(cluster.services[name]?.environment).toEqual({ KAFKA_BROKERS: all, SLUICE_REPLICATION: '3' });
    for (const [name, { environment = {} }] of brokers()) {
      const { KAFKA_NODE_ID, KAFKA_ADVERTISED_LISTENERS, ...others } = environment;
      const first: Record<string, unknown> = {
        ...stack.services['kafka']?.environment,
        ...cluster.services['kafka']?.environment,
      };
      expect(name).toBe(`kafka-${String(KAFKA_NODE_ID)}`);
      expect(KAFKA_ADVERTISED_LISTENERS).toContain(`STACK://${name}:19092`);
      for (const key of Object.keys(others)) expect([key, others[key]]).toEqual([key, first[key]]);
      expect(new Set([...Object.keys(environment)])).toEqual(new Set(Object.keys(first)));
    }
  });

  it('give Confluent’s registry to everything that wants one', () => {
    for (const [name] of own.filter(([, { environment = {} }]) => 'SCHEMA_REGISTRY_URL' in environment))
      expect(confluent.services[name]?.environment).toEqual({ SCHEMA_REGISTRY_URL: 'http://registry:8080' });
  });

  it('give the keys of the load’s users to whom they are shown, and to who makes them', () => {
    const folder = dirname(
      (readYaml('examples/load/sluice.yaml') as { identity: { key_file: string } }).identity.key_file,
    );
    expect(read('examples/load/mix.yaml')).toContain(`key_file: ${folder}/`);
    const mounts = Object.entries(load.services).map(([name, { volumes = [] }]) => [name, ...volumes]);
    expect(mounts).toEqual([
      ['sluice', `load-keys:/app/${folder}`],
      ['filter', `load-keys:/app/${folder}:ro`],
      ['executor', `load-keys:/app/${folder}:ro`],
      ['gateway', `load-keys:/app/${folder}:ro`],
      ['mcp', `load-keys:/app/${folder}:ro`],
    ]);
    // A volume takes its owner from the image.
    expect(read('ops/Dockerfile')).toMatch(new RegExp(`chown -R node:node .*/app/${folder} `));
  });

  it('scrape every role', () => {
    const { scrape_configs: jobs } = readYaml('ops/prometheus/prometheus.yml') as {
      readonly scrape_configs: readonly {
        job_name: string;
        dns_sd_configs?: readonly { names: readonly string[] }[];
      }[];
    };
    const names = jobs.find(({ job_name: name }) => name === 'sluice')?.dns_sd_configs?.[0]?.names ?? [];
    for (const [name] of serving) expect(names).toContain(name);
  });
});

describe('the image', () => {
  const dockerfile = read('ops/Dockerfile');

  it('runs as an unprivileged user, on a base that is pinned by its digest', () => {
    expect(dockerfile).toMatch(/^ARG NODE_IMAGE=node:\d+\.\d+\.\d+-[\w-]+@sha256:[0-9a-f]{64}$/m);
    expect([...dockerfile.matchAll(/^FROM (\S+)/gm)].map(([, base]) => base)).toEqual([
      '${NODE_IMAGE}',
      '${NODE_IMAGE}',
    ]);
    expect(dockerfile).toMatch(/^USER 1000:1000$/m);
  });

  it('is made of the package alone, and has its health check and the words that start it', () => {
    const [, final = ''] = dockerfile.split(/^FROM .* AS package$/m)[1]?.split(/^FROM /m) ?? [];
    expect(final.match(/^(?:COPY|ADD) .*$/gm)).toEqual(['COPY --from=package /app ./']);
    expect(final).toContain('CMD ["node", "/app/ops/image/ready.mjs"]');
    expect(final).toMatch(/^ENTRYPOINT \["sluice"\]\nCMD \["start"\]$/m);
    expect(read('ops/image/sluice.sh')).toMatch(/^exec node \/app\/bin\/sluice\.mjs "\$@"$/m);
  });

  it('has scripts that can be run', () => {
    for (const script of ['ops/image/sluice.sh', 'ops/image/secrets.sh'])
      expect(statSync(join(projectRoot, script)).mode & 0o111).toBe(0o111);
  });

  it('is given every folder that it copies, and nothing that holds data or secrets', () => {
    const allowed = read('.dockerignore').split('\n');
    expect(allowed).toContain('*');
    const pack = read('bin/pack.mjs');
    const [, examples = ''] = /^const examples = (.*);$/m.exec(pack) ?? [];
    const [, example = ''] = /^const example = '(.*)';$/m.exec(pack) ?? [];
    const [, names = ''] = /for \(const name of (\[.*\])\) copy\(name\)/.exec(pack) ?? [];
    const quoted = (list: string): string[] => [...list.matchAll(/'([^']+)'/g)].map(([, one = '']) => one);
    const copied = [
      ...[...pack.matchAll(/\bcopy\('([^'$]+)'/g)].map(([, path = '']) => path),
      ...[...pack.matchAll(/\breaddirSync\(inRoot\('([^']+)'\)/g)].map(([, path = '']) => path),
      ...quoted(names),
      ...[...quoted(examples), example, 'analysis-server'].map((name) => `examples/${name}`),
      ...[
        'apps',
        'libs',
        'package-lock.json',
        'bin/bundle.mjs',
        'bin/externals.mjs',
        'bin/licences.mjs',
        'bin/pack.mjs',
      ],
    ].filter((path) => !path.startsWith('dist/'));
    expect(copied.length).toBeGreaterThan(12);
    const isAllowed = (path: string): boolean =>
      allowed.some((line) => line.startsWith('!') && `${path}/`.startsWith(`${line.slice(1)}/`));
    expect(copied.filter((path) => !isAllowed(path))).toEqual([]);
    expect(allowed.filter((line) => line.startsWith('!')).join('\n')).not.toMatch(/data|keys|\.env|node_modules/);
  });
});

describe('npm run images', () => {
  interface Images {
    imagesOf(text: string): readonly { readonly image: string; readonly digest: string | null }[];
    pinned(text: string, digests: ReadonlyMap<string, string>): string;
  }
  const images = async (): Promise<Images> => (await import(join(projectRoot, 'bin/images.mjs'))) as Images;

  it('finds every image of others in the files, and writes a digest where it belongs', async () => {
    const { imagesOf, pinned } = await images();
    const named = [...Object.values(files), { text: read('ops/Dockerfile') }].flatMap(({ text }) => imagesOf(text));
    const others = [...whole.map(([, service]) => service), confluent.services['registry'] ?? {}]
      .filter((service) => !isOwn(service))
      .map(({ image = '' }) => withoutVariables(image).split('@')[0]);
    expect(new Set(named.map(({ image }) => image.replace(/^node:.*/, 'node')))).toEqual(new Set([...others, 'node']));

    const digest = `sha256:${'a'.repeat(64)}`;
    const all = new Map(imagesOf(stack.text).map(({ image }) => [image, digest]));
    const again = imagesOf(pinned(stack.text, all));
    expect(again.map((one) => one.digest)).toEqual(again.map(() => digest));
    expect(pinned(stack.text, new Map())).toBe(stack.text);
  });
});

describe('npm run image', () => {
  interface Image {
    buildCommand(how: object, about: object, context: string): readonly string[];
  }
  it('says Docker the tags, what is known of the package, and the platforms', async () => {
    const { buildCommand } = (await import(join(projectRoot, 'bin/image.mjs'))) as Image;
    const about = { version: '0.1.0', revision: 'abc', source: '' };
    const file = join(projectRoot, 'ops/Dockerfile');
    expect(buildCommand({ tags: ['a:1', 'b:1'] }, about, '/context')).toEqual(
      ['build', '--tag', 'a:1', '--tag', 'b:1', '--build-arg', 'VERSION=0.1.0', '--build-arg', 'REVISION=abc', '--file', file, '/context'], // prettier-ignore
    );
    const platform = 'linux/amd64,linux/arm64';
    expect(buildCommand({ tags: ['a:1'], platform, push: true }, about, '/context').slice(0, 5)).toEqual(
      ['buildx', 'build', '--platform', platform, '--push'], // prettier-ignore
    );
    expect(() => buildCommand({ tags: ['a:1'], push: true }, about, '/context')).toThrow('--push goes with --platform');
  });
});
