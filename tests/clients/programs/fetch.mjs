// fetch and https, each of the allowed name and of another one.
import https from 'node:https';

const say = (name, text) => console.log(`${name}: ${text}`);
const get = (options) => new Promise((resolve, reject) => {
  https.get(options, (response) => {
    let body = '';
    response.on('data', (piece) => { body += piece; });
    response.on('end', () => resolve(body));
  }).on('error', reject);
});

say('fetch', await (await fetch('https://api.anthropic.com/by-fetch')).text());
say('https', await get('https://api.anthropic.com/by-https'));
await fetch('https://example.com/').catch((error) => say('other', error.cause.code));
// Believes that the other name is at an address of its own.
const pinned = { host: '198.51.100.7', servername: 'example.com', headers: { host: 'example.com' } };
await get(pinned).catch((error) => say('pinned', error.message));
const models = await fetch('https://api.anthropic.com/v1/messages', {
  method: 'POST', body: JSON.stringify({ model: 'm', stream: true }),
});
say('stream', (await models.text()).match(/^event: \w+$/gm).pop());
