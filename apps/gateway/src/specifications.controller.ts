import { Controller, Inject, Param, Query } from '@nestjs/common';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import type { Loaded } from '@sluice/run';
import type { Caller } from './caller.js';
import { Refusal } from './refusal.js';
import { listed, shownGroups } from './listed-tool.js';
import { Route } from './openapi/route.js';
import { ByCaller } from './rights.js';

/** What tools take, by the hashes that records name. */
@Controller()
export class SpecificationsController {
  constructor(@Inject(RUNTIME) private readonly runtime: Runtime) {}

  /** A tool of groups that the caller may not ask for is as unknown as one that there is not. */
  @Route('readSpecification')
  specification(
    @ByCaller() { principal }: Caller,
    @Param('hash') hash: string,
    @Query('config_version') version: unknown,
  ): object {
    const { configuration, evaluator } = this.loaded(version);
    const shown = shownGroups(evaluator, principal);
    const tools = configuration.tools.filter(({ key, spec }) => spec?.schemaHash === hash && shown(key).length > 0);
    const schema = tools[0]?.spec?.inputSchema;
    if (schema === undefined)
      throw new Refusal(
        404,
        'not_found',
        'No tool that this caller may ask for has a schema of this hash in this configuration. Name the config_version of the record.',
      );
    return {
      config_version: configuration.version,
      schema_hash: hash,
      input_schema: schema,
      tools: tools.map((tool) => listed(tool, shown)),
    };
  }

  private loaded(version: unknown): Loaded {
    const { configurations } = this.runtime;
    if (version === undefined) return configurations.current();
    if (typeof version !== 'string')
      throw new Refusal(400, 'invalid_request', 'Write config_version once, as a record has it.');
    const loaded = configurations.versionOrNull(version);
    if (loaded !== null) return loaded;
    throw new Refusal(404, 'not_found', 'There is no configuration of this config_version that can be read here.');
  }
}
