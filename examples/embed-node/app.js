// A program inside an application: two tools are functions, the program comes from elsewhere, the result has a type.
const { Engine } = require("ptc-lisp");

const prices = { bolt: 12, nut: 5, hinge: 340 };

function price({ item }) {
  if (!(item in prices)) throw new Error("no such item");
  return prices[item];
}

const engine = new Engine({
  tools: {
    price: { signature: "(item :string) -> :int", function: price },
    orders: {
      signature: "() -> [{item :string, pieces :int}]",
      function: async () => [{ item: "bolt", pieces: 100 }, { item: "hinge", pieces: 2 }],
    },
  },
});

async function main() {
  const total = "{:cents (sum-by #(* (:pieces %) (tool/price {:item (:item %)})) (tool/orders))}";
  console.log(JSON.stringify(await engine.evaluate(total, {}, { signature: "{cents :int}" })));
  for (const program of ['(tool/price {:item "saw"})', "(loop [] (recur))"]) {
    const { error } = await engine.run(program);
    console.log(`${error.kind} at line ${error.line}`);
  }
}

main();
