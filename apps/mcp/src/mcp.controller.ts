import { All, Controller, Get, Inject, NotFoundException, Post, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { RUNTIME } from '@sluice/host';
import type { Runtime } from '@sluice/host';
import { Endpoint } from './endpoint.js';
import { resourceMetadata } from './protected-resource.js';
import { TokenEndpoint } from './token-endpoint.js';

/** MCP over Streamable HTTP, and where its clients get their credentials (docs/mcp.md). */
@Controller()
export class McpController {
  constructor(
    @Inject(RUNTIME) private readonly runtime: Runtime,
    @Inject(Endpoint) private readonly endpoint: Endpoint,
    @Inject(TokenEndpoint) private readonly tokens: TokenEndpoint,
  ) {}

  @All('mcp')
  serve(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.endpoint.serve(request, response);
  }

  @Post('oauth/token')
  exchange(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.tokens.exchange(request, response);
  }

  @Post('oauth/revoke')
  revoke(@Req() request: Request, @Res() response: Response): Promise<void> {
    return this.tokens.revoke(request, response);
  }

  @Get(['.well-known/oauth-protected-resource', '.well-known/oauth-protected-resource/mcp'])
  metadata(@Req() request: Request): object {
    const found = resourceMetadata(request, this.runtime);
    if (found === null) throw new NotFoundException('No issuer of credentials is configured.');
    return found;
  }
}
