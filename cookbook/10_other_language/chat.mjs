// The chat completions dialect: a request becomes a body, payloads become chunks.

import { randomUUID } from "node:crypto";

export class Fault extends Error {
  constructor(code, text) {
    super(text);
    this.code = code;
  }
}
export class InBand extends Error {
  constructor(payload) {
    super("an error in the stream");
    this.payload = payload;
  }
}

export const EFFORTS = ["low", "high"];

const textOf = (blocks) => blocks.filter((b) => b.type === "text").map((b) => b.text).join("");

function* wireMessages({ role, content }) {
  if (role !== "assistant") {
    for (const block of content) {
      if (block.type === "image") throw new Fault("UNSUPPORTED_CONTENT", "images: text only");
      if (block.type !== "tool-result") continue;
      if (block.content.some((part) => part.type === "image")) {
        throw new Fault("UNSUPPORTED_CONTENT", "images: text only");
      }
      yield { role: "tool", tool_call_id: block.toolCallId, content: textOf(block.content) };
    }
    if (textOf(content)) yield { role, content: textOf(content) };
    return;
  }
  const calls = content.filter((block) => block.type === "tool-call").map((call) => ({
    id: call.id,
    type: "function",
    function: { name: call.name, arguments: call.arguments },
  }));
  yield { role, content: textOf(content), ...(calls.length ? { tool_calls: calls } : {}) };
}

export function bodyOf(request) {
  const { reasoningEffort, tools } = request;
  if (reasoningEffort !== undefined && !EFFORTS.includes(reasoningEffort)) {
    throw new Fault("UNSUPPORTED_REASONING_EFFORT", `reasoning effort: ${EFFORTS.join(" or ")}`);
  }
  const body = {
    model: request.model,
    messages: request.messages.flatMap((message) => [...wireMessages(message)]),
    stream: true,
    stream_options: { include_usage: true },
    max_tokens: request.maxTokens,
    temperature: request.temperature,
    top_p: request.topP,
    reasoning_effort: reasoningEffort,
  };
  if (request.stop?.length) body.stop = request.stop;
  if (tools?.length) {
    body.tools = tools.map((tool) => ({
      type: "function",
      function: { name: tool.name, description: tool.description, parameters: tool.parameters },
    }));
  }
  return JSON.stringify(body); // leaves out what is undefined
}

// JSON as servers write it: some send NaN and Infinity, which nothing here needs.
export function parse(text) {
  try {
    return JSON.parse(text);
  } catch (error) {
    const token = /"(?:[^"\\]|\\.)*"|-?\bInfinity\b|\bNaN\b/g;
    return JSON.parse(text.replace(token, (word) => (word[0] === '"' ? word : "null")));
  }
}

const GOOD = {
  stop: "stop", eos: "stop", end_turn: "stop",
  tool_calls: "tool-calls", function_call: "tool-calls",
  length: "max-tokens", model_length: "max-tokens",
};
const BAD = {
  content_filter: "CONTENT_FILTER", sensitive: "CONTENT_FILTER",
  insufficient_system_resource: "SERVER", error: "SERVER", network_error: "TRANSPORT",
};
const WORDS_OF_AN_ERROR = ["message", "detail", "details", "code"];

function string(value, where) {
  if (value === undefined || value === null) return "";
  if (typeof value !== "string") throw new Fault("MALFORMED_RESPONSE", `${where} is no string`);
  return value;
}

export class Translator {
  constructor(emit) {
    this.emit = emit; // takes chunks; content re-arms the progress limit
    this.blocks = [];
    this.open = undefined; // the text or reasoning block under way
    this.callsByIndex = new Map();
    this.lastCall = undefined;
    this.finish = "";
    this.usage = undefined;
    this.over = false;
  }

  // ---- events --------------------------------------------------------------------------

  event(name, data) {
    if (data.trim() === "[DONE]") return this.end();
    if (!data.trim()) return;
    let payload;
    try {
      payload = parse(data);
    } catch {
      if (name === "error") throw new InBand({ error: data });
      throw new Fault("MALFORMED_RESPONSE", `an event is no JSON: ${data.slice(0, 100)}`);
    }
    if (payload === null) return;
    this.payload(payload, name, "delta");
  }

  document(payload) {
    this.payload(payload, "", "message");
    if (!this.over) this.end();
  }

  payload(payload, name, key) {
    const errors = Array.isArray(payload) && payload.some((item) => item?.error);
    if (name === "error" || errors || payload?.error) throw new InBand(payload);
    if (typeof payload !== "object" || payload === null || Array.isArray(payload)) {
      throw new Fault("MALFORMED_RESPONSE", "a payload is no object");
    }
    if (payload.choices === undefined || payload.choices === null) {
      if (!payload.usage && WORDS_OF_AN_ERROR.some((word) => payload[word])) {
        throw new InBand(payload);
      }
      if (key === "message") throw new Fault("MALFORMED_RESPONSE", "no choices and no error");
    } else if (!Array.isArray(payload.choices)) {
      throw new Fault("MALFORMED_RESPONSE", "choices is no list");
    } else {
      for (const choice of payload.choices) if ((choice.index ?? 0) === 0) this.choice(choice, key);
    }
    this.takeUsage(payload.usage);
  }

