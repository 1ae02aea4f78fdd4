import { ToolUserError } from '@sluice/core';

const mostRedirects = 5;
const redirects = [301, 302, 303, 307, 308];

/**
 * As the global fetch, but each address is looked at before anything is sent to it: `checked` throws for one that may
 * not be asked. So no redirect leads a request, or what it carries, to a host that is not permitted.
 */
export async function fetchChecked(address: URL, init: RequestInit, checked: (url: string) => URL): Promise<Response> {
  let url = address;
  let { method = 'GET', body = null } = init;
  const headers = new Headers(init.headers);
  for (let count = 0; ; count++) {
    const response = await fetch(url, { ...init, method, headers, body, redirect: 'manual' });
    const location = response.headers.get('location');
    if (init.redirect === 'manual' || !redirects.includes(response.status) || location === null) {
      if (count > 0) Object.defineProperty(response, 'redirected', { value: true });
      return response;
    }
    await response.body?.cancel();
    if (init.redirect === 'error') throw new ToolUserError(`${url.host} redirects.`);
    if (count === mostRedirects) throw new ToolUserError(`${url.host} redirects more than ${mostRedirects} times.`);
    url = checked(new URL(location, url).href);
    if ((response.status === 303 && method !== 'HEAD') || (response.status < 303 && method.toUpperCase() === 'POST')) {
      [method, body] = ['GET', null];
      for (const name of ['content-type', 'content-length', 'content-encoding', 'content-language'])
        headers.delete(name);
    } else if (body instanceof ReadableStream)
      throw new ToolUserError(`${url.host} redirects a request whose body can be sent only once.`);
  }
}
