// Node's JSON.parse as a peer: answers the json requests of peer.c with "+ JSON" or "- MESSAGE".
// What JSON.stringify would change stays: -0 is written as -0.0, infinity as 1e999.
"use strict";
const fs = require("fs");

const decoder = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

function numberText(n) {
  if (Object.is(n, -0)) return "-0.0";
  return Number.isFinite(n) ? String(n) : n > 0 ? "1e999" : "-1e999";
}

// Recursion is as deep as the texts are, a few hundred levels.
function write(value) {
  if (typeof value === "number") return numberText(value);
  if (Array.isArray(value)) return "[" + value.map(write).join(",") + "]";
  if (value === null || typeof value !== "object") return JSON.stringify(value);
  return "{" + Object.keys(value).map((key) => JSON.stringify(key) + ":" + write(value[key])).join(",") + "}";
}

function answer(bytes) {
  try {
    return "+ " + write(JSON.parse(decoder.decode(bytes)));
  } catch (error) {
    return "- " + String(error.message).replace(/[^ -~]/g, "?");
  }
}

const input = fs.readFileSync(0);
const answers = [];
for (let at = 0; at < input.length;) {
  const end = input.indexOf(10, at);
  const [kind, size] = input.toString("latin1", at, end).split(" ");
  if (kind !== "json") throw new Error("not a request: " + kind);
  answers.push(answer(input.subarray(end + 1, end + 1 + Number(size))));
  at = end + 1 + Number(size);
}
fs.writeFileSync(1, answers.join("\n") + "\n");
