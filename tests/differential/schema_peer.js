// npm's ajv as a peer: answers the schema requests of peer.c with "+", "- ISSUES" or "! MESSAGE"; "? MESSAGE" when
// ajv itself fails while it validates.
// Usage: node schema_peer.js DIRECTORY, the one that holds node_modules.
"use strict";
const fs = require("fs");
const path = require("path");

const modules = path.resolve(process.argv[2], "node_modules");
const Ajv2020 = require(path.join(modules, "ajv/dist/2020")).default;
const options = {
  strict: false, // keywords that nobody knows mean nothing
  validateFormats: false, // a format is an annotation
  ownProperties: true, // what an object inherits is not in the JSON
  logger: false,
};
let ajv = new Ajv2020(options);
let last = { text: null, validate: null, answer: null };

function complaint(error) {
  return String(error.message).replace(/[^ -~]/g, "?").slice(0, 300);
}

// Addresses stay known to an ajv, so a schema that has some and is refused gets another chance with a new one.
function compile(text) {
  if (text === last.text) return;
  const schema = JSON.parse(text);
  for (const again of text.includes("$id") ? [true, false] : [false]) {
    try {
      last = { text, validate: ajv.compile(schema), answer: null };
      return;
    } catch (error) {
      if (again) ajv = new Ajv2020(options);
      last = { text, validate: null, answer: "! " + complaint(error) };
    }
  }
}

function answer(schema, value) {
  compile(schema);
  if (last.answer) return last.answer;
  try {
    return last.validate(JSON.parse(value)) ? "+" : "- " + ajv.errorsText(last.validate.errors).replace(/[^ -~]/g, "?");
  } catch (error) {
    return "? " + complaint(error);
  }
}

const input = fs.readFileSync(0);
const answers = [];
for (let at = 0; at < input.length;) {
  const end = input.indexOf(10, at);
  const [kind, a, b] = input.toString("latin1", at, end).split(" ");
  if (kind !== "schema") throw new Error("not a request: " + kind);
  const middle = end + 1 + Number(a);
  at = middle + Number(b);
  answers.push(answer(input.toString("utf8", end + 1, middle), input.toString("utf8", middle, at)));
}
fs.writeFileSync(1, answers.join("\n") + "\n");
