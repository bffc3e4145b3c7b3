// An adapter in another language, judged by the kit over its standard streams, without dependencies.
// When: your adapter is not written in Python. Run: dsh-conformance 'exec:node subject.mjs'
// One JSON object a line each way; conformance/SUBJECT.md has the whole protocol.

import { createInterface } from "node:readline";

import { begin } from "./adapter.mjs";

const DECLARATION = {
  dialects: ["openai-chat"],
  terminal: "done-sentinel",
  requestIdHeaders: ["x-request-id", "x-trace-id"],
  capabilities: ["tools", "reasoning", "http_facts", "request_id", "progress_timeout"],
};

const calls = new Map();

function say(answer) {
  process.stdout.write(JSON.stringify(answer) + "\n");
}

async function next(id) {
  const call = calls.get(id);
  try {
    const chunk = await call.next();
    // Closed meanwhile: the kit waits for `closed` and for nothing else.
    if (calls.has(id)) say(chunk ? { call: id, chunk } : { call: id, end: true });
  } catch (error) {
    if (calls.has(id)) say({ call: id, raised: String(error?.stack ?? error) });
  }
}

const heard = {
  hello: () => say({ protocol: 1, declaration: DECLARATION }),
  call: ({ call, ...settings }) => {
    settings.requestIdHeaders = DECLARATION.requestIdHeaders;
    calls.set(call, begin(settings));
  },
  next: ({ call }) => void next(call),
  abort: ({ call, reason }) => calls.get(call)?.abort(reason),
  close: ({ call }) => {
    for (const id of call === undefined ? [...calls.keys()] : [call]) {
      calls.get(id)?.close();
      calls.delete(id);
    }
    say(call === undefined ? { closed: true } : { call, closed: true });
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const message = JSON.parse(line);
  heard[message.do](message);
}
process.exit(0);
