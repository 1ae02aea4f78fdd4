import { toolPage } from '@sluice/core';
import type { JsonObject } from '@sluice/core';
import type { CompleteRequest, ReadResourceResult, Server, ServerContext } from '@modelcontextprotocol/server';
import {
  completed,
  listedTools,
  listedValues,
  namesIn,
  pageOf,
  toolOfPage,
  toolPageTemplate,
  toolPageUri,
} from '@sluice/mcp';
import type { ServedTool } from '@sluice/mcp';
import { askingOf } from './asking.js';
import { invalid } from './call-texts.js';
import type { Connection } from './connection.js';
import type { PassedOn } from './passed-on.js';
import type { ServerParts } from './server-parts.js';

const ofPages = {
  uriTemplate: toolPageTemplate,
  name: 'tool',
  title: 'A tool',
  description: 'All there is to know about a tool of this list.',
  mimeType: 'text/markdown',
};

/** What a caller sees, with what says which list it is. */
interface Seen {
  readonly tools: readonly ServedTool[];
  readonly mark: string;
}

/**
 * Serves the tools that the caller may call now, a page about each as a resource, and the values that arguments may
 * have.
 */
export function serveLists(server: Server, parts: ServerParts, connection: Connection, passedOn: PassedOn): void {
  server.setRequestHandler('tools/list', async ({ params }, context) => {
    const { listed, ...rest } = await pageFor(context, params?.cursor);
    return { tools: [...listed], ...rest };
  });

  server.setRequestHandler('resources/list', async ({ params }, context) => {
    const { listed, ...rest } = await pageFor(context, params?.cursor);
    const resources = listed.map(({ name, title }) => ({
      uri: toolPageUri(name),
      name,
      title: title ?? name,
      description: `All there is to know about the tool ${name}.`,
      mimeType: 'text/markdown',
    }));
    // Behind the pages: what upstream servers have.
    const others = 'nextCursor' in rest ? [] : await passedOn.resources(context);
    return { resources: [...resources, ...others], ...rest };
  });

  server.setRequestHandler('resources/templates/list', async (_request, context) => ({
    resourceTemplates: [ofPages, ...(await passedOn.templates(context))],
  }));

  server.setRequestHandler('resources/read', async ({ params: { uri } }, context) => {
    const name = toolOfPage(uri);
    if (name === null) {
      const found = await passedOn.read(uri, context);
      if (found === null) throw invalid('There is no such resource. List the resources.');
      return found as unknown as ReadResourceResult;
    }
    const { tools } = await seen(context);
    const served = tools.find((tool) => tool.name === name);
    const tool = namesIn(parts.runtime.configurations.current().evaluator).byName.get(name);
    // The answer does not tell a hidden tool from a missing one.
    if (served === undefined || tool === undefined) throw invalid('There is no such resource. List the resources.');
    return { contents: [{ uri, mimeType: 'text/markdown', text: toolPage(tool, name) }] };
  });

  server.setRequestHandler('completion/complete', async ({ params }, context) => {
    const { ref, argument } = params;
    const own = await ownCompletion(ref, argument, context);
    if (own !== null) return { completion: own };
    const { ref: _, _meta, ...complete } = params;
    const completion = await passedOn.complete(ref, complete as JsonObject, context);
    if (completion !== null) return { completion };
    throw invalid(
      ref.type === 'ref/resource'
        ? 'There is no such template. List the templates.'
        : 'There is no tool and no prompt of this name. List them.',
    );
  });

  /** Of a tool, or of the pages about tools; null for what is none of these. */
  async function ownCompletion(
    ref: CompleteRequest['params']['ref'],
    argument: CompleteRequest['params']['argument'],
    context: ServerContext,
  ) {
    const { tools } = await seen(context);
    if (ref.type === 'ref/resource')
      return ref.uri === toolPageTemplate && argument.name === 'name' ? completed(names(tools), argument.value) : null;
    const tool = tools.find(({ name }) => name === ref.name);
    return tool === undefined ? null : completed(listedValues(tool.inputSchema, argument.name), argument.value);
  }

  async function pageFor(context: ServerContext, cursor: string | undefined) {
    const { tools, mark } = await seen(context);
    const page = pageOf(tools, mark, cursor);
    if (page === null)
      throw invalid('The cursor is not of this list, which may have changed. List from the beginning.');
    const { page: listed, nextCursor } = page;
    return { listed, ...(nextCursor === undefined ? {} : { nextCursor }) };
  }

  async function seen(context: ServerContext): Promise<Seen> {
    const asking = await askingOf(connection.callerOf(context), connection.session, parts);
    const { evaluator } = parts.runtime.configurations.current();
    const tools = await listedTools(asking, evaluator, parts.authorizer());
    return { tools, mark: `${evaluator.configuration.version}/${asking.state ?? ''}/${tools.length}` };
  }
}

function names(tools: readonly ServedTool[]): readonly string[] {
  return tools.map(({ name }) => name);
}
