/** Where a value of a request stands. */
export type ParameterIn = 'path' | 'query' | 'header' | 'cookie';

/** How lists and objects are written there, as OpenAPI names it. */
export type ParameterStyle = 'simple' | 'label' | 'matrix' | 'form' | 'spaceDelimited' | 'pipeDelimited' | 'deepObject';

export interface HttpParameter {
  readonly name: string;
  readonly in: ParameterIn;
  /** The argument that holds its value; absent where it is the name. */
  readonly argument?: string;
  /** `json`: the value is written as JSON. */
  readonly style: ParameterStyle | 'json';
  readonly explode: boolean;
}

export interface HttpBody {
  readonly contentType: string;
  readonly encoding: 'json' | 'form' | 'multipart' | 'text';
  /** The argument that holds it. */
  readonly argument: string;
  /** Of a multipart body the fields that are sent as files. */
  readonly files?: readonly string[];
  /** Of a form the fields that are lists or objects and written otherwise than OpenAPI’s default. */
  readonly styles?: Readonly<Record<string, { readonly style: ParameterStyle | 'json'; readonly explode: boolean }>>;
}

/** One operation of an OpenAPI document: all that is needed to make its request. */
export interface HttpOperation {
  /** In upper case. */
  readonly method: string;
  /** Under the base address, with `{name}` for each path parameter. */
  readonly path: string;
  /** The document’s own base address; absent where the configuration gives one. */
  readonly url?: string;
  readonly parameters: readonly HttpParameter[];
  readonly body?: HttpBody;
}

/** Where the credential of a connection goes in a request. */
export type CredentialIn =
  { readonly in: 'bearer' | 'basic' } | { readonly in: 'header' | 'query'; readonly name: string };

/** What makes a server of the configuration one that an OpenAPI document describes. */
export interface OpenApiSettings {
  /** A file, relative to the working directory, or an address. */
  readonly document: string;
  /** Hosts, or host:port, beside the public internet that may be reached. */
  readonly privateHosts?: readonly string[];
  /** Absent for a bearer token. */
  readonly credential?: CredentialIn;
  /** The header with the key of each call that may change something; absent for none. */
  readonly idempotencyHeader?: string;
}
