import { byResource, classOf, clientCalls, writtenResources } from './calls.ts';
import type { ClientCall } from './calls.ts';
import { note } from './description.ts';
import type { Description } from './description.ts';

/**
 * The methods of the asynchronous Python client that only ask and read the answer; those of the one that blocks are
 * written from them.
 */
export function pythonCalls(description: Description): string {
  const resources = byResource(clientCalls(description));
  const classes = [...resources].map(([resource, calls]) => {
    const begin = `class ${classOf(resource)}:\n    def __init__(self, transport: Transport) -> None:\n        self._transport = transport\n`;
    return [begin, ...calls.map(methodOf)].join('\n');
  });
  const whole = [...resources.keys()].filter((resource) => !writtenResources.includes(resource));
  const opened = whole.map((resource) => `        self.${snake(resource)} = ${classOf(resource)}(transport)\n`);
  return `"""${note}"""

from __future__ import annotations

from typing import Any, Unpack
from urllib.parse import quote

from . import models
from ._calls import Call, Request, body_of, model
from ._transport import AsyncPages, Cursor, Transport


${classes.join('\n\n')}

class Resources:
    """The resources that nothing is written for by hand."""

    def __init__(self, transport: Transport) -> None:
${opened.join('')}`;
}

function methodOf(call: ClientCall): string {
  const { method, doc, verb, places, required, query, isFormatted, body, answer, page, isRepeatable } = call;
  const parameters = [
    'self',
    ...[...places, ...required].map((name) => `${name}: str`),
    ...(body === null ? [] : [body === 'AgentRequest' ? 'request: Request' : `request: models.${body}`]),
    ...(query === null ? [] : [`**query: Unpack[models.${query}]`]),
  ].join(', ');
  const asked = [
    ...(query === null ? [] : ['**query']),
    ...required.map((name) => `"${name}": ${name}`),
    ...(isFormatted ? ['"format": "json"'] : []),
    ...(page === null ? [] : [`"${page.by}": cursor`]),
  ];
  const sent = [
    pathOf(call),
    `model(models.${answer})`,
    ...(verb === 'GET' ? [] : [`method="${verb}"`]),
    ...(asked.length === 0 ? [] : [`query={${asked.join(', ')}}`]),
    ...(body === null ? [] : ['body=body_of(request)']),
    ...(isRepeatable ? [] : ['repeatable=False']),
  ].join(', ');
  const about = `        """${doc.replaceAll('"', '\\"')}"""\n`;
  if (page === null)
    return `    async def ${snake(method)}(${parameters}) -> models.${answer}:\n${about}        return await self._transport.run(Call(${sent}))\n`;
  return `    def ${snake(method)}(${parameters}) -> AsyncPages[models.${page.item}]:
${about}
        async def read(cursor: Any) -> tuple[list[models.${page.item}], Cursor]:
            page = await self._transport.run(Call(${sent}))
            return page.${page.items}, page.${page.next}

        return AsyncPages(read)
`;
}

function pathOf({ path, places }: ClientCall): string {
  return places.length === 0
    ? `"${path}"`
    : `f"${path.replace(/\{(\w+)\}/g, (_, name: string) => `{quote(${name}, safe='')}`)}"`;
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
