import { parseArgs } from 'node:util';
import { dataFiles, openLogFile, verifierIfAny } from '@sluice/host';
import { GenuineEnds } from '@sluice/run';
import { printable } from '@sluice/core';
import type { Configuration } from '@sluice/core';
import type { AppliedConfiguration } from '@sluice/run';
import type { OpenRuntime } from '@sluice/host';
import { startGateway } from '../../../gateway/src/gateway.module.js';
import { startProxy } from '../../../proxy/src/proxy.module.js';
import { startMcp } from '../../../mcp/src/mcp.module.js';
import { aboutVersion, appliedConfiguration } from '../system/applied.js';
import { startEmbedded } from '../system/embedded.js';
import { aboutApproval, aboutConfiguration } from '../show/configuration.js';
import { aboutLink, signInLink } from '../console-link.js';
import { followRun, publishRequest } from '../run-request.js';
import { sampleMistakes, sampleQuestion, sampleRequest } from '../sample.js';
import { besideThis, isClone } from '../show/hints.js';
import { Story } from '../show/story.js';
import type { CommandContext } from './command-context.js';

export const usage = `sluice start [--once]
  Runs all services in this process on an embedded log, shows the sample workflow, and keeps serving.
  Under SLUICE_CONFIG, or a configuration that was applied in the data folder, it serves without the sample.
  --once ends after the sample; exit code 0 only if its answer is right.`;

export async function run(args: readonly string[], surroundings: CommandContext): Promise<number> {
  const { values } = parseArgs({ args: [...args], options: { once: { type: 'boolean', default: false } } });
  const { environment, write, paint, stopped } = surroundings;
  if (environment.configFile !== null && values.once)
    throw new Error('--once runs the sample, which needs the sample configuration. Leave SLUICE_CONFIG unset.');
  const applied = environment.configFile === null ? await inForce(surroundings) : null;
  if (applied !== null && values.once)
    throw new Error(
      `--once runs the sample, which needs the sample configuration, but ${aboutVersion(applied)} is in force in ${environment.dataFolder}. Set SLUICE_DATA to another folder.`,
    );
  const configFile = environment.configFile ?? (applied === null ? await surroundings.sampleConfiguration() : null);
  const own = environment.configFile !== null || applied !== null;

  const urls: Record<string, string> = {};
  const doors = async ({ runtime, beforeClose }: OpenRuntime): Promise<void> => {
    for (const [name, start] of Object.entries({ gateway: startGateway, proxy: startProxy, mcp: startMcp })) {
      const door = await start(runtime);
      beforeClose(() => door.close());
      urls[name] = door.url;
    }
  };
  const system = await startEmbedded({ environment, configFile, doors });
  try {
    const { gateway = '', proxy = '', mcp = '' } = urls;
    write(
      `${paint.strong('Sluice')} is running: filter, agent, executor, audit, gateway, proxy and MCP server in one process, log in ${environment.dataFolder}\n`,
    );
    write(
      paint.dim(
        `http ${gateway}/v1/runs · proxy ${proxy} · MCP ${mcp} · health ${system.url}/health/ready · metrics ${system.url}/metrics · lines ${dataFiles(environment).lines}\n`,
      ),
    );
    const { configurations } = system.runtime;
    const { configuration } = configurations.current();
    write(`configuration ${printable(configFile ?? applied?.source ?? '')}: ${aboutConfiguration(configuration)}\n`);
    write(paint.bad(aboutApproval(configuration)));
    let shown = configuration.version;
    configurations.onChange(({ configuration: next }) => {
      if (next.version !== shown)
        write(`${paint.good('✓')} ${takenLine(next, configFile)}\n${paint.bad(aboutApproval(next))}`);
      shown = next.version;
    });
    if (applied !== null) write(`In force is ${aboutVersion(applied)}. It stays, so there is no sample.\n`);
    const right = own || (await runSample(system, surroundings));
    if (values.once) return right ? 0 : 1;
    write(
      whatNext(surroundings, {
        ...{ url: gateway, own, configFile, configuration: configurations.current().configuration },
        link: consoleLink(gateway, system.runtime),
      }),
    );
    const reason = await Promise.race([stopped, system.failed]);
    if (reason instanceof Error) throw reason;
    write('\nStopping: running work may end, the rest goes on at the next start.\n');
    return 0;
  } finally {
    await system.close();
  }
}

/**
 * A configuration that takes force while the services run: of the file when it is saved, or of `sluice config apply`.
 */
function takenLine(configuration: Configuration, file: string | null): string {
  const what = file === null ? 'A new configuration' : `${file} was read again and`;
  return `${what} is in force: ${aboutConfiguration(configuration)}, version ${configuration.version}`;
}

/** What was applied in this data folder. */
async function inForce({ environment, log }: CommandContext): Promise<AppliedConfiguration | null> {
  const bus = await openLogFile(environment, log);
  try {
    return await appliedConfiguration(bus, verifierIfAny(environment));
  } finally {
    await bus.close();
  }
}

