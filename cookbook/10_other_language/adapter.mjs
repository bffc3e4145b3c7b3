// One call: one HTTP request, two clocks that run while the caller waits, one finish.

import http from "node:http";
import https from "node:https";
import zlib from "node:zlib";

import { bodyOf, Fault, InBand, parse, Translator } from "./chat.mjs";
import { classify, message, retryAfterMs, usableId } from "./failures.mjs";
import { EventReader, TooLong } from "./sse.mjs";

const USER_AGENT = "other-language-adapter/1";
const ERROR_BODY_BYTES = 64 * 1024;
const WHOLE_ANSWER_BYTES = 16 * 1024 * 1024;
const MOST_WAITING_CHUNKS = 64;

export function begin(settings) {
  return new Call(settings);
}

// A limit that runs only while somebody waits.
class Clock {
  constructor(limitS, onEnd) {
    this.limitMs = limitS == null ? Infinity : limitS * 1000;
    this.leftMs = this.limitMs;
    this.onEnd = onEnd;
  }
  run() {
    if (this.limitMs === Infinity || this.timer) return;
    this.since = performance.now();
    this.timer = setTimeout(this.onEnd, Math.max(0, this.leftMs));
  }
  rest() {
    if (!this.timer) return;
    clearTimeout(this.timer);
    this.timer = undefined;
    this.leftMs -= performance.now() - this.since;
  }
  rearm() {
    const ran = this.timer !== undefined;
    this.rest();
    this.leftMs = this.limitMs;
    if (ran) this.run();
  }
}

class Call {
  constructor(settings) {
    this.settings = settings;
    this.chunks = [];
    this.facts = {};
    this.status = undefined;
    const limit = (name, s) => () => this.timeOut(`nothing within the ${name} limit of ${s} s`);
    const { idleTimeoutS, progressTimeoutS } = settings;
    this.idle = new Clock(idleTimeoutS, limit("idle", idleTimeoutS));
    this.progress = new Clock(progressTimeoutS, limit("progress", progressTimeoutS));
    this.translator = new Translator((chunk) => this.emit(chunk));
  }

  // ---- what the caller does --------------------------------------------------------------

  // Resolve with the next chunk, or undefined behind the last.
  async next() {
    if (!this.begun) {
      this.begun = true;
      if (!this.ended) this.send();
    }
    if (!this.chunks.length && !this.ended) {
      this.idle.run();
      this.progress.run();
      this.response?.resume();
      await new Promise((wake) => (this.wake = wake));
    }
    return this.chunks.shift();
  }

  abort(reason) {
    this.fail("ABORTED", [reason, "the caller aborted the call"]);
  }

  close() {
    this.ended = true;
    this.stop();
  }

  // ---- ends ------------------------------------------------------------------------------

  emit(chunk) {
    this.chunks.push(chunk);
    if (chunk.type.endsWith("-delta")) this.progress.rearm();
    if (chunk.type === "finish") this.ended = true;
    if (this.chunks.length > MOST_WAITING_CHUNKS) this.response?.pause();
  }

  release() {
    if (this.ended) this.stop();
    if ((this.chunks.length || this.ended) && this.wake) {
      this.idle.rest();
      this.progress.rest();
      this.wake();
      this.wake = undefined;
    }
  }

  stop() {
    this.idle.rest();
    this.progress.rest();
    this.request?.destroy();
    this.wake?.();
    this.wake = undefined;
  }

  fail(code, texts, status = this.status) {
    if (this.ended) return;
    this.translator.report();
    const said = message(texts, this.key);
    const failure = { message: said, code, status, ...this.facts };
    const kind = code === "ABORTED" ? "aborted" : "error";
    this.emit({ type: "finish", reason: { kind, failure } });
    this.release();
  }

  timeOut(text) {
    // An error body that does not come: its status has said enough.
    if (this.errorBody) this.errorBody.enough();
    else this.fail("TIMEOUT", [text]);
  }

  failWith(error) {
    if (error instanceof InBand) {
      const found = classify(error.payload, this.status);
      this.facts.requestId ??= usableId(found.requestId);
      this.fail(found.code, [found.text, "the provider sent an error"], found.status);
    } else if (error instanceof Fault) this.fail(error.code, [error.message]);
    else if (error instanceof TooLong) this.fail("MALFORMED_RESPONSE", [error.message]);
    else this.fail("TRANSPORT", [error.message, error.code]);
  }

  // Run what reads the wire: whatever it throws is how the call ends.
  guarded(act) {
    if (this.ended) return;
    try {
      act();
    } catch (error) {
      this.failWith(error);
    }
    this.release();
  }

  // ---- the wire --------------------------------------------------------------------------

