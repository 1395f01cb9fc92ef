// An authorization server (oidc-provider, or oauth2-mock-server) and an MCP server that it protects, both on 127.0.0.1, for test_oauth.py.
//
// usage: node oauth_servers.mjs MODULES [JSON]    MODULES: the directory that they are installed in
// Prints {"issuer", "mcp", "control", "keys"} when both listen (keys: those of the clients ES256 and RS256, in PEM), and ends when its standard input does.  Whoever arrives at the
// authorization server is signed in as ana and has agreed: the browser only has to follow redirects with cookies.
//
// Options: ttl (seconds of an access token), wrong ("issuer", "iss": what the server says falsely), s256 (false: it does not say that
// it has it), plain (true: oauth2-mock-server), ask (a scope that the MCP server wants of every token), hide (true: 401 does not say where metadata is).
import { generateKeyPairSync } from 'node:crypto';
import http from 'node:http';
import { pathToFileURL } from 'node:url';

const [modules, text] = process.argv.slice(2);
const options = { ttl: 3600, ...JSON.parse(text ?? '{}') };
const { default: Provider } = await import(pathToFileURL(`${modules}/oidc-provider/lib/index.js`));
console.info = console.warn = () => {}; // the provider has opinions about its own settings

const listen = (server) => new Promise((done) => server.listen(0, '127.0.0.1', () => done(server.address().port)));
const read = async (req) => { let body = ''; for await (const part of req) body += part; return body; };
const send = (res, status, body, headers = {}) => {
  res.writeHead(status, { 'content-type': 'application/json', ...headers });
  res.end(typeof body === 'string' ? body : JSON.stringify(body));
};

const counts = { authorization_code: 0, client_credentials: 0, refresh_token: 0, device: 0, registered: 0, calls: 0, refused: 0, anonymous: 0 };
const tokens = []; // every token and code that was given out
const state = { refuse: [], slow: 0, broken: false, never: false, wants: options.ask ?? '' };

// ------------------------------------------------------------------------------------------------ authorization server
// The plain one has OpenID Connect's metadata only, registers nobody and does not say who it is in its redirects.
async function startPlain() {
  const { OAuth2Server } = await import(pathToFileURL(`${modules}/oauth2-mock-server/dist/index.mjs`));
  const server = new OAuth2Server();
  await server.issuer.keys.generate('RS256');
  await server.start(0, '127.0.0.1');
  server.service.on('beforeResponse', ({ body }, { body: asked }) => {
    counts[asked.grant_type] += 1;
    tokens.push(body.access_token, body.refresh_token);
  });
  return server.issuer.url;
}

const front = http.createServer();
const plain = options.plain ? await startPlain() : undefined;
const issuer = plain ?? `http://127.0.0.1:${await listen(front)}`;
const back = http.createServer();
const mcp = `http://127.0.0.1:${await listen(back)}/mcp`;

// Clients that sign in by themselves, with a secret or a key.
const pairs = { ES256: generateKeyPairSync('ec', { namedCurve: 'P-256' }), RS256: generateKeyPairSync('rsa', { modulusLength: 2048 }) };
const keys = Object.fromEntries(Object.entries(pairs).map(([alg, pair]) => [alg, pair.privateKey.export({ type: 'pkcs8', format: 'pem' })]));
const robot = { grant_types: ['client_credentials'], redirect_uris: [], response_types: [] };

const provider = new Provider(issuer, {
  clientAuthMethods: ['none', 'client_secret_basic', 'client_secret_post', 'private_key_jwt'],
  clients: [{ ...robot, client_id: 'robot', client_secret: 'robot-secret-0123456789', token_endpoint_auth_method: 'client_secret_basic' },
    ...Object.entries(pairs).map(([alg, pair]) => ({ ...robot, client_id: alg, token_endpoint_auth_method: 'private_key_jwt',
      token_endpoint_auth_signing_alg: alg, jwks: { keys: [{ ...pair.publicKey.export({ format: 'jwk' }), alg, use: 'sig' }] } })), { client_id: 'known', client_secret: 'known-secret-0123456789', redirect_uris: ['http://127.0.0.1/callback'],
    application_type: 'native', grant_types: ['authorization_code', 'refresh_token'] }],
  findAccount: (ctx, id) => ({ accountId: id, claims: () => ({ sub: id }) }),
  scopes: ['openid', 'offline_access', 'mcp:tools', 'mcp:admin'],
  interactions: { url: (ctx, interaction) => `/agree/${interaction.uid}` },
  issueRefreshToken: () => true,
  rotateRefreshToken: () => true,
  pkce: { required: () => true },
  ttl: { AccessToken: options.ttl, RefreshToken: 86400, DeviceCode: 600, Grant: 86400, Session: 86400, Interaction: 600,
    IdToken: 600, AuthorizationCode: 60, ClientCredentials: options.ttl },
  features: {
    devInteractions: { enabled: false },
    registration: { enabled: true },
    clientCredentials: { enabled: true },
    deviceFlow: { enabled: true, mask: '****-****',
      userCodeInputSource: (ctx, form) => { ctx.body = form; },
      userCodeConfirmSource: (ctx, form) => { ctx.body = form; },
      successSource: (ctx) => { ctx.body = 'done'; } },
    resourceIndicators: { enabled: true, useGrantedResource: () => true, defaultResource: () => undefined,
      getResourceServerInfo: (ctx, resource) => {
        if (resource !== mcp) throw new Error(`no such resource: ${resource}`);
        return { scope: 'mcp:tools mcp:admin', audience: mcp, accessTokenTTL: options.ttl, accessTokenFormat: 'opaque' };
      } },
  },
});
provider.on('grant.success', (ctx) => {
  const kind = ctx.oidc.params.grant_type;
  counts[kind.includes('device') ? 'device' : kind] += 1;
  for (const name of ['access_token', 'refresh_token', 'id_token']) if (ctx.body[name]) tokens.push(ctx.body[name]);
});
provider.on('registration_create.success', () => { counts.registered += 1; });

