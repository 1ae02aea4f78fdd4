import { readFile, stat } from 'node:fs/promises';
import { resolve } from 'node:path';
import { Controller, Inject, Param, Query, Req } from '@nestjs/common';
import type { Request } from 'express';
import {
  configurationChanges,
  describeConfiguration,
  findInConfiguration,
  groupStateMatrix,
  undescribed,
} from '@sluice/configuration';
import type { ConfigurationChange } from '@sluice/configuration';
import type { Configuration, Principal } from '@sluice/core';
import { differences } from '@sluice/replay';
import { inForceOf } from '@sluice/run';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { describedBody } from '../described-body.js';
import { cursorFor, parametersOf } from '../lists/list-query.js';
import { Route } from '../openapi/route.js';
import { ByPrincipal } from '../rights.js';
import { Applying } from './apply.js';
import { Candidates } from './candidates.js';
import { configurationQuery, differenceParameters, wantsDocument } from './configuration-query.js';
import { valueWithoutSecrets, withoutSecrets } from './hide.js';
import { Versions } from './versions.js';
import type { Version } from './versions.js';

type Query_ = Readonly<Record<string, unknown>>;

/** Bytes of a configuration file that is shown. */
const longestSource = 1_048_576;
/** Changes that a comparison lists. */
const mostChanges = 1_000;
/** Findings that an answer lists. */
const mostFindings = 1_000;

/** The versions of the configuration, for operators. */
@Controller()
export class ConfigurationsController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Versions) private readonly versions: Versions,
    @Inject(Candidates) private readonly candidates: Candidates,
    @Inject(Applying) private readonly applying: Applying,
  ) {}

  @Route('listConfigurations')
  async list(@Query() query: Query_): Promise<object> {
    const { limit, before } = configurationQuery(query);
    const all = await this.versions.all();
    const last = inForceOf(all.flatMap(({ applied, refused }) => (refused === null ? [applied] : [])));
    const end = Math.min(before ?? all.length, all.length);
    const begin = Math.max(0, end - limit);
    const page = all.slice(begin, end).toReversed();
    return {
      configurations: page.map(({ applied, refused }) => ({
        config_version: applied.version,
        source: withoutSecrets(applied.source),
        ...{ applied_at: applied.appliedAt, compiled_at: applied.compiledAt },
        ...{ in_force: applied === last, refused, tools: this.versions.toolsOf(applied) },
      })),
      next_cursor: begin === 0 ? null : cursorFor({ startedAt: begin, requestId: '' }),
    };
  }

  @Route('readConfiguration')
  async show(@Param('config_version') name: string, @Query() query: Query_): Promise<object> {
    const withDocument = wantsDocument(query);
    const version = await this.versions.named(name);
    const { applied, configuration, isInForce } = version;
    const document = withDocument ? JSON.stringify(valueWithoutSecrets(configuration), null, 2) : null;
    return {
      config_version: applied.version,
      source: withoutSecrets(applied.source),
      ...{ applied_at: applied.appliedAt, compiled_at: applied.compiledAt, in_force: isInForce },
      ...(await this.sourceText(version)),
      document,
      ...valueWithoutSecrets(describeConfiguration(configuration)),
    };
  }

  @Route('compareConfigurations')
  async compare(@Param('config_version') name: string, @Query() query: Query_): Promise<object> {
    const { from } = parametersOf(query, differenceParameters);
    const after = await this.versions.named(name);
    const before = from === undefined ? await this.versions.before(after) : await this.versions.named(from);
    // Hidden before they are compared: beside what it stands in one sees what a secret is.
    const [was, is] = [before?.configuration, after.configuration].map(valueWithoutSecrets);
    const changes = was === undefined || is === undefined ? [] : changesBetween(was, is);
    return {
      config_version: after.applied.version,
      from: before?.applied.version ?? null,
      changes: changes.slice(0, mostChanges),
      left_out: Math.max(0, changes.length - mostChanges),
    };
  }

  @Route('readMatrix')
  async matrix(@Param('config_version') name: string): Promise<object> {
    const { applied, configuration } = await this.versions.named(name);
    return { config_version: applied.version, ...groupStateMatrix(configuration) };
  }

  @Route('listFindings')
  async findings(@Param('config_version') name: string): Promise<object> {
    const { applied, configuration } = await this.versions.named(name);
    const findings = findInConfiguration(configuration);
    return {
      config_version: applied.version,
      findings: valueWithoutSecrets(
        findings.slice(0, mostFindings).map((finding) => ({ ...finding, line: null, column: null })),
      ),
      left_out: Math.max(0, findings.length - mostFindings),
    };
  }

  @Route('checkConfiguration')
  async check(@Req() request: Request): Promise<object> {
    const { text } = describedBody<{ readonly text: string }>(request, 'Candidate');
    return this.candidates.check(text);
  }

  @Route('applyConfiguration')
  apply(@Req() request: Request, @ByPrincipal() operator: Principal): Promise<object> {
    const body = describedBody<{ readonly text: string; readonly replaces?: string | null }>(request, 'ApplyRequest');
    return this.applying.apply(body.text, body.replaces ?? null, operator);
  }

  /**
   * The file of the configuration in force as it is now, where this process has it: on a cluster it is on another
   * machine.
   */
  private async sourceText({ applied, isInForce }: Version): Promise<object> {
    const none = { text: null, text_is_whole: false };
    if (!isInForce || this.runtime.environment.bus !== 'sqlite') return none;
    try {
      const path = resolve(applied.source);
      const { size } = await stat(path);
      if (size > longestSource) return none;
      const text = await readFile(path, 'utf8');
      const shown = withoutSecrets(text);
      return { text: shown, text_is_whole: shown === text };
    } catch {
      return none;
    }
  }
}

function changesBetween(before: Configuration, after: Configuration): readonly ConfigurationChange[] {
  const others = differences(undescribed(before), undescribed(after)).map(({ path, was, is }): ConfigurationChange => {
    const change = was === undefined ? 'added' : is === undefined ? 'removed' : 'changed';
    return { kind: 'setting', name: path, change, part: null, before: was ?? null, after: is ?? null };
  });
  return [...configurationChanges(before, after), ...others];
}
