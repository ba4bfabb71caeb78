// What graders find beside the language: console, timers, require. Evaluated before any grader; it keeps its own
// references, so that a grader that bends the built-ins bends only its own world.
(function (global) {
  "use strict";
  const { parse, stringify } = JSON;
  const then = Promise.prototype.then;
  const { now } = Date;
  const { isFinite } = Number;
  const call = Function.prototype.call.bind(Function.prototype.call);
  const MAX_TIMERS = 10000;
  const MAX_LOG = 16384;

  let logged = [];
  let left = MAX_LOG;
  function log(...values) {
    if (left <= 0) return;
    const words = [];
    for (const value of values) {
      let word;
      try {
        word = typeof value === "object" && value !== null && !(value instanceof Error) ? stringify(value) : String(value);
      } catch {
        word = "[unprintable]";
      }
      words.push(word);
    }
    const line = [words.join(" "), "\n"].join("").slice(0, left);
    left -= line.length;
    logged.push(line);
  }
  const silent = () => {};
  global.console = {
    log, info: log, warn: log, error: log, debug: log, trace: log, table: log, dir: log,
    assert: (holds, ...values) => void (holds || log("Assertion failed:", ...values)),
    group: log, groupCollapsed: log, groupEnd: silent, time: silent, timeEnd: silent, timeLog: silent,
    count: silent, countReset: silent, clear: silent,
  };

  const timers = new Map(); // by id
  let nextTimer = 1;
  function later(callback, delay, values, repeats) {
    if (typeof callback !== "function") throw new TypeError("a timer needs a function");
    if (timers.size >= MAX_TIMERS) throw new RangeError("too many timers");
    const asked = Number(delay);
    const wait = asked >= 1 && asked <= 2147483647 ? asked : 1; // as Node has it
    const timer = { id: nextTimer++, due: now() + wait, callback, values, every: repeats ? wait : null };
    timers.set(timer.id, timer);
    return timer.id;
  }
  function clear(id) {
    timers.delete(id);
  }
  global.setTimeout = (callback, delay, ...values) => later(callback, delay, values, false);
  global.setInterval = (callback, delay, ...values) => later(callback, delay, values, true);
  global.setImmediate = (callback, ...values) => later(callback, 0, values, false);
  global.clearTimeout = global.clearInterval = global.clearImmediate = clear;
  global.queueMicrotask ??= (callback) => void call(then, Promise.resolve(), callback);
  global.global = global;
  global.structuredClone ??= (value) => parse(stringify(value));
  global.TextEncoder ??= class TextEncoder {
    encode(text = "") {
      const bytes = [];
      for (const character of String(text)) {
        let code = character.codePointAt(0);
        if (code >= 0xd800 && code <= 0xdfff) code = 0xfffd;
        if (code < 0x80) bytes.push(code);
        else if (code < 0x800) bytes.push(0xc0 | (code >> 6), 0x80 | (code & 63));
        else if (code < 0x10000) bytes.push(0xe0 | (code >> 12), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
        else bytes.push(0xf0 | (code >> 18), 0x80 | ((code >> 12) & 63), 0x80 | ((code >> 6) & 63), 0x80 | (code & 63));
      }
      return new Uint8Array(bytes);
    }
  };

  const factories = new Map();
  const loaded = new Map();
  function require(name) {
    name = String(name).replace(/^node:/, "");
    if (loaded.has(name)) return loaded.get(name);
    const [root, ...rest] = name.split("/");
    const last = rest.length ? rest[rest.length - 1].replace(/\.js$/, "") : "";
    let found;
    if (factories.has(name)) found = load(name);
    else if (root === "lodash" && rest.length === 1) found = load("lodash")[last];
    else if (root === "dayjs" && rest[0] === "plugin") found = load("dayjs-plugins")[last];
    else if (root === "validator" && rest.length && last in load("validator")) found = load("validator")[last];
    if (found === undefined) {
      const error = new Error(`module '${name}' is not available (available: lodash, dayjs, validator, ajv)`);
      error.code = "MODULE_NOT_FOUND";
      error.missing = true;
      throw error;
    }
    return found;
  }
  function load(name) {
    if (!loaded.has(name)) {
      const module = { exports: {} };
      loaded.set(name, module.exports);
      factories.get(name)(module.exports, require, module);
      loaded.set(name, module.exports);
    }
    return loaded.get(name);
  }
  global.require = require;
  const objectTag = Object.prototype.toString;
  const defaults = (module) => (module && module.__esModule && "default" in module ? module.default : module);

  let state = { done: false };
  function reported(error) {
    let shown;
    let stack = "";
    try {
      shown = error instanceof Error ? `${error.name}: ${error.message}` : `thrown: ${String(error)}`;
      stack = error instanceof Error ? String(error.stack) : "";
    } catch {
      shown = "an error that cannot be shown";
    }
    return { failed: true, message: [shown].join(""), stack, missing: Boolean(error && error.missing) };
  }
  function isOdd(value, depth) {
    if (typeof value === "number") return !isFinite(value);
    if (typeof value === "bigint" || typeof value === "function" || typeof value === "symbol") return true;
    return false;
  }
  function settle(value) {
    if (value === undefined) return { contract: "it returned undefined" };
    if (value === null || typeof value !== "object") {
      return isOdd(value) ? { contract: `it returned ${String(value)}` } : { value };
    }
    if (call(objectTag, value) === "[object Promise]") return { contract: "it returned a promise that never settles" };
    for (const key of ["passed", "score", "reason", "details", "pass", "message"]) {
      if (key in value && isOdd(value[key])) return { contract: `${key} is ${String(value[key])}` };
    }
    return { value };
  }

  return {
    define: (name, factory) => void factories.set(name, factory),
    preload: () => [...factories.keys()].forEach(load),
    defaults,
    // Starts a grader: `factory` is its code as an async function of (exports, require, module, defaults).
    start(factory, kind, argumentsText) {
      const module = { exports: {} };
      const given = parse(argumentsText);
      const finish = (value) => {
        try {
          state = { done: true, text: stringify(settle(value)) };
        } catch (error) {
          state = { done: true, text: stringify({ contract: reported(error).message }) };
        }
      };
      const fail = (error) => {
        state = { done: true, text: stringify(reported(error)) };
      };
      const run = () => {
        const grader = defaults(module.exports);
        if (typeof grader !== "function") {
          const wanted = kind === "assertion" ? "(output, {sample, assertion, toolCalls})" : "(input, output, expected, metadata)";
          finish(undefined);
          state = { done: true, text: stringify({ contract: `the code exports no function ${wanted}` }) };
          return undefined;
        }
        return kind === "assertion"
          ? grader(given.output, { sample: given.sample, assertion: given.assertion, toolCalls: given.tool_calls ?? null })
          : grader(given.input, given.output, given.expected, given.metadata);
      };
      const load = async (name) => ({ ...require(name), default: defaults(require(name)) });
      const body = factory(module.exports, require, module, defaults, load);
      call(then, call(then, body, run), (value) => state.done || finish(value), fail);
    },
    done: () => state.done,
    text: () => state.text,
    logs: () => stringify(logged.join("")), // as JSON: half a surrogate pair is no text
    // Milliseconds until the next timer is due, -1 where there is none.
    untilNext: () => (timers.size ? Math.max(0, Math.min(...[...timers.values()].map((timer) => timer.due)) - now()) : -1),
    fire() {
      const moment = now();
      const due = [...timers.values()].filter((timer) => timer.due <= moment).sort((a, b) => a.due - b.due || a.id - b.id);
      for (const timer of due) {
        if (!timers.has(timer.id)) continue;
        if (timer.every === null) clear(timer.id);
        else timer.due = moment + timer.every;
        timer.callback(...timer.values);
      }
    },
  };
})(globalThis);