async function runSample(
  { runtime, failed }: OpenRuntime,
  { write, paint, stopped }: CommandContext,
): Promise<boolean> {
  const { request, since, isNew } = await sampleRequest(runtime.bus, runtime.clock.now());
  write(
    `\n${paint.strong(sampleQuestion)}\n${paint.dim(`groups ${request.group?.join(', ') ?? ''}; no key needed: the built-in rule-based model chooses`)}\n`,
  );
  if (!isNew) write(paint.dim('The last sample was cut off; this is how it goes on.\n'));

  const stop = new AbortController();
  void Promise.race([stopped, failed]).then(() => stop.abort());
  const story = new Story(write, paint);
  if (isNew) await publishRequest(runtime.bus, request);
  const response = await followRun(
    new GenuineEnds(runtime.bus, runtime.signatures, runtime.log),
    request.requestId,
    since,
    (message) => story.tell(message),
    stop.signal,
  );
  if (response === null) return false;

  const mistakes = sampleMistakes(response);
  if (mistakes.length === 0)
    write(`${paint.good('✓')} The answer is right, and the workflow is back where it began.\n`);
  for (const mistake of mistakes) write(`${paint.bad('✗')} ${mistake}\n`);
  return mistakes.length === 0;
}

/** How to list runs over HTTP, which needs the local secret. */
function aboutSecret(url: string, file: string | null, beside: string): readonly string[] {
  if (file === null) return [];
  const shown = `'${file.replaceAll("'", `'\\''`)}'`;
  const cat = beside === '' ? 'cat' : `${beside.replace(' -it ', ' ')}cat`;
  return [`  curl ${url}/v1/runs -H "authorization: Bearer $(${cat} ${shown})"`];
}

/** The file of the secret that HTTP needs; null where an identity is configured, or the secret came from elsewhere. */
function secretFile(
  configuration: Pick<Configuration, 'identity'>,
  environment: CommandContext['environment'],
): string | null {
  const file = dataFiles(environment).localSecret;
  return configuration.identity.provider === 'none' && environment.secret('SLUICE_LOCAL_SECRET') === undefined
    ? file
    : null;
}

interface Shown {
  /** Of the gateway. */
  readonly url: string;
  /** Whether another configuration than the sample is in force. */
  readonly own: boolean;
  readonly configFile: string | null;
  readonly configuration: Configuration;
  /** Opens the console; null where none is served. */
  readonly link: string | null;
}

const fromOutside =
  'From outside of this container it takes no requests: start it with -p 127.0.0.1:8091:8091 and -e SLUICE_PUBLISHED_ON_LOOPBACK=true.';

/** The address by which this machine reaches what listens on all addresses. */
const nearUrl = (url: string): string => url.replace(/^http:\/\/(?:0\.0\.0\.0|\[?::\]?)(?=:)/, 'http://127.0.0.1');

/** For a browser on this machine; with an identity one signs in by that. */
function consoleLink(
  url: string,
  { clock, configurations, environment, localSecret }: OpenRuntime['runtime'],
): string | null {
  if (!environment.http.isConsoleServed) return null;
  const near = nearUrl(url);
  const isOpen = configurations.current().configuration.identity.provider === 'none' && localSecret.isKnown;
  return isOpen ? signInLink(near, localSecret, clock.now()) : `${near}/`;
}

function whatNext(
  { paint, environment, root }: CommandContext,
  { url, own, configFile, configuration, link }: Shown,
): string {
  const group = configuration.tools.flatMap(({ groups }) => groups).find((one) => /^[\w-]+$/.test(one));
  const beside = besideThis(root);
  const near = nearUrl(url);
  const ask = !own
    ? `${beside}npx sluice ask "What is the capital of Japan?" --group read-only`
    : `${beside}npx sluice ask "your question"${group === undefined || group === 'default' ? '' : ` --group ${group}`}`;
  const file = own ? configFile : 'examples/countries/sluice.yaml';
  return [
    ...(link === null ? [] : [`\n${paint.strong('Open the console')} in a browser: ${link}`]),
    ...(link?.includes('#') === true ? [paint.dim(`  ${aboutLink} ${beside}npx sluice console prints another.`)] : []),
    ...(beside === '' || environment.publishedOnLoopback || configuration.identity.provider !== 'none'
      ? []
      : [paint.bad(`  ${fromOutside}`)]),
    `\n${paint.strong('It keeps serving.')} In another terminal:`,
    `  ${ask}`,
    `  curl -N ${near}/v1/runs -H 'content-type: application/json' -H 'accept: text/event-stream' -d '{"question":"…"}'`,
    ...aboutSecret(near, secretFile(configuration, environment), beside),
    `  ${beside}npx sluice tail                              every record as it happens`,
    ...(file === null || (!own && !isClone(root)) ? [] : [`  npx sluice check ${file}`]),
    ...(own || beside !== ''
      ? []
      : ['  SLUICE_CONFIG=my.yaml npm start               your own tools; docs/configuration.md says how']),
    paint.dim('Ctrl-C stops it.'),
    '',
  ].join('\n');
}
