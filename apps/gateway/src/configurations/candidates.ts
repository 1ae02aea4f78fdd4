import { Inject, Injectable } from '@nestjs/common';
import type { Configuration, Finding, Problem } from '@sluice/core';
import { Busy, RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Refusal } from '../refusal.js';
import { valueWithoutSecrets } from './hide.js';
import { Versions } from './versions.js';

/** Problems and findings that an answer lists. */
const mostListed = 200;
/** Tools that a refusal names. */
const mostNamed = 20;
/** Candidates that are compiled at a time: that takes this thread. */
const mostAtOnce = 4;

/** A problem of a candidate, on the wire. */
interface ListedProblem {
  readonly severity: 'error';
  readonly path: string;
  readonly line: number | null;
  readonly column: number | null;
  readonly found: string;
  readonly write: string;
}

/** What is wrong with a candidate, and what its author will want to know. */
export interface CheckedCandidate {
  readonly ok: boolean;
  readonly config_version: string | null;
  readonly tools: number | null;
  readonly problems: readonly ListedProblem[];
  readonly findings: readonly object[];
  readonly left_out: number;
}

type Placing = (path: string) => { readonly line: number; readonly column: number } | null;

/** Texts of configurations that are not in force. Nothing of them is kept. */
@Injectable()
export class Candidates {
  private underWay = 0;

  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Versions) private readonly versions: Versions,
  ) {}

  async check(text: string): Promise<CheckedCandidate> {
    const { configuration, problems, findings, placeOf } = await this.compile(text);
    const listed = problems.slice(0, mostListed).map((problem) => listedProblem(problem, placeOf));
    const left = Math.max(0, problems.length - mostListed) + Math.max(0, findings.length - mostListed);
    return valueWithoutSecrets({
      ok: configuration !== null,
      ...{ config_version: configuration?.version ?? null, tools: configuration?.tools.length ?? null },
      problems: listed,
      findings: findings.slice(0, mostListed).map((finding) => listedFinding(finding, placeOf)),
      left_out: left,
    });
  }

  /** The configuration of a text. Throws Refusal(422) where it has mistakes. */
  async configurationOf(text: string): Promise<Configuration> {
    const { configuration, problems, placeOf } = await this.compile(text);
    if (configuration !== null) return configuration;
    const listed = valueWithoutSecrets(problems.slice(0, mostListed).map((problem) => listedProblem(problem, placeOf)));
    const [first] = listed;
    const where = first?.line === null || first === undefined ? (first?.path ?? '') : `line ${first.line}`;
    const many = problems.length === 1 ? 'one mistake' : `${problems.length} mistakes`;
    const message = `The candidate has ${many}, the first at ${where}: found ${first?.found ?? ''}; write ${first?.write ?? ''}.`;
    throw new Refusal(422, 'invalid_configuration', message, {}, { problems: listed });
  }

  /** Throws Refusal(422) for tools that only the candidate lacks: its server was not asked. */
  requireTools({ tools, policy }: Configuration): void {
    const { configuration } = this.runtime.configurations.current();
    const isAway = new Set(configuration.tools.flatMap(({ key, unavailable }) => (unavailable === null ? [] : [key])));
    const allowed = new Set(policy.allowedTools);
    const away = tools.filter(({ id, unavailable }) => allowed.has(id) && unavailable !== null);
    const missing = away.filter(({ key }) => !isAway.has(key));
    if (missing.length === 0) return;
    const problems = missing.slice(0, mostNamed).map(({ key, unavailable }) => ({
      ...{ severity: 'error', path: `tool.${key}`, line: null, column: null, found: String(unavailable) },
      write: 'another tool, or take it out of policy.allowed_tools; `sluice replay --config FILE` asks its server',
    }));
    const message = `The candidate allows tools that are not known here, such as ${missing[0]?.key ?? ''}, since no server is asked over HTTP. Take them out of policy.allowed_tools, or use the file with \`sluice replay --config FILE\` and \`sluice config apply FILE\`.`;
    throw new Refusal(422, 'invalid_configuration', message, {}, { problems });
  }

  private async compile(text: string) {
    if (this.underWay >= mostAtOnce)
      throw new Busy(`This gateway compiles ${mostAtOnce} candidates already. Try again in a moment.`);
    this.underWay++;
    try {
      // Packs and their types are loaded where a candidate is compiled.
      const { compileCandidate } = await import('./candidate.js');
      const { configurations, environment } = this.runtime;
      const current = configurations.inForceOrNull()?.configuration ?? null;
      const source = current === null ? null : (await this.versions.named('current')).applied.source;
      return await compileCandidate(text, { current, source, environment });
    } finally {
      this.underWay--;
    }
  }
}

function listedProblem({ path, found, write, position }: Problem, placeOf: Placing): ListedProblem {
  // What is no YAML has its place as its path.
  const [, line, column] = /:(\d+):(\d+)$/.exec(position ?? path) ?? [];
  const place = line === undefined ? placeOf(path) : { line: Number(line), column: Number(column) };
  return {
    severity: 'error',
    path: position === undefined && line !== undefined ? '' : path,
    ...{ line: place?.line ?? null, column: place?.column ?? null, found, write },
  };
}

function listedFinding({ kind, path, message }: Finding, placeOf: Placing): object {
  const place = placeOf(path);
  return { kind, path, message, line: place?.line ?? null, column: place?.column ?? null };
}
