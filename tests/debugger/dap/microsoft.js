// Microsoft's client of the protocol drives one session of `inspector dap`: node microsoft.js HOW PORT JSON.
// SPDX-License-Identifier: MIT
const { DebugClient } = require(process.env.TESTSUPPORT);
const [how, port, text] = process.argv.slice(2);
const given = JSON.parse(text);
const WAIT_MS = 60000;

async function variables(client, frame) {
    const { body: { scopes } } = await client.scopesRequest({ frameId: frame.id });
    const told = await client.variablesRequest({ variablesReference: scopes[0].variablesReference });
    return Object.fromEntries(told.body.variables.map(one => [one.name, one.value]));
}

async function look(client, stopped) {
    const frames = stopped.body.stackFrames;
    const python = frames.find(one => one.source && one.source.path === given.program);
    const { body } = await client.evaluateRequest({ expression: given.asked, frameId: python.id, context: 'watch' });
    return { names: frames.map(one => one.name), c: await variables(client, frames[0]), evaluated: body.result };
}

async function stepped(client, command, thread, path, line) {
    const stop = client.assertStoppedLocation('step', { path, line });
    await client[command]({ threadId: thread });
    return stop;
}

async function launch(client) {
    const begun = client.waitForEvent('stopped', WAIT_MS);
    const program = { program: given.program, args: given.args, python: given.python, console: 'internalConsole' };
    await client.hitBreakpoint(program, { path: given.program, line: given.call });
    const thread = (await begun).body.threadId;
    const inside = await stepped(client, 'stepInRequest', thread, given.c, given.begin);
    const told = await look(client, inside);
    await stepped(client, 'nextRequest', thread, given.c, given.begin + 1);
    await stepped(client, 'stepOutRequest', thread, given.program, given.call);
    await stepped(client, 'nextRequest', thread, given.program, given.call + 1);
    await Promise.all([client.waitForEvent('terminated', WAIT_MS), client.continueRequest({ threadId: thread })]);
    return told;
}

async function attach(client) {
    await client.initializeRequest();
    const begun = client.waitForEvent('initialized', WAIT_MS);
    const attached = client.attachRequest({ processId: given.pid });
    await begun;
    await client.setBreakpointsRequest({ source: { path: given.c }, breakpoints: [{ line: given.begin }] });
    const stop = client.assertStoppedLocation('breakpoint', { path: given.c, line: given.begin });
    await client.configurationDoneRequest();
    await attached;
    return look(client, await stop);
}

async function main() {
    const client = new DebugClient('', '', 'inspector');
    client.defaultTimeout = WAIT_MS;
    await client.start(Number(port));
    console.log(JSON.stringify(await { launch, attach }[how](client)));
    await client.disconnectRequest();
}

main().then(() => process.exit(0), error => { console.error(error); process.exit(1); });
