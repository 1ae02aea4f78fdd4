/** JSON Schema, of the draft that OpenAPI 3.1 has. */
export type JsonSchema = Readonly<Record<string, unknown>>;
