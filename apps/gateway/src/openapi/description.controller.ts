import { Controller, Get, Header } from '@nestjs/common';
import { openApi } from './document.js';
import { page, pagePolicy } from './page.js';
import type { JsonSchema } from './record-schemas.js';

/** What the gateway says of itself: the same for every caller and without data of any, so no credential is asked for. */
@Controller()
export class DescriptionController {
  readonly #document = openApi() as { readonly components: { readonly schemas: Readonly<Record<string, JsonSchema>> } };
  readonly #json = JSON.stringify(this.#document);
  readonly #page = page(this.#document.components.schemas);

  @Get('openapi.json')
  @Header('content-type', 'application/json; charset=utf-8')
  @Header('cache-control', 'no-cache')
  json(): string {
    return this.#json;
  }

  @Get('docs')
  @Header('content-type', 'text/html; charset=utf-8')
  @Header('cache-control', 'no-cache')
  @Header('content-security-policy', pagePolicy)
  page(): string {
    return this.#page;
  }
}