  choice(choice, key) {
    const delta = choice[key] ?? {};
    const reasoning = delta.reasoning_content || delta.reasoning;
    this.text("reasoning", string(reasoning, "reasoning"));
    this.text("text", string(delta.content, "content"));
    for (const call of delta.tool_calls ?? []) this.call(call);
    const word = string(choice.finish_reason, "finish_reason");
    if (!word || this.finish) return;
    if (!GOOD[word]) throw new Fault(BAD[word] ?? "UNKNOWN", `the finish reason is ${word}`);
    this.finish = word;
  }

  // ---- blocks --------------------------------------------------------------------------

  start(type, block) {
    block.index = this.blocks.push(block) - 1;
    this.emit({ type: "block-start", index: block.index, blockType: type });
    return block;
  }

  text(type, text) {
    if (!text) return;
    if (this.open?.type !== type) {
      this.endOpen();
      this.open = this.start(type, { type, text: "", half: "" });
    }
    this.add(this.open, text);
  }

  // Surrogates come in halves: a first half waits for what follows it.
  add(block, text) {
    const whole = block.half + text;
    block.half = /[\ud800-\udbff]$/.test(whole) ? whole.slice(-1) : "";
    this.deliver(block, whole.slice(0, whole.length - block.half.length));
  }

  deliver(block, text) {
    if (!text) return;
    const mended = text.toWellFormed();
    block.text += mended;
    const type = block.type === "text" ? "text-delta" : "reasoning-delta";
    this.emit({ type, index: block.index, text: mended });
  }

  endOpen() {
    const block = this.open;
    this.open = undefined;
    if (!block) return;
    this.deliver(block, block.half);
    this.emit({ type: "block-end", index: block.index, block: { type: block.type, text: block.text } });
  }

  call(delta) {
    const id = string(delta.id, "a call's id");
    const name = string(delta.function?.name, "a call's name");
    let call = "index" in delta ? this.callsByIndex.get(delta.index) : this.lastCall;
    if (call && id && call.wireId && call.wireId !== id) call = undefined; // a new call
    if (!call) {
      if (!id && !name) throw new Fault("MALFORMED_RESPONSE", "a delta belongs to no call");
      this.endOpen();
      call = this.start("tool-call", {
        type: "tool-call", wireId: id, id: id || `call_${randomUUID()}`, name: "", arguments: "",
      });
    }
    if ("index" in delta) this.callsByIndex.set(delta.index, call);
    this.lastCall = call;
    const given = delta.function?.arguments;
    const added = given && typeof given === "object" ? JSON.stringify(given) : string(given, "arguments");
    const isNew = name && !call.name.endsWith(name);
    if (isNew) call.name += name;
    call.arguments += added;
    this.emit({
      type: "tool-call-delta", index: call.index, id: call.id, argumentsDelta: added.toWellFormed(),
      ...(isNew ? { name } : {}),
    });
  }

  // ---- the end -------------------------------------------------------------------------

  takeUsage(usage) {
    const count = (value) => (Number.isInteger(value) && value >= 0 ? value : undefined);
    const [all, output] = [count(usage?.prompt_tokens), count(usage?.completion_tokens)];
    if (all === undefined || output === undefined) return;
    const cached = count(usage.prompt_tokens_details?.cached_tokens);
    const read = cached === undefined ? undefined : Math.min(cached, all);
    this.usage = {
      inputTokens: all - (read ?? 0),
      outputTokens: output,
      cacheReadTokens: read,
      reasoningTokens: count(usage.completion_tokens_details?.reasoning_tokens),
    };
  }

  report() {
    if (this.usage) this.emit({ type: "usage", usage: this.usage });
    this.usage = undefined;
  }

  end() {
    if (!this.finish) throw new Fault("STREAM_CLOSED", "the stream has no finish reason");
    const calls = this.blocks.filter((block) => block.type === "tool-call");
    let kind = GOOD[this.finish];
    if (kind !== "max-tokens") {
      if (calls.some((call) => !call.name)) throw new Fault("MALFORMED_RESPONSE", "a nameless call");
      if (!this.blocks.length) throw new Fault("EMPTY_RESPONSE", "the answer has no content");
      kind = calls.length ? "tool-calls" : "stop";
    }
    this.endOpen();
    for (const { type, id, name, arguments: said, index } of calls) {
      const block = { type, id, name, arguments: said.toWellFormed() };
      this.emit({ type: "block-end", index, block });
    }
    this.report();
    this.over = true;
    this.emit({ type: "finish", reason: { kind } });
  }
}
