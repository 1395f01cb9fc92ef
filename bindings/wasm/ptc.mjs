// SPDX-License-Identifier: MIT
// PTC-Lisp in the browser and in Node, without a server: the engine is WebAssembly.  One program at a time, and each holds up its
// thread, so run it in a worker when programs may take long.
import start from "./ptc.wasm.mjs";

export class ProgramError extends Error {
  constructor(answer) {
    super(`${answer.line ? `${answer.line}:${answer.column}: ` : ""}${answer.kind}: ${answer.message}`);
    const { message, ...rest } = answer;
    Object.assign(this, rest, { name: "ProgramError", detail: message });
  }
}

export class Engine {
  constructor(functions) {
    this.functions = functions;
  }

  /** Everything that a run gives, as docs/batch.md says. */
  run(program, context, { session, signature, journal, tools, options } = {}) {
    const request = { program, context: context ?? undefined, session, signature, journal, tools, options };
    const answer = this.functions.evaluate(JSON.stringify(request));
    if (!answer) throw new Error("out of memory");
    return JSON.parse(answer);
  }

  /** The result of a program; throws a ProgramError if it fails. */
  evaluate(program, context, more) {
    const answer = this.run(program, context, more);
    if (!answer.ok) throw new ProgramError(answer);
    if (!("json" in answer) && !answer.text.startsWith("#'")) throw new Error(`the result has no JSON form: ${answer.json_error}`);
    return "json" in answer ? answer.json : answer.text;
  }

  get version() {
    return this.functions.version();
  }

  /** The language on a card of about 1 KiB, for the prompt of a model. */
  get languageCard() {
    return this.functions.card();
  }
}

/** An engine.  Limits that are not given are the usual ones. */
export async function load({ timeoutMs = -1, memoryBytes = -1, loopLimit = -1 } = {}) {
  const module = await start();
  const open = module.cwrap("ptc_wasm_open", "number", ["number", "number", "number"]);
  if (!open(timeoutMs, memoryBytes, loopLimit)) throw new RangeError("a limit is out of range");
  return new Engine({ evaluate: module.cwrap("ptc_wasm_eval", "string", ["string"]),
    version: module.cwrap("ptc_wasm_version", "string", []), card: module.cwrap("ptc_wasm_card", "string", []) });
}
