import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from '@jest/globals';
import { nameOfCommand, nameOfUrl } from '../apps/sluice/src/mcp/server-name.js';

const folder = mkdtempSync(join(tmpdir(), 'server-name-'));
afterAll(() => rmSync(folder, { recursive: true }));
const written = (file: string, text = ''): string => {
  const path = join(folder, file);
  mkdirSync(join(path, '..'), { recursive: true });
  writeFileSync(path, text);
  return path;
};
const installed = (name: string): string => join(folder, 'node_modules', name, 'dist/index.js');

describe('the name of a server in a suggested block', () => {
  it.each([
    ['npx -y @modelcontextprotocol/server-everything', 'everything'],
    ['npx @modelcontextprotocol/server-filesystem@2026.1.1 /srv', 'filesystem'],
    ['npx -y @playwright/mcp@latest --headless', 'playwright'],
    ['npx -p @upstash/context7-mcp context7 --stdio', 'context7'],
    ['npx --package=@notionhq/notion-mcp-server notion', 'notion'],
    ['pnpm dlx firecrawl-mcp', 'firecrawl'],
    ['uvx mcp-server-git --repository .', 'git'],
    ['uvx --from git+https://github.com/oraios/serena serena start-mcp-server', 'serena'],
    ['python3 -m mcp_server_time', 'time'],
    ['uvx markitdown-mcp[all]==1.2', 'markitdown'],
    ['docker run -i --rm -e GITHUB_TOKEN -m 1g ghcr.io/github/github-mcp-server:1.0', 'github'],
    ['docker run -i --rm -p 3000:3000 mcp/fetch', 'fetch'],
    ['/usr/local/bin/mcp-server-weather --stdio', 'weather'],
    [`node ${installed('@modelcontextprotocol/server-memory')} --all`, 'memory'],
    [`node ${installed('tavily-mcp')}`, 'tavily'],
    ['unbound', 'server'],
    ['npx', 'npx'],
  ])('of `%s` is `%s`', (command, name) => expect(nameOfCommand(command.split(' '))).toBe(name));

  it('of a file is that of its package, else of its path', () => {
    written('notes/package.json', '{"name":"@acme/notes-mcp"}');
    expect(nameOfCommand(['node', written('notes/dist/server.js')])).toBe('notes');
    written('broken/package.json', '{');
    expect(nameOfCommand(['node', written('broken/src/orders.ts')])).toBe('orders');
    expect(nameOfCommand(['python', written('stock/server.py')])).toBe('stock');
  });

  it('of an address is that of its host', () => {
    expect(nameOfUrl('https://mcp.example.com/mcp')).toBe('example-com');
    expect(nameOfUrl('nothing')).toBe('nothing');
  });
});