  send() {
    this.guarded(() => {
      const body = bodyOf(this.settings.request);
      // Spaces around a key are copied by accident; a line break in it is damage.
      this.key = (this.settings.apiKey ?? "").replace(/^[ \t]+|[ \t]+$/g, "");
      if (!this.key.trim()) throw new Fault("MISSING_CREDENTIAL", "there is no API key");
      if (!/^[\x21-\x7e]+$/.test(this.key)) {
        throw new Fault("INVALID_CREDENTIAL", "the API key holds a character that no header carries");
      }
      const url = new URL(`${this.settings.baseUrl.replace(/\/+$/, "")}/chat/completions`);
      this.request = (url.protocol === "https:" ? https : http).request(url, {
        method: "POST",
        agent: false, // a connection of its own: nothing of one call reaches the next
        maxHeaderSize: 1 << 20,
        insecureHTTPParser: true, // a bad byte in a header that nobody reads ends no call
        headers: {
          authorization: `Bearer ${this.key}`,
          accept: "text/event-stream",
          "accept-encoding": "identity",
          "content-type": "application/json",
          "user-agent": USER_AGENT,
          "content-length": Buffer.byteLength(body),
        },
      });
      this.request.on("error", (error) => this.guarded(() => this.broken(error)));
      this.request.on("response", (response) => this.guarded(() => this.answered(response)));
      this.request.end(body);
    });
  }

  broken(error) {
    if (this.errorBody) this.errorBody.enough();
    else throw error;
  }

  answered(response) {
    this.response = response;
    this.idle.rearm();
    this.status = response.statusCode;
    const all = (wanted) =>
      response.rawHeaders.filter((_, at, raw) => at % 2 && raw[at - 1].toLowerCase() === wanted);
    const ids = this.settings.requestIdHeaders.flatMap(all).map(usableId);
    const good = this.status >= 200 && this.status < 300;
    this.facts = {
      requestId: ids.find(Boolean),
      providerRetryAfterMs: good ? undefined : retryAfterMs(all),
    };
    const coding = (all("content-encoding")[0] ?? "identity").toLowerCase();
    let source = response;
    if (coding === "gzip") source = response.pipe(zlib.createGunzip());
    else if (coding !== "identity" && good) throw new Error(`a body in ${coding}, which was not asked for`);
    response.on("error", (error) => this.guarded(() => this.broken(error)));
    if (source !== response) source.on("error", (error) => this.guarded(() => this.undecodable(error)));
    if (good) this.readAnswer(source);
    else this.readError(source, all("content-type")[0] ?? "");
  }

  undecodable(error) {
    // Node calls a body that ends too early and one that is damaged by different codes.
    if (this.errorBody) this.errorBody.enough();
    else if (error.code === "Z_BUF_ERROR") throw new Fault("STREAM_CLOSED", error.message);
    else throw error;
  }

  readError(source, mediaType) {
    const parts = [];
    let size = 0;
    const enough = () => {
      if (this.ended) return;
      const text = Buffer.concat(parts).subarray(0, ERROR_BODY_BYTES).toString();
      let payload = text;
      try {
        payload = parse(text);
      } catch {
        // No JSON: its text is all there is.
      }
      const isPage = /^\s*</.test(text) || mediaType.includes("html");
      const found = classify(isPage ? null : payload, this.status);
      const code = isPage && this.status === 403 ? "SERVER" : found.code;
      this.facts.requestId ??= usableId(found.requestId);
      this.fail(code, [found.text, `the provider answered with status ${this.status}`]);
    };
    this.errorBody = { enough };
    // The whole body has one idle limit: a trickle does not prolong it.
    source.on("data", (bytes) => {
      parts.push(bytes);
      size += bytes.length;
      if (size >= ERROR_BODY_BYTES) enough();
    });
    source.on("end", enough);
  }

  readAnswer(source) {
    const reader = new EventReader(
      (name, data) => {
        if (this.ended) return;
        this.idle.rearm();
        this.translator.event(name, data);
      },
      () => this.idle.rearm(),
    );
    let head = Buffer.alloc(0); // until the first byte that says what this is
    let kind = "";
    source.on("data", (bytes) =>
      this.guarded(() => {
        if (kind === "events") return reader.feed(bytes);
        head = Buffer.concat([head, bytes]);
        if (head.length > WHOLE_ANSWER_BYTES) throw new TooLong("an answer of more than 16 MiB");
        const first = head.toString("latin1").replace(/^\xef\xbb\xbf/, "").trimStart();
        if (!kind && first) kind = /^[a-z:]/i.test(first) && !/^(null|true|false)/.test(first) ? "events" : "whole";
        if (kind === "events") reader.feed(head);
      }),
    );
    source.on("end", () =>
      this.guarded(() => {
        if (kind === "events") throw new Fault("STREAM_CLOSED", "the stream ended without [DONE]");
        if (!head.toString().trim()) throw new Fault("EMPTY_RESPONSE", "the answer is empty");
        let payload;
        try {
          payload = parse(head.toString());
        } catch {
          throw new Fault("MALFORMED_RESPONSE", "the answer is neither events nor JSON");
        }
        this.translator.document(payload);
      }),
    );
  }
}
