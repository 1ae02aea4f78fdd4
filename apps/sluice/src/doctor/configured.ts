import { formatProblems } from '@sluice/configuration';
import { modelName, modelsOf, printable } from '@sluice/core';
import type { CheckResult, Configuration, McpOffer, McpServer, ModelSettings } from '@sluice/core';
import { createEmbedder, listModels, Models } from '@sluice/model';
import { examineKeys, keyFileProblem } from '@sluice/identity';
import { openBus, verifierIfAny } from '@sluice/host';
import { configurationsOn, inForceOf } from '@sluice/run';
import type { CommandContext } from '../commands/command-context.js';
import { sampleFile } from '../system/applied.js';
import { askModels } from '../system/ask-models.js';
import { askServers, compileForCommand } from '../system/compile-once.js';
import { hasOutsideSources, outsideSources } from '../system/outside-sources.js';
import type { Check } from './check.js';
import type { Clocks } from './clocks.js';

/** A server that npx fetches first takes its time, and so does a model, milliseconds. */
const serverMs = 15_000;
const modelMs = 15_000;

interface Looking {
  readonly context: CommandContext;
  /** Whether the log may be opened; resolves when that is known. */
  readonly isReadable: Promise<boolean>;
  readonly clocks: Clocks;
  readonly asksModels: boolean;
}

/**
 * The configuration that services here work under: the file that SLUICE_CONFIG names, else what is in force on the
 * log. `next` gets the checks of what it names.
 */
export function configurationCheck(looking: Looking, next: (checks: readonly Check[]) => void): Check {
  const { environment } = looking.context;
  return {
    check: 'configuration',
    limitMs: serverMs + 2_000,
    run: async () => {
      const servers = new Servers(looking.context);
      if (environment.configFile === null) {
        const found = await inForce(looking);
        if ('outcome' in found) return found;
        next(checksOf(found.configuration, servers, looking));
        return {
          outcome: 'ok',
          detail: `In force is version ${found.configuration.version}, of ${printable(found.source)}.`,
        };
      }
      const { configuration, problems } = await compileForCommand(environment.configFile, looking.context, {
        keyFileProblem,
        discover: (wanted) => servers.ask(wanted),
      });
      if (configuration === null)
        return {
          ...{ outcome: 'failed', detail: `${environment.configFile} has mistakes: ${formatProblems(problems)}` },
          action: `Mend them: \`sluice check ${environment.configFile}\` shows them all.`,
        };
      next(checksOf(configuration, servers, looking));
      return { outcome: 'ok', detail: `${environment.configFile} has no mistakes, version ${configuration.version}.` };
    },
  };
}

async function inForce({
  context: { environment, log, sampleConfiguration },
  isReadable,
}: Looking): Promise<CheckResult | { readonly configuration: Configuration; readonly source: string }> {
  if (!(await isReadable))
    return { outcome: 'skipped', detail: 'SLUICE_CONFIG names no file, and there is no log to find one on.' };
  const { bus } = await openBus(environment, log);
  try {
    const last = inForceOf(await configurationsOn(bus, verifierIfAny(environment)));
    // Programs of its servers are named from the project on, as `start` has it.
    if (last?.source === sampleFile) await sampleConfiguration();
    if (last !== undefined) return { configuration: last.read(), source: last.source };
    return {
      ...{ outcome: 'warning', detail: 'No configuration was ever applied.' },
      action: 'Apply one: sluice config apply FILE.',
    };
  } finally {
    await bus.close();
  }
}

/** MCP servers, each asked once, whether it was for the compiler or not. */
class Servers {
  private readonly asked = new Map<string, Promise<McpOffer>>();

  constructor(private readonly context: CommandContext) {}

  ask(servers: readonly McpServer[]): Promise<readonly McpOffer[]> {
    return Promise.all(servers.map((server) => this.one(server)));
  }

  one(server: McpServer): Promise<McpOffer> {
    let offer = this.asked.get(server.id);
    if (offer === undefined) this.asked.set(server.id, (offer = this.offerOf(server)));
    return offer;
  }

  private async offerOf(server: McpServer): Promise<McpOffer> {
    const over = AbortSignal.timeout(serverMs - 500);
    const [offer] = await askServers([server], this.context.environment, over);
    return offer ?? { server: server.id, error: 'It was not asked.' };
  }
}

