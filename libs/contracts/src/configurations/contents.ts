import { isVersionOf } from '@sluice/core';
import type { Configuration, ConfiguredTool } from '@sluice/core';
import type { ConfigVersion } from '@sluice/records';
import { sha256 } from '../digest.js';
import { hasVersion } from './has-version.js';
import { isPart, isWholePart } from './parts.js';

/** A configuration without its tools, and the parts that hold them. */
interface Manifest extends Pick<ConfigVersion, 'configuration' | 'parts'> {
  /** Whether its writer may put configurations in force. */
  readonly isTrusted: boolean;
}

/** What records of agent.config hold, as plain data that a thread can be sent. */
export interface WrittenConfigurations {
  /** Those that stand in one record, by version. */
  readonly texts: Map<string, string>;
  /** Those in parts, by version: a trusted one, or each that calls itself so. */
  readonly manifests: Map<string, readonly Manifest[]>;
  /** By name: their texts, and once they were read the tools, which all configurations share. */
  readonly parts: Map<string, string | ConfiguredTool>;
}

/** Of manifests that call themselves the same version and are not trusted, so many are held. */
const mostCandidates = 8;

/**
 * Whole configurations from records of agent.config, whether they stand in one or in parts: every reader of the
 * topic takes them from here. A content without the hash that names it is not taken.
 */
export class ConfigurationContents {
  /** Versions in parts whose content was found to have their hash. */
  private readonly sound = new Map<string, Manifest>();

  constructor(readonly written: WrittenConfigurations = { texts: new Map(), manifests: new Map(), parts: new Map() }) {}

  /**
   * Takes what the record holds; false if it is not what its name is the hash of. Of one in parts that is found when
   * it is read: it may have thousands of them.
   */
  take(record: ConfigVersion, isTrusted = true): boolean {
    const { version, configuration, parts } = record;
    if (isPart(record)) {
      if (!isWholePart(record)) return false;
      if (!this.written.parts.has(version)) this.written.parts.set(version, configuration);
      return true;
    }
    if (parts.length > 0) {
      this.takeManifest(version, { configuration, parts, isTrusted });
      return true;
    }
    if (!isVersionOf(version, configuration, sha256)) return false;
    this.written.texts.set(version, configuration);
    return true;
  }

  /** Those of the record’s parts that are not here. */
  missing({ parts }: Pick<ConfigVersion, 'parts'>): readonly string[] {
    return parts.filter((name) => !this.written.parts.has(name));
  }

  /** Whether the version is here, with all its parts. */
  has(version: string): boolean {
    const { texts, manifests } = this.written;
    if (texts.has(version) || this.sound.has(version)) return true;
    return (manifests.get(version) ?? []).some((one) => this.missing(one).length === 0);
  }

  /** Every version that a record names, in whatever order. */
  versions(): readonly string[] {
    const { texts, manifests } = this.written;
    return [...new Set([...texts.keys(), ...manifests.keys()])];
  }

  /** The configuration, whole; undefined if no record names it. Throws a sentence if it cannot be had. */
  get(version: string): Configuration | undefined {
    const text = this.written.texts.get(version);
    if (text !== undefined) return JSON.parse(text) as Configuration;
    const known = this.sound.get(version);
    if (known !== undefined) return this.assembled(known);
    let failure: unknown;
    for (const manifest of this.written.manifests.get(version) ?? []) {
      try {
        const configuration = this.assembled(manifest);
        if (!hasVersion(version, configuration)) throw new Error('Its version is not the hash of its content.');
        this.sound.set(version, manifest);
        return configuration;
      } catch (error) {
        failure = error;
      }
    }
    if (failure !== undefined) throw failure;
    return undefined;
  }

  private takeManifest(version: string, manifest: Manifest): void {
    const { manifests } = this.written;
    const known = manifests.get(version) ?? [];
    if (manifest.isTrusted) manifests.set(version, [manifest]);
    else if (known[0]?.isTrusted !== true) manifests.set(version, [...known, manifest].slice(-mostCandidates));
  }

  private assembled(manifest: Manifest): Configuration {
    const missing = this.missing(manifest);
    if (missing.length > 0) throw new Error(missingParts(missing, manifest.parts.length));
    if (new Set(manifest.parts).size < manifest.parts.length) throw new Error('It names one of its parts twice.');
    const { version, ...rest } = JSON.parse(manifest.configuration) as Configuration;
    return { version, ...rest, tools: manifest.parts.map((name) => this.tool(name)) };
  }

  /** Each is held once, whatever configurations have it. */
  private tool(name: string): ConfiguredTool {
    const part = this.written.parts.get(name);
    if (typeof part === 'object') return part;
    const tool = JSON.parse(part ?? '') as ConfiguredTool;
    this.written.parts.set(name, tool);
    return tool;
  }
}

/** A sentence with one of them, since there may be thousands. */
export function missingParts(missing: readonly string[], of: number): string {
  return `${missing.length} of its ${of} parts are not on agent.config before it, such as ${missing[0] ?? ''}.`;
}
