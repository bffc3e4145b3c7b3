// What went wrong, as one failure: code, message, and the facts of the response.

const NAMES = {
  AUTH:
    "invalid_api_key api_key_invalid api_key_expired authentication_error unauthenticated " +
    "unauthorized permission_error",
  QUOTA:
    "insufficient_quota quota_exceeded insufficient_balance insufficient_credits billing_error " +
    "payment_required",
  RATE_LIMIT: "rate_limit_exceeded rate_limit_error too_many_requests throttling slow_down",
  CONTEXT_WINDOW_EXCEEDED: "context_length_exceeded exceed_context_size_error prompt_too_long",
  CONTENT_FILTER: "content_filter content_policy_violation",
  INVALID_REQUEST: "model_not_found tool_use_failed",
};
const GENERIC = {
  INVALID_REQUEST: "invalid_request_error invalid_argument badrequesterror not_found_error",
  RATE_LIMIT: "resource_exhausted",
  SERVER: "server_error internal_server_error overloaded_error server_is_overloaded api_error",
};
// In this order: a limit by the minute speaks of tokens and quotas too.
const WORDINGS = [
  ["RATE_LIMIT", /rate[ _-]?limit|too many requests|per (second|minute)|\btpm\b|throttl|too many tokens.*wait/],
  ["QUOTA", /insufficient balance|exceed\w* (\w+ ){0,3}quota|quota (\w+ )?exceeded|monthly (\w+ )?limit/],
  [
    "CONTEXT_WINDOW_EXCEEDED",
    /maximum context length|exceed[^.]{0,80}context (size|length|window|limit)|prompt( is)? too long|range of input length|prompt 超长/,
  ],
  ["AUTH", /invalid api key|authentication failed/],
];
const STATUSES = {
  400: "INVALID_REQUEST", 401: "AUTH", 402: "QUOTA", 403: "AUTH", 404: "INVALID_REQUEST",
  408: "TIMEOUT", 413: "INVALID_REQUEST", 422: "INVALID_REQUEST", 429: "RATE_LIMIT",
};

function named(table, names) {
  for (const [code, words] of Object.entries(table)) {
    const known = words.split(" ");
    if (names.some((name) => known.includes(name))) return code;
  }
}

export function codeOfStatus(status) {
  return STATUSES[status] ?? (status >= 500 && status < 600 ? "SERVER" : `HTTP_${status}`);
}

function parsed(text) {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

// Collect the names, sentences and numbers of an error, whatever envelope it came in.
function read(value, found, depth = 0) {
  if (depth > 6) return;
  if (typeof value === "string") {
    const inner = /^\s*[[{]/.test(value) ? parsed(value) : undefined;
    if (inner) read(inner, found, depth + 1);
    else if (value.trim()) found.texts.push(value);
  } else if (Array.isArray(value)) {
    for (const item of value.slice(0, 8)) read(item, found, depth + 1);
  } else if (value && typeof value === "object") {
    for (const key of ["code", "type", "status", "status_code", "reason"]) {
      const word = value[key];
      const number = typeof word === "number" ? word : /^[0-9]{3}$/.test(word) ? Number(word) : 0;
      if (number >= 400 && number < 600) found.statuses.push(number);
      else if (typeof word === "string") found.names.push(word.toLowerCase());
    }
    if (typeof value.request_id === "string") found.requestId ??= value.request_id;
    for (const key of ["error", "message", "detail", "details", "msg", "metadata", "raw"]) {
      if (key in value) read(value[key], found, depth + 1);
    }
  }
}

// Return {code, status, text, requestId} of an error's payload; `status` is the response's.
export function classify(payload, status) {
  const found = { names: [], texts: [], statuses: [] };
  read(payload, found);
  const text = found.texts.join(" ");
  const lower = text.toLowerCase();
  const inBand = status >= 200 && status < 300;
  const own = inBand ? found.statuses[0] : undefined;
  const code =
    named(NAMES, found.names) ??
    WORDINGS.find(([, wording]) => wording.test(lower))?.[0] ??
    (own && codeOfStatus(own)) ??
    (inBand ? named(GENERIC, found.names) : codeOfStatus(status)) ??
    "SERVER";
  return { code, status: own ?? status, text, requestId: found.requestId };
}

// Return the first text short, on one line, printable, and without the key.
export function message(texts, secret) {
  let said = texts.find((text) => text?.trim()) ?? "no more is known";
  if (secret) said = said.slice(0, 4000).replaceAll(secret, "[key]");
  said = said.toWellFormed().replace(/[^\p{L}\p{M}\p{N}\p{P}\p{S} ]+/gu, " ").trim();
  return [...(said || "no more is known")].slice(0, 400).join("");
}

const MONTHS = "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec".split(" ");
const IMF = /^\w{3}, (\d\d) (\w{3}) (\d{4}) (\d\d):(\d\d):(\d\d) GMT$/;
const RFC_850 = /^\w+day, (\d\d)-(\w{3})-(\d\d) (\d\d):(\d\d):(\d\d) GMT$/;
const ASCTIME = /^\w{3} (\w{3}) ([ \d]\d) (\d\d):(\d\d):(\d\d) (\d{4})$/;

function instant(text) {
  let found = IMF.exec(text) ?? RFC_850.exec(text);
  let [day, month, year, ...time] = found?.slice(1) ?? [];
  if (!found && (found = ASCTIME.exec(text))) {
    [month, day] = found.slice(1, 3);
    [year, time] = [found[6], found.slice(3, 6)];
  }
  if (!found || !MONTHS.includes(month)) return NaN;
  let full = Number(year);
  // Two digits: never more than 50 years ahead (RFC 9110 section 5.6.7).
  if (year.length === 2) {
    full += 2000;
    if (full > new Date().getUTCFullYear() + 50) full -= 100;
  }
  const at = Date.UTC(full, MONTHS.indexOf(month), Number(day), ...time.map(Number));
  return new Date(at).getUTCDate() === Number(day) ? at : NaN;
}

function positive(ms) {
  const whole = Math.ceil(ms);
  return whole > 0 && whole < 1e13 ? whole : undefined;
}

// Return the provider's delay in milliseconds, or undefined. `all(name)`: the values of a header.
export function retryAfterMs(all) {
  const only = (name) => (all(name).length === 1 ? all(name)[0].replace(/^[ \t]+|[ \t]+$/g, "") : "");
  const number = /^[0-9]{1,13}(\.[0-9]+)?$/;
  const ms = only("retry-after-ms");
  if (number.test(ms) && positive(Number(ms))) return positive(Number(ms));
  const value = only("retry-after");
  if (number.test(value)) return positive(Number((Number(value) * 1000).toPrecision(15)));
  const until = instant(value);
  const now = instant(only("date"));
  return Number.isNaN(until) ? undefined : positive(until - (Number.isNaN(now) ? Date.now() : now));
}

export function usableId(value) {
  const id = value?.replace(/^[ \t]+|[ \t]+$/g, "");
  return id && id.length <= 256 && /^[\x20-\x7e]+$/.test(id) ? id : undefined;
}
