import { Controller, Header, Req, Res } from '@nestjs/common';
import type { Request, Response } from 'express';
import { isKnown, tagOf } from '../etag.js';
import { openApi } from './document.js';
import { page, pagePolicy } from './page.js';
import type { JsonSchema } from './json-schema.js';
import { Route } from './route.js';

/**
 * What the gateway says of itself: the same for every caller and without data of any, so no credential is asked for.
 */
@Controller()
export class DescriptionController {
  private readonly document = openApi() as {
    readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> };
  };
  private readonly _json = JSON.stringify(this.document);
  private readonly _page = page(this.document.components.schemas);
  private readonly jsonTag = tagOf(this._json);
  private readonly pageTag = tagOf(this._page);

  @Route('readDescription')
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('cache-control', 'no-cache')
  json(@Req() http: Request, @Res({ passthrough: true }) response: Response): string | undefined {
    return isKnown(http, response, this.jsonTag) ? undefined : this._json;
  }

  @Route('readPage')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', 'no-cache')
  @Header('content-security-policy', pagePolicy)
  page(@Req() http: Request, @Res({ passthrough: true }) response: Response): string | undefined {
    return isKnown(http, response, this.pageTag) ? undefined : this._page;
  }
}