const agree = async (req, res) => {
  const { prompt, params, session, grantId } = await provider.interactionDetails(req, res);
  if (prompt.name === 'login')
    return provider.interactionFinished(req, res, { login: { accountId: 'ana' } }, { mergeWithLastSubmission: false });
  const grant = grantId ? await provider.Grant.find(grantId) : new provider.Grant({ accountId: session.accountId, clientId: params.client_id });
  for (const scope of prompt.details.missingOIDCScope ?? []) grant.addOIDCScope(scope);
  for (const [resource, scopes] of Object.entries(prompt.details.missingResourceScopes ?? {})) grant.addResourceScope(resource, scopes.join(' '));
  return provider.interactionFinished(req, res, { consent: { grantId: await grant.save() } }, { mergeWithLastSubmission: true });
};

const metadata = async (req, res) => {
  const answer = await fetch(`${issuer}/.well-known/openid-configuration`);
  const body = await answer.json();
  if (options.wrong === 'issuer') body.issuer = 'http://127.0.0.1:1';
  if (options.s256 === false) delete body.code_challenge_methods_supported;
  send(res, 200, body);
};

const handle = provider.callback();
front.on('request', async (req, res) => {
  try {
    if (req.url === '/.well-known/oauth-authorization-server') return await metadata(req, res);
    if (req.url === '/.well-known/openid-configuration' && req.headers['user-agent']?.startsWith('ptc')) return send(res, 404, {});
    if (req.url.startsWith('/agree/')) return await agree(req, res);
    if (req.url === '/token' && state.broken) return send(res, 503, { error: 'temporarily_unavailable' });
    if (req.url === '/token' && state.slow) await new Promise((done) => { setTimeout(done, state.slow); });
    if (options.wrong === 'iss') {
      const end = res.writeHead.bind(res);
      res.writeHead = (...args) => {
        const place = res.getHeader('location');
        if (place) res.setHeader('location', String(place).replace(/iss=[^&]*/, 'iss=http%3A%2F%2F127.0.0.1%3A1'));
        return end(...args);
      };
    }
    return handle(req, res);
  } catch (error) {
    return send(res, 500, { error: String(error) });
  }
});

// ------------------------------------------------------------------------------------------------ MCP server
const tools = [{ name: 'echo', description: 'Says it again', inputSchema: { type: 'object', properties: { text: { type: 'string' } } },
  annotations: { readOnlyHint: true } },
{ name: 'header', description: 'Shows what was sent', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } },
{ name: 'admin', description: 'Needs mcp:admin', inputSchema: { type: 'object' }, annotations: { readOnlyHint: true } }];
const results = {
  initialize: () => ({ protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'guarded', version: '1' } }),
  'tools/list': () => ({ tools }),
  'tools/call': (params, req) => ({ content: [{ type: 'text',
    text: params.name === 'header' ? String(req.headers.authorization) : String(params.arguments?.text ?? params.name) }] }),
};

const find = async (value) => (plain ? tokens.includes(value) && { aud: mcp, scope: 'mcp:tools' }
  : await provider.AccessToken.find(value) ?? provider.ClientCredentials.find(value));
const refuse = (res, status, extra) => {
  counts.refused += 1;
  const place = options.hide ? '' : `resource_metadata="${new URL('/.well-known/oauth-protected-resource/mcp', mcp)}", `;
  send(res, status, { error: 'no' }, { 'www-authenticate': `Bearer ${place}${extra}` });
};

back.on('request', async (req, res) => {
  const body = await read(req);
  if (req.url === '/.well-known/oauth-protected-resource/mcp')
    return send(res, 200, { resource: mcp, authorization_servers: [issuer], scopes_supported: ['mcp:tools'] });
  if (req.url === '/control') {
    Object.assign(state, JSON.parse(body || '{}'));
    return send(res, 200, { counts, tokens });
  }
  if (req.url !== '/mcp') return send(res, 404, {});
  const [, value] = /^Bearer (.+)$/.exec(req.headers.authorization ?? '') ?? [];
  if (!value) counts.anonymous += 1;
  const token = value && !state.refuse.includes(value) ? await find(value) : undefined;
  if (!token || ![token.aud].flat().includes(mcp)) return refuse(res, 401, 'scope="mcp:tools", error="invalid_token"');
  const message = req.method === 'POST' ? JSON.parse(body) : {};
  const needs = [state.wants, message.params?.name === 'admin' ? 'mcp:admin' : ''].filter(Boolean);
  const missing = state.never ? ['mcp:admin'] : needs.filter((scope) => !token.scope?.split(' ').includes(scope));
  if (missing.length) return refuse(res, 403, `error="insufficient_scope", scope="${missing.join(' ')}"`);
  if (req.method !== 'POST') return send(res, 405, {});
  if (message.id === undefined) return send(res, 202, '');
  counts.calls += message.method === 'tools/call';
  const make = results[message.method];
  return send(res, 200, make ? { jsonrpc: '2.0', id: message.id, result: make(message.params ?? {}, req) }
    : { jsonrpc: '2.0', id: message.id, error: { code: -32601, message: 'no such method' } });
});

process.stdout.write(`${JSON.stringify({ issuer, mcp, keys, control: new URL('/control', mcp).href })}\n`);
process.stdin.resume();
process.stdin.on('end', () => process.exit(0));