function checksOf(configuration: Configuration, servers: Servers, looking: Looking): readonly Check[] {
  const { environment } = looking.context;
  const { identity, mcpServers } = configuration;
  const models = modelsOf(configuration).map((settings) => modelCheck(settings, looking));
  return [
    ...models,
    ...mcpServers.map((server): Check => ({
      check: `mcp.${server.id}`,
      limitMs: serverMs,
      run: async () => {
        const offer = await servers.one(server);
        const action = `\`sluice mcp list ${server.id}\` shows more.`;
        if ('error' in offer)
          return {
            outcome: 'failed',
            detail: `The MCP server ${server.id} is away: ${printable(offer.error)}`,
            action,
          };
        const count = offer.tools.length === 1 ? 'one tool' : `${offer.tools.length} tools`;
        return { outcome: 'ok', detail: `The MCP server ${server.id} answers and offers ${count}.` };
      },
    })),
    ...(identity.provider === 'jwt'
      ? [
          {
            check: 'identity',
            run: async () => {
              const found = await examineKeys(identity);
              looking.clocks.note('the identity provider', found.clock);
              return found;
            },
          },
        ]
      : []),
    ...(hasOutsideSources(configuration)
      ? [{ check: 'permissions', run: () => permissions(configuration, environment) }]
      : []),
    ...packageChecks(configuration),
  ];
}

async function permissions(
  configuration: Configuration,
  environment: CommandContext['environment'],
): Promise<CheckResult> {
  const sources = await outsideSources(configuration, environment);
  const silent = sources.filter(({ problem }) => problem !== null);
  if (silent.length === 0)
    return { outcome: 'ok', detail: `${sources.map(({ where }) => where).join(' and ')} answer.` };
  return { outcome: 'failed', detail: silent.map(({ where, problem }) => `${where}: ${problem ?? ''}`).join(' ') };
}

/** By the list of its provider, which costs nothing; where it has none, by one short question. */
function modelCheck(settings: ModelSettings, { context: { environment }, asksModels }: Looking): Check {
  const name = modelName(settings);
  return {
    check: `model.${name}`,
    limitMs: modelMs,
    run: async (signal) => {
      if (settings.provider === 'rules')
        return { outcome: 'ok', detail: 'The model is the built-in rules, which need no key and understand little.' };
      const action = 'Check its key, name and address in the configuration and the environment.';
      try {
        await new Models(environment.secret).get(settings);
      } catch (error) {
        return { outcome: 'failed', detail: (error as Error).message };
      }
      if (!asksModels)
        return { outcome: 'skipped', detail: `${name} is not asked (--no-model); its settings are whole.` };
      try {
        const listed = await listModels(settings, environment.secret, signal);
        if (listed !== null) {
          const isListed = listed.some((one) => one.startsWith(settings.name ?? ''));
          if (isListed || settings.name?.includes('/') === true)
            return {
              outcome: 'ok',
              detail: `${name} can be asked: its provider takes the key and lists it, at no cost.`,
            };
          return {
            ...{ outcome: 'warning', detail: `The provider takes the key, and does not list ${name}.` },
            action: 'See whether the name is right: `sluice check --model` asks it one short question.',
          };
        }
      } catch (error) {
        return { outcome: 'failed', detail: `${name} cannot be asked: ${(error as Error).message}.`, action };
      }
      const [asked] = await askModels({ model: settings }, environment.secret, modelMs - 1_000);
      if (asked?.problem == null)
        return {
          outcome: 'ok',
          detail: `${name} answered one short question, which cost a few tokens: its provider has no list.`,
        };
      return { outcome: 'failed', detail: `${name}: ${asked.problem}`, action };
    },
  };
}

/** Large packages that few need, and that are installed beside Sluice. Cedar’s absence is a mistake of the file. */
function packageChecks({ agentDiscovery, pipes }: Configuration): readonly Check[] {
  const used = [agentDiscovery?.embeddings, pipes?.toolDiscovery?.embeddings];
  const folders = used.flatMap((one) => (one?.provider === 'local' ? [one.folder ?? '.'] : []));
  return [...new Set(folders)].map((folder) => ({
    check: 'package.embeddings',
    run: async () => {
      const embeddings = used.find((one) => one?.provider === 'local');
      if (embeddings !== undefined) await createEmbedder({ ...embeddings, folder }, () => undefined);
      return { outcome: 'ok', detail: `The local embeddings in ${folder} can be loaded.` };
    },
  }));
}
